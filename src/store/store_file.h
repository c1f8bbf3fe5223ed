/* xlm-mpi: types and functions that the files of this folder share. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_STORE_STORE_FILE_H
#define XLM_STORE_STORE_FILE_H

#include <hdf5.h>
#include <sys/stat.h>

#include "comm/comm.h"
#include "store/store.h"

/* A dataset in use. Handles stay open as long as the store, because opening a dataset costs more than reading a few rows. */
typedef struct store_dataset {
    hid_t id, space; /* invalid on ranks that do not have the file open */
    int dimensions;
    hsize_t dims[2], chunk[2]; /* chunk[0] = 0: contiguous */
    H5T_class_t class;
    size_t element, row_size;  /* bytes in the file, and also in memory when it is written */
    uint64_t storage;          /* writing: bytes reserved in the file for its elements */
} store_dataset;

/* What this rank has written and must find when it reads the file again. */
typedef struct store_write {
    char *path;
    char *attribute;      /* NULL: rows of the dataset */
    uint64_t first, rows; /* of a dataset */
    uint32_t crc;         /* of the bytes in memory, in the type of the file */
} store_write;

struct xlm_store {
    char *path;
    hid_t file, transfer;
    uint64_t size; /* reading: bytes of the file */
    struct stat opened; /* reading: the state of the file when it was opened or last checked */
    GHashTable *datasets; /* path -> store_dataset */
    GHashTable *groups;   /* set of paths that are known to exist (store_write.c); NULL in a file that is read */

    /* Writing only. */
    bool together; /* the ranks of comm write; else this process alone */
    bool writes;   /* this rank has the file open */
    bool mpi_io;   /* several ranks have the file open */
    xlm_comm comm; /* a copy; meaningful if `together` */
    MPI_Comm group, writers; /* of store_choose_writers(); writers: MPI_COMM_NULL on ranks that do not write */
    int group_ranks;         /* number of ranks of the largest group */
    GError *mistake;         /* of this rank's caller, or of HDF5; all ranks get it whenever they agree from now on */
    MPI_File mpi_file;
    GError *refusal;   /* the same on all ranks: why the file cannot grow any more; then it can only be discarded */
    struct store_watchdog *watchdog;
    char *temporary;   /* path under which the file is written */
    int descriptor;    /* of the temporary file, on the rank that made it; else -1 */
    uint64_t expected; /* an upper bound of the file's final size, bytes */
    uint64_t reserved; /* how many of these bytes the file system has promised */
    GPtrArray *written; /* store_write * */
};

/* HDF5's type in memory, and in the file (little-endian). */
hid_t store_memory_type(xlm_type type);
hid_t store_file_type(xlm_type type);
/* A text of `size` bytes, or 1 where that is 0. H5Tclose. */
hid_t store_text_type(size_t size, H5T_cset_t set, H5T_str_t end);
/* Is it a type that this program writes: one of xlm_type, or a string of fixed length? Files with others are refused, because
 * HDF5's code for their conversion is long and old. */
bool store_type_is_known(hid_t type);

/* Properties for opening files: formats of HDF5 1.10 (checksummed metadata, attributes of any size), no locks. H5Pclose. */
hid_t store_access(void);

/* Set *error from HDF5's error stack: "FILE: OBJECT: WHAT: reason". object may be NULL. Returns false. */
bool store_error(const xlm_store *store, const char *object, int exit_code, const char *what, GError **error);

/* To be called when a collective call of HDF5 has failed on this rank. Sets *error as store_error() does, EX_IOERR, and returns
 * false. If other ranks take part, it prints the message, removes the temporary file and ends the job instead, because the others
 * wait for this rank inside MPI-IO (both OMPIO and ROMIO of Open MPI 4.1), or their HDF5 is out of step with this one's. */
bool store_give_up(const xlm_store *store, const char *object, const char *what, GError **error);

void store_free_dataset(void *dataset);

/* For writing by several ranks: from now on failures of MPI-IO end the job; and no longer. */
bool store_catch_failures(xlm_store *store);
void store_forget_failures(xlm_store *store);
/* Before (on) and after a call that waits for other ranks: end the job if the call takes too long. */
void store_watch(xlm_store *store, bool on);

/* Is enough address space left for HDF5, which does not check what it allocates? Else EX_OSERR. */
bool store_has_memory(const xlm_store *store, GError **error);

/* Is there an object of this path (or is it "/")? */
bool store_exists(hid_t file, const char *path);

/* Collective. The error of any rank becomes that of all. mine: this rank's error, or NULL; ownership is taken. */
bool store_settle(xlm_store *store, GError *mine, GError **error);
/* The same for errors of HDF5 alone, for which ranks exchange nothing. With MPI-IO they have already ended the job
 * (store_give_up). Where one rank writes for several, its error becomes its mistake. */
bool store_settle_hdf5(xlm_store *store, GError *mine, GError **error);
/* Does this rank call HDF5? It writes; and if it writes alone, nothing has failed before. */
bool store_works(const xlm_store *store);

/* Collective. Divide the ranks of each node into groups whose first rank writes for the group. There are few writers, because
 * every operation of parallel HDF5 has tens of collective exchanges among them, and a few per node are enough to keep a file
 * system busy. Of a small file (size, in bytes) one rank writes all. */
void store_choose_writers(xlm_store *store, uint64_t size);
void store_free_writers(xlm_store *store);

typedef struct store_part { /* rows [first, first + rows) */
    uint64_t first, rows;
} store_part;
/* Collective over the group. On its writer, returns the parts of all its ranks (store_part; adjacent ones joined) in ascending
 * order, g_array_unref, and *bytes has their bytes in this order, g_free. On the other ranks both are NULL. row_size: bytes. */
GArray *store_gather_rows(xlm_store *store, store_part mine, size_t row_size, const void *data, void **bytes);

/* Collective: write rows of a dataset that is being made; d->row_size > 0. rows may differ between ranks. */
bool store_write_rows(xlm_store *store, const char *path, store_dataset *d, hid_t memory_type, uint64_t first,
                      uint64_t rows, const void *data, GError **error);

/* Collective: write all rows of a dataset, which every rank has, data: each writes its share, or one rank writes all. */
bool store_write_whole(xlm_store *store, const char *path, store_dataset *d, hid_t memory_type, const void *data,
                       GError **error);

/* Make a group, and those above it, when missing. */
bool store_make_group(xlm_store *store, const char *path, GError **error);

/* Remember what was written, for store_verify(). attribute: NULL for rows of a dataset. data: [size] bytes. */
void store_note_write(xlm_store *store, const char *path, const char *attribute, uint64_t first, uint64_t rows,
                      const void *data, size_t size);
void store_free_write(void *write);
/* Read the closed temporary file and compare it with what this rank wrote. EX_IOERR. */
void store_verify(xlm_store *store, GError **error);

/* Open a complete file for reading or, if `change`, to change it. name: of the file in messages. The digest is not checked. */
xlm_store *store_open(const char *path, const char *name, bool change, GError **error);

/* Close and free it; false when changes could not be written to the file. */
bool store_close(xlm_store *store);

/* The digest of the header (store_digest.c). Make its attribute in a new file, with zeros; called by all ranks that write the
 * file. */
bool store_make_digest(hid_t file);
/* Compute the digest, set the attribute, and close the store, also on failure. Called by one process. */
bool store_set_digest(xlm_store *store, GError **error);
/* Compute the digest and compare it with the attribute. EX_DATAERR. */
bool store_check_digest(xlm_store *store, GError **error);

/* Collective. Make sure that the file can grow by `bytes`: check the limit on file sizes and the room on the disk, which is
 * reserved if the file system supports this. This is done before writing, because a disk that fills up in the middle of a
 * collective write leaves ranks waiting for one another in MPI-IO, or is not reported at all. */
bool store_reserve(xlm_store *store, uint64_t bytes, GError **error);

/* The dataset of this path, opened when it is first needed; owned by the store. NULL with EX_DATAERR when it does not exist, is
 * not an array of one or two dimensions, or claims to have more elements than fit into the file. */
store_dataset *store_find(const xlm_store *store, const char *path, GError **error);
/* Read rows [first, first + rows) into data, as elements of memory_type. */
bool store_read_rows(const xlm_store *store, const char *path, const store_dataset *d, hid_t memory_type, uint64_t first,
                     uint64_t rows, void *data, GError **error);

#endif
