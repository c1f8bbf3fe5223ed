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
 * expectation of P(k + 1) / P(k) where k are the other links of i, taken as independent with their posteriors of the model
 * without fertility. */
#include <math.h>
#include <string.h>

#include "aligners/aligner.h"
#include "aligners/hmm.h"
#include "aligners/spelling.h"
#include "kernels/kernels.h"

enum { LINKS, SOURCE_LINKS, TARGET_LINKS, EMPTY_TARGET, EMPTY_SOURCE, EMPTY_ALL, SOURCE_FERTILITY, TARGET_FERTILITY, JUMPS };
enum { FERTILITIES = 6 /* fertilities 0 … 4, and 5 or more */ };

static const xlm_table tables[] = {
    [LINKS] = {"links", "links of two words", XLM_TABLE_PAIRS, 1},
    [SOURCE_LINKS] = {"source_links", "links of a source word", XLM_TABLE_SOURCE, 1},
    [TARGET_LINKS] = {"target_links", "links of a target word", XLM_TABLE_TARGET, 1},
    [EMPTY_TARGET] = {"target_empty", "target words without a link", XLM_TABLE_TARGET, 1},
    [EMPTY_SOURCE] = {"source_empty", "source words without a link", XLM_TABLE_SOURCE, 1},
    [EMPTY_ALL] = {"empty", "target words, source words without a link", XLM_TABLE_WHOLE, 2},
    [SOURCE_FERTILITY] = {"source_fertility", "how often a source word has 0, 1, … 5 or more links", XLM_TABLE_SOURCE,
                          FERTILITIES},
    [TARGET_FERTILITY] = {"target_fertility", "the same of a target word", XLM_TABLE_TARGET, FERTILITIES},
    [JUMPS] = {"jumps", "jumps of -512 … 512 source positions, then of target positions", XLM_TABLE_WHOLE, 2 * XLM_HMM_JUMPS},
    {.name = NULL}};

static const float ALPHA = 0.0003f, ALPHA_ALIKE = 1, ALIKE_SHARE = 0.3f; /* of a pair; for equal words; share if similar */
static const float ALPHA_EMPTY = 0.001f, ALPHA_FERTILITY = 0.5f, ALPHA_JUMP = 0.5f;
static const float P_EMPTY = 0.1f;

enum stage { LEXICAL, POSITIONS, FERTILITY };

struct state {
    enum stage stage;
    uint8_t *alike;      /* [pairs of words] α(e, f) - α in units of ALPHA_ALIKE / 255 */
    float *links;        /* [pairs of words] c(e, f) + α(e, f) */
    float *of_word[2];   /* [types] c(e) of source words; of target words */
    float *by_empty[2];  /* [types] target words; source words */
    float empty_all[2];
    float *ratio[2];     /* [types x FERTILITIES] P(k + 1) / P(k) of source words; of target words */
    xlm_hmm hmm[2];      /* positions of source words, for forward; of target words */
};

/* ---- tables ---- */

static void find_alike(const xlm_alignment_run *run, struct state *s)
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
            s->alike[k] = (uint8_t)lrint(255 * (alike == 1 ? 1 : alike > 0.5 ? ALIKE_SHARE * (2 * alike - 1) : 0));
        }
    for (int d = 0; d < 2; d++) {
        for (int32_t w = 0; w < side[d].types; w++)
            g_free(spelling[d][w].characters);
        g_free(spelling[d]);
    }
}

static void open_state(xlm_alignment_run *run)
{
    struct state *s = g_new0(struct state, 1);
    s->alike = g_new(uint8_t, run->pairs->n);
    s->links = g_new(float, run->pairs->n);
    for (int d = 0; d < 2; d++) {
        const int32_t types = run->bitext->side[d].types;
        s->of_word[d] = g_new(float, types);
        s->by_empty[1 - d] = g_new(float, types);
        s->ratio[d] = g_new(float, (gsize)types * FERTILITIES);
    }
    find_alike(run, s);
    run->state = s;
}

static void close_state(xlm_alignment_run *run)
{
    struct state *s = run->state;
    g_free(s->alike);
    g_free(s->links);
    for (int d = 0; d < 2; d++) {
        g_free(s->of_word[d]);
        g_free(s->by_empty[d]);
        g_free(s->ratio[d]);
    }
    g_free(s);
}

static float count(int64_t total) { return (float)((double)total / XLM_COUNT_UNIT); }

static void find_links(const xlm_alignment_run *run, struct state *s)
{
    const int64_t *total = run->counts[LINKS];
    #pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < run->pairs->n; i++)
        s->links[i] = count(total[i]) + ALPHA + ALPHA_ALIKE / 255 * (float)s->alike[i];
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
    for (int64_t w = 0; w < types; w++, total += FERTILITIES, ratio += FERTILITIES) {
        for (int k = 0; k + 1 < FERTILITIES; k++)
            ratio[k] = (count(total[k + 1]) + ALPHA_FERTILITY) / (count(total[k]) + ALPHA_FERTILITY);
        ratio[FERTILITIES - 1] = 1e-10f;
    }
}

/* The model that an iteration uses of the three; decoding uses that of the last. A run that began with a saved model has
 * all counts from the start. */
static enum stage stage_of(const xlm_alignment_run *run)
{
    const int at = MIN(run->iteration, run->iterations - 1), third = (run->iterations + 2) / 3;
    if (run->started_informed)
        return FERTILITY;
    return at < third ? LEXICAL : at < 2 * third ? POSITIONS : FERTILITY;
}

static void begin(xlm_alignment_run *run)
{
    struct state *s = run->state;
    const xlm_bitext_side *side = run->bitext->side;
    s->stage = stage_of(run);
    find_links(run, s);
    for (int d = 0; d < 2; d++) {
        copy_counts(run->counts[d == 0 ? SOURCE_LINKS : TARGET_LINKS], side[d].types, s->of_word[d]);
        copy_counts(run->counts[d == 0 ? EMPTY_TARGET : EMPTY_SOURCE], side[1 - d].types, s->by_empty[d]);
        s->empty_all[d] = count(run->counts[EMPTY_ALL][d]);
        find_ratios(run->counts[d == 0 ? SOURCE_FERTILITY : TARGET_FERTILITY], side[d].types, s->ratio[d]);
        s->hmm[d].p0 = P_EMPTY;
        for (int k = 0; k < XLM_HMM_JUMPS; k++)
            s->hmm[d].jump[k] = count(run->counts[JUMPS][d * XLM_HMM_JUMPS + k]) + ALPHA_JUMP;
    }
}

/* ---- one sentence pair ---- */

/* In direction 0, source words explain target words; in 1 it is the other way round. Matrices are [explained x explaining]. */
struct pair {
    int64_t sentence;
    int size[2];              /* source words, target words */
    const int32_t *words[2];
    const uint32_t *cells;    /* [target x source] */
    uint16_t *own;            /* of the cells */
    uint16_t *own_empty[2];    /* of target words; of source words */
    float *emission[2], *posterior[2], *by_empty[2], *empty[2];
    float *weighted;          /* emission with fertility; before and after that, room for a matrix */
    float *own_row, *all;     /* [source words] */
    float *counts;            /* [(words + 1) x FERTILITIES] */
    float *jumps, *hmm;
    int32_t *list;
};

static size_t room(size_t n) { return (n + 15) / 16 * 16; }

static size_t workspace_floats(int n, int m)
{
    const size_t both = (size_t)n * (size_t)m, longer = (size_t)MAX(n, m);
    return 5 * room(both) + 6 * room(longer) + room((longer + 1) * FERTILITIES) + room(2 * longer + 1) + room(longer) +
           MAX(xlm_hmm_workspace(n, m), xlm_hmm_workspace(m, n));
}

static size_t workspace(int n, int m) { return sizeof(float) * workspace_floats(n, m); }

static float *take(float **from, size_t n)
{
    float *const taken = *from;
    *from += room(n);
    return taken;
}

static struct pair look_at(const xlm_alignment_run *run, int64_t sentence, void *memory)
{
    const xlm_bitext *b = run->bitext;
    struct pair p = {.sentence = sentence, .cells = xlm_word_pairs_cells(run->pairs, sentence)};
    for (int d = 0; d < 2; d++) {
        p.size[d] = xlm_bitext_length(&b->side[d], sentence);
        p.words[d] = b->side[d].words + b->side[d].offsets[sentence];
    }
    const int64_t cells = run->pairs->offsets[b->pairs], target_words = b->side[1].offsets[b->pairs];
    if (run->own != NULL) {
        p.own = run->own + run->pairs->offsets[sentence];
        p.own_empty[0] = run->own + cells + b->side[1].offsets[sentence];
        p.own_empty[1] = run->own + cells + target_words + b->side[0].offsets[sentence];
    }
    const size_t both = (size_t)p.size[0] * (size_t)p.size[1], longer = (size_t)MAX(p.size[0], p.size[1]);
    float *at = memory;
    for (int d = 0; d < 2; d++) {
        p.emission[d] = take(&at, both);
        p.posterior[d] = take(&at, both);
        p.by_empty[d] = take(&at, longer);
        p.empty[d] = take(&at, longer);
    }
    p.weighted = take(&at, both);
    p.own_row = take(&at, longer);
    p.all = take(&at, longer);
    p.counts = take(&at, (longer + 1) * FERTILITIES);
    p.jumps = take(&at, 2 * longer + 1);
    p.list = (int32_t *)(void *)take(&at, longer);
    p.hmm = at;
    return p;
}

static float without(float count_of_all, float own) { return MAX(count_of_all - own, 0); }

/* p(f | e) and p(e | f) of all cells. */
static void find_emissions(const xlm_alignment_run *run, const struct pair *p)
{
    const struct state *s = run->state;
    const int n = p->size[0], m = p->size[1];
    const float all[2] = {ALPHA * (float)run->words[1], ALPHA * (float)run->words[0]};
    float *restrict own = p->own_row, *restrict of_source = p->all;
    memset(own, 0, sizeof *own * (size_t)n);
    for (int i = 0; i < n; i++)
        of_source[i] = s->of_word[0][p->words[0][i]];
    for (int j = 0; j < m; j++) {
        const uint32_t *cells = p->cells + (size_t)j * n;
        const float of_target = s->of_word[1][p->words[1][j]] + all[1];
        float *restrict forward = p->emission[0] + (size_t)j * n, *restrict reverse = p->weighted + (size_t)j * n;
        for (int i = 0; i < n; i++)
            forward[i] = s->links[cells[i]];
        if (p->own != NULL) {
            const uint16_t *units = p->own + (size_t)j * n;
            #pragma omp simd
            for (int i = 0; i < n; i++)
                own[i] = (float)units[i] * (1.0f / XLM_COUNT_UNIT);
        }
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
static void find_empty(const xlm_alignment_run *run, const struct pair *p, int d)
{
    const struct state *s = run->state;
    const float all = ALPHA_EMPTY * (float)run->words[1 - d];
    for (int j = 0; j < p->size[1 - d]; j++) {
        const float own = p->own_empty[d] != NULL ? (float)p->own_empty[d][j] / XLM_COUNT_UNIT : 0;
        const float count_of_word = without(s->by_empty[d][p->words[1 - d][j]], own);
        p->by_empty[d][j] = (count_of_word + ALPHA_EMPTY) / (without(s->empty_all[d], own) + all);
    }
}

static void explain_nothing(const struct pair *p)
{
    for (int d = 0; d < 2; d++) {
        for (int k = 0; k < p->size[0] * p->size[1]; k++)
            p->emission[d][k] = 1;
        for (int j = 0; j < p->size[1 - d]; j++)
            p->by_empty[d][j] = 1.0f / (float)p->size[1 - d];
    }
}

static void lexical_posterior(const struct pair *p, int d)
{
    const int n = p->size[d], m = p->size[1 - d];
    for (int j = 0; j < m; j++) {
        const float *emission = p->emission[d] + (size_t)j * n;
        float *restrict posterior = p->posterior[d] + (size_t)j * n, all = 0;
        #pragma omp simd reduction(+ : all)
        for (int i = 0; i < n; i++)
            all += emission[i];
        const float word = (1 - P_EMPTY) / (float)n, empty = P_EMPTY * p->by_empty[d][j], whole = all * word + empty;
        #pragma omp simd
        for (int i = 0; i < n; i++)
            posterior[i] = emission[i] * (word / whole);
        p->empty[d][j] = empty / whole;
    }
}

/* The distribution of the number of links after one more link with probability p. */
static void add_link(const float from[FERTILITIES], float p, float to[FERTILITIES])
{
    const float many = from[FERTILITIES - 1];
    for (int k = FERTILITIES - 1; k > 0; k--)
        to[k] = from[k] * (1 - p) + from[k - 1] * p;
    to[0] = from[0] * (1 - p);
    to[FERTILITIES - 1] += many * p;
}

/* Σ_k a(k) ratio(k) */
static float expected_ratio(const float a[FERTILITIES], const float ratio[FERTILITIES])
{
    float sum = 0;
    for (int k = 0; k < FERTILITIES; k++)
        sum += a[k] * ratio[k];
    return sum;
}

/* What ratio(k) is expected to be when there may be one more link, with probability p. */
static void expect_link(float ratio[FERTILITIES], float p)
{
    for (int k = 0; k + 1 < FERTILITIES; k++)
        ratio[k] = (1 - p) * ratio[k] + p * ratio[k + 1];
}

/* The weights of the m words that word i may explain, by its fertility. posterior [m]: without fertility; becomes the weights. */
static void weigh_word(const struct state *s, const struct pair *p, int d, int i, float *posterior)
{
    static const float nothing[FERTILITIES] = {1};
    const int m = p->size[1 - d];
    float ratio[FERTILITIES], (*before)[FERTILITIES] = (float (*)[FERTILITIES])(void *)p->counts;
    float *linked = p->own_row;
    int links = 0;
    memcpy(ratio, s->ratio[d] + (size_t)p->words[d][i] * FERTILITIES, sizeof ratio);
    memcpy(before[0], nothing, sizeof nothing);
    for (int j = 0; j < m; j++)
        if (posterior[j] > 1e-4f) {
            add_link(before[links], posterior[j], before[links + 1]);
            linked[links] = posterior[j];
            p->list[links++] = j;
        }
    const float others = expected_ratio(before[links], ratio);
    for (int j = 0; j < m; j++)
        posterior[j] = others;
    while (links-- > 0) {
        posterior[p->list[links]] = expected_ratio(before[links], ratio);
        expect_link(ratio, linked[links]);
    }
}

/* Emissions weighted by the fertilities of the words that explain, given posteriors without them. */
static void weigh(const struct state *s, const struct pair *p, int d)
{
    const xlm_kernels *kernels = xlm_kernels_get();
    const int n = p->size[d], m = p->size[1 - d];
    float *turned = p->hmm; /* [n x m], which is free now */
    kernels->transpose(m, n, p->posterior[d], n, turned, m);
    for (int i = 0; i < n; i++)
        weigh_word(s, p, d, i, turned + (size_t)i * m);
    kernels->transpose(n, m, turned, m, p->weighted, n);
    kernels->multiply((int64_t)n * m, p->emission[d], p->weighted, p->weighted, false);
}

/* Posteriors of a direction. jumps: those of the words that explain; may be NULL. */
static void find_posterior(const xlm_alignment_run *run, const struct pair *p, int d, float *jumps)
{
    const struct state *s = run->state;
    const int n = p->size[d], m = p->size[1 - d];
    if (s->stage == LEXICAL) {
        lexical_posterior(p, d);
        return;
    }
    const float *emission = p->emission[d];
    if (s->stage == FERTILITY) {
        xlm_hmm_posterior(&s->hmm[d], n, m, emission, p->by_empty[d], p->posterior[d], p->empty[d], NULL, p->hmm);
        weigh(s, p, d);
        emission = p->weighted;
    }
    xlm_hmm_posterior(&s->hmm[d], n, m, emission, p->by_empty[d], p->posterior[d], p->empty[d], jumps, p->hmm);
}

static int64_t units(float probability) { return MIN(lrintf(probability * XLM_COUNT_UNIT), XLM_COUNT_UNIT - 1); }

static void add_jumps(const xlm_alignment_run *run, const struct pair *p, int d)
{
    const int n = p->size[d];
    for (int k = -n; k <= n; k++) {
        const int64_t jumps = llrintf(p->jumps[n + k] * XLM_COUNT_UNIT);
        if (jumps > 0)
            xlm_table_add(run, JUMPS, d * XLM_HMM_JUMPS + CLAMP(k, -XLM_HMM_FARTHEST, XLM_HMM_FARTHEST) + XLM_HMM_FARTHEST,
                          jumps);
    }
}

static void add_empty(const xlm_alignment_run *run, const struct pair *p, int d)
{
    int64_t all = 0;
    for (int j = 0; j < p->size[1 - d]; j++) {
        const int64_t empty = units(p->empty[d][j]);
        if (run->own != NULL)
            p->own_empty[d][j] = (uint16_t)empty;
        if (empty > 0)
            xlm_table_add(run, d == 0 ? EMPTY_TARGET : EMPTY_SOURCE, p->words[1 - d][j], empty);
        all += empty;
    }
    xlm_table_add(run, EMPTY_ALL, d, all);
}

/* The posteriors of both directions combined, in units and in that of forward. */
static void agree(const xlm_alignment_run *run, const struct pair *p)
{
    const struct state *s = run->state;
    const int n = p->size[0], m = p->size[1];
    const int64_t cells = (int64_t)n * m;
    float *restrict agreed = p->posterior[0], *restrict reverse = p->weighted;
    uint16_t *restrict own = p->own;
    xlm_kernels_get()->transpose(n, m, p->posterior[1], m, reverse, n);
    #pragma omp simd
    for (int64_t k = 0; k < cells; k++)
        agreed[k] *= reverse[k];
    for (int64_t k = 0; k < cells && s->stage == LEXICAL; k++)
        agreed[k] = sqrtf(agreed[k]);
    #pragma omp simd
    for (int64_t k = 0; k < cells; k++) {
        const int32_t links = (int32_t)(agreed[k] * XLM_COUNT_UNIT + 0.5f);
        own[k] = (uint16_t)(links < XLM_COUNT_UNIT ? links : XLM_COUNT_UNIT - 1);
    }
}

static void add_links(const xlm_alignment_run *run, const struct pair *p)
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
                xlm_table_add(run, LINKS, cells[i], own[i]);
                of_source[i] += own[i];
                of_target += own[i];
            }
        xlm_table_add(run, TARGET_LINKS, p->words[1][j], of_target);
    }
    for (int i = 0; i < n; i++)
        xlm_table_add(run, SOURCE_LINKS, p->words[0][i], of_source[i]);
}

/* Add the distribution of the number of links of each word, as if links were independent. */
static void add_fertilities(const xlm_alignment_run *run, const struct pair *p, int d, const float *agreed)
{
    const int others = p->size[1 - d];
    for (int i = 0; i < p->size[d]; i++, agreed += others) {
        float counts[2][FERTILITIES] = {{1}};
        int now = 0;
        for (int j = 0; j < others; j++)
            if (agreed[j] > 1e-4f) {
                add_link(counts[now], agreed[j], counts[1 - now]);
                now = 1 - now;
            }
        for (int k = 0; k < FERTILITIES; k++) {
            const int64_t expected = llrintf(counts[now][k] * XLM_COUNT_UNIT);
            if (expected > 0)
                xlm_table_add(run, d == 0 ? SOURCE_FERTILITY : TARGET_FERTILITY, (int64_t)p->words[d][i] * FERTILITIES + k,
                              expected);
        }
    }
}

static void find_parameters(const xlm_alignment_run *run, const struct pair *p)
{
    if (!run->informed) {
        explain_nothing(p);
        return;
    }
    find_emissions(run, p);
    for (int d = 0; d < 2; d++)
        find_empty(run, p, d);
}

static void expect(const xlm_alignment_run *run, int64_t sentence, void *memory)
{
    const struct state *s = run->state;
    const struct pair p = look_at(run, sentence, memory);
    find_parameters(run, &p);
    for (int d = 0; d < 2; d++) {
        find_posterior(run, &p, d, p.jumps);
        if (s->stage != LEXICAL)
            add_jumps(run, &p, d);
        add_empty(run, &p, d);
    }
    agree(run, &p);
    add_links(run, &p);
    if (s->stage == LEXICAL)
        return;
    xlm_kernels_get()->transpose(p.size[1], p.size[0], p.posterior[0], p.size[0], p.posterior[1], p.size[1]);
    for (int d = 0; d < 2; d++)
        add_fertilities(run, &p, d, p.posterior[1 - d]);
}

static void decode(const xlm_alignment_run *run, int64_t sentence, void *memory, xlm_decoded *decoded)
{
    const struct pair p = look_at(run, sentence, memory);
    find_parameters(run, &p);
    for (int d = 0; d < 2; d++) {
        find_posterior(run, &p, d, NULL);
        int32_t *links = d == 0 ? decoded->forward : decoded->reverse;
        const int n = p.size[d], m = p.size[1 - d];
        for (int j = 0; j < m; j++)
            links[j] = xlm_most_probable(p.posterior[d] + (size_t)j * n, n, p.empty[d][j]);
        memcpy(d == 0 ? decoded->forward_posterior : decoded->reverse_posterior, p.posterior[d],
               sizeof(float) * (size_t)n * (size_t)m);
    }
}

const xlm_aligner xlm_aligner_fertility = {
    .name = "fertility",
    .purpose = "positions and fertilities, in two directions that agree",
    .tables = tables,
    .iterations = 9,
    .own = true,
    .open = open_state,
    .close = close_state,
    .begin = begin,
    .expect = expect,
    .decode = decode,
    .workspace = workspace,
};
