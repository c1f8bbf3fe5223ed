# xlm-mpi: how libraries and programs are linked. SPDX-License-Identifier: GPL-3.0-or-later

# XLM_CHECK_LINKING
# A library of ours is refused if it uses a symbol that no library which it names has: flags in XLM_LIBRARY_LDFLAGS. Then the
# linker need not look for the symbols of all libraries again for each program, which is most of its work for the programs of
# tests: flags in XLM_PROGRAM_LDFLAGS. To be called when XLM_SANITIZERS is known, and after XLM_CHECK_HARDENING.
AC_DEFUN([XLM_CHECK_LINKING],
[AC_MSG_CHECKING([whether $CC links libraries with -Wl,-z,defs and programs without their symbols])
xlm_save_LDFLAGS=$LDFLAGS
LDFLAGS="$LDFLAGS -fPIC -shared -Wl,-z,defs -Wl,--allow-shlib-undefined"
# Sanitizers, also those that CFLAGS ask for, may leave symbols of a library to the program.
AS_IF([test "$XLM_SANITIZERS" = no],
  [AC_LINK_IFELSE([AC_LANG_SOURCE([int read_it(const int *number); int read_it(const int *number) { return *number; }])],
    [XLM_LIBRARY_LDFLAGS=-Wl,-z,defs
     AS_VAR_APPEND([XLM_PROGRAM_LDFLAGS], [" -Wl,--allow-shlib-undefined"])])])
LDFLAGS=$xlm_save_LDFLAGS
AS_IF([test -n "$XLM_LIBRARY_LDFLAGS"], [AC_MSG_RESULT([yes])], [AC_MSG_RESULT([no])])
AC_SUBST([XLM_LIBRARY_LDFLAGS])])

# XLM_CHECK_TEST_LINKER
# Some hundred programs of tests are linked, which takes gold an eighth of the time: flag in TEST_LINKER. A linker that the user has
# chosen stays. To be called after all other flags are known; `make TEST_LINKER=` links with the compiler's own linker.
AC_DEFUN([XLM_CHECK_TEST_LINKER],
[AC_MSG_CHECKING([whether $CC links programs of tests with gold])
xlm_save_LDFLAGS=$LDFLAGS
xlm_save_CFLAGS=$CFLAGS
LDFLAGS="$LDFLAGS $XLM_LDFLAGS $XLM_PROGRAM_LDFLAGS -fuse-ld=gold"
CFLAGS="$XLM_CFLAGS $OPENMP_CFLAGS $CFLAGS"
TEST_LINKER=
AS_CASE(["$CC $xlm_save_CFLAGS $xlm_save_LDFLAGS"], [*-fuse-ld=*], [],
  [AC_LINK_IFELSE([AC_LANG_PROGRAM], [TEST_LINKER=-fuse-ld=gold])])
LDFLAGS=$xlm_save_LDFLAGS
CFLAGS=$xlm_save_CFLAGS
AS_IF([test -n "$TEST_LINKER"], [AC_MSG_RESULT([yes])], [AC_MSG_RESULT([no])])
AC_SUBST([TEST_LINKER])])
