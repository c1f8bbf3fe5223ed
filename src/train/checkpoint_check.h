/* xlm-mpi: is a checkpoint whole, and is it of this job? SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files that write, read and load checkpoints share. Nothing here is collective: one process has the file open. */
#ifndef XLM_TRAIN_CHECKPOINT_CHECK_H
#define XLM_TRAIN_CHECKPOINT_CHECK_H

#include "train/checkpoint.h"

#define CHECKPOINT_FORMAT "xlm-mpi checkpoint"
enum { CHECKPOINT_VERSION = 1 };

/* The flat arrays of a run and the groups that they stand in. */
enum { CHECKPOINT_VALUES, CHECKPOINT_FIRST_MOMENT, CHECKPOINT_SECOND_MOMENT, CHECKPOINT_ARRAYS };
extern const char *const checkpoint_groups[CHECKPOINT_ARRAYS];

/* This rank's pieces of one of the moments. */
float *checkpoint_moment(const xlm_run_state *state, int array);

/* A file that is damaged is passed over by --resume auto; one that is whole but of another job ends the run. */
typedef enum { CHECKPOINT_GOOD, CHECKPOINT_DAMAGED, CHECKPOINT_UNFIT } checkpoint_condition;

/* Format and version are this program's (else CHECKPOINT_UNFIT), and *step, of the file, is one that a run can come to. */
checkpoint_condition checkpoint_check_format(const xlm_store *store, int64_t *step, GError **error);
/* The array of a parameter is there and has its shape. The message of CHECKPOINT_UNFIT does not name the file. */
checkpoint_condition checkpoint_check_shape(const xlm_store *store, const char *path, const xlm_parameter *p, GError **error);
/* All of a file: format, that it fits the run, and every array, which is read into the scratch memory of `state`. *error is
 * set when the condition is not CHECKPOINT_GOOD. */
checkpoint_condition checkpoint_check_file(const char *path, const xlm_run_state *state, GError **error);

/* values[rows * cols] of one parameter of one of the flat arrays. EX_DATAERR for values that are not finite, and for second
 * moments below 0, too. */
bool checkpoint_read_array(const xlm_store *store, int array, const xlm_parameter *p, float *values, GError **error);
/* One of the flat arrays: whole[size of the parameters]. Gaps between parameters are left as they are. */
bool checkpoint_read_whole(const xlm_store *store, const xlm_run_state *state, int array, float *whole, GError **error);

#endif
