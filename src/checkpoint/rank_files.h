/* xlm-mpi: the files that the ranks of a run write when they are killed. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * If the launcher leaves ranks no time, each writes its own part of the run's state (checkpoint/snapshot.h), and any number of
 * ranks can make a checkpoint from the parts later. A part is DIRECTORY/stopped-<step, 8 digits>.<rank>.part, with numbers in the
 * processor's byte order:
 *   xlm_rank_file_header
 *   f32 [arrays x own]: the arrays of checkpoint/checkpoint_check.h, in order: the elements this rank owns
 *   (comm/shards.h), in order
 *   [states] bytes of the saved states (checkpoint/checkpoint.h), in rank 0's part
 *   u32 CRC-32 of everything before
 * Frozen parameters (comm/shards.h: first) are in none: they are those of any checkpoint of the run, or of the model that it began
 * with, which the header names.
 * It is written under its name with ".writing" appended, and renamed. Parts are complete when there is one of each rank, all from
 * the same start of the same run and the same step. Other parts are never combined. */
#ifndef XLM_CHECKPOINT_RANK_FILES_H
#define XLM_CHECKPOINT_RANK_FILES_H

#include "checkpoint/checkpoint.h"

#define XLM_RANK_FILE_WRITING ".writing"
enum { XLM_RANK_FILE_MAX_ARRAYS = 1 << 10 };

typedef struct xlm_rank_file_header {
    char format[16];      /* XLM_RANK_FILE_FORMAT */
    uint64_t byte_order;  /* XLM_RANK_FILE_ORDER */
    uint64_t run;         /* random number of this start of the run: the same in the parts of all ranks */
    uint64_t fingerprint; /* of the job, see xlm_rank_files_fingerprint */
    int64_t step;         /* updates made */
    int64_t validated;    /* the last step after which the model was validated (run/validation.h) */
    int64_t ranks, rank;
    int64_t size;         /* of the flat arrays of all ranks together, without frozen parameters */
    int64_t share;        /* elements that are assigned to a rank at a time, round robin */
    int64_t arrays;
    int64_t states;       /* bytes in this part */
    int64_t start_step;   /* of the model that the run began with (checkpoint/start_record.h) */
    char start_sha256[64]; /* digits; zeros: its parameters were drawn */
} xlm_rank_file_header;
#define XLM_RANK_FILE_FORMAT "xlm-mpi part 3"
#define XLM_RANK_FILE_ORDER UINT64_C(0x0102030405060708)

/* Bytes of the saved states of a run. */
int64_t xlm_rank_files_states(const xlm_run_state *state);
/* A fingerprint of names, shapes, seed, corpus, optimiser and task of a run, to tell whether parts belong to this job. */
uint64_t xlm_rank_files_fingerprint(const xlm_run_state *state);
/* Set what the header says of the model that the run began with. start: NULL, none. */
void xlm_rank_file_note_start(xlm_rank_file_header *header, const xlm_start_record *start);
/* g_free. */
char *xlm_rank_file_path(const char *directory, int64_t step, int rank);

/* Collective. If the directory has all parts of a step later than `newest` (the step of its newest checkpoint, 0: none), read
 * them into state like xlm_checkpoint_read(), but for frozen parameters and the record of the start. [out] first: the header of
 * rank 0's part; with ranks = 0 there were no such parts. Incomplete, damaged or older parts are removed, with a warning if
 * something is lost. EX_DATAERR for complete parts that do not fit the job. */
bool xlm_rank_files_take(const xlm_comm *comm, const char *directory, int64_t newest, xlm_run_state *state,
                         xlm_rank_file_header *first, GError **error);
/* Remove all parts of a directory. Not collective. Returns how many there were. */
int xlm_rank_files_remove(const char *directory);

#endif
