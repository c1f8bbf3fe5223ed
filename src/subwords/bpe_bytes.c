/* xlm-mpi: byte-level BPE, the segmenter of RoBERTa and GPT-2. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Source: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019, and the encoder published with it.
 *
 * Lines are cut into words by the first of these patterns that matches: 's 't 're 've 'm 'll 'd; an optional space and then
 * letters (category L), or numbers (N), or characters that are neither these nor white space; white space, without its last
 * character if something follows. A word becomes its bytes, each written as a visible character: visible characters of ASCII and
 * Latin-1 are kept, the other bytes become U+0100 and following, in their order. A space is U+0120, so most words begin with it.
 * Neighbours are merged as in bpe/bpe.h, the merge of the lowest rank first, and no mark ends a word.
 *
 * In a file, beside /vocabulary/words:
 *   /vocabulary         attribute bytes_space_first = 0 | 1: a line is read as if there were a space before it
 *   /vocabulary/merges  [n] strings "left right", by rank */
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "base/rng.h"
#include "subwords/bpe_bytes.h"
#include "bpe/codes.h"
#include "subwords/bpe_change.h"
#include "subwords/word_store.h"

static const char SPACE[] = "\xc4\xa0"; /* U+0120 */
static const char TOKENIZER[] = "tokenizer.json", VOCABULARY[] = "vocab.json", MERGES[] = "merges.txt";

typedef xlm_byte_merges merges;

static merges *new_merges(bool space_first)
{
    merges *m = g_new(merges, 1);
    *m = (merges){space_first, g_ptr_array_new_with_free_func(g_free), bpe_new()};
    return m;
}

static void free_merges(void *model)
{
    merges *m = model;
    xlm_bpe_free(m->bpe);
    g_ptr_array_unref(m->pairs);
    g_free(m);
}

/* Returns NULL, or what is wrong with the pair. A pair that occurs twice has its first rank. */
static const char *add_pair(merges *m, const char *pair, size_t size)
{
    const char *space = memchr(pair, ' ', size);
    if (space == NULL || space == pair || space == pair + size - 1 ||
        memchr(space + 1, ' ', (size_t)(pair + size - space - 1)) != NULL)
        return "is not a merge: two subwords with a space between them";
    if (xlm_utf8_check(pair, size) < size || memchr(pair, '\0', size) != NULL)
        return "is not UTF-8";
    bpe_add_pair(m->bpe, pair, (size_t)(space - pair), space + 1, (size_t)(pair + size - space - 1), 0);
    g_ptr_array_add(m->pairs, g_strndup(pair, size));
    return NULL;
}

/* ---- bytes as characters ---- */

static UChar32 character_of(unsigned char byte)
{
    static const int hidden[][2] = {{0, 32}, {127, 160}, {173, 173}};
    UChar32 c = 256;
    for (size_t i = 0; i < G_N_ELEMENTS(hidden); i++) {
        if (byte < hidden[i][0])
            return byte;
        if (byte <= hidden[i][1])
            return c + byte - hidden[i][0];
        c += hidden[i][1] - hidden[i][0] + 1;
    }
    return byte;
}

/* -1: of none. */
static int byte_of(UChar32 c)
{
    for (int byte = 0; byte < 256; byte++)
        if (character_of((unsigned char)byte) == c)
            return byte;
    return -1;
}

/* ---- lines ---- */

typedef enum { NOTHING, WHITE, LETTER, NUMBER, OTHER } kind;

/* [out] end: the byte after the character at `at`. */
static kind kind_at(const char *text, int32_t size, int32_t at, int32_t *end)
{
    UChar32 c;
    *end = at;
    if (at >= size)
        return NOTHING;
    U8_NEXT_UNSAFE(text, *end, c);
    const uint32_t category = U_GET_GC_MASK(c);
    return u_isUWhiteSpace(c) ? WHITE : category & U_GC_L_MASK ? LETTER : category & U_GC_N_MASK ? NUMBER : OTHER;
}

/* The end of the run of characters of the same kind as the one at `at`. [out] last: where its last character begins. */
static int32_t skip(const char *text, int32_t size, int32_t at, int32_t *last)
{
    int32_t end;
    const kind first = kind_at(text, size, at, &end);
    *last = at;
    for (int32_t next; kind_at(text, size, end, &next) == first; end = next)
        *last = end;
    return end;
}

static int32_t word_end(const char *text, int32_t size, int32_t at)
{
    static const char *const endings[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
        const int32_t n = (int32_t)strlen(endings[i]);
        if (size - at >= n && memcmp(text + at, endings[i], (size_t)n) == 0)
            return at + n;
    }
    int32_t end, last;
    const kind first = kind_at(text, size, at, &end);
    if (first != WHITE)
        return skip(text, size, at, &last);
    if (text[at] == ' ') {
        const kind next = kind_at(text, size, at + 1, &end);
        if (next != WHITE && next != NOTHING)
            return skip(text, size, at + 1, &last);
    }
    end = skip(text, size, at, &last);
    return end < size && last > at ? last : end;
}

/* Append a byte as a character. at: its index in text[size]; -1: before the text. */
static void put_byte(unsigned char byte, int32_t at, const char *text, int32_t size, GString *out, GArray *origins)
{
    const UChar32 c = character_of(byte);
    int32_t start = MAX(at, 0), end = start;
    g_string_append_unichar(out, (gunichar)c);
    if (origins == NULL)
        return;
    if (at >= 0) {
        U8_SET_CP_START_UNSAFE(text, start);
        if (kind_at(text, size, start, &end) == WHITE)
            start = end;
    }
    xlm_origins_add(origins, U8_LENGTH(c), (size_t)start, (size_t)end);
}

static void append_words(void *state, const char *text, size_t size, GString *out, GArray *origins)
{
    const merges *m = state;
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r'))
        size--;
    int32_t begin;
    if (size == 0 || (kind_at(text, (int32_t)size, 0, &begin) == WHITE && skip(text, (int32_t)size, 0, &begin) == (int32_t)size))
        return;
    const int32_t before = m->space_first && text[0] != ' ';
    g_autoptr(GString) line = g_string_new(before > 0 ? " " : "");
    g_string_append_len(line, text, (gssize)size);
    const int32_t all = (int32_t)line->len;
    for (int32_t at = 0, end; at < all; at = end) {
        end = word_end(line->str, all, at);
        if (at > 0) {
            g_string_append_c(out, ' ');
            xlm_origins_add(origins, 1, (size_t)(at - before), (size_t)(at - before));
        }
        for (int32_t i = at; i < end; i++)
            put_byte((unsigned char)line->str[i], i - before, text, (int32_t)size, out, origins);
    }
}

static xlm_normaliser *new_normaliser(const void *model)
{
    static const xlm_normaliser_form form = {.keeps_space = true, .append = append_words};
    return xlm_normaliser_new_with(&form, (void *)(uintptr_t)model);
}

/* ---- published tokenizers ---- */

static bool is_ours(const xlm_tokenizer_files *files)
{
    size_t size;
    const char *type = json_string_value(xlm_tokenizer_value(files, TOKENIZER, "model", "type", NULL));
    const char *splitter = json_string_value(xlm_tokenizer_value(files, TOKENIZER, "pre_tokenizer", "type", NULL));
    if (xlm_tokenizer_json(files, TOKENIZER) != NULL)
        return g_strcmp0(type, "BPE") == 0 && g_strcmp0(splitter, "ByteLevel") == 0;
    return xlm_tokenizer_json(files, VOCABULARY) != NULL && !xlm_tokenizer_ends_words(files) && /* a mark of another kind */
           xlm_tokenizer_file(files, MERGES, &size) != NULL;
}

static bool adopt_json(merges *m, const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error)
{
    const json_t *normalizer = xlm_tokenizer_value(files, TOKENIZER, "normalizer", NULL), *entry;
    const json_t *all = xlm_tokenizer_value(files, TOKENIZER, "model", "merges", NULL);
    const json_t *prefix = xlm_tokenizer_value(files, TOKENIZER, "pre_tokenizer", "add_prefix_space", NULL);
    size_t i;
    if (normalizer != NULL && !json_is_null(normalizer))
        return xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "has a normalizer, which is not supported with byte-level BPE");
    if (json_is_false(xlm_tokenizer_value(files, TOKENIZER, "pre_tokenizer", "use_regex", NULL)))
        return xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "its pre_tokenizer does not find words as GPT-2 does (use_regex "
                                    "is false), which is not supported");
    m->space_first = json_is_true(prefix);
    if (!json_is_array(all))
        return xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "has no merges");
    json_array_foreach(all, i, entry) {
        const char *left = json_string_value(json_array_get(entry, 0)), *right = json_string_value(json_array_get(entry, 1));
        g_autofree char *pair = json_is_string(entry)           ? g_strdup(json_string_value(entry))
                                : left != NULL && right != NULL ? g_strconcat(left, " ", right, NULL)
                                                                : g_strdup("");
        const char *wrong = add_pair(m, pair, strlen(pair));
        if (wrong != NULL)
            return xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "merge %zu %s", i + 1, wrong);
    }
    return xlm_published_tokens_add_object(tokens, files, TOKENIZER,
                                           xlm_tokenizer_value(files, TOKENIZER, "model", "vocab", NULL), error);
}

static const char *add_line(void *model, const char *line, size_t size) { return add_pair(model, line, size); }

static bool adopt_text(merges *m, const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error)
{
    return xlm_tokenizer_merges(files, add_line, m, error) &&
           xlm_published_tokens_add_object(tokens, files, VOCABULARY, xlm_tokenizer_json(files, VOCABULARY), error);
}

static void *adopt(const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error)
{
    static const char *const usual[XLM_SPECIAL_TOKENS] = {"<s> <|endoftext|>", "<pad>", "</s> <|endoftext|>", "<unk>", "<mask>"};
    if (!is_ours(files))
        return NULL;
    merges *m = new_merges(xlm_tokenizer_flag(files, "add_prefix_space", false));
    const bool good = xlm_tokenizer_json(files, TOKENIZER) != NULL ? adopt_json(m, files, tokens, error)
                                                                   : adopt_text(m, files, tokens, error);
    if (good && xlm_published_tokens_add_added(tokens, files, error)) {
        xlm_published_tokens_find_special(tokens, files, usual);
        if (tokens->special[XLM_UNK] != NULL && g_strcmp0(tokens->special[XLM_UNK], tokens->special[XLM_BOS]) == 0)
            g_clear_pointer(&tokens->special[XLM_UNK], g_free); /* GPT-2 has one token for all special roles, and needs no unknown
                                                                 * token */
        return m;
    }
    free_merges(m);
    return NULL;
}

/* ---- files ---- */

static GString *print(const void *model)
{
    const merges *m = model;
    GString *text = g_string_new(m->space_first ? "#space_first 1\n" : "#space_first 0\n");
    for (guint i = 0; i < m->pairs->len; i++)
        g_string_append_printf(text, "%s\n", (const char *)m->pairs->pdata[i]);
    return text;
}

static void *parse(const char *name, const char *bytes, size_t size, GError **error)
{
    g_autofree char *text = g_strndup(bytes, size);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    const char *wrong = lines[0] == NULL || !g_str_has_prefix(lines[0], "#space_first ") ? "has no line #space_first" : NULL;
    merges *m = new_merges(wrong == NULL && g_str_has_suffix(lines[0], " 1"));
    for (char **line = lines + 1; wrong == NULL && *line != NULL; line++)
        if (**line != '\0')
            wrong = add_pair(m, *line, strlen(*line));
    if (wrong == NULL)
        return m;
    free_merges(m);
    xlm_error_set(error, EX_DATAERR, "%s: %s", name, wrong);
    return NULL;
}

static bool save(const void *model, xlm_store *store, const char *path, int rank, GError **error)
{
    (void)rank;
    const merges *m = model;
    return xlm_word_store_save_words(store, path, "merges", m->pairs->len, (const char *const *)m->pairs->pdata, error) &&
           xlm_store_set_int(store, path, "bytes_space_first", m->space_first, error) &&
           xlm_store_set_text(store, path, "segmentation",
                              "byte-level BPE as of GPT-2: merges by rank, of bytes written as characters", error);
}

static void *load(const xlm_store *store, const char *path, GError **error)
{
    uint64_t n;
    int64_t space_first;
    if (!xlm_store_get_int(store, path, "bytes_space_first", &space_first, error))
        return NULL;
    g_auto(GStrv) pairs = xlm_word_store_load_words(store, path, "merges", &n, error);
    if (pairs == NULL)
        return NULL;
    merges *m = new_merges(space_first != 0);
    const char *wrong = NULL;
    for (uint64_t i = 0; i < n && wrong == NULL; i++)
        wrong = add_pair(m, pairs[i], strlen(pairs[i]));
    if (wrong == NULL)
        return m;
    free_merges(m);
    xlm_word_store_refuse(store, path, "a line of merges is not two subwords with a space between them", error);
    return NULL;
}

/* ---- asking ---- */

static uint32_t size_of(const void *model) { return ((const merges *)model)->pairs->len; }

/* Append the bytes that letters stand for; false if a letter stands for no byte or for byte 0. */
static bool append_bytes(const char *letters, GString *out)
{
    for (const char *at = letters; *at != '\0'; at = g_utf8_next_char(at)) {
        const int byte = byte_of((UChar32)g_utf8_get_char(at));
        if (byte <= 0)
            return false;
        g_string_append_c(out, (char)byte);
    }
    return true;
}

/* Letters without the mark of a beginning. */
static const char *skip_mark(const char *subword) { return subword + (g_str_has_prefix(subword, SPACE) ? strlen(SPACE) : 0); }

/* Appends the bytes of subwords as text if they are whole characters. */
static bool spell_word(const void *model, const char *const *subwords, size_t n, GString *out)
{
    const size_t before = out->len;
    bool good = true;
    (void)model;
    for (size_t i = 0; i < n && good; i++)
        good = append_bytes(i == 0 ? skip_mark(subwords[i]) : subwords[i], out);
    good = good && xlm_utf8_check(out->str + before, out->len - before) == out->len - before;
    if (!good)
        g_string_truncate(out, before);
    return good;
}

/* A subword that is not whole characters keeps the letters of its bytes. */
static xlm_word_mark spell(const void *model, const char *subword, GString *out)
{
    if (out != NULL && !spell_word(model, &subword, 1, out))
        g_string_append(out, skip_mark(subword));
    return g_str_has_prefix(subword, SPACE) ? XLM_MARKS_BEGIN : XLM_MARKS_NOTHING;
}

/* ---- segmenting ---- */

typedef struct cutter {
    xlm_bpe_cutter *merging;
    GArray *ends; /* uint32_t: end of each symbol in the word */
    GString *segmented;
} cutter;

static void *open_cutter(const void *model, const xlm_word_counts *allowed)
{
    (void)allowed; /* a vocabulary of this class has everything that its merges make */
    cutter *c = g_new(cutter, 1);
    *c = (cutter){xlm_bpe_cutter_new(((const merges *)model)->bpe, NULL), g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                  g_string_new(NULL)};
    return c;
}

static void close_cutter(void *pointer)
{
    cutter *c = pointer;
    xlm_bpe_cutter_free(c->merging);
    g_array_unref(c->ends);
    g_string_free(c->segmented, TRUE);
    g_free(c);
}

static uint32_t end_of(const cutter *c, guint i) { return g_array_index(c->ends, uint32_t, i); }
static uint32_t begin_of(const cutter *c, guint i) { return i > 0 ? end_of(c, i - 1) : 0; }

static const char *segment(void *pointer, const char *word, size_t size, GArray *places, size_t *n, GError **error)
{
    (void)error;
    cutter *c = pointer;
    xlm_bpe_cutter_unmarked(c->merging, word, size, c->ends);
    g_string_truncate(c->segmented, 0);
    for (guint i = 0; i < c->ends->len; i++) {
        g_string_append(c->segmented, i > 0 ? " " : "");
        g_string_append_len(c->segmented, word + begin_of(c, i), end_of(c, i) - begin_of(c, i));
        xlm_origins_add(places, 1, begin_of(c, i), end_of(c, i));
    }
    *n = c->segmented->len;
    return c->segmented->str;
}

static const char *segment_subword(void *pointer, const char *subword, size_t *n)
{
    return segment(pointer, subword, strlen(subword), NULL, n, NULL);
}

/* ---- vocabularies made of others ---- */

/* Keep all bytes, so that no text is unknown, and everything that merges make on the way to a subword. */
static void keep_needed(const merges *m, const xlm_word_counts *subwords, xlm_word_counts *kept)
{
    g_autoptr(GString) byte = g_string_new(NULL);
    for (int i = 0; i < 256; i++) {
        g_string_truncate(byte, 0);
        g_string_append_unichar(byte, (gunichar)character_of((unsigned char)i));
        xlm_segmenter_keep(subwords, byte->str, byte->len, kept);
    }
    g_autofree uint8_t *used = g_new0(uint8_t, MAX(xlm_bpe_size(m->bpe), 1));
    cutter *c = open_cutter(m, NULL);
    xlm_bpe_cutter_record(c->merging, used);
    for (uint32_t i = 0, n; i < (n = xlm_word_counts_size(kept));) { /* what is kept on the way to a subword is a subword too */
        for (; i < n; i++) {
            size_t size;
            const char *subword = xlm_word_counts_word(kept, i, &size);
            xlm_bpe_cutter_unmarked(c->merging, subword, size, c->ends);
        }
        bpe_keep_results(m->bpe, used, subwords, kept);
    }
    close_cutter(c);
}

/* The merges whose parts and result are all kept. */
static void *reduce(const void *model, const xlm_word_counts *subwords, xlm_word_counts *kept, GError **error)
{
    const merges *all = model;
    merges *m = new_merges(all->space_first);
    (void)error;
    keep_needed(model, subwords, kept);
    for (guint i = 0; i < all->pairs->len; i++) {
        const char *pair = all->pairs->pdata[i], *right = strchr(pair, ' ') + 1;
        const size_t left_size = (size_t)(right - pair) - 1, right_size = strlen(right);
        g_autofree char *result = g_strdup_printf("%.*s%s", (int)left_size, pair, right);
        if (xlm_word_counts_index(kept, result, strlen(result)) != UINT32_MAX &&
            xlm_word_counts_index(kept, pair, left_size) != UINT32_MAX &&
            xlm_word_counts_index(kept, right, right_size) != UINT32_MAX)
            add_pair(m, pair, strlen(pair));
    }
    return m;
}

/* The subword as it is after a space. */
static char *whole(const void *model, const char *word)
{
    (void)model;
    const char *text = word + (g_str_has_prefix(word, SPACE) ? strlen(SPACE) : 0);
    return *text == '\0' || strstr(text, SPACE) != NULL ? NULL : g_strconcat(SPACE, text, NULL);
}

/* The symbols that merges make of a subword. g_strfreev. */
static char **symbols_of(const merges *m, const char *subword)
{
    size_t n;
    cutter *c = open_cutter(m, NULL);
    char **symbols = g_strsplit(segment_subword(c, subword, &n), " ", -1);
    close_cutter(c);
    return symbols;
}

/* Merge the symbols of a subword one by one, from its beginning. */
static bool learn_word(merges *m, const char *word, const xlm_word_counts *subwords, xlm_word_counts *added, GError **error)
{
    g_auto(GStrv) symbols = symbols_of(m, word);
    g_autoptr(GString) text = g_string_new(symbols[0]);
    for (char **symbol = symbols + 1; *symbol != NULL; symbol++) {
        g_autofree char *pair = g_strconcat(text->str, " ", *symbol, NULL);
        add_pair(m, pair, strlen(pair));
        g_string_append(text, *symbol);
        xlm_segmenter_add_missing(subwords, text->str, text->len, added);
    }
    g_auto(GStrv) whole = symbols_of(m, word);
    return g_strv_length(whole) <= 1 ||
           xlm_error_set(error, EX_DATAERR, "`%s` cannot be added: its parts are merged in another way", word);
}

static void *enlarge(const void *model, const xlm_word_counts *subwords, const xlm_word_counts *wanted, xlm_word_counts *added,
                     GError **error)
{
    const merges *old = model;
    merges *m = new_merges(old->space_first);
    for (guint i = 0; i < old->pairs->len; i++)
        add_pair(m, old->pairs->pdata[i], strlen(old->pairs->pdata[i]));
    bool good = true;
    for (uint32_t i = 0; i < xlm_word_counts_size(wanted) && good; i++) {
        size_t size;
        const char *word = xlm_word_counts_word(wanted, i, &size);
        good = learn_word(m, word, subwords, added, error);
        if (good)
            xlm_segmenter_add_missing(subwords, word, size, added);
    }
    if (good)
        return m;
    free_merges(m);
    return NULL;
}

static const xlm_segmenter_change change = {.reduce = reduce, .whole = whole, .enlarge = enlarge};
static const xlm_segmenter_exchange exchange = {.adopt = adopt, .publish = xlm_byte_merges_publish,
                                                .publish_needs = xlm_byte_merges_publish_needs};

const xlm_segmenter_class xlm_segmenter_bpe_bytes = {
    .name = "bpe_bytes", .unit = "merges", .marks = "bytes written as characters; U+0120, a space, in front: a word begins",
    .input = XLM_SEGMENTS_WORDS,
    .normalisation = "valid UTF-8, then words as GPT-2 finds them, their bytes written as characters",
    .normaliser = new_normaliser,
    .print = print, .parse = parse, .save = save, .load = load, .free = free_merges, .size = size_of, .spell = spell,
    .spell_word = spell_word,
    .open = open_cutter, .close = close_cutter, .segment = segment, .segment_subword = segment_subword,
    .change = &change, .exchange = &exchange,
};
