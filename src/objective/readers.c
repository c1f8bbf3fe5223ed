/* xlm-mpi: the kinds of files that objectives can request. SPDX-License-Identifier: GPL-3.0-or-later */
#include "objective/readers.h"

/* The table: one line per kind. */
#define READERS(READER) \
    READER(cooccurrence) \
    READER(dictionary)

#define DECLARE(kind) extern const xlm_resource_reader xlm_##kind##_reader;
#define ADDRESS(kind) &xlm_##kind##_reader,
READERS(DECLARE)
const xlm_resource_reader *const xlm_resource_readers[] = {READERS(ADDRESS) NULL};
