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
# RELEASE: the folder of the tarball. Whoever makes it of the same commit, with the same versions of the programs that make files of
# it, gets the same bytes: the order, owners, modes and times of files say nothing of who made it. All have the time of the commit,
# or, where the source is a release, the time that all files of that have.
RELEASE = .
CLEANFILES += SHA256SUMS
.PHONY: checksums release
release:
	TAR_OPTIONS="--sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime=@`$(release_time)`" \
	    $(MAKE) dist GZIP_ENV='--best --no-name'
	$(MAKE) checksums
release_time = { test -e '$(srcdir)/.git' && git -C '$(srcdir)' log -1 --format=%ct 2>/dev/null; } || stat -c %Y '$(srcdir)/NEWS'
checksums:
	cd '$(RELEASE)' && sha256sum $(distdir).tar.gz >SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS && cat SHA256SUMS
