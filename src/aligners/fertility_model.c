/* xlm-mpi: tables and parameters of the aligner by fertility. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/fertility_model.h"

#include <math.h>
#include <stdlib.h>

#include "aligners/link_numbers.h"
#include "aligners/spelling.h"
#include "base/pages.h"

const xlm_table xlm_fertility_tables[] = {
    [XLM_FERTILITY_LINKS] = {"links", "links of two words", XLM_TABLE_PAIRS, 1},
    [XLM_FERTILITY_SOURCE_LINKS] = {"source_links", "links of a source word", XLM_TABLE_SOURCE, 1},
    [XLM_FERTILITY_TARGET_LINKS] = {"target_links", "links of a target word", XLM_TABLE_TARGET, 1},
    [XLM_FERTILITY_EMPTY_TARGET] = {"target_empty", "target words without a link", XLM_TABLE_TARGET, 1},
    [XLM_FERTILITY_EMPTY_SOURCE] = {"source_empty", "source words without a link", XLM_TABLE_SOURCE, 1},
    [XLM_FERTILITY_EMPTY_ALL] = {"empty", "target words, source words without a link", XLM_TABLE_WHOLE, 2},
    [XLM_FERTILITY_OF_SOURCE] = {"source_fertility", "how often a source word has 0, 1, … 5 or more links", XLM_TABLE_SOURCE,
                                 XLM_LINK_NUMBERS},
    [XLM_FERTILITY_OF_TARGET] = {"target_fertility", "the same of a target word", XLM_TABLE_TARGET, XLM_LINK_NUMBERS},
    [XLM_FERTILITY_JUMPS] = {"jumps", "jumps of -512 … 512 source positions, then of target positions", XLM_TABLE_WHOLE,
                             2 * XLM_HMM_JUMPS},
    {.name = NULL}};

static const float ALPHA_ALIKE = 1, ALIKE_SHARE = 0.3f; /* of a pair of equal words; share of it if they are similar */
static const float ALPHA_FERTILITY = 0.5f, ALPHA_JUMP = 0.5f;

static void find_alike(const xlm_alignment_run *run, xlm_fertility_model *model)
{
    const xlm_bitext_side *side = run->bitext->side;
    const xlm_word_pairs *pairs = run->pairs;
    xlm_spelling *spelling[2];
    for (int d = 0; d < 2; d++) {
        spelling[d] = g_new(xlm_spelling, side[d].types);
        for (int32_t w = 0; w < side[d].types; w++)
            spelling[d][w] = xlm_spelling_of(side[d].texts[w]);
    }
    #pragma omp parallel for schedule(dynamic, 16)
    for (int32_t e = 0; e < side[0].types; e++)
        for (int64_t k = pairs->rows[e]; k < pairs->rows[e + 1]; k++) {
            const double alike = xlm_spelling_similarity(&spelling[0][e], &spelling[1][pairs->targets[k]]);
            model->alike[k] = (uint8_t)lrint(255 * (alike == 1 ? 1 : alike > 0.5 ? ALIKE_SHARE * (2 * alike - 1) : 0));
        }
    for (int d = 0; d < 2; d++) {
        for (int32_t w = 0; w < side[d].types; w++)
            g_free(spelling[d][w].characters);
        g_free(spelling[d]);
    }
}

void xlm_fertility_model_open(xlm_alignment_run *run)
{
    xlm_fertility_model *model = g_new0(xlm_fertility_model, 1);
    model->alike = g_new(uint8_t, run->pairs->n);
    model->links = xlm_pages_take(sizeof *model->links * (size_t)run->pairs->n, "probabilities of words");
    for (int d = 0; d < 2; d++) {
        const int32_t types = run->bitext->side[d].types;
        model->of_word[d] = g_new(float, types);
        model->by_empty[1 - d] = g_new(float, types);
        model->ratio[d] = g_new(float, (gsize)types * XLM_LINK_NUMBERS);
    }
    find_alike(run, model);
    run->state = model;
}

void xlm_fertility_model_close(xlm_alignment_run *run)
{
    xlm_fertility_model *model = run->state;
    g_free(model->alike);
    free(model->links);
    for (int d = 0; d < 2; d++) {
        g_free(model->of_word[d]);
        g_free(model->by_empty[d]);
        g_free(model->ratio[d]);
    }
    g_free(model);
}

static float count(int64_t total) { return (float)((double)total / XLM_COUNT_UNIT); }

static void find_links(const xlm_alignment_run *run, xlm_fertility_model *model)
{
    const int64_t *total = run->counts[XLM_FERTILITY_LINKS];
    #pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < run->pairs->n; i++)
        model->links[i] = count(total[i]) + XLM_FERTILITY_ALPHA + ALPHA_ALIKE / 255 * (float)model->alike[i];
}

static void copy_counts(const int64_t *total, int64_t n, float *to)
{
    #pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        to[i] = count(total[i]);
}

/* P(k + 1) / P(k) for each k. The last k means so many links that one more hardly ever occurs. */
static void find_ratios(const int64_t *total, int64_t types, float *ratio)
{
    for (int64_t w = 0; w < types; w++, total += XLM_LINK_NUMBERS, ratio += XLM_LINK_NUMBERS) {
        for (int k = 0; k + 1 < XLM_LINK_NUMBERS; k++)
            ratio[k] = (count(total[k + 1]) + ALPHA_FERTILITY) / (count(total[k]) + ALPHA_FERTILITY);
        ratio[XLM_LINK_NUMBERS - 1] = 1e-10f;
    }
}

/* The model that an iteration uses of the three; decoding uses that of the last. A run that began with a saved model has
 * all counts from the start. */
static xlm_fertility_stage stage_of(const xlm_alignment_run *run)
{
    const int at = MIN(run->iteration, run->iterations - 1), third = (run->iterations + 2) / 3;
    if (run->started_informed)
        return XLM_FERTILITY;
    return at < third ? XLM_LEXICAL : at < 2 * third ? XLM_POSITIONS : XLM_FERTILITY;
}

void xlm_fertility_model_begin(xlm_alignment_run *run)
{
    xlm_fertility_model *model = run->state;
    const xlm_bitext_side *side = run->bitext->side;
    model->stage = stage_of(run);
    find_links(run, model);
    for (int d = 0; d < 2; d++) {
        copy_counts(run->counts[XLM_FERTILITY_SOURCE_LINKS + d], side[d].types, model->of_word[d]);
        copy_counts(run->counts[XLM_FERTILITY_EMPTY_TARGET + d], side[1 - d].types, model->by_empty[d]);
        model->empty_all[d] = count(run->counts[XLM_FERTILITY_EMPTY_ALL][d]);
        find_ratios(run->counts[XLM_FERTILITY_OF_SOURCE + d], side[d].types, model->ratio[d]);
        model->hmm[d].p0 = XLM_FERTILITY_P_EMPTY;
        for (int k = 0; k < XLM_HMM_JUMPS; k++)
            model->hmm[d].jump[k] = count(run->counts[XLM_FERTILITY_JUMPS][d * XLM_HMM_JUMPS + k]) + ALPHA_JUMP;
    }
}
