/* xlm-mpi: tests of job files and of settings read by a table. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "options/nearest.h"
#include "options/options.h"
#include "subwords/segmenter.h"
#include "tasks/task.h"

enum { BERT, XLM };

typedef struct settings {
    int64_t steps;
    double rate;
    bool verbose;
    char *corpus;
    int64_t form;
    char **languages;
} settings;

static const xlm_option table[] = {
    {"steps", XLM_OPTION_INT, "1_000", 1, 100000, NULL, "updates to make", offsetof(settings, steps)},
    {"rate", XLM_OPTION_REAL, "1e-4", 0, 1, NULL, "peak of the learning rate", offsetof(settings, rate)},
    {"verbose", XLM_OPTION_FLAG, "false", 0, 0, NULL, "say more", offsetof(settings, verbose)},
    {"corpus", XLM_OPTION_TEXT, NULL, 0, 0, NULL, "the path of a corpus", offsetof(settings, corpus)},
    {"form", XLM_OPTION_CHOICE, "xlm", 0, 0, "bert|xlm", "how pairs are written", offsetof(settings, form)},
    {"languages", XLM_OPTION_LIST, "", 0, 0, NULL, "languages to read; all when empty", offsetof(settings, languages)},
    XLM_OPTION_END};

static const char *const former[] = {"updates", "steps", NULL};
static const xlm_jobfile_kind kinds[] = {{"model", false, NULL}, {"train", false, former}, {"stream", true, NULL},
                                         {NULL, false, NULL}};

static xlm_jobfile *parse(const char *text, char *const *overrides, GError **error)
{
    return xlm_jobfile_parse("job.conf", text, strlen(text), kinds, overrides, error);
}

static xlm_jobfile *parse_good(const char *text, char *const *overrides)
{
    GError *error = NULL;
    xlm_jobfile *job = parse(text, overrides, &error);
    if (job == NULL)
        fail_msg("refused: %s", error->message);
    return job;
}

/* The place, the key and what is allowed or near are tested, not the sentence around them: a '*' in the pattern matches that. */
static void expect(GError *error, int code, const char *pattern)
{
    assert_non_null(error);
    if (!g_pattern_match_simple(pattern, error->message))
        fail_msg("\"%s\" is not of the form \"%s\"", error->message, pattern);
    assert_int_equal(xlm_error_exit_code(error), code);
    g_error_free(error);
}

/* The job file, or else its override, must be refused with a message of this form. */
static void refuse(const char *text, const char *override, int code, const char *pattern)
{
    char *overrides[] = {(char *)override, NULL};
    GError *error = NULL;
    assert_null(parse(text, overrides, &error));
    expect(error, code, pattern);
}

/* Reading [train] of the job must be refused with a message of this form. */
static void refuse_value(const char *text, const char *override, int code, const char *pattern)
{
    char *overrides[] = {(char *)override, NULL};
    xlm_jobfile *job = parse_good(text, overrides);
    settings s;
    memset(&s, 0x55, sizeof s);
    GError *error = NULL;
    assert_false(xlm_options_parse(table, job, "train", &s, &error));
    expect(error, code, pattern);
    xlm_jobfile_free(job);
}

/* ---- job files ---- */

static const char sample[] = "# what this is\n"
                             "[train]\n"
                             "steps = 20\n"
                             "\n"
                             "; another comment\n"
                             "  corpus=a b = c.h5  \r\n"
                             "[stream   mono ]\n"
                             "batch = 4\n"
                             "[stream para.de-en]\n"
                             "empty =\n";

/* A key's former name means its present one, in the file and on the command line; both at once are the same key twice. */
static void former_keys(void **state)
{
    (void)state;
    char *overrides[] = {"train.updates=40", NULL};
    for (int overridden = 0; overridden < 2; overridden++) {
        xlm_jobfile *job = parse_good("[train]\nupdates = 30\n", overridden ? overrides : NULL);
        char *value = xlm_jobfile_value(job, "train", "steps");
        assert_string_equal(value, overridden ? "40" : "30");
        assert_null(xlm_jobfile_value(job, "train", "updates"));
        g_free(value);
        xlm_jobfile_free(job);
    }
    refuse("[train]\nsteps = 1\nupdates = 2\n", NULL, EX_CONFIG,
           "job.conf:3: [train]: *\"steps\"*line 2*");
    xlm_jobfile *job = parse_good("[model]\nupdates = 30\n", NULL); /* of another section */
    char *value = xlm_jobfile_value(job, "model", "updates");
    assert_string_equal(value, "30");
    g_free(value);
    xlm_jobfile_free(job);
}

static void sections_and_values(void **state)
{
    (void)state;
    xlm_jobfile *job = parse_good(sample, NULL);
    assert_true(xlm_jobfile_has(job, "train"));
    assert_true(xlm_jobfile_has(job, "stream mono"));
    assert_false(xlm_jobfile_has(job, "model"));

    char **names = xlm_jobfile_names(job, "stream");
    assert_int_equal(g_strv_length(names), 2);
    assert_string_equal(names[0], "mono");
    assert_string_equal(names[1], "para.de-en");
    g_strfreev(names);

    char **keys = xlm_jobfile_keys(job, "train");
    assert_int_equal(g_strv_length(keys), 2);
    assert_string_equal(keys[0], "steps");
    assert_string_equal(keys[1], "corpus");
    g_strfreev(keys);
    keys = xlm_jobfile_keys(job, "model");
    assert_null(keys[0]);
    g_strfreev(keys);

    char *value = xlm_jobfile_value(job, "train", "corpus");
    assert_string_equal(value, "a b = c.h5");
    g_free(value);
    value = xlm_jobfile_value(job, "stream para.de-en", "empty");
    assert_string_equal(value, "");
    g_free(value);
    assert_null(xlm_jobfile_value(job, "train", "rate"));
    assert_null(xlm_jobfile_value(job, "model", "rate"));

    const struct { const char *section, *key, *place; } places[] = {
        {"train", "corpus", "job.conf:6: [train]"},
        {"stream mono", NULL, "job.conf:7: [stream mono]"},
        {"stream mono", "batch", "job.conf:8: [stream mono]"},
        {"model", NULL, "job.conf: [model]"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
        char *place = xlm_jobfile_place(job, places[i].section, places[i].key);
        assert_string_equal(place, places[i].place);
        g_free(place);
    }
    xlm_jobfile_free(job);
}

static void overrides_go_before_the_file(void **state)
{
    (void)state;
    char *overrides[] = {"train.steps=1", "train.steps = 30", "stream para.de-en.batch=8", "model.layers=2", NULL};
    xlm_jobfile *job = parse_good(sample, overrides);
    char *value = xlm_jobfile_value(job, "train", "steps");
    assert_string_equal(value, "30");
    g_free(value);
    char *place = xlm_jobfile_place(job, "train", "steps");
    assert_string_equal(place, "--set train.steps");
    g_free(place);

    const struct { const char *section, *key, *value; } values[] = {
        {"train", "steps", "30"},       {"train", "corpus", "a b = c.h5"}, {"stream mono", "batch", "4"},
        {"model", "layers", "2"},       {"stream para.de-en", "batch", "8"}, {"stream para.de-en", "empty", ""},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
        value = xlm_jobfile_value(job, values[i].section, values[i].key);
        assert_string_equal(value, values[i].value);
        g_free(value);
    }
    xlm_jobfile_free(job);
}

static void malformed_files(void **state)
{
    (void)state;
    const struct { const char *text, *pattern; } cases[] = {
        {"[train]\nsteps 3\n", "job.conf:2: \"steps 3\" *[SECTION]*KEY = VALUE*"},
        {"\n[train\nsteps=3\n", "job.conf:2: \"[train\" *[SECTION NAME]*"},
        {"[train] # here\n", "job.conf:1: \"[train] # here\" *[SECTION NAME]*"},
        {"steps=3\n", "job.conf:1: *\"steps\"*before the first section*"},
        {"[train]\n=3\n", "job.conf:2: \"\" *KEY = VALUE*"},
        {"[train]\nst eps=3\n", "job.conf:2: \"st eps\" *KEY = VALUE*"},
        {"[trian]\n", "job.conf:1: *[trian]*\"train\"*"},
        {"[wxyz]\n", "job.conf:1: *[wxyz]*\"model\"*\"train\"*\"stream\"*"},
        {"[]\n", "job.conf:1: *[]*\"model\"*\"train\"*\"stream\"*"},
        {"[strem mono]\n", "job.conf:1: *[strem]*\"stream\"*"},
        {"[train x]\n", "job.conf:1: [train x] *[train]*"},
        {"[stream]\n", "job.conf:1: [stream] *[stream NAME]*"},
        {"[stream a/b]\n", "job.conf:1: \"a/b\" *"},
        {"[train]\na=1\n[train]\n", "job.conf:3: *[train]*line 1*"},
        {"[stream a]\n[stream  a]\n", "job.conf:2: *[stream a]*line 1*"},
        {"[train]\nsteps=1\n\nsteps=2\n", "job.conf:4: [train]: *\"steps\"*line 2*"},
        {"[train]\nsteps=\xff\n", "job.conf:2: *0xff*UTF-8*"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        refuse(cases[i].text, NULL, EX_CONFIG, cases[i].pattern);

    GError *error = NULL;
    assert_null(xlm_jobfile_parse("job.conf", "[train]\n\0", 9, kinds, NULL, &error));
    expect(error, EX_CONFIG, "job.conf:2: *0x00*UTF-8*");
}

static void odd_but_good_files(void **state)
{
    (void)state;
    xlm_jobfile *job = parse_good("", NULL);
    assert_false(xlm_jobfile_has(job, "train"));
    xlm_jobfile_free(job);
    job = parse_good("\xef\xbb\xbf[train]\r\nsteps=5", NULL);
    char *value = xlm_jobfile_value(job, "train", "steps");
    assert_string_equal(value, "5");
    g_free(value);
    xlm_jobfile_free(job);
}

static void wrong_overrides(void **state)
{
    (void)state;
    const char *const formless[] = {"steps=3", "train.steps", "", ".steps=3", "train.corpus=a\nb"};
    for (size_t i = 0; i < G_N_ELEMENTS(formless); i++) {
        char *pattern = g_strconcat("--set ", formless[i], ": *SECTION.KEY=VALUE*", NULL);
        refuse(sample, formless[i], EX_USAGE, pattern);
        g_free(pattern);
    }
    refuse(sample, "tarin.steps=3", EX_USAGE, "--set tarin.steps=3: *[tarin]*\"train\"*");
    refuse(sample, "stream mnoo.batch=3", EX_USAGE, "--set stream mnoo.batch=3: *[stream mnoo]*[stream mono]*");
    refuse("[train]\n", "stream mono.batch=3", EX_USAGE, "--set stream mono.batch=3: *[stream mono]*");
    refuse(sample, "train.=3", EX_USAGE, "--set train.=3: \"\" *");
}

static void files_that_cannot_be_read(void **state)
{
    (void)state;
    char *directory = g_dir_make_tmp("xlm-options-XXXXXX", NULL);
    char *path = g_build_filename(directory, "job.conf", NULL);
    GError *error = NULL;
    assert_null(xlm_jobfile_load(path, kinds, NULL, &error));
    char *pattern = g_strconcat(path, ": *", NULL);
    expect(error, EX_NOINPUT, pattern);
    g_free(pattern);

    error = NULL;
    assert_null(xlm_jobfile_load(directory, kinds, NULL, &error));
    assert_int_equal(xlm_error_exit_code(error), EX_NOINPUT);
    assert_non_null(strstr(error->message, directory));
    g_error_free(error);

    assert_true(g_file_set_contents(path, sample, -1, NULL));
    xlm_jobfile *job = xlm_jobfile_load(path, kinds, NULL, NULL);
    assert_non_null(job);
    assert_string_equal(xlm_jobfile_path(job), path);
    xlm_jobfile_free(job);
    g_unlink(path);
    g_rmdir(directory);
    g_free(path);
    g_free(directory);
}

/* ---- options ---- */

static void defaults(void **state)
{
    (void)state;
    settings s;
    memset(&s, 0x55, sizeof s); /* what was there must not be freed or kept */
    assert_true(xlm_options_defaults(table, &s, NULL));
    assert_int_equal(s.steps, 1000);
    assert_true(s.rate == 1e-4);
    assert_false(s.verbose);
    assert_null(s.corpus);
    assert_int_equal(s.form, XLM);
    assert_null(s.languages);
    xlm_options_free(table, &s);
}

static void values_of_every_type(void **state)
{
    (void)state;
    xlm_jobfile *job = parse_good("[train]\nsteps=100_000\nrate=0.25\nverbose=Yes\ncorpus=c.h5\nform=bert\n"
                                  "languages= en , de\n", NULL);
    settings s;
    memset(&s, 0x55, sizeof s);
    assert_true(xlm_options_parse(table, job, "train", &s, NULL));
    assert_int_equal(s.steps, 100000);
    assert_true(s.rate == 0.25);
    assert_true(s.verbose);
    assert_string_equal(s.corpus, "c.h5");
    assert_int_equal(s.form, BERT);
    assert_int_equal(g_strv_length(s.languages), 2);
    assert_string_equal(s.languages[0], "en");
    assert_string_equal(s.languages[1], "de");

    const char *const printed[] = {"100000", "0.25", "true", "c.h5", "bert", "en,de"};
    for (size_t i = 0; i < G_N_ELEMENTS(printed); i++) {
        char *text = xlm_option_print(&table[i], &s);
        assert_string_equal(text, printed[i]);
        g_free(text);
    }
    xlm_options_free(table, &s);
    assert_null(s.corpus);
    assert_null(s.languages);
    assert_int_equal(s.steps, 100000);
    xlm_jobfile_free(job);
}

static void comments_after_values(void **state)
{
    (void)state;
    xlm_jobfile *job = parse_good("[train]\nsteps = 600 # note\nrate=0.25\t#note\nverbose = yes  # = no\n"
                                  "corpus = c#1 # 2.h5\nform = bert # not xlm\nlanguages = c #,de\n", NULL);
    settings s;
    assert_true(xlm_options_parse(table, job, "train", &s, NULL));
    assert_int_equal(s.steps, 600);
    assert_true(s.rate == 0.25);
    assert_true(s.verbose);
    assert_string_equal(s.corpus, "c#1 # 2.h5");
    assert_int_equal(s.form, BERT);
    assert_string_equal(s.languages[0], "c #");
    xlm_options_free(table, &s);
    xlm_jobfile_free(job);
    refuse_value("[train]\ncorpus=c\nsteps=6#7\n", NULL, EX_CONFIG,
                 "job.conf:3: [train]: steps = 6#7: *integer*1*100000*");
}

/* A printed section is read again with the same values, and gives every key. */
static void a_whole_section_survives_printing(void **state)
{
    (void)state;
    settings s;
    xlm_jobfile *job = parse_good("[train]\ncorpus = a # b\nrate = 0.0001\nsteps = 1_0\n", NULL);
    assert_true(xlm_options_parse(table, job, "train", &s, NULL));
    GString *text = g_string_new("[train]\n");
    xlm_options_print(table, &s, text);
    assert_string_equal(text->str, "[train]\nsteps = 10\nrate = 0.0001\nverbose = false\ncorpus = a # b\nform = xlm\n"
                                   "languages =\n");
    xlm_options_free(table, &s);
    xlm_jobfile_free(job);
    job = parse_good(text->str, NULL);
    assert_true(xlm_options_parse(table, job, "train", &s, NULL));
    GString *again = g_string_new("[train]\n");
    xlm_options_print(table, &s, again);
    assert_string_equal(again->str, text->str);
    xlm_options_free(table, &s);
    xlm_jobfile_free(job);
    g_string_free(text, TRUE);
    g_string_free(again, TRUE);
}

static void numbers_survive_printing(void **state)
{
    (void)state;
    const double reals[] = {0, 0.1, 1.0 / 3, 5e-4, 1e-300, 123456789.123456789, 0.7, 1e22, -0.98};
    const xlm_option real = {"rate", XLM_OPTION_REAL, "0", 0, 0, NULL, "", offsetof(settings, rate)};
    for (size_t i = 0; i < G_N_ELEMENTS(reals); i++) {
        settings s = {.rate = reals[i]};
        char *text = xlm_option_print(&real, &s);
        s.rate = NAN;
        assert_true(xlm_option_set(&real, text, &s, NULL));
        assert_true(s.rate == reals[i]);
        g_free(text);
    }
    const int64_t integers[] = {0, -1, INT64_MAX, INT64_MIN};
    const xlm_option integer = {"steps", XLM_OPTION_INT, "0", 0, 0, NULL, "", offsetof(settings, steps)};
    for (size_t i = 0; i < G_N_ELEMENTS(integers); i++) {
        settings s = {.steps = integers[i]};
        char *text = xlm_option_print(&integer, &s);
        s.steps = 7;
        assert_true(xlm_option_set(&integer, text, &s, NULL));
        assert_true(s.steps == integers[i]);
        g_free(text);
    }
    settings s = {.rate = 5e-4};
    char *text = xlm_option_print(&real, &s);
    assert_string_equal(text, "0.0005");
    g_free(text);
}

static void setting_again_frees_what_was_there(void **state)
{
    (void)state;
    settings s = {0};
    assert_true(xlm_option_set(&table[3], "a", &s, NULL));
    assert_true(xlm_option_set(&table[3], "b", &s, NULL)); /* the sanitizer finds what is lost */
    assert_string_equal(s.corpus, "b");
    assert_true(xlm_option_set(&table[5], "a,b", &s, NULL));
    assert_true(xlm_option_set(&table[5], "", &s, NULL));
    assert_null(s.languages);
    xlm_options_free(table, &s);
}

static void sets_of_words(void **state)
{
    (void)state;
    struct { uint32_t parts; } s = {0};
    const xlm_option set[] = {{"parts", XLM_OPTION_SET, "key,value", 0, 0, "query,key,value", "parts of attention", 0},
                              XLM_OPTION_END};
    GError *error = NULL;
    assert_true(xlm_options_defaults(set, &s, NULL));
    assert_int_equal(s.parts, 6);
    assert_true(xlm_option_set(set, "value , query", &s, NULL));
    assert_int_equal(s.parts, 5);
    g_autofree char *text = xlm_option_print(set, &s);
    assert_string_equal(text, "query,value");
    assert_true(xlm_options_check(set, &s, NULL));
    const struct { const char *text, *pattern; } cases[] = {
        {"query,keys", "parts: \"keys\" is not one of query,key,value"}, {"", "parts: none*query,key,value"},
        {"key,,value", "parts = key,,value: *empty*"}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        assert_false(xlm_option_set(set, cases[i].text, &s, &error));
        expect(g_steal_pointer(&error), EX_CONFIG, cases[i].pattern);
        assert_int_equal(s.parts, 5);
    }
    s.parts = 8;
    assert_false(xlm_options_check(set, &s, &error));
    expect(g_steal_pointer(&error), EX_CONFIG, "parts: bits 0x8*query,key,value");
    s.parts = 0;
    assert_false(xlm_options_check(set, &s, &error));
    expect(g_steal_pointer(&error), EX_CONFIG, "parts: none*");
}

static void wrong_values(void **state)
{
    (void)state;
    const struct { const char *line, *pattern; } cases[] = {
        {"steps=0", "steps = 0: *integer*1*100000*"},
        {"steps=100001", "steps = 100001: *integer*1*100000*"},
        {"steps=99999999999999999999", "steps = 99999999999999999999: *integer*1*100000*"},
        {"steps=1e3", "steps = 1e3: *integer*1*100000*"},
        {"steps=10k", "steps = 10k: *integer*1*100000*"},
        {"steps=1__0", "steps = 1__0: *integer*1*100000*"},
        {"steps=_1", "steps = _1: *integer*1*100000*"},
        {"steps=1_", "steps = 1_: *integer*1*100000*"},
        {"steps=", "steps = : *integer*1*100000*"},
        {"steps=3# few", "steps = 3# few: *integer*1*100000*"},
        {"rate=1.5", "rate = 1.5: *number*0*1*"},
        {"rate=nan", "rate = nan: *number*0*1*"},
        {"rate=inf", "rate = inf: *number*0*1*"},
        {"rate=0x1p-3", "rate = 0x1p-3: *number*0*1*"},
        {"rate=0,5", "rate = 0,5: *number*0*1*"},
        {"verbose=1", "verbose = 1: *true or false*"},
        {"form=brt", "form = brt: *bert|xlm*did you mean \"bert\"*"},
        {"form=other", "form = other: *bert|xlm*\"bert\", \"xlm\"*"},
        {"languages=en,,de", "languages = en,,de: *empty*"},
        {"languages=en,", "languages = en,: *empty*"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *text = g_strconcat("[train]\ncorpus=c.h5\n", cases[i].line, "\n", NULL);
        char *pattern = g_strconcat("job.conf:3: [train]: ", cases[i].pattern, NULL);
        refuse_value(text, NULL, EX_CONFIG, pattern);
        g_free(pattern);
        g_free(text);
    }
    refuse_value("[train]\ncorpus=\n", NULL, EX_CONFIG,
                 "job.conf:2: [train]: corpus: *empty*the path of a corpus*");
    refuse_value("\n[train]\nsteps=3\n", NULL, EX_CONFIG,
                 "job.conf:2: [train]: *\"corpus\" is missing*the path of a corpus*");
    refuse_value("", NULL, EX_CONFIG, "job.conf: [train]: *\"corpus\" is missing*the path of a corpus*");
    refuse_value("[train]\ncorpus=c.h5\n", "train.steps=0", EX_USAGE,
                 "--set train.steps: steps = 0: *integer*1*100000*");
}

static void unknown_keys(void **state)
{
    (void)state;
    refuse_value("[train]\ncorpus=c.h5\nstpes=3\n", NULL, EX_CONFIG,
                 "job.conf:3: [train]: *\"stpes\"*did you mean \"steps\"*");
    refuse_value("[train]\ncorpus=c.h5\nzzzzz=3\n", NULL, EX_CONFIG,
                 "job.conf:3: [train]: *\"zzzzz\"*\"steps\", \"rate\", \"verbose\", \"corpus\", \"form\", \"languages\"*");
    refuse_value("[train]\ncorpus=c.h5\n", "train.lnguages=en", EX_USAGE,
                 "--set train.lnguages: *\"lnguages\"*did you mean \"languages\"*");

    /* Two modules share a section: each reads its own keys, both tables together say what is unknown. */
    struct { int64_t depth; } other;
    const xlm_option second[] = {{"depth", XLM_OPTION_INT, "2", 0, 0, NULL, "", 0}, XLM_OPTION_END};
    const xlm_option *const tables[] = {table, second, NULL};
    xlm_jobfile *job = parse_good("[train]\ncorpus=c.h5\ndepth=5\n", NULL);
    assert_true(xlm_options_check_keys(tables, job, "train", NULL));
    assert_true(xlm_options_read(second, job, "train", &other, NULL));
    assert_int_equal(other.depth, 5);
    xlm_jobfile_free(job);
    job = parse_good("[train]\ndetph=5\n", NULL);
    GError *error = NULL;
    assert_false(xlm_options_check_keys(tables, job, "train", &error));
    expect(error, EX_CONFIG, "job.conf:2: [train]: *\"detph\"*did you mean \"depth\"*");
    xlm_jobfile_free(job);
}

static void wrong_table(void **state)
{
    (void)state;
    const xlm_option bad[] = {{"corpus", XLM_OPTION_TEXT, "c.h5", 0, 0, NULL, "", offsetof(settings, corpus)},
                              {"steps", XLM_OPTION_INT, "0", 1, 9, NULL, "", offsetof(settings, steps)},
                              XLM_OPTION_END};
    settings s;
    GError *error = NULL;
    assert_false(xlm_options_defaults(bad, &s, &error));
    expect(error, EX_SOFTWARE,
           "*default*steps = 0: *1*9*");
    assert_null(s.corpus);
}

static void ranges_open_on_one_side(void **state)
{
    (void)state;
    settings s;
    GError *error = NULL;
    const xlm_option up = {"steps", XLM_OPTION_INT, "0", 2, INFINITY, NULL, "", offsetof(settings, steps)};
    assert_true(xlm_option_set(&up, "9_000_000_000_000_000_000", &s, NULL));
    assert_false(xlm_option_set(&up, "1", &s, &error));
    expect(error, EX_CONFIG, "steps = 1: *integer*at least 2*");
    error = NULL;
    const xlm_option down = {"rate", XLM_OPTION_REAL, "0", -INFINITY, -0.5, NULL, "", offsetof(settings, rate)};
    assert_true(xlm_option_set(&down, "-1e30", &s, NULL));
    assert_false(xlm_option_set(&down, "0", &s, &error));
    expect(error, EX_CONFIG, "rate = 0: *number*at most -0.5*");
}

static void help_is_aligned(void **state)
{
    (void)state;
    const xlm_option two[] = {
        {"steps", XLM_OPTION_INT, "10", 1, 100, NULL, "updates", offsetof(settings, steps)},
        {"form", XLM_OPTION_CHOICE, "xlm", 0, 0, "bert|xlm", "how pairs are written", offsetof(settings, form)},
        {"corpus", XLM_OPTION_TEXT, NULL, 0, 0, NULL,
         "a meaning that goes on for so long that one line cannot hold it and a second one has to",
         offsetof(settings, corpus)},
        XLM_OPTION_END};
    GString *out = g_string_new(NULL);
    xlm_options_help(two, out);
    assert_string_equal(out->str,
                        "  steps   integer  10          from 1 to 100  updates\n"
                        "  form    choice   xlm         bert|xlm       how pairs are written\n"
                        "  corpus  text     (required)                 a meaning that goes on for so long that one "
                        "line cannot hold it and a\n"
                        "                                              second one has to\n");
    g_string_free(out, TRUE);
}

static void edit_distances(void **state)
{
    (void)state;
    assert_int_equal(xlm_edit_distance("", ""), 0);
    assert_int_equal(xlm_edit_distance("", "abc"), 3);
    assert_int_equal(xlm_edit_distance("kitten", "sitting"), 3);
    assert_int_equal(xlm_edit_distance("stpes", "steps"), 1);
    assert_int_equal(xlm_edit_distance("Learning-Rate", "learning_rate"), 0);
    assert_int_equal(xlm_edit_distance("ca", "abc"), 3); /* a swapped pair is not edited again */
    const char *const words[] = {"steps", "stops"};
    assert_string_equal(xlm_nearest("stips", words, 2), "steps");
    assert_null(xlm_nearest("abcdef", words, 2));
    assert_null(xlm_nearest("", words, 2));
}

/* ---- tables of classes of our own, which no program checks when it runs ---- */

static void check_class(const char *name, const xlm_option *options, size_t state_size)
{
    GError *error = NULL;
    if (!xlm_options_check_table(options, state_size, &error))
        fail_msg("%s: %s", name, error->message);
}

/* xlm_prep has the options of all classes side by side, and looks for one by its name alone. */
static void tables_of_segmenters(void **state)
{
    (void)state;
    g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
    for (int i = 0; i < xlm_segmenters_count(); i++) {
        const xlm_segmenter_class *cls = xlm_segmenter_class_at(i);
        check_class(cls->name, xlm_segmenter_class_options(cls), sizeof(xlm_segmenter_options));
        for (const xlm_option *o = xlm_segmenter_class_options(cls); o->name != NULL; o++)
            if (!g_hash_table_add(names, (void *)(uintptr_t)o->name))
                fail_msg("%s: another segmenter has an option --%s too", cls->name, o->name);
    }
    assert_true(g_hash_table_size(names) >= 3);
}

/* Options of a task are behind what every task's state begins with. */
static void tables_of_tasks(void **state)
{
    (void)state;
    g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
    for (const xlm_task *const *task = xlm_tasks(); *task != NULL; task++) {
        const xlm_loss_class *cls = &(*task)->loss;
        if (!g_hash_table_add(names, (void *)(uintptr_t)cls->name))
            fail_msg("two tasks are named %s", cls->name);
        if (cls->state_size < sizeof(xlm_task_state))
            fail_msg("%s: its state does not begin with an xlm_task_state", cls->name);
        check_class(cls->name, cls->options, cls->state_size);
        for (const xlm_option *o = cls->options; o != NULL && o->name != NULL; o++)
            if (o->offset < sizeof(xlm_task_state))
                fail_msg("%s: the option %s is in its xlm_task_state", cls->name, o->name);
    }
    assert_true(g_hash_table_size(names) >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_and_values),
        cmocka_unit_test(former_keys),
        cmocka_unit_test(overrides_go_before_the_file),
        cmocka_unit_test(malformed_files),
        cmocka_unit_test(odd_but_good_files),
        cmocka_unit_test(wrong_overrides),
        cmocka_unit_test(files_that_cannot_be_read),
        cmocka_unit_test(defaults),
        cmocka_unit_test(values_of_every_type),
        cmocka_unit_test(comments_after_values),
        cmocka_unit_test(a_whole_section_survives_printing),
        cmocka_unit_test(numbers_survive_printing),
        cmocka_unit_test(setting_again_frees_what_was_there),
        cmocka_unit_test(sets_of_words),
        cmocka_unit_test(wrong_values),
        cmocka_unit_test(unknown_keys),
        cmocka_unit_test(wrong_table),
        cmocka_unit_test(tables_of_segmenters),
        cmocka_unit_test(tables_of_tasks),
        cmocka_unit_test(ranges_open_on_one_side),
        cmocka_unit_test(help_is_aligned),
        cmocka_unit_test(edit_distances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
