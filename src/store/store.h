/* xlm-mpi: HDF5 files that people can read with h5dump, written by all ranks together. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file is written under a temporary name next to its final one and renamed when it is complete, so a file with its final name
 * is complete. Every dataset of numbers may be chunked and carry Fletcher-32 checksums, so that damage is found on reading.
 *
 *   write:  xlm_store_create -> xlm_store_dataset, xlm_store_write, xlm_store_set_... -> xlm_store_commit
 *   read:   xlm_store_open -> xlm_store_read_all, or xlm_store_shape and xlm_store_read; xlm_store_get_... -> xlm_store_close
 *
 * Paths are HDF5 paths ("/model/encoder/layer.0/attention/query/weight"); groups on the way are made when missing. An
 * attribute belongs to any object: `path` names it, `name` the attribute; a group of that path is made when there is no
 * object yet.
 *
 * A write that fails is one error on all ranks when it can be: a directory that cannot be written, a limit on file sizes,
 * a full disk (room is set aside before anything is written, where the file system can). When a rank meets an
 * input/output error in the middle of a collective write, the job ends with a message and EX_IOERR: the other ranks are
 * caught inside MPI-IO. Either way the temporary file is removed. What several ranks wrote is read again before the file gets
 * its name, so every row and attribute should be written once. Two environment variables: XLM_STORE_TIMEOUT, how long ranks wait
 * for one another at the end, in seconds (600); XLM_STORE_WRITERS, how many ranks of a node have the file open (4, or as
 * many as it has cores), the others send them their rows. With one writer in all, files are written without MPI-IO.
 *
 * A file that is read may be untrusted. The reader of a dataset gives its type and shape (xlm_array), and gets either these or an
 * error that names file and dataset, so no dataset is larger than the memory that it is read into. Only what the functions below
 * write is read: no links but hard ones, no elements in other files, no filters but Fletcher-32, no types but those of xlm_type
 * and strings of fixed length, no chunks larger than the file, attributes of one value.
 *
 * HDF5 is not thread-safe: one thread at a time, over all stores. */
#ifndef XLM_STORE_STORE_H
#define XLM_STORE_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* comm/comm.h: the ranks that write a file together. Readers need no MPI. */
typedef struct xlm_comm xlm_comm;

typedef struct xlm_store xlm_store;

typedef enum { /* element types, in memory and in the file */
    XLM_U8, XLM_U16, XLM_U32, XLM_U64, XLM_I32, XLM_I64, XLM_F32, XLM_F64
} xlm_type;

size_t xlm_type_size(xlm_type type);

/* The expected type and shape of a dataset: `rows` of `columns` elements each; columns 0: it has one dimension. Integers are
 * converted to integers and floats to floats. An extent is one number, or XLM_UP_TO(n): 0 to n; XLM_ANY: what the file has, and
 * of columns none too. */
typedef struct xlm_array {
    xlm_type type;
    uint64_t rows, columns;
} xlm_array;
#define XLM_UP_TO(n) ((uint64_t)1 << 63 | (uint64_t)(n))
#define XLM_ANY UINT64_MAX

/* Bytes of the longest text of an attribute. */
enum { XLM_STORE_LONGEST_TEXT = 16 << 20 };

/* "HDF5 1.10.8" */
const char *xlm_store_library(void);

/* ---- writing; all collective over the comm of xlm_store_create, except where noted ---- */

/* Create `path` (under a temporary name beside it: XLM_UNFINISHED, base/unfinished.h). comm NULL: this process alone, no MPI.
 * An existing file stays until the new one is complete. EX_CANTCREAT if it cannot be created, EX_IOERR if the disk is full. */
xlm_store *xlm_store_create(const xlm_comm *comm, const char *path, GError **error);

enum { /* flags of xlm_store_dataset */
    XLM_STORE_CHUNKED = 1,  /* contiguous when not set */
    XLM_STORE_CHECKED = 2,  /* Fletcher-32; implies chunked */
    XLM_STORE_GROWING = 4   /* first dimension may be extended; implies chunked */
};
/* Make a dataset of `dimensions` (1 or 2) extents dims[], rows and columns. There may be 0 rows. */
bool xlm_store_dataset(xlm_store *store, const char *path, xlm_type type, int dimensions, const uint64_t *dims,
                       int flags, GError **error);
/* Extend the first extent of a growing dataset to `rows`. */
bool xlm_store_extend(xlm_store *store, const char *path, uint64_t rows, GError **error);
/* Write rows [first, first + rows) of the first extent; each rank its own rows (rows may be 0). data: rows x the other
 * extents, of the dataset's type. Rows that are not there are an error of all ranks, at the latest at xlm_store_commit. */
bool xlm_store_write(xlm_store *store, const char *path, uint64_t first, uint64_t rows, const void *data, GError **error);
/* A new 1-d dataset, <group>/<name>, with checksums and values[n], the same on every rank; written by one. */
bool xlm_store_write_array(xlm_store *store, const char *group, const char *name, xlm_type type, uint64_t n, const void *values,
                           GError **error);
/* A 1-d dataset of fixed-length UTF-8 strings, the same strings given on every rank. */
bool xlm_store_write_strings(xlm_store *store, const char *path, uint64_t n, const char *const *strings, GError **error);

/* Attributes: the same call with the same value on every rank. path may be "/". */
bool xlm_store_set_text(xlm_store *store, const char *path, const char *name, const char *value, GError **error);
bool xlm_store_set_int(xlm_store *store, const char *path, const char *name, int64_t value, GError **error);
bool xlm_store_set_real(xlm_store *store, const char *path, const char *name, double value, GError **error);
/* A number of 64 bits as hexadecimal text. */
bool xlm_store_set_digest(xlm_store *store, const char *path, const char *name, uint64_t value, GError **error);
/* The attributes `format`, `format_version` and `program_version` of /. program: "xlm_dict", or NULL. */
bool xlm_store_set_format(xlm_store *store, const char *format, int version, const char *program, GError **error);

/* Flush, close, and give the file its final name. The store is gone afterwards, also when this fails (then nothing
 * stays under either name). */
bool xlm_store_commit(xlm_store *store, GError **error);
/* Close and remove the temporary file. NULL is allowed. */
void xlm_store_discard(xlm_store *store);
/* Commit when `good`, else discard and return false. store NULL: false. */
bool xlm_store_end(xlm_store *store, bool good, GError **error);

/* ---- reading; by one process alone, not collective ---- */

/* EX_NOINPUT when missing; EX_DATAERR when it is not HDF5, is cut short, or anything in it but the elements of datasets with
 * checksums is not as it was written (the message says that it is damaged) or has no digest. */
xlm_store *xlm_store_open(const char *path, GError **error);
/* Set the digest of the header anew after a file was changed by other means, as tests do. EX_DATAERR, EX_IOERR. */
bool xlm_store_reseal(const char *path, GError **error);
/* Is the file still the one that was opened? EX_DATAERR when it was cut short or written over; a warning when only its time of
 * modification is another. One that has lost its name to another file is unchanged. Takes a microsecond, or a question to the
 * server. */
bool xlm_store_check_unchanged(xlm_store *store, GError **error);
void xlm_store_close(xlm_store *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xlm_store, xlm_store_close)
const char *xlm_store_path(const xlm_store *store);
bool xlm_store_has(const xlm_store *store, const char *path);
/* Sets *array to the actual type and shape if the dataset matches *array; else EX_DATAERR. */
bool xlm_store_shape(const xlm_store *store, const char *path, xlm_array *array, GError **error);
/* Rows [first, first + rows) of the dataset, which is `array`, into data[rows x columns]. EX_DATAERR: it is another one, a
 * checksum fails, a value does not fit into the type. A random read of some hundred numbers takes about 60 us when the file is in
 * memory: one chunk of 64 KiB and its checksum. */
bool xlm_store_read(const xlm_store *store, const char *path, xlm_array array, uint64_t first, uint64_t rows, void *data,
                    GError **error);
/* All of the dataset, and *array as xlm_store_shape sets it; g_free. */
void *xlm_store_read_all(const xlm_store *store, const char *path, xlm_array *array, GError **error);
/* A 1-d dataset of at most `most` strings; NULL-terminated (g_strfreev). *n (may be NULL): how many. */
char **xlm_store_read_strings(const xlm_store *store, const char *path, uint64_t max_strings, uint64_t *n, GError **error);
/* Names of the members of a group in alphabetical order; NULL-terminated (g_strfreev). */
char **xlm_store_list(const xlm_store *store, const char *path, GError **error);
/* Names of the attributes of an object in alphabetical order; NULL-terminated (g_strfreev). */
char **xlm_store_list_attributes(const xlm_store *store, const char *path, GError **error);
char *xlm_store_get_text(const xlm_store *store, const char *path, const char *name, GError **error); /* g_free */
/* Are the attributes `format` and `format_version` of / these? kind ("a dictionary") and program ("xlm_dict") are for messages,
 * which say that the file is not one, or has another version and must be made again. EX_DATAERR. */
bool xlm_store_check_format(const xlm_store *store, const char *format, int version, const char *kind, const char *program,
                            GError **error);
/* Integers are signed; reals are floats: the one instead of the other is EX_DATAERR. */
bool xlm_store_get_int(const xlm_store *store, const char *path, const char *name, int64_t *value, GError **error);
bool xlm_store_get_real(const xlm_store *store, const char *path, const char *name, double *value, GError **error);
bool xlm_store_get_digest(const xlm_store *store, const char *path, const char *name, uint64_t *value, GError **error);

#endif
