/* xlm-mpi: the functions of BLACS, PBLAS and ScaLAPACK that src/matrix calls. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ScaLAPACK comes without a header. All arguments of its Fortran functions are addresses; integers are of 32 bits, and rows,
 * columns and positions in matrices count from 1. Only src/matrix includes this. */
#ifndef XLM_MATRIX_SCALAPACK_H
#define XLM_MATRIX_SCALAPACK_H

#include "comm/comm.h"

/* BLACS, in C. */
int Csys2blacs_handle(MPI_Comm comm);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void Cblacs_gridinfo(int context, int *rows, int *columns, int *row, int *column);
void Cblacs_gridexit(int context);

/* Copies a part of a matrix to a matrix of another layout, of any context of the same processes. */
void Cpdgemr2d(int m, int n, const double *a, int ia, int ja, const int *desca, double *b, int ib, int jb, const int *descb,
               int context);

int numroc_(const int *n, const int *block, const int *place, const int *first, const int *places);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb, const int *first_row,
               const int *first_column, const int *context, const int *stride, int *info);

void pdgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
             const double *a, const int *ia, const int *ja, const int *desca, const double *b, const int *ib, const int *jb,
             const int *descb, const double *beta, double *c, const int *ic, const int *jc, const int *descc);
void pdgeqrf_(const int *m, const int *n, double *a, const int *ia, const int *ja, const int *desca, double *tau, double *work,
              const int *lwork, int *info);
void pdorgqr_(const int *m, const int *n, const int *k, double *a, const int *ia, const int *ja, const int *desca,
              const double *tau, double *work, const int *lwork, int *info);
void pdgesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, double *a, const int *ia, const int *ja,
              const int *desca, double *s, double *u, const int *iu, const int *ju, const int *descu, double *vt,
              const int *ivt, const int *jvt, const int *descvt, double *work, const int *lwork, int *info);
void pdsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *ia, const int *ja, const int *desca,
              double *w, double *z, const int *iz, const int *jz, const int *descz, double *work, const int *lwork, int *iwork,
              const int *liwork, int *info);

#endif
