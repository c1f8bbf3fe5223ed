/* xlm-mpi: byte-level BPE, the segmenter of RoBERTa, GPT-2 and ModernBERT. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Source: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019, and the encoder published with it.
 *
 * The words of subwords/bpe_bytes_words.c are the letters of bytes. Neighbours are merged as in bpe/bpe.h, the merge of the
 * lowest rank first, and no mark ends a word.
 *
 * In a file, beside /vocabulary/words:
 *   /vocabulary         attributes bytes_space_first = 0 | 1: a line is read as if there were a space before it; and, from
 *                       version 4 on, bytes_form_c = 0 | 1: text is brought into Form C
 *   /vocabulary/merges  [n] strings "left right", by rank
 *   /vocabulary/added_tokens, added_how  from version 4 on: tokens that are found before words (subwords/added_tokens.h) */
#include <string.h>
#include <unicode/utf8.h>

#include "base/rng.h"
#include "subwords/bpe_bytes.h"
#include "bpe/codes.h"
#include "subwords/bpe_change.h"
#include "subwords/word_store.h"

static const char SPACE[] = XLM_BYTE_SPACE;
static const char TOKENIZER[] = "tokenizer.json", VOCABULARY[] = "vocab.json", MERGES[] = "merges.txt";
static const char FORM_C[] = "bytes_form_c"; /* attribute of files from version 4 on */

typedef xlm_byte_merges merges;

static merges *new_merges(bool space_first)
{
    merges *m = g_new(merges, 1);
    *m = (merges){.space_first = space_first, .added = xlm_added_tokens_new(),
                  .pairs = g_ptr_array_new_with_free_func(g_free), .bpe = bpe_new()};
    return m;
}

static void free_merges(void *model)
{
    merges *m = model;
    xlm_bpe_free(m->bpe);
    xlm_added_tokens_free(m->added);
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

/* ---- letters ---- */

/* Append the bytes that letters stand for; false if a letter stands for no byte or for byte 0. */
static bool append_bytes(const char *letters, GString *out)
{
    for (const char *at = letters; *at != '\0'; at = g_utf8_next_char(at)) {
        const int byte = xlm_byte_of_letter((int32_t)g_utf8_get_char(at));
        if (byte <= 0)
            return false;
        g_string_append_c(out, (char)byte);
    }
    return true;
}

/* An added token whose characters are the letters of another text, which would be taken for the token; NULL: there is none. */
static const char *wrong_added(const merges *m)
{
    g_autoptr(GString) bytes = g_string_new(NULL);
    for (uint32_t i = 0; i < xlm_added_tokens_size(m->added); i++) {
        const xlm_added_token *token = xlm_added_tokens_at(m->added, i);
        g_string_truncate(bytes, 0);
        if (append_bytes(token->text, bytes) && xlm_utf8_check(bytes->str, bytes->len) == bytes->len &&
            strcmp(bytes->str, token->text) != 0)
            return token->text;
    }
    return NULL;
}

/* ---- published tokenizers ---- */

static bool is_ours(const xlm_tokenizer_files *files)
{
    size_t size;
    const char *splitter = json_string_value(xlm_tokenizer_value(files, TOKENIZER, "pre_tokenizer", "type", NULL));
    if (xlm_tokenizer_json(files, TOKENIZER) != NULL)
        return g_strcmp0(xlm_tokenizer_model_type(files), "BPE") == 0 && g_strcmp0(splitter, "ByteLevel") == 0;
    return xlm_tokenizer_json(files, VOCABULARY) != NULL && !xlm_tokenizer_ends_words(files) && /* a mark of another kind */
           xlm_tokenizer_file(files, MERGES, &size) != NULL;
}

static bool adopt_json(merges *m, const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error)
{
    const json_t *normalizer = xlm_tokenizer_value(files, TOKENIZER, "normalizer", NULL), *entry;
    const json_t *prefix = xlm_tokenizer_value(files, TOKENIZER, "pre_tokenizer", "add_prefix_space", NULL);
    size_t i;
    m->form_c = xlm_tokenizer_is_type(normalizer, "NFC");
    if (normalizer != NULL && !json_is_null(normalizer) && !m->form_c)
        return xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "has a normalizer other than NFC, which is not supported with "
                                    "byte-level BPE");
    if (json_is_false(xlm_tokenizer_value(files, TOKENIZER, "pre_tokenizer", "use_regex", NULL)))
        return xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "its pre_tokenizer does not find words as GPT-2 does (use_regex "
                                    "is false), which is not supported");
    m->space_first = xlm_tokenizer_flag(files, "add_prefix_space", json_is_true(prefix));
    const json_t *all = xlm_tokenizer_json_merges(files, error);
    if (all == NULL)
        return false;
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

/* Does tokenizer.json say that a space before the mask does not belong to it? It usually does, and files before version 4 cannot
 * say otherwise. */
static bool leaves_space_of_mask(const xlm_tokenizer_files *files, const xlm_published_tokens *tokens)
{
    const json_t *entry;
    size_t i;
    json_array_foreach(xlm_tokenizer_value(files, TOKENIZER, "added_tokens", NULL), i, entry)
        if (tokens->special[XLM_MASK] != NULL &&
            g_strcmp0(xlm_tokenizer_token_text(entry), tokens->special[XLM_MASK]) == 0)
            return json_is_false(json_object_get(entry, "lstrip"));
    return false;
}

/* Tokens that text has before its words, if there are any. Where there are none, no Form C, and a usual mask, the model is that of
 * files before version 4. */
static bool adopt_added(merges *m, const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error)
{
    json_auto_t *found = xlm_added_tokens_in_text(files, tokens);
    if (!m->form_c && json_array_size(found) == 0 && !leaves_space_of_mask(files, tokens))
        return true;
    if (!xlm_added_tokens_read(m->added, files, tokens, error))
        return false;
    const char *wrong = wrong_added(m);
    return wrong == NULL || xlm_tokenizer_refuse(files, xlm_added_tokens_file(files), 0, error, "the added token `%s` has the "
                                                 "letters of other bytes, which is not supported", wrong);
}

static void *adopt(const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error)
{
    static const char *const usual[XLM_SPECIAL_TOKENS] = {"[CLS] <s> <|endoftext|>", "[PAD] <pad>", "[SEP] </s> <|endoftext|>",
                                                          "[UNK] <unk>", "[MASK] <mask>"};
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
        if (adopt_added(m, files, tokens, error))
            return m;
    }
    free_merges(m);
    return NULL;
}

/* ---- files ---- */

/* The first line gives the settings; then, if it names their number, the added tokens, and the merges. */
static GString *print(const void *model)
{
    const merges *m = model;
    GString *text = g_string_new(m->space_first ? "#space_first 1" : "#space_first 0");
    if (xlm_byte_merges_is_newer(m))
        g_string_append_printf(text, " form_c %d added %u", m->form_c, xlm_added_tokens_size(m->added));
    g_string_append_c(text, '\n');
    xlm_added_tokens_print(m->added, text);
    for (guint i = 0; i < m->pairs->len; i++)
        g_string_append_printf(text, "%s\n", (const char *)m->pairs->pdata[i]);
    return text;
}

/* The settings of the first line; false: it is another one. */
static bool parse_settings(const char *line, int *space_first, int *form_c, unsigned *added)
{
    int end = 0;
    *form_c = 0;
    *added = 0;
    if (line == NULL || sscanf(line, "#space_first %1d%n", space_first, &end) != 1)
        return false;
    return line[end] == '\0' || sscanf(line + end, " form_c %1d added %9u", form_c, added) == 2;
}

static void *parse(const char *name, const char *bytes, size_t size, GError **error)
{
    g_autofree char *text = g_strndup(bytes, size);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    int space_first, form_c;
    unsigned added;
    if (!parse_settings(lines[0], &space_first, &form_c, &added)) {
        xlm_error_set(error, EX_DATAERR, "%s: has no line #space_first", name);
        return NULL;
    }
    merges *m = new_merges(space_first == 1);
    m->form_c = form_c == 1;
    const char *wrong = NULL;
    char **line = lines + 1;
    for (; wrong == NULL && added > 0 && *line != NULL; added--, line++)
        wrong = xlm_added_tokens_add_line(m->added, *line);
    for (; wrong == NULL && *line != NULL; line++)
        if (**line != '\0')
            wrong = add_pair(m, *line, strlen(*line));
    if (wrong == NULL)
        return m;
    free_merges(m);
    xlm_error_set(error, EX_DATAERR, "%s: %s", name, wrong);
    return NULL;
}

static bool save_newer(const merges *m, xlm_store *store, const char *path, GError **error)
{
    return !xlm_byte_merges_is_newer(m) ||
           (xlm_store_set_int(store, path, FORM_C, m->form_c, error) && xlm_added_tokens_save(m->added, store, path, error));
}

static bool save(const void *model, xlm_store *store, const char *path, int rank, GError **error)
{
    (void)rank;
    const merges *m = model;
    return xlm_word_store_save_words(store, path, "merges", m->pairs->len, (const char *const *)m->pairs->pdata, error) &&
           xlm_store_set_int(store, path, "bytes_space_first", m->space_first, error) && save_newer(m, store, path, error) &&
           xlm_store_set_text(store, path, "segmentation",
                              "byte-level BPE as of GPT-2: merges by rank, of bytes written as characters", error);
}

static bool load_newer(merges *m, const xlm_store *store, const char *path, GError **error)
{
    int64_t form_c;
    if (!xlm_store_get_int(store, path, FORM_C, &form_c, NULL))
        return true;
    m->form_c = form_c != 0;
    if (!xlm_added_tokens_load(m->added, store, path, error))
        return false;
    return wrong_added(m) == NULL ||
           xlm_word_store_refuse(store, path, "an added token has the letters of other bytes", error);
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
    if (wrong != NULL)
        xlm_word_store_refuse(store, path, "a line of merges is not two subwords with a space between them", error);
    else if (load_newer(m, store, path, error))
        return m;
    free_merges(m);
    return NULL;
}

/* ---- asking ---- */

static int64_t format_version(const void *model) { return xlm_byte_merges_is_newer(model) ? 4 : 3; }

static uint32_t size_of(const void *model) { return ((const merges *)model)->pairs->len; }

/* Letters without the mark of a beginning. */
static const char *skip_mark(const char *subword) { return subword + (g_str_has_prefix(subword, SPACE) ? strlen(SPACE) : 0); }

/* Append the bytes of a subword, without the space at the beginning of a word; false if it is not made of bytes. */
static bool append_subword(const merges *m, const char *subword, bool first, GString *out)
{
    const xlm_added_token *token = xlm_added_tokens_of_subword(m->added, subword);
    if (token == NULL)
        return append_bytes(first ? skip_mark(subword) : subword, out);
    g_string_append(out, token->text + (first && *token->text == ' '));
    return true;
}

/* Appends the bytes of subwords as text if they are whole characters. */
static bool spell_word(const void *model, const char *const *subwords, size_t n, GString *out)
{
    const size_t before = out->len;
    bool good = true;
    for (size_t i = 0; i < n && good; i++)
        good = append_subword(model, subwords[i], i == 0, out);
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
    return g_str_has_prefix(subword, SPACE) || g_str_has_prefix(subword, XLM_ADDED_SPACE) ? XLM_MARKS_BEGIN : XLM_MARKS_NOTHING;
}

/* ---- segmenting ---- */

typedef struct cutter {
    const xlm_added_tokens *added;
    xlm_bpe_cutter *merging;
    GArray *ends; /* uint32_t: end of each symbol in the word */
    GString *segmented;
} cutter;

static void *open_cutter(const void *model, const xlm_word_counts *allowed)
{
    (void)allowed; /* a vocabulary of this class has everything that its merges make */
    cutter *c = g_new(cutter, 1);
    *c = (cutter){((const merges *)model)->added, xlm_bpe_cutter_new(((const merges *)model)->bpe, NULL),
                  g_array_new(FALSE, FALSE, sizeof(uint32_t)), g_string_new(NULL)};
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

static bool is_added(cutter *c, const char *word, size_t size)
{
    if (xlm_added_tokens_size(c->added) == 0)
        return false;
    g_autofree char *subword = g_strndup(word, size);
    const xlm_added_token *token = xlm_added_tokens_of_subword(c->added, subword);
    return token != NULL && !(token->how & XLM_ADDED_SPECIAL);
}

static const char *segment(void *pointer, const char *word, size_t size, GArray *places, size_t *n, GError **error)
{
    (void)error;
    cutter *c = pointer;
    g_string_truncate(c->segmented, 0);
    if (is_added(c, word, size)) {
        xlm_origins_add(places, 1, 0, size);
        *n = size;
        return g_string_append_len(c->segmented, word, (gssize)size)->str;
    }
    xlm_bpe_cutter_unmarked(c->merging, word, size, c->ends);
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
        g_string_append_unichar(byte, (gunichar)xlm_byte_letter((unsigned char)i));
        xlm_segmenter_keep(subwords, byte->str, byte->len, kept);
    }
    g_autofree uint8_t *used = g_new0(uint8_t, MAX(xlm_bpe_size(m->bpe), 1));
    cutter *c = open_cutter(m, NULL);
    xlm_bpe_cutter_record(c->merging, used);
    for (uint32_t i = 0, n; i < (n = xlm_word_counts_size(kept));) { /* what is kept on the way to a subword is a subword too */
        for (; i < n; i++) {
            size_t size;
            const char *subword = xlm_word_counts_word(kept, i, &size);
            if (!is_added(c, subword, size))
                xlm_bpe_cutter_unmarked(c->merging, subword, size, c->ends);
        }
        bpe_keep_results(m->bpe, used, subwords, kept);
    }
    close_cutter(c);
}

/* A model with the settings of another one, and its added tokens, without those that are in `subwords` and not in `kept` (NULL:
 * all are kept). */
static merges *new_like(const merges *old, const xlm_word_counts *subwords, const xlm_word_counts *kept)
{
    merges *m = new_merges(old->space_first);
    m->form_c = old->form_c;
    for (uint32_t i = 0; i < xlm_added_tokens_size(old->added); i++) {
        const xlm_added_token *token = xlm_added_tokens_at(old->added, i);
        const size_t size = strlen(token->subword);
        if (kept == NULL || xlm_word_counts_index(kept, token->subword, size) != UINT32_MAX ||
            xlm_word_counts_index(subwords, token->subword, size) == UINT32_MAX)
            xlm_added_tokens_add(m->added, token->text, token->how);
    }
    return m;
}

/* The merges whose parts and result are all kept. */
static void *reduce(const void *model, const xlm_word_counts *subwords, xlm_word_counts *kept, GError **error)
{
    const merges *all = model;
    (void)error;
    keep_needed(model, subwords, kept);
    merges *m = new_like(all, subwords, kept);
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

/* The subword as it is after a space; an added token is one anywhere. */
static char *whole(const void *model, const char *word)
{
    const xlm_added_token *token = xlm_added_tokens_of_subword(((const merges *)model)->added, word);
    if (token != NULL && !(token->how & XLM_ADDED_SPECIAL))
        return g_strdup(word);
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
    merges *m = new_like(old, subwords, NULL);
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
    .name = "bpe_bytes", .unit = "merges",
    .marks = "bytes written as characters; U+0120 or U+2423, a space, in front: a word begins",
    .input = XLM_SEGMENTS_WORDS,
    .normalisation = "valid UTF-8; Form C where bytes_form_c is 1; then words as GPT-2 finds them, their bytes written as characters",
    .normaliser = xlm_byte_words_normaliser,
    .format_version = format_version,
    .print = print, .parse = parse, .save = save, .load = load, .free = free_merges, .size = size_of, .spell = spell,
    .spell_word = spell_word,
    .open = open_cutter, .close = close_cutter, .segment = segment, .segment_subword = segment_subword,
    .change = &change, .exchange = &exchange,
};
