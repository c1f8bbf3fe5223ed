/* xlm-mpi: tokens that a published tokenizer adds to those of its model. SPDX-License-Identifier: GPL-3.0-or-later */
#include "subwords/added_tokens.h"

#include <string.h>
#include <unicode/uchar.h>

#include "subwords/word_store.h"
#include "text/normalise.h"

static const char TOKENIZER[] = "tokenizer.json", ADDED[] = "added_tokens.json", TEXTS[] = "added_tokens", HOW[] = "added_how";

/* The names of `how`, as in tokenizer.json. */
static const struct {
    const char *name;
    unsigned how;
} names[] = {{"special", XLM_ADDED_SPECIAL},
             {"normalized", XLM_ADDED_NORMALIZED},
             {"lstrip", XLM_ADDED_LSTRIP},
             {"rstrip", XLM_ADDED_RSTRIP},
             {"single_word", XLM_ADDED_SINGLE_WORD}};
static const char NOTHING[] = "plain"; /* none of them */

/* Tokens that are found at the same time. */
typedef struct found {
    GPtrArray *sorted; /* xlm_added_token, borrowed, by the bytes of their texts */
    bool first[256];   /* does one begin with this byte? */
} found;

struct xlm_added_tokens {
    GPtrArray *all;                  /* xlm_added_token */
    GHashTable *by_text, *by_subword; /* borrowed */
    found plain, normalized;
};

static void free_token(void *pointer)
{
    xlm_added_token *token = pointer;
    g_free(token->text);
    g_free(token->subword);
    g_free(token);
}

xlm_added_tokens *xlm_added_tokens_new(void)
{
    xlm_added_tokens *tokens = g_new0(xlm_added_tokens, 1);
    tokens->all = g_ptr_array_new_with_free_func(free_token);
    tokens->by_text = g_hash_table_new(g_str_hash, g_str_equal);
    tokens->by_subword = g_hash_table_new(g_str_hash, g_str_equal);
    tokens->plain.sorted = g_ptr_array_new();
    tokens->normalized.sorted = g_ptr_array_new();
    return tokens;
}

void xlm_added_tokens_free(xlm_added_tokens *tokens)
{
    if (tokens == NULL)
        return;
    g_hash_table_unref(tokens->by_text);
    g_hash_table_unref(tokens->by_subword);
    g_ptr_array_unref(tokens->plain.sorted);
    g_ptr_array_unref(tokens->normalized.sorted);
    g_ptr_array_unref(tokens->all);
    g_free(tokens);
}

uint32_t xlm_added_tokens_size(const xlm_added_tokens *tokens) { return tokens->all->len; }
const xlm_added_token *xlm_added_tokens_at(const xlm_added_tokens *tokens, uint32_t i) { return tokens->all->pdata[i]; }

const xlm_added_token *xlm_added_tokens_of_text(const xlm_added_tokens *tokens, const char *text)
{
    return g_hash_table_lookup(tokens->by_text, text);
}

const xlm_added_token *xlm_added_tokens_of_subword(const xlm_added_tokens *tokens, const char *subword)
{
    return g_hash_table_lookup(tokens->by_subword, subword);
}

/* ---- adding ---- */

static const char *wrong_text(const char *text)
{
    const size_t size = strlen(text);
    if (size == 0)
        return "has no text";
    if (xlm_utf8_check(text, size) < size)
        return "is not UTF-8";
    if (strstr(text, XLM_ADDED_SPACE) != NULL)
        return "has a U+2423, which stands for a space in added tokens here";
    for (const char *at = text; *at != '\0'; at = g_utf8_next_char(at)) {
        const UChar32 c = (UChar32)g_utf8_get_char(at);
        if (c != ' ' && (u_isUWhiteSpace(c) || u_charType(c) == U_CONTROL_CHAR))
            return "has white space other than spaces, or a control character, which is not supported";
    }
    return NULL;
}

/* Other programs find the normal form of a token that is `normalized`. */
static bool is_composed(const char *text)
{
    g_autofree char *composed = g_utf8_normalize(text, -1, G_NORMALIZE_DEFAULT_COMPOSE);
    return strcmp(composed, text) == 0;
}

static const char *wrong_how(const char *text, unsigned how)
{
    if (how & XLM_ADDED_SPECIAL)
        return NULL;
    return how & XLM_ADDED_LSTRIP                                   ? "is not special and has \"lstrip\", which is not supported"
           : how & XLM_ADDED_RSTRIP                                 ? "is not special and has \"rstrip\", which is not supported"
           : how & XLM_ADDED_SINGLE_WORD                            ? "is not special and has \"single_word\", which is not "
                                                                      "supported"
           : (how & XLM_ADDED_NORMALIZED) && !is_composed(text)     ? "is not in Unicode Form C, which is not supported"
                                                                    : NULL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp((*(const xlm_added_token *const *)a)->text, (*(const xlm_added_token *const *)b)->text);
}

/* Insert a token in its place, which is usually the last one or near it. */
static void insert(found *f, xlm_added_token *token)
{
    guint low = 0, high = f->sorted->len;
    while (low < high) {
        const guint middle = (low + high) / 2;
        if (by_text(&f->sorted->pdata[middle], &token) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    g_ptr_array_insert(f->sorted, (gint)low, token);
    f->first[(unsigned char)*token->text] = true;
}

const char *xlm_added_tokens_add(xlm_added_tokens *tokens, const char *text, unsigned how)
{
    const xlm_added_token *same = xlm_added_tokens_of_text(tokens, text);
    const char *wrong = same != NULL ? (same->how == how ? NULL : "is added twice, in different ways") : wrong_text(text);
    if (same != NULL || wrong != NULL)
        return wrong;
    wrong = wrong_how(text, how);
    if (wrong != NULL)
        return wrong;
    g_auto(GStrv) parts = g_strsplit(text, " ", -1);
    xlm_added_token *token = g_new(xlm_added_token, 1);
    *token = (xlm_added_token){g_strdup(text), g_strjoinv(XLM_ADDED_SPACE, parts), how};
    g_ptr_array_add(tokens->all, token);
    g_hash_table_insert(tokens->by_text, token->text, token);
    g_hash_table_insert(tokens->by_subword, token->subword, token);
    if (!(how & XLM_ADDED_SPECIAL))
        insert(how & XLM_ADDED_NORMALIZED ? &tokens->normalized : &tokens->plain, token);
    return NULL;
}

/* ---- finding ---- */

static const char *text_at(const found *f, guint i) { return ((const xlm_added_token *)f->sorted->pdata[i])->text; }

/* The first of the tokens [low, high), which are alike before byte `depth`, whose byte there is at least `byte`. */
static guint first_with(const found *f, guint low, guint high, size_t depth, int byte)
{
    while (low < high) {
        const guint middle = (low + high) / 2;
        if ((unsigned char)text_at(f, middle)[depth] < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The longest token that text[size] begins with. */
static const xlm_added_token *longest(const found *f, const char *text, size_t size)
{
    guint low = 0, high = f->sorted->len;
    const xlm_added_token *best = NULL;
    for (size_t depth = 0; depth < size && text[depth] != '\0'; depth++) {
        const int byte = (unsigned char)text[depth];
        low = first_with(f, low, high, depth, byte);
        high = first_with(f, low, high, depth, byte + 1);
        if (low == high)
            break;
        if (text_at(f, low)[depth + 1] == '\0')
            best = f->sorted->pdata[low];
    }
    return best;
}

const xlm_added_token *xlm_added_tokens_find(const xlm_added_tokens *tokens, bool normalized, const char *text, size_t size,
                                             size_t *at)
{
    const found *f = normalized ? &tokens->normalized : &tokens->plain;
    for (; f->sorted->len > 0 && *at < size; ++*at) {
        const xlm_added_token *token = f->first[(unsigned char)text[*at]] ? longest(f, text + *at, size - *at) : NULL;
        if (token != NULL)
            return token;
    }
    *at = size;
    return NULL;
}

/* ---- published tokenizers ---- */

static bool has_role(const xlm_published_tokens *published, const char *text)
{
    bool is = false;
    for (int s = 0; s < XLM_SPECIAL_TOKENS; s++)
        is = is || g_strcmp0(published->special[s], text) == 0;
    return is;
}

static const char *content_of(const json_t *entry) { return json_string_value(json_object_get(entry, "content")); }

const char *xlm_added_tokens_file(const xlm_tokenizer_files *files)
{
    return xlm_tokenizer_value(files, TOKENIZER, "added_tokens", NULL) != NULL ? TOKENIZER : ADDED;
}

static bool is_additional(const xlm_tokenizer_files *files, const char *text)
{
    const char *file;
    const json_t *token;
    size_t i;
    json_array_foreach(xlm_tokenizer_additional(files, &file), i, token)
        if (g_strcmp0(xlm_tokenizer_token_text(token), text) == 0)
            return true;
    return false;
}

/* All added tokens as in tokenizer.json; those of added_tokens.json, {"text": id}, are described in tokenizer_config.json, but not
 * by older versions of transformers. json_decref. */
static json_t *list_all(const xlm_tokenizer_files *files)
{
    const json_t *own = xlm_tokenizer_value(files, TOKENIZER, "added_tokens", NULL);
    if (own != NULL)
        return json_incref((json_t *)(uintptr_t)own);
    json_t *all = json_array(), *id;
    const char *text;
    json_object_foreach((json_t *)(uintptr_t)xlm_tokenizer_json(files, ADDED), text, id) {
        g_autofree char *key = g_strdup_printf("%" JSON_INTEGER_FORMAT, json_integer_value(id));
        const json_t *described = xlm_tokenizer_value(files, "tokenizer_config.json", "added_tokens_decoder", key, NULL);
        json_t *entry = json_is_object(described) ? json_copy((json_t *)(uintptr_t)described)
                                                  : json_pack("{s:b}", "special", is_additional(files, text));
        json_object_set_new(entry, "content", json_string(text));
        json_object_set(entry, "id", id);
        json_array_append_new(all, entry);
    }
    return all;
}

json_t *xlm_added_tokens_in_text(const xlm_tokenizer_files *files, const xlm_published_tokens *published)
{
    json_auto_t *all = list_all(files);
    json_t *wanted = json_array(), *entry;
    size_t i;
    json_array_foreach(all, i, entry)
        if (content_of(entry) != NULL && !json_is_true(json_object_get(entry, "special")) &&
            !has_role(published, content_of(entry)))
            json_array_append(wanted, entry);
    return wanted;
}

/* What an entry says. A token that is not special is `normalized` unless the entry says otherwise, as in the library. */
static bool read_how(const xlm_tokenizer_files *files, const json_t *entry, unsigned *how, GError **error)
{
    *how = json_is_true(json_object_get(entry, "special")) ? 0 : XLM_ADDED_NORMALIZED;
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        const json_t *value = json_object_get(entry, names[i].name);
        if (value != NULL && !json_is_boolean(value))
            return xlm_tokenizer_refuse(files, xlm_added_tokens_file(files), 0, error, "the added token `%s`: \"%s\" is neither "
                                        "true nor false", content_of(entry), names[i].name);
        if (value != NULL)
            *how = json_is_true(value) ? *how | names[i].how : *how & ~names[i].how;
    }
    return true;
}

bool xlm_added_tokens_read(xlm_added_tokens *tokens, const xlm_tokenizer_files *files, xlm_published_tokens *published,
                           GError **error)
{
    json_auto_t *all = list_all(files);
    const json_t *entry;
    size_t i;
    json_array_foreach(all, i, entry) {
        const char *text = content_of(entry);
        unsigned how;
        if (text == NULL)
            continue;
        if (!read_how(files, entry, &how, error))
            return false;
        const bool role = has_role(published, text);
        const char *wrong = xlm_added_tokens_add(tokens, text, role ? how | XLM_ADDED_SPECIAL : how);
        if (wrong != NULL)
            return xlm_tokenizer_refuse(files, xlm_added_tokens_file(files), 0, error, "the added token `%s` %s", text, wrong);
        char **place = (char **)&published->text->pdata[json_integer_value(json_object_get(entry, "id"))];
        if (role)
            continue;
        g_free(*place);
        *place = g_strdup(xlm_added_tokens_of_text(tokens, text)->subword);
    }
    return true;
}

/* ---- files ---- */

/* g_free. */
static char *print_how(unsigned how)
{
    g_autoptr(GString) out = g_string_new(how == 0 ? NOTHING : NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (how & names[i].how)
            g_string_append_printf(out, "%s%s", out->len > 0 ? " " : "", names[i].name);
    return g_strdup(out->str);
}

static bool parse_how(const char *text, unsigned *how)
{
    g_auto(GStrv) words = g_strsplit(strcmp(text, NOTHING) == 0 ? "" : text, " ", -1);
    *how = 0;
    if (*text == '\0')
        return false;
    for (char **word = words; *word != NULL; word++) {
        size_t i = 0;
        while (i < G_N_ELEMENTS(names) && strcmp(*word, names[i].name) != 0)
            i++;
        if (i == G_N_ELEMENTS(names))
            return false;
        *how |= names[i].how;
    }
    return true;
}

static const char *add_named(xlm_added_tokens *tokens, const char *text, const char *how_text)
{
    unsigned how;
    return parse_how(how_text, &how) ? xlm_added_tokens_add(tokens, text, how)
                                     : "is neither plain nor special, normalized, lstrip, rstrip or single_word";
}

void xlm_added_tokens_print(const xlm_added_tokens *tokens, GString *out)
{
    for (guint i = 0; i < tokens->all->len; i++) {
        g_autofree char *how = print_how(xlm_added_tokens_at(tokens, i)->how);
        g_string_append_printf(out, "%s\t%s\n", xlm_added_tokens_at(tokens, i)->text, how);
    }
}

const char *xlm_added_tokens_add_line(xlm_added_tokens *tokens, const char *line)
{
    const char *tab = strchr(line, '\t');
    g_autofree char *text = g_strndup(line, tab != NULL ? (gsize)(tab - line) : 0);
    return add_named(tokens, text, tab != NULL ? tab + 1 : "");
}

bool xlm_added_tokens_save(const xlm_added_tokens *tokens, xlm_store *store, const char *path, GError **error)
{
    const guint n = tokens->all->len;
    g_autoptr(GPtrArray) texts = g_ptr_array_new();
    g_auto(GStrv) how = g_new0(char *, (gsize)n + 1);
    for (guint i = 0; i < n; i++) {
        g_ptr_array_add(texts, xlm_added_tokens_at(tokens, i)->text);
        how[i] = print_how(xlm_added_tokens_at(tokens, i)->how);
    }
    return xlm_word_store_save_words(store, path, TEXTS, n, (const char *const *)texts->pdata, error) &&
           xlm_word_store_save_words(store, path, HOW, n, (const char *const *)how, error) &&
           xlm_word_store_note(store, path, TEXTS, "description", "tokens that are found in text before its words, the longest "
                               "first, unless they are special; their spaces are U+2423 in `words`", error) &&
           xlm_word_store_note(store, path, HOW, "description", "of each added token what tokenizer.json says about it", error);
}

bool xlm_added_tokens_load(xlm_added_tokens *tokens, const xlm_store *store, const char *path, GError **error)
{
    uint64_t n, m;
    g_auto(GStrv) texts = xlm_word_store_load_words(store, path, TEXTS, &n, error);
    g_auto(GStrv) how = texts != NULL ? xlm_word_store_load_words(store, path, HOW, &m, error) : NULL;
    if (how == NULL)
        return false;
    if (n != m)
        return xlm_word_store_refuse(store, path, "added_tokens and added_how have different numbers of strings", error);
    for (uint64_t i = 0; i < n; i++) {
        const char *wrong = add_named(tokens, texts[i], how[i]);
        g_autofree char *what = wrong != NULL ? g_strdup_printf("the added token `%s` %s", texts[i], wrong) : NULL;
        if (what != NULL)
            return xlm_word_store_refuse(store, path, what, error);
    }
    return true;
}
