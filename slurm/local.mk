# Submission scripts; the installed one knows where xlm_train was installed. (In [@] because config.status would replace
# the name in this Makefile.)
slurmdir = $(pkgdatadir)/slurm
slurm_SCRIPTS = slurm/xlm_train.sbatch
EXTRA_DIST += slurm/xlm_train.sbatch.in
CLEANFILES += slurm/xlm_train.sbatch

slurm/xlm_train.sbatch: $(srcdir)/slurm/xlm_train.sbatch.in Makefile
	$(AM_V_GEN)$(MKDIR_P) slurm && \
	sed -e 's|[@]bindir[@]|$(bindir)|g' -e 's|[@]xlm_mpi_family[@]|$(xlm_mpi_family)|g' \
	  -e 's|[@]MPIEXEC[@]|$(MPIEXEC)|g' $(srcdir)/slurm/xlm_train.sbatch.in >$@.new && \
	chmod a+x $@.new && mv $@.new $@
