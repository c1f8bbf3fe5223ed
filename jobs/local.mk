# Jobs: scripts that fetch text, job files, and the demonstration. Installed as they lie here.
nobase_dist_pkgdata_DATA = \
	jobs/align-mlm/align-mlm.conf \
	jobs/align-mlm/dict-mlm.conf \
	jobs/align-mlm/mlm.conf \
	jobs/align-mlm/xlm.conf \
	jobs/demo/demo.conf \
	jobs/roberta-8.conf \
	jobs/xlm-r-base.conf
EXTRA_DIST += \
	jobs/demo/demo

# Finds the programs on the path.
align_mlmdir = $(pkgdatadir)/jobs/align-mlm
dist_align_mlm_SCRIPTS = jobs/align-mlm/corpora

# The installed script knows where xlm_pair_html was installed; in the build tree it is two folders up.
corporadir = $(pkgdatadir)/jobs/corpora
corpora_SCRIPTS = jobs/corpora/libreoffice-help
EXTRA_DIST += jobs/corpora/libreoffice-help.in
CLEANFILES += jobs/corpora/libreoffice-help

jobs/corpora/libreoffice-help: $(srcdir)/jobs/corpora/libreoffice-help.in Makefile
	$(AM_V_GEN)$(MKDIR_P) jobs/corpora && \
	sed -e 's|@pkglibexecdir@|$(pkglibexecdir)|g' -e 's|@PACKAGE_VERSION@|$(PACKAGE_VERSION)|g' \
	  $(srcdir)/jobs/corpora/libreoffice-help.in >$@.new && chmod a+x $@.new && mv $@.new $@

# Works on the build tree, writes to its folder demo. CORPUS=DIR: two line-aligned files instead of the help pages.
.PHONY: demo
demo: all
	@XLM_SOURCE='$(abs_top_srcdir)' XLM_BUILD='$(abs_top_builddir)' CORPUS='$(CORPUS)' \
	XLM_SANITIZERS='$(XLM_SANITIZERS)' XLM_CC='$(CC)' $(BASH) $(srcdir)/jobs/demo/demo
