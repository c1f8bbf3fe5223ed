# The submission script on a small Slurm cluster of this machine; skipped where Slurm is not installed.
test_scripts += \
	tests/slurm/requeue.sh
EXTRA_DIST += tests/slurm/cluster.sh
