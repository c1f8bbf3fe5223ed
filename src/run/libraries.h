/* xlm-mpi: versions of the libraries that a program has loaded. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What MPI, HDF5, BLIS and oneDNN say of themselves is asked where they are used: comm, store and gemm. */
#ifndef XLM_RUN_LIBRARIES_H
#define XLM_RUN_LIBRARIES_H

#include <glib.h>

/* All others, as "GLib 2.84.4", one each. A library that has no function for its version is named with the file
 * that the loader took, whose name has one: "ScaLAPACK (libscalapack-openmpi.so.2.2.2)". g_strfreev. */
char **xlm_libraries_describe(void);

#endif
