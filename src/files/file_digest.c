/* xlm-mpi: SHA-256 of files. SPDX-License-Identifier: GPL-3.0-or-later */
#include "files/file_digest.h"

#include <errno.h>
#include <stdio.h>

#include "files/files.h"

bool xlm_file_sha256(const char *path, char digest[XLM_SHA256_TEXT], int64_t *bytes, GError **error)
{
    if (!xlm_files_check_input(path, error))
        return false;
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return xlm_error_set(error, EX_NOINPUT, "%s: %s", path, g_strerror(errno));
    enum { BUFFER = 1 << 18 };
    g_autofree guchar *buffer = g_malloc(BUFFER);
    g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
    int64_t size = 0;
    size_t got;
    while ((got = fread(buffer, 1, BUFFER, file)) > 0) {
        g_checksum_update(checksum, buffer, (gssize)got);
        size += (int64_t)got;
    }
    const bool good = !ferror(file) || xlm_error_set(error, EX_IOERR, "%s: %s", path, g_strerror(errno));
    g_strlcpy(digest, g_checksum_get_string(checksum), XLM_SHA256_TEXT);
    if (bytes != NULL)
        *bytes = size;
    fclose(file);
    return good;
}
