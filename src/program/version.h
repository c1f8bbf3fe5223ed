/* xlm-mpi: what --version prints. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_PROGRAM_VERSION_H
#define XLM_PROGRAM_VERSION_H

/* Prints to standard output the version of a program, the source that it was built from, the libraries that it has loaded with their
 * versions, and what it chooses on this processor: the kernels of BLIS and our own, the library for matrix products, bfloat16. */
void xlm_version_print(const char *program);

#endif
