/* xlm-mpi: files that a program reads and files that it writes, none of which is both. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The options of a program say which files it reads and which it writes (program/program.h); these are declared here before any
 * file is opened. Files that are named elsewhere, in a job file or a directory, are compared when they are opened: every function
 * that opens a file for reading calls xlm_files_check_input, and every function that creates a file calls xlm_files_check_output.
 * Two paths are the same file if they lead to the same device and inode, through whatever links. Any thread may check.
 *
 * While a run goes on, its links `latest` and `best` lead to other files. A program reads a file more than once, and on each rank,
 * and what it makes is to be of one checkpoint: a link that an option or an argument names is followed once, when it is declared,
 * and files are opened by what it led to then. Messages and tables have the name that was given. */
#ifndef XLM_FILES_FILES_H
#define XLM_FILES_FILES_H

#include <stdint.h>

#include "base/error.h"

typedef enum {
    XLM_FILE_READ = 1,
    XLM_FILE_WRITTEN = 2,
    XLM_FILE_REPLACED = 4 /* in addition: if both have this flag, the file that is read may be the one that is written */
} xlm_file_role;

/* Compare files that are read with files that are written from now on. Programs call this when they start. */
void xlm_files_guard(void);
/* Say which directory is that of the run. A run may replace files in it that it has read itself, such as a damaged checkpoint
 * that it has skipped. The path is copied, and replaces the one of an earlier call. */
void xlm_files_own(const char *directory);

/* Declare a file. path: an option's value; option: its name for messages ("--csv"); both are copied. role: xlm_file_role, by or.
 * EX_USAGE when a file would be both input and output, or two outputs are the same file. */
bool xlm_files_declare(const char *path, const char *option, int role, GError **error);

/* What a declared link led to then, if it is a file that is only read; any other path itself. For what opens files. g_free. */
char *xlm_files_target(const char *path);
/* Call share(with, &target) for each declared file, in the order of declaration, so that all ranks take the target of one. target:
 * NULL if there is none; what share puts in its place is freed by g_free. */
void xlm_files_share_targets(void (*share)(const void *with, char **target), const void *with);

/* To be called before a file is read. EX_USAGE if the program writes it; EX_NOINPUT if it is a pipe or a device. A file that does
 * not exist is no error here, because opening it reports that. */
bool xlm_files_check_input(const char *path, GError **error);
/* The checkpoints `best` and `latest` of a run's output directory, for a message: "DIR/best or DIR/latest", or the one
 * that exists; NULL: neither. g_free. */
char *xlm_files_of_run(const char *directory);
/* Sets EX_NOINPUT with what to give instead of a directory where a file is expected. */
bool xlm_files_refuse_directory(const char *path, GError **error);
/* To be called before a file is created or replaced. hdf5: the new file is an HDF5 file. EX_USAGE if it was read; EX_CANTCREAT if
 * it cannot be created, is not a regular file, or is an HDF5 file that would be replaced by one that is not. */
bool xlm_files_check_output(const char *path, bool hdf5, GError **error);
/* Can all declared outputs be created? For the rank that writes them. EX_CANTCREAT. */
bool xlm_files_check_declared(GError **error);

/* Is it a regular file that begins as HDF5 files do? False also when it cannot be read. The file does not count as read. */
bool xlm_files_is_hdf5(const char *path);

/* Read a whole small file with g_file_get_contents, after xlm_files_check_input; but a pipe that is already open, such as the
 * shell's <(...), is allowed. [out] bytes: g_free. */
bool xlm_files_load(const char *path, char **bytes, gsize *size, GError **error);

enum { XLM_SHA256_TEXT = 65 };
/* A reading that another thread looks at, with GLib's atomic functions. */
typedef struct xlm_file_reading {
    gint stop;   /* set by the other thread to end it early; then the digest is useless */
    gsize bytes; /* read so far, of one file after another */
} xlm_file_reading;
/* [out] digest: SHA-256 of a whole file, as sha256sum prints it, for ARCHIVE/MEMBER of the archive; bytes: the file's size, may be
 * NULL. reading: NULL if no other thread looks at it. EX_NOINPUT, EX_IOERR, EX_USAGE. */
bool xlm_file_sha256(const char *path, char digest[XLM_SHA256_TEXT], int64_t *bytes, xlm_file_reading *reading, GError **error);

/* If a published model is cloned without git-lfs, each large file contains only three lines of text that say where the real file
 * is. [in] bytes: [size] the beginning of a file; path: for the message. EX_DATAERR when it is such a text. */
bool xlm_lfs_pointer_refuse(const char *path, const char *bytes, size_t size, GError **error);

#endif
