# Recipes of packages, and what is made of a release.
EXTRA_DIST += \
	packaging/Dockerfile \
	packaging/apptainer.def \
	packaging/build-debs \
	packaging/container-build \
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
	packaging/debian/xlm-mpi-doc.install \
	packaging/debian/xlm-mpi-doc.links \
	packaging/debian/xlm-mpi.install \
	packaging/easybuild/SLEEF-3.8-GCCcore-12.3.0.eb \
	packaging/easybuild/xlm-mpi-1.0.0-foss-2023a.eb \
	packaging/spack/package.py

# Debian packages, in the folder debs. DEB_FLAGS: options of dpkg-buildpackage.
.PHONY: deb
deb: dist
	$(XLM_BASH) $(srcdir)/packaging/build-debs $(distdir).tar.gz debs $(DEB_FLAGS)

# A release: the tarball, and its checksum in the form of sha256sum, by which who has got both can check it: sha256sum -c SHA256SUMS
# RELEASE: the folder of the tarball.
RELEASE = .
CLEANFILES += SHA256SUMS
.PHONY: checksums release
release: dist
	$(MAKE) checksums
checksums:
	cd '$(RELEASE)' && sha256sum $(distdir).tar.gz >SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS && cat SHA256SUMS
