# Recipes of packages, and what is made of a release.
EXTRA_DIST += \
	packaging/build-debs \
	packaging/debian/changelog \
	packaging/debian/control \
	packaging/debian/copyright \
	packaging/debian/libxlm-dev.install \
	packaging/debian/libxlm-double0.install \
	packaging/debian/libxlm0.install \
	packaging/debian/lintian-overrides \
	packaging/debian/rules \
	packaging/debian/source/format \
	packaging/debian/tests/common.sh \
	packaging/debian/tests/control \
	packaging/debian/tests/demonstration \
	packaging/debian/tests/plugin \
	packaging/debian/xlm-mpi-doc.examples \
	packaging/debian/xlm-mpi-doc.install \
	packaging/debian/xlm-mpi-doc.links \
	packaging/debian/xlm-mpi.install

# Debian packages, in the folder debs. DEB_FLAGS: options of dpkg-buildpackage.
.PHONY: deb
deb: dist
	$(BASH) $(srcdir)/packaging/build-debs $(distdir).tar.gz debs $(DEB_FLAGS)
