/* xlm-mpi: a segmenter that the program does not have, by the same interface. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * It cuts words into groups of up to `model->group` characters (of one byte), and marks the second and later ones of a word by
 * "~" in front: "lowest" is "low ~est". So code that works with it does not rely on marks at the end. */
#include "text_fixture.h"

#include "model/row_sources.h"
#include "prep/options.h"
#include "subwords/tokenizer.h"

typedef struct model {
    int64_t group;
} model;

typedef struct grouper {
    const model *model;
    const xlm_word_counts *allowed;
    GString *segmented;
} grouper;

static const xlm_option group_options[] = {
    {"group", XLM_OPTION_INT, NULL, 1, 9, NULL, "characters of a subword", offsetof(xlm_segmenter_options, amount)},
    {"group-file", XLM_OPTION_TEXT, NULL, 0, 0, NULL, "number of characters", offsetof(xlm_segmenter_options, file)},
    XLM_OPTION_END};

static void *new_model(int64_t group)
{
    model *m = g_new(model, 1);
    m->group = group;
    return m;
}

static void *learn(const xlm_segmenter_options *asked, const xlm_word_counts *words, GError **error)
{
    (void)error;
    (void)words;
    return new_model(asked->amount);
}

static GString *print(const void *m)
{
    GString *text = g_string_new(NULL);
    g_string_printf(text, "%d\n", (int)((const model *)m)->group);
    return text;
}

static void *parse(const char *name, const char *bytes, size_t size, GError **error)
{
    if (size == 2 && g_ascii_isdigit(*bytes))
        return new_model(*bytes - '0');
    xlm_error_set(error, EX_DATAERR, "%s: is not a number", name);
    return NULL;
}

static bool save(const void *m, xlm_store *store, const char *path, int rank, GError **error)
{
    (void)rank;
    return xlm_store_set_int(store, path, "group", ((const model *)m)->group, error);
}

static void *load(const xlm_store *store, const char *path, GError **error)
{
    int64_t group;
    return xlm_store_get_int(store, path, "group", &group, error) ? new_model(group) : NULL;
}

static uint32_t size_of(const void *m) { return (uint32_t)((const model *)m)->group; }

static uint64_t digest_of(const void *m, uint64_t digest) { return xlm_digest(m, sizeof(model), digest); }

static bool extends(const void *m, const void *larger, GError **error)
{
    return size_of(m) == size_of(larger) || xlm_error_set(error, EX_DATAERR, "its groups are of %u, there of %u", size_of(m),
                                                          size_of(larger));
}

static xlm_word_mark spell(const void *m, const char *subword, GString *out)
{
    (void)m;
    if (out != NULL)
        g_string_append(out, subword + (*subword == '~'));
    return *subword == '~' ? XLM_MARKS_NOTHING : XLM_MARKS_BEGIN;
}

static void *open_grouper(const void *m, const xlm_word_counts *allowed)
{
    grouper *g = g_new(grouper, 1);
    *g = (grouper){m, allowed, g_string_new(NULL)};
    return g;
}

static void close_grouper(void *g)
{
    g_string_free(((grouper *)g)->segmented, TRUE);
    g_free(g);
}

/* Append a group, or where it is not allowed its characters. */
static void append_group(grouper *g, const char *at, size_t size, bool first)
{
    char *subword = g_strdup_printf("%s%.*s", first ? "" : "~", (int)size, at);
    const bool good = g->allowed == NULL || size == 1 || xlm_word_counts_find(g->allowed, subword, strlen(subword)) >= 0;
    if (good)
        g_string_append_printf(g->segmented, "%s%s", g->segmented->len > 0 ? " " : "", subword);
    for (size_t i = 0; i < size && !good; i++)
        append_group(g, at + i, 1, first && i == 0);
    g_free(subword);
}

static const char *segment_from(grouper *g, const char *text, size_t size, bool first, size_t *n)
{
    const size_t group = (size_t)g->model->group;
    g_string_truncate(g->segmented, 0);
    for (size_t at = 0; at < size; at += group)
        append_group(g, text + at, MIN(group, size - at), first && at == 0);
    *n = g->segmented->len;
    return g->segmented->str;
}

static const char *segment(void *g, const char *word, size_t size, GArray *places, size_t *n, GError **error)
{
    (void)places;
    (void)error;
    return segment_from(g, word, size, true, n);
}

static const char *segment_subword(void *g, const char *subword, size_t *n)
{
    const bool first = *subword != '~';
    return segment_from(g, subword + !first, strlen(subword + !first), first, n);
}

static const xlm_segmenter_learning learning = {.options = group_options, .learn = learn};
static const xlm_segmenter_comparison comparison = {digest_of, extends};

#define GROUPS(NAME, INPUT)                                                                                                     \
    {                                                                                                                           \
        .name = NAME, .unit = "characters", .marks = "~ in front: the word continues", .input = INPUT, .print = print,          \
        .parse = parse, .save = save, .load = load, .free = g_free, .size = size_of, .spell = spell, .open = open_grouper,      \
        .close = close_grouper, .segment = segment, .segment_subword = segment_subword, .learning = &learning,                  \
        .comparison = &comparison                                                                                               \
    }
static const xlm_segmenter_class groups = GROUPS("groups", XLM_SEGMENTS_WORDS), lines = GROUPS("lines", XLM_SEGMENTS_LINES),
                                 unregistered = GROUPS("unregistered", XLM_SEGMENTS_WORDS);

static xlm_segmenter *segmenter_of(const xlm_segmenter_class *cls, int64_t group)
{
    const xlm_segmenter_options asked = {.amount = group};
    xlm_word_counts *none = xlm_word_counts_new();
    xlm_segmenter *segmenter = xlm_segmenter_learn(cls, &asked, none, NULL);
    xlm_word_counts_free(none);
    return segmenter;
}

static const char WORDS[] = "low 9\n~est 5\n~er 4\nx 3\ne 2\n~e 2\n~r 2\n~s 1\nl 1\n~o 1\n~w 1\n";

/* With twins of low and ~est in language xx. */
static xlm_vocabulary *make(const xlm_segmenter_class *cls, int64_t group, const char *more, bool twins)
{
    static const char *const names[] = {"en", "xx"};
    static const int32_t originals[] = {XLM_SPECIALS, XLM_SPECIALS + 1};
    const xlm_vocabulary_made made = {.language = 1, .steps = "transliterate", .weights = "", .twins = 2, .originals = originals};
    const xlm_vocabulary_settings settings = {.words = XLM_WORDS_SPACE, .languages = 2, .language_names = names,
                                              .made_languages = twins ? 1 : 0, .made = &made, .in_order = true};
    char *text = g_strconcat(WORDS, more, NULL);
    xlm_word_counts *counts = xlm_word_counts_parse("words", text, strlen(text), NULL);
    xlm_vocabulary *v = xlm_vocabulary_new(counts, segmenter_of(cls, group), &settings, NULL);
    assert_non_null(v);
    xlm_word_counts_free(counts);
    g_free(text);
    return v;
}

static int32_t id_of(const xlm_vocabulary *v, const char *subword)
{
    const int32_t id = xlm_vocabulary_find(v, subword, strlen(subword));
    assert_int_not_equal(id, XLM_ID_UNK);
    return id;
}

/* A line becomes these subwords, and its words again. */
static void assert_encoded(const xlm_vocabulary *v, int language, const char *line, const char *subwords, const char *decoded)
{
    xlm_tokenizer *t = xlm_tokenizer_new(v, NULL);
    GArray *ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
    GString *out = g_string_new(NULL);
    assert_true(xlm_tokenizer_encode(t, language, line, strlen(line), ids, NULL, NULL));
    for (guint i = 0; i < ids->len; i++)
        g_string_append_printf(out, "%s%s", i > 0 ? " " : "", xlm_vocabulary_words(v)[g_array_index(ids, int32_t, i)]);
    assert_string_equal(out->str, subwords);
    g_string_truncate(out, 0);
    xlm_vocabulary_decode(v, (const int32_t *)(void *)ids->data, ids->len, out);
    assert_string_equal(out->str, decoded);
    g_string_free(out, TRUE);
    g_array_free(ids, TRUE);
    xlm_tokenizer_free(t);
}

static void assert_works(const xlm_vocabulary *v)
{
    assert_encoded(v, 0, "low lowest lowes x", "low low ~est low ~e ~s x", "low lowest lowes x");
    assert_encoded(v, 0, "z lowz", "<unk> low <unk>", "<unk> low <unk>");
    assert_encoded(v, 1, "lowest lower", "xx:low xx:~est xx:low ~er", "xx:lowest xx:lower");
    assert_true(xlm_vocabulary_joins(v, id_of(v, "low"), id_of(v, "~est")));
    assert_true(xlm_vocabulary_joins(v, id_of(v, "~e"), id_of(v, "~r")));
    assert_true(xlm_vocabulary_joins(v, id_of(v, "xx:low"), id_of(v, "xx:~est")));
    assert_false(xlm_vocabulary_joins(v, id_of(v, "~est"), id_of(v, "low")));
    assert_false(xlm_vocabulary_joins(v, id_of(v, "xx:~est"), id_of(v, "xx:low")));
    assert_false(xlm_vocabulary_joins(v, XLM_ID_MASK, id_of(v, "~est")));
}

static void test_segments_and_joins(void **state)
{
    (void)state;
    xlm_vocabulary *v = make(&groups, 3, "", true);
    assert_works(v);
    xlm_vocabulary_free(v);
}

static void test_counts_subwords(void **state)
{
    (void)state;
    xlm_segmenter *segmenter = segmenter_of(&groups, 3);
    xlm_word_counts *words = text_count("lowest low lower lower");
    xlm_word_counts *chosen = text_choose(segmenter, words, 2, 0);
    GString *text = xlm_word_counts_print(chosen);
    assert_string_equal(text->str, "low 4\n~er 2\n");
    g_string_free(text, TRUE);
    xlm_cutter *cutter = xlm_cutter_new(segmenter, chosen);
    text = g_string_new(NULL);
    xlm_cutter_text(cutter, "lowest  lower\nlow", strlen("lowest  lower\nlow"), text);
    assert_string_equal(text->str, "low ~e ~s ~t  low ~er\nlow");
    g_string_free(text, TRUE);
    xlm_cutter_free(cutter);
    xlm_word_counts_free(chosen);
    xlm_word_counts_free(words);
    xlm_segmenter_unref(segmenter);
}

/* A vocabulary written by a program that has the class, read by one that has it. */
static void test_saves_and_loads(void **state)
{
    (void)state;
    xlm_vocabulary *v = make(&groups, 3, "", true), *loaded = text_reload(v);
    const xlm_segmenter *segmenter = xlm_vocabulary_segmenter(loaded);
    assert_string_equal(xlm_segmenter_class_of(segmenter)->name, "groups");
    assert_int_equal(xlm_segmenter_size(segmenter), 3);
    assert_works(loaded);
    GString *text = xlm_segmenter_print(segmenter);
    xlm_segmenter *again = xlm_segmenter_parse(&groups, "text", text->str, text->len, NULL);
    assert_true(xlm_segmenter_extends(segmenter, again, NULL));
    xlm_segmenter_unref(again);
    g_string_free(text, TRUE);
    xlm_vocabulary_free(v);
    xlm_vocabulary_free(loaded);
}

/* Both ways round, by what the file says: attribute segmenter, and its absence. */
static void test_names_the_class_in_files(void **state)
{
    (void)state;
    char *directory = g_dir_make_tmp("xlm-text-XXXXXX", NULL), *path = g_build_filename(directory, "v.h5", NULL);
    xlm_vocabulary *v = make(&unregistered, 3, "", false);
    GError *error = NULL;
    xlm_store *store = xlm_store_create(NULL, path, NULL);
    assert_true(xlm_vocabulary_save(v, store, "/vocabulary", 0, NULL) && xlm_store_commit(store, NULL));
    store = xlm_store_open(path, NULL);
    assert_null(xlm_vocabulary_load(store, "/vocabulary", &error));
    assert_int_equal(error->code, EX_DATAERR);
    assert_true(g_str_has_prefix(error->message, path));
    assert_non_null(strstr(error->message, "\"unregistered\""));
    assert_non_null(strstr(error->message, ", groups, lines"));
    g_clear_error(&error);
    int64_t version;
    assert_true(xlm_store_get_int(store, "/vocabulary", "format_version", &version, NULL));
    assert_int_equal(version, 3);
    xlm_store_close(store);
    xlm_vocabulary_free(v);

    /* Files of before have no such attribute: they are of the first class. */
    const char *const codes[] = {"l o"};
    const int64_t counts[] = {7};
    const uint64_t one = 1;
    store = xlm_store_create(NULL, path, NULL);
    assert_true(xlm_store_write_strings(store, "/vocabulary/codes", 1, codes, NULL) &&
                xlm_store_dataset(store, "/vocabulary/code_counts", XLM_I64, 1, &one, XLM_STORE_CHECKED, NULL) &&
                xlm_store_write(store, "/vocabulary/code_counts", 0, 1, counts, NULL) && xlm_store_commit(store, NULL));
    store = xlm_store_open(path, NULL);
    xlm_segmenter *segmenter = xlm_segmenter_load(store, "/vocabulary", NULL);
    assert_non_null(segmenter);
    assert_ptr_equal(xlm_segmenter_class_of(segmenter), &xlm_segmenter_bpe);
    xlm_segmenter_unref(segmenter);
    xlm_store_close(store);
    g_unlink(path);
    g_rmdir(directory);
    g_free(path);
    g_free(directory);
}

static void test_digest_tells_apart(void **state)
{
    (void)state;
    xlm_vocabulary *v[] = {make(&groups, 3, "", false), make(&groups, 4, "", false), make(&unregistered, 3, "", false)};
    for (size_t i = 0; i < G_N_ELEMENTS(v); i++)
        for (size_t j = 0; j < i; j++)
            assert_true(xlm_vocabulary_digest(v[i]) != xlm_vocabulary_digest(v[j]));
    for (size_t i = 0; i < G_N_ELEMENTS(v); i++)
        xlm_vocabulary_free(v[i]);
}

/* The digest of a vocabulary of BPE, which corpora and checkpoints hold, is what it was before there were other segmenters. */
static void test_digest_of_bpe_stays(void **state)
{
    (void)state;
    static const char *const names[] = {"en"};
    static const char codes[] = "l o 7\nlo w</w> 5\n", words[] = "low 9\nlo@@ 3\n";
    const xlm_vocabulary_settings settings = {.words = XLM_WORDS_ICU, .languages = 1, .language_names = names};
    xlm_word_counts *counts = xlm_word_counts_parse("words", words, strlen(words), NULL);
    xlm_vocabulary *v = xlm_vocabulary_new(counts, text_bpe(codes), &settings, NULL);
    assert_int_equal(xlm_vocabulary_digest(v), UINT64_C(0xdfc0265ac0242b3e));
    xlm_vocabulary_free(v);
    xlm_word_counts_free(counts);
}

/* Rows of new subwords come from the subwords that their text was cut into. */
static void test_extends(void **state)
{
    (void)state;
    xlm_vocabulary *old = make(&groups, 3, "", false), *larger = make(&groups, 3, "~owl 1\nlol 1\n", false),
                   *others = make(&groups, 4, "", false), *another = make(&unregistered, 3, "", false);
    GError *error = NULL;
    assert_true(xlm_vocabulary_extends(old, larger, NULL));
    assert_false(xlm_vocabulary_extends(old, others, &error));
    assert_non_null(strstr(error->message, "groups are of 3"));
    g_clear_error(&error);
    assert_false(xlm_vocabulary_extends(old, another, &error));
    assert_non_null(strstr(error->message, "segmenter is groups, there it is unregistered"));
    g_clear_error(&error);

    xlm_row_sources *s = xlm_row_sources_of_subwords(old, larger, true);
    const int64_t *first = s->first + id_of(larger, "~owl");
    assert_int_equal(first[1] - first[0], 2); /* ~o ~w; there is no ~l */
    assert_int_equal(s->source[first[0]], id_of(old, "~o"));
    assert_int_equal(s->source[first[0] + 1], id_of(old, "~w"));
    first = s->first + id_of(larger, "lol");
    assert_int_equal(first[1] - first[0], 2); /* l ~o */
    assert_int_equal(s->source[first[0]], id_of(old, "l"));
    xlm_row_sources_free(s);
    xlm_vocabulary_free(old);
    xlm_vocabulary_free(larger);
    xlm_vocabulary_free(others);
    xlm_vocabulary_free(another);
}

/* A line is cut as one, and its words are those that marks tell apart. */
static void test_reads_lines(void **state)
{
    (void)state;
    xlm_vocabulary *v = make(&lines, 3, "", false);
    xlm_tokenizer *t = xlm_tokenizer_new(v, NULL);
    GArray *ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
    const xlm_word *line;
    size_t words;
    assert_true(xlm_tokenizer_words(t, 0, "low lower", strlen("low lower"), &line, &words, NULL));
    assert_int_equal(words, 1);
    assert_int_equal(line->size, strlen("low lower"));
    assert_true(xlm_tokenizer_encode(t, 0, "lowest", strlen("lowest"), ids, &words, NULL));
    assert_int_equal(ids->len, 2);
    assert_int_equal(g_array_index(ids, int32_t, 1), id_of(v, "~est"));
    assert_int_equal(words, 1);
    const int32_t low = id_of(v, "low"), both[] = {low, low};
    assert_int_equal(xlm_tokenizer_count_words(t, both, 2, 1), 2);
    g_array_free(ids, TRUE);
    xlm_tokenizer_free(t);
    xlm_vocabulary_free(v);
}

/* The preparation of text for a model with this vocabulary is refused before it begins, with these words. */
static void assert_not_prepared(const xlm_segmenter_class *cls, const char *derive, int64_t add, int code, const char *message)
{
    char *directory = g_dir_make_tmp("xlm-text-XXXXXX", NULL), *text = g_build_filename(directory, "text", NULL),
         *mono = g_strconcat("en=", text, NULL);
    assert_true(g_file_set_contents(text, "low lower\n", -1, NULL));
    xlm_prep_options *options = xlm_prep_options_new();
    options->like = make(cls, 3, "", false);
    options->like_path = g_strdup("model.h5");
    options->output = g_build_filename(directory, "corpus.h5", NULL);
    options->add_subwords = add;
    GError *error = NULL;
    assert_true(xlm_prep_add_monolingual(options, mono, NULL));
    if (derive != NULL)
        assert_true(xlm_prep_add_synthetic(options, derive, NULL));
    assert_false(xlm_prep_options_check(options, &error));
    if (error->code != code || strstr(error->message, message) == NULL)
        fail_msg("exit code %d: %s", error->code, error->message);
    g_error_free(error);
    xlm_prep_options_free(options);
    g_unlink(text);
    g_rmdir(directory);
    g_free(mono);
    g_free(text);
    g_free(directory);
}

static void test_refuses_before_preparing(void **state)
{
    (void)state;
    assert_not_prepared(&lines, "zz=en:invert", 0, EX_DATAERR, "--derive needs text that is segmented word by word");
    assert_not_prepared(&groups, NULL, 5, EX_USAGE, "segmenter of model.h5 is groups, which cannot continue learning");
}

int main(void)
{
    xlm_segmenter_register(&groups);
    xlm_segmenter_register(&lines);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segments_and_joins),
        cmocka_unit_test(test_counts_subwords),
        cmocka_unit_test(test_saves_and_loads),
        cmocka_unit_test(test_names_the_class_in_files),
        cmocka_unit_test(test_digest_tells_apart),
        cmocka_unit_test(test_digest_of_bpe_stays),
        cmocka_unit_test(test_extends),
        cmocka_unit_test(test_reads_lines),
        cmocka_unit_test(test_refuses_before_preparing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
