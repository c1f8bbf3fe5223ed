/* xlm-mpi: files that a program reads and writes: none is both. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The options of a program say which files it reads and which it writes (program/program.h), and declare them here before
 * anything is opened. Files that are named elsewhere, in a job file or a directory, are compared when they are opened: every
 * function that opens a file to read it calls xlm_files_check_input, and every one that makes a file calls
 * xlm_files_check_output. Files are the same when device and inode are, whatever links lead there. Any thread may check. */
#ifndef XLM_FILES_FILES_H
#define XLM_FILES_FILES_H

#include <stdint.h>

#include "base/error.h"

typedef enum {
    XLM_FILE_READ = 1,
    XLM_FILE_WRITTEN = 2,
    XLM_FILE_REPLACED = 4 /* with one of the others: the file that is read may be the one that is written, if both have this flag */
} xlm_file_role;

/* From now on files that are read and written are compared, as those of a program from its command line to its end are. */
void xlm_files_guard(void);
/* The directory of a run, which replaces files there that it has read itself: a damaged checkpoint that it has skipped. Copied;
 * one at a time. */
void xlm_files_own(const char *directory);

/* path: an option's value, option: its name, for messages ("--csv"); both are copied. False where the other side has the file
 * already, or two outputs have one name. EX_USAGE. */
bool xlm_files_declare(const char *path, const char *option, int role, GError **error);

/* Before a file is read: it is none that the program writes, EX_USAGE, and no pipe or device, EX_NOINPUT. True also where there
 * is none, which opening it reports. */
bool xlm_files_check_input(const char *path, GError **error);
/* To be called before a file is created or replaced. EX_USAGE if it was read; EX_CANTCREAT if it cannot be created, is not a
 * regular file, or is an HDF5 file that would be replaced by one that is not. */
bool xlm_files_check_output(const char *path, bool hdf5, GError **error);
/* Can all declared outputs be created? For the rank that writes them. EX_CANTCREAT. */
bool xlm_files_check_declared(GError **error);

/* Is it a regular file that begins as HDF5 files do? False also when it cannot be read. It does not count as read. */
bool xlm_files_is_hdf5(const char *path);

/* The whole of a small file, as g_file_get_contents does, after xlm_files_check_input; a pipe that is open already, as the
 * shell's <(...) is, will do. */
bool xlm_files_load(const char *path, char **bytes, gsize *size, GError **error);

enum { XLM_SHA256_TEXT = 65 };
/* [out] digest: SHA-256 of a whole file, as sha256sum prints it; bytes: its size, may be NULL. stop: NULL, or another thread sets
 * it to end the reading early; the digest is then of no use. EX_NOINPUT, EX_IOERR. */
bool xlm_file_sha256(const char *path, char digest[XLM_SHA256_TEXT], int64_t *bytes, const gint *stop, GError **error);

/* Where git-lfs is missing, a clone of a published model has three lines of text under the name of each large file, which say where
 * the file is. bytes: the first of a file; path: for the message. EX_DATAERR when they are such a text. */
bool xlm_lfs_pointer_refuse(const char *path, const char *bytes, size_t size, GError **error);

#endif
