# xlm-mpi: MPI and parallel HDF5 for a plain C compiler. SPDX-License-Identifier: GPL-3.0-or-later

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

# XLM_CHECK_MPI
# Sets MPI_CFLAGS, MPI_LIBS and xlm_mpi (where they come from). In this order: the user's MPI_CFLAGS and MPI_LIBS, a CC
# that is an MPI compiler already, pkg-config's ompi-c, mpicc --showme (Open MPI), mpicc -show (MPICH).
AC_DEFUN([XLM_CHECK_MPI],
[AC_REQUIRE([PKG_PROG_PKG_CONFIG])
AC_ARG_VAR([MPI_CFLAGS], [C compiler flags for MPI, overriding pkg-config and mpicc])
AC_ARG_VAR([MPI_LIBS], [linker flags for MPI, overriding pkg-config and mpicc])
AC_PATH_PROG([MPICC], [mpicc], [no])
AC_PATH_PROG([MPIEXEC], [mpiexec], [mpiexec])
AC_MSG_CHECKING([for MPI 3])
xlm_mpi=
AS_IF([test -n "$MPI_CFLAGS$MPI_LIBS"],
  [_XLM_TRY_MPI([MPI_CFLAGS and MPI_LIBS], ["$MPI_CFLAGS"], ["$MPI_LIBS"])],
  [_XLM_TRY_MPI([CC], [], [])
   AS_IF([$PKG_CONFIG --exists ompi-c 2>/dev/null],
     [_XLM_TRY_MPI([pkg-config ompi-c], [`$PKG_CONFIG --cflags ompi-c`], [`$PKG_CONFIG --libs ompi-c`])])
   AS_IF([test "$MPICC" != no],
     [_XLM_TRY_MPI([mpicc --showme],
        [`$MPICC --showme:compile 2>/dev/null`], [`$MPICC --showme:link 2>/dev/null`])
      _XLM_TRY_MPI([mpicc -show],
        [`$MPICC -compile-info 2>/dev/null | tr ' ' '\n' | grep '^-@<:@ID@:>@' | tr '\n' ' '`],
        [`$MPICC -link-info 2>/dev/null | tr ' ' '\n' | grep -e '^-@<:@Ll@:>@' -e '^-Wl,' | tr '\n' ' '`])])])
AS_IF([test -n "$xlm_mpi"],
  [AC_MSG_RESULT([$xlm_mpi])],
  [AC_MSG_RESULT([no])
   XLM_MISSING([MPI 3 (header mpi.h and library)], [libopenmpi-dev openmpi-bin])])
])

m4_define([XLM_HDF5_PROLOGUE], [#include <hdf5.h>
#if !H5_VERSION_GE(1, 10, 2)
#error "HDF5 1.10.2 is needed"
#endif])

# _XLM_TRY_HDF5(FROM, CFLAGS, LIBS)
# Sets xlm_hdf5 when this HDF5 works with MPI; xlm_hdf5_serial when it works, but alone.
m4_define([_XLM_TRY_HDF5],
[AS_IF([test -z "$xlm_hdf5"],
  [xlm_try_cflags=$2
   xlm_try_libs=$3
   XLM_LINK_IFELSE([$xlm_try_cflags $MPI_CFLAGS], [$xlm_try_libs $MPI_LIBS], [XLM_HDF5_PROLOGUE
#ifndef H5_HAVE_PARALLEL
#error "this HDF5 is serial"
#endif],
     [return H5Pset_fapl_mpio(H5Pcreate(H5P_FILE_ACCESS), MPI_COMM_WORLD, MPI_INFO_NULL);],
     [xlm_hdf5="$1"
      HDF5_CFLAGS=$xlm_try_cflags
      HDF5_LIBS=$xlm_try_libs],
     [AS_IF([test -z "$xlm_hdf5_serial"],
       [XLM_LINK_IFELSE([$xlm_try_cflags $MPI_CFLAGS], [$xlm_try_libs $MPI_LIBS], [XLM_HDF5_PROLOGUE
#ifdef H5_HAVE_PARALLEL
#error "this HDF5 is parallel, but not with this MPI"
#endif],
         [return H5open();], [xlm_hdf5_serial="$1"])])])])])

# XLM_CHECK_HDF5
# Parallel HDF5: sets HDF5_CFLAGS, HDF5_LIBS and xlm_hdf5 (where they come from). After XLM_CHECK_MPI.
AC_DEFUN([XLM_CHECK_HDF5],
[AC_REQUIRE([XLM_CHECK_MPI])
AC_ARG_VAR([HDF5_CFLAGS], [C compiler flags for parallel HDF5, overriding pkg-config and h5pcc])
AC_ARG_VAR([HDF5_LIBS], [linker flags for parallel HDF5, overriding pkg-config and h5pcc])
AC_PATH_PROG([H5PCC], [h5pcc], [no])
AC_PATH_PROG([H5DUMP], [h5dump], [no])
AC_MSG_CHECKING([for parallel HDF5])
xlm_hdf5=
xlm_hdf5_serial=
AS_IF([test -n "$HDF5_CFLAGS$HDF5_LIBS"],
  [_XLM_TRY_HDF5([HDF5_CFLAGS and HDF5_LIBS], ["$HDF5_CFLAGS"], ["$HDF5_LIBS"])],
  [for xlm_module in hdf5-openmpi hdf5-mpi hdf5 hdf5-serial; do
     AS_IF([$PKG_CONFIG --exists $xlm_module 2>/dev/null],
       [_XLM_TRY_HDF5([pkg-config $xlm_module],
          [`$PKG_CONFIG --cflags $xlm_module`], [`$PKG_CONFIG --libs $xlm_module`])])
   done
   AS_IF([test "$H5PCC" != no],
     [_XLM_TRY_HDF5([h5pcc -show],
        [`$H5PCC -show 2>/dev/null | tr ' ' '\n' | grep '^-@<:@ID@:>@' | tr '\n' ' '`],
        [`$H5PCC -show 2>/dev/null | tr ' ' '\n' | sed 1d | grep -e '^-@<:@Ll@:>@' -e '^-Wl,' -e '^/.*\.a$' -e '^/.*\.so$' | tr '\n' ' '`])])
   _XLM_TRY_HDF5([-lhdf5], [], [-lhdf5])])
AS_IF([test -n "$xlm_hdf5"],
  [AC_MSG_RESULT([$xlm_hdf5])],
  [test -z "$xlm_hdf5_serial"],
  [AC_MSG_RESULT([no])
   XLM_MISSING([parallel HDF5 1.10.2 or later (header hdf5.h, built with this MPI)], [libhdf5-openmpi-dev])],
  [AC_MSG_RESULT([no, the HDF5 found by $xlm_hdf5_serial is serial])
   XLM_MISSING([parallel HDF5: the HDF5 found ($xlm_hdf5_serial) is serial, built without MPI], [libhdf5-openmpi-dev])])
])
