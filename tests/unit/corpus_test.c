/* xlm-mpi: tests of reading corpora, whole and damaged. SPDX-License-Identifier: GPL-3.0-or-later */
#include "corpus_fixture.h"

#include "aligners/corpus_walk.h"
#include "hostile.h"

enum { EN, DE, FR, CS };

static const int en_lengths[] = {3, 5, 2, 4}, de_lengths[] = {4, 4, 6}, held_lengths[] = {7};
static const int64_t train_links[] = {2, 1, 1, 2}, held_links[] = {0, 0};
static const corpus_plan plan = {
    .text = {[XLM_TRAIN] = {[EN] = {4, 2, en_lengths}, [DE] = {3, 1, de_lengths}, [CS] = {1, 1, held_lengths}},
             [XLM_HELD_OUT] = {[EN] = {1, 0, held_lengths}, [DE] = {1, 0, held_lengths}}},
    .pairs = {[XLM_TRAIN] = {{DE, EN, 2, train_links}}, [XLM_HELD_OUT] = {{DE, EN, 1, held_links}}}};

static void finds_what_is_there(void **state)
{
    (void)state;
    xlm_corpus *corpus = make_corpus(&plan);
    int n;
    const xlm_corpus_text *texts = xlm_corpus_texts(corpus, XLM_TRAIN, &n);
    assert_int_equal(n, 3); /* French has no text */
    assert_string_equal(texts[0].language, "en");
    assert_string_equal(texts[1].language, "de");
    assert_string_equal(texts[2].language, "cs");
    assert_int_equal(texts[2].language_id, CS);
    assert_null(xlm_corpus_find_text(corpus, XLM_TRAIN, "fr"));
    assert_null(xlm_corpus_find_text(corpus, XLM_HELD_OUT, "cs"));
    assert_null(xlm_corpus_find_text(corpus, XLM_TRAIN, "e"));

    const xlm_corpus_text *en = xlm_corpus_find_text(corpus, XLM_TRAIN, "en");
    assert_int_equal(en->sentences, 4);
    assert_int_equal(en->monolingual_sentences, 2);
    assert_int_equal(en->tokens, 14);
    assert_int_equal(en->language_id, EN);
    assert_int_equal(xlm_corpus_find_text(corpus, XLM_HELD_OUT, "en")->tokens, 7);
    assert_int_equal(xlm_vocabulary_size(xlm_corpus_vocabulary(corpus)), VOCABULARY);
    xlm_corpus_close(corpus);
}

static void finds_pairs_in_either_order(void **state)
{
    (void)state;
    xlm_corpus *corpus = make_corpus(&plan);
    bool swapped = true;
    const xlm_corpus_pairs *pairs = xlm_corpus_find_pairs(corpus, XLM_TRAIN, "de-en", &swapped);
    assert_non_null(pairs);
    assert_false(swapped);
    assert_string_equal(pairs->source->language, "de");
    assert_string_equal(pairs->target->language, "en");
    assert_int_equal(pairs->pairs, 2);
    assert_ptr_equal(xlm_corpus_find_pairs(corpus, XLM_TRAIN, "en-de", &swapped), pairs);
    assert_true(swapped);
    assert_ptr_equal(xlm_corpus_find_pairs(corpus, XLM_TRAIN, "en-de", NULL), pairs);
    assert_null(xlm_corpus_find_pairs(corpus, XLM_TRAIN, "en-cs", NULL));
    int n;
    assert_ptr_equal(xlm_corpus_all_pairs(corpus, XLM_TRAIN, &n), pairs);
    assert_int_equal(n, 1);
    xlm_corpus_close(corpus);
}

static void reads_any_part(void **state)
{
    (void)state;
    xlm_corpus *corpus = make_corpus(&plan);
    const xlm_corpus_text *en = xlm_corpus_find_text(corpus, XLM_TRAIN, "en");
    GError *error = NULL;
    uint64_t offsets[5];
    must(xlm_corpus_read_offsets(en, 0, 5, offsets, &error), error);
    static const uint64_t expected[] = {0, 3, 8, 10, 14};
    assert_memory_equal(offsets, expected, sizeof expected);
    int32_t ids[14];
    must(xlm_corpus_read_tokens(en, 8, 2, ids, &error), error);
    assert_int_equal(ids[0], token_at(EN, 8));
    assert_int_equal(ids[1], token_at(EN, 9));
    g_autoptr(GArray) sentences = g_array_new(FALSE, FALSE, sizeof(int32_t)); /* one after the other */
    must(xlm_corpus_read_sentence(corpus, en, 2, sentences, &error), error);
    must(xlm_corpus_read_sentence(corpus, en, 0, sentences, &error), error);
    static const int64_t tokens_of_both[] = {8, 9, 0, 1, 2};
    assert_int_equal(sentences->len, G_N_ELEMENTS(tokens_of_both));
    for (guint i = 0; i < sentences->len; i++)
        assert_int_equal(g_array_index(sentences, int32_t, i), token_at(EN, tokens_of_both[i]));
    assert_true(xlm_corpus_fits(corpus, en, 2, INT32_MAX, &error));
    assert_false(xlm_corpus_fits(corpus, en, 2, (int64_t)INT32_MAX + 1, &error));
    g_clear_error(&error);
    int64_t links[2];
    must(xlm_corpus_read_links(corpus, xlm_corpus_find_pairs(corpus, XLM_TRAIN, "de-en", NULL), 1, 1, links, &error),
         error);
    assert_int_equal(links[0], 1);
    assert_int_equal(links[1], 2);
    assert_false(xlm_corpus_read_tokens(en, 13, 2, ids, &error));
    assert_non_null(error);
    g_error_free(error);
    xlm_corpus_close(corpus);
}

static void digest_is_of_vocabulary_and_languages(void **state)
{
    (void)state;
    corpus_plan other = plan;
    other.text[XLM_TRAIN][CS].sentences = 0;
    xlm_corpus *a = make_corpus(&plan), *b = make_corpus(&other);
    assert_int_equal(xlm_corpus_digest(a), xlm_corpus_digest(b));
    assert_int_not_equal(xlm_corpus_digest(a), 0);
    xlm_corpus_close(a);
    xlm_corpus_close(b);
}

/* ---- several files ---- */

static const int more_en[] = {2, 1, 3}, more_de[] = {6, 1};
static const int64_t more_links[] = {2, 0, 1, 1};
static int32_t later(int language, int64_t index) { return token_at(language, index + 500); }
static const corpus_plan more = {
    .text = {[XLM_TRAIN] = {[EN] = {3, 1, more_en}, [DE] = {2, 1, more_de}, [FR] = {1, 0, held_lengths}}},
    .pairs = {[XLM_TRAIN] = {{EN, DE, 2, more_links}}}, .token = later};

/* The corpus of two plans. */
static xlm_corpus *join(const corpus_plan *a, const corpus_plan *b, GError **error)
{
    char *paths[] = {write_corpus(a), write_corpus(b), NULL}, *path = g_strjoinv(" , ", paths);
    xlm_corpus *corpus = xlm_corpus_open(path, error);
    remove_corpus(paths[0]);
    remove_corpus(paths[1]);
    g_free(path);
    return corpus;
}

static void texts_are_joined(void **state)
{
    (void)state;
    GError *error = NULL;
    xlm_corpus *corpus = join(&plan, &more, &error);
    must(corpus != NULL, error);
    int n;
    const xlm_corpus_text *texts = xlm_corpus_texts(corpus, XLM_TRAIN, &n), *en = &texts[0];
    assert_int_equal(n, 4);
    assert_string_equal(texts[2].language, "fr");
    assert_int_equal(en->sentences, 7);
    assert_int_equal(en->monolingual_sentences, 3);
    assert_int_equal(en->tokens, 20);
    /* The first file's 3 and 5, the second's 2; then those of pairs, 2 and 4, 1 and 3. */
    static const uint64_t expected[] = {0, 3, 8, 10, 12, 16, 17, 20};
    static const int64_t begins[] = {0, 500, 8, 502}, ends[] = {8, 502, 14, 506}; /* their tokens, which count up */
    int32_t all[20], one;
    for (int part = 0, i = 0; part < 4; part++)
        for (int64_t t = begins[part]; t < ends[part]; t++)
            all[i++] = token_at(EN, t);
    for (int64_t first = 0; first < 8; first++)
        for (int64_t last = first; last < 8; last++) {
            uint64_t offsets[8];
            int32_t ids[20];
            must(xlm_corpus_read_offsets(en, first, last - first + 1, offsets, &error), error);
            assert_memory_equal(offsets, expected + first, (size_t)(last - first + 1) * sizeof *offsets);
            const int64_t tokens = (int64_t)(expected[last] - expected[first]);
            must(xlm_corpus_read_tokens(en, (int64_t)expected[first], tokens, ids, &error), error);
            assert_memory_equal(ids, all + expected[first], (size_t)tokens * sizeof *ids);
        }
    assert_false(xlm_corpus_read_tokens(en, 20, 1, &one, &error));
    g_clear_error(&error);
    for (int i = XLM_SPECIALS; i < VOCABULARY; i++)
        assert_int_equal(xlm_vocabulary_counts(xlm_corpus_vocabulary(corpus))[i], 2 * (2 * SUBWORDS - (i - XLM_SPECIALS)));
    xlm_corpus_close(corpus);
}

static void links_are_renumbered(void **state)
{
    (void)state;
    GError *error = NULL;
    xlm_corpus *corpus = join(&plan, &more, &error);
    must(corpus != NULL, error);
    const xlm_corpus_pairs *pairs = xlm_corpus_find_pairs(corpus, XLM_TRAIN, "en-de", NULL);
    assert_string_equal(pairs->name, "de-en");
    static const int64_t expected[] = {3, 1, 2, 3, 1, 6, 4, 5};
    for (int64_t first = 0; first < 4; first++) {
        int64_t links[8];
        must(xlm_corpus_read_links(corpus, pairs, first, 4 - first, links, &error), error);
        assert_memory_equal(links, expected + 2 * first, (size_t)(8 - 2 * first) * sizeof *links);
    }
    assert_int_equal(pairs->pairs, 4);
    assert_int_equal(xlm_corpus_find_pairs(corpus, XLM_HELD_OUT, "de-en", NULL)->pairs, 1);
    xlm_corpus_close(corpus);
}

static void digest_knows_the_order(void **state)
{
    (void)state;
    GError *error = NULL;
    xlm_corpus *corpora[] = {join(&plan, &more, &error), join(&plan, &more, &error), join(&more, &plan, &error)};
    uint64_t digest[3];
    for (int i = 0; i < 3; i++) {
        must(corpora[i] != NULL, error);
        must(xlm_corpus_text_digest(corpora[i], &digest[i], &error), error);
        xlm_corpus_close(corpora[i]);
    }
    assert_int_equal(digest[0], digest[1]);
    assert_int_not_equal(digest[0], digest[2]);
}

static void strangers_are_not_joined(void **state)
{
    (void)state;
    GError *error = NULL;
    corpus_plan other = more;
    static const xlm_special_tokens later_ids = {.id = {1, 2, 3, 4, 5}, .distinct = 5, .ascending = {1, 2, 3, 4, 5}};
    other.specials = &later_ids;
    assert_null(join(&plan, &other, &error));
    must_say(g_steal_pointer(&error), EX_DATAERR, "its subword 0 is `w0000`, there it is `<s>`; prepare");
    char *path = write_corpus(&plan), *twice = g_strconcat(path, ",", path, NULL), *empty = g_strconcat(path, ",", NULL);
    assert_null(xlm_corpus_open(twice, &error));
    must_say(g_steal_pointer(&error), EX_USAGE, "is given twice");
    assert_null(xlm_corpus_open(empty, &error));
    must_say(g_steal_pointer(&error), EX_USAGE, "the name of a corpus is empty");
    g_free(empty);
    g_free(twice);
    remove_corpus(path);
}

/* Sentences that are too long for all to be read at a time. */
static void long_pairs_are_walked(void **state)
{
    (void)state;
    static const int lengths[] = {3, XLM_CORPUS_TOKENS_AT_ONCE + 1, XLM_CORPUS_TOKENS_AT_ONCE, 1}, short_lengths[] = {2, 1, 3, 5};
    static const int64_t links[] = {0, 0, 1, 1, 2, 2, 3, 3};
    const corpus_plan long_plan = {.text = {[XLM_TRAIN] = {[EN] = {4, 0, lengths}, [DE] = {4, 0, short_lengths}}},
                                   .pairs = {[XLM_TRAIN] = {{DE, EN, 4, links}}}};
    xlm_corpus *corpus = make_corpus(&long_plan);
    xlm_corpus_walk *walk = xlm_corpus_walk_new(corpus, xlm_corpus_find_pairs(corpus, XLM_TRAIN, "de-en", NULL), false);
    int64_t first[2] = {0}, n[2];
    const int32_t *ids[2];
    GError *error = NULL;
    for (int i = 0; i < 4; i++) {
        must(xlm_corpus_walk_next(walk, ids, n, &error) == 1, error);
        for (int side = 0; side < 2; side++) {
            const int language = side == 0 ? DE : EN;
            assert_int_equal(n[side], side == 0 ? short_lengths[i] : lengths[i]);
            assert_int_equal(ids[side][0], token_at(language, first[side]));
            first[side] += n[side];
            assert_int_equal(ids[side][n[side] - 1], token_at(language, first[side] - 1));
        }
    }
    assert_int_equal(xlm_corpus_walk_next(walk, ids, n, &error), 0);
    xlm_corpus_walk_free(walk);
    xlm_corpus_close(corpus);
}

/* ---- damage ---- */

static void set_number(hid_t file, const char *group, const char *name, int64_t value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    assert_true(H5Adelete_by_name(file, group, name, H5P_DEFAULT) >= 0);
    hid_t attribute = H5Acreate_by_name(file, group, name, H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT64, &value) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
}

#define NEWER "has format version 2, which is of a newer version of xlm-mpi; this program reads versions up to 1: use the " \
              "version that wrote the file, or a later one"
static void raise_version(hid_t file) { set_number(file, "/", "format_version", XLM_CORPUS_VERSION + 1); }
static void lose_format(hid_t file) { assert_true(H5Adelete(file, "format") >= 0); }
static void lose_vocabulary(hid_t file) { assert_true(H5Ldelete(file, "/vocabulary/words", H5P_DEFAULT) >= 0); }
static void lose_languages(hid_t file) { assert_true(H5Ldelete(file, "/languages", H5P_DEFAULT) >= 0); }
static void lose_tokens(hid_t file) { assert_true(H5Ldelete(file, "/train/text/de/tokens", H5P_DEFAULT) >= 0); }
static void lose_links(hid_t file) { assert_true(H5Ldelete(file, "/held_out/parallel/de-en/links", H5P_DEFAULT) >= 0); }
static void lose_target(hid_t file) { assert_true(H5Ldelete(file, "/train/text/en", H5P_DEFAULT) >= 0); }
static void add_sentence(hid_t file) { set_number(file, "/train/text/en", "sentences", 5); }
static void add_group(hid_t file)
{
    assert_true(H5Ocopy(file, "/train/parallel/de-en", file, "/train/parallel/en-de", H5P_DEFAULT, H5P_DEFAULT) >= 0);
}
/* The group is named after de and en, but a second one has their pairs. */
static void misname_group(hid_t file)
{
    assert_true(H5Ocopy(file, "/train/parallel/de-en", file, "/train/parallel/x", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    assert_true(apply_change(file, &(change){"/train/parallel/de-en", "target", SET_TEXT, .text = "cs"}));
}
static void add_pair(hid_t file) { set_number(file, "/train/parallel/de-en", "pairs", 3); }
static void all_monolingual(hid_t file) { set_number(file, "/train/text/en", "monolingual_sentences", 5); }

/* Offsets that end before the tokens do: those of another text. */
static void mix_offsets(hid_t file)
{
    assert_true(H5Ldelete(file, "/train/text/en/offsets", H5P_DEFAULT) >= 0);
    assert_true(H5Ocopy(file, "/held_out/text/en/offsets", file, "/train/text/en/offsets", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    set_number(file, "/train/text/en", "sentences", 1);
    set_number(file, "/train/text/en", "monolingual_sentences", 1);
}

static void damage_is_named(void **state)
{
    (void)state;
    static const struct { void (*damage)(hid_t); const char *message; } cases[] = {
        {raise_version, NEWER}, {lose_format, "not a corpus"}, {lose_vocabulary, "/vocabulary/words"},
        {lose_languages, "/languages"}, {lose_tokens, "/train/text/de/tokens"},
        {lose_links, "/held_out/parallel/de-en/links"}, {lose_target, "no text in en"},
        {add_sentence, "/train/text/en/offsets"}, {add_pair, "/train/parallel/de-en/links"},
        {add_group, "a second group of pairs of de and en"},
        {misname_group, "/train/parallel/de-en: has pairs of de and cs, whose name is de-cs"},
        {all_monolingual, "/train/text/en"}, {mix_offsets, "lead to token 7 of 14"}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *path = write_corpus(&plan);
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        assert_true(file >= 0);
        cases[i].damage(file);
        H5Fclose(file);
        GError *error = NULL;
        must(xlm_store_reseal(path, &error), error);
        xlm_corpus *corpus = xlm_corpus_open(path, &error);
        if (corpus != NULL || error->code != EX_DATAERR || strstr(error->message, cases[i].message) == NULL ||
            strstr(error->message, path) == NULL)
            fail_msg("%s: got %s", cases[i].message, error != NULL ? error->message : "a corpus");
        g_error_free(error);
        remove_corpus(path);
    }
}

static void rename_language(hid_t file, int id, const char *to)
{
    g_autofree char *old = g_strconcat("/train/text/", languages[id], NULL), *new = g_strconcat("/train/text/", to, NULL);
    assert_true(H5Lmove(file, old, file, new, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    assert_true(apply_change(file, &(change){new, "language", SET_TEXT, .text = to}));
    assert_true(apply_change(file, &(change){"/languages", NULL, ELEMENT_TEXT, .i = id, .text = to}));
}

static void rename_pair(hid_t file, const char *group, const char *source, const char *target)
{
    g_autofree char *old = g_strconcat("/train/parallel/", group, NULL);
    g_autofree char *new = g_strconcat("/train/parallel/", source, "-", target, NULL);
    assert_true(H5Lmove(file, old, file, new, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    assert_true(apply_change(file, &(change){new, "source", SET_TEXT, .text = source}));
    assert_true(apply_change(file, &(change){new, "target", SET_TEXT, .text = target}));
}

/* With a "-" in names of languages, pairs of different languages may be called the same: c- with a, and c with -a. */
static void pairs_of_one_name_are_refused(void **state)
{
    (void)state;
    const split_text some = {3, 1, de_lengths};
    const corpus_plan two = {.text = {[XLM_TRAIN] = {some, some, some, some}},
                             .pairs = {[XLM_TRAIN] = {{EN, DE, 2, train_links}, {FR, CS, 2, train_links}}}};
    char *path = write_corpus(&two);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    rename_language(file, EN, "a");
    rename_language(file, DE, "c-");
    rename_language(file, FR, "c");
    rename_language(file, CS, "-a");
    rename_pair(file, "en-de", "a", "c-");
    rename_pair(file, "fr-cs", "c", "-a");
    H5Fclose(file);
    GError *error = NULL;
    must(xlm_store_reseal(path, &error), error);
    assert_null(xlm_corpus_open(path, &error));
    must_say(error, EX_DATAERR, "the pairs of a with c- and of c with -a have one name, c--a");
    remove_corpus(path);
}

#define T40 ((int64_t)1 << 40)

static const change changes[] = {
    {"/train/text/en", "sentences", SET_INT, INT64_MAX, .expected = "5 offsets for 9223372036854775807 sentences"},
    {"/train/text/en", "sentences", SET_INT, -1, .expected = "5 offsets for -1 sentences"},
    {"/train/text/en", "sentences", SET_REAL, .r = 4, .expected = "'sentences' is not a whole number"},
    {"/train/text/en", "monolingual_sentences", SET_INT, -1, .expected = "the corpus is damaged"},
    {"/train/text/en", "language_id", SET_INT, 3, .expected = "/train/text/en: says that it is language 3"},
    {"/train/text/en", "language", SET_TEXT, .text = "de", .expected = "/train/text/en: says that it is language"},
    {"/train/text/en/tokens", NULL, RESHAPE, 7, 2, .expected = "/train/text/en/tokens: its shape is 7 x 2, where n belongs"},
    {"/train/text/en/tokens", NULL, UNALLOCATED, T40, .expected = "/train/text/en/tokens: says that it has more elements"},
    {"/train/text/en/offsets", NULL, UNALLOCATED, 5, .expected = "/train/text/en/offsets: says that it has more elements"},
    {"/train/text/en/tokens", NULL, RETYPE_REAL, .r = 7, .expected = "/train/text/en/tokens: its elements are not integers"},
    {"/train/text/en/offsets", NULL, RETYPE_REAL, .r = 0, .expected = "/train/text/en/offsets: its elements are not integers"},
    {"/train/text/en/offsets", NULL, RETYPE_INT, -1, .expected = "/train/text/en/offsets: holds values that are too large"},
    {"/train/text/en/offsets", NULL, RETYPE_INT, T40, .expected = "/train/text/en/offsets"},
    {"/train/parallel/de-en", "pairs", SET_INT, -1, .expected = "2 links for -1 pairs"},
    {"/train/parallel/de-en", "target", SET_TEXT, .text = "de", .expected = "a pair of de with itself"},
    {"/train/parallel/de-en", "target", SET_TEXT, .text = "tlh", .expected = "no text in tlh"},
    {"/train/parallel/de-en/links", NULL, RESHAPE, 2, 1, .expected = "/train/parallel/de-en/links: its shape is 2 x 1, where n x 2 belongs"},
    {"/train/parallel/de-en/links", NULL, RESHAPE, 2, 1000, .expected = "/train/parallel/de-en/links: its shape is 2 x 1000"},
    {"/train/parallel/de-en/links", NULL, RESHAPE, 4, .expected = "its shape is 4, where n x 2 belongs"},
    {"/train", NULL, OUTER_LINK, .text = "/tmp/other.h5", .expected = "/train: is a link"},
    {"/languages", NULL, UNALLOCATED, T40, .expected = "/languages: says that it has more elements"},
};

static void hostile_headers_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
        char *path = write_corpus(&plan);
        GError *error = NULL;
        if (!make_change(path, &changes[i]))
            fail_msg("%s: the change was not made", changes[i].expected);
        assert_null(xlm_corpus_open(path, &error));
        must_say(error, EX_DATAERR, changes[i].expected);
        remove_corpus(path);
    }
}

/* Numbers are not looked at before they are read. */
static void hostile_numbers_are_refused(void **state)
{
    (void)state;
    static const change wrong[] = {
        {"/train/text/en/tokens", NULL, ELEMENT_INT, VOCABULARY, .r = 2, .expected = "token 2 is 1005, which is not in the "
         "vocabulary"},
        {"/train/text/en/tokens", NULL, RETYPE_INT, -1, .expected = "token 0 is -1"},
        {"/train/text/en/tokens", NULL, RETYPE_INT, T40, .expected = "holds values that are too large"},
        {"/train/text/en/offsets", NULL, ELEMENT_INT, 9, .r = 1, .expected = "offset 1 is greater than the next one"},
        {"/train/text/en/offsets", NULL, ELEMENT_INT, T40, .r = 1, .expected = "offset 1 is greater than the next one"},
        {"/train/parallel/de-en/links", NULL, ELEMENT_INT, 3, .r = 2, .expected = "pair 1: a link leads to sentence 3 of de, "
         "which has 3"},
        {"/train/parallel/de-en/links", NULL, ELEMENT_INT, -1, .r = 1, .expected = "pair 0: a link leads to sentence -1 of en"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        char *path = write_corpus(&plan);
        GError *error = NULL;
        if (!make_change(path, &wrong[i]))
            fail_msg("%s: the change was not made", wrong[i].expected);
        xlm_corpus *corpus = xlm_corpus_open(path, &error);
        must(corpus != NULL, error);
        const xlm_corpus_text *en = xlm_corpus_find_text(corpus, XLM_TRAIN, "en");
        int32_t ids[14];
        uint64_t offsets[5];
        int64_t links[4];
        assert_false(xlm_corpus_read_tokens(en, 0, 14, ids, &error) &&
                     xlm_corpus_read_offsets(en, 0, 5, offsets, &error) &&
                     xlm_corpus_read_links(corpus, xlm_corpus_find_pairs(corpus, XLM_TRAIN, "de-en", NULL), 0, 2, links, &error));
        must_say(error, EX_DATAERR, wrong[i].expected);
        xlm_corpus_close(corpus);
        remove_corpus(path);
    }
}

static void missing_files_are_named(void **state)
{
    (void)state;
    GError *error = NULL;
    assert_null(xlm_corpus_open("/nowhere/corpus.h5", &error));
    assert_int_equal(error->code, EX_NOINPUT);
    g_error_free(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_is_there),
        cmocka_unit_test(finds_pairs_in_either_order),
        cmocka_unit_test(reads_any_part),
        cmocka_unit_test(digest_is_of_vocabulary_and_languages),
        cmocka_unit_test(texts_are_joined),
        cmocka_unit_test(links_are_renumbered),
        cmocka_unit_test(digest_knows_the_order),
        cmocka_unit_test(strangers_are_not_joined),
        cmocka_unit_test(long_pairs_are_walked),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(pairs_of_one_name_are_refused),
        cmocka_unit_test(hostile_headers_are_refused),
        cmocka_unit_test(hostile_numbers_are_refused),
        cmocka_unit_test(missing_files_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
