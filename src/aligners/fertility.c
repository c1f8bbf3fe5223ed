/* xlm-mpi: word alignment by position and fertility, in both directions that agree. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A cascade in thirds of the iterations: lexical translation (Brown et al. 1993, model 1), a hidden Markov model of positions
 * (Vogel et al. 1996), the same with fertilities. As in the Bayesian models of Östling and Tiedemann (2016), parameters have
 * Dirichlet priors and are integrated out; but where they draw links, here each word keeps expectations, and all words are
 * updated at once: collapsed variational inference of order zero (Asuncion et al. 2009). With c(e, f) the expected number of
 * links of two words, c(e) = Σ_f c(e, f), and ¬ meaning without what this place itself has added to them,
 *     p(f | e) = (c(e, f)¬ + α(e, f)) / (c(e)¬ + α V)
 * α(e, f) is α, and more for words spelled alike (aligners/spelling.h). So a word that occurs once is not explained by itself.
 *
 * The two directions share c: what is added is √(p q) at first, and p q from the second third on, where p and q are the posterior
 * probabilities of a link in either direction (alignment by agreement; Liang, Taskar and Klein 2006).
 *
 * Fertility: with P_e(k) the distribution of the number of words that e is linked to, link (i, j) is weighted by the
 * expectation of P(k + 1) / P(k) where k are the other links of i, taken as independent with the probabilities p q of the
 * iteration before. Where a saved model is used and there was none, p and q are those without fertility. */
#include <math.h>
#include <string.h>

#include "aligners/fertility_pair.h"
#include "aligners/link_numbers.h"

static int64_t units(float probability) { return MIN(lrintf(probability * XLM_COUNT_UNIT), XLM_COUNT_UNIT - 1); }

static void add_jumps(const xlm_alignment_run *run, const xlm_fertility_pair *p, int d)
{
    const int n = p->size[d];
    for (int k = -n; k <= n; k++) {
        const int64_t jumps = llrintf(p->jumps[d][n + k] * XLM_COUNT_UNIT);
        if (jumps > 0)
            xlm_table_add(run, XLM_FERTILITY_JUMPS,
                          d * XLM_HMM_JUMPS + CLAMP(k, -XLM_HMM_FARTHEST, XLM_HMM_FARTHEST) + XLM_HMM_FARTHEST, jumps);
    }
}

static void add_empty(const xlm_alignment_run *run, const xlm_fertility_pair *p, int d)
{
    int64_t all = 0;
    for (int j = 0; j < p->size[1 - d]; j++) {
        const int64_t empty = units(p->empty[d][j]);
        p->own_empty[d][j] = (uint16_t)empty;
        if (empty > 0)
            xlm_table_add(run, XLM_FERTILITY_EMPTY_TARGET + d, p->words[1 - d][j], empty);
        all += empty;
    }
    xlm_table_add(run, XLM_FERTILITY_EMPTY_ALL, d, all);
}

static void add_links(const xlm_alignment_run *run, const xlm_fertility_pair *p)
{
    const int n = p->size[0], m = p->size[1];
    int64_t *of_source = (int64_t *)(void *)p->weighted; /* [n], in room for n x m floats and more */
    memset(of_source, 0, sizeof *of_source * (size_t)n);
    for (int j = 0; j < m; j++) {
        const uint16_t *own = p->own + (size_t)j * n;
        const uint32_t *cells = p->cells + (size_t)j * n;
        int64_t of_target = 0;
        for (int i = 0; i < n; i++)
            if (own[i] != 0) {
                xlm_table_add(run, XLM_FERTILITY_LINKS, cells[i], own[i]);
                of_source[i] += own[i];
                of_target += own[i];
            }
        xlm_table_add(run, XLM_FERTILITY_TARGET_LINKS, p->words[1][j], of_target);
    }
    for (int i = 0; i < n; i++)
        xlm_table_add(run, XLM_FERTILITY_SOURCE_LINKS, p->words[0][i], of_source[i]);
}

/* Add the distribution of the number of links of each word. */
static void add_fertilities(const xlm_alignment_run *run, const xlm_fertility_pair *p, int d)
{
    const xlm_word_links *links = &p->links[d];
    for (int i = 0; i < p->size[d]; i++) {
        float numbers[XLM_LINK_NUMBERS];
        xlm_link_numbers(links->first[i + 1] - links->first[i], links->probability + links->first[i], numbers);
        for (int k = 0; k < XLM_LINK_NUMBERS; k++) {
            const int64_t expected = llrintf(numbers[k] * XLM_COUNT_UNIT);
            if (expected > 0)
                xlm_table_add(run, XLM_FERTILITY_OF_SOURCE + d, (int64_t)p->words[d][i] * XLM_LINK_NUMBERS + k, expected);
        }
    }
}

static void expect(const xlm_alignment_run *run, int64_t sentence, void *memory)
{
    const xlm_fertility_model *model = run->state;
    xlm_fertility_pair p = xlm_fertility_pair_of(run, sentence, memory);
    xlm_fertility_find_posteriors(run, &p, true);
    xlm_fertility_agree(run, &p);
    add_links(run, &p);
    for (int d = 0; d < 2; d++)
        add_empty(run, &p, d);
    if (model->stage == XLM_LEXICAL)
        return;
    xlm_fertility_find_links(&p);
    for (int d = 0; d < 2; d++) {
        add_jumps(run, &p, d);
        add_fertilities(run, &p, d);
    }
}

static void decode(const xlm_alignment_run *run, int64_t sentence, void *memory, xlm_decoded *decoded)
{
    xlm_fertility_pair p = xlm_fertility_pair_of(run, sentence, memory);
    int32_t *const links[] = {decoded->forward, decoded->reverse};
    float *const posterior[] = {decoded->forward_posterior, decoded->reverse_posterior};
    xlm_fertility_find_posteriors(run, &p, false);
    for (int d = 0; d < 2; d++) {
        const int n = p.size[d], m = p.size[1 - d];
        for (int j = 0; j < m; j++)
            links[d][j] = xlm_most_probable(p.posterior[d] + (size_t)j * n, n, p.empty[d][j]);
        memcpy(posterior[d], p.posterior[d], sizeof(float) * (size_t)n * (size_t)m);
    }
}

const xlm_aligner xlm_aligner_fertility = {
    .name = "fertility",
    .purpose = "positions and fertilities, in two directions that agree",
    .tables = xlm_fertility_tables,
    .iterations = 9,
    .own = true,
    .open = xlm_fertility_model_open,
    .close = xlm_fertility_model_close,
    .begin = xlm_fertility_model_begin,
    .expect = expect,
    .decode = decode,
    .workspace = xlm_fertility_workspace,
};
