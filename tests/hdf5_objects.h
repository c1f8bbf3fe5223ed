/* xlm-mpi: what H5Ovisit tells of an object, by one name. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_HDF5_OBJECTS_H
#define TESTS_HDF5_OBJECTS_H

#include <hdf5.h>

/* HDF5 1.12 has given the type this name, and the old name to another. */
#if H5_VERSION_GE(1, 12, 0)
typedef H5O_info1_t visited_object;
#else
typedef H5O_info_t visited_object;
#endif

#endif
