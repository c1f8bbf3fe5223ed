# Tests that break things: files, disks, ranks.
test_scripts += \
	tests/fault/finalize_crashed.sh \
	tests/fault/interrupted.sh \
	tests/fault/store.sh \
	tests/fault/train_damage.sh \
	tests/fault/train_killed.sh \
	tests/fault/train_lock.sh
check_all_scripts += \
	tests/fault/changed_files.sh \
	tests/fault/prep.sh \
	tests/fault/train_disk.sh \
	tests/fault/train_interrupted.sh \
	tests/fault/train_lost_rank.sh \
	tests/fault/train_signals.sh \
	tests/fault/train_surroundings.sh
changed_file_programs = tests/fault/changed_files
EXTRA_PROGRAMS += $(changed_file_programs)
check_DATA += $(changed_file_programs)
CLEANFILES += $(changed_file_programs)

# make valgrind [VALGRIND_JOBS='train tune']: small jobs of each kind under Memcheck, valgrind.sh.
EXTRA_DIST += tests/fault/soak.sh tests/fault/valgrind.sh
VALGRIND_JOBS =
.PHONY: valgrind
valgrind: all
	@$(tests_environment) $(XLM_BASH) $(srcdir)/tests/fault/valgrind.sh $(VALGRIND_JOBS)
# make soak [SOAK_STEPS=10000] [SOAK_INTERVAL=5] [XLM_TEST_SEED=1]: one long run that is killed every few seconds, soak.sh.
SOAK_STEPS = 10000
SOAK_INTERVAL = 5
.PHONY: soak
soak: all
	@$(tests_environment) $(XLM_BASH) $(srcdir)/tests/fault/soak.sh $(SOAK_STEPS) $(SOAK_INTERVAL)
