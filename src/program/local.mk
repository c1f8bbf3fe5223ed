# Floor 7: what programs share: command line, help, standard output, commands, options of several programs.
program_sources = src/program/program.c src/program/program.h src/program/version.c src/program/version.h
command_sources = src/program/command.c src/program/command.h $(program_sources)
job_program_sources = src/program/job_program.c src/program/job_program.h $(program_sources)
line_blocks_sources = src/program/line_blocks.c src/program/line_blocks.h
pair_options_sources = src/program/pair_options.c src/program/pair_options.h
space_inputs_sources = src/program/space_inputs.c src/program/space_inputs.h
word_inputs_sources = src/program/word_inputs.c src/program/word_inputs.h

# What --version says of the source: its commit where there is git's history beside it, or that of the release that it was unpacked
# from, which `make dist` writes down. Asked on every make, and written only when it has changed. Git shows nothing of another
# user's clone, as to root in `make install`: what was said before stays, unless the clone has had another commit since.
src/program/version.$(OBJEXT): src/program/source.inc
src/program/source.inc: always
	$(AM_V_at)$(MKDIR_P) src/program && { \
	  if test -e '$(srcdir)/.git' && commit=`$(read_commit)`; then said="Built from commit $$commit"; \
	  elif test -e '$(srcdir)/.git' && test -s $@ && ! test '$(srcdir)/.git/logs/HEAD' -nt $@; then said=`sed 's/^"\(.*\)"$$/\1/' $@`; \
	  elif test -e '$(srcdir)/.git'; then said='Built from source whose history git does not show here'; \
	  elif test -s '$(srcdir)/.commit'; then said="Built from the release, commit `cat '$(srcdir)/.commit'`"; \
	  else said='Built from source without its history'; fi; \
	  printf '"%s"\n' "$$said" >$@.new; } && \
	if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
always:
.PHONY: always
read_commit = git -C '$(srcdir)' describe --always --abbrev=12 --exclude='*' --dirty=', with changes' 2>/dev/null
CLEANFILES += src/program/source.inc

dist-hook:
	@if test -s '$(srcdir)/.commit'; then cp '$(srcdir)/.commit' '$(distdir)'; \
	elif test -e '$(srcdir)/.git' && commit=`$(read_commit)`; then echo "$$commit" >'$(distdir)/.commit'; fi
