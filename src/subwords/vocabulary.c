/* xlm-mpi: the subword vocabulary. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/number_digest.h"
#include "base/rng.h"
#include "subwords/vocabulary.h"
#include "text/normalise.h"

struct xlm_vocabulary {
    xlm_word_counts *subwords; /* id = xlm_ordinary_id(&specials, number) */
    xlm_special_tokens specials;
    char *special_names[XLM_SPECIAL_TOKENS];
    xlm_segmenter *segmenter, *second; /* second: of second_language alone; or NULL */
    int second_language;
    xlm_word_mode mode;
    bool lowercase;
    char **languages; /* NULL-terminated */
    int language_count;
    xlm_vocabulary_made *made; /* [made_count] */
    int made_count;
    char *language_form;     /* NULL: languages have no tokens */
    int32_t *language_token; /* [language_count], which specials.language points to */

    int64_t size;
    const char **words;    /* by id, then NULL */
    int64_t *counts;       /* by id */
    GPtrArray *spellings;  /* char *: of the twins, by id; `words` points to them */
    GHashTable *twin_ids;  /* spelling -> id; NULL when there are no twins */
    int32_t **twins;       /* [made_count][size], NULL for a synthetic language without twins */
};

/* ---- which subwords ---- */

bool xlm_vocabulary_cut(xlm_word_counts *counted, int64_t min_count, int64_t max_subwords)
{
    const uint32_t all = xlm_word_counts_size(counted);
    uint32_t n = max_subwords > 0 && max_subwords < all ? (uint32_t)max_subwords : all;
    while (n > 0 && xlm_word_counts_count(counted, n - 1) < min_count)
        n--;
    xlm_word_counts_cut(counted, n);
    return n < all;
}

/* ---- making ---- */

static bool check_texts(const xlm_word_counts *subwords, const xlm_segmenter *segmenter, const char *const *special_names,
                        GError **error)
{
    for (int i = 0; special_names != NULL && i < XLM_SPECIAL_TOKENS; i++)
        if (!xlm_utf8_require("special token", special_names[i], strlen(special_names[i]), error))
            return false;
    if (xlm_word_counts_size(subwords) > INT32_MAX - XLM_SPECIAL_TOKENS)
        return xlm_error_set(error, EX_DATAERR, "a vocabulary of %u subwords; at most %d are possible",
                             xlm_word_counts_size(subwords), INT32_MAX - XLM_SPECIAL_TOKENS);
    for (uint32_t i = 0; i < xlm_word_counts_size(subwords); i++) {
        size_t size;
        const char *word = xlm_word_counts_word(subwords, i, &size);
        if (size == 0)
            return xlm_error_set(error, EX_DATAERR, "an empty subword in the vocabulary");
        if (!xlm_utf8_require("subword", word, size, error))
            return false;
    }
    return xlm_segmenter_check(segmenter, error);
}

static void copy_specials(xlm_vocabulary *v, const xlm_vocabulary_settings *settings)
{
    const char *const *names = settings->special_names != NULL ? settings->special_names : xlm_own_special_names;
    v->specials = settings->specials != NULL ? *settings->specials : xlm_own_special_tokens;
    v->specials.languages = v->specials.first_language = v->specials.last_language = 0; /* find_tokens_of_languages */
    v->specials.language = NULL;
    for (int i = 0; i < XLM_SPECIAL_TOKENS; i++)
        v->special_names[i] = g_strdup(names[i]);
}

/* Give every special token and subword its id. */
static bool index_words(xlm_vocabulary *v, GError **error)
{
    const uint32_t n = xlm_word_counts_size(v->subwords);
    v->size = (int64_t)n + v->specials.distinct;
    for (int i = 0; i < v->made_count; i++)
        v->size += v->made[i].twins;
    if (v->size > INT32_MAX)
        return xlm_error_set(error, EX_DATAERR, "a vocabulary of %" G_GINT64_FORMAT " subwords with their twins; at most %d are "
                             "possible", v->size, INT32_MAX);
    const int32_t last = v->specials.ascending[v->specials.distinct - 1];
    if (last >= v->size)
        return xlm_error_set(error, EX_DATAERR, "a special token has the id %d, in a vocabulary of %" G_GINT64_FORMAT, last,
                             v->size);
    v->words = g_new0(const char *, (size_t)v->size + 1);
    v->counts = g_new0(int64_t, (size_t)v->size);
    for (int i = 0; i < XLM_SPECIAL_TOKENS; i++)
        v->words[v->specials.id[i]] = v->special_names[i];
    for (uint32_t i = 0; i < n; i++) {
        const int32_t id = xlm_ordinary_id(&v->specials, (int32_t)i);
        v->words[id] = xlm_word_counts_word(v->subwords, i, NULL);
        v->counts[id] = xlm_word_counts_count(v->subwords, i);
    }
    return true;
}

/* ---- twins ---- */

static void copy_made(xlm_vocabulary *v, const xlm_vocabulary_settings *settings)
{
    v->made_count = settings->made_languages;
    v->made = g_new0(xlm_vocabulary_made, v->made_count);
    v->twins = g_new0(int32_t *, v->made_count);
    for (int i = 0; i < v->made_count; i++) {
        v->made[i] = settings->made[i];
        v->made[i].steps = g_strdup(settings->made[i].steps);
        v->made[i].weights = g_strdup(settings->made[i].weights);
        v->made[i].originals = g_memdup2(settings->made[i].originals, sizeof(int32_t) * (size_t)v->made[i].twins);
    }
}

/* Give the twins of a synthetic language the ordinary ids from number `first` on. */
static bool add_twins(xlm_vocabulary *v, int i, int32_t first, GError **error)
{
    const xlm_vocabulary_made *made = &v->made[i];
    v->twins[i] = g_new(int32_t, v->size);
    for (int32_t id = 0; id < v->size; id++)
        v->twins[i][id] = id;
    for (int32_t k = 0; k < made->twins; k++) {
        const int32_t original = made->originals[k], twin = xlm_ordinary_id(&v->specials, first + k);
        char *spelling = g_strconcat(v->languages[made->language], ":", v->words[original], NULL);
        g_ptr_array_add(v->spellings, spelling);
        if (xlm_vocabulary_find(v, spelling, strlen(spelling)) != v->specials.id[XLM_UNK])
            return xlm_error_set(error, EX_DATAERR, "`%s` is a subword of the text and would be the twin of `%s` too; give "
                                 "the synthetic language %s another name", spelling, v->words[original],
                                 v->languages[made->language]);
        g_hash_table_insert(v->twin_ids, spelling, GINT_TO_POINTER(twin));
        v->words[twin] = spelling;
        v->counts[twin] = v->counts[original];
        v->twins[i][original] = twin;
    }
    return true;
}

static bool add_all_twins(xlm_vocabulary *v, GError **error)
{
    int32_t first = (int32_t)xlm_word_counts_size(v->subwords);
    for (int i = 0; i < v->made_count; i++) {
        if (v->made[i].twins > 0 && !add_twins(v, i, first, error))
            return false;
        first += v->made[i].twins;
    }
    return true;
}

/* ---- tokens of languages ---- */

/* "__*__", de: "__de__". */
static char *fill_in_form(const char *form, const char *language)
{
    const char *star = strchr(form, '*');
    return g_strdup_printf("%.*s%s%s", (int)(star - form), form, language, star + 1);
}

/* "eng_Latn": three letters of ISO 639-3 and the script's name of ISO 15924, as in NLLB. */
static bool is_script_name(const char *name)
{
    static const char form[] = "aaa_Aaaa";
    bool good = strlen(name) == strlen(form);
    for (size_t i = 0; good && form[i] != '\0'; i++)
        good = form[i] == 'a' ? g_ascii_islower(name[i]) : form[i] == 'A' ? g_ascii_isupper(name[i]) : name[i] == '_';
    return good;
}

static bool find_tokens_of_languages(xlm_vocabulary *v, const char *form, GError **error)
{
    if (form == NULL)
        return true;
    if (strchr(form, '*') == NULL || !g_utf8_validate(form, -1, NULL))
        return xlm_error_set(error, EX_DATAERR, "the form of the tokens of languages is `%s`, without a *", form);
    v->language_form = g_strdup(form);
    for (int i = 0; i < v->language_count && strcmp(form, "*") == 0; i++)
        if (!is_script_name(v->languages[i])) /* any subword could be the token of another name */
            return xlm_error_set(error, EX_DATAERR, "languages of this vocabulary have names like eng_Latn, of a language and a "
                                 "script, and `%s` is none", v->languages[i]);
    v->language_token = g_new(int32_t, v->language_count + 1);
    for (int i = 0; i < v->language_count; i++) {
        g_autofree char *token = fill_in_form(form, v->languages[i]);
        const uint32_t number = xlm_word_counts_index(v->subwords, token, strlen(token));
        if (number == UINT32_MAX)
            return xlm_error_set(error, EX_DATAERR, "languages have tokens of the form `%s`, and there is no token `%s` of the "
                                 "language %s", form, token, v->languages[i]);
        const int32_t id = v->language_token[i] = xlm_ordinary_id(&v->specials, (int32_t)number);
        v->specials.first_language = i > 0 ? MIN(v->specials.first_language, id) : id;
        v->specials.last_language = i > 0 ? MAX(v->specials.last_language, id) : id;
    }
    v->specials.languages = v->language_count;
    v->specials.language = v->language_token;
    return true;
}

static bool check_second(const xlm_vocabulary *v, GError **error)
{
    if (v->second == NULL)
        return true;
    if (v->second_language < 0 || v->second_language >= v->language_count)
        return xlm_error_set(error, EX_DATAERR, "text of language %d is cut by another segmenter, and there are %d languages",
                             v->second_language, v->language_count);
    if (v->made_count > 0)
        return xlm_error_set(error, EX_DATAERR, "synthetic languages need one segmenter for all text, and there are two");
    return xlm_segmenter_class_of(v->second) == xlm_segmenter_class_of(v->segmenter)
               ? xlm_segmenter_check(v->second, error)
               : xlm_error_set(error, EX_DATAERR, "two segmenters of different classes");
}

xlm_vocabulary *xlm_vocabulary_new(const xlm_word_counts *subwords, xlm_segmenter *segmenter,
                                   const xlm_vocabulary_settings *settings, GError **error)
{
    if (!check_texts(subwords, segmenter, settings->special_names, error)) {
        xlm_segmenter_unref(segmenter);
        return NULL;
    }
    xlm_vocabulary *v = g_new0(xlm_vocabulary, 1);
    v->subwords = xlm_word_counts_new();
    xlm_word_counts_add_all(v->subwords, subwords, 1);
    if (!settings->in_order)
        xlm_word_counts_sort(v->subwords);
    v->segmenter = segmenter;
    v->mode = settings->words;
    v->lowercase = settings->lowercase;
    v->language_count = settings->languages;
    v->languages = g_new0(char *, (size_t)settings->languages + 1);
    for (int i = 0; i < settings->languages; i++)
        v->languages[i] = g_strdup(settings->language_names[i]);
    v->spellings = g_ptr_array_new_with_free_func(g_free);
    v->twin_ids = g_hash_table_new(g_str_hash, g_str_equal);
    copy_specials(v, settings);
    copy_made(v, settings);
    if (settings->second != NULL) {
        v->second = xlm_segmenter_ref(settings->second);
        v->second_language = settings->second_language;
    }
    if (check_second(v, error) && index_words(v, error) && add_all_twins(v, error) &&
        find_tokens_of_languages(v, settings->language_form, error))
        return v;
    xlm_vocabulary_free(v);
    return NULL;
}

xlm_vocabulary_settings xlm_vocabulary_settings_of(const xlm_vocabulary *v, const char *names[XLM_SPECIAL_TOKENS])
{
    for (int i = 0; i < XLM_SPECIAL_TOKENS; i++)
        names[i] = v->special_names[i];
    return (xlm_vocabulary_settings){
        .in_order = true, .specials = &v->specials, .special_names = names, .words = v->mode, .lowercase = v->lowercase,
        .languages = v->language_count, .language_names = (const char *const *)v->languages,
        .second = v->second, .second_language = v->second_language, .language_form = v->language_form};
}

void xlm_vocabulary_made_free(xlm_vocabulary_made *made, int n)
{
    for (int i = 0; i < n; i++) {
        g_free((char *)made[i].steps);
        g_free((char *)made[i].weights);
        g_free((int32_t *)made[i].originals);
    }
    g_free(made);
}

void xlm_vocabulary_free(xlm_vocabulary *v)
{
    if (v == NULL)
        return;
    xlm_word_counts_free(v->subwords);
    xlm_segmenter_unref(v->segmenter);
    xlm_segmenter_unref(v->second);
    for (int i = 0; i < XLM_SPECIAL_TOKENS; i++)
        g_free(v->special_names[i]);
    g_strfreev(v->languages);
    g_free(v->language_form);
    g_free(v->language_token);
    g_free(v->words);
    g_free(v->counts);
    g_hash_table_unref(v->twin_ids);
    g_ptr_array_free(v->spellings, TRUE);
    for (int i = 0; i < v->made_count; i++)
        g_free(v->twins[i]);
    xlm_vocabulary_made_free(v->made, v->made_count);
    g_free(v->twins);
    g_free(v);
}

/* ---- asking ---- */

int64_t xlm_vocabulary_size(const xlm_vocabulary *v) { return v->size; }
const char *const *xlm_vocabulary_words(const xlm_vocabulary *v) { return v->words; }
const int64_t *xlm_vocabulary_counts(const xlm_vocabulary *v) { return v->counts; }
int xlm_vocabulary_languages(const xlm_vocabulary *v) { return v->language_count; }
xlm_word_mode xlm_vocabulary_word_mode(const xlm_vocabulary *v) { return v->mode; }
bool xlm_vocabulary_lowercase(const xlm_vocabulary *v) { return v->lowercase; }
const xlm_segmenter *xlm_vocabulary_segmenter(const xlm_vocabulary *v) { return v->segmenter; }
const xlm_segmenter *xlm_vocabulary_second_segmenter(const xlm_vocabulary *v, int *language)
{
    *language = v->second_language;
    return v->second;
}
const xlm_word_counts *xlm_vocabulary_subwords(const xlm_vocabulary *v) { return v->subwords; }
const xlm_special_tokens *xlm_vocabulary_specials(const xlm_vocabulary *v) { return &v->specials; }
int32_t xlm_vocabulary_special(const xlm_vocabulary *v, xlm_special special) { return v->specials.id[special]; }
bool xlm_vocabulary_is_special(const xlm_vocabulary *v, int32_t id) { return xlm_is_special(&v->specials, id); }

const char *const *xlm_vocabulary_language_names(const xlm_vocabulary *v)
{
    return (const char *const *)v->languages;
}

const char *xlm_vocabulary_language_form(const xlm_vocabulary *v) { return v->language_form; }

bool xlm_is_language_name(const char *name)
{
    bool good = *name != '\0' && *name != '.';
    for (; *name != '\0' && good; name++)
        good = g_ascii_isalnum(*name) || *name == '_' || *name == '.';
    return good;
}

bool xlm_is_row_name(const char *subword)
{
    const size_t begin = strlen("[row ");
    const size_t digits = g_str_has_prefix(subword, "[row ") ? strspn(subword + begin, "0123456789") : 0;
    return digits > 0 && strcmp(subword + begin + digits, "]") == 0;
}

int xlm_vocabulary_find_language(const xlm_vocabulary *v, const char *name)
{
    for (int i = 0; i < v->language_count; i++)
        if (strcmp(v->languages[i], name) == 0)
            return i;
    return -1;
}

const xlm_vocabulary_made *xlm_vocabulary_made_languages(const xlm_vocabulary *v, int *n)
{
    *n = v->made_count;
    return v->made;
}

const xlm_vocabulary_made *xlm_vocabulary_find_made(const xlm_vocabulary *v, int language)
{
    for (int i = 0; i < v->made_count; i++)
        if (v->made[i].language == language)
            return &v->made[i];
    return NULL;
}

const int32_t *xlm_vocabulary_twins(const xlm_vocabulary *v, int language)
{
    for (int i = 0; i < v->made_count; i++)
        if (v->made[i].language == language)
            return v->twins[i];
    return NULL;
}

int xlm_vocabulary_base_language(const xlm_vocabulary *v, int language)
{
    for (int i = 0; i < v->made_count; i++)
        if (v->made[i].language == language)
            return v->made[i].base;
    return language;
}

static int32_t find_twin(const xlm_vocabulary *v, const char *subword, size_t size)
{
    if (g_hash_table_size(v->twin_ids) == 0)
        return v->specials.id[XLM_UNK];
    g_autofree char *spelling = g_strndup(subword, size);
    void *id;
    const bool found = g_hash_table_lookup_extended(v->twin_ids, spelling, NULL, &id);
    return found ? GPOINTER_TO_INT(id) : v->specials.id[XLM_UNK];
}

int32_t xlm_vocabulary_find(const xlm_vocabulary *v, const char *subword, size_t size)
{
    const uint32_t i = xlm_word_counts_index(v->subwords, subword, size);
    return i == UINT32_MAX ? find_twin(v, subword, size) : xlm_ordinary_id(&v->specials, (int32_t)i);
}

/* The subword of an id; that of a twin, without the name of its language, whose size is *mark. NULL for special tokens and for
 * ids that do not exist. */
static const char *find_subword(const xlm_vocabulary *v, int32_t id, size_t *mark)
{
    *mark = 0;
    if (id < 0 || id >= v->size || xlm_is_special(&v->specials, id))
        return NULL;
    if ((uint32_t)xlm_ordinary_number(&v->specials, id) >= xlm_word_counts_size(v->subwords))
        *mark = (size_t)(strchr(v->words[id], ':') - v->words[id]) + 1;
    return v->words[id] + *mark;
}

bool xlm_vocabulary_joins(const xlm_vocabulary *v, int32_t id, int32_t next)
{
    size_t mark;
    const char *subword = find_subword(v, id, &mark), *following = find_subword(v, next, &mark);
    if (xlm_is_language_token(&v->specials, id) || xlm_is_language_token(&v->specials, next))
        return following != NULL && !xlm_is_language_token(&v->specials, next);
    return subword != NULL && following != NULL && xlm_segmenter_joins(v->segmenter, subword, following);
}

xlm_word_mark xlm_vocabulary_marks(const xlm_vocabulary *v, int32_t id)
{
    size_t mark;
    const char *subword = find_subword(v, id, &mark);
    return subword != NULL ? xlm_segmenter_marks(v->segmenter, subword) : XLM_MARKS_BEGIN | XLM_MARKS_END;
}

static uint64_t digest_of(const xlm_vocabulary *v, bool counts)
{
    const uint32_t n = xlm_word_counts_size(v->subwords);
    const int64_t head[] = {v->mode, v->lowercase, n, xlm_segmenter_size(v->segmenter)};
    uint64_t digest = xlm_digest_int64(head, G_N_ELEMENTS(head), 0);
    if (counts)
        digest = xlm_digest_int64(v->counts, (uint64_t)v->size, digest);
    if (memcmp(v->specials.id, xlm_own_special_tokens.id, sizeof v->specials.id) != 0)
        digest = xlm_digest_int32(v->specials.id, G_N_ELEMENTS(v->specials.id), digest);
    for (uint32_t i = 0; i < n; i++) { /* each text with its final 0, so that they stay separate */
        size_t size;
        const char *word = xlm_word_counts_word(v->subwords, i, &size);
        digest = xlm_digest(word, size + 1, digest);
    }
    digest = xlm_segmenter_digest(v->segmenter, digest);
    if (v->second != NULL)
        digest = xlm_segmenter_digest(v->second, xlm_digest_int32(&v->second_language, 1, digest));
    if (v->language_form != NULL)
        digest = xlm_digest(v->language_form, strlen(v->language_form), digest);
    const xlm_segmenter_class *cls = xlm_segmenter_class_of(v->segmenter);
    if (!cls->is_default)
        digest = xlm_digest(cls->name, strlen(cls->name), digest);
    for (int i = 0; i < v->made_count; i++)
        if (v->made[i].twins > 0)
            digest = xlm_digest_int32(v->made[i].originals, (uint64_t)v->made[i].twins, digest);
    return digest;
}

uint64_t xlm_vocabulary_digest(const xlm_vocabulary *vocabulary) { return digest_of(vocabulary, true); }

uint64_t xlm_vocabulary_subwords_digest(const xlm_vocabulary *vocabulary) { return digest_of(vocabulary, false); }

/* Append the text of ids [n] that are one word, or of one special token. */
static void decode_word(const xlm_vocabulary *v, const int32_t *ids, size_t n, GString *out)
{
    size_t mark;
    g_autofree const char **subwords = g_new(const char *, n);
    for (size_t i = n; i-- > 0;)
        subwords[i] = find_subword(v, ids[i], &mark); /* mark: at last that of the first */
    if (subwords[0] == NULL) {
        g_string_append(out, v->words[ids[0] >= 0 && ids[0] < v->size ? ids[0] : v->specials.id[XLM_UNK]]);
        return;
    }
    g_string_append_len(out, v->words[ids[0]], (gssize)mark);
    xlm_segmenter_spell_word(v->segmenter, subwords, n, out);
}

void xlm_vocabulary_decode(const xlm_vocabulary *v, const int32_t *ids, size_t n, GString *out)
{
    const gsize before = out->len;
    for (size_t first = 0, end; first < n; first = end) {
        end = first + 1;
        while (end < n && xlm_vocabulary_joins(v, ids[end - 1], ids[end]))
            end++;
        const bool begins = xlm_is_language_token(&v->specials, ids[first]);
        if (first + begins == end)
            continue;
        if (first > 0 && out->len > before)
            g_string_append_c(out, ' ');
        decode_word(v, ids + first + begins, end - first - begins, out);
    }
}
