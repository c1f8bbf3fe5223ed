/* xlm-mpi: BPE of XLM, with the text rules of its tokenizer. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Source: Lample, Conneau, "Cross-lingual Language Model Pretraining", NeurIPS 2019, and the tokenizer published with it.
 *
 * Words are those of Moses (text/moses.h). The symbols of a word are its characters, the last one with `</w>` after it; they are
 * merged as in bpe/bpe.h. Results are not split again; those that the vocabulary does not have are unknown.
 *
 * In a file, beside /vocabulary/words:
 *   /vocabulary                attributes: xlm_lowercase = 0 | 1, lower case without accents; merge_counts = 0 | 1: are there any
 *   /vocabulary/merges         [n] strings "left right", by rank
 *   /vocabulary/merge_counts   [n] i64: as merges.txt has them; 0 where it has none
 *   /vocabulary/abbreviations  [k] strings "en Mr": a language, and a line of its list (text/moses.h) */
#include <string.h>

#include "base/rng.h"
#include "subwords/bpe_change.h"
#include "subwords/bpe_class.h"
#include "subwords/vocabulary.h"
#include "subwords/word_store.h"
#include "text/moses.h"

extern const xlm_segmenter_class xlm_segmenter_bpe_xlm;
static const char VOCABULARY[] = "vocab.json", MERGES[] = "merges.txt";

typedef struct bpe_xlm {
    xlm_bpe *merges;
    bool lower, counted;
    int64_t total; /* of the counts of merges */
    GPtrArray *abbreviations; /* char * */
} bpe_xlm;

static bpe_xlm *new_model(bool lower)
{
    bpe_xlm *m = g_new(bpe_xlm, 1);
    *m = (bpe_xlm){bpe_new(), lower, false, 0, g_ptr_array_new_with_free_func(g_free)};
    return m;
}

static void free_model(void *model)
{
    bpe_xlm *m = model;
    xlm_bpe_free(m->merges);
    g_ptr_array_unref(m->abbreviations);
    g_free(m);
}

static xlm_normaliser *new_normaliser(const void *model)
{
    const bpe_xlm *m = model;
    return xlm_moses_normaliser(m->lower, m->abbreviations);
}

/* Read a line "left right" or "left right count". Returns NULL, or what is wrong with it. first: it is the first line. */
static const char *add_merge(bpe_xlm *m, const char *line, size_t size, bool first)
{
    const char *wrong = NULL;
    g_autofree char *text = g_strndup(line, size);
    g_auto(GStrv) fields = g_strsplit(text, " ", -1);
    const guint n = g_strv_length(fields);
    gint64 count = 0;
    if (n < 2 || n > 3 || *fields[0] == '\0' || *fields[1] == '\0' || strlen(text) < size)
        wrong = "is not a merge: two subwords with a space between them, and maybe a count";
    else if (n == 3 && !g_ascii_string_to_signed(fields[2], 10, 0, G_MAXINT64, &count, NULL))
        wrong = "its count is not a whole number";
    else if (count > G_MAXINT64 - m->total)
        wrong = "its count is too large to be added to those of the lines before it";
    else if (!first && m->counted != (n == 3))
        wrong = n == 3 ? "has a count, which the lines before it do not have" : "has no count, which the lines before it have";
    else if (xlm_utf8_check(text, size) < size)
        wrong = "is not UTF-8";
    else if (!bpe_add_pair(m->merges, fields[0], strlen(fields[0]), fields[1], strlen(fields[1]), count))
        wrong = "is the merge of an earlier line too";
    m->counted = n == 3;
    if (wrong == NULL)
        m->total += count;
    return wrong;
}

/* ---- published tokenizers ---- */

static bool is_ours(const xlm_tokenizer_files *files)
{
    size_t size;
    return xlm_tokenizer_ends_words(files) && xlm_tokenizer_file(files, MERGES, &size) != NULL &&
           xlm_tokenizer_json(files, "tokenizer.json") == NULL;
}

/* Other tokenizers have vocabularies of this form and other text rules: GPT, FlauBERT, CLIP. */
static bool check_kind(const xlm_tokenizer_files *files, GError **error)
{
    const char *file, *kind = xlm_tokenizer_class(files, &file);
    const char *type = json_string_value(xlm_tokenizer_value(files, "config.json", "model_type", NULL));
    if (kind != NULL)
        return g_str_has_prefix(kind, "XLMTokenizer") ||
               xlm_tokenizer_refuse(files, file, 0, error, "a %s finds words by rules of its own, which are not known here; "
                                    "those of XLMTokenizer are", kind);
    if (type != NULL)
        return strcmp(type, "xlm") == 0 ||
               xlm_tokenizer_refuse(files, "config.json", 0, error, "the tokenizer of a model of type \"%s\" finds words by "
                                    "rules of its own, which are not known here; those of \"xlm\" are", type);
    return xlm_tokenizer_value(files, VOCABULARY, "<special0>", NULL) != NULL ||
           xlm_tokenizer_refuse(files, VOCABULARY, 0, error, "words end in </w>, and nothing says by what rules they are found; "
                                "give the directory with config.json or tokenizer_config.json");
}

static const char *add_line(void *model, const char *line, size_t size)
{
    bpe_xlm *m = model;
    return add_merge(m, line, size, xlm_bpe_size(m->merges) == 0);
}

static bool read_abbreviations(bpe_xlm *m, const xlm_tokenizer_files *files, GError **error)
{
    const char *name;
    for (size_t i = 0; (name = xlm_tokenizer_file_at(files, i)) != NULL; i++) {
        if (!g_str_has_prefix(name, XLM_TOKENIZER_ABBREVIATIONS))
            continue;
        size_t size;
        const char *text = xlm_tokenizer_file(files, name, &size), *language = name + strlen(XLM_TOKENIZER_ABBREVIATIONS);
        if (xlm_utf8_check(text, size) < size || strlen(text) < size || *language == '\0' || strpbrk(language, " \n") != NULL)
            return xlm_tokenizer_refuse(files, name, 0, error, "is not UTF-8, or its name says no language");
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line != NULL; line++)
            if (*g_strstrip(*line) != '\0' && **line != '#')
                g_ptr_array_add(m->abbreviations, g_strconcat(language, " ", *line, NULL));
    }
    return true;
}

/* Sequences begin with the bos token, whatever cls_token is, because XLM's classes do not use cls_token. */
static void find_first(const xlm_tokenizer_files *files, xlm_published_tokens *tokens)
{
    const char *named = xlm_tokenizer_role(files, "bos_token");
    const char *const candidates[] = {named != NULL ? named : "<s>", "<s>"};
    g_clear_pointer(&tokens->special[XLM_BOS], g_free);
    for (size_t k = 0; k < G_N_ELEMENTS(candidates) && tokens->special[XLM_BOS] == NULL; k++)
        for (guint i = 0; i < tokens->text->len && tokens->special[XLM_BOS] == NULL; i++)
            if (g_strcmp0(tokens->text->pdata[i], candidates[k]) == 0)
                tokens->special[XLM_BOS] = g_strdup(candidates[k]);
}

static void *adopt(const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error)
{
    static const char *const usual[XLM_SPECIAL_TOKENS] = {"", "<pad>", "</s>", "<unk>", "<special1>"};
    if (!is_ours(files))
        return NULL;
    bpe_xlm *m = new_model(xlm_tokenizer_flag(files, "do_lowercase_and_remove_accent", true));
    if (check_kind(files, error) && xlm_tokenizer_merges(files, add_line, m, error) && read_abbreviations(m, files, error) &&
        xlm_published_tokens_add_object(tokens, files, VOCABULARY, xlm_tokenizer_json(files, VOCABULARY), error) &&
        xlm_published_tokens_add_added(tokens, files, error)) {
        xlm_published_tokens_find_special(tokens, files, usual);
        find_first(files, tokens);
        return m;
    }
    free_model(m);
    return NULL;
}

static GString *print_merges(const bpe_xlm *m)
{
    GString *text = g_string_new(NULL);
    for (uint32_t i = 0; i < xlm_bpe_size(m->merges); i++) {
        const char *left, *right;
        int64_t count;
        xlm_bpe_code(m->merges, i, &left, &right, &count);
        g_string_append_printf(text, "%s %s", left, right);
        if (m->counted)
            g_string_append_printf(text, " %" G_GINT64_FORMAT, count);
        g_string_append_c(text, '\n');
    }
    return text;
}

static void publish_abbreviations(const bpe_xlm *m, json_t *files)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < m->abbreviations->len; i++) {
        const char *line = m->abbreviations->pdata[i], *space = strchr(line, ' ');
        g_autofree char *name = g_strdup_printf("%s%.*s", XLM_TOKENIZER_ABBREVIATIONS, (int)(space - line), line);
        const json_t *before = json_object_get(files, name);
        g_string_printf(text, "%s%s\n", before != NULL ? json_string_value(before) : "", space + 1);
        json_object_set_new(files, name, json_stringn(text->str, text->len));
    }
}

/* All tokens, including the names <specialN>, but not the placeholders of rows without a token. */
static void publish_tokens(const xlm_vocabulary *v, json_t *files, json_t *settings)
{
    json_t *tokens = json_object(), *others = json_array();
    for (int64_t id = 0; id < xlm_vocabulary_size(v); id++) {
        const char *word = xlm_vocabulary_words(v)[id];
        if (xlm_is_row_name(word))
            continue;
        json_object_set_new(tokens, word, json_integer(id));
        if (g_str_has_prefix(word, "<special") && g_str_has_suffix(word, ">"))
            json_array_append_new(others, json_string(word));
    }
    json_object_set_new(files, VOCABULARY, tokens);
    json_object_set_new(settings, "additional_special_tokens", others);
}

static void publish_languages(const xlm_vocabulary *v, json_t *settings, GString *notes)
{
    json_t *ids = json_object(), *names = json_object();
    bool parted = false;
    for (int i = 0; i < xlm_vocabulary_languages(v); i++) {
        const char *name = xlm_vocabulary_language_names(v)[i];
        char number[16];
        g_snprintf(number, sizeof number, "%d", i);
        json_object_set_new(ids, name, json_integer(i));
        json_object_set_new(names, number, json_string(name));
        parted = parted || strcmp(name, "zh") == 0 || strcmp(name, "ja") == 0 || strcmp(name, "th") == 0;
    }
    json_object_set_new(settings, "lang2id", ids);
    json_object_set_new(settings, "id2lang", names);
    if (parted)
        g_string_append(notes, "In Chinese, Japanese and Thai xlm-mpi finds words by ICU's dictionaries, XLM's tokenizer in "
                        "transformers by jieba, KyTea and PyThaiNLP. For the same subwords, give it the words and "
                        "`bypass_tokenizer=True`.\n");
}

static void publish(const xlm_vocabulary *v, json_t *files, json_t *settings, GString *notes)
{
    const bpe_xlm *m = xlm_segmenter_model(xlm_vocabulary_segmenter(v));
    g_autoptr(GString) merges = print_merges(m);
    json_object_set_new(files, MERGES, json_stringn(merges->str, merges->len));
    publish_tokens(v, files, settings);
    publish_abbreviations(m, files);
    publish_languages(v, settings, notes);
    json_object_set_new(settings, "tokenizer_class", json_string("XLMTokenizer"));
    json_object_set_new(settings, "do_lowercase_and_remove_accent", json_boolean(m->lower));
    g_string_append(notes, "The tokenizer needs the Python package sacremoses.\n");
}

/* ---- files ---- */

static GString *print(const void *model)
{
    const bpe_xlm *m = model;
    g_autoptr(GString) merges = print_merges(m);
    GString *text = g_string_new(NULL);
    g_string_printf(text, "#lowercase %d\n#abbreviations %u\n", m->lower, m->abbreviations->len);
    for (guint i = 0; i < m->abbreviations->len; i++)
        g_string_append_printf(text, "%s\n", (const char *)m->abbreviations->pdata[i]);
    g_string_append_len(text, merges->str, (gssize)merges->len);
    return text;
}

static void *parse(const char *name, const char *bytes, size_t size, GError **error)
{
    g_autofree char *text = g_strndup(bytes, size);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    const guint n = g_strv_length(lines);
    unsigned lower = 0, abbreviations = 0;
    const char *wrong = n < 2 || sscanf(lines[0], "#lowercase %u", &lower) != 1 ||
                                sscanf(lines[1], "#abbreviations %u", &abbreviations) != 1 || abbreviations > n - 2
                            ? "has no lines #lowercase and #abbreviations"
                            : NULL;
    bpe_xlm *m = new_model(lower != 0);
    for (guint i = 2; wrong == NULL && i < n; i++)
        if (i - 2 < abbreviations)
            g_ptr_array_add(m->abbreviations, g_strdup(lines[i]));
        else if (*lines[i] != '\0')
            wrong = add_merge(m, lines[i], strlen(lines[i]), xlm_bpe_size(m->merges) == 0);
    if (wrong == NULL)
        return m;
    free_model(m);
    xlm_error_set(error, EX_DATAERR, "%s: %s", name, wrong);
    return NULL;
}

static bool save(const void *model, xlm_store *store, const char *path, int rank, GError **error)
{
    const bpe_xlm *m = model;
    const uint32_t n = xlm_bpe_size(m->merges);
    g_autofree int64_t *counts = NULL;
    g_auto(GStrv) merges = bpe_strings(m->merges, &counts);
    return xlm_word_store_save_words(store, path, "merges", n, (const char *const *)merges, error) &&
           xlm_word_store_save_counts(store, path, "merge_counts", rank, n, counts, error) &&
           xlm_word_store_save_words(store, path, "abbreviations", m->abbreviations->len,
                                     (const char *const *)m->abbreviations->pdata, error) &&
           xlm_store_set_int(store, path, "xlm_lowercase", m->lower, error) &&
           xlm_store_set_int(store, path, "merge_counts", m->counted, error) &&
           xlm_store_set_text(store, path, "segmentation", "BPE of XLM: merges by rank; </w> is the end of a word", error);
}

static bool load_merges(bpe_xlm *m, const xlm_store *store, const char *path, GError **error)
{
    uint64_t n;
    g_auto(GStrv) merges = xlm_word_store_load_words(store, path, "merges", &n, error);
    g_autofree int64_t *counts = merges != NULL ? xlm_word_store_load_counts(store, path, "merge_counts", n, error) : NULL;
    bool good = counts != NULL;
    const char *wrong = NULL;
    for (uint64_t i = 0; good && wrong == NULL && i < n; i++) {
        g_autofree char *line = g_strdup_printf("%s %" G_GINT64_FORMAT, merges[i], counts[i]);
        wrong = add_merge(m, line, strlen(line), i == 0);
    }
    if (wrong != NULL)
        good = xlm_word_store_refuse(store, path, "a line of merges is not two subwords with a space between them, or another's "
                                     "too", error);
    return good;
}

static bool load_abbreviations(bpe_xlm *m, const xlm_store *store, const char *path, GError **error)
{
    uint64_t n;
    g_auto(GStrv) lines = xlm_word_store_load_words(store, path, "abbreviations", &n, error);
    bool good = lines != NULL;
    for (uint64_t i = 0; good && i < n; i++) {
        good = lines[i][0] != ' ' && strchr(lines[i], ' ') != NULL;
        g_ptr_array_add(m->abbreviations, g_strdup(lines[i]));
    }
    if (lines != NULL && !good)
        xlm_word_store_refuse(store, path, "a line of abbreviations is not a language and a word", error);
    return good;
}

static void *load(const xlm_store *store, const char *path, GError **error)
{
    int64_t lower, counted;
    if (!xlm_store_get_int(store, path, "xlm_lowercase", &lower, error) ||
        !xlm_store_get_int(store, path, "merge_counts", &counted, error))
        return NULL;
    bpe_xlm *m = new_model(lower != 0);
    if (load_merges(m, store, path, error) && load_abbreviations(m, store, path, error)) {
        m->counted = counted != 0;
        return m;
    }
    free_model(m);
    return NULL;
}

/* ---- marks ---- */

static xlm_word_mark spell(const void *model, const char *subword, GString *out)
{
    (void)model;
    const bool ends = g_str_has_suffix(subword, BPE_END);
    if (out != NULL)
        g_string_append_len(out, subword, (gssize)(strlen(subword) - (ends ? BPE_END_SIZE : 0)));
    return ends ? XLM_MARKS_END : XLM_MARKS_NOTHING;
}

/* ---- vocabularies made of others ---- */

/* Takes ownership of merges; NULL returns NULL. */
static void *with_merges(const bpe_xlm *from, xlm_bpe *merges)
{
    if (merges == NULL)
        return NULL;
    bpe_xlm *m = new_model(from->lower);
    xlm_bpe_free(m->merges);
    m->merges = merges;
    m->counted = from->counted;
    for (guint i = 0; i < from->abbreviations->len; i++)
        g_ptr_array_add(m->abbreviations, g_strdup(from->abbreviations->pdata[i]));
    return m;
}

static void *reduce(const void *model, const xlm_word_counts *subwords, xlm_word_counts *kept, GError **error)
{
    const bpe_xlm *m = model;
    (void)error;
    xlm_segmenter_keep_characters(spell, model, subwords, "", "", kept);
    xlm_segmenter_keep_characters(spell, model, subwords, "", BPE_END, kept);
    return with_merges(m, bpe_strict_reduce(m->merges, subwords, kept));
}

static char *whole(const void *model, const char *word)
{
    (void)model;
    return strstr(word, BPE_END) != NULL ? NULL : g_strconcat(word, BPE_END, NULL);
}

static void *enlarge(const void *model, const xlm_word_counts *subwords, const xlm_word_counts *wanted, xlm_word_counts *added,
                     GError **error)
{
    const bpe_xlm *m = model;
    return with_merges(m, bpe_strict_enlarge(m->merges, subwords, wanted, added, error));
}

/* ---- asking ---- */

static uint32_t size_of(const void *model) { return xlm_bpe_size(((const bpe_xlm *)model)->merges); }

/* ---- segmenting ---- */

typedef struct cutter {
    xlm_bpe_cutter *merging; /* "lo@@ west" */
    GString *segmented;
} cutter;

static void *open_cutter(const void *model, const xlm_word_counts *allowed)
{
    (void)allowed; /* results of merges are not split again */
    cutter *c = g_new(cutter, 1);
    *c = (cutter){xlm_bpe_cutter_new(((const bpe_xlm *)model)->merges, NULL), g_string_new(NULL)};
    return c;
}

static void close_cutter(void *pointer)
{
    cutter *c = pointer;
    xlm_bpe_cutter_free(c->merging);
    g_string_free(c->segmented, TRUE);
    g_free(c);
}

/* In the text that bpe/bpe.h returns, all subwords of a word but the last have @@ after them; in that of this class the last one
 * has </w> after it. */
static const char *segment(void *pointer, const char *word, size_t size, GArray *places, size_t *n, GError **error)
{
    (void)places;
    (void)error;
    cutter *c = pointer;
    size_t all;
    const char *subwords = xlm_bpe_cutter_word(c->merging, word, size, &all);
    g_string_truncate(c->segmented, 0);
    for (size_t at = 0, end; at < all; at = end + 1) {
        for (end = at; end < all && subwords[end] != ' ';)
            end++;
        g_string_append_len(c->segmented, subwords + at, (gssize)(end - at - (end < all ? BPE_CONTINUED_SIZE : 0)));
        g_string_append(c->segmented, end < all ? " " : BPE_END);
    }
    *n = c->segmented->len;
    return c->segmented->str;
}

static const char *segment_subword(void *pointer, const char *subword, size_t *n)
{
    return bpe_segment_subword(&xlm_segmenter_bpe_xlm, pointer, subword, n);
}

static const xlm_segmenter_change change = {.reduce = reduce, .whole = whole, .enlarge = enlarge};
static const xlm_segmenter_exchange exchange = {.adopt = adopt, .publish = publish};

const xlm_segmenter_class xlm_segmenter_bpe_xlm = {
    .name = "bpe_xlm", .unit = "merges", .marks = "</w> at the end: the word ends", .input = XLM_SEGMENTS_WORDS,
    .normalisation = "valid UTF-8, then words as Moses finds them by the rules of the language, in lower case without accents if "
                     "xlm_lowercase is 1; Chinese, Japanese and Thai: words as ICU finds them",
    .normaliser = new_normaliser,
    .print = print, .parse = parse, .save = save, .load = load, .free = free_model, .size = size_of, .spell = spell,
    .open = open_cutter, .close = close_cutter, .segment = segment, .segment_subword = segment_subword,
    .change = &change, .exchange = &exchange,
};
