# Tests of collective functions: programs (tests/mpi/NAME.c), which run.sh starts on 1 to 4 ranks, and scripts.
# The longest first, as in tests/cli/local.mk.
mpi_tests = \
	tests/mpi/truncated_svd_test \
	tests/mpi/store_test \
	tests/mpi/checkpoint_test \
	tests/mpi/procrustes_test \
	tests/mpi/aligner_files_test \
	tests/mpi/alignment_file_test \
	tests/mpi/alignment_test \
	tests/mpi/comm_test \
	tests/mpi/hostile_test \
	tests/mpi/matrix_test \
	tests/mpi/mining_test \
	tests/mpi/threads_test \
	tests/mpi/word_counts_test
check_PROGRAMS += $(mpi_tests)
test_scripts +=
EXTRA_DIST += tests/mpi/check.h tests/mpi/run_fixture.h
