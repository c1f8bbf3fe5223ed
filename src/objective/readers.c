/* xlm-mpi: the kinds of files that objectives can request. SPDX-License-Identifier: GPL-3.0-or-later */
#include "objective/readers.h"

const xlm_resource_reader *const xlm_resource_readers[] = {
    &xlm_cooccurrence_reader,
    &xlm_dictionary_reader,
    NULL,
};
