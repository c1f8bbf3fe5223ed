# xlm-mpi: fuzz targets with libFuzzer and sanitizers; used by run.sh. SPDX-License-Identifier: GPL-3.0-or-later
#
# Made in the working directory. Given: CLANG, SOURCE (top directory), SOURCES (of the library), CPPFLAGS, LIBS, TARGETS (names).
# The library has the name of the installed one, so that objectives loaded by a target use it and not another.
SANITIZE = -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
FLAGS = -std=gnu11 -O1 -g -fno-omit-frame-pointer -fno-math-errno -fopenmp -fPIC -Wno-pass-failed
OBJECTS = $(patsubst %.c,%.o,$(filter %.c,$(SOURCES))) $(CXX_OBJECTS)
CXX_OBJECTS = $(patsubst %.cc,%.o,$(filter %.cc,$(SOURCES)))

# What targets share, without the main() of replay.c.
SHARED = tests/fuzz/fuzz.o tests/fuzz/fields_mutate.o tests/fuzz/hdf5_change.o tests/fuzz/hdf5_mutate.o

all: $(TARGETS)
# The checks of C++ types (vptr) and, up to clang 16, of the types of functions are in a run-time library of its own, which C
# programs are not linked with.
$(CXX_OBJECTS): %.o: $(SOURCE)/%.cc
	@mkdir -p $(@D)
	@echo "  FUZZ     $<"
	@$(CLANG) -std=gnu++17 $(filter-out -std=%,$(FLAGS)) $(SANITIZE) -fno-sanitize=vptr,function $(CPPFLAGS) -MMD -MP -c -o $@ $<
$(filter-out $(CXX_OBJECTS),$(OBJECTS)) $(TARGETS:%=tests/fuzz/%.o) $(SHARED): %.o: $(SOURCE)/%.c
	@mkdir -p $(@D)
	@echo "  FUZZ     $<"
	@$(CLANG) $(FLAGS) $(SANITIZE) $(CPPFLAGS) -MMD -MP -c -o $@ $<
# No reader calls the kernels, and instrumented they take minutes to compile.
src/kernels/%.o: SANITIZE =
libxlm.so.0: $(OBJECTS)
	@echo "  FUZZLD   $@"
	@$(CLANG) -shared -fopenmp $(SANITIZE) -Wl,-soname,$@ -o $@ $(OBJECTS) $(LIBS)
# DT_RPATH, which goes before LD_LIBRARY_PATH, unlike DT_RUNPATH: tests/environment.sh names the library of the programs there,
# which has neither sanitizers nor coverage.
$(TARGETS): %: tests/fuzz/%.o $(SHARED) libxlm.so.0
	@echo "  FUZZLD   $@"
	@$(CLANG) -fopenmp -fsanitize=fuzzer,address,undefined -Wl,--disable-new-dtags,-rpath,$(CURDIR) -o $@ $^ $(LIBS)

-include $(OBJECTS:.o=.d) $(TARGETS:%=tests/fuzz/%.d) $(SHARED:.o=.d)
