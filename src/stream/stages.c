/* xlm-mpi: the table of stages. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/stages.h"

/* One line per stage. Stages of one kind run in this order. */
#define STAGES(stage)                                                                                                  \
    stage(text_source)                                                                                                 \
    stage(examples_source)                                                                                             \
    stage(monolingual_spans)                                                                                           \
    stage(parallel_spans)                                                                                              \
    stage(examples_spans)                                                                                              \
    stage(monolingual_layout)                                                                                          \
    stage(xlm_layout)                                                                                                  \
    stage(bert_layout)                                                                                                 \
    stage(examples_layout)                                                                                             \
    stage(noise)                                                                                                       \
    stage(alignments)                                                                                                  \
    stage(translations)                                                                                                \
    stage(masking)                                                                                                     \
    stage(switching)

#define DECLARE(stage) extern const xlm_stage_class xlm_stage_##stage;
STAGES(DECLARE)

#define ENTRY(stage) &xlm_stage_##stage,
static const xlm_stage_class *const table[] = {STAGES(ENTRY)};

#define NAME(stage) #stage,
static const char *const names[] = {STAGES(NAME) NULL};

static GArray *registered; /* const xlm_stage_class *; NULL: none */
static char *choices[XLM_STAGE_CORRUPT + 1];

int xlm_stages_count(void) { return (int)(G_N_ELEMENTS(table) + (registered != NULL ? registered->len : 0)); }

const xlm_stage_class *xlm_stage_at(int i)
{
    const int built_in = G_N_ELEMENTS(table);
    return i < built_in ? table[i] : g_array_index(registered, const xlm_stage_class *, i - built_in);
}

bool xlm_stages_have(const char *name) { return g_strv_contains(names, name); }

void xlm_stage_register(const xlm_stage_class *cls)
{
    if (registered == NULL)
        registered = g_array_new(FALSE, FALSE, sizeof cls);
    g_array_append_val(registered, cls);
    for (size_t kind = 0; kind < G_N_ELEMENTS(choices); kind++)
        g_clear_pointer(&choices[kind], g_free);
}

const char *xlm_stage_choices(xlm_stage_kind kind)
{
    if (choices[kind] != NULL)
        return choices[kind];
    GString *words = g_string_new(NULL);
    for (int i = 0; i < xlm_stages_count(); i++) {
        const xlm_stage_class *cls = xlm_stage_at(i);
        if (cls->kind == kind && cls->name != NULL)
            g_string_append_printf(words, "%s%s", words->len > 0 ? "|" : "", cls->name);
    }
    return choices[kind] = g_string_free(words, FALSE);
}

const xlm_stage_class *xlm_stage_choose(xlm_stage_kind kind, const xlm_stage_class *before, int64_t choice)
{
    const xlm_stage_class *first = NULL;
    int64_t word = 0;
    for (int i = 0; i < xlm_stages_count(); i++) {
        const xlm_stage_class *cls = xlm_stage_at(i);
        if (cls->kind != kind)
            continue;
        const bool fits = before == (kind == XLM_STAGE_SPANS ? cls->spans.source : cls->layout.spans);
        const bool named = cls->name != NULL && word++ == choice;
        if (fits && named)
            return cls;
        if (fits && first == NULL)
            first = cls;
    }
    g_assert(first != NULL);
    return first;
}
