/* xlm-mpi: scores of translations: words, counts and scores beside known answers. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text_fixture.h"

#include <math.h>

#include "text/words.h"
#include "translation_scores/bootstrap.h"
#include "translation_scores/metric.h"

/* ---- words: what sacreBLEU 2 makes of these lines; | between words ---- */

static char *cut(xlm_bleu_words words, xlm_bleu_case letters, const char *text)
{
    GArray *characters = g_array_new(FALSE, FALSE, sizeof(uint32_t)), *spare = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    GString *out = g_string_new(NULL);
    bool apart = false;
    xlm_bleu_read(text, letters, characters);
    xlm_bleu_cut(words, characters, spare);
    for (guint i = 0; i < characters->len; i++) {
        const uint32_t c = g_array_index(characters, uint32_t, i);
        if (!xlm_bleu_is_blank(words, c)) {
            if (apart && out->len > 0)
                g_string_append_c(out, '|');
            g_string_append_unichar(out, c);
        }
        apart = xlm_bleu_is_blank(words, c);
    }
    g_array_unref(characters);
    g_array_unref(spare);
    return g_string_free(out, FALSE);
}

static void is_cut(xlm_bleu_words words, const char *text, const char *wanted)
{
    char *got = cut(words, XLM_BLEU_AS_IS, text);
    assert_string_equal(got, wanted);
    g_free(got);
}

static void test_words(void **state)
{
    static const char *const text[] = {
        "Hello, world! It's 3.5-4 km (1,000 m).",
        "\u201eNein\u201c, sagte er &amp;lt; &quot;x&quot; <skipped>a..b 5. .5 7-",
        "\u4ed6\u8bf4\uff1a\u201c3.5\u5143\u201d\u2014ok,go. \U00020000a",
        "\u20ac5,00\u00a0a\u3000b \u00a7 1\u2009\u00bd-\u0661\u066b\u0662. $x_y\u0301 a,b 3,4 5.",
    };
    static const char *const wanted[][4] = {
        [XLM_BLEU_13A] = {"Hello|,|world|!|It's|3.5|-|4|km|(|1,000|m|)|.",
                          "\u201eNein\u201c|,|sagte|er|<|\"|x|\"|a|.|.|b|5|.|.|5|7|-",
                          "\u4ed6\u8bf4\uff1a\u201c3.5\u5143\u201d\u2014ok|,|go|.|\U00020000a",
                          "\u20ac5,00|a|b|\u00a7|1|\u00bd-\u0661\u066b\u0662|.|$|x|_|y\u0301|a|,|b|3,4|5|."},
        [XLM_BLEU_INTL] = {"Hello|,|world|!|It|'|s|3.5-4|km|(|1,000|m|)|.",
                           "\u201e|Nein|\u201c|,|sagte|er|&|amp|;|lt|;|&|quot|;|x|&|quot|;|<|skipped|>|a|.|.|b|5|.|.|5|7-",
                           "\u4ed6\u8bf4|\uff1a|\u201c3.5\u5143|\u201d|\u2014|ok|,|go|.|\U00020000a",
                           "\u20ac|5,00|a|b|\u00a7|1|\u00bd-\u0661\u066b\u0662|.|$|x|_|y\u0301|a|,|b|3,4|5."},
        [XLM_BLEU_ZH] = {"Hello|,|world|!|It's|3.5|-|4|km|(|1,000|m|)|.",
                         "\u201e|Nein|\u201c|,|sagte|er|&|amp|;|lt|;|&|quot|;|x|&|quot|;|<|skipped|>|a|.|.|b|5|.|.|5|7|-",
                         "\u4ed6|\u8bf4|\uff1a|\u201c|3.5|\u5143|\u201d|\u2014|ok|,|go|.|\U00020000a",
                         "\u20ac|5,00|a|b|\u00a7|1|\u00bd-\u0661\u066b\u0662|.|$|x|_|y\u0301|a|,|b|3,4|5."},
        [XLM_BLEU_CHAR] = {"H|e|l|l|o|,|w|o|r|l|d|!|I|t|'|s|3|.|5|-|4|k|m|(|1|,|0|0|0|m|)|.",
                           "\u201e|N|e|i|n|\u201c|,|s|a|g|t|e|e|r|&|a|m|p|;|l|t|;|&|q|u|o|t|;|x|&|q|u|o|t|;|<|s|k|i|p|p|e|d|>|a|"
                           ".|.|b|5|.|.|5|7|-",
                           "\u4ed6|\u8bf4|\uff1a|\u201c|3|.|5|\u5143|\u201d|\u2014|o|k|,|g|o|.|\U00020000|a",
                           "\u20ac|5|,|0|0|a|b|\u00a7|1|\u00bd|-|\u0661|\u066b|\u0662|.|$|x|_|y|\u0301|a|,|b|3|,|4|5|."},
        [XLM_BLEU_NONE] = {"Hello,|world!|It's|3.5-4|km|(1,000|m).",
                           "\u201eNein\u201c,|sagte|er|&amp;lt;|&quot;x&quot;|<skipped>a..b|5.|.5|7-",
                           "\u4ed6\u8bf4\uff1a\u201c3.5\u5143\u201d\u2014ok,go.|\U00020000a",
                           "\u20ac5,00|a|b|\u00a7|1|\u00bd-\u0661\u066b\u0662.|$x_y\u0301|a,b|3,4|5."},
    };
    (void)state;
    for (int words = XLM_BLEU_13A; words <= XLM_BLEU_NONE; words++)
        for (int i = 0; i < 4; i++)
            is_cut((xlm_bleu_words)words, text[i], wanted[words][i]);
    /* Perl parts bytes at white space of ASCII; the others also at U+00A0 and U+001C, and drop it at the end. */
    is_cut(XLM_BLEU_BLANKS, " a\tb\u00a0c, d\x1c \u00a0", "a|b\u00a0c,|d\x1c|\u00a0");
    is_cut(XLM_BLEU_NONE, " a\tb\u00a0c, d\x1c \u00a0", "a|b|c,|d");
    /* A line end in a text, which no file has. */
    is_cut(XLM_BLEU_13A, "split-\nted a\nb", "splitted|a|b");
    is_cut(XLM_BLEU_13A, "", "");
}

/* Lines that become shorter or longer, one after another in the same two arrays. */
static void test_lengths(void **state)
{
    static const struct { const char *text, *wanted; } parts[] = {{"&amp;", "&"}, {"a.", "a."}, {"!", "!"}};
    GArray *characters = g_array_new(FALSE, FALSE, sizeof(uint32_t)), *spare = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (size_t i = 0; i < 12; i++) {
        const int n = 20 << i;
        GString *line = g_string_new(NULL);
        const char *text = parts[i % G_N_ELEMENTS(parts)].text, *wanted = parts[i % G_N_ELEMENTS(parts)].wanted;
        const size_t size = strlen(wanted);
        size_t seen = 0;
        for (int k = 0; k < n; k++)
            g_string_append(line, text);
        xlm_bleu_read(line->str, XLM_BLEU_AS_IS, characters);
        xlm_bleu_cut(XLM_BLEU_13A, characters, spare);
        for (guint k = 0; k < characters->len; k++) {
            const uint32_t c = g_array_index(characters, uint32_t, k);
            if (c != ' ')
                assert_int_equal(c, wanted[seen++ % size]);
        }
        assert_int_equal(seen, (size_t)n * size);
        g_string_free(line, TRUE);
    }
    g_array_unref(characters);
    g_array_unref(spare);
    (void)state;
}

static void test_lower_case(void **state)
{
    (void)state;
    char *full = cut(XLM_BLEU_NONE, XLM_BLEU_LOWER, "\u0391\u03a3 \u00c4B \u0130");
    char *ascii = cut(XLM_BLEU_NONE, XLM_BLEU_LOWER_ASCII, "\u00c4BZ@[");
    assert_string_equal(full, "\u03b1\u03c2|\u00e4b|i\u0307");
    assert_string_equal(ascii, "\u00c4bz@[");
    g_free(full);
    g_free(ascii);
}

/* ---- counts and scores ---- */

enum { SENTENCES = 5 };
static const char *const hypotheses[SENTENCES] = {"The cat sat on the mat.", "", "Ein kleiner Hund",
                                                  "the the the the the the the", "a b c d e"};
static const char *const references[SENTENCES][2] = {{"The cat sat on a mat.", "A cat was sitting on the mat."},
                                                     {"x", ""},
                                                     {"Ein gro\u00dfer Hund bellt laut.", "Ein kleiner Hund"},
                                                     {"the cat is on the mat", "there is a cat on the mat"},
                                                     {"a b c d e", "a b c x e f"}};

typedef struct expected {
    const char *metric;
    xlm_metric_options options;
    int references;
    double score, of[SENTENCES]; /* of the text, of each sentence alone */
} expected;

/* sacreBLEU 2 gives these numbers. */
static const expected table[] = {
    {"bleu", {0}, 1, 37.03738756283517, {48.892302243490086, 0, 12.753667906901528, 7.809849842300637, 100}},
    {"bleu", {0}, 2, 58.57863277536539, {79.52707287670508, 0, 100, 7.809849842300637, 100}},
    {"bleu", {.smoothing = XLM_SMOOTH_FLOOR}, 1, 37.03738756283517,
     {48.892302243490086, 0, 5.495388912754995, 3.9281465090051304, 100}},
    {"bleu", {.smoothing = XLM_SMOOTH_FLOOR, .smooth_value = 0.5}, 1, 37.03738756283517,
     {48.892302243490086, 0, 16.068614659273926, 13.134549472120794, 100}},
    {"bleu", {.smoothing = XLM_SMOOTH_ADD_K}, 1, 40.620870051635585,
     {59.15463685222679, 0, 21.23952943896613, 19.20561263749893, 100}},
    {"bleu", {.smoothing = XLM_SMOOTH_NONE}, 2, 58.57863277536539, {79.52707287670508, 0, 100, 0, 100}},
    {"chrf", {0}, 1, 37.608738594676076, {71.42247563033848, 0, 24.485635899919885, 14.232426848159646, 100}},
    {"chrf", {0}, 2, 60.4198566227567, {71.42247563033848, 0, 100, 14.232426848159646, 100}},
    {"chrf", {.whitespace = true}, 1, 47.14604385154805, {78.36698683424935, 0, 28.07361018258849, 22.909130514779495, 100}},
    {"chrf++", {0}, 1, 41.00084698924301, {72.65910428863748, 0, 23.002398620427535, 14.71532900200283, 100}},
    {"chrf++", {0}, 2, 61.7087364983553, {72.65910428863748, 0, 100, 14.71532900200283, 100}},
    {"chrf++", {.epsilon = true}, 1, 40.9928714548129, {72.61202640933048, 0, 22.987903058687756, 14.706277672359272, 87.5}},
    {"chrf++", {.epsilon = true}, 2, 62.159649123926805, {72.61202640933048, 0, 100, 14.706277672359272, 87.5}},
};

static void test_scores(void **state)
{
    (void)state;
    for (size_t t = 0; t < G_N_ELEMENTS(table); t++) {
        xlm_translation_metric *metric = xlm_translation_metric_new(table[t].metric, &table[t].options, NULL);
        int64_t all[XLM_METRIC_COUNTS] = {0};
        assert_non_null(metric);
        for (int i = 0; i < SENTENCES; i++) {
            int64_t one[XLM_METRIC_COUNTS] = {0};
            xlm_translation_metric_add(metric, hypotheses[i], references[i], table[t].references, one);
            xlm_translation_metric_add(metric, hypotheses[i], references[i], table[t].references, all);
            assert_true(fabs(xlm_translation_metric_score_sentence(metric, one) - table[t].of[i]) < 1e-9);
        }
        assert_true(fabs(xlm_translation_metric_score(metric, all) - table[t].score) < 1e-9);
        xlm_translation_metric_free(metric);
    }
}

static void has_counts(const char *name, const char *hypothesis, const char *const *of, int n, const int64_t *wanted)
{
    xlm_translation_metric *metric = xlm_translation_metric_new(name, &(xlm_metric_options){0}, NULL);
    int64_t counts[XLM_METRIC_COUNTS] = {0};
    xlm_translation_metric_add(metric, hypothesis, of, n, counts);
    for (int i = 0; i < xlm_translation_metric_class(metric)->counts; i++)
        assert_int_equal(counts[i], wanted[i]);
    xlm_translation_metric_free(metric);
}

/* Counted by hand. */
static void test_counts(void **state)
{
    /* Of seven "the" the references have two and one: 2 count (Papineni et al. 2002); "cat" is in the second alone. References
     * of 10 and 6 words are as near to 8; the shorter one counts. */
    static const char *const cats[] = {"the green parrot is on the mat with a dog", "cat on the mat here now"};
    static const int64_t of_cats[] = {8, 6, 3, 0, 0, 0, 8, 7, 6, 5};
    /* Characters: ab.c, ab,c; words: (ab .) c, (ab ,) c. */
    static const char *const marks[] = {"ab, c"};
    static const int64_t of_marks[] = {4, 4, 3, 3, 3, 1, 2, 2, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 3, 3, 2, 2, 2, 0};
    /* A mark at the end of a word goes before one at its beginning: "(hi)" is "(hi" and ")", "(hi" is "(" and "hi"; "." stays. */
    static const char *const brackets[] = {"(hi ."};
    static const int64_t of_brackets[] = {5, 4, 4, 4, 3, 2, 3, 2, 1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 3, 3, 1, 2, 2, 0};
    (void)state;
    has_counts("bleu", "the the the the the the the cat", cats, 2, of_cats);
    has_counts("chrf++", "ab. c", marks, 1, of_marks);
    has_counts("chrf++", "(hi) .", brackets, 1, of_brackets);
}

/* multi-bleu.perl: words as they are, no smoothing, also for a sentence. */
static void test_multi_bleu(void **state)
{
    static const char *const of[] = {"a b c d e f, g"};
    xlm_translation_metric *metric = xlm_translation_metric_new("multi-bleu", &(xlm_metric_options){0}, NULL);
    int64_t counts[XLM_METRIC_COUNTS] = {0};
    (void)state;
    xlm_translation_metric_add(metric, "a b c d e f", of, 1, counts);
    const double wanted = 100 * exp(1 - 7 / 6.0) * pow(5 / 6.0 * 4 / 5.0 * 3 / 4.0 * 2 / 3.0, 0.25);
    assert_true(fabs(xlm_translation_metric_score(metric, counts) - wanted) < 1e-9);
    char *line = xlm_translation_metric_line(metric, counts, "X", "signature");
    assert_string_equal(line, "BLEU = X, 83.3/80.0/75.0/66.7 (BP=0.846, ratio=0.857, hyp_len=6, ref_len=7)");
    g_free(line);
    memset(counts, 0, sizeof counts);
    xlm_translation_metric_add(metric, "a b c", of, 1, counts);
    assert_true(xlm_translation_metric_score(metric, counts) == 0 && xlm_translation_metric_score_sentence(metric, counts) == 0);
    xlm_translation_metric_free(metric);
}

static void has_signature(const char *name, xlm_metric_options options, int64_t samples, bool sentence, const char *wanted)
{
    xlm_translation_metric *metric = xlm_translation_metric_new(name, &options, NULL);
    char *got = xlm_translation_metric_signature(metric, 3, samples, 7, sentence);
    assert_string_equal(got, wanted);
    g_free(got);
    xlm_translation_metric_free(metric);
}

static void test_signatures(void **state)
{
    GError *error = NULL;
    (void)state;
    has_signature("bleu", (xlm_metric_options){0}, 0, false,
                  "nrefs:3|case:mixed|eff:no|tok:13a|smooth:exp|version:xlm-mpi-" PACKAGE_VERSION);
    has_signature("bleu", (xlm_metric_options){XLM_BLEU_ZH, XLM_SMOOTH_FLOOR, .lowercase = true}, 1000, true,
                  "nrefs:3|bs:1000|seed:7|case:lc|eff:yes|tok:zh|smooth:floor[0.10]|version:xlm-mpi-" PACKAGE_VERSION);
    has_signature("chrf++", (xlm_metric_options){.whitespace = true, .epsilon = true}, 0, false,
                  "nrefs:3|case:mixed|eff:no|nc:6|nw:2|space:yes|version:xlm-mpi-" PACKAGE_VERSION);
    assert_null(xlm_translation_metric_new("chr", &(xlm_metric_options){0}, &error));
    assert_int_equal(error->code, EX_USAGE);
    g_clear_error(&error);
}

/* ---- the bootstrap ---- */

enum { SAMPLES = 400 };

static void test_bootstrap(void **state)
{
    static const double known[] = {5, 1, 4, 2, 3}, other[] = {5, 5, 5, 5, 5};
    static int64_t counts[SENTENCES][XLM_METRIC_COUNTS];
    static double scores[3][SAMPLES], many[80];
    xlm_translation_metric *metric = xlm_translation_metric_new("chrf++", &(xlm_metric_options){0}, NULL);
    double mean = 0, low = 100, high = 0;
    (void)state;
    for (int i = 0; i < SENTENCES; i++)
        xlm_translation_metric_add(metric, hypotheses[i], references[i], 1, counts[i]);
    for (int s = 0; s < 3; s++)
        xlm_bootstrap(metric, &counts[0][0], SENTENCES, s == 2, SAMPLES, scores[s]);
    assert_memory_equal(scores[0], scores[1], sizeof scores[0]);
    assert_memory_not_equal(scores[0], scores[2], sizeof scores[0]);
    /* Samples are spread between the worst sentence and the best. */
    for (int i = 0; i < SAMPLES; i++) {
        mean += scores[0][i] / SAMPLES;
        low = fmin(low, scores[0][i]);
        high = fmax(high, scores[0][i]);
    }
    assert_true(mean > 36 && mean < 46 && low < 25 && high > 70);
    /* Of one sentence all samples are it. */
    xlm_bootstrap(metric, &counts[0][0], 1, 3, 1, scores[2]);
    assert_true(fabs(scores[2][0] - table[9].of[0]) < 1e-9);
    for (int i = 0; i < 80; i++)
        many[i] = (i * 37) % 80; /* two are left out on either side */
    xlm_bootstrap_interval interval = xlm_bootstrap_find_interval(many, 80);
    assert_true(interval.low == 2 && interval.high == 77 && fabs(interval.mean - 39.5) < 1e-12);
    interval = xlm_bootstrap_find_interval(known, 5);
    assert_true(interval.low == 1 && interval.high == 5 && fabs(interval.mean - 3) < 1e-12);
    /* Differences 0 4 1 3 2, without their mean -2 2 -1 1 0. */
    assert_true(fabs(xlm_bootstrap_p(known, other, 5, -0.5) - 3 / 6.0) < 1e-12);
    assert_true(fabs(xlm_bootstrap_p(known, other, 5, 1) - 2 / 6.0) < 1e-12);
    assert_true(fabs(xlm_bootstrap_p(known, other, 5, 3) - 1 / 6.0) < 1e-12);
    assert_true(xlm_bootstrap_p(known, known, 5, 0) == 1);
    xlm_translation_metric_free(metric);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),      cmocka_unit_test(test_lengths),    cmocka_unit_test(test_lower_case), cmocka_unit_test(test_scores),
        cmocka_unit_test(test_counts),     cmocka_unit_test(test_multi_bleu), cmocka_unit_test(test_signatures),
        cmocka_unit_test(test_bootstrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
