/* xlm-mpi: posteriors of a sentence pair by position and fertility. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/fertility_pair.h"

#include <math.h>
#include <string.h>

#include "aligners/link_numbers.h"
#include "kernels/kernels.h"

static size_t room(size_t n) { return (n + XLM_LANES - 1) / XLM_LANES * XLM_LANES; }

/* The next n numbers of the memory; without memory, they are only counted. */
static void *take(float *memory, size_t *used, size_t n)
{
    float *const taken = memory != NULL ? memory + *used : NULL;
    *used += room(n);
    return taken;
}

/* Give the arrays their places. Returns how many numbers they take. */
static size_t lay_out(xlm_fertility_pair *p, float *memory)
{
    const size_t n = (size_t)p->size[0], m = (size_t)p->size[1], longer = MAX(n, m);
    size_t used = 0;
    for (int d = 0; d < 2; d++) {
        p->emission[d] = take(memory, &used, n * m);
        p->posterior[d] = take(memory, &used, n * m);
        p->by_empty[d] = take(memory, &used, longer);
        p->empty[d] = take(memory, &used, longer);
        p->jumps[d] = take(memory, &used, 2 * longer + 1);
        p->links[d].first = take(memory, &used, longer + 1);
        p->links[d].other = take(memory, &used, n * m);
        p->links[d].probability = take(memory, &used, n * m);
    }
    p->weighted = take(memory, &used, n * m);
    p->own_row = take(memory, &used, longer);
    p->factor = take(memory, &used, longer);
    p->numbers = take(memory, &used, (longer + 1) * XLM_LINK_NUMBERS);
    p->hmm = take(memory, &used, MAX(xlm_hmm_workspace((int)n, (int)m), xlm_hmm_workspace((int)m, (int)n)));
    return used;
}

size_t xlm_fertility_workspace(int n, int m)
{
    xlm_fertility_pair p = {.size = {n, m}};
    return sizeof(float) * lay_out(&p, NULL);
}

xlm_fertility_pair xlm_fertility_pair_of(const xlm_alignment_run *run, int64_t sentence, void *memory)
{
    const xlm_bitext *b = run->bitext;
    const int64_t cells = run->pairs->offsets[b->pairs], target_words = b->side[1].offsets[b->pairs];
    xlm_fertility_pair p = {.cells = xlm_word_pairs_cells(run->pairs, sentence),
                            .own = run->own + run->pairs->offsets[sentence],
                            .own_empty = {run->own + cells + b->side[1].offsets[sentence],
                                          run->own + cells + target_words + b->side[0].offsets[sentence]}};
    for (int d = 0; d < 2; d++) {
        p.size[d] = xlm_bitext_length(&b->side[d], sentence);
        p.words[d] = b->side[d].words + b->side[d].offsets[sentence];
    }
    lay_out(&p, memory);
    return p;
}

/* ---- p(f | e) ---- */

static float without(float count_of_all, float own) { return MAX(count_of_all - own, 0); }

/* p(f | e) and p(e | f) of all cells. */
static void find_emissions(const xlm_alignment_run *run, const xlm_fertility_pair *p)
{
    const xlm_fertility_model *model = run->state;
    const int n = p->size[0], m = p->size[1];
    const float all[2] = {XLM_FERTILITY_ALPHA * (float)run->words[1], XLM_FERTILITY_ALPHA * (float)run->words[0]};
    float *restrict own = p->own_row, *restrict of_source = p->factor;
    for (int i = 0; i < n; i++)
        of_source[i] = model->of_word[0][p->words[0][i]];
    for (int j = 0; j < m; j++) {
        const uint32_t *cells = p->cells + (size_t)j * n;
        const uint16_t *units = p->own + (size_t)j * n;
        const float of_target = model->of_word[1][p->words[1][j]] + all[1];
        float *restrict forward = p->emission[0] + (size_t)j * n, *restrict reverse = p->weighted + (size_t)j * n;
        for (int i = 0; i < n; i++)
            forward[i] = model->links[cells[i]];
        #pragma omp simd
        for (int i = 0; i < n; i++)
            own[i] = (float)units[i] * (1.0f / XLM_COUNT_UNIT);
        #pragma omp simd
        for (int i = 0; i < n; i++) {
            const float links = without(forward[i], own[i]);
            reverse[i] = links / (of_target - own[i]);
            forward[i] = links / (without(of_source[i], own[i]) + all[0]);
        }
    }
    xlm_kernels_get()->transpose(m, n, p->weighted, n, p->emission[1], m);
}

/* p(f | empty) of each word that is explained. */
static void find_empty(const xlm_alignment_run *run, const xlm_fertility_pair *p, int d)
{
    const xlm_fertility_model *model = run->state;
    const float all = XLM_FERTILITY_ALPHA_EMPTY * (float)run->words[1 - d];
    for (int j = 0; j < p->size[1 - d]; j++) {
        const float own = (float)p->own_empty[d][j] / XLM_COUNT_UNIT;
        const float count_of_word = without(model->by_empty[d][p->words[1 - d][j]], own);
        p->by_empty[d][j] = (count_of_word + XLM_FERTILITY_ALPHA_EMPTY) / (without(model->empty_all[d], own) + all);
    }
}

/* Before the first iteration. */
static void explain_nothing(const xlm_fertility_pair *p, int d)
{
    for (int k = 0; k < p->size[0] * p->size[1]; k++)
        p->emission[d][k] = 1;
    for (int j = 0; j < p->size[1 - d]; j++)
        p->by_empty[d][j] = 1.0f / (float)p->size[1 - d];
}

/* ---- posteriors ---- */

static void lexical_posterior(const xlm_fertility_pair *p, int d)
{
    const int n = p->size[d], m = p->size[1 - d];
    for (int j = 0; j < m; j++) {
        const float *emission = p->emission[d] + (size_t)j * n;
        float *restrict posterior = p->posterior[d] + (size_t)j * n, all = 0;
        #pragma omp simd reduction(+ : all)
        for (int i = 0; i < n; i++)
            all += emission[i];
        const float word = (1 - XLM_FERTILITY_P_EMPTY) / (float)n, empty = XLM_FERTILITY_P_EMPTY * p->by_empty[d][j];
        const float whole = all * word + empty;
        #pragma omp simd
        for (int i = 0; i < n; i++)
            posterior[i] = emission[i] * (word / whole);
        p->empty[d][j] = empty / whole;
    }
}

static void hmm_posterior(const xlm_fertility_model *model, const xlm_fertility_pair *p, int d, const float *emission,
                          bool count_jumps)
{
    xlm_hmm_posterior(&model->hmm[d], p->size[d], p->size[1 - d], emission, p->by_empty[d], p->posterior[d], p->empty[d],
                      count_jumps ? p->jumps[d] : NULL, p->hmm);
}

/* Emissions weighted by the fertilities of the words that explain, given the links of the pair. */
static void weigh(const xlm_fertility_model *model, const xlm_fertility_pair *p, int d)
{
    const xlm_kernels *kernels = xlm_kernels_get();
    const xlm_word_links *links = &p->links[d];
    const int n = p->size[d], m = p->size[1 - d];
    float *ratios = p->posterior[d]; /* of each link; free now */
    for (int i = 0; i < n; i++) {
        const int32_t first = links->first[i];
        p->factor[i] = xlm_link_expected_ratios(links->first[i + 1] - first, links->probability + first,
                                                model->ratio[d] + (size_t)p->words[d][i] * XLM_LINK_NUMBERS, ratios + first,
                                                p->numbers);
    }
    for (int j = 0; j < m; j++)
        kernels->multiply(n, p->emission[d] + (size_t)j * n, p->factor, p->weighted + (size_t)j * n, false);
    for (int i = 0; i < n; i++)
        for (int32_t k = links->first[i]; k < links->first[i + 1]; k++) {
            const size_t cell = (size_t)links->other[k] * n + i;
            p->weighted[cell] = p->emission[d][cell] * ratios[k];
        }
}

void xlm_fertility_find_posteriors(const xlm_alignment_run *run, xlm_fertility_pair *p, bool count_jumps)
{
    const xlm_fertility_model *model = run->state;
    if (run->informed)
        find_emissions(run, p);
    for (int d = 0; d < 2; d++) {
        if (run->informed)
            find_empty(run, p, d);
        else
            explain_nothing(p, d);
    }
    if (model->stage == XLM_FERTILITY) {
        /* Where no iteration came before, the links are those of the model without fertility. */
        if (run->iteration == 0) {
            for (int d = 0; d < 2; d++)
                hmm_posterior(model, p, d, p->emission[d], false);
            xlm_fertility_agree(run, p);
        }
        xlm_fertility_find_links(p);
    }
    for (int d = 0; d < 2; d++) {
        if (model->stage == XLM_FERTILITY)
            weigh(model, p, d);
        if (model->stage == XLM_LEXICAL)
            lexical_posterior(p, d);
        else
            hmm_posterior(model, p, d, model->stage == XLM_FERTILITY ? p->weighted : p->emission[d], count_jumps);
    }
}

/* ---- both directions ---- */

void xlm_fertility_agree(const xlm_alignment_run *run, const xlm_fertility_pair *p)
{
    const xlm_fertility_model *model = run->state;
    const int n = p->size[0], m = p->size[1];
    const int64_t cells = (int64_t)n * m;
    float *restrict agreed = p->posterior[0], *restrict reverse = p->weighted;
    uint16_t *restrict own = p->own;
    xlm_kernels_get()->transpose(n, m, p->posterior[1], m, reverse, n);
    #pragma omp simd
    for (int64_t k = 0; k < cells; k++)
        agreed[k] *= reverse[k];
    for (int64_t k = 0; k < cells && model->stage == XLM_LEXICAL; k++)
        agreed[k] = sqrtf(agreed[k]);
    #pragma omp simd
    for (int64_t k = 0; k < cells; k++) {
        const int32_t links = (int32_t)(agreed[k] * XLM_COUNT_UNIT + 0.5f);
        own[k] = (uint16_t)(links < XLM_COUNT_UNIT ? links : XLM_COUNT_UNIT - 1);
    }
}

/* The end of the zeros from k on. */
static int skip_zeros(const uint16_t *units, int k, int n)
{
    for (uint64_t four; k + 4 <= n; k += 4) {
        memcpy(&four, units + k, sizeof four);
        if (four != 0)
            break;
    }
    while (k < n && units[k] == 0)
        k++;
    return k;
}

void xlm_fertility_find_links(const xlm_fertility_pair *p)
{
    static const uint16_t least = (uint16_t)(XLM_LINK_NEGLIGIBLE * XLM_COUNT_UNIT) + 1;
    const int n = p->size[0], m = p->size[1];
    const xlm_word_links *of_source = &p->links[0], *of_target = &p->links[1];
    int32_t links = 0, *next = of_source->first + 1;
    memset(of_source->first, 0, sizeof *of_source->first * (size_t)(n + 1));
    for (int j = 0; j < m; j++) {
        const uint16_t *own = p->own + (size_t)j * n;
        of_target->first[j] = links;
        for (int i = skip_zeros(own, 0, n); i < n; i = skip_zeros(own, i + 1, n)) {
            if (own[i] < least)
                continue;
            of_target->other[links] = i;
            of_target->probability[links++] = (float)own[i] / XLM_COUNT_UNIT;
            next[i]++;
        }
    }
    of_target->first[m] = links;
    /* Now by source word. */
    for (int i = 0, sum = 0; i < n; i++) {
        sum += next[i];
        next[i] = sum - next[i];
    }
    for (int j = 0; j < m; j++)
        for (int32_t k = of_target->first[j]; k < of_target->first[j + 1]; k++) {
            const int32_t place = next[of_target->other[k]]++;
            of_source->other[place] = j;
            of_source->probability[place] = of_target->probability[k];
        }
}
