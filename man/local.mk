# Man pages are made from each program's --help and are part of the tarball. A page depends on the sources of the help text; the
# program must exist to print it, but the pages in a tarball are newer than their sources.
man_pages = \
	man/xlm_align.1 \
	man/xlm_bleu.1 \
	man/xlm_compare.1 \
	man/xlm_convert.1 \
	man/xlm_cooc.1 \
	man/xlm_dict.1 \
	man/xlm_embed.1 \
	man/xlm_eval.1 \
	man/xlm_fill.1 \
	man/xlm_prep.1 \
	man/xlm_report.1 \
	man/xlm_spearman.1 \
	man/xlm_train.1 \
	man/xlm_translate.1 \
	man/xlm_tune.1
man1_MANS += $(man_pages)
EXTRA_DIST += $(man_pages) man/page.awk
MAINTAINERCLEANFILES += $(man_pages)

$(man_pages): man/%.1: $(srcdir)/src/tools/%.c | %$(EXEEXT)
	$(write_page)
man/xlm_train.1 man/xlm_tune.1: $(srcdir)/src/program/job_program.h
man/xlm_align.1: $(align_commands_sources)
man/xlm_cooc.1: $(cooc_commands_sources)
man/xlm_embed.1: $(embed_commands_sources)
$(man_pages): $(srcdir)/src/program/program.c $(srcdir)/man/page.awk $(srcdir)/configure.ac

write_page = $(AM_V_GEN)$(MKDIR_P) man && ASAN_OPTIONS=detect_leaks=0 ./$(@F:.1=) --help >$@.help && \
	LC_ALL=C.UTF-8 $(AWK) -v version='$(VERSION)' -v others='$(man_pages)' -f $(srcdir)/man/page.awk $@.help >$@.new && \
	rm $@.help && mv $@.new $@
