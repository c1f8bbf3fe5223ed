/* xlm-mpi: tagging: readers, examples and measures against answers by hand. SPDX-License-Identifier: GPL-3.0-or-later */
#include "files_fixture.h"
#include "vocabulary_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options/options.h"
#include "tasks/results.h"
#include "tasks/tag_scores.h"
#include "tasks/tagged_text.h"
#include "tasks/tune_job.h"

/* ---- reading ---- */

static bool untagged, underscore; /* words without a tag are allowed; `_` is a tag */

/* "line:word/tag ... | ..." of a file; or its error, from the name of the file on. g_free. */
static char *read_back(const char *name, const char *text, const char *column)
{
    char *path = write_file(name, text);
    xlm_tagged_text *t = xlm_tagged_text_new();
    t->untagged = untagged;
    t->underscore = underscore;
    GError *error = NULL;
    GString *out = g_string_new(NULL);
    if (xlm_tagged_text_read(t, path, -1, column, &error)) {
        for (guint s = 0, i = 0; s < t->ends->len; s++) {
            g_string_append(out, s > 0 ? "| " : "");
            for (; i < g_array_index(t->ends, guint, s); i++) {
                const xlm_tagged_word *w = &g_array_index(t->words, xlm_tagged_word, i);
                assert_string_equal(w->path, path);
                g_string_append_printf(out, "%d:%s/%s ", (int)w->line, w->word, w->tag != NULL ? w->tag : "-");
            }
        }
    } else {
        assert_int_equal(error->code, EX_DATAERR);
        assert_true(g_str_has_prefix(error->message, path));
        g_string_append(out, error->message + strlen(directory) + 1);
        g_error_free(error);
    }
    xlm_tagged_text_free(t);
    g_free(path);
    return g_string_free(out, FALSE);
}

/* Also as a program on Windows would write the file. */
static void reads(const char *name, const char *text, const char *column, const char *expected)
{
    char *got = read_back(name, text, column);
    assert_string_equal(got, expected);
    g_free(got);
    GString *windows = g_string_new("\xef\xbb\xbf");
    for (const char *c = text; *c != '\0'; c++)
        g_string_append(windows, (*c == '\n' ? "\r\n" : *c == '\r' ? "" : (char[]){*c, '\0'}));
    got = read_back(name, windows->str, column);
    assert_string_equal(got, expected);
    g_free(got);
    g_string_free(windows, TRUE);
}

static void refuses(const char *name, const char *text, const char *column, const char *part)
{
    char *got = read_back(name, text, column);
    if (strstr(got, part) == NULL)
        fail_msg("no '%s' in: %s", part, got);
    g_free(got);
}

#define LINE(id, form, upos, xpos, feats, misc) id "\t" form "\tl\t" upos "\t" xpos "\t" feats "\t0\troot\t_\t" misc "\n"

static const char conllu[] = "# text = zum Haus\n"
    LINE("1-2", "zum", "_", "_", "_", "_")
    LINE("1", "zu", "ADP", "APPR", "_", "SpaceAfter=No|NER=O")
    LINE("2", "dem", "DET", "ART", "Case=Dat|Gender=Neut", "_")
    LINE("2.1", "leer", "X", "X", "_", "_")
    "\n\n# next\n"
    LINE("1", "New York", "PROPN", "NE", "Case=Nom", "NER=B-LOC")
    LINE("2", "#", "SYM", "$(", "_", "XNER=I-LOC|NER=I-LOC");

static void test_conllu(void **state)
{
    (void)state;
    reads("a.conllu", conllu, "upos", "3:zu/ADP 4:dem/DET | 9:New York/PROPN 10:#/SYM ");
    reads("a.conllu", conllu, "xpos", "3:zu/APPR 4:dem/ART | 9:New York/NE 10:#/$( ");
    reads("a.conllu", conllu, "NER", "3:zu/O 4:dem/O | 9:New York/B-LOC 10:#/I-LOC ");
    reads("a.conllu", conllu, "Case", "3:zu/O 4:dem/Dat | 9:New York/Nom 10:#/O ");
    refuses("a.conllu", conllu, "Nothing", "a.conllu: no word has Nothing=...");
    refuses("a.conllu", LINE("1", "a", "_", "X", "_", "_"), "upos", "a.conllu:1: \"a\" has no upos");
    refuses("a.conllu", "\n" LINE("x", "a", "A", "X", "_", "_"), "upos", "a.conllu:2: ID `x` where word 1 belongs");
    refuses("a.conllu", LINE("1-", "a", "A", "X", "_", "_"), "upos", "a.conllu:1: ID `1-` where word 1 belongs");
    refuses("a.conllu", "1\ta\tA\n", "upos", "a.conllu:1: 3 columns between tabs; a line of CoNLL-U has 10");
    refuses("a.conllu", LINE("1", "a", "A", "X", "_", "NER="), "NER", "a.conllu:1: NER has no value");
    refuses("a.conllu", "# nothing\n\n", "upos", "a.conllu: there is no word");
    refuses("a.conllu", LINE("1", "a", "A", "X", "_", "_") "\n\xef\xbb\xbf" LINE("1", "a", "A", "X", "_", "_"), "upos",
            "a.conllu:3: ID `\xef\xbb\xbf" "1` where word 1 belongs");
    refuses("a.conllu", "# \xff\n" LINE("1", "a", "A", "X", "_", "_"), "upos", "a.conllu:1: byte 3: not UTF-8 (0xff)");
    refuses("a.conllu", LINE("1", "", "A", "X", "_", "_"), "upos", "a.conllu:1: an empty column");
}

static void test_pairs(void **state)
{
    (void)state;
    reads("a.tsv", "a\tX\n#\tY\n\n\nb c\tX\r\n\r\nd\tZ", "upos", "1:a/X 2:#/Y | 5:b c/X | 7:d/Z ");
    refuses("a.tsv", "a\tX\nb X\n", "upos", "a.tsv:2: a line must have the form `token<tab>tag`");
    refuses("a.tsv", "a\tX\tY\n", "upos", "a.tsv:1: a line must");
    refuses("a.tsv", "\tX\n", "upos", "a.tsv:1: a line must");
    refuses("a.tsv", conllu + strlen("# text = zum Haus\n"), "upos",
            "a.tsv:1: a line must have the form `token<tab>tag`, or be empty after a sentence; it looks like CoNLL-U, which is "
            "known by its name: it ends in .conllu, plain or compressed (.conllu.gz)");
    refuses("a.tsv", "a\tX\n\xc3\tX\n", "upos", "a.tsv:2: byte 1: not UTF-8 (0xc3)");
    refuses("a.tsv", "\n \n", "upos", "a.tsv: there is no word");
}

/* Columns between blanks, as CoNLL-2000 to 2003 have them. */
static void test_columns(void **state)
{
    (void)state;
    static const char conll[] = "-DOCSTART- -X- -X- O\n\nEU NNP B-NP B-ORG\nrejects VBZ B-VP O\n \n-DOCSTART- -X- O O\n\n"
                                "Peter  NNP B-NP B-PER \nBlackburn NNP I-NP I-PER\r\n";
    reads("eng.train", conll, "upos", "3:EU/B-ORG 4:rejects/O | 8:Peter/B-PER 9:Blackburn/I-PER ");
    reads("eng.train", conll, "4", "3:EU/B-ORG 4:rejects/O | 8:Peter/B-PER 9:Blackburn/I-PER ");
    reads("eng.train", conll, "2", "3:EU/NNP 4:rejects/VBZ | 8:Peter/NNP 9:Blackburn/NNP ");
    reads("esp.train", "Melbourne B-LOC\n( O\n\n", "upos", "1:Melbourne/B-LOC 2:(/O ");
    reads("a.tsv", "-DOCSTART-\tO\n\na b\tX\n", "upos", "3:a b/X ");
    refuses("eng.train", "a X\nb Y Z\n", "upos", "eng.train:2: 3 columns between blanks, where the lines before have 2");
    refuses("eng.train", "a\nb Y\n", "upos", "eng.train:1: a line must have the form");
    /* CoNLL-U under another name: its comments are taken as columns between blanks. */
    refuses("fr.txt", "# sent_id = 1\n# text = zum schönen Haus\n", "upos", "fr.txt:2: 6 columns between blanks, where the lines "
            "before have 4; it looks like CoNLL-U, which is known by its name: it ends in .conllu, plain or compressed "
            "(.conllu.gz)");
    refuses("fr.txt", conllu, "upos", "the form `token<tab>tag`, or columns between blanks as `token POS chunk tag`, or be empty after "
            "a sentence; it looks like CoNLL-U");
    refuses("eng.train", "a X\nb Y Z\n", "upos", "before have 2");
    char *path = write_file("eng.train", conll);
    for (const char *const *column = (const char *const[]){"1", "5", "NER", NULL}; *column != NULL; column++) {
        xlm_tagged_text *t = xlm_tagged_text_new();
        GError *error = NULL;
        assert_false(xlm_tagged_text_read(t, path, -1, *column, &error));
        assert_int_equal(error->code, EX_CONFIG);
        assert_non_null(strstr(error->message, "of its 4 columns between blanks the tag is chosen by a number, 2 to 4"));
        g_error_free(error);
        xlm_tagged_text_free(t);
    }
    xlm_tagged_text *t = xlm_tagged_text_new();
    assert_true(xlm_tagged_text_read(t, path, 1, "upos", NULL));
    assert_int_equal(t->document_lines, 2);
    assert_int_equal(t->rewritten, 0);
    xlm_tagged_text_free(t);
    g_free(path);
}

/* Text that is only to be predicted. */
static void test_untagged(void **state)
{
    (void)state;
    refuses("a.txt", "a\nb\n", "upos", "a.txt:1: a line must have the form");
    refuses("a.tsv", "a\t\n", "upos", "a.tsv:1: a line must have the form");
    untagged = true;
    reads("a.conllu", LINE("1", "a", "_", "X", "_", "NER=_") LINE("2", "b", "N", "_", "_", "_"), "upos", "1:a/- 2:b/N ");
    reads("a.conllu", LINE("1", "a", "_", "X", "_", "NER=_") LINE("2", "b", "N", "_", "_", "_"), "xpos", "1:a/X 2:b/- ");
    reads("a.conllu", LINE("1", "a", "_", "X", "_", "NER=_") LINE("2", "b", "N", "_", "_", "_"), "NER", "1:a/- 2:b/O ");
    reads("a.conllu", LINE("1", "a", "_", "X", "_", "_") "\n" LINE("1", "b", "N", "_", "_", "_"), "NER", "1:a/- | 3:b/- ");
    reads("a.txt", "a\nb\n\nc \n", "upos", "1:a/- 2:b/- | 4:c/- ");
    reads("a.txt", "a\nb\tX\nc\n", "upos", "1:a/- 2:b/X 3:c/- ");
    reads("a.tsv", "a\t\nb c\t_\n\nd\nI\tI-X\n", "upos", "1:a/- 2:b c/- | 4:d/- 5:I/B-X ");
    reads("eng.test", "a NNP B-NP\nb _ _\n", "4", "1:a/- 2:b/- ");
    reads("eng.test", "a NNP B-NP\nb _ _\n", "upos", "1:a/B-NP 2:b/- ");
    refuses("a.tsv", "a\tX\tY\n", "upos", "a.tsv:1: a line must");
    refuses("a.tsv", "\tX\n", "upos", "a.tsv:1: a line must");
    refuses("a.txt", "a\nb c\n", "upos", "a.txt:2: 2 columns between blanks, where the lines before have 1");
    underscore = true;
    reads("a.tsv", "a\t\nb\t_\n", "upos", "1:a/- 2:b/_ ");
    reads("a.conllu", LINE("1", "a", "_", "X", "_", "NER=_"), "NER", "1:a/_ ");
    underscore = false;
    untagged = false;
}

/* IOB1 becomes BIO; what is BIO, or neither, stays. A file by itself. */
static void test_iob1(void **state)
{
    (void)state;
    reads("iob1", "a I-PER\nb I-PER\nc B-PER\nd I-LOC\ne O\nf I-LOC\n\ng I-LOC\nh B-LOC\n", "upos",
          "1:a/B-PER 2:b/I-PER 3:c/B-PER 4:d/B-LOC 5:e/O 6:f/B-LOC | 8:g/B-LOC 9:h/B-LOC ");
    reads("iob1.tsv", "a\tI-PER\n\nb\tI-PER\nc\tI-PER\n", "upos", "1:a/B-PER | 3:b/B-PER 4:c/I-PER ");
    reads("bio", "a B-PER\nb I-PER\nc B-PER\n", "upos", "1:a/B-PER 2:b/I-PER 3:c/B-PER ");
    reads("both", "a B-PER\nb O\nc I-PER\n", "upos", "1:a/B-PER 2:b/O 3:c/I-PER ");
    reads("others", "a I-PER\nb NOUN\n", "upos", "1:a/I-PER 2:b/NOUN ");
    char *bio_path = write_file("bio", "a B-PER\n"), *iob1_path = write_file("iob1", "a I-LOC\nb I-LOC\n");
    xlm_tagged_text *t = xlm_tagged_text_new();
    assert_true(xlm_tagged_text_read(t, bio_path, 0, "upos", NULL) && xlm_tagged_text_read(t, iob1_path, 0, "upos", NULL));
    assert_int_equal(t->rewritten, 1);
    assert_string_equal(g_array_index(t->words, xlm_tagged_word, 1).tag, "B-LOC");
    assert_string_equal(g_array_index(t->words, xlm_tagged_word, 2).tag, "I-LOC");
    xlm_tagged_text_free(t);
    g_free(bio_path);
    g_free(iob1_path);
}

/* ---- measures ---- */

static double measure_of(const xlm_task_scores *scores, const char *name)
{
    for (guint i = 0; i < scores->measures->len; i++)
        if (strcmp(g_array_index(scores->measures, xlm_measure, i).name, name) == 0)
            return g_array_index(scores->measures, xlm_measure, i).value;
    return NAN;
}

static void has_row(const xlm_task_scores *scores, const char *kind, const char *name, int gold, int predicted, int right)
{
    for (guint i = 0; i < scores->rows->len; i++) {
        const xlm_task_row *r = &g_array_index(scores->rows, xlm_task_row, i);
        if (strcmp(r->kind, kind) != 0 || strcmp(r->name, name) != 0)
            continue;
        if (r->gold != gold || r->predicted != predicted || r->right != right)
            fail_msg("%s %s: %d %d %d", kind, name, (int)r->gold, (int)r->predicted, (int)r->right);
        return;
    }
    fail_msg("no row %s %s", kind, name);
}

static void near(double got, double expected)
{
    if (!(fabs(got - expected) < 1e-12))
        fail_msg("%.15g instead of %.15g", got, expected);
}

enum { B_LOC, B_PER, I_LOC, I_PER, O };
static char *bio[] = {(char *)"B-LOC", (char *)"B-PER", (char *)"I-LOC", (char *)"I-PER", (char *)"O", NULL};

static void test_spans(void **state)
{
    (void)state;
    /* Five sentences. Spans of gold: PER 0-2, LOC 3-4 | PER 0-2, PER 2-3, LOC 4-5 (an I- after O begins one) | LOC 0-1, PER 1-2
     * (of another type) | LOC | LOC (not across sentences): 9. Predicted: both | PER 0-3, LOC 4-5 | LOC 0-2 | LOC | LOC: 7, of
     * which 2, 1, 0, 1, 1 are right. */
    static const int32_t gold[] = {B_PER, I_PER, O, B_LOC, I_PER, I_PER, B_PER, O, I_LOC, B_LOC, I_PER, B_LOC, I_LOC};
    static const int32_t predicted[] = {B_PER, I_PER, O, B_LOC, B_PER, I_PER, I_PER, O, I_LOC, B_LOC, I_LOC, B_LOC, I_LOC};
    static const uint32_t ends[] = {4, 9, 11, 12, 13};
    const xlm_tag_pairs pairs = {.words = 13, .sentences = 5, .gold = gold, .predicted = predicted, .ends = ends, .labels = bio,
                                 .classes = 5, .bio = true};
    xlm_task_scores *s = xlm_task_scores_new();
    xlm_tag_scores(&pairs, s);
    near(measure_of(s, "span_f1"), 2.0 * 5 / (9 + 7));
    has_row(s, "span", "PER", 4, 2, 1);
    has_row(s, "span", "LOC", 5, 5, 4);
    has_row(s, "span", "all", 9, 7, 5);
    near(measure_of(s, "accuracy"), 10.0 / 13);
    near(measure_of(s, "micro_f1"), 8.0 / 11); /* without O */
    near(measure_of(s, "macro_f1"), (1.0 / 2 + 4.0 / 7 + 1 + 4.0 / 5) / 4);
    has_row(s, "tag", "I-PER", 4, 3, 2);
    has_row(s, "tag", "O", 2, 2, 2);
    xlm_task_scores_free(s);
}

/* No span on either side, and all right. */
static void test_no_spans(void **state)
{
    (void)state;
    static const int32_t gold[] = {O, O};
    static const uint32_t ends[] = {2};
    const xlm_tag_pairs pairs = {.words = 2, .sentences = 1, .gold = gold, .predicted = gold, .ends = ends, .labels = bio,
                                 .classes = 5, .bio = true};
    xlm_task_scores *s = xlm_task_scores_new();
    xlm_tag_scores(&pairs, s);
    near(measure_of(s, "span_f1"), 0);
    near(measure_of(s, "accuracy"), 1);
    near(measure_of(s, "macro_f1"), 0);
    assert_int_equal(s->rows->len, 1); /* O alone */
    xlm_task_scores_free(s);
}

/* Tags that the model does not have are spans that it misses, also those that are not BIO. */
static void test_other_tags(void **state)
{
    (void)state;
    enum { B_MISC = 5, I_MISC, PER, ORGAN };
    static char *labels[] = {(char *)"B-LOC", (char *)"B-PER", (char *)"I-LOC", (char *)"I-PER", (char *)"O", (char *)"B-MISC",
                             (char *)"I-MISC", (char *)"PER", (char *)"ORGAN", NULL};
    /* Gold: PER 0-1, MISC 2-4, "PER" 4-5, "ORGAN" 5-6, "ORGAN" 6-7. Predicted: PER 0-1, LOC 2-4, PER 4-5. */
    static const int32_t gold[] = {B_PER, O, B_MISC, I_MISC, PER, ORGAN, ORGAN};
    static const int32_t predicted[] = {B_PER, O, B_LOC, I_LOC, B_PER, O, O};
    static const uint32_t ends[] = {7};
    const xlm_tag_pairs pairs = {.words = 7, .sentences = 1, .gold = gold, .predicted = predicted, .ends = ends, .labels = labels,
                                 .classes = 9, .bio = true};
    xlm_task_scores *s = xlm_task_scores_new();
    xlm_tag_scores(&pairs, s);
    near(measure_of(s, "accuracy"), 2.0 / 7);
    near(measure_of(s, "micro_f1"), 2.0 * 1 / (6 + 4));
    near(measure_of(s, "macro_f1"), (2.0 * 1 / (1 + 2)) / 7); /* B-PER; B-LOC, I-LOC, B-MISC, I-MISC, PER, ORGAN: 0 */
    near(measure_of(s, "span_f1"), 2.0 * 1 / (5 + 3));
    has_row(s, "span", "MISC", 1, 0, 0);
    has_row(s, "span", "PER", 2, 2, 1);
    has_row(s, "span", "ORGAN", 2, 0, 0);
    has_row(s, "tag", "B-MISC", 1, 0, 0);
    xlm_task_scores_free(s);
}

static void test_tags(void **state)
{
    (void)state;
    static char *labels[] = {(char *)"A", (char *)"B", (char *)"C", (char *)"D", NULL};
    /* A: 3 gold, 2 predicted, 2 right, F1 4/5; B: 1, 2, 1, 2/3; C: 1, 0, 0, 0; D: neither, left out of the mean; but predicted
     * once below.
     * */
    static const int32_t gold[] = {0, 0, 0, 1, 2}, predicted[] = {0, 0, 1, 1, 3};
    static const uint32_t ends[] = {5};
    const xlm_tag_pairs pairs = {.words = 5, .sentences = 1, .gold = gold, .predicted = predicted, .ends = ends, .labels = labels,
                                 .classes = 4};
    xlm_task_scores *s = xlm_task_scores_new();
    xlm_tag_scores(&pairs, s);
    near(measure_of(s, "accuracy"), 3.0 / 5);
    near(measure_of(s, "micro_f1"), 3.0 / 5);
    near(measure_of(s, "macro_f1"), (4.0 / 5 + 2.0 / 3) / 4);
    assert_true(isnan(measure_of(s, "span_f1")));
    near(measure_of(s, "run_f1"), 0); /* gold AAA B C, predicted AA BB D */
    assert_int_equal(s->rows->len, 4);
    has_row(s, "tag", "D", 0, 1, 0);
    xlm_task_scores_free(s);
    static const int32_t never[] = {0, 0, 1, 1, 0};
    const xlm_tag_pairs fewer = {.words = 5, .sentences = 1, .gold = gold, .predicted = never, .ends = ends, .labels = labels,
                                 .classes = 4};
    s = xlm_task_scores_new();
    xlm_tag_scores(&fewer, s);
    near(measure_of(s, "macro_f1"), (4.0 / 6 + 2.0 / 3 + 0) / 3);
    assert_int_equal(s->rows->len, 3);
    xlm_task_scores_free(s);
    /* Two sentences, in each of which tags begin anew: gold AA O AA | A, predicted A OO AA | A, where "O" is a tag. */
    static char *with_o[] = {(char *)"A", (char *)"O", NULL};
    static const int32_t gold_runs[] = {0, 0, 1, 0, 0, 0}, predicted_runs[] = {0, 1, 1, 0, 0, 0};
    static const uint32_t both[] = {5, 6};
    const xlm_tag_pairs runs = {.words = 6, .sentences = 2, .gold = gold_runs, .predicted = predicted_runs, .ends = both,
                                .labels = with_o, .classes = 2};
    s = xlm_task_scores_new();
    xlm_tag_scores(&runs, s);
    near(measure_of(s, "run_f1"), 2.0 * 2 / (4 + 4));
    xlm_task_scores_free(s);
}

static void test_bio(void **state)
{
    (void)state;
    assert_true(xlm_tags_are_bio(bio));
    assert_false(xlm_tags_are_bio((char *[]){(char *)"O", NULL}));
    assert_false(xlm_tags_are_bio((char *[]){(char *)"B-PER", (char *)"NOUN", NULL}));
    assert_false(xlm_tags_are_bio((char *[]){(char *)"O", (char *)"I", NULL}));
}

/* ---- examples ---- */

/* "language(id id*target ...)" of every example, * at what is predicted. g_free. */
static char *show(const xlm_examples *e)
{
    GString *out = g_string_new(NULL);
    xlm_arena *arena = xlm_arena_new();
    for (int64_t i = 0; i < xlm_examples_count(e); i++) {
        const uint32_t instance = 0;
        xlm_batch b;
        assert_true(xlm_examples_read(e, 1, &i, &instance, arena, &b, NULL));
        g_string_append_printf(out, "%d(", b.corrupted.languages[0]);
        for (int32_t k = 0, m = 0; k < b.corrupted.tokens; k++) {
            assert_int_equal(b.corrupted.languages[k], b.corrupted.languages[0]);
            g_string_append_printf(out, "%s%d", k > 0 ? " " : "", b.corrupted.ids[k]);
            if (m < b.predicted && b.predicted_rows[m] == k)
                g_string_append_printf(out, "*%d", b.targets[m++]);
        }
        g_string_append(out, ")");
    }
    xlm_arena_free(arena);
    return g_string_free(out, FALSE);
}

static void test_examples(void **state)
{
    (void)state;
    const xlm_task *task = xlm_task_find("tagging", NULL);
    assert_non_null(task);
    xlm_task_state *of = xlm_task_state_read(task, "test", "column = upos\n", NULL, NULL);
    const xlm_loss self = {.cls = &task->loss, .name = "tagging", .state = of};
    xlm_vocabulary *v = vocabulary_of_letters();
    GError *error = NULL;
    const xlm_task_encoder encoder = {.tokenizer = xlm_tokenizer_new(v, NULL), .length = 8};
    /* Words of one, two and three subwords, one of capitals, one of nothing but a soft hyphen, one unknown; a sentence that fits,
     * one that is cut in two; in another language, a word of more subwords than an example holds. */
    char *path = write_file("a.tsv", "a\tX\nBC\tY\n\xC2\xAD\tZ\nz\tX\n\nbbc\tX\nbbc\tY\na\tZ\n");
    char *other = write_file("b.tsv", "bbbbbbbbc\tY\na\tX\n");
    const xlm_task_source sources[] = {{1, "de", path}, {0, "en", other}};
    void *text = task->read(&self, sources, 2, NULL);
    assert_non_null(text);
    char **labels = task->labels(&self, text, NULL);
    assert_true(g_strv_equal((const char *const *)labels, (const char *const[]){"X", "Y", "Z", NULL}));
    of->labels = labels;
    of->classes = 3;
    xlm_examples *e = xlm_examples_new(&xlm_own_special_tokens);
    GString *description = g_string_new(NULL);
    assert_true(task->encode(&self, text, &encoder, e, description, &error));
    char *got = show(e);
    assert_string_equal(got, "1(0 5*0 6*1 8 3*2 3*0 2)1(0 6*0 6 8 6*1 6 8 2)1(0 5*2 2)0(0 6*1 6 6 6 6 6 2)0(0 5*0 2)");
    assert_string_equal(description->str,
                        "3 sentences, 9 words, 29 tokens; cuts between words: 2; words longer than an example, read in part: 1; "
                        "words without a subword, read as <unk>: 1");
    assert_int_equal(xlm_examples_longest(e), 8);

    /* Printed and scored predictions are in the order of words. */
    const double predictions[9][2] = {{0, 1}, {0, 1}, {2, 1}, {0, 1}, {0, 1}, {1, 1}, {2, 1}, {1, 1}, {1, 1}};
    GString *out = g_string_new(NULL);
    assert_int_equal(task->width(&self), 2);
    task->print(&self, text, predictions[0], out);
    assert_string_equal(out->str,
                        "a\tX\tX\nBC\tY\tX\n\xC2\xAD\tZ\tZ\nz\tX\tX\n\n"
                        "bbc\tX\tX\nbbc\tY\tY\na\tZ\tZ\n\nbbbbbbbbc\tY\tY\na\tX\tY\n\n");
    xlm_task_scores *scores = xlm_task_scores_new();
    task->score(&self, text, predictions[0], scores);
    assert_string_equal(g_array_index(scores->measures, xlm_measure, 0).name, "accuracy");
    near(g_array_index(scores->measures, xlm_measure, 0).value, 7.0 / 9);
    static const int64_t counts[] = {3, 1, 0, 1, 2, 0, 0, 0, 2}; /* gold by rows */
    assert_true(g_strv_equal((const char *const *)scores->confusion.names, (const char *const *)labels));
    assert_memory_equal(scores->confusion.counts, counts, sizeof counts);
    xlm_task_scores_free(scores);

    /* A word without a tag has no target, and does not count. */
    xlm_tagged_word *some = &g_array_index(((xlm_tagged_text *)text)->words, xlm_tagged_word, 1);
    const char *const tags[] = {some[0].tag, some[2].tag};
    some[0].tag = some[2].tag = NULL;
    assert_int_equal(task->items(text).all, 9);
    assert_int_equal(task->items(text).gold, 7);
    xlm_examples *bare = xlm_examples_new(&xlm_own_special_tokens);
    assert_true(task->encode(&self, text, &encoder, bare, description, &error));
    g_free(got);
    got = show(bare);
    assert_string_equal(got, "1(0 5*0 6*-1 8 3*2 3*-1 2)1(0 6*0 6 8 6*1 6 8 2)1(0 5*2 2)0(0 6*1 6 6 6 6 6 2)0(0 5*0 2)");
    xlm_examples_free(bare);
    scores = xlm_task_scores_new();
    task->score(&self, text, predictions[0], scores);
    near(measure_of(scores, "accuracy"), 6.0 / 7);
    assert_int_equal(g_array_index(scores->measures, xlm_measure, 0).terms, 7);
    xlm_task_scores_free(scores);
    g_string_truncate(out, 0);
    task->print(&self, text, predictions[0], out);
    assert_true(g_str_has_prefix(out->str, "a\tX\tX\nBC\t_\tX\n\xC2\xAD\tZ\tZ\nz\t_\tX\n\n"));
    some[0].tag = tags[0];
    some[2].tag = tags[1];

    /* A tag that is no label has no target and counts as wrong, with a row of its own. */
    of->labels = (char *[]){(char *)"X", (char *)"Y", NULL};
    of->classes = 2;
    xlm_examples *fewer = xlm_examples_new(&xlm_own_special_tokens);
    assert_true(task->encode(&self, text, &encoder, fewer, description, &error));
    g_free(got);
    got = show(fewer);
    assert_string_equal(got, "1(0 5*0 6*1 8 3*-1 3*0 2)1(0 6*0 6 8 6*1 6 8 2)1(0 5*-1 2)0(0 6*1 6 6 6 6 6 2)0(0 5*0 2)");
    xlm_examples_free(fewer);
    static const double predicted[9][2] = {{0, 1}, {1, 1}, {0, 1}, {0, 1}, {0, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 1}};
    scores = xlm_task_scores_new();
    task->score(&self, text, predicted[0], scores);
    near(measure_of(scores, "accuracy"), 7.0 / 9);
    near(measure_of(scores, "unseen_tags"), 2.0 / 9);
    has_row(scores, "tag", "Z", 2, 0, 0);
    static const int64_t others[] = {4, 0, 0, 0, 3, 0, 1, 1, 0}; /* Z is no label, but a row */
    assert_memory_equal(scores->confusion.counts, others, sizeof others);
    near(measure_of(scores, "macro_f1"), (8.0 / 9 + 6.0 / 7 + 0) / 3);
    xlm_task_scores_free(scores);
    /* When all are such, it is another tag set. */
    of->labels = (char *[]){(char *)"A", (char *)"B", NULL};
    assert_false(task->encode(&self, text, &encoder, e, description, &error));
    assert_int_equal(error->code, EX_DATAERR);
    assert_non_null(strstr(error->message, "a.tsv:1: neither the tag \"X\" (of \"a\") nor any other of this text is in the "
                                           "training text, which has A, B;"));
    g_clear_error(&error);

    g_string_free(out, TRUE);
    g_string_free(description, TRUE);
    g_free(got);
    xlm_examples_free(e);
    g_strfreev(labels);
    task->read_free(text);
    g_free(path);
    g_free(other);
    xlm_tokenizer_free(encoder.tokenizer);
    xlm_vocabulary_free(v);
    xlm_options_free(task->loss.options, of);
    g_free(of);
}

/* The csv of n classes, one thing of the first of which is taken for the second, and whose table has this many rows. */
static void has_confusions(int n, int rows)
{
    g_auto(GStrv) names = g_new0(char *, n + 1);
    for (int c = 0; c < n; c++)
        names[c] = g_strdup_printf("c%d", c);
    xlm_task_scores *scores = xlm_task_scores_new();
    xlm_task_scores_confuse(scores, names, 2, (const int32_t[]){0, n - 1}, (const int32_t[]){1, n - 1});
    const xlm_task_result result = {"none", scores};
    GString *csv = xlm_task_results_csv(&(xlm_task_results){.result = &result, .n = 1, .reference = -1});
    g_auto(GStrv) lines = g_strsplit(csv->str, "\n", -1);
    int found = 0;
    for (char **line = lines; *line != NULL; line++)
        found += g_str_has_prefix(*line, "confusion,");
    assert_int_equal(found, rows);
    assert_non_null(strstr(csv->str, "confusion,c0,,,,,c1,1\n"));
    g_string_free(csv, TRUE);
    xlm_task_scores_free(scores);
}

/* Of more classes than are printed, the csv has no rows of 0. */
static void test_confusions(void **state)
{
    (void)state;
    has_confusions(20, 400);
    has_confusions(21, 2);
}

/* Labels of a file that may be untrusted, in tables that a terminal shows. */
static void test_control_characters(void **state)
{
    (void)state;
    static char *const names[] = {(char *)"B-\x1b]0;x", (char *)"O", NULL};
    static const int32_t gold[] = {0, 1}, predicted[] = {0, 0};
    g_autofree xlm_task_row *counts = xlm_task_count(2, 2, gold, predicted);
    xlm_task_scores *scores = xlm_task_scores_new();
    xlm_task_scores_add_row(scores, "tag", names[0], &counts[0]);
    xlm_task_scores_confuse(scores, names, 2, gold, predicted);
    xlm_task_scores_add(scores, "accuracy", 0.5, 2);
    const xlm_task_result result = {"en", scores};
    const xlm_task_results results = {.result = &result, .n = 1, .reference = -1};
    char text[4096] = "";
    FILE *out = tmpfile();
    assert_non_null(out);
    xlm_task_results_print(&results, out);
    rewind(out);
    assert_in_range(fread(text, 1, sizeof text - 1, out), 1, sizeof text - 1);
    fclose(out);
    assert_null(strchr(text, '\x1b'));
    const char *row = strstr(text, "B-\\x1b]0;x"), *head = row != NULL ? strstr(row + 1, "B-\\x1b]0;x") : NULL;
    assert_true(head != NULL && strstr(head + 1, "B-\\x1b]0;x") != NULL);
    xlm_task_scores_free(scores);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conllu), cmocka_unit_test(test_pairs), cmocka_unit_test(test_columns),
        cmocka_unit_test(test_iob1),    cmocka_unit_test(test_spans), cmocka_unit_test(test_no_spans),
        cmocka_unit_test(test_other_tags), cmocka_unit_test(test_untagged),
        cmocka_unit_test(test_tags),   cmocka_unit_test(test_bio),   cmocka_unit_test(test_examples),
        cmocka_unit_test(test_confusions), cmocka_unit_test(test_control_characters),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
