# xlm-mpi: MPI, the parallel HDF5 that is built with it, and its launcher. SPDX-License-Identifier: GPL-3.0-or-later

m4_define([XLM_MPI_PROLOGUE], [#include <mpi.h>
#if MPI_VERSION < 3
#error "MPI 3.0 is needed"
#endif])

# _XLM_TRY_MPI(FROM, CFLAGS, LIBS)
m4_define([_XLM_TRY_MPI],
[AS_IF([test -z "$xlm_mpi"],
  [xlm_try_cflags=$2
   xlm_try_libs=$3
   XLM_LINK_IFELSE([$xlm_try_cflags], [$xlm_try_libs], [XLM_MPI_PROLOGUE],
     [int provided; return MPI_Init_thread(0, 0, MPI_THREAD_FUNNELED, &provided);],
     [xlm_mpi="$1"
      MPI_CFLAGS=$xlm_try_cflags
      MPI_LIBS=$xlm_try_libs])])])

# _XLM_MPI_DEFINES(MACRO, IF-SO)
# Whether mpi.h defines the macro.
m4_define([_XLM_MPI_DEFINES],
[XLM_LINK_IFELSE([$MPI_CFLAGS], [$MPI_LIBS], [#include <mpi.h>
#ifndef $1
#error "$1 is not defined"
#endif], [], [$2])])

# XLM_CHECK_MPI
# Sets MPI_CFLAGS, MPI_LIBS, xlm_mpi (where they come from), xlm_mpi_family (openmpi, mpich for all that descend from it, other)
# and XLM_OPEN_MPI_4 (yes: it is Open MPI 4, of which tests set what later versions do not have). Who decides, in this order: the user's MPI_CFLAGS and MPI_LIBS; the user's MPICC; a CC that is an MPI compiler; the
# first mpicc in PATH. Nobody else is asked then: another MPI than the user's in silence would be worse than none. Only where
# there is no mpicc, pkg-config.
AC_DEFUN([XLM_CHECK_MPI],
[AC_REQUIRE([PKG_PROG_PKG_CONFIG])
AC_ARG_VAR([MPICC], [C compiler of the MPI to build with, asked for its flags; default: the first mpicc in PATH])
AC_ARG_VAR([MPI_CFLAGS], [C compiler flags for MPI, overriding MPICC])
AC_ARG_VAR([MPI_LIBS], [linker flags for MPI, overriding MPICC])
xlm_mpicc_given=$MPICC
AS_IF([test -z "$MPICC"], [AC_PATH_PROG([MPICC], [mpicc], [no])])
AC_MSG_CHECKING([for MPI 3])
xlm_mpi=
AS_IF([test -n "$MPI_CFLAGS$MPI_LIBS"],
  [_XLM_TRY_MPI([MPI_CFLAGS and MPI_LIBS], ["$MPI_CFLAGS"], ["$MPI_LIBS"])],
  [AS_IF([test -z "$xlm_mpicc_given"],
     [_XLM_TRY_MPI([CC], [], [])
      AS_IF([test "$xlm_mpi" = CC], [MPICC=$CC])])
   AS_IF([test "$MPICC" != no],
     [_XLM_TRY_MPI([$MPICC],
        [`$MPICC --showme:compile 2>/dev/null`], [`$MPICC --showme:link 2>/dev/null`])
      _XLM_TRY_MPI([$MPICC],
        [`$MPICC -show 2>/dev/null | tr ' ' '\n' | grep '^-@<:@ID@:>@' | tr '\n' ' '`],
        [`$MPICC -show 2>/dev/null | tr ' ' '\n' | grep -e '^-@<:@Ll@:>@' -e '^-Wl,' | tr '\n' ' '`])],
     [for xlm_module in ompi-c mpich; do
        AS_IF([$PKG_CONFIG --exists $xlm_module 2>/dev/null],
          [_XLM_TRY_MPI([pkg-config $xlm_module],
             [`$PKG_CONFIG --cflags $xlm_module`], [`$PKG_CONFIG --libs $xlm_module`])])
      done])])

xlm_mpi_family=other
XLM_OPEN_MPI_4=no
AS_IF([test -n "$xlm_mpi"],
  [_XLM_MPI_DEFINES([OPEN_MPI], [xlm_mpi_family=openmpi])
   _XLM_MPI_DEFINES([MPICH_VERSION], [xlm_mpi_family=mpich])
   _XLM_MPI_DEFINES([I_MPI_VERSION], [xlm_mpi_family=mpich])
   XLM_LINK_IFELSE([$MPI_CFLAGS], [$MPI_LIBS], [#include <mpi.h>
#if !defined OPEN_MPI || OMPI_MAJOR_VERSION != 4
#error "it is not Open MPI 4"
#endif], [], [XLM_OPEN_MPI_4=yes])
   AC_MSG_RESULT([$xlm_mpi_family, by $xlm_mpi])],
  [test -n "$xlm_mpicc_given"],
  [AC_MSG_RESULT([no])
   AS_CASE([$xlm_mpicc_given], [*mpich*], [xlm_mpi_packages="libmpich-dev mpich"],
     [xlm_mpi_packages="libopenmpi-dev openmpi-bin"])
   XLM_MISSING([MPI 3 by MPICC=$xlm_mpicc_given, which is not there or does not say with which flags], [$xlm_mpi_packages])],
  [AC_MSG_RESULT([no])
   XLM_MISSING([MPI 3 (header mpi.h and library)], [libopenmpi-dev openmpi-bin])])
AS_CASE([$xlm_mpi_family],
  [openmpi], [xlm_mpi_name="Open MPI" xlm_mpi_suffix=openmpi xlm_mpiexec_package=openmpi-bin],
  [mpich],   [xlm_mpi_name="MPICH" xlm_mpi_suffix=mpich xlm_mpiexec_package=mpich],
  [xlm_mpi_name="this MPI" xlm_mpi_suffix=openmpi xlm_mpiexec_package=openmpi-bin])
AC_SUBST([xlm_mpi_family])
AC_SUBST([XLM_OPEN_MPI_4])
])

# XLM_CHECK_MPIEXEC
# Sets MPIEXEC, the launcher of the MPI that was found: beside its mpicc, with the same ending of the name, or in PATH; that of
# another MPI would start as many programs of one rank. `no' when there is none. After XLM_CHECK_MPI.
AC_DEFUN([XLM_CHECK_MPIEXEC],
[AC_REQUIRE([XLM_CHECK_MPI])
AC_ARG_VAR([MPIEXEC], [launcher of the MPI to build with; default: the mpiexec that belongs to MPICC])
AC_MSG_CHECKING([for mpiexec of $xlm_mpi_name])
AS_IF([test -z "$MPIEXEC"],
  [MPIEXEC=no
   set dummy $MPICC
   xlm_mpicc=`command -v "$[2]" 2>/dev/null`
   xlm_ending=`echo "$xlm_mpicc" | sed -n 's|.*/mpicc||p'`
   for xlm_candidate in "`dirname "$xlm_mpicc" 2>/dev/null`/mpiexec$xlm_ending" "`dirname "$xlm_mpicc" 2>/dev/null`/mpiexec" \
       "`command -v mpiexec 2>/dev/null`" "`command -v mpiexec.$xlm_mpi_suffix 2>/dev/null`"; do
     AS_IF([test -x "$xlm_candidate"],
       [AS_CASE([$xlm_mpi_family:`$xlm_candidate --version 2>&1`],
          [openmpi:*OpenRTE*|openmpi:*"Open MPI"*|openmpi:*PRRTE*|mpich:*HYDRA*|mpich:*Hydra*|mpich:*Intel*|other:*],
          [MPIEXEC=$xlm_candidate
           break])])
   done])
AC_MSG_RESULT([$MPIEXEC])
AS_IF([test "$MPIEXEC" = no && test -n "$xlm_mpi"],
  [XLM_MISSING([mpiexec of $xlm_mpi_name (MPIEXEC=... when it has another name)], [$xlm_mpiexec_package])])
])

m4_define([XLM_HDF5_PROLOGUE], [#include <hdf5.h>
#if !H5_VERSION_GE(1, 10, 2)
#error "HDF5 1.10.2 is needed"
#endif])

# A program that says in conftest.said what is wrong with MPI and HDF5 together, and ends with 0 when nothing is. Every library
# in the process is asked whose MPI_Init it would call: one built with another MPI brings that along. Then a file is made.
m4_define([XLM_ONE_MPI_PROGRAM],
[[#define _GNU_SOURCE
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <dlfcn.h>
#include <link.h>

enum { MOST = 1024 };
static const char *loaded[MOST];
static int count;

static int note(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size, (void)data;
    if (count < MOST && info->dlpi_name[0] == '/')
        loaded[count++] = info->dlpi_name;
    return 0;
}

static const char *find_second(const char **first)
{
    *first = NULL;
    dl_iterate_phdr(note, NULL);
    for (int i = 0; i < count; i++) {
        void *library = dlopen(loaded[i], RTLD_LAZY | RTLD_NOLOAD), *start = library != NULL ? dlsym(library, "MPI_Init") : NULL;
        Dl_info info;
        if (start == NULL || dladdr(start, &info) == 0)
            continue;
        if (*first == NULL)
            *first = info.dli_fname;
        else if (strcmp(*first, info.dli_fname) != 0)
            return info.dli_fname;
    }
    return NULL;
}
#else
static const char *find_second(const char **first) { return *first = NULL; }
#endif

int main(int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    const char *first, *second;
    FILE *said = fopen("conftest.said", "w");
    if (said == NULL)
        return 1;
    alarm(120);
    if (freopen("conftest.log", "w", stderr) == NULL) /* configure puts it into config.log */
        return 1;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\n")] = '\0';
#ifdef OPEN_MPI
    const int open_header = 1;
#else
    const int open_header = 0;
#endif
    const int open_library = strstr(version, "Open MPI") != NULL;
    if (open_header != XLM_OPEN_MPI || open_library != XLM_OPEN_MPI)
        return fprintf(said, "it brings another MPI along, %s", version), fclose(said), 2;
    if ((second = find_second(&first)) != NULL)
        return fprintf(said, "it brings another MPI along, two in one program: %s, %s", first, second), fclose(said), 2;
#ifndef XLM_DO_NOT_START
    fprintf(said, "a program with it does not run (config.log; --disable-mpi-start-check where MPI may not be started)");
    fflush(said);
    /* No daemon of Open MPI's for one process. */
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    MPI_Init(&argc, &argv);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL) < 0)
        return 3;
    const hid_t file = H5Fcreate("conftest.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (file < 0 || H5Fclose(file) < 0 || H5Pclose(access) < 0)
        return 4;
    MPI_Finalize();
#endif
    return 0;
}
]])

# _XLM_TRY_HDF5
# HDF5 by xlm_try_cflags and xlm_try_libs: sets xlm_hdf5 to $xlm_from when it works with this MPI and no other; else says in
# xlm_hdf5_refused why not, unless there is no HDF5 at all.
m4_define([_XLM_TRY_HDF5],
[xlm_reason=
XLM_LINK_IFELSE([$MPI_CFLAGS $xlm_try_cflags], [$xlm_try_libs $MPI_LIBS], [XLM_HDF5_PROLOGUE
#ifndef H5_HAVE_PARALLEL
#error "this HDF5 is serial"
#endif],
  [return H5Pset_fapl_mpio(H5Pcreate(H5P_FILE_ACCESS), MPI_COMM_WORLD, MPI_INFO_NULL);],
  [CPPFLAGS="$CPPFLAGS $MPI_CFLAGS $xlm_try_cflags"
   test "$enable_mpi_start_check" != no || CPPFLAGS="$CPPFLAGS -DXLM_DO_NOT_START"
   AS_IF([test "$xlm_mpi_family" = openmpi], [CPPFLAGS="$CPPFLAGS -DXLM_OPEN_MPI=1"], [CPPFLAGS="$CPPFLAGS -DXLM_OPEN_MPI=0"])
   LIBS="$xlm_try_libs $MPI_LIBS $LIBS $xlm_libdl"
   AC_RUN_IFELSE([AC_LANG_SOURCE([XLM_ONE_MPI_PROGRAM])],
     [xlm_hdf5=$xlm_from
      HDF5_CFLAGS=$xlm_try_cflags
      HDF5_LIBS=$xlm_try_libs],
     [xlm_reason=`cat conftest.said 2>/dev/null`
      test -n "$xlm_reason" || xlm_reason="a program with it cannot be started"],
     [xlm_hdf5=$xlm_from
      HDF5_CFLAGS=$xlm_try_cflags
      HDF5_LIBS=$xlm_try_libs])
   cat conftest.log >&AS_MESSAGE_LOG_FD 2>/dev/null
   rm -f conftest.said conftest.log conftest.h5
   CPPFLAGS=$xlm_save_CPPFLAGS
   LIBS=$xlm_save_LIBS],
  [XLM_LINK_IFELSE([$MPI_CFLAGS $xlm_try_cflags], [$xlm_try_libs $MPI_LIBS], [XLM_HDF5_PROLOGUE
#ifdef H5_HAVE_PARALLEL
#error "this HDF5 is parallel, but not with this MPI"
#endif],
     [return H5open();], [xlm_reason="it is serial, built without MPI"])])
AS_IF([test -n "$xlm_reason" && test -z "$xlm_hdf5_refused"], [xlm_hdf5_refused="$xlm_from: $xlm_reason"])])

# XLM_CHECK_HDF5
# Parallel HDF5 that is built with the MPI found: sets HDF5_CFLAGS, HDF5_LIBS and xlm_hdf5 (where they come from). In this
# order: the user's HDF5_CFLAGS and HDF5_LIBS, or H5PCC, and nothing else then; an h5pcc that PATH has before the system's;
# pkg-config, the module of this MPI first; the system's h5pcc; -lhdf5. What brings another MPI along is passed over.
AC_DEFUN([XLM_CHECK_HDF5],
[AC_REQUIRE([XLM_CHECK_MPI])
AC_ARG_VAR([HDF5_CFLAGS], [C compiler flags for parallel HDF5, overriding H5PCC and pkg-config])
AC_ARG_VAR([HDF5_LIBS], [linker flags for parallel HDF5, overriding H5PCC and pkg-config])
AC_ARG_VAR([H5PCC], [C compiler of the parallel HDF5 to build with, asked for its flags])
AC_ARG_ENABLE([mpi-start-check],
  [AS_HELP_STRING([--disable-mpi-start-check],
    [do not start MPI in configure to prove that HDF5 works with it, where it may not be started])])
AS_IF([test -z "$H5PCC"],
  [AC_PATH_PROG([H5PCC], [h5pcc], [no])
   AS_CASE([$H5PCC], [no|/usr/bin/*], [xlm_h5pcc_first=], [xlm_h5pcc_first=h5pcc])],
  [xlm_h5pcc_first=given])
AC_PATH_PROG([H5DUMP], [h5dump], [no])
AC_CHECK_LIB([dl], [dladdr], [xlm_libdl=-ldl], [xlm_libdl=])
AC_MSG_CHECKING([for parallel HDF5 of $xlm_mpi_name])
AS_CASE([$xlm_mpi_family],
  [mpich], [xlm_candidates="hdf5-mpich hdf5-mpi hdf5 hdf5-openmpi"],
  [xlm_candidates="hdf5-openmpi hdf5-mpi hdf5 hdf5-mpich"])
AS_IF([test -n "$HDF5_CFLAGS$HDF5_LIBS"],
  [xlm_candidates=variables],
  [test "$xlm_h5pcc_first" = given],
  [xlm_candidates=h5pcc],
  [xlm_candidates="$xlm_h5pcc_first $xlm_candidates h5pcc plain hdf5-serial"])
xlm_hdf5=
xlm_hdf5_refused=
for xlm_candidate in $xlm_candidates; do
  AS_CASE([$xlm_candidate],
    [variables],
    [xlm_from="HDF5_CFLAGS and HDF5_LIBS"
     xlm_try_cflags=$HDF5_CFLAGS
     xlm_try_libs=$HDF5_LIBS],
    [h5pcc],
    [test "$H5PCC" != no || continue
     xlm_from=$H5PCC
     xlm_try_cflags=`$H5PCC -show 2>/dev/null | tr ' ' '\n' | grep '^-@<:@ID@:>@' | tr '\n' ' '`
     xlm_try_libs=`$H5PCC -show 2>/dev/null | tr ' ' '\n' | sed 1d |
       grep -e '^-@<:@Ll@:>@' -e '^-Wl,' -e '^/.*\.a$' -e '^/.*\.so$' | tr '\n' ' '`],
    [plain],
    [xlm_from=-lhdf5
     xlm_try_cflags=
     xlm_try_libs=-lhdf5],
    [$PKG_CONFIG --exists $xlm_candidate 2>/dev/null || continue
     xlm_from="pkg-config $xlm_candidate"
     xlm_try_cflags=`$PKG_CONFIG --cflags $xlm_candidate`
     xlm_try_libs=`$PKG_CONFIG --libs $xlm_candidate`])
  _XLM_TRY_HDF5
  test -z "$xlm_hdf5" || break
done
AS_CASE(["$xlm_hdf5$xlm_hdf5_refused:$xlm_candidates"],
  [:variables|:h5pcc], [xlm_hdf5_refused="$xlm_from: it does not compile or link with this MPI"])
AS_IF([test -n "$xlm_hdf5"],
  [AC_MSG_RESULT([$xlm_hdf5])],
  [AC_MSG_RESULT([no${xlm_hdf5_refused:+; $xlm_hdf5_refused}])
   test -z "$xlm_hdf5_refused" || xlm_hdf5_refused="
      found, but of no use: $xlm_hdf5_refused"
   XLM_MISSING([parallel HDF5 1.10.2 or later (header hdf5.h), built with $xlm_mpi_name$xlm_hdf5_refused],
     [libhdf5-$xlm_mpi_suffix-dev])])
])
