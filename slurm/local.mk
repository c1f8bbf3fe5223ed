# Submission scripts; the installed one knows where xlm_train was installed.
slurmdir = $(pkgdatadir)/slurm
slurm_SCRIPTS = slurm/xlm_train.sbatch
EXTRA_DIST += slurm/xlm_train.sbatch.in
CLEANFILES += slurm/xlm_train.sbatch

slurm/xlm_train.sbatch: $(srcdir)/slurm/xlm_train.sbatch.in Makefile
	$(AM_V_GEN)$(MKDIR_P) slurm && \
	sed 's|@bindir@|$(bindir)|g' $(srcdir)/slurm/xlm_train.sbatch.in >$@.new && chmod a+x $@.new && mv $@.new $@
