/* xlm-mpi: chrF2 and chrF2++. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Counts: for each order, of 1 to 6 characters and then of 1 and 2 words, the n-grams of hypotheses, those of references, and
 * matches. If there are several references, the one that gives the sentence its best score counts. White space is left out
 * unless it is asked for. The score is F = (1 + β²) P R / (β² P + R), β = 2, of the means P and R of precision and recall over the orders that
 * both sides have n-grams of; with `epsilon` it is the mean of F over all orders, where what is missing counts as 1e-16. */
#include <string.h>

#include "text/strings.h"
#include "text/words.h"
#include "translation_scores/metric.h"
#include "translation_scores/ngrams.h"

enum { CHARACTER_ORDERS = 6, WORD_ORDERS = 2, ORDERS = CHARACTER_ORDERS + WORD_ORDERS };
enum { HYPOTHESIS, REFERENCE, MATCHES, KINDS }; /* of an order: counts[KINDS * order + ...] */

/* A sentence: its characters, and the numbers of its words. uint32_t. */
typedef struct sentence {
    GArray *characters, *words;
} sentence;

typedef struct chrf {
    xlm_metric_options options;
    int word_orders;
    GArray *read;       /* uint32_t: characters as read */
    xlm_strings *words; /* of the sentences at hand, as characters */
    sentence hypothesis, reference;
    xlm_ngrams *character_ngrams, *word_ngrams;
} chrf;

static GArray *new_array(void) { return g_array_new(FALSE, FALSE, sizeof(uint32_t)); }

static const uint32_t *values(const GArray *array) { return (const uint32_t *)(const void *)array->data; }

static chrf *make(const xlm_metric_options *options, int word_orders)
{
    chrf *f = g_new0(chrf, 1);
    f->options = *options;
    f->word_orders = word_orders;
    f->read = new_array();
    f->words = xlm_strings_new();
    f->hypothesis = (sentence){new_array(), new_array()};
    f->reference = (sentence){new_array(), new_array()};
    f->character_ngrams = xlm_ngrams_new(CHARACTER_ORDERS);
    f->word_ngrams = xlm_ngrams_new(WORD_ORDERS);
    return f;
}

static void *open_chrf(const xlm_metric_options *options) { return make(options, 0); }
static void *open_chrf_words(const xlm_metric_options *options) { return make(options, WORD_ORDERS); }

static void close_chrf(void *state)
{
    chrf *f = state;
    g_array_unref(f->read);
    xlm_strings_free(f->words);
    g_array_unref(f->hypothesis.characters);
    g_array_unref(f->hypothesis.words);
    g_array_unref(f->reference.characters);
    g_array_unref(f->reference.words);
    xlm_ngrams_free(f->character_ngrams);
    xlm_ngrams_free(f->word_ngrams);
    g_free(f);
}

static bool is_mark(uint32_t c) { return c < 0x80 && g_ascii_ispunct((char)c); }

static void add_word(chrf *f, const uint32_t *characters, guint size, GArray *words)
{
    const uint32_t number = xlm_strings_add(f->words, (const char *)characters, size * sizeof *characters);
    g_array_append_val(words, number);
}

/* A word between white space is two where it ends with a mark of ASCII, or else begins with one. */
static void add_parts(chrf *f, const uint32_t *characters, guint size, GArray *words)
{
    const guint first = size == 1 ? 0 : is_mark(characters[size - 1]) ? size - 1 : is_mark(characters[0]) ? 1 : 0;
    if (first > 0)
        add_word(f, characters, first, words);
    add_word(f, characters + first, size - first, words);
}

static void read_sentence(chrf *f, const char *text, sentence *s)
{
    xlm_bleu_read(text, f->options.lowercase ? XLM_BLEU_LOWER : XLM_BLEU_AS_IS, f->read);
    const uint32_t *c = values(f->read);
    guint end = f->read->len;
    while (end > 0 && xlm_is_white_space(c[end - 1]))
        end--;
    g_array_set_size(s->characters, 0);
    g_array_set_size(s->words, 0);
    for (guint i = 0, word = 0; i < end; i++) {
        const bool blank = xlm_is_white_space(c[i]);
        if (!blank || f->options.whitespace)
            g_array_append_val(s->characters, c[i]);
        if (f->word_orders > 0 && !blank && (i + 1 == end || xlm_is_white_space(c[i + 1])))
            add_parts(f, c + word, i + 1 - word, s->words);
        if (blank)
            word = i + 1;
    }
}

/* counts: of a sentence or a text. */
static double score_chrf(const void *state, const int64_t *counts, bool alone)
{
    const chrf *f = state;
    const double tiny = 1e-16, factor = 4;
    const int orders = CHARACTER_ORDERS + f->word_orders;
    double sum = 0, precisions = 0, recalls = 0;
    int effective = 0;
    (void)alone;
    for (int k = 0; k < orders; k++) {
        const int64_t *of = counts + (ptrdiff_t)KINDS * k;
        const double precision = of[HYPOTHESIS] > 0 ? (double)of[MATCHES] / (double)of[HYPOTHESIS] : tiny;
        const double recall = of[REFERENCE] > 0 ? (double)of[MATCHES] / (double)of[REFERENCE] : tiny;
        const double below = factor * precision + recall;
        sum += below > 0 ? (1 + factor) * precision * recall / below : tiny;
        if (of[HYPOTHESIS] > 0 && of[REFERENCE] > 0) {
            precisions += precision;
            recalls += recall;
            effective++;
        }
    }
    if (f->options.epsilon)
        return 100 * sum / orders;
    if (effective == 0 || precisions + recalls == 0)
        return 0;
    precisions /= effective;
    recalls /= effective;
    return 100 * (1 + factor) * precisions * recalls / (factor * precisions + recalls);
}

/* counts[KINDS * orders] of the hypothesis beside the reference at hand. An order that the reference is too short for does not
 * count for the hypothesis either. */
static void compare(chrf *f, int64_t *counts)
{
    int64_t matches[ORDERS] = {0};
    const sentence *h = &f->hypothesis, *r = &f->reference;
    xlm_ngrams_see(f->character_ngrams, values(r->characters), r->characters->len);
    xlm_ngrams_matches(f->character_ngrams, matches);
    xlm_ngrams_forget(f->character_ngrams);
    xlm_ngrams_see(f->word_ngrams, values(r->words), r->words->len);
    xlm_ngrams_matches(f->word_ngrams, matches + CHARACTER_ORDERS);
    xlm_ngrams_forget(f->word_ngrams);
    for (int k = 0; k < CHARACTER_ORDERS + f->word_orders; k++) {
        const bool of_words = k >= CHARACTER_ORDERS;
        const int n = of_words ? k - CHARACTER_ORDERS + 1 : k + 1;
        int64_t *of = counts + (ptrdiff_t)KINDS * k;
        of[REFERENCE] = xlm_ngrams_of(of_words ? r->words->len : r->characters->len, n);
        of[HYPOTHESIS] = of[REFERENCE] > 0 ? xlm_ngrams_of(of_words ? h->words->len : h->characters->len, n) : 0;
        of[MATCHES] = matches[k];
    }
}

static void add_chrf(void *state, const char *hypothesis, const char *const *references, int n, int64_t *counts)
{
    chrf *f = state;
    int64_t best[KINDS * ORDERS] = {0}, of[KINDS * ORDERS] = {0};
    double score = -1;
    xlm_strings_clear(f->words);
    read_sentence(f, hypothesis, &f->hypothesis);
    xlm_ngrams_begin(f->character_ngrams, values(f->hypothesis.characters), f->hypothesis.characters->len);
    xlm_ngrams_begin(f->word_ngrams, values(f->hypothesis.words), f->hypothesis.words->len);
    for (int r = 0; r < n; r++) {
        read_sentence(f, references[r], &f->reference);
        compare(f, of);
        const double other = score_chrf(f, of, true);
        if (other > score) {
            score = other;
            memcpy(best, of, sizeof best);
        }
    }
    for (int i = 0; i < KINDS * (CHARACTER_ORDERS + f->word_orders); i++)
        counts[i] += best[i];
}

static void append_settings(const void *state, bool alone, GString *out)
{
    const chrf *f = state;
    (void)alone;
    g_string_append_printf(out, "case:%s|eff:%s|nc:%d|nw:%d|space:%s", f->options.lowercase ? "lc" : "mixed",
                           f->options.epsilon ? "no" : "yes", CHARACTER_ORDERS, f->word_orders,
                           f->options.whitespace ? "yes" : "no");
}

static void append_line(const void *state, const int64_t *counts, const char *score, const char *signature, GString *out)
{
    (void)counts;
    g_string_append_printf(out, "chrF2%s|%s = %s", ((const chrf *)state)->word_orders > 0 ? "++" : "", signature, score);
}

#define CHRF(NAME, TITLE, N_ORDERS, OPEN) \
    {                                     \
        .name = NAME,                     \
        .title = TITLE,                   \
        .counts = KINDS * (N_ORDERS),     \
        .open = OPEN,                     \
        .close = close_chrf,              \
        .add = add_chrf,                  \
        .score = score_chrf,              \
        .settings = append_settings,      \
        .line = append_line,              \
    }

const xlm_metric_class xlm_metric_chrf = CHRF("chrf", "chrF2", CHARACTER_ORDERS, open_chrf);
const xlm_metric_class xlm_metric_chrf_words = CHRF("chrf++", "chrF2++", ORDERS, open_chrf_words);
