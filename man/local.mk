# Man pages are written from each program's --help, and go into the tarball, so that it builds without help2man. A page
# depends on what the help is made of; the program must be there to ask it, but a tarball's page is newer than its sources.
man_pages = \
	man/xlm_dict.1 \
	man/xlm_embed.1 \
	man/xlm_eval.1 \
	man/xlm_fill.1 \
	man/xlm_prep.1 \
	man/xlm_spearman.1 \
	man/xlm_train.1 \
	man/xlm_tune.1
if MAN_PAGES
man1_MANS += $(man_pages)
endif
EXTRA_DIST += $(man_pages)
MAINTAINERCLEANFILES += $(man_pages)

man/xlm_dict.1: $(srcdir)/src/tools/xlm_dict.c | xlm_dict$(EXEEXT)
	$(write_page)
man/xlm_embed.1: $(srcdir)/src/tools/xlm_embed.c | xlm_embed$(EXEEXT)
	$(write_page)
man/xlm_eval.1: $(srcdir)/src/tools/xlm_eval.c | xlm_eval$(EXEEXT)
	$(write_page)
man/xlm_fill.1: $(srcdir)/src/tools/xlm_fill.c | xlm_fill$(EXEEXT)
	$(write_page)
man/xlm_spearman.1: $(srcdir)/src/tools/xlm_spearman.c | xlm_spearman$(EXEEXT)
	$(write_page)
man/xlm_prep.1: $(srcdir)/src/tools/xlm_prep.c | xlm_prep$(EXEEXT)
	$(write_page)
man/xlm_train.1: $(srcdir)/src/tools/xlm_train.c | xlm_train$(EXEEXT)
	$(write_page)
man/xlm_tune.1: $(srcdir)/src/tools/xlm_tune.c | xlm_tune$(EXEEXT)
	$(write_page)
man/xlm_train.1 man/xlm_tune.1: $(srcdir)/src/tools/job_program.h
man/xlm_embed.1: $(srcdir)/src/tools/embed_alignment.c
$(man_pages): $(srcdir)/src/tools/program.c $(srcdir)/configure.ac

# The first paragraph after the usage is the program's purpose.
write_page = $(AM_V_GEN)program=$(@F:.1=); $(MKDIR_P) man && \
	if test '$(HELP2MAN)' != no; then \
	  ASAN_OPTIONS=detect_leaks=0 $(HELP2MAN) --no-info --locale=C.UTF-8 --source='xlm-mpi $(VERSION)' \
	    --name="`./$$program --help | sed -n '/^$$/{n;p;q;}'`" --output=$@.new ./$$program && mv $@.new $@; \
	elif test -f $(srcdir)/$@; then \
	  echo "$@ is older than its program; without help2man (Debian/Ubuntu: help2man) it stays as it is" >&2; \
	  test -f $@ || cp $(srcdir)/$@ $@; \
	else \
	  echo "$@ needs help2man (Debian/Ubuntu: help2man)" >&2; exit 1; \
	fi
