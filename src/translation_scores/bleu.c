/* xlm-mpi: BLEU. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Counts: words of hypotheses, words of references, then matches of 1- to 4-grams and numbers of those of hypotheses. If there
 * are several references, the length of the one nearest in length to the hypothesis counts, the shorter of two. BLEU = BP exp(mean of ln p_n), p_n = matches / number,
 * BP = exp(1 - r / c) if c < r. */
#include <math.h>

#include "text/strings.h"
#include "translation_scores/metric.h"
#include "translation_scores/ngrams.h"

enum { ORDERS = 4, HYPOTHESIS = 0, REFERENCE = 1, MATCHES = 2, TOTALS = MATCHES + ORDERS, COUNTS = TOTALS + ORDERS };

const char *const xlm_bleu_smoothings[] = {"exp", "floor", "add-k", "none", NULL};

typedef struct bleu {
    xlm_metric_options options;
    GArray *characters, *spare; /* uint32_t: of a sentence */
    xlm_strings *words;         /* of the sentences at hand, as characters */
    GArray *numbers;            /* uint32_t: of the words of a sentence */
    xlm_ngrams *ngrams;
} bleu;

static void *open_bleu(const xlm_metric_options *options)
{
    bleu *b = g_new0(bleu, 1);
    b->options = *options;
    if (options->smooth_value == 0)
        b->options.smooth_value = options->smoothing == XLM_SMOOTH_FLOOR ? 0.1 : 1;
    b->characters = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    b->spare = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    b->words = xlm_strings_new();
    b->numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    b->ngrams = xlm_ngrams_new(ORDERS);
    return b;
}

static void *open_multi_bleu(const xlm_metric_options *options)
{
    const bool lowercase = options->lowercase;
    return open_bleu(&(xlm_metric_options){.words = XLM_BLEU_BLANKS, .smoothing = XLM_SMOOTH_NONE, .lowercase = lowercase});
}

static void close_bleu(void *state)
{
    bleu *b = state;
    g_array_unref(b->characters);
    g_array_unref(b->spare);
    xlm_strings_free(b->words);
    g_array_unref(b->numbers);
    xlm_ngrams_free(b->ngrams);
    g_free(b);
}

/* The numbers of the words of a sentence; returns how many there are. */
static int64_t read_words(bleu *b, const char *text)
{
    const xlm_bleu_case lower = b->options.words == XLM_BLEU_BLANKS ? XLM_BLEU_LOWER_ASCII : XLM_BLEU_LOWER;
    xlm_bleu_read(text, b->options.lowercase ? lower : XLM_BLEU_AS_IS, b->characters);
    xlm_bleu_cut(b->options.words, b->characters, b->spare);
    const uint32_t *characters = (const uint32_t *)(const void *)b->characters->data;
    g_array_set_size(b->numbers, 0);
    for (guint begin = 0, end; begin < b->characters->len; begin = end + 1) {
        for (end = begin; end < b->characters->len && !xlm_bleu_is_blank(b->options.words, characters[end]);)
            end++;
        if (end > begin) {
            const size_t size = (end - begin) * sizeof *characters;
            const uint32_t number = xlm_strings_add(b->words, (const char *)(characters + begin), size);
            g_array_append_val(b->numbers, number);
        }
    }
    return b->numbers->len;
}

static void add_bleu(void *state, const char *hypothesis, const char *const *references, int n, int64_t *counts)
{
    bleu *b = state;
    const uint32_t *const *numbers = (const uint32_t *const *)(void *)&b->numbers->data;
    int64_t nearest = 0;
    xlm_strings_clear(b->words);
    const int64_t size = read_words(b, hypothesis);
    xlm_ngrams_begin(b->ngrams, *numbers, size);
    for (int r = 0; r < n; r++) {
        const int64_t length = read_words(b, references[r]), off = ABS(length - size), least = ABS(nearest - size);
        if (r == 0 || off < least || (off == least && length < nearest))
            nearest = length;
        xlm_ngrams_see(b->ngrams, *numbers, length);
    }
    xlm_ngrams_matches(b->ngrams, counts + MATCHES);
    counts[HYPOTHESIS] += size;
    counts[REFERENCE] += nearest;
    for (int k = 0; k < ORDERS; k++)
        counts[TOTALS + k] += xlm_ngrams_of(size, k + 1);
}

static double brevity_penalty(const int64_t *counts)
{
    const double c = (double)counts[HYPOTHESIS], r = (double)counts[REFERENCE];
    return c >= r ? 1 : c > 0 ? exp(1 - r / c) : 0;
}

/* precisions[ORDERS], 0 ... 1, 0 for orders above `order`, the highest one that has n-grams; false if nothing matches. */
static bool find_precisions(const bleu *b, const int64_t *counts, double *precisions, int *order)
{
    bool any = false;
    double power = 1;
    *order = 0;
    for (int k = 0; k < ORDERS; k++) {
        precisions[k] = 0;
        any = any || counts[MATCHES + k] > 0;
    }
    for (int k = 0; any && k < ORDERS; k++) {
        const double more = b->options.smoothing == XLM_SMOOTH_ADD_K && k > 0 ? b->options.smooth_value : 0;
        const double matches = (double)counts[MATCHES + k] + more, total = (double)counts[TOTALS + k] + more;
        if (total == 0)
            break;
        *order = k + 1;
        if (matches > 0)
            precisions[k] = matches / total;
        else if (b->options.smoothing == XLM_SMOOTH_EXP)
            precisions[k] = 1 / ((power *= 2) * total);
        else if (b->options.smoothing == XLM_SMOOTH_FLOOR)
            precisions[k] = b->options.smooth_value / total;
    }
    return any;
}

/* Is the mean over the orders of a sentence that has n-grams alone? multi-bleu.perl knows texts only. */
static bool is_effective(const bleu *b, bool sentence) { return sentence && b->options.words != XLM_BLEU_BLANKS; }

static double score_bleu(const void *state, const int64_t *counts, bool sentence)
{
    double precisions[ORDERS], sum = 0;
    int order;
    if (!find_precisions(state, counts, precisions, &order))
        return 0;
    if (!is_effective(state, sentence))
        order = ORDERS;
    for (int k = 0; k < order; k++)
        sum += log(precisions[k]); /* of 0: the score is 0 */
    return 100 * brevity_penalty(counts) * exp(sum / order);
}

static double length_ratio(const int64_t *counts)
{
    return counts[REFERENCE] > 0 ? (double)counts[HYPOTHESIS] / (double)counts[REFERENCE] : 0;
}

static int list_parts(const void *state, const int64_t *counts, xlm_metric_part *parts)
{
    static const char *const names[ORDERS] = {"precision_1", "precision_2", "precision_3", "precision_4"};
    double precisions[ORDERS];
    int n = 0, order;
    find_precisions(state, counts, precisions, &order);
    for (; n < ORDERS; n++)
        parts[n] = (xlm_metric_part){names[n], 100 * precisions[n]};
    parts[n++] = (xlm_metric_part){"brevity_penalty", brevity_penalty(counts)};
    parts[n++] = (xlm_metric_part){"length_ratio", length_ratio(counts)};
    parts[n++] = (xlm_metric_part){"hypothesis_words", (double)counts[HYPOTHESIS]};
    parts[n++] = (xlm_metric_part){"reference_words", (double)counts[REFERENCE]};
    return n;
}

static void append_settings(const void *state, bool sentence, GString *out)
{
    const xlm_metric_options *o = &((const bleu *)state)->options;
    g_string_append_printf(out, "case:%s|eff:%s|tok:%s|smooth:%s", o->lowercase ? "lc" : "mixed",
                           is_effective(state, sentence) ? "yes" : "no", xlm_bleu_word_names[o->words],
                           xlm_bleu_smoothings[o->smoothing]);
    if (o->smoothing == XLM_SMOOTH_FLOOR || o->smoothing == XLM_SMOOTH_ADD_K)
        g_string_append_printf(out, "[%.2f]", o->smooth_value);
}

static void append_precisions(const void *state, const int64_t *counts, GString *out)
{
    double precisions[ORDERS];
    int order;
    find_precisions(state, counts, precisions, &order);
    for (int k = 0; k < ORDERS; k++)
        g_string_append_printf(out, "%s%.1f", k > 0 ? "/" : "", 100 * precisions[k]);
}

static void append_line(const void *state, const int64_t *counts, const char *score, const char *signature, GString *out)
{
    g_string_append_printf(out, "BLEU|%s = %s ", signature, score);
    append_precisions(state, counts, out);
    g_string_append_printf(out, " (BP = %.3f ratio = %.3f hyp_len = %" G_GINT64_FORMAT " ref_len = %" G_GINT64_FORMAT ")",
                           brevity_penalty(counts), length_ratio(counts), counts[HYPOTHESIS], counts[REFERENCE]);
}

static void append_multi_line(const void *state, const int64_t *counts, const char *score, const char *signature, GString *out)
{
    (void)signature;
    if (counts[REFERENCE] == 0) {
        g_string_append(out, "BLEU = 0, 0/0/0/0 (BP=0, ratio=0, hyp_len=0, ref_len=0)");
        return;
    }
    g_string_append_printf(out, "BLEU = %s, ", score);
    append_precisions(state, counts, out);
    g_string_append_printf(out, " (BP=%.3f, ratio=%.3f, hyp_len=%" G_GINT64_FORMAT ", ref_len=%" G_GINT64_FORMAT ")",
                           brevity_penalty(counts), length_ratio(counts), counts[HYPOTHESIS], counts[REFERENCE]);
}

#define BLEU(NAME, TITLE, OPEN, LINE)  \
    {                                  \
        .name = NAME,                  \
        .title = TITLE,                \
        .counts = COUNTS,              \
        .open = OPEN,                  \
        .close = close_bleu,           \
        .add = add_bleu,               \
        .score = score_bleu,           \
        .parts = list_parts,           \
        .settings = append_settings,   \
        .line = LINE,                  \
    }

const xlm_metric_class xlm_metric_bleu = BLEU("bleu", "BLEU", open_bleu, append_line);
const xlm_metric_class xlm_metric_multi_bleu = BLEU("multi-bleu", "multi-bleu", open_multi_bleu, append_multi_line);
