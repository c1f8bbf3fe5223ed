# The environment module: it contains the installation prefix, and is named after the version, as usual for modules.
modulefilesdir = $(datadir)/modulefiles/xlm-mpi
modulefiles_DATA = modulefiles/$(PACKAGE_VERSION)
EXTRA_DIST += modulefiles/xlm-mpi.in
CLEANFILES += $(modulefiles_DATA)

modulefiles/$(PACKAGE_VERSION): $(srcdir)/modulefiles/xlm-mpi.in Makefile
	$(AM_V_GEN)$(MKDIR_P) modulefiles && \
	sed -e 's|[@]bindir[@]|$(bindir)|g' -e 's|[@]libdir[@]|$(libdir)|g' \
	  -e 's|[@]mandir[@]|$(mandir)|g' -e 's|[@]datadir[@]|$(datadir)|g' \
	  -e 's|[@]PACKAGE_VERSION[@]|$(PACKAGE_VERSION)|g' $(srcdir)/modulefiles/xlm-mpi.in >$@.new && mv $@.new $@
