/* xlm-mpi: what git leaves of a large file where git-lfs is missing. SPDX-License-Identifier: GPL-3.0-or-later */
#include "files/lfs_pointer.h"

#include <string.h>

bool xlm_lfs_pointer_refuse(const char *path, const char *bytes, size_t size, GError **error)
{
    static const char first[] = "version https://git-lfs";
    return size < strlen(first) || memcmp(bytes, first, strlen(first)) != 0 ||
           xlm_error_set(error, EX_DATAERR, "%s: only says where the file is, as git leaves it without git-lfs; fetch the file "
                         "itself: git lfs pull", path);
}
