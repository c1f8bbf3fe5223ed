/* xlm-mpi: the table of stages. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_STREAM_STAGES_H
#define XLM_STREAM_STAGES_H

#include "stream/stage.h"

/* The number of stages, and one of them: first those of the table, then those that were registered, in their order. */
int xlm_stages_count(void);
const xlm_stage_class *xlm_stage_at(int i);
/* Does the table have a stage with this name? */
bool xlm_stages_have(const char *name);
/* Add a stage at the end of the table, before any section [stream NAME] is read. */
void xlm_stage_register(const xlm_stage_class *cls);

/* The names of the stages of a kind, separated by '|', for an option of type CHOICE; valid until the next stage is registered. */
const char *xlm_stage_choices(xlm_stage_kind kind);
/* The stage of a kind that works on `before` (spans work on a source, a layout works on spans): the stage whose name is number
 * `choice` of xlm_stage_choices if it does, else the first one that does. */
const xlm_stage_class *xlm_stage_choose(xlm_stage_kind kind, const xlm_stage_class *before, int64_t choice);

#endif
