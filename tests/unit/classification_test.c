/* xlm-mpi: classification: readers, examples, code-switching and measures against answers by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "files_fixture.h"
#include "vocabulary_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "options/options.h"
#include "tasks/labelled_text.h"
#include "tasks/parallel_items.h"
#include "tasks/tune_job.h"

/* ---- reading ---- */

static bool unlabelled; /* items without a label are allowed */

/* "line.row:label(first|second)id ..." of a file, then its form; or its error, from the name of the file on. g_free. columns: as
 * an option, NULL: none; code: of the error. */
static char *read_back(const char *name, const char *text, const char *language, const char *columns, bool leave_out, int code)
{
    char *path = write_file(name, text), **split = columns != NULL ? g_strsplit(columns, ",", -1) : NULL;
    xlm_labelled_text *t = xlm_labelled_text_new();
    GError *error = NULL;
    GString *out = g_string_new(NULL);
    const xlm_labelled_options options = {.columns = split, .leave_out_empty = leave_out, .unlabelled = unlabelled};
    if (xlm_labelled_text_read(t, path, language, 1, &options, &error)) {
        assert_int_equal(code, 0);
        for (guint i = 0; i < t->items->len; i++) {
            const xlm_labelled_item *item = &g_array_index(t->items, xlm_labelled_item, i);
            assert_string_equal(xlm_labelled_file_of(t, item)->path, path);
            g_string_append_printf(out, "%d.%d:%s(%s%s%s)%s ", (int)item->line, (int)item->row,
                                   item->label != NULL ? item->label : "-", item->sentence[0], item->sentence[1] != NULL ? "|" : "", item->sentence[1] != NULL ? item->sentence[1] : "",
                                   item->id != NULL ? item->id : "");
        }
        const xlm_labelled_file *file = &g_array_index(t->files, xlm_labelled_file, 0);
        g_string_append_printf(out, "%s; %d left out, %d empty", file->form, (int)file->unlabelled, (int)file->empty);
        if (file->parts > 0)
            g_string_append_printf(out, ", %d parts", (int)file->parts);
    } else {
        assert_int_equal(error->code, code);
        g_string_append(out, g_str_has_prefix(error->message, path) ? error->message + strlen(directory) + 1 : error->message);
        g_error_free(error);
    }
    xlm_labelled_text_free(t);
    g_strfreev(split);
    g_free(path);
    return g_string_free(out, FALSE);
}

/* Also as a program on Windows would write the file. */
static void reads(const char *name, const char *text, const char *language, const char *columns, const char *expected)
{
    char *got = read_back(name, text, language, columns, false, 0);
    assert_string_equal(got, expected);
    g_free(got);
    GString *windows = g_string_new("\xef\xbb\xbf");
    for (const char *c = text; *c != '\0'; c++)
        g_string_append(windows, (*c == '\n' ? "\r\n" : (char[]){*c, '\0'}));
    got = read_back(name, windows->str, language, columns, false, 0);
    assert_string_equal(got, expected);
    g_free(got);
    g_string_free(windows, TRUE);
}

static void refuses(const char *name, const char *text, const char *language, const char *columns, int code, const char *part)
{
    char *got = read_back(name, text, language, columns, false, code);
    if (strstr(got, part) == NULL)
        fail_msg("no '%s' in: %s", part, got);
    g_free(got);
}

/* Text that is only to be predicted. */
static void test_unlabelled(void **state)
{
    (void)state;
    static const char sst[] = "index\tsentence\n0\tA b\n", pairs[] = "\tA\tB\nx\tC\tD\n";
    refuses("test.tsv", "A b\nC\n", NULL, NULL, EX_DATAERR, "test.tsv:1: 1 column between tabs");
    refuses("test.tsv", pairs, NULL, NULL, EX_DATAERR, "test.tsv:1: the label is empty");
    unlabelled = true;
    reads("test.tsv", "A b\nC\n", NULL, NULL, "1.0:-(A b) 2.1:-(C) lines `sentence`; 0 left out, 0 empty");
    reads("test.tsv", pairs, NULL, NULL,
          "1.0:-(A|B) 2.1:x(C|D) lines `label<tab>sentence<tab>sentence`; 0 left out, 0 empty");
    reads("test.tsv", sst, NULL, NULL, "2.0:-(A b)0 columns sentence; 0 left out, 0 empty");
    reads("test.tsv", sst, NULL, "polarity,sentence", "2.0:-(A b)0 columns sentence; 0 left out, 0 empty");
    reads("test.tsv", "sentence\tA b\nphrase\tC\n", NULL, NULL,
          "1.0:sentence(A b) 2.1:phrase(C) lines `label<tab>sentence`; 0 left out, 0 empty");
    reads("test.tsv", "sentence\nA b\n", NULL, NULL, "2.0:-(A b) columns sentence; 0 left out, 0 empty");
    refuses("test.tsv", sst, NULL, "label,text", EX_CONFIG, "test.tsv:1: columns asks for \"text\"");
    reads("test.tsv", "id\tsentence1\tsentence2\n7\tA\tB\n", NULL, NULL,
          "2.0:-(A|B)7 columns sentence1, sentence2; 0 left out, 0 empty");
    reads("test.jsonl", "{\"text\": \"A\"}\n{\"text\": \"B\", \"label\": \"x\"}\n{\"text\": \"C\", \"label\": null}\n", NULL, NULL,
          "1.0:-(A) 2.1:x(B) 3.2:-(C) JSON objects with label, text; 0 left out, 0 empty");
    reads("test.jsonl", "{\"sentence1\": \"A\", \"sentence2\": \"B\"}\n"
          "{\"sentence1\": \"C\", \"sentence2\": \"D\", \"label\": \"x\"}\n", NULL, NULL,
          "1.0:-(A|B) 2.1:x(C|D) JSON objects with gold_label, sentence1, sentence2; 0 left out, 0 empty");
    char *got = read_back("a.tsv", "label\tsentence1\tsentence2\n\tA\tB\nx\tA\t\n", NULL, NULL, true, 0);
    assert_string_equal(got, "2.0:-(A|B) columns label, sentence1, sentence2; 0 left out, 1 empty");
    g_free(got);
    refuses("test.tsv", "\t\tB\n", NULL, NULL, EX_DATAERR, "test.tsv:1: the first sentence is empty");
    refuses("test.tsv", "A\n\nB\n", NULL, NULL, EX_DATAERR, "test.tsv:2: a line without text");
    unlabelled = false;
}

static const char xnli[] =
    "language\tgold_label\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1_parse\tsentence2_parse\tsentence1\tsentence2"
    "\tpromptID\tpairID\tgenre\tlabel1\tlabel2\tlabel3\tlabel4\tlabel5\tsentence1_tokenized\tsentence2_tokenized\tmatch\n"
    "de\tneutral\t\t\t\t\tEr \"sagte\".\tNein.\t1\t11\tface\tneutral\tneutral\tneutral\tneutral\tneutral\tx\ty\tTrue\n"
    "en\tneutral\t\t\t\t\tHe said.\tNo.\t1\t11\tface\tneutral\tneutral\tneutral\tneutral\tneutral\tx\ty\tTrue\n"
    "de\t-\t\t\t\t\tA.\tB.\t1\t12\tface\tneutral\tneutral\tneutral\tneutral\tneutral\tx\ty\tTrue\n"
    "de\tentailment\t\t\t\t\tC.\tD.\t1\t13\tface\tneutral\tneutral\tneutral\tneutral\tneutral\tx\ty\tTrue\n";

static void test_tables(void **state)
{
    (void)state;
    const char *names = "columns gold_label, sentence1, sentence2; 1 left out, 0 empty";
    char *expected = g_strconcat("2.0:neutral(Er \"sagte\".|Nein.)11 5.2:entailment(C.|D.)13 ", names, NULL);
    reads("xnli.dev.tsv", xnli, "de", NULL, expected);
    g_free(expected);
    reads("xnli.dev.tsv", xnli, "en", NULL,
          "3.0:neutral(He said.|No.)11 columns gold_label, sentence1, sentence2; 0 left out, 0 empty");
    expected = g_strconcat("2.0:neutral(Er \"sagte\".|Nein.)11 3.1:neutral(He said.|No.)11 5.3:entailment(C.|D.)13 ", names,
                           NULL);
    reads("xnli.dev.tsv", xnli, NULL, NULL, expected);
    g_free(expected);
    refuses("xnli.dev.tsv", xnli, "fr", NULL, EX_DATAERR,
            "xnli.dev.tsv: there is no line of language fr in it; it has de, en");
    /* XNLI's translations of MultiNLI. */
    reads("multinli.train.de.tsv", "premise\thypo\tlabel\nA b .\tC .\tcontradictory\nD .\tE .\tneutral\n", "de", NULL,
          "2.0:contradiction(A b .|C .) 3.1:neutral(D .|E .) columns label, premise, hypo; 0 left out, 0 empty");
    /* PAWS-X, of whose columns one is an id; a label of this name stays elsewhere. */
    reads("test_2k.tsv", "id\tsentence1\tsentence2\tlabel\n1\tA\tB\t0\n7\tC\tD\tcontradictory\n", NULL, NULL,
          "2.0:0(A|B)1 3.1:contradictory(C|D)7 columns label, sentence1, sentence2; 0 left out, 0 empty");
    /* MultiNLI, whose lines may end before the unused columns, or have empty columns after them. */
    reads("train.txt", "gold_label\tsentence1\tsentence2\tpairID\tlabel1\tlabel2\n"
          "-\tA\tB\t1e\tx\nx\tC\tD\t2e\ny\tE\tF\t3e\t\t\t\t",
          NULL, NULL, "3.1:x(C|D)2e 4.2:y(E|F)3e columns gold_label, sentence1, sentence2; 1 left out, 0 empty");
    /* Sentences of several languages side by side (myXNLI), and a column that no naming has. */
    static const char both[] = "genre\tlabel\tsentence1_en\tsentence2_en\tsentence1_my\tsentence2_my\nf\tx\tA\tB\tC\tD\n";
    reads("my.tsv", both, "my", NULL, "2.0:x(C|D) columns label, sentence1_my, sentence2_my; 0 left out, 0 empty");
    refuses("my.tsv", both, "de", NULL, EX_DATAERR, "my.tsv:1: the header lacks columns of a label and of sentences");
    reads("my.tsv", both, NULL, "genre,sentence2_my", "2.0:f(D) columns genre, sentence2_my; 0 left out, 0 empty");
    refuses("my.tsv", both, NULL, "genre,sentence3", EX_CONFIG, "my.tsv:1: columns asks for \"sentence3\", which is not there");
    refuses("my.tsv", both, NULL, "genre", EX_CONFIG, "columns names the label and one or two sentences, not 1 columns");
    refuses("a.tsv", "id\tsentence1\tlabel\n1\tA\t0\n", NULL, NULL, EX_DATAERR, "a.tsv:1: the header lacks");
    refuses("a.tsv", "label\tsentence1\tsentence2\nx\tA\tB\nx\tA\n", NULL, NULL, EX_DATAERR,
            "a.tsv:3: 2 columns between tabs, where the first line has 3");
    refuses("a.tsv", "label\tsentence1\tsentence2\nx\tA\tB\tC\n", NULL, NULL, EX_DATAERR, "a.tsv:2: 4 columns");
    refuses("a.tsv", "label\tsentence1\tsentence2\n", NULL, NULL, EX_DATAERR, "a.tsv: there is no item with a label");
    refuses("a.tsv", "gold_label\tsentence1\tsentence2\n-\tA\tB\n", NULL, NULL, EX_DATAERR, "a.tsv: there is no item with");
    refuses("a.tsv", "label\tsentence1\tsentence2\nx\tA\t \n", NULL, NULL, EX_DATAERR, "a.tsv:2: the sentence2 is empty");
    refuses("a.tsv", "label\tsentence1\tsentence2\n\tA\tB\n", NULL, NULL, EX_DATAERR, "a.tsv:2: the label is empty");
    char *got = read_back("a.tsv", "label\tsentence1\tsentence2\nx\tA\t\nx\tA\tB\n", NULL, NULL, true, 0);
    assert_string_equal(got, "3.1:x(A|B) columns label, sentence1, sentence2; 0 left out, 1 empty");
    g_free(got);
    /* PAWS-X's translations have lines without sentences, without label, and of tabs alone. */
    got = read_back("paws-x.tsv", "id\tsentence1\tsentence2\tlabel\n1\tA\t\t0\n2\tA\tB\t\n3\t\t\t\n\t\t\t\n4\tA\tB\t1\n", NULL,
                    NULL, true, 0);
    assert_string_equal(got, "6.4:1(A|B)4 columns label, sentence1, sentence2; 0 left out, 4 empty");
    g_free(got);
    refuses("paws-x.tsv", "id\tsentence1\tsentence2\tlabel\n1\tA\tB\t1\n\t\t\t\n2\tA\tB\t1\n", NULL, NULL, EX_DATAERR,
            "paws-x.tsv:3: a line without text");
    /* QQP has records that are broken over lines. */
    static const char qqp[] = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n1\t1\t2\tA\tB\t0\n2\t3\t4\tC\tD\nd\t1\n"
                              "3\t5\t6\tE\n\n\nF\t1\n4\t7\t8\tG\tH\t1\n\n";
    got = read_back("qqp.tsv", qqp, NULL, NULL, true, 0);
    assert_string_equal(got, "2.0:0(A|B)1 9.7:1(G|H)4 columns is_duplicate, question1, question2; 0 left out, 0 empty, 6 parts");
    g_free(got);
    refuses("qqp.tsv", qqp, NULL, NULL, EX_DATAERR, "qqp.tsv:3: 5 columns between tabs, where the first line has 6; leave such");
    got = read_back("a.tsv", "label\tsentence1\tsentence2\nx\tA\nx\tA\tB\tC\n", NULL, NULL, true, EX_DATAERR);
    assert_string_equal(got, "a.tsv:3: 4 columns between tabs, where the first line has 3");
    g_free(got);
    got = read_back("a.tsv", "x\tA\tB\nx\tA\n", NULL, NULL, true, EX_DATAERR);
    assert_string_equal(got, "a.tsv:2: 2 columns between tabs, where the first line has 3");
    g_free(got);
}

static void test_plain(void **state)
{
    (void)state;
    reads("a.tsv", "good\tA b\nbad\tC\n\n", NULL, NULL,
          "1.0:good(A b) 2.1:bad(C) lines `label<tab>sentence`; 0 left out, 0 empty");
    reads("a.tsv", "-\tA\tB\nx\tC\tD", NULL, NULL,
          "1.0:-(A|B) 2.1:x(C|D) lines `label<tab>sentence<tab>sentence`; 0 left out, 0 empty");
    /* CoLA */
    reads("cola.tsv", "gj04\t1\t\tOne more.\ngj04\t0\t*\tThem more.\n", NULL, "2,4",
          "1.0:1(One more.) 2.1:0(Them more.) columns by their numbers; 0 left out, 0 empty");
    refuses("cola.tsv", "gj04\t1\t\tOne more.\n", NULL, NULL, EX_DATAERR, "cola.tsv:1: 4 columns between tabs and no header");
    refuses("cola.tsv", "gj04\t1\t\tOne more.\n", NULL, "2,5", EX_DATAERR,
            "cola.tsv:1: columns asks for column 5, and the line has 4");
    /* A header would be an item with the class "label"; but a class may have the name of a column. */
    refuses("a.tsv", "id\tsentence1\tsentence2\tlabel\n1\tA\tB\t0\n", NULL, "4,2,3", EX_DATAERR, "a.tsv:1: it has a header");
    refuses("a.tsv", "g\tlabel\tsentence1_my\tsentence2_my\nf\tx\tA\tB\n", "my", "2,3", EX_DATAERR, "a.tsv:1: it has a header");
    refuses("a.tsv", "sentence\tlabel\nA\t0\n", NULL, "2,1", EX_DATAERR, "a.tsv:1: it has a header");
    reads("claims.tsv", "A\tpremise\nB\tclaim\n", NULL, "2,1",
          "1.0:premise(A) 2.1:claim(B) columns by their numbers; 0 left out, 0 empty");
    refuses("a.tsv", "just text\n", NULL, NULL, EX_DATAERR, "a.tsv:1: 1 column between tabs and no header");
    refuses("a.tsv", "x\tA\nx\tA\tB\n", NULL, NULL, EX_DATAERR, "a.tsv:2: 3 columns between tabs, where the first line has 2");
    refuses("a.tsv", "x\tA\n\nx\tB\n", NULL, NULL, EX_DATAERR, "a.tsv:2: a line without text");
    refuses("a.tsv", "x\tA\nx\t\xff\n", NULL, NULL, EX_DATAERR, "a.tsv:2: byte 3: not UTF-8 (0xff)");
    refuses("a.tsv", "\n", NULL, NULL, EX_DATAERR, "a.tsv: there is no item");
    refuses("a.tsv", "x\tA\nx\tB\n\xef\xbb\xbf" "x\n", NULL, NULL, EX_DATAERR, "a.tsv:3: 1 column between tabs");
    char *path = g_build_filename(directory, "zero.tsv", NULL);
    assert_true(g_file_set_contents(path, "x\tA\0B\n", 6, NULL));
    xlm_labelled_text *t = xlm_labelled_text_new();
    GError *error = NULL;
    assert_false(xlm_labelled_text_read(t, path, NULL, -1, &(xlm_labelled_options){0}, &error));
    assert_non_null(strstr(error->message, "zero.tsv:1: a byte 0"));
    g_clear_error(&error);
    g_free(path);
    /* A file of single sentences after one of pairs. */
    char *pairs = write_file("pairs.tsv", "x\tA\tB\n"), *single = write_file("single.tsv", "x\tA\n");
    assert_true(xlm_labelled_text_read(t, pairs, NULL, -1, &(xlm_labelled_options){0}, NULL));
    assert_false(xlm_labelled_text_read(t, single, NULL, -1, &(xlm_labelled_options){0}, &error));
    assert_non_null(strstr(error->message, "single.tsv:1: one sentence, where the files before have two"));
    g_error_free(error);
    xlm_labelled_text_free(t);
    g_free(pairs);
    g_free(single);
}

/* The complaint about the labels of a headerless file of n lines, the first `different` of which have labels of their own, and
 * the others the first one again; NULL: none. columns: as an option. g_free. */
static char *complaint_of(int n, int different, const char *sentences, char **columns)
{
    GString *text = g_string_new(NULL);
    for (int i = 0; i < n; i++)
        g_string_append_printf(text, "Er sagt \xc3\xa4%d\t%s\n", i < different ? i : 0, sentences);
    char *path = write_file("order.tsv", text->str), *complaint = NULL;
    xlm_labelled_text *t = xlm_labelled_text_new();
    GError *error = NULL;
    assert_true(xlm_labelled_text_read(t, path, NULL, -1, &(xlm_labelled_options){.columns = columns}, NULL));
    if (!xlm_labelled_text_check_labels(t, &error)) {
        assert_int_equal(error->code, EX_DATAERR);
        complaint = g_strdup(error->message + strlen(directory) + 1);
        g_error_free(error);
    }
    xlm_labelled_text_free(t);
    g_free(path);
    g_string_free(text, TRUE);
    return complaint;
}

/* Sentences, in the place of labels, are known by their number. */
static void test_order_of_columns(void **state)
{
    (void)state;
    static const struct {
        int n, different;
        bool good;
    } cases[] = {{650, 65, true}, {649, 65, false}, {640, 64, true}, {128, 64, true}, {127, 64, false}, {16, 8, true},
                 {8, 8, true}, {9, 9, false}, {18, 9, true}, {17, 9, false}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *complaint = complaint_of(cases[i].n, cases[i].different, "T\tx", NULL);
        if ((complaint == NULL) != cases[i].good)
            fail_msg("%d labels in %d lines: %s", cases[i].different, cases[i].n, complaint != NULL ? complaint : "taken");
        g_free(complaint);
    }
    char *complaint = complaint_of(100, 70, "T\tx", NULL);
    assert_string_equal(complaint, "order.tsv:70: the first column has 70 different values in 100 lines, the last new one \"Er "
                        "sagt \xc3\xa4" "69\", which are too many to be labels; of lines `sentence<tab>sentence<tab>label` say "
                        "columns = 3,1,2 (if they are labels: columns = 1,2,3)");
    g_free(complaint);
    complaint = complaint_of(100, 70, "x", NULL);
    assert_non_null(strstr(complaint, "say columns = 2,1 (if they are labels: columns = 1,2)"));
    g_free(complaint);
    assert_null(complaint_of(100, 70, "T\tx", (char *[]){"1", "2", "3", NULL}));
}

/* Twenty names of a list are shown. */
static void test_names(void **state)
{
    (void)state;
    char *names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t", NULL,
                     NULL, NULL};
    static const char twenty[] = "a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t";
    const char *ending[] = {"", " and 1 other", " and 2 others"};
    for (int more = 0; more < 3; more++) {
        char *expected = g_strconcat(twenty, ending[more], NULL), *got = xlm_names_some(names);
        assert_string_equal(got, expected);
        g_free(expected);
        g_free(got);
        if (more < 2)
            names[20 + more] = more == 0 ? "u" : "a";
    }
    GHashTable *index = xlm_names_index(names, 22);
    assert_int_equal(xlm_names_find(index, "a"), 0);
    assert_int_equal(xlm_names_find(index, "u"), 20);
    assert_int_equal(xlm_names_find(index, "v"), -1);
    g_hash_table_unref(index);
}

static void test_json(void **state)
{
    (void)state;
    static const char lines[] =
        "{\"annotator_labels\": [\"neutral\"], \"gold_label\": \"neutral\", \"language\": \"de\", \"pairID\": \"5e\", "
        "\"sentence1\": \"Er \\u00e4hm\\tsagte.\", \"sentence2\": \"Nein.\"}\n"
        "{\"gold_label\": \"-\", \"language\": \"de\", \"pairID\": \"6e\", \"sentence1\": \"A\", \"sentence2\": \"B\"}\n"
        "{\"sentence2\": \"D\", \"gold_label\": \"x\", \"language\": \"de\", \"pairID\": 7, \"sentence1\": \"C\"}\n"
        "{\"gold_label\": \"x\", \"language\": \"en\", \"pairID\": \"8e\", \"sentence1\": \"E\", \"sentence2\": \"F\"}\n";
    reads("xnli.dev.jsonl", lines, "de", NULL, "1.0:neutral(Er \xc3\xa4hm\tsagte.|Nein.)5e 3.2:x(C|D)7 "
          "JSON objects with gold_label, sentence1, sentence2; 1 left out, 0 empty");
    reads("a.jsonl", "{\"label\": 1, \"text\": \"A\"}\n{\"label\": true, \"text\": \"B\"}", NULL, NULL,
          "1.0:1(A) 2.1:true(B) JSON objects with label, text; 0 left out, 0 empty");
    reads("a.jsonl", "{\"q\": \"A\", \"class\": \"x\", \"label\": [1]}", NULL, "class,q",
          "1.0:x(A) JSON objects with class, q; 0 left out, 0 empty");
    refuses("a.jsonl", "{\"label\": 1, \"text\": \"A\"}\n{\"label\": 1, \"text\": \"A\", }\n", NULL, NULL, EX_DATAERR,
            "a.jsonl:2: byte 27: invalid JSON: ");
    refuses("a.jsonl", "{\"label\": 1, \"text\": \"A\"} x\n", NULL, NULL, EX_DATAERR, "a.jsonl:1: byte 27: invalid JSON");
    refuses("a.jsonl", "{\"label\": 1, \"text\": \"A\"}\n[1]\n", NULL, NULL, EX_DATAERR, "a.jsonl:2: not a JSON object");
    refuses("a.jsonl", "{\"label\": 1, \"text\": \"A\"}\n{\"label\": 1}\n", NULL, NULL, EX_DATAERR,
            "a.jsonl:2: the object has no \"text\"");
    reads("a.jsonl", "{\"label\": 4.0, \"text\": \"A\", \"id\": 7.0}\n{\"label\": 4, \"text\": \"B\"}\n"
          "{\"label\": -2e0, \"text\": \"C\"}", NULL, NULL,
          "1.0:4(A)7 2.1:4(B) 3.2:-2(C) JSON objects with label, text; 0 left out, 0 empty");
    static const char *const no_sentences[] = {"1", "4.0", "true", "1.5"};
    for (size_t i = 0; i < G_N_ELEMENTS(no_sentences); i++) {
        char *lines_of = g_strdup_printf("{\"label\": 1, \"text\": \"A\"}\n{\"label\": 1, \"text\": %s}\n", no_sentences[i]);
        refuses("a.jsonl", lines_of, NULL, NULL, EX_DATAERR, "a.jsonl:2: \"text\" is not text");
        g_free(lines_of);
    }
    refuses("a.jsonl", "{\"label\": 1, \"premise\": \"A\", \"hypothesis\": 12}\n", NULL, NULL, EX_DATAERR,
            "a.jsonl:1: \"hypothesis\" is not text but a number");
    refuses("a.jsonl", "{\"label\": 1, \"text\": \"A\"}\n{\"label\": 1, \"text\": [1]}\n", NULL, NULL, EX_DATAERR,
            "a.jsonl:2: \"text\" is not text");
    refuses("a.jsonl", "{\"label\": 1.5, \"text\": \"A\"}\n", NULL, NULL, EX_DATAERR, "a.jsonl:1: \"label\" is not text");
    refuses("a.jsonl", "{\"label\": 1, \"text\": \"A\\u0000\"}\n", NULL, NULL, EX_DATAERR, "a.jsonl:1: byte ");
    refuses("a.jsonl", "{\"label\": 1, \"label\": 2, \"text\": \"A\"}\n", NULL, NULL, EX_DATAERR, "a.jsonl:1: byte ");
    refuses("a.jsonl", "{\"label\": 1, \"context\": \"A\"}\n", NULL, NULL, EX_DATAERR, "a.jsonl:1: the first object lacks");
    refuses("a.jsonl", "{\"label\": 1, \"text\": \"\"}\n", NULL, NULL, EX_DATAERR, "a.jsonl:1: the text is empty");
}

/* ---- translations ---- */

static void pairs_are(const xlm_parallel_item *items, int64_t n, const xlm_parallel_file *files, int32_t k, xlm_pairing how,
                      bool by_id, const int64_t *expected)
{
    xlm_parallel_items parallel;
    assert_true(xlm_parallel_items_find(&parallel, items, n, files, k, "en", how, NULL));
    assert_int_equal(parallel.by_id, by_id);
    assert_memory_equal(parallel.partner, expected, sizeof *expected * (size_t)n);
    xlm_parallel_items_clear(&parallel);
}

static void pairs_fail(const xlm_parallel_item *items, int64_t n, const xlm_parallel_file *files, int32_t k, xlm_pairing how,
                       int code, const char *part)
{
    xlm_parallel_items parallel;
    GError *error = NULL;
    assert_false(xlm_parallel_items_find(&parallel, items, n, files, k, "en", how, &error));
    assert_int_equal(error->code, code);
    if (strstr(error->message, part) == NULL)
        fail_msg("no '%s' in: %s", part, error->message);
    g_error_free(error);
}

static void test_parallel(void **state)
{
    (void)state;
    /* Two files of de, then two of en, and one of fr. */
    static const xlm_parallel_file files[] = {{"a.de", "de"}, {"b.de", "de"}, {"a.en", "en"}, {"b.en", "en"}, {"a.fr", "fr"}};
    static const xlm_parallel_item by_line[] = {{NULL, 0, 0, 1}, {NULL, 0, 2, 3}, {NULL, 1, 0, 1}, {NULL, 2, 0, 1},
                                                {NULL, 2, 1, 2}, {NULL, 3, 0, 1}, {NULL, 4, 1, 2}};
    pairs_are(by_line, 7, files, 5, XLM_PAIRED_AUTO, false, (int64_t[]){3, -1, 5, -1, -1, -1, 4});
    pairs_fail(by_line, 7, files, 5, XLM_PAIRED_BY_ID, EX_DATAERR, "a.de:1: there is no id to find its translation by");
    static const xlm_parallel_item by_id[] = {{"x", 0, 0, 1}, {"y", 0, 1, 2}, {"z", 1, 0, 1}, {"z", 2, 0, 1}, {"w", 2, 1, 2},
                                              {"x", 3, 0, 1}, {"w", 4, 0, 1}};
    pairs_are(by_id, 7, files, 5, XLM_PAIRED_AUTO, true, (int64_t[]){5, -1, 3, -1, -1, -1, 4});
    pairs_are(by_id, 7, files, 5, XLM_PAIRED_BY_LINE, false, (int64_t[]){3, 4, 5, -1, -1, -1, 3});
    static const xlm_parallel_item twice[] = {{"x", 0, 0, 1}, {"x", 1, 0, 7}, {"x", 2, 0, 1}};
    pairs_are(twice, 3, files, 3, XLM_PAIRED_AUTO, false, (int64_t[]){2, -1, -1});
    pairs_fail(twice, 3, files, 3, XLM_PAIRED_BY_ID, EX_DATAERR, "b.de:7: id \"x\" is on a.de:1, too");
    pairs_fail(by_line, 3, files, 2, XLM_PAIRED_AUTO, EX_CONFIG, "code_switching = en: none of the training files");
    pairs_fail(by_line + 3, 0, files + 2, 2, XLM_PAIRED_AUTO, EX_CONFIG, "code_switching = en: every one of the training files");
}

/* ---- examples ---- */

/* "target(id id/language,type ...)": a language or type is printed where it changes. g_free. */
static char *show(const xlm_examples *e)
{
    GString *out = g_string_new(NULL);
    xlm_arena *arena = xlm_arena_new();
    for (int64_t i = 0; i < xlm_examples_count(e); i++) {
        const uint32_t instance = 0;
        xlm_batch b;
        assert_true(xlm_examples_read(e, 1, &i, &instance, arena, &b, NULL));
        assert_true(b.predicted == 1 && b.predicted_rows[0] == 0);
        g_string_append_printf(out, "%d(", b.targets[0]);
        for (int32_t k = 0; k < b.corrupted.tokens; k++) {
            g_string_append_printf(out, "%s%d", k > 0 ? " " : "", b.corrupted.ids[k]);
            if (k == 0 || b.corrupted.languages[k] != b.corrupted.languages[k - 1] || b.corrupted.types[k] != b.corrupted.types[k - 1])
                g_string_append_printf(out, "/%d,%d", b.corrupted.languages[k], b.corrupted.types[k]);
        }
        g_string_append(out, ")");
    }
    xlm_arena_free(arena);
    return g_string_free(out, FALSE);
}

/* A task with options, its text and vocabulary. */
typedef struct fixture {
    const xlm_task *task;
    xlm_task_state *of;
    xlm_loss self;
    xlm_vocabulary *vocabulary;
    xlm_tokenizer *tokenizer;
    void *text;
    char **labels;
} fixture;

static void set_up(fixture *f, const char *options, const xlm_task_source *sources, int64_t n)
{
    *f = (fixture){.task = xlm_task_find("classification", NULL)};
    assert_non_null(f->task);
    f->of = xlm_task_state_read(f->task, "test", options, NULL, NULL);
    assert_non_null(f->of);
    f->self = (xlm_loss){.cls = &f->task->loss, .name = "classification", .state = f->of};
    f->vocabulary = vocabulary_of_letters();
    f->tokenizer = xlm_tokenizer_new(f->vocabulary, NULL);
    f->text = f->task->read(&f->self, sources, n, NULL);
    assert_non_null(f->text);
    f->labels = f->of->labels = f->task->labels(&f->self, f->text, NULL);
    assert_non_null(f->labels);
    f->of->classes = g_strv_length(f->labels);
}

static void tear_down(fixture *f)
{
    g_strfreev(f->labels);
    f->task->read_free(f->text);
    xlm_tokenizer_free(f->tokenizer);
    xlm_vocabulary_free(f->vocabulary);
    xlm_options_free(f->task->loss.options, f->of);
    g_free(f->of);
}

/* Reads the text; expected NULL: an error with code and message, else the end of the description. */
static void encodes(const fixture *f, bool training, int64_t length, const char *expected, int code, const char *message)
{
    const xlm_task_encoder encoder = {.tokenizer = f->tokenizer, .length = length, .training = training};
    xlm_examples *e = xlm_examples_new(xlm_vocabulary_specials(f->vocabulary));
    GString *description = g_string_new(NULL);
    GError *error = NULL;
    const bool good = f->task->encode(&f->self, f->text, &encoder, e, description, &error);
    assert_int_equal(good, expected != NULL);
    if (good) {
        char *got = show(e);
        assert_string_equal(got, expected);
        g_free(got);
        assert_string_equal(description->str, message);
        assert_int_equal(xlm_examples_together(e), strstr(message, "code-switched") != NULL ? 2 : 1);
    } else {
        assert_int_equal(error->code, code);
        if (strstr(error->message, message) == NULL)
            fail_msg("no '%s' in: %s", message, error->message);
        g_error_free(error);
    }
    g_string_free(description, TRUE);
    xlm_examples_free(e);
}

static void test_examples(void **state)
{
    (void)state;
    fixture f;
    /* One that fits, one whose first side is longer, one whose second is, one of nothing but a soft hyphen. */
    char *path = write_file("a.tsv", "x\ta C\tb\ny\ta b c a\tc c\nx\ta\tbbbc\ny\t\xC2\xAD\tz\n");
    char *other = write_file("b.tsv", "z\tc\tb\n"), *single = write_file("single.tsv", "z\tbb a\ny\tb\n");
    const xlm_task_source sources[] = {{1, "de", path}, {-1, NULL, other}};
    set_up(&f, "", sources, 2);
    assert_true(g_strv_equal((const char *const *)f.labels, (const char *const[]){"x", "y", "z", NULL}));
    encodes(&f, true, 7, "0(0/1,0 5 8 2 7/1,1 2)1(0/1,0 5 7 2 8/1,1 8 2)0(0/1,0 5 2 6/1,1 6 6 2)1(0/1,0 3 2 3/1,1 2)"
                         "2(0/0,0 8 2 7/0,1 2)", 0,
            "5 pairs of sentences, 30 tokens; cut to length, the longer sentence first: 2; sentences without a subword, read as "
            "<unk>: 1");
    encodes(&f, false, 5, "0(0/1,0 5 2 7/1,1 2)1(0/1,0 5 2 8/1,1 2)0(0/1,0 5 2 6/1,1 2)1(0/1,0 3 2 3/1,1 2)2(0/0,0 8 2 7/0,1 2)",
            0, "5 pairs of sentences, 25 tokens; cut to length, the longer sentence first: 3; sentences without a subword, read "
            "as <unk>: 1");
    encodes(&f, true, 4, NULL, EX_CONFIG, "length = 4 has no room for the special tokens and a token of each sentence; it must "
            "be at least 5");
    /* A label that training does not have. */
    f.of->labels = (char *[]){(char *)"x", (char *)"y", NULL};
    f.of->classes = 2;
    encodes(&f, false, 8, NULL, EX_DATAERR, "b.tsv:1: the training text has no label \"z\"; it has x, y");
    tear_down(&f);
    set_up(&f, "separators = 2\n", sources, 1);
    encodes(&f, true, 7, "0(0/1,0 5 8 2 2 7/1,1 2)1(0/1,0 5 7 2 2 8/1,1 2)0(0/1,0 5 2 2 6/1,1 6 2)1(0/1,0 3 2 2 3/1,1 2)", 0,
            "4 pairs of sentences, 27 tokens; cut to length, the longer sentence first: 2; sentences without a subword, read as "
            "<unk>: 1");
    tear_down(&f);
    set_up(&f, "", &(xlm_task_source){0, "en", single}, 1);
    encodes(&f, true, 4, "1(0/0,0 6 7 2)0(0/0,0 7 2)", 0,
            "2 sentences, 7 tokens; cut to length, the longer sentence first: 1");
    encodes(&f, true, 2, NULL, EX_CONFIG, "at least 3");
    tear_down(&f);
    g_free(path);
    g_free(other);
    g_free(single);
}

/* All of one class. */
static void test_one_class(void **state)
{
    (void)state;
    char *path = write_file("one.tsv", "x\ta\nx\tb\n");
    const xlm_task *task = xlm_task_find("classification", NULL);
    xlm_task_state *of = xlm_task_state_read(task, "test", "", NULL, NULL);
    const xlm_loss self = {.cls = &task->loss, .name = "classification", .state = of};
    void *text = task->read(&self, &(xlm_task_source){0, "en", path}, 1, NULL);
    GError *error = NULL;
    assert_null(task->labels(&self, text, &error));
    assert_int_equal(error->code, EX_DATAERR);
    assert_non_null(strstr(error->message, "one.tsv: all items have the same label, x; there is nothing to learn"));
    g_error_free(error);
    task->read_free(text);
    xlm_options_free(task->loss.options, of);
    g_free(of);
    g_free(path);
}

static void test_switched(void **state)
{
    (void)state;
    fixture f;
    char *en = write_file("en.tsv", "x\ta\tb\ny\tc\tc\nx\ta a\tc\n");
    char *de = write_file("de.tsv", "x\tb\ta\nx\tb\tb\nx\tc c\ta\ny\ta\ta\n");
    char *single = write_file("single.tsv", "x\ta\ny\tb\n");
    const xlm_task_source sources[] = {{1, "de", de}, {0, "en", en}};
    set_up(&f, "code_switching = en\n", sources, 2);
    /* The second of de has another label in en, the fourth has no translation. */
    static const char all[] = "0(0/1,0 7 2 7/0,1 2)0(0/0,0 5 2 5/1,1 2)0(0/1,0 8 8 2 8/0,1 2)0(0/0,0 5 5 2 5/1,1 2)";
    encodes(&f, true, 12, all, 0,
            "7 pairs of sentences; code-switched with en: 2 pairs, by line, two examples each, 22 tokens");
    encodes(&f, false, 12, "0(0/1,0 7 2 5/1,1 2)0(0/1,0 7 2 7/1,1 2)0(0/1,0 8 8 2 5/1,1 2)1(0/1,0 5 2 5/1,1 2)"
            "0(0/0,0 5 2 7/0,1 2)1(0/0,0 8 2 8/0,1 2)0(0/0,0 5 5 2 8/0,1 2)", 0, "7 pairs of sentences, 37 tokens");
    tear_down(&f);
    const xlm_task_source others[] = {{0, "en", single}, {1, "de", single}};
    set_up(&f, "code_switching = en\n", others, 2);
    encodes(&f, true, 12, NULL, EX_CONFIG, "code_switching = en switches one of two sentences, and items of");
    tear_down(&f);
    char *more = write_file("more.tsv", "y\tb\ta\n");
    const xlm_task_source unlike[] = {{0, "en", en}, {1, "de", more}};
    set_up(&f, "code_switching = en\n", unlike, 2);
    encodes(&f, true, 12, NULL, EX_DATAERR, "more.tsv:1: code_switching = en finds no pair by line (of this item: its "
            "translation has another label)");
    tear_down(&f);
    g_free(en);
    g_free(de);
    g_free(single);
    g_free(more);
}

/* ---- results ---- */

static double measure_of(const xlm_task_scores *scores, guint i, const char *name)
{
    const xlm_measure *m = &g_array_index(scores->measures, xlm_measure, i);
    assert_string_equal(m->name, name);
    return m->value;
}

static void near(double value, double expected) { assert_true(fabs(value - expected) < 1e-12); }

static void test_scores(void **state)
{
    (void)state;
    fixture f;
    char *path = write_file("a.tsv", "id\tlabel\tsentence1\tsentence2\n7\tx\ta\tb\n8\tx\ta c\tb\n\tz\ta\tb\n9\ty\ta\tc\n");
    set_up(&f, "choose_by = macro_f1\n", &(xlm_task_source){0, "en", path}, 1);
    assert_int_equal(f.task->width(&f.self), 3);
    /* Predicted: x, y, z, y. F1: x 2/3, y 2/3, z 1. */
    static const double predictions[4][3] = {{0.5, 0.25, 0.25}, {0.25, 0.5, 0.25}, {0, 0.25, 0.75}, {0, 1, 0}};
    xlm_task_scores *s = xlm_task_scores_new();
    f.task->score(&f.self, f.text, predictions[0], s);
    near(measure_of(s, 0, "macro_f1"), (2.0 / 3 + 2.0 / 3 + 1) / 3);
    near(measure_of(s, 1, "accuracy"), 3.0 / 4);
    static const int64_t counts[] = {1, 1, 0, 0, 1, 0, 0, 0, 1};
    assert_memory_equal(s->confusion.counts, counts, sizeof counts);
    assert_int_equal(s->rows->len, 3);
    const xlm_task_row *row = &g_array_index(s->rows, xlm_task_row, 1);
    assert_true(strcmp(row->name, "y") == 0 && strcmp(row->kind, "class") == 0 && row->gold == 1 && row->predicted == 2 &&
                row->right == 1);
    xlm_task_scores_free(s);
    GString *out = g_string_new(NULL);
    f.task->print(&f.self, f.text, predictions[0], out);
    assert_string_equal(out->str, "id\tgold\tpredicted\tp(x)\tp(y)\tp(z)\tsentence1\tsentence2\n"
                                  "7\tx\tx\t0.500000\t0.250000\t0.250000\ta\tb\n8\tx\ty\t0.250000\t0.500000\t0.250000\ta c\tb\n"
                                  "4\tz\tz\t0.000000\t0.250000\t0.750000\ta\tb\n9\ty\ty\t0.000000\t1.000000\t0.000000\ta\tc\n");
    g_string_free(out, TRUE);
    tear_down(&f);
    /* A class that is neither in the text nor predicted does not count for the mean. */
    set_up(&f, "", &(xlm_task_source){0, "en", path}, 1);
    static const double others[4][3] = {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}, {1, 0, 0}};
    xlm_labelled_item *items = (xlm_labelled_item *)(void *)((xlm_labelled_text *)f.text)->items->data;
    items[2].label = items[3].label = "y";
    s = xlm_task_scores_new();
    f.task->score(&f.self, f.text, others[0], s);
    near(measure_of(s, 0, "accuracy"), 1.0 / 2);
    near(measure_of(s, 1, "macro_f1"), (2.0 / 3 + 0) / 2);
    assert_int_equal(s->rows->len, 2);
    xlm_task_scores_free(s);
    tear_down(&f);
    g_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),    cmocka_unit_test(test_plain),    cmocka_unit_test(test_json),
        cmocka_unit_test(test_parallel),  cmocka_unit_test(test_examples), cmocka_unit_test(test_one_class),
        cmocka_unit_test(test_switched),  cmocka_unit_test(test_scores),
        cmocka_unit_test(test_unlabelled),
        cmocka_unit_test(test_order_of_columns), cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
