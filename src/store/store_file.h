/* xlm-mpi: what the files of the store share. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_STORE_STORE_FILE_H
#define XLM_STORE_STORE_FILE_H

#include <hdf5.h>
#include <sys/stat.h>

#include "comm/comm.h"
#include "store/store.h"

/* A dataset in use. Handles stay open as long as the store: opening costs more than reading a few rows. */
typedef struct store_dataset {
    hid_t id, space; /* invalid on ranks that do not have the file open */
    int dimensions;
    hsize_t dims[2], chunk[2]; /* chunk[0] = 0: contiguous */
    H5T_class_t class;
    size_t element, row_size;  /* bytes, in the file and in memory */
    uint64_t storage;          /* writing: bytes set aside in the file for its elements */
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
    struct stat opened; /* reading: the file as it was found */
    GHashTable *datasets; /* path -> store_dataset */

    /* Writing only. */
    bool together; /* by the ranks of comm; else by this process alone */
    bool writes;   /* this rank has the file open */
    bool mpi_io;   /* several ranks have */
    xlm_comm comm; /* a copy; meaningful when `together` */
    MPI_Comm group, writers; /* store_choose_writers(); writers: MPI_COMM_NULL on the others */
    int group_ranks;         /* of the largest group */
    GError *mistake;         /* of this rank's caller; reported to all ranks when they next agree, at the latest at the end */
    MPI_File mpi_file;
    GError *refusal;   /* the same on all ranks: why the file may not grow any more; it can only be discarded */
    struct store_watchdog *watchdog;
    char *temporary;
    int descriptor;    /* of the temporary file, on the rank that made it; else -1 */
    uint64_t expected; /* an upper bound of the bytes that the file will have */
    uint64_t reserved; /* of which the file system has promised so many */
    GPtrArray *written; /* of store_write */
};

/* The type in memory and in the file (little-endian). */
hid_t store_memory_type(xlm_type type);
hid_t store_file_type(xlm_type type);
/* One that this program writes: of xlm_type, or a string of fixed length. HDF5's conversions of all others are long, old code. */
bool store_type_is_known(hid_t type);

/* Access properties: formats of HDF5 1.10 (checksummed metadata, attributes of any size), no locks. -1 on failure. */
hid_t store_access(void);

/* Set *error from HDF5's error stack: "FILE: OBJECT: WHAT: reason". object may be NULL. Returns false. */
bool store_error(const xlm_store *store, const char *object, int exit_code, const char *what, GError **error);

/* A collective call of HDF5 has failed on this rank. Set *error as store_error() does and return false; but when other ranks
 * take part, end the job instead, with a message and without the temporary file: they wait inside MPI-IO for this rank
 * (with OMPIO and ROMIO of Open MPI 4.1 alike), or their HDF5 is out of step with this one's. */
bool store_give_up(const xlm_store *store, const char *object, int exit_code, const char *what, GError **error);

void store_free_dataset(void *dataset);

/* Writing by several ranks: have failures of MPI-IO end the job, from now on / no more. */
bool store_catch_failures(xlm_store *store);
void store_forget_failures(xlm_store *store);
/* Begin / end to watch the time of a call that waits for other ranks. */
void store_watch(xlm_store *store, bool on);

/* Is there room for what HDF5 allocates, which it uses whether it got it or not? Else EX_OSERR. */
bool store_has_memory(const xlm_store *store, GError **error);

/* True when an object (or "/") is there. */
bool store_exists(hid_t file, const char *path);

/* The error of any rank becomes that of all. */
bool store_settle(xlm_store *store, GError *mine, GError **error);
/* The same for errors of HDF5 alone: with MPI-IO they do not come this far (store_give_up), so there is nothing to say. */
bool store_settle_hdf5(xlm_store *store, GError *mine, GError **error);

/* Collective. Split the ranks into groups of one node each, whose first rank writes for the group. Few writers: every
 * operation of parallel HDF5 has tens of collective exchanges among them, and a file system is busy with a few a node. */
void store_choose_writers(xlm_store *store);
void store_free_writers(xlm_store *store);

typedef struct store_part { /* rows [first, first + rows) */
    uint64_t first, rows;
} store_part;
/* Collective over the group: on its writer, the parts of all its ranks by first row, and their bytes in that order
 * (*bytes: g_free). On the others *bytes is NULL. */
GArray *store_gather_rows(xlm_store *store, store_part mine, size_t row_size, const void *data, void **bytes);

/* Collective: write rows of a dataset that is being made; d->row_size > 0. rows may differ between ranks. */
bool store_write_rows(xlm_store *store, const char *path, store_dataset *d, hid_t memory_type, uint64_t first,
                      uint64_t rows, const void *data, GError **error);

/* Make a group, and those above it, when missing. */
bool store_make_group(xlm_store *store, const char *path, GError **error);

/* Remember for store_verify(). attribute: NULL for rows of a dataset. */
void store_note_write(xlm_store *store, const char *path, const char *attribute, uint64_t first, uint64_t rows,
                      const void *data, size_t size);
void store_free_write(void *write);
/* Read the closed temporary file and compare with what this rank wrote. */
void store_verify(xlm_store *store, GError **error);

/* Open a whole file, for reading or, when `change`, to write to it. name: of the file in messages. No digest is looked at. */
xlm_store *store_open(const char *path, const char *name, bool change, GError **error);

/* Close it; false when what was changed is not in the file. */
bool store_close(xlm_store *store);

/* The digest of the header (store_digest.c). Make its attribute in a new file, with zeros: by all that write the file. */
bool store_make_digest(hid_t file);
/* Compute it, set the attribute, and close the file, also when this fails. By one process. */
bool store_set_digest(xlm_store *store, GError **error);
/* Compute it and compare it with the attribute: EX_DATAERR. */
bool store_check_digest(xlm_store *store, GError **error);

/* Collective. Make sure that the file may grow by `bytes`: the limit on file sizes, and room on the disk, which is set
 * aside where the file system can. A disk that fills up in the middle of a collective write leaves ranks waiting for
 * one another in MPI-IO, or is not reported at all, so it is found out before. */
bool store_reserve(xlm_store *store, uint64_t bytes, GError **error);

/* Open the dataset (once). NULL when it is not there, is not an array, or cannot be as large as it says: its elements, as many as
 * there are, fit into the file. */
store_dataset *store_find(const xlm_store *store, const char *path, GError **error);
/* Read rows into memory as memory_type. */
bool store_read_rows(const xlm_store *store, const char *path, const store_dataset *d, hid_t memory_type, uint64_t first,
                     uint64_t rows, void *data, GError **error);

#endif
