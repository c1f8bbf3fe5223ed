/* xlm-mpi: the table of stages. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_STREAM_STAGES_H
#define XLM_STREAM_STAGES_H

#include "stream/stage.h"

/* The number of stages, and one of them: in the order of the table, then in the order of registration. */
int xlm_stages_count(void);
const xlm_stage_class *xlm_stage_at(int i);
/* Does the table have a stage with this name? */
bool xlm_stages_have(const char *name);
/* Add a stage at the end of the table, before any section [stream NAME] is read. */
void xlm_stage_register(const xlm_stage_class *cls);

/* The names of a kind separated by '|', for an option of type CHOICE; valid until the next stage is registered. */
const char *xlm_stage_choices(xlm_stage_kind kind);
/* The stage of a kind that works on `before` (a source for spans, spans for a layout): the one whose name is number `choice` of
 * xlm_stage_choices if that does, else the first that does. */
const xlm_stage_class *xlm_stage_choose(xlm_stage_kind kind, const xlm_stage_class *before, int64_t choice);

#endif
