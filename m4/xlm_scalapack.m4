# xlm-mpi: ScaLAPACK, which is built with one MPI. SPDX-License-Identifier: GPL-3.0-or-later

# XLM_CHECK_SCALAPACK
# Sets SCALAPACK_LIBS: the user's, or the library of this MPI under Debian's name (libscalapack-openmpi, libscalapack-mpich), or
# -lscalapack with and without -llapack. It has no header; src/matrix/scalapack.h declares what is called. After XLM_CHECK_MPI
# and the check of BLIS, which is linked before it: libscalapack and liblapack find their BLAS in the process, where BLIS comes
# first.
AC_DEFUN([XLM_CHECK_SCALAPACK],
[AC_REQUIRE([XLM_CHECK_MPI])
AC_ARG_VAR([SCALAPACK_LIBS], [linker flags for ScaLAPACK, overriding the search])
AC_MSG_CHECKING([for ScaLAPACK of $xlm_mpi_name])
xlm_scalapack=
AS_IF([test -n "$SCALAPACK_LIBS"], [xlm_candidates=:],
  [xlm_candidates="-lscalapack-$xlm_mpi_suffix -lscalapack -lscalapack:-llapack"])
for xlm_candidate in $xlm_candidates; do
  AS_IF([test -z "$xlm_scalapack"],
    [xlm_try_libs=`AS_ECHO(["$xlm_candidate"]) | tr ':' ' '`
     test -z "$SCALAPACK_LIBS" || xlm_try_libs=$SCALAPACK_LIBS
     XLM_LINK_IFELSE([$MPI_CFLAGS], [$BLIS_LIBS $xlm_try_libs $MPI_LIBS], [#include <mpi.h>
int Csys2blacs_handle(MPI_Comm comm);
void pdgemm_(void);
void pdgesvd_(void);
void Cpdgemr2d(void);], [pdgemm_(); pdgesvd_(); Cpdgemr2d(); return Csys2blacs_handle(MPI_COMM_WORLD);],
       [xlm_scalapack=$xlm_try_libs])])
done
AS_IF([test -n "$xlm_scalapack"],
  [SCALAPACK_LIBS=$xlm_scalapack
   AC_MSG_RESULT([$SCALAPACK_LIBS])],
  [AC_MSG_RESULT([no])
   XLM_MISSING([ScaLAPACK built with $xlm_mpi_name (-lscalapack-$xlm_mpi_suffix, -lscalapack, or SCALAPACK_LIBS=...)],
     [libscalapack-$xlm_mpi_suffix-dev])])
])
