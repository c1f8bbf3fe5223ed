# Tests. `make check` runs unit, mpi and fuzz, and of cli and fault what matters most, in minutes; one alone: make check
# TESTS=tests/cli/install.sh. `make check-all` runs all: also check_all_scripts, and of the other scripts what follows
# only_in_check_all (small.sh). XLM_TEST_LONG=1 tries many more moments and ranks in some of tests/fault (minutes).
TEST_EXTENSIONS = .sh
tests_environment = \
	XLM_SOURCE='$(abs_top_srcdir)'; XLM_BUILD='$(abs_top_builddir)'; XLM_CC='$(CC)'; \
	XLM_MPIEXEC='$(MPIEXEC)'; XLM_OPEN_MPI_4='$(XLM_OPEN_MPI_4)'; \
	XLM_SANITIZERS='$(XLM_SANITIZERS)'; XLM_HARDENING='$(XLM_HARDENING)'; XLM_TEST_QUICK='$(XLM_TEST_QUICK)'; \
	. $(srcdir)/tests/environment.sh;
# make check alone takes the libcurl of stand_in.sh, unless XLM_STAND_IN=no. Quick checks, as those of make distcheck, and those with
# sanitizers load what users load, as do measurements.
stand_in = $(if $(XLM_TEST_QUICK)$(filter yes,$(XLM_SANITIZERS)),,tests/stand_in/made)
AM_TESTS_ENVIRONMENT = XLM_STAND_IN=$${XLM_STAND_IN-$(if $(stand_in),yes,no)}; $(tests_environment)
LOG_COMPILER = $(SHELL) $(srcdir)/tests/run.sh
SH_LOG_COMPILER = $(XLM_BASH)

# Test programs unless they say otherwise.
AM_DEFAULT_SOURCE_EXT = .c
LDADD = tests/fuzz/libfuzz.la libxlm.la $(HDF5_LIBS) $(MPI_LIBS) $(BLIS_LIBS) $(GLIB_LIBS) $(ICU_LIBS) $(JANSSON_LIBS) \
	$(ZLIB_LIBS) $(LIBARCHIVE_LIBS) $(CMOCKA_LIBS)

dist_check_SCRIPTS = \
	tests/adapters.sh \
	tests/digests.sh \
	tests/environment.sh \
	tests/killed.sh \
	tests/link.sh \
	tests/mpirun.sh \
	tests/run.sh \
	tests/small.sh \
	tests/stand_in.sh
EXTRA_DIST += tests/hdf5_objects.h tests/sanitizers.supp tests/valgrind.supp

# make mutants [MUTANTS='links_*'] [FUZZ_SECONDS=30] [MUTANT_JOBS=2]: bugs that the tests must find, tests/mutants.sh.
# XLM_TEST_ALL=no make mutants: with scripts that end at only_in_check_all, as in `make check`.
EXTRA_DIST += tests/mutants.list tests/mutants.sh
FUZZ_SECONDS = 0
# PROGRAM=OBJECT of every object of every program.
mutant_program_objects = \
	$(foreach program,$(bin_PROGRAMS) $(pkglibexec_PROGRAMS),$(addprefix $(program)=,$($(program)_OBJECTS)))
.PHONY: mutants
mutants: all
	@$(MAKE) $(AM_MAKEFLAGS) `awk -F'\t' '/^[^#]/ { n = split($$4, t, " "); for (i = 1; i <= n; i++) if (t[i] !~ /[.]sh$$/) print t[i] }' \
		$(srcdir)/tests/mutants.list | sort -u` tests/hdf5_digest tests/unit/events_test >/dev/null
	@test $(FUZZ_SECONDS) -eq 0 || $(MAKE) $(AM_MAKEFLAGS) fuzz SECONDS=1
	@$(AM_TESTS_ENVIRONMENT) OBJECTS='$(libxlm_la_OBJECTS)' DOUBLE_OBJECTS='$(libxlm_double_la_OBJECTS)' \
		COMPILE='$(COMPILE)' LINK='$(CC) $(AM_CFLAGS) $(CFLAGS)' SOURCES='$(libxlm_la_SOURCES)' CLANG='$(CLANG)' \
		CPPFLAGS='$(fuzz_cppflags)' LIBS='$(libxlm_la_LIBADD) $(CMOCKA_LIBS)' MUTANTS='$(MUTANTS)' \
		MODULES='$(losses_LTLIBRARIES)' PROGRAM_OBJECTS='$(mutant_program_objects)' \
		FUZZ_SECONDS='$(FUZZ_SECONDS)' XLM_TEST_ALL=$${XLM_TEST_ALL-1} $(XLM_BASH) $(srcdir)/tests/mutants.sh

# Programs of tests and benchmarks are not installed, so the compiler links them, not libtool (link.sh).
$(check_PROGRAMS) $(benchmark_programs) $(changed_file_programs): private LINK = $(SHELL) $(srcdir)/tests/link.sh \
	$(CCLD) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS) $(TEST_LINKER) \
	-Wl,--enable-new-dtags,-rpath,$(abs_top_builddir)/.libs -o $@

# Tests are compiled for one run, most of them of a fraction of a second: -O1 -g1 takes three quarters of the time of -O2 -g.
tests/unit/%.o tests/mpi/%.o tests/fuzz/%.o: private CFLAGS := $(patsubst -g,-g1,$(patsubst -O2,-O1,$(CFLAGS)))

test_scripts =
check_all_scripts =
# Programs that scripts start must be compiled before.
check_DATA = tests/hdf5_digest
EXTRA_PROGRAMS += tests/hdf5_digest
CLEANFILES += tests/hdf5_digest
tests_hdf5_digest_LDADD = $(HDF5_LIBS) $(MPI_LIBS) $(GLIB_LIBS)
# It is looked at each time, for the libraries of the system may have changed.
check_DATA += $(stand_in)
CLEANFILES += tests/stand_in/*
.PHONY: tests/stand_in/made
tests/stand_in/made: libxlm.la
	@$(SHELL) $(srcdir)/tests/stand_in.sh tests/stand_in .libs/libxlm.so $(CC) && touch $@
include tests/mpi/local.mk
include tests/unit/local.mk
include tests/cli/local.mk
include tests/fixtures/local.mk
include tests/fault/local.mk
include tests/fuzz/local.mk
include tests/bench/local.mk
include tests/slurm/local.mk

EXTRA_DIST += $(test_scripts) $(check_all_scripts)
# They begin in this order: scripts, which are the long ones, first, so that with make -j the last to end are short.
tests_in_order = $(test_scripts) $(mpi_tests) $(fuzz_targets) $(unit_tests) $(double_tests)
TESTS += $(tests_in_order)
left_out = $(filter-out $(tests_in_order),$(check_PROGRAMS))
left_out_is_wrong = $(if $(left_out),$(error tests_in_order of tests/local.mk has not $(left_out)))

# Objectives are loaded by tests, not linked into them. Benchmarks are not run, but must compile.
check_DATA += $(losses_LTLIBRARIES) $(benchmark_programs)

# All tests: before a release, and after a change of what `make check` leaves out.
.PHONY: check-all recheck-all
check-all recheck-all: all
	XLM_TEST_ALL=1 $(MAKE) $(AM_MAKEFLAGS) $(@:-all=) TESTS='$(check_all_scripts) $(tests_in_order) $(install_test)'

# The unit tests alone, with nothing compiled for the others: what packages run where they are built (packaging/debian/rules).
.PHONY: check-unit
check-unit: all
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(unit_tests) $(double_tests)' \
		check_PROGRAMS='$(unit_tests) $(double_tests)' check_DATA=

# What small jobs compute, bit by bit, to compare two versions (tests/digests.sh).
.PHONY: digests
digests: all
	@$(tests_environment) $(XLM_BASH) $(srcdir)/tests/digests.sh

if !HAVE_CMOCKA
# Where make reads this, not in a recipe: before it compiles anything, most of which would not find cmocka.h.
cmocka_is_missing = $(error make check needs cmocka (Debian/Ubuntu: libcmocka-dev); ./bootstrap installs it)
endif
check-local: $(if $(filter check check-unit recheck,$(MAKECMDGOALS)),$(cmocka_is_missing)$(left_out_is_wrong))
