/* xlm-mpi: tests of the rules that leave out sentences, with known answers. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "prep/duplicates.h"
#include "prep/filter.h"
#include "prep/segmenter_options.h"
#include "prep/split.h"
#include "text/normalise.h"
#include "text/scripts.h"

/* ---- one sentence or pair ---- */

static bool take(xlm_prep_options *o, const char *name, const char *value, GError **error)
{
    return strcmp(name, "mono") == 0     ? xlm_prep_add_monolingual(o, value, error)
           : strcmp(name, "para") == 0   ? xlm_prep_add_parallel(o, value, error)
           : strcmp(name, "script") == 0 ? xlm_prep_add_script(o, value, error)
           : strcmp(name, "words") == 0  ? (o->words = XLM_WORDS_SPACE, true)
           : strcmp(name, "unigram") == 0 /* as xlm_prep does */
               ? (o->words = XLM_WORDS_SPACE, xlm_prep_set_segmenter(o, name, value, error))
               : xlm_prep_set_rule(o, name, value, error);
}

/* The options of a command line "mono=en=a max-words=3", which must be right. */
static xlm_prep_options *options_of(const char *line)
{
    xlm_prep_options *options = xlm_prep_options_new();
    g_auto(GStrv) items = g_strsplit(line, " ", -1);
    GError *error = NULL;
    for (char **item = items; *item != NULL; item++) {
        char *equals = strchr(*item, '=');
        *equals = '\0';
        if (!take(options, *item, equals + 1, &error))
            fail_msg("%s: %s", line, error->message);
    }
    if (!xlm_prep_check_rules(options, &error))
        fail_msg("%s: %s", line, error->message);
    return options;
}

typedef struct filtering {
    xlm_prep_options *options;
    xlm_filter *filter;
    xlm_assignments *assignments;
    xlm_normaliser *normaliser[2];
    int64_t place, kept[4];
} filtering;

static filtering begin(const char *line)
{
    filtering t = {.options = options_of(line)};
    t.filter = xlm_filter_new(t.options, NULL);
    assert_non_null(t.filter);
    t.assignments = xlm_assignments_new(0, 0);
    for (int side = 0; side < 2; side++)
        t.normaliser[side] = xlm_normaliser_new(false, NULL);
    return t;
}

static void end(filtering *t)
{
    for (int side = 0; side < 2; side++)
        xlm_normaliser_free(t->normaliser[side]);
    xlm_assignments_free(t->assignments);
    xlm_filter_free(t->filter);
    xlm_prep_options_free(t->options);
}

/* The rule that leaves out a line of a source; its translation comes after a tab. */
static int rule_of(filtering *t, guint source, const char *line, GError **error)
{
    const xlm_prep_source *of = t->options->sources->pdata[source];
    g_auto(GStrv) sides = g_strsplit(line, "\t", -1);
    const char *normal[2];
    size_t size[2];
    uint64_t digest[2];
    int rule = -1;
    xlm_filter_text text = {.text = normal, .size = size, .digest = digest, .place = t->place++};
    for (int side = 0; side < of->sides; side++) {
        text.raw[side] = sides[side];
        text.raw_size[side] = strlen(sides[side]);
        assert_true(xlm_normaliser_run(t->normaliser[side], sides[side], strlen(sides[side]), &normal[side], &size[side], NULL));
        digest[side] = xlm_assignments_digest(t->assignments, normal[side], size[side]);
    }
    return xlm_filter_apply(t->filter, of, &text, &t->kept[source], &rule, error) ? rule : -1;
}

/* With the options, a line is left out by the rule; "" stands for none. */
static void expect(const char *options, const char *line, const char *rule)
{
    filtering t = begin(options);
    const int got = rule_of(&t, 0, line, NULL);
    assert_in_range(got, 0, XLM_RULES);
    const char *name = got == XLM_RULES ? "" : xlm_filter_rules[got].name;
    if (strcmp(name, rule) != 0)
        fail_msg("%s: \"%s\" is left out by \"%s\", not by \"%s\"", options, line, name, rule);
    end(&t);
}

static void lengths(void **state G_GNUC_UNUSED)
{
    expect("mono=en=a max-line-bytes=5", "äbcd", "");
    expect("mono=en=a max-line-bytes=5", "äbcde", "max-line-bytes");
    expect("mono=en=a max-line-bytes=5", "a  b  ", "max-line-bytes"); /* before it is normalised */
    expect("mono=en=a max-characters=4", "äbcd", "");
    expect("mono=en=a max-characters=4", "äbcde", "max-characters");
    expect("mono=en=a max-characters=3", " a  b ", ""); /* afterwards */
    expect("mono=en=a max-characters=1", "e\xcc\x81", ""); /* as NFC, one character */
    expect("mono=en=a min-words=2", "Hi!", "");
    expect("mono=en=a min-words=2", "Hi", "min-words");
    expect("mono=en=a words=space min-words=2", "Hi!", "min-words");
    expect("mono=en=a max-words=3", "a, b", "");
    expect("mono=en=a max-words=3", "a, b.", "max-words");
    expect("mono=en=a words=space max-words=2", "a, b.", "");
    expect("mono=th=a min-words=2", "ภาษาไทย", ""); /* language, Thai, without a space */
    expect("mono=en=a max-word-characters=4", "ab äöüß", "");
    expect("mono=en=a max-word-characters=4", "ab äöüßs", "max-word-characters");
    expect("mono=en=a max-words=2 min-words=2", "a b", "");
    /* The first rule of the table counts, however they are given. */
    expect("mono=en=a max-word-characters=2 max-words=2 max-characters=5", "abc d e", "max-characters");
    expect("mono=en=a max-word-characters=2 max-words=2", "abc d e", "max-words");
    /* Either side leaves out a pair. */
    expect("para=en-de=a,b max-words=2", "a b\ta b c", "max-words");
    expect("para=en-de=a,b max-words=2", "a b c\ta b", "max-words");
    expect("para=en-de=a,b max-words=2", "a b\ta b", "");
}

static void ratio(void **state G_GNUC_UNUSED)
{
    expect("para=en-de=a,b max-ratio=2", "a b c d\tx y", "");
    expect("para=en-de=a,b max-ratio=2", "a b c d e\tx y", "max-ratio");
    expect("para=en-de=a,b max-ratio=2", "x y\ta b c d e", "max-ratio");
    expect("para=en-de=a,b max-ratio=2.5", "x y\ta b c d e", "");
    expect("para=en-de=a,b max-ratio=1", "x y\ta b", "");
    expect("para=en-de=a,b untranslated=drop", "the same\tthesame", "untranslated");
    expect("para=en-de=a,b untranslated=drop", "the same\tThe same", "");
    expect("para=en-de=a,b untranslated=keep max-ratio=3", "the same\tthe same", "");
}

static void scripts(void **state G_GNUC_UNUSED)
{
    expect("mono=en=a script-share=0.5", "Привет red", "script-share"); /* 3 of 9 letters are Latin */
    expect("mono=ru=a script-share=0.5", "Привет red", "");             /* 6 of 9 Cyrillic */
    expect("mono=en=a script-share=0.5", "да no", "");                  /* 2 of 4 */
    expect("mono=en=a script-share=0.51", "да no", "script-share");
    expect("mono=en=a script-share=1", "1 2 µ 3 — ∑!", ""); /* no letters of a script */
    expect("mono=el=a script-share=1", "naïve", "script-share");
    expect("mono=ja=a script-share=1", "東京タワーは", "");
    expect("mono=zh=a script-share=0.3", "東京タワーは", ""); /* 2 of 6 */
    expect("mono=zh=a script-share=0.4", "東京タワーは", "script-share");
    expect("mono=zh=a script-share=1", "\xf0\xa0\x80\x80", ""); /* U+20000 */
    expect("mono=en=a script-share=0.1", "\xf0\xa0\x80\x80", "script-share");
    /* नमस्ते has 4 letters and 2 vowel signs, which are marks. */
    expect("mono=hi=a script-share=0.44", "नमस्ते hello", ""); /* 4 of 9 */
    expect("mono=hi=a script-share=0.45", "नमस्ते hello", "script-share");
    expect("mono=hi=a script-share=1 script=hi=Deva,Latn", "नमस्ते hello", "");
    expect("mono=xx=a script-share=1 script=xx=Cyrillic", "Привет", "");
    expect("mono=sr_Latn=a script-share=1", "Zdravo", "");
    expect("para=en-ru=a,b script-share=1", "hello\tПривет", "");
    expect("para=en-ru=a,b script-share=1", "hello\thello", "script-share");
    expect("para=en-ru=a,b script-share=1", "Привет\tПривет", "script-share");
    xlm_scripts *japanese = xlm_scripts_of_language("ja");
    assert_string_equal(xlm_scripts_codes(japanese), "Kana,Hira,Hani");
    int64_t letters, theirs;
    xlm_scripts_count(japanese, "a東b!", strlen("a東b!"), &letters, &theirs);
    assert_int_equal(letters, 3);
    assert_int_equal(theirs, 1);
    xlm_scripts_free(japanese);
    assert_null(xlm_scripts_of_language("und"));
    assert_null(xlm_scripts_of_language("xx"));
}

/* Rules look at the same text and words when the segmenter has a normaliser and takes whole lines. */
static void other_segmenters(void **state G_GNUC_UNUSED)
{
    expect("mono=en=a unigram=100 min-words=2", "Hi!", "");
    expect("mono=en=a unigram=100 max-characters=3", " a \t b ", "");
    expect("mono=en=a unigram=100 max-characters=3", "a bc", "max-characters");
}

/* ---- duplicates ---- */

static void duplicates(void **state)
{
    static const struct {
        guint source;
        const char *line;
        bool left_out;
    } text[] = {{0, "the house", false},      {0, "The house", false},  {0, "thehouse", true}, {1, "a house", false},
                {1, " the  house", true},     {1, "a house", true},     {1, "x y z", false},   {2, "the house", false},
                {3, "the house\tb", false},   {3, "the house\tc", false}, {3, "the house\tb", true}, {3, "b\tthe house", false}};
    filtering t = begin("mono=en=a,b mono=de=c para=en-de=d,e max-words=3 duplicates=drop");
    GError *error = NULL;
    assert_true(xlm_filter_is_unfinished(t.filter));
    for (size_t i = 0; i < G_N_ELEMENTS(text); i++)
        assert_int_equal(rule_of(&t, text[i].source, text[i].line, NULL), XLM_RULES);
    assert_int_equal(rule_of(&t, 3, "a b c d\te", NULL), XLM_RULE_MAX_WORDS);
    xlm_filter_finish(t.filter, *state);
    assert_false(xlm_filter_is_unfinished(t.filter));
    for (int pass = 0; pass < 2; pass++) {
        memset(t.kept, 0, sizeof t.kept);
        for (size_t i = 0; i < G_N_ELEMENTS(text); i++)
            if (rule_of(&t, text[i].source, text[i].line, NULL) != (text[i].left_out ? XLM_RULE_DUPLICATES : XLM_RULES))
                fail_msg("pass %d: %s", pass, text[i].line);
        assert_int_equal(rule_of(&t, 3, "a b c d\te", NULL), XLM_RULE_MAX_WORDS);
    }
    assert_int_equal(rule_of(&t, 2, "a new line", &error), -1);
    assert_int_equal(error->code, EX_DATAERR);
    g_error_free(error);
    end(&t);
}

/* More than one round of sentences, and buckets that are sorted several times. Each sentence comes twice at its place, and later
 * again: the first stays. */
static void many_duplicates(void **state)
{
    enum { SENTENCES = 600000, DIFFERENT = 200000 };
    xlm_duplicates *d = xlm_duplicates_new(2);
    for (int i = 0; i < SENTENCES; i++)
        xlm_duplicates_add(d, i >= SENTENCES / 2, (uint64_t)(i / 2 % DIFFERENT) * UINT64_C(0x9e3779b97f4a7c15), i / 2);
    xlm_duplicates_find(d, *state);
    bool duplicate;
    for (int i = 0; i < SENTENCES; i++) {
        assert_true(xlm_duplicates_is(d, i >= SENTENCES / 2, i % (SENTENCES / 2), &duplicate));
        assert_int_equal(duplicate, i % 2 == 1 || i / 2 >= DIFFERENT);
    }
    assert_false(xlm_duplicates_is(d, 1, SENTENCES / 2, &duplicate));
    xlm_duplicates_free(d);
}

/* ---- options ---- */

/* These options are refused with a message that has `what`. */
static void refused(const char *line, const char *what)
{
    xlm_prep_options *options = xlm_prep_options_new();
    g_auto(GStrv) items = g_strsplit(line, " ", -1);
    GError *error = NULL;
    bool good = true;
    for (char **item = items; *item != NULL && good; item++) {
        char *equals = strchr(*item, '=');
        *equals = '\0';
        good = take(options, *item, equals + 1, &error);
    }
    good = good && xlm_prep_check_rules(options, &error);
    assert_false(good);
    assert_int_equal(error->code, EX_USAGE);
    if (strstr(error->message, what) == NULL)
        fail_msg("%s: no \"%s\" in: %s", line, what, error->message);
    g_error_free(error);
    xlm_prep_options_free(options);
}

static void wrong_options(void **state G_GNUC_UNUSED)
{
    refused("mono=en=a max-words=0", "--max-words = 0: must be an integer at least 1");
    refused("mono=en=a max-words=1e3", "--max-words = 1e3");
    refused("mono=en=a max-line-bytes=-1", "--max-line-bytes = -1");
    refused("mono=en=a min-words=4 max-words=3", "--min-words=4 is more than --max-words=3");
    refused("para=en-de=a,b max-ratio=0.5", "--max-ratio = 0.5: must be a number at least 1");
    refused("para=en-de=a,b max-ratio=nan", "--max-ratio = nan");
    refused("mono=en=a script-share=0", "--script-share = 0: must be a number from 0.01 to 1");
    refused("mono=en=a script-share=1.5", "--script-share = 1.5");
    refused("mono=en=a duplicates=remove", "--duplicates = remove: is not one of keep|drop");
    refused("mono=en=a max-ratio=2", "--max-ratio is a rule for pairs, and there is no --para");
    refused("mono=en=a untranslated=drop", "--untranslated is a rule for pairs");
    refused("mono=xx=a script-share=0.5", "--script-share: ICU does not know in which script xx is written; give it with "
            "--script xx=CODE");
    refused("mono=und=a script-share=0.5", "--script und=CODE");
    refused("mono=en=a script=en=Latn", "--script says what --script-share counts");
    refused("mono=en=a script-share=0.5 script=de=Latn", "--script: there is no text of de");
    refused("mono=en=a script-share=0.5 script=en=Latn script=en=Cyrl", "language en is given twice");
    refused("mono=en=a script-share=0.5 script=en=Lattin", "--script=en=Lattin: \"Lattin\" is not a script with letters");
    refused("mono=ja=a script-share=0.5 script=ja=Jpan", "\"Jpan\" is not a script with letters"); /* a combination of scripts */
    refused("mono=en=a script-share=0.5 script=en=Zyyy", "\"Zyyy\" is not a script with letters");
    refused("mono=en=a script-share=0.5 script=en=Latn,", "\"\" is not a script with letters");
    refused("mono=en=a script-share=0.5 script=en", "the form is --script LANG=CODE");
}

int main(int argc, char **argv)
{
    xlm_comm comm;
    xlm_comm_open(&comm, "filter_test", &argc, &argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths),
        cmocka_unit_test(ratio),
        cmocka_unit_test(scripts),
        cmocka_unit_test(other_segmenters),
        cmocka_unit_test_prestate(duplicates, &comm),
        cmocka_unit_test_prestate(many_duplicates, &comm),
        cmocka_unit_test(wrong_options),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    const int code = xlm_comm_close(&comm, NULL);
    return failed != 0 ? failed : code;
}
