/* xlm-mpi: the table of stages. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_STREAM_STAGES_H
#define XLM_STREAM_STAGES_H

#include "stream/stage.h"

/* Number of stages, and one of them: in the order of the table, then as registered. */
int xlm_stages_count(void);
const xlm_stage_class *xlm_stage_at(int i);
/* Is there one of this name in the table? */
bool xlm_stages_have(const char *name);
/* Put one more behind those of the table, before any section [stream NAME] is read. */
void xlm_stage_register(const xlm_stage_class *cls);

/* The names of a kind between '|', for a choice; valid until the next is registered. */
const char *xlm_stage_choices(xlm_stage_kind kind);
/* The stage of a kind that works on `before` (a source for spans, spans for a layout): the one whose name is number `choice` of
 * xlm_stage_choices if that does, else the first that does. */
const xlm_stage_class *xlm_stage_choose(xlm_stage_kind kind, const xlm_stage_class *before, int64_t choice);

#endif
