# Completion for bash: one file, installed under the name of each program, by which bash-completion finds it.
completiondir = $(datadir)/bash-completion/completions
completion_DATA = \
	completions/xlm_align \
	completions/xlm_bleu \
	completions/xlm_compare \
	completions/xlm_convert \
	completions/xlm_cooc \
	completions/xlm_dict \
	completions/xlm_embed \
	completions/xlm_eval \
	completions/xlm_fill \
	completions/xlm_prep \
	completions/xlm_report \
	completions/xlm_spearman \
	completions/xlm_train \
	completions/xlm_translate \
	completions/xlm_tune
EXTRA_DIST += completions/xlm-mpi.bash
CLEANFILES += $(completion_DATA)

$(completion_DATA): $(srcdir)/completions/xlm-mpi.bash
	$(AM_V_GEN)$(MKDIR_P) completions && cp $(srcdir)/completions/xlm-mpi.bash $@
