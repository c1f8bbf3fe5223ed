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
 * Most failures to write give the same error on all ranks: a directory that cannot be written, a limit on file sizes, a full disk
 * (space is reserved before anything is written, where the file system supports this). When a rank has an input/output error in
 * the middle of a collective write, the job ends with a message and EX_IOERR, because the other ranks are waiting inside MPI-IO.
 * In both cases the temporary file is removed. What several ranks have written is read again before the file gets its name, so
 * every row and attribute should be written only once. There are two environment variables: XLM_STORE_TIMEOUT, how long ranks
 * wait for one another at the end, in seconds (default 600); XLM_STORE_WRITERS, how many ranks of a node open the file (default
 * 4, but no more than the node has cores; one of all nodes where the file is known to be small), to which the other ranks send
 * their rows. If there is only one writer in all, files are written without MPI-IO, and its errors become those of all ranks when
 * these agree next, at the latest in xlm_store_commit.
 *
 * A file that is read may be untrusted. The caller gives the expected type and shape of a dataset (xlm_array), and gets either
 * data of this type and shape or an error that names file and dataset, so no dataset is larger than the memory that it is read
 * into. Only what the functions below write can be read: no links except hard links, no elements in other files, no filters
 * except Fletcher-32, no types except those of xlm_type and strings of fixed length, no chunks larger than the file, attributes
 * of one value.
 *
 * HDF5 is not thread-safe: one thread at a time, over all stores. */
#ifndef XLM_STORE_STORE_H
#define XLM_STORE_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The ranks that write a file together (comm/comm.h). Readers need no MPI. */
typedef struct xlm_comm xlm_comm;

typedef struct xlm_store xlm_store;

typedef enum { /* element types, in memory and in the file */
    XLM_U8, XLM_U16, XLM_U32, XLM_U64, XLM_I32, XLM_I64, XLM_F32, XLM_F64
} xlm_type;

size_t xlm_type_size(xlm_type type);

/* The expected type and shape of a dataset: `rows` rows of `columns` elements each; columns 0: it has one dimension. Integers are
 * converted to integers and floats to floats. Each extent is a number, or XLM_UP_TO(n), which means 0 to n, or XLM_ANY, which
 * means whatever the file has; with columns = XLM_ANY the dataset may also have one dimension. */
typedef struct xlm_array {
    xlm_type type;
    uint64_t rows, columns;
} xlm_array;
#define XLM_UP_TO(n) ((uint64_t)1 << 63 | (uint64_t)(n))
#define XLM_ANY UINT64_MAX

/* Maximum number of bytes of the text of an attribute. */
enum { XLM_STORE_LONGEST_TEXT = 16 << 20 };

/* "HDF5 1.10.8" */
const char *xlm_store_library(void);

/* ---- writing; all collective over the comm of xlm_store_create, except where noted ---- */

/* Create `path`, under a temporary name beside it (XLM_UNFINISHED, base/unfinished.h). comm: copied; NULL: this process writes
 * alone, without MPI. An existing file stays until the new one is complete. EX_CANTCREAT if it cannot be created, EX_IOERR if the
 * disk is full, EX_USAGE if the program reads this file too, EX_OSERR if there is too little memory for HDF5. */
xlm_store *xlm_store_create(const xlm_comm *comm, const char *path, GError **error);
/* The same where it is known about how many bytes the file will have, the same number on every rank: one of up to 128 MiB is
 * written by one rank, to which the others send their rows, unless XLM_STORE_WRITERS is set. */
xlm_store *xlm_store_create_sized(const xlm_comm *comm, const char *path, uint64_t size, GError **error);

enum { /* flags of xlm_store_dataset */
    XLM_STORE_CHUNKED = 1,  /* contiguous when not set */
    XLM_STORE_CHECKED = 2,  /* Fletcher-32; implies chunked */
    XLM_STORE_GROWING = 4   /* first dimension may be extended; implies chunked */
};
/* Make a dataset of `dimensions` (1 or 2) extents dims[], rows and columns. There may be 0 rows. */
bool xlm_store_dataset(xlm_store *store, const char *path, xlm_type type, int dimensions, const uint64_t *dims,
                       int flags, GError **error);
/* Extend a growing dataset to `rows` rows. */
bool xlm_store_extend(xlm_store *store, const char *path, uint64_t rows, GError **error);
/* Write rows [first, first + rows) of a dataset; each rank writes its own rows (rows may be 0). data: [rows x columns], of the
 * dataset's type. If the dataset does not have these rows, all ranks get an error, at the latest from xlm_store_commit. */
bool xlm_store_write(xlm_store *store, const char *path, uint64_t first, uint64_t rows, const void *data, GError **error);
/* Write all rows of a dataset, the same on every rank: each writes its share, or one rank writes all. data: as above. */
bool xlm_store_write_whole(xlm_store *store, const char *path, const void *data, GError **error);
/* Make a one-dimensional dataset <group>/<name> with checksums and write values[n], which are the same on every rank. */
bool xlm_store_write_array(xlm_store *store, const char *group, const char *name, xlm_type type, uint64_t n, const void *values,
                           GError **error);
/* Make a dataset with checksums of all ranks' rows, n of each rank in the order of ranks. columns 0: it has one dimension. data:
 * [n x columns]. */
bool xlm_store_write_parts(xlm_store *store, const char *path, xlm_type type, uint64_t columns, int64_t n, const void *data,
                           GError **error);
/* Make such a dataset of where items begin in a list that all ranks make, n items of each rank, and where the last one ends:
 * [items of all ranks + 1] u64. offsets: [n + 1], where this rank's items begin and end in its own part of the list, from 0. */
bool xlm_store_write_offsets(xlm_store *store, const char *path, int64_t n, const uint64_t *offsets, GError **error);
/* Make a one-dimensional dataset of UTF-8 strings of fixed length and write strings[n], which are the same on every rank. */
bool xlm_store_write_strings(xlm_store *store, const char *path, uint64_t n, const char *const *strings, GError **error);

/* Set an attribute; every rank makes the same call with the same value. path: of an object; "/" for the file. */
bool xlm_store_set_text(xlm_store *store, const char *path, const char *name, const char *value, GError **error);
bool xlm_store_set_int(xlm_store *store, const char *path, const char *name, int64_t value, GError **error);
bool xlm_store_set_real(xlm_store *store, const char *path, const char *name, double value, GError **error);
/* A number of 64 bits as hexadecimal text. */
bool xlm_store_set_digest(xlm_store *store, const char *path, const char *name, uint64_t value, GError **error);
/* The attributes `format`, `format_version` and `program_version` of /. program: "xlm_dict", or NULL. */
bool xlm_store_set_format(xlm_store *store, const char *format, int version, const char *program, GError **error);

/* Flush, close, and give the file its final name. Frees the store, also on failure; then the new file is removed. */
bool xlm_store_commit(xlm_store *store, GError **error);
/* Close and remove the temporary file, and free the store. NULL is allowed. */
void xlm_store_discard(xlm_store *store);
/* Commit if `good`, else discard and return false. store NULL: false. */
bool xlm_store_end(xlm_store *store, bool good, GError **error);

/* ---- reading; by one process alone, not collective ---- */

/* Open a file. EX_NOINPUT when it is missing; EX_DATAERR when it is not HDF5, is cut short, has no digest, or when anything in it
 * except the elements of datasets with checksums is not as it was written (then the message says that it is damaged). */
xlm_store *xlm_store_open(const char *path, GError **error);
/* What a file says that it is, its attribute `format`, g_free; NULL when it has none or cannot be read. Its digest is not
 * checked, so that files can be told apart quickly: whoever reads more opens it. */
char *xlm_store_format(const char *path);
/* Compute and set the digest of the header again, after a file was changed by other means, as tests do. EX_DATAERR, EX_IOERR. */
bool xlm_store_reseal(const char *path, GError **error);
/* Does the file still have the contents that it had when it was opened? EX_DATAERR when its size has changed, because it was cut
 * short or overwritten; a warning when only its time of modification has changed. A file whose name was given to another one is
 * unchanged. This costs about a microsecond, or a request to the server of a network file system. */
bool xlm_store_check_unchanged(xlm_store *store, GError **error);
void xlm_store_close(xlm_store *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xlm_store, xlm_store_close)
const char *xlm_store_path(const xlm_store *store);
/* Is there a dataset or group of this path? */
bool xlm_store_has(const xlm_store *store, const char *path);
/* [in, out] array: the expected shape, which becomes the actual one. EX_DATAERR if the dataset does not match it. */
bool xlm_store_shape(const xlm_store *store, const char *path, xlm_array *array, GError **error);
/* [out] type: of the elements of a dataset of numbers, as they are in the file. */
bool xlm_store_type(const xlm_store *store, const char *path, xlm_type *type, GError **error);
/* Read rows [first, first + rows) of the dataset, which has the type and shape of `array`, into data[rows x columns]. EX_DATAERR
 * if it has another type or shape, a checksum is wrong, or a value does not fit into the type. Whole chunks are read, which have
 * 16 KiB in datasets of short rows; so a random read of some hundred numbers takes some tens of µs when the file is in memory. */
bool xlm_store_read(const xlm_store *store, const char *path, xlm_array array, uint64_t first, uint64_t rows, void *data,
                    GError **error);
/* Read the whole dataset; g_free. [in, out] array: as in xlm_store_shape. */
void *xlm_store_read_all(const xlm_store *store, const char *path, xlm_array *array, GError **error);
/* Copy a dataset of numbers to the same path of `to`, which one rank writes, as it is: its type, and all bits of its elements. */
bool xlm_store_copy(const xlm_store *from, const char *path, xlm_store *to, GError **error);
/* Read a one-dimensional dataset of at most max_strings strings; NULL-terminated (g_strfreev). [out] n: their number; may be
 * NULL. */
char **xlm_store_read_strings(const xlm_store *store, const char *path, uint64_t max_strings, uint64_t *n, GError **error);
/* Names of the members of a group in alphabetical order; NULL-terminated (g_strfreev). */
char **xlm_store_list(const xlm_store *store, const char *path, GError **error);
/* Names of the attributes of an object in alphabetical order; NULL-terminated (g_strfreev). */
char **xlm_store_list_attributes(const xlm_store *store, const char *path, GError **error);
char *xlm_store_get_text(const xlm_store *store, const char *path, const char *name, GError **error); /* g_free */
/* Check that the attributes `format` and `format_version` of / have these values. EX_DATAERR, with a message that the file is not
 * `kind` ("a dictionary") of `program` ("xlm_dict"), that it is of a newer version, or of an older one and must be made again. */
bool xlm_store_check_format(const xlm_store *store, const char *format, int version, const char *kind, const char *program,
                            GError **error);
/* Is format_version of an object (path; NULL: of the file) higher than `known`, the highest that this program reads? Then sets
 * EX_DATAERR, and the message says what to do. */
bool xlm_store_is_newer(const xlm_store *store, const char *path, int64_t version, int known, GError **error);
/* Integers must be signed; an integer where a real number is expected, or the reverse, is EX_DATAERR. */
bool xlm_store_get_int(const xlm_store *store, const char *path, const char *name, int64_t *value, GError **error);
bool xlm_store_get_real(const xlm_store *store, const char *path, const char *name, double *value, GError **error);
bool xlm_store_get_digest(const xlm_store *store, const char *path, const char *name, uint64_t *value, GError **error);

#endif
