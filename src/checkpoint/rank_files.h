/* xlm-mpi: what the ranks of a run left when they were killed. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ranks whose launcher leaves them no time each write what they own of the run's state (checkpoint/snapshot.h), and a checkpoint is
 * made of that afterwards, by any number of ranks. A part is DIRECTORY/stopped-<step, 8 digits>.<rank>.part, numbers as the
 * processor has them:
 *   xlm_rank_file_header
 *   f32 [arrays x own]: parameters, first moment, second moment, averages of objectives: the elements this rank owns
 *   (comm/shards.h), in order
 *   [states] bytes of the saved states (checkpoint/checkpoint.h), in rank 0's part
 *   u32 CRC-32 of everything before
 * It is written under the name with ".writing" after and renamed. Parts make a whole when there is one of each rank, all of one
 * start of one run and of one step: others are never put together. */
#ifndef XLM_CHECKPOINT_RANK_FILES_H
#define XLM_CHECKPOINT_RANK_FILES_H

#include "checkpoint/checkpoint.h"

#define XLM_RANK_FILE_WRITING ".writing"
enum { XLM_RANK_FILE_ARRAYS = 3 /* and averages */, XLM_RANK_FILE_MOST_ARRAYS = 1 << 10 };

typedef struct xlm_rank_file_header {
    char format[16];      /* XLM_RANK_FILE_FORMAT */
    uint64_t byte_order;  /* XLM_RANK_FILE_ORDER */
    uint64_t run;         /* drawn when the run was started: the same in parts of all ranks */
    uint64_t fingerprint; /* of what the state belongs to, see xlm_rank_files_fingerprint */
    int64_t step;         /* updates made */
    int64_t validated;       /* the last step after which the model was validated (run/run.h) */
    int64_t ranks, rank;
    int64_t size;         /* of the flat arrays of all ranks together */
    int64_t share;        /* elements that go to a rank at a time, round robin */
    int64_t arrays;
    int64_t states;       /* bytes in this part */
} xlm_rank_file_header;
#define XLM_RANK_FILE_FORMAT "xlm-mpi part 2"
#define XLM_RANK_FILE_ORDER UINT64_C(0x0102030405060708)

/* Arrays of a run, and bytes of its saved states. */
int64_t xlm_rank_files_arrays(const xlm_run_state *state);
int64_t xlm_rank_files_states(const xlm_run_state *state);
/* Names, shapes, seed, corpus, optimiser and task of a run: parts are of this job or they are not. */
uint64_t xlm_rank_files_fingerprint(const xlm_run_state *state);
/* g_free. */
char *xlm_rank_file_path(const char *directory, int64_t step, int rank);

/* Collective. When the directory has all parts of a step later than `newest` (that of its newest checkpoint, 0: none), read them
 * into state, as xlm_checkpoint_read() does a checkpoint. *found: there were such; *validated: as in their header. Parts that are
 * incomplete, damaged or older are removed, with a warning where something is lost. Whole ones that do not fit the job are
 * EX_DATAERR. */
bool xlm_rank_files_take(const xlm_comm *comm, const char *directory, int64_t newest, xlm_run_state *state, int64_t *validated,
                         bool *found, GError **error);
/* Remove all parts of a directory. Not collective. Returns how many there were. */
int xlm_rank_files_remove(const char *directory);

#endif
