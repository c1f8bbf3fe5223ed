/* xlm-mpi: SHA-256 of files. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_FILES_FILE_DIGEST_H
#define XLM_FILES_FILE_DIGEST_H

#include <stdint.h>

#include "base/error.h"

enum { XLM_SHA256_TEXT = 65 };

/* [out] digest: SHA-256 of a whole file, as sha256sum prints it; bytes: its size, may be NULL. EX_NOINPUT, EX_IOERR. */
bool xlm_file_sha256(const char *path, char digest[XLM_SHA256_TEXT], int64_t *bytes, GError **error);

#endif
