/* xlm-mpi: byte-pair encoding against worked examples and a slow, plain reference. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text_fixture.h"

#include "subwords/bpe_class.h"

/* ---- the reference: words are lists of texts, every step looks at everything ---- */

typedef struct plain_code {
    char *left, *right;
    int64_t count;
} plain_code;

static void free_code(gpointer data)
{
    plain_code *code = data;
    g_free(code->left);
    g_free(code->right);
    g_free(code);
}

/* Characters of a word; the last with `</w>`. */
static GPtrArray *plain_characters(const char *word, size_t size)
{
    GPtrArray *symbols = g_ptr_array_new_with_free_func(g_free);
    size_t start = 0;
    for (size_t i = 1; i < size; i++)
        if (((unsigned char)word[i] & 0xC0) != 0x80) {
            g_ptr_array_add(symbols, g_strndup(word + start, i - start));
            start = i;
        }
    char *last = g_strndup(word + start, size - start);
    g_ptr_array_add(symbols, g_strconcat(last, "</w>", NULL));
    g_free(last);
    return symbols;
}

/* Merge (left, right) in all places from left to right. Returns in how many. */
static int plain_merge(GPtrArray *symbols, const char *left, const char *right)
{
    int merged = 0;
    for (guint i = 0; i + 1 < symbols->len; i++)
        if (strcmp(symbols->pdata[i], left) == 0 && strcmp(symbols->pdata[i + 1], right) == 0) {
            char *both = g_strconcat(left, right, NULL);
            g_ptr_array_remove_index(symbols, i + 1);
            g_free(symbols->pdata[i]);
            symbols->pdata[i] = both;
            merged++;
        }
    return merged;
}

static int compare_bytes(gconstpointer a, gconstpointer b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Age of a symbol: its place in `ages` (characters by bytes, then merges). */
static guint plain_age(GPtrArray *ages, const char *symbol)
{
    guint i = 0;
    while (strcmp(ages->pdata[i], symbol) != 0)
        i++;
    return i;
}

static GPtrArray *plain_ages(GPtrArray *words)
{
    GHashTable *set = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint w = 0; w < words->len; w++) {
        GPtrArray *symbols = words->pdata[w];
        for (guint i = 0; i < symbols->len; i++)
            g_hash_table_add(set, symbols->pdata[i]);
    }
    GPtrArray *ages = g_ptr_array_new_with_free_func(g_free);
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, set);
    while (g_hash_table_iter_next(&iter, &key, NULL))
        g_ptr_array_add(ages, g_strdup(key));
    g_ptr_array_sort(ages, compare_bytes);
    g_hash_table_unref(set);
    return ages;
}

/* The pair with the highest count, the oldest left symbol, the oldest right symbol; NULL when there is no pair. */
static plain_code *plain_best(GPtrArray *words, const int64_t *counts, GPtrArray *ages)
{
    GHashTable *table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    plain_code *best = NULL;
    guint best_left = 0, best_right = 0;
    for (guint w = 0; w < words->len; w++) {
        GPtrArray *symbols = words->pdata[w];
        for (guint i = 0; i + 1 < symbols->len; i++) {
            char *key = g_strdup_printf("%s %s", (char *)symbols->pdata[i], (char *)symbols->pdata[i + 1]);
            int64_t *count = g_hash_table_lookup(table, key);
            if (count == NULL) {
                count = g_new0(int64_t, 1);
                g_hash_table_insert(table, g_strdup(key), count);
            }
            *count += counts[w];
            g_free(key);
        }
    }
    GHashTableIter iter;
    gpointer key, value;
    g_hash_table_iter_init(&iter, table);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        const int64_t count = *(int64_t *)value;
        char **side = g_strsplit(key, " ", 2);
        const guint left = plain_age(ages, side[0]), right = plain_age(ages, side[1]);
        if (best == NULL || count > best->count ||
            (count == best->count && (left < best_left || (left == best_left && right < best_right)))) {
            if (best == NULL)
                best = g_new0(plain_code, 1);
            g_free(best->left);
            g_free(best->right);
            *best = (plain_code){g_strdup(side[0]), g_strdup(side[1]), count};
            best_left = left;
            best_right = right;
        }
        g_strfreev(side);
    }
    g_hash_table_unref(table);
    return best;
}

/* plain_code by rank, of words that begin as what the codes `known` make of them (NULL: as characters). */
static GPtrArray *plain_extend(GPtrArray *known, const xlm_word_counts *table, guint merges)
{
    GPtrArray *words = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
    GPtrArray *codes = g_ptr_array_new_with_free_func(free_code);
    int64_t *counts = g_new(int64_t, xlm_word_counts_size(table));
    for (uint32_t i = 0; i < xlm_word_counts_size(table); i++) {
        size_t size;
        const char *word = xlm_word_counts_word(table, i, &size);
        counts[words->len] = xlm_word_counts_count(table, i);
        g_ptr_array_add(words, plain_characters(word, size));
    }
    for (guint i = 0; known != NULL && i < known->len; i++)
        for (guint w = 0; w < words->len; w++)
            plain_merge(words->pdata[w], ((plain_code *)known->pdata[i])->left, ((plain_code *)known->pdata[i])->right);
    GPtrArray *ages = plain_ages(words);
    plain_code *best;
    while (codes->len < merges && (best = plain_best(words, counts, ages)) != NULL) {
        for (guint w = 0; w < words->len; w++)
            plain_merge(words->pdata[w], best->left, best->right);
        g_ptr_array_add(ages, g_strconcat(best->left, best->right, NULL));
        g_ptr_array_add(codes, best);
    }
    g_ptr_array_unref(ages);
    g_ptr_array_unref(words);
    g_free(counts);
    return codes;
}

static GPtrArray *plain_learn(const xlm_word_counts *table, guint merges) { return plain_extend(NULL, table, merges); }

static const plain_code *plain_maker(GPtrArray *codes, const char *symbol)
{
    for (guint i = 0; i < codes->len; i++) {
        const plain_code *code = codes->pdata[i];
        char *both = g_strconcat(code->left, code->right, NULL);
        const bool same = strcmp(both, symbol) == 0;
        g_free(both);
        if (same)
            return code;
    }
    return NULL;
}

/* Append a symbol, taken apart until every part is allowed or a character. */
static void plain_write(GPtrArray *codes, const xlm_word_counts *allowed, const char *symbol, bool last, GString *out)
{
    char *written = last ? g_strndup(symbol, strlen(symbol) - 4) : g_strconcat(symbol, "@@", NULL);
    const plain_code *maker = NULL;
    if (allowed != NULL && xlm_word_counts_find(allowed, written, strlen(written)) < 0)
        maker = plain_maker(codes, symbol);
    if (maker != NULL) {
        plain_write(codes, allowed, maker->left, false, out);
        plain_write(codes, allowed, maker->right, last, out);
    } else {
        g_string_append(out, written);
        g_string_append(out, last ? "" : " ");
    }
    g_free(written);
}

static GString *plain_segment(GPtrArray *codes, const xlm_word_counts *allowed, const char *word, size_t size)
{
    GPtrArray *symbols = plain_characters(word, size);
    for (bool again = true; again;) {
        again = false;
        for (guint i = 0; i < codes->len && !again; i++) {
            const plain_code *code = codes->pdata[i];
            again = plain_merge(symbols, code->left, code->right) > 0;
        }
    }
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < symbols->len; i++)
        plain_write(codes, allowed, symbols->pdata[i], i + 1 == symbols->len, out);
    g_ptr_array_unref(symbols);
    return out;
}

/* ---- helpers ---- */

static void assert_codes(const xlm_bpe *bpe, const char *expected)
{
    GString *text = xlm_bpe_print(bpe);
    assert_string_equal(text->str, expected);
    g_string_free(text, TRUE);
}

static xlm_bpe *parse(const char *codes)
{
    GError *error = NULL;
    xlm_bpe *bpe = xlm_bpe_parse("codes", codes, strlen(codes), &error);
    assert_null(error);
    return bpe;
}

/* A segmenter with the same codes. */
static xlm_segmenter *segmenter_of(const xlm_bpe *bpe)
{
    GString *text = xlm_bpe_print(bpe);
    xlm_segmenter *segmenter = xlm_segmenter_parse(&xlm_segmenter_bpe, "codes", text->str, text->len, NULL);
    assert_non_null(segmenter);
    g_string_free(text, TRUE);
    return segmenter;
}

static void assert_segmented(const xlm_bpe *bpe, const xlm_word_counts *allowed, const char *text, const char *expected)
{
    xlm_segmenter *segmenter = segmenter_of(bpe);
    xlm_cutter *cutter = xlm_cutter_new(segmenter, allowed);
    GString *out = g_string_new(NULL);
    for (int twice = 0; twice < 2; twice++) { /* the second time from memory */
        g_string_truncate(out, 0);
        xlm_cutter_text(cutter, text, strlen(text), out);
        assert_string_equal(out->str, expected);
        assert_int_equal(out->len, strlen(expected));
    }
    g_string_free(out, TRUE);
    xlm_cutter_free(cutter);
    xlm_segmenter_unref(segmenter);
}

/* ---- learning ---- */

/* The codes of that many merges of the words; the words are freed. */
static void assert_learnt(xlm_word_counts *words, uint32_t merges, const char *expected)
{
    xlm_bpe *bpe = xlm_bpe_learn(words, merges);
    assert_codes(bpe, expected);
    xlm_bpe_free(bpe);
    xlm_word_counts_free(words);
}

/* By hand. low 5, lower 2, newest 6, widest 3. e s: 9; s t</w>: 9; e is older than s, so es is first.
 * Then es t</w> 9 (of 9: only that), then l o 7, lo w: 2 (low has w</w>), ... */
static void test_learns_worked_example(void **state)
{
    (void)state;
    xlm_word_counts *words = xlm_word_counts_new();
    xlm_word_counts_add(words, "low", 3, 5);
    xlm_word_counts_add(words, "lower", 5, 2);
    xlm_word_counts_add(words, "newest", 6, 6);
    xlm_word_counts_add(words, "widest", 6, 3);
    assert_learnt(words, 7, "e s 9\nes t</w> 9\nl o 7\ne w 6\nn ew 6\nnew est</w> 6\nlo w</w> 5\n");
}

/* Ties: characters by bytes, whatever the order of words; then merges by age. */
static void test_breaks_ties_by_age(void **state)
{
    (void)state;
    const char *const texts[] = {"zab zcd zef", "zef zcd zab"};
    for (int i = 0; i < 2; i++)
        assert_learnt(text_count(texts[i]), 100, "a b</w> 1\nc d</w> 1\ne f</w> 1\nz ab</w> 1\nz cd</w> 1\nz ef</w> 1\n");
}

static void test_counts_overlaps(void **state)
{
    (void)state;
    /* aaaa: a a a a</w> (2 places of a a, twice); aaaaaa: 4 places: 8. Then aa a a</w> twice, aa aa a a</w> once. */
    assert_learnt(text_count("aaaa aaaa\naaaaaa b"), 100, "a a 8\na a</w> 3\naa aa</w> 3\naa aaaa</w> 1\n");
}

static void test_stops_without_pairs(void **state)
{
    (void)state;
    xlm_word_counts *words = text_count("a b c\n\n   d");
    xlm_bpe *bpe = xlm_bpe_learn(words, 10);
    assert_int_equal(xlm_bpe_size(bpe), 0);
    assert_segmented(bpe, NULL, "ab a", "a@@ b a");
    xlm_bpe_free(bpe);
    xlm_word_counts_free(words);

    assert_learnt(xlm_word_counts_new(), 10, "");
}

static void test_passes_over_odd_words(void **state)
{
    (void)state;
    xlm_word_counts *words = xlm_word_counts_new();
    xlm_word_counts_add(words, "xy</w>z", 7, 50);
    xlm_word_counts_add(words, "x\0y", 3, 50);
    xlm_word_counts_add(words, "x y", 3, 50);
    xlm_word_counts_add(words, "xy", 2, 0);
    xlm_word_counts_add(words, "qr", 2, -3);
    xlm_word_counts_add(words, "", 0, 9);
    xlm_word_counts_add(words, "de", 2, 1);
    assert_learnt(words, 10, "d e</w> 1\n");
}

static const char *const letters[] = {"a", "b", "c", "\xC3\xA4", "\xE4\xBD\xA0", "aa", "bc", "@", "\xF0\x9F\x98\x80"};

/* Made words with few letters, so that there are many repetitions and ties. */
static xlm_word_counts *make_words(uint32_t test, uint32_t n)
{
    xlm_word_counts *words = xlm_word_counts_new();
    const uint32_t kinds = 2 + text_draw(test, 0, G_N_ELEMENTS(letters) - 1);
    uint32_t k = 1;
    for (uint32_t i = 0; i < n; i++) {
        GString *word = text_make_word(test, &k, letters, kinds, 12);
        xlm_word_counts_add(words, word->str, word->len, 1 + text_draw(test, k++, 4));
        g_string_free(word, TRUE);
    }
    return words;
}

static void test_learns_like_reference(void **state)
{
    (void)state;
    for (uint32_t test = 0; test < 40; test++) {
        xlm_word_counts *words = make_words(test, 5 + 2 * test);
        GPtrArray *expected = plain_learn(words, 120);
        xlm_bpe *bpe = xlm_bpe_learn(words, 120);
        assert_int_equal(xlm_bpe_size(bpe), expected->len);
        for (uint32_t i = 0; i < expected->len; i++) {
            const plain_code *code = expected->pdata[i];
            const char *left, *right;
            int64_t count;
            xlm_bpe_code(bpe, i, &left, &right, &count);
            assert_string_equal(left, code->left);
            assert_string_equal(right, code->right);
            assert_int_equal(count, code->count);
        }
        xlm_bpe_free(bpe);
        g_ptr_array_unref(expected);
        xlm_word_counts_free(words);
    }
}

/* The order in which words come does not matter. */
static void test_learns_same_from_any_order(void **state)
{
    (void)state;
    xlm_word_counts *words = make_words(77, 300), *turned = xlm_word_counts_new();
    for (uint32_t i = xlm_word_counts_size(words); i-- > 0;) {
        size_t size;
        const char *word = xlm_word_counts_word(words, i, &size);
        xlm_word_counts_add(turned, word, size, xlm_word_counts_count(words, i));
    }
    xlm_bpe *bpe = xlm_bpe_learn(words, 500), *other = xlm_bpe_learn(turned, 500);
    GString *text = xlm_bpe_print(other);
    assert_codes(bpe, text->str);
    g_string_free(text, TRUE);
    xlm_bpe_free(bpe);
    xlm_bpe_free(other);
    xlm_word_counts_free(words);
    xlm_word_counts_free(turned);
}

static void test_extends_like_reference(void **state)
{
    (void)state;
    for (uint32_t test = 0; test < 20; test++) {
        xlm_word_counts *words = make_words(100 + test, 40), *others = make_words(200 + test, 40);
        xlm_bpe *base = xlm_bpe_learn(words, 5 + test), *bpe = xlm_bpe_extend(base, others, 60);
        GPtrArray *known = plain_learn(words, 5 + test), *expected = plain_extend(known, others, 60);
        assert_int_equal(xlm_bpe_size(bpe), known->len + expected->len);
        for (uint32_t i = 0; i < xlm_bpe_size(bpe); i++) {
            const plain_code *code = i < known->len ? known->pdata[i] : expected->pdata[i - known->len];
            const char *left, *right;
            int64_t count;
            xlm_bpe_code(bpe, i, &left, &right, &count);
            assert_string_equal(left, code->left);
            assert_string_equal(right, code->right);
            assert_int_equal(count, code->count);
        }
        xlm_bpe_free(base);
        xlm_bpe_free(bpe);
        g_ptr_array_unref(known);
        g_ptr_array_unref(expected);
        xlm_word_counts_free(words);
        xlm_word_counts_free(others);
    }
}

/* Words of other text are merged further than the codes merge them; existing codes are not made again. */
static void test_extends_by_other_words(void **state)
{
    (void)state;
    xlm_bpe *base = parse("l o 7\nlo w</w> 5\n");
    xlm_word_counts *words = text_count("lower lower lower low @@x @@x slow");
    xlm_bpe *bpe = xlm_bpe_extend(base, words, 5);
    assert_codes(bpe, "l o 7\nlo w</w> 5\ne r</w> 3\nlo w 3\nlow er</w> 3\n@ @ 2\n@@ x</w> 2\n");
    assert_segmented(bpe, NULL, "lower slow low", "lower s@@ low low");
    xlm_bpe_free(bpe);
    bpe = xlm_bpe_extend(base, words, 0);
    assert_codes(bpe, "l o 7\nlo w</w> 5\n");
    xlm_bpe_free(bpe);
    /* `b c` and `ab c` are in the wrong order: nothing that is learnt makes `abc</w>` twice. */
    xlm_bpe *odd = parse("b c</w> 1\na b 1\nab c</w> 1\n");
    xlm_word_counts_free(words);
    words = text_count("abc abc");
    bpe = xlm_bpe_extend(odd, words, 5);
    assert_codes(bpe, "b c</w> 1\na b 1\nab c</w> 1\n");
    xlm_bpe_free(bpe);
    xlm_bpe_free(odd);
    xlm_bpe_free(base);
    xlm_word_counts_free(words);
}

/* ---- segmentation ---- */

static void test_segments_worked_examples(void **state)
{
    (void)state;
    xlm_bpe *bpe = parse("e s 9\nes t</w> 9\nl o 7\ne w 6\nn ew 6\nnew est</w> 6\nlo w</w> 5\n");
    assert_segmented(bpe, NULL, "low lower newest lowest", "low lo@@ w@@ e@@ r newest lo@@ w@@ est");
    /* Spaces and line ends as they are; tabs and carriage returns are letters; a last line without end. */
    assert_segmented(bpe, NULL, "", "");
    assert_segmented(bpe, NULL, "\n\n", "\n\n");
    assert_segmented(bpe, NULL, "  low   lo \n low\r\nlo\tw", "  low   l@@ o \n lo@@ w@@ \r\nlo@@ \t@@ w");
    assert_segmented(bpe, NULL, "\xC3\xA4lo\xE4\xBD\xA0", "\xC3\xA4@@ lo@@ \xE4\xBD\xA0");
    assert_segmented(bpe, NULL, "a@@ @@ </w> x</w>", "a@@ @@@ @ @@@ @ <@@ /@@ w@@ > x@@ <@@ /@@ w@@ >");
    xlm_bpe_free(bpe);

    bpe = parse("a a 1\naa aa 1\na a</w> 1");
    assert_segmented(bpe, NULL, "a aa aaa aaaa aaaaa aaaaaa", "a aa aa@@ a aa@@ aa aaaa@@ a aaaa@@ aa");
    xlm_bpe_free(bpe);
}

/* A code of low rank that becomes possible only by way of one of high rank waits until that one is through. */
static void test_finishes_a_code_before_the_next(void **state)
{
    (void)state;
    /* In xyxyz both xy are made although the first of them could go on to xyx, of lower rank, at once. */
    xlm_bpe *bpe = parse("xy x 9\nx y 8\nxy xy 7\n");
    assert_segmented(bpe, NULL, "xyxyz", "xyxy@@ z");
    assert_segmented(bpe, NULL, "xyxz", "xyx@@ z");
    xlm_bpe_free(bpe);
}

static void test_takes_apart_what_is_not_allowed(void **state)
{
    (void)state;
    xlm_bpe *bpe = parse("e s 9\nes t</w> 9\nl o 7\nlo w</w> 6\nlo w 5\nlow est</w> 4\n");
    xlm_word_counts *allowed = text_count("lo@@ w est l@@ o@@");
    assert_segmented(bpe, allowed, "low lowest est es", "lo@@ w lo@@ w@@ est est e@@ s");
    xlm_word_counts_free(allowed);
    allowed = text_count("low lowest es@@");
    assert_segmented(bpe, allowed, "low lowest est", "low lowest es@@ t");
    xlm_word_counts_free(allowed);
    allowed = text_count("nothing");
    assert_segmented(bpe, allowed, "low lowest", "l@@ o@@ w l@@ o@@ w@@ e@@ s@@ t");
    xlm_word_counts_free(allowed);
    allowed = text_count("");
    assert_segmented(bpe, allowed, "low", "low");
    xlm_word_counts_free(allowed);
    xlm_bpe_free(bpe);
}

/* A code that makes `x</w>` of a literal `</w>` does not take apart the end of a word. */
static void test_keeps_ends_whole(void **state)
{
    (void)state;
    xlm_bpe *bpe = parse("< / 5\n</ w 5\n</w > 5\nx </w> 4\nx</w> a</w> 3\n");
    xlm_word_counts *allowed = text_count("y");
    assert_segmented(bpe, NULL, "x x</w>a", "x x</w>a");
    assert_segmented(bpe, allowed, "x x</w>a", "x x@@ <@@ /@@ w@@ >@@ a");
    xlm_word_counts_free(allowed);
    xlm_bpe_free(bpe);
}

static void check_segmentation(uint32_t test, const xlm_bpe *bpe, GPtrArray *codes, const xlm_word_counts *allowed)
{
    xlm_bpe_cutter *cutter = xlm_bpe_cutter_new(bpe, allowed);
    uint32_t k = 0;
    for (int i = 0; i < 200; i++) {
        /* Words of few characters and of many are cut in two ways. */
        GString *word = text_make_word(1000 + test, &k, letters, G_N_ELEMENTS(letters), i % 4 == 0 ? 60 : 14);
        GString *expected = plain_segment(codes, allowed, word->str, word->len);
        size_t size;
        const char *segmented = xlm_bpe_cutter_word(cutter, word->str, word->len, &size);
        assert_int_equal(size, expected->len);
        assert_memory_equal(segmented, expected->str, size);
        g_string_free(word, TRUE);
        g_string_free(expected, TRUE);
    }
    xlm_bpe_cutter_free(cutter);
}

/* Learnt codes, and the same in another order, where merges of low rank become possible late. */
static void test_segments_like_reference(void **state)
{
    (void)state;
    for (uint32_t test = 0; test < 20; test++) {
        xlm_word_counts *words = make_words(test, 60);
        GPtrArray *codes = plain_learn(words, 60);
        for (uint32_t i = 0; test % 2 == 1 && i < codes->len; i++) {
            const uint32_t j = text_draw(2000 + test, i, codes->len);
            gpointer swap = codes->pdata[i];
            codes->pdata[i] = codes->pdata[j];
            codes->pdata[j] = swap;
        }
        GString *text = g_string_new(NULL);
        for (uint32_t i = 0; i < codes->len; i++) {
            const plain_code *code = codes->pdata[i];
            g_string_append_printf(text, "%s %s %d\n", code->left, code->right, (int)code->count);
        }
        xlm_bpe *bpe = parse(text->str);
        check_segmentation(test, bpe, codes, NULL);
        xlm_segmenter *segmenter = segmenter_of(bpe);
        xlm_word_counts *allowed = xlm_segmenter_count_subwords(segmenter, words, NULL);
        xlm_word_counts_cut(allowed, xlm_word_counts_size(allowed) / 3);
        check_segmentation(test, bpe, codes, allowed);
        xlm_word_counts_free(allowed);
        xlm_segmenter_unref(segmenter);
        xlm_bpe_free(bpe);
        g_string_free(text, TRUE);
        g_ptr_array_unref(codes);
        xlm_word_counts_free(words);
    }
}

static void test_segments_long_words_and_any_bytes(void **state)
{
    (void)state;
    xlm_word_counts *words = text_count("ababab abab ab aab");
    xlm_bpe *bpe = xlm_bpe_learn(words, 10);
    xlm_segmenter *segmenter = xlm_segmenter_new(&xlm_segmenter_bpe, bpe);
    xlm_cutter *cutter = xlm_cutter_new(segmenter, words);
    GString *text = g_string_new(NULL), *out = g_string_new(NULL);
    for (int i = 0; i < 500000; i++)
        g_string_append(text, "ab");
    xlm_cutter_text(cutter, text->str, text->len, out);
    assert_true(out->len > text->len);

    /* Without the marks the text is the same, whatever its bytes. */
    g_string_truncate(text, 0);
    for (uint32_t i = 0; i < 100000; i++) {
        const uint32_t byte = text_draw(3000, i, 300);
        g_string_append_c(text, byte < 256 && byte != '@' ? (char)byte : 'a');
    }
    g_string_truncate(out, 0);
    xlm_cutter_text(cutter, text->str, text->len, out);
    size_t at = 0;
    for (size_t i = 0; i < text->len; i++) {
        if (out->len - at >= 3 && memcmp(out->str + at, "@@ ", 3) == 0)
            at += 3;
        assert_int_equal(text->str[i], out->str[at++]);
    }
    assert_int_equal(at, out->len);
    g_string_free(text, TRUE);
    g_string_free(out, TRUE);
    xlm_cutter_free(cutter);
    xlm_segmenter_unref(segmenter);
    xlm_word_counts_free(words);
}

static void test_learns_from_a_long_word(void **state)
{
    (void)state;
    GString *word = g_string_new(NULL);
    for (int i = 0; i < 1 << 17; i++)
        g_string_append(word, &"abcdefg"[text_draw(4000, (uint32_t)i, 7)]);
    xlm_word_counts *words = xlm_word_counts_new();
    xlm_word_counts_add(words, word->str, word->len, 1);
    xlm_bpe *bpe = xlm_bpe_learn(words, 500);
    assert_int_equal(xlm_bpe_size(bpe), 500);
    xlm_bpe_free(bpe);
    xlm_word_counts_free(words);
    g_string_free(word, TRUE);
}

/* Files in tests/cli/fastbpe_known_answers: text and codes written by hand, segmented by fastBPE itself. */
static char *known(const char *name)
{
    return g_build_filename(g_getenv("XLM_SOURCE"), "tests/cli/fastbpe_known_answers", name, NULL);
}

static void test_segments_like_fastbpe(void **state)
{
    (void)state;
    if (g_getenv("XLM_SOURCE") == NULL)
        skip();
    char *path[] = {known("codes"), known("vocabulary"), known("text"), known("segmented"), known("segmented_limited")};
    char *text[5];
    for (int i = 2; i < 5; i++)
        assert_true(g_file_get_contents(path[i], &text[i], NULL, NULL));
    xlm_segmenter *segmenter = xlm_segmenter_read(&xlm_segmenter_bpe, path[0], NULL);
    assert_non_null(segmenter);
    const xlm_bpe *bpe = xlm_segmenter_model(segmenter);
    xlm_word_counts *allowed = xlm_word_counts_read(path[1], NULL);
    assert_non_null(allowed);
    assert_segmented(bpe, NULL, text[2], text[3]);
    assert_segmented(bpe, allowed, text[2], text[4]);
    xlm_segmenter_unref(segmenter);
    xlm_word_counts_free(allowed);
    for (int i = 0; i < 5; i++)
        g_free(path[i]);
    for (int i = 2; i < 5; i++)
        g_free(text[i]);
}

/* ---- files ---- */

static void assert_bad_codes(const char *text, const char *message)
{
    GError *error = NULL;
    assert_null(xlm_bpe_parse("codes", text, strlen(text), &error));
    assert_int_equal(error->code, EX_DATAERR);
    if (strstr(error->message, message) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", message, error->message);
    g_error_free(error);
}

static void test_reads_codes(void **state)
{
    (void)state;
    xlm_bpe *bpe = parse("a b 3\r\nab c</w> 2\r\n\xC3\xA4  x 1");
    assert_codes(bpe, "a b 3\nab c</w> 2\n\xC3\xA4 x 1\n");
    xlm_bpe_free(bpe);
    bpe = parse("");
    assert_int_equal(xlm_bpe_size(bpe), 0);
    xlm_bpe_free(bpe);
    assert_bad_codes("a b 3\na b\n", "codes:2: ");
    assert_bad_codes("#version: 0.2\n", "codes:1: ");
    assert_bad_codes("a b c\n", "codes:1: ");
    assert_bad_codes("a b 3 4\n", "codes:1: ");
    assert_bad_codes("a b 3\n\nc d 2\n", "codes:2: ");
    assert_bad_codes("a b 3\na b 2\n", "codes:2: `ab`");
    assert_bad_codes("a b 3\nb c 3\nab c 2\na bc 2\n", "codes:4: `abc`");
    GError *error = NULL;
    assert_null(xlm_bpe_parse("codes", "a\0b c 1\n", 8, &error));
    assert_int_equal(error->code, EX_DATAERR);
    g_error_free(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learns_worked_example),
        cmocka_unit_test(test_breaks_ties_by_age),
        cmocka_unit_test(test_counts_overlaps),
        cmocka_unit_test(test_stops_without_pairs),
        cmocka_unit_test(test_passes_over_odd_words),
        cmocka_unit_test(test_learns_like_reference),
        cmocka_unit_test(test_learns_same_from_any_order),
        cmocka_unit_test(test_extends_like_reference),
        cmocka_unit_test(test_extends_by_other_words),
        cmocka_unit_test(test_learns_from_a_long_word),
        cmocka_unit_test(test_segments_worked_examples),
        cmocka_unit_test(test_finishes_a_code_before_the_next),
        cmocka_unit_test(test_takes_apart_what_is_not_allowed),
        cmocka_unit_test(test_keeps_ends_whole),
        cmocka_unit_test(test_segments_like_reference),
        cmocka_unit_test(test_segments_long_words_and_any_bytes),
        cmocka_unit_test(test_segments_like_fastbpe),
        cmocka_unit_test(test_reads_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
