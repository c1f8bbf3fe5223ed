# What is read, installed as it lies here; with it the objectives that docs/plugins.md points to, and those of tests/plugins
# (tests/cli/local.mk).
nobase_dist_doc_DATA = \
	AUTHORS \
	COPYING \
	HACKING.md \
	CITATION.cff \
	NEWS \
	SECURITY.md \
	README.md \
	docs/README.md \
	docs/adapters.md \
	docs/align-mlm.md \
	docs/analysis.md \
	docs/benchmarks.md \
	docs/building.md \
	docs/classification.md \
	docs/clusters.md \
	docs/combinations.md \
	docs/corpora.md \
	docs/evaluation.md \
	docs/files.md \
	docs/jobs.md \
	docs/licences.md \
	docs/performance.md \
	docs/plugins.md \
	docs/question-answering.md \
	docs/recipes.md \
	docs/report.md \
	docs/retrieval.md \
	docs/stability.md \
	docs/studies.md \
	docs/tagging.md \
	docs/troubleshooting.md \
	docs/trust.md \
	docs/transformers.md \
	docs/translation.md \
	docs/tutorial.md \
	docs/word-alignment.md \
	src/losses/back-translation.c \
	src/losses/mass.c \
	src/losses/seq2seq.c \
	src/losses/sop.c \
	src/losses/weam.c \
	tests/fuzz/README.md

# The manual as HTML pages, with indexes, figures and a search: only on demand. It needs pandoc, and gnuplot for the figures.
EXTRA_DIST += \
	docs/manual/anchors \
	docs/manual/check \
	docs/manual/errors.awk \
	docs/manual/filter.lua \
	docs/manual/keys.awk \
	docs/manual/make \
	docs/manual/manual.css \
	docs/manual/manual.js \
	docs/manual/messages.awk \
	docs/manual/options.awk \
	docs/manual/page.html \
	docs/manual/pages \
	docs/manual/search.awk

html-local: all
	@$(tests_environment) $(XLM_BASH) $(srcdir)/docs/manual/make html

# A folder of its own: where others install too, such as /var/www/html, with the package's name.
find_manual = case '$(htmldir)' in */$(PACKAGE_TARNAME) | */$(PACKAGE_TARNAME)/*) manual=manual;; \
	*) manual=$(PACKAGE_TARNAME)-manual;; esac
install-html-local: html-local
	$(find_manual); $(MKDIR_P) '$(DESTDIR)$(htmldir)'/$$manual && \
	for page in html/*; do $(INSTALL_DATA) "$$page" '$(DESTDIR)$(htmldir)'/$$manual || exit 1; done
uninstall-local:
	$(find_manual); rm -rf '$(DESTDIR)$(htmldir)'/$$manual
clean-manual:
	rm -rf html
