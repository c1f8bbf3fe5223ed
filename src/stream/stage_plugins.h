/* xlm-mpi: stages of a stream that are plugins. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_STREAM_STAGE_PLUGINS_H
#define XLM_STREAM_STAGE_PLUGINS_H

#include <xlm/stage.h>

#include "options/plugins.h"
#include "stream/stage.h"

/* The kind of plugins whose classes are xlm_stage_plugin. */
extern const xlm_plugin_kind xlm_stage_plugins;

/* A stage of a job's stream: a section [stage NAME], or the stage that a section [objective NAME] brings. */
typedef struct xlm_stage_use {
    const char *section; /* "stage" or "objective", for messages */
    const char *name;
    const xlm_stage_plugin *cls;
    const void *options; /* cls->state_size bytes with the options filled in; NULL: it has none, and the bytes are 0 */
} xlm_stage_use;

typedef struct xlm_plugged_stage xlm_plugged_stage;

/* Open a stage, after all those of the stream that come before it, and add its annotations to opening->annotations. What *use
 * points to is borrowed. NULL with EX_CONFIG for a stream that it cannot work on, an annotation that another stage makes, and
 * whatever the plugin refuses. */
xlm_plugged_stage *xlm_plugged_stage_open(const xlm_stage_use *use, const xlm_opening *opening, GError **error);
/* NULL is allowed. */
void xlm_plugged_stage_close(xlm_plugged_stage *stage);

/* Called first for each batch, before it is laid out: change the order and the sides of the spans of each sequence. */
void xlm_plugged_stage_arrange(xlm_plugged_stage *stage, const xlm_draws *draws, xlm_arena *arena, xlm_sequences *sequences);
/* Called next: change the tokens of a span, ids[*n], if the stage has noise; fewer may be left. key: the instance, and the number
 * of tokens that the sequence had before the span. */
void xlm_plugged_stage_noise(xlm_plugged_stage *stage, const xlm_draws *draws, xlm_row_key key, const xlm_span *span, int32_t *ids,
                             int32_t *n);
/* Called last, after all built-in stages: annotate the batch, and change its input and the predicted rows. */
void xlm_plugged_stage_apply(xlm_plugged_stage *stage, const xlm_draws *draws, xlm_batch_layout *batch);
/* For a planned batch (stream/planned_batch.h): add the stage's annotations, with values 0 and 1 in turn. */
void xlm_plugged_stage_plan(const xlm_plugged_stage *stage, xlm_batch_layout *batch);
/* Mean share of the tokens that the stage chooses to be predicted. */
double xlm_plugged_stage_predicted_share(const xlm_plugged_stage *stage);
/* Mean share of the tokens that the stage's noise keeps. */
double xlm_plugged_stage_kept_share(const xlm_plugged_stage *stage);

#endif
