/* xlm-mpi: from lines of text to ids. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/log.h"
#include "subwords/tokenizer.h"
#include "text/strings.h"

/* The ids of a remembered word: their place in `ids`. */
typedef struct answer {
    size_t start;
    uint32_t n;
} answer;

struct xlm_tokenizer {
    xlm_tokenizer *second; /* of one language, with a segmenter of its own; NULL: this one is of all */
    int second_language;
    const xlm_vocabulary *vocabulary;
    bool lines; /* the segmenter takes lines: each is cut as one word */
    xlm_word line;
    xlm_normaliser *normaliser;
    xlm_splitter **splitters; /* [languages + 1], the first for no language; made when first needed */
    xlm_splitter *const *lent; /* [lent_languages], used instead */
    int lent_languages;
    xlm_cutter *cutter;

    xlm_strings *seen;
    GArray *answers; /* answer, by number of the word in `seen` */
    GArray *ids;     /* int32_t */
    GArray *numbers; /* uint32_t, of the words of a line in `seen` */
    GString *word;   /* a word that is given by itself, with its space */
    int64_t made, unknown; /* subwords since xlm_tokenizer_warn_unknown, and those of them that are the unknown token */
};

static const size_t SEEN_LONGEST = 256;            /* longer words are not remembered */
static const size_t SEEN_MEMORY = (size_t)1 << 28; /* when words and ids take more, all are forgotten */

static xlm_tokenizer *new_tokenizer(const xlm_vocabulary *vocabulary, const xlm_segmenter *segmenter, GError **error)
{
    xlm_normaliser *normaliser = xlm_segmenter_normaliser(segmenter, xlm_vocabulary_lowercase(vocabulary), error);
    if (normaliser == NULL)
        return NULL;
    xlm_tokenizer *t = g_new0(xlm_tokenizer, 1);
    t->vocabulary = vocabulary;
    t->lines = xlm_segmenter_class_of(segmenter)->input == XLM_SEGMENTS_LINES;
    t->normaliser = normaliser;
    t->splitters = g_new0(xlm_splitter *, (size_t)xlm_vocabulary_languages(vocabulary) + 1);
    t->cutter = xlm_cutter_new(segmenter, xlm_vocabulary_subwords(vocabulary));
    t->seen = xlm_strings_new();
    t->answers = g_array_new(FALSE, FALSE, sizeof(answer));
    t->ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
    t->numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    t->word = g_string_new(NULL);
    return t;
}

xlm_tokenizer *xlm_tokenizer_new(const xlm_vocabulary *vocabulary, GError **error)
{
    int language;
    const xlm_segmenter *second = xlm_vocabulary_second_segmenter(vocabulary, &language);
    xlm_tokenizer *t = new_tokenizer(vocabulary, xlm_vocabulary_segmenter(vocabulary), error);
    if (t == NULL || second == NULL)
        return t;
    t->second_language = language;
    if ((t->second = new_tokenizer(vocabulary, second, error)) == NULL)
        g_clear_pointer(&t, xlm_tokenizer_free);
    return t;
}

/* The tokenizer of text in a language. */
static xlm_tokenizer *of_language(xlm_tokenizer *t, int language)
{
    return t->second != NULL && language == t->second_language ? t->second : t;
}

void xlm_tokenizer_free(xlm_tokenizer *t)
{
    if (t == NULL)
        return;
    xlm_tokenizer_free(t->second);
    for (int i = 0; i <= xlm_vocabulary_languages(t->vocabulary); i++)
        xlm_splitter_free(t->splitters[i]);
    g_free(t->splitters);
    xlm_normaliser_free(t->normaliser);
    xlm_cutter_free(t->cutter);
    xlm_strings_free(t->seen);
    g_array_free(t->answers, TRUE);
    g_array_free(t->ids, TRUE);
    g_array_free(t->numbers, TRUE);
    g_string_free(t->word, TRUE);
    g_free(t);
}

void xlm_tokenizer_lend_splitters(xlm_tokenizer *t, xlm_splitter *const *splitters, int n)
{
    for (; t != NULL; t = t->second) {
        t->lent = splitters;
        t->lent_languages = n;
    }
}

const xlm_vocabulary *xlm_tokenizer_vocabulary(const xlm_tokenizer *t) { return t->vocabulary; }

static xlm_splitter *splitter_for(xlm_tokenizer *t, int language, GError **error)
{
    if (language >= 0 && language < t->lent_languages)
        return t->lent[language];
    xlm_splitter **splitter = &t->splitters[language + 1];
    if (*splitter == NULL) {
        const char *name = language < 0 ? "" : xlm_vocabulary_language_names(t->vocabulary)[language];
        *splitter = xlm_splitter_new(xlm_vocabulary_word_mode(t->vocabulary), name, error);
    }
    return *splitter;
}

/* Append the ids of a word. */
static void segment(xlm_tokenizer *t, const char *word, size_t size, GArray *ids)
{
    size_t n, start = 0;
    const char *subwords = xlm_cutter_word(t->cutter, word, size, &n);
    for (size_t i = 0; n > 0 && i <= n; i++) {
        if (i < n && subwords[i] != ' ')
            continue;
        const int32_t id = xlm_vocabulary_find(t->vocabulary, subwords + start, i - start);
        g_array_append_val(ids, id);
        start = i + 1;
    }
}

/* Lines that are normalised from now on are in this language, or in its base language. */
static bool set_language(xlm_tokenizer *t, int language, GError **error)
{
    const int base = xlm_vocabulary_base_language(t->vocabulary, language);
    return xlm_normaliser_set_language(t->normaliser, base < 0 ? "" : xlm_vocabulary_language_names(t->vocabulary)[base], error);
}

/* Remember the ids of a word. */
static void remember(xlm_tokenizer *t, const char *word, size_t size)
{
    answer a = {t->ids->len, 0};
    segment(t, word, size, t->ids);
    a.n = (uint32_t)(t->ids->len - a.start);
    g_array_append_val(t->answers, a);
}

/* Append the ids of n words that are short enough to be remembered. */
static void append_words(xlm_tokenizer *t, const char *line, const xlm_word *words, size_t n, GArray *ids)
{
    if (n == 0)
        return;
    size_t added = 0;
    g_array_set_size(t->numbers, (guint)n);
    uint32_t *numbers = (uint32_t *)(void *)t->numbers->data;
    xlm_strings_add_words(t->seen, line, words, n, numbers);
    for (size_t i = 0; i < n; i++) {
        if (numbers[i] == t->answers->len) /* new words have the next numbers, in their order */
            remember(t, line + words[i].start, words[i].size);
        added += g_array_index(t->answers, answer, numbers[i]).n;
    }
    if (added == 0) /* words of nothing; `ids` may have no memory */
        return;
    const guint first = ids->len;
    g_array_set_size(ids, first + (guint)added);
    int32_t *out = (int32_t *)(void *)ids->data + first;
    const int32_t *known = (const int32_t *)(const void *)t->ids->data;
    for (size_t i = 0; i < n; i++) {
        const answer *a = &g_array_index(t->answers, answer, numbers[i]);
        for (uint32_t k = 0; k < a->n; k++)
            *out++ = known[a->start + k];
    }
}

static void forget_when_full(xlm_tokenizer *t)
{
    if (xlm_strings_memory(t->seen) + t->ids->len * sizeof(int32_t) < SEEN_MEMORY)
        return;
    xlm_strings_clear(t->seen);
    g_array_set_size(t->answers, 0);
    g_array_set_size(t->ids, 0);
}

bool xlm_tokenizer_words(xlm_tokenizer *t, int language, const char *line, size_t size, const xlm_word **words, size_t *n,
                         GError **error)
{
    t = of_language(t, language);
    if (t->lines) {
        t->line = (xlm_word){0, (uint32_t)size};
        *words = &t->line;
        *n = size > 0;
        return true;
    }
    xlm_splitter *splitter = splitter_for(t, xlm_vocabulary_base_language(t->vocabulary, language), error);
    if (splitter != NULL)
        *words = xlm_splitter_split(splitter, line, size, n);
    return splitter != NULL;
}

void xlm_tokenizer_encode_words(xlm_tokenizer *t, int language, const char *line, const xlm_word *words, size_t n,
                                GArray *ids)
{
    const int32_t *twins = xlm_vocabulary_twins(t->vocabulary, language);
    const guint first = ids->len;
    t = of_language(t, language);
    forget_when_full(t);
    for (size_t i = 0, short_words; i < n; i += short_words + 1) {
        for (short_words = 0; i + short_words < n && words[i + short_words].size <= SEEN_LONGEST;)
            short_words++;
        append_words(t, line, words + i, short_words, ids);
        if (i + short_words < n)
            segment(t, line + words[i + short_words].start, words[i + short_words].size, ids);
    }
    const int32_t unknown = xlm_vocabulary_special(t->vocabulary, XLM_UNK);
    for (guint i = first; i < ids->len; i++)
        t->unknown += g_array_index(ids, int32_t, i) == unknown;
    t->made += ids->len - first;
    for (guint i = first; twins != NULL && i < ids->len; i++)
        g_array_index(ids, int32_t, i) = twins[g_array_index(ids, int32_t, i)];
}

void xlm_warn_unknown(const char *text, int64_t subwords, int64_t unknown)
{
    enum { FEW = 20 }; /* names and signs of another script make fewer */
    if (unknown * FEW > subwords)
        xlm_log_warn("%s: %.0f %% of its %" G_GINT64_FORMAT " subwords are unknown to the vocabulary; was it made of text in this "
                     "script?", text, 100. * (double)unknown / (double)subwords, subwords);
}

void xlm_tokenizer_warn_unknown(xlm_tokenizer *t, const char *text)
{
    int64_t made = 0, unknown = 0;
    for (; t != NULL; t = t->second) {
        made += t->made;
        unknown += t->unknown;
        t->made = t->unknown = 0;
    }
    xlm_warn_unknown(text, made, unknown);
}

size_t xlm_tokenizer_count_words(const xlm_tokenizer *t, const int32_t *ids, size_t n, size_t words)
{
    if (!t->lines)
        return words;
    size_t starts = n > 0;
    for (size_t i = 1; i < n; i++)
        starts += !xlm_vocabulary_joins(t->vocabulary, ids[i - 1], ids[i]);
    return starts;
}

/* xlm_tokenizer_encode for a line that xlm_normaliser_run has returned (with the vocabulary's setting of lower case). */
static bool encode_normalised(xlm_tokenizer *t, int language, const char *line, size_t size, GArray *ids,
                                     size_t *words, GError **error)
{
    size_t n;
    const xlm_word *word;
    if (!xlm_tokenizer_words(t, language, line, size, &word, &n, error))
        return false;
    const guint first = ids->len;
    xlm_tokenizer_encode_words(t, language, line, word, n, ids);
    const int32_t *added = ids->len > first ? &g_array_index(ids, int32_t, first) : NULL; /* an empty array has no memory */
    if (words != NULL)
        *words = xlm_tokenizer_count_words(t, added, ids->len - first, n);
    return true;
}

/* Without the token of the language. */
static bool encode_text(xlm_tokenizer *t, int language, const char *text, size_t size, GArray *ids, size_t *words, GError **error)
{
    const char *normal;
    size_t normal_size;
    t = of_language(t, language);
    return set_language(t, language, error) &&
           xlm_normaliser_run(t->normaliser, text, size, &normal, &normal_size, error) &&
           encode_normalised(t, language, normal, normal_size, ids, words, error);
}

void xlm_tokenizer_begin(const xlm_tokenizer *t, int language, GArray *ids)
{
    const int32_t token = xlm_language_token(xlm_vocabulary_specials(t->vocabulary), language);
    if (token >= 0)
        g_array_append_val(ids, token);
}

bool xlm_tokenizer_encode(xlm_tokenizer *t, int language, const char *line, size_t size, GArray *ids, size_t *words,
                          GError **error)
{
    const guint first = ids->len;
    xlm_tokenizer_begin(t, language, ids);
    const guint begun = ids->len;
    const bool good = encode_text(t, language, line, size, ids, words, error);
    if (ids->len == begun) /* nothing that could begin */
        g_array_set_size(ids, first);
    return good;
}

bool xlm_tokenizer_encode_word(xlm_tokenizer *t, int language, bool inside, const char *word, size_t size, GArray *ids,
                               size_t *words, GError **error)
{
    t = of_language(t, language);
    if (!inside || size == 0 || *word == ' ' || !xlm_normaliser_keeps_space(t->normaliser))
        return encode_text(t, language, word, size, ids, words, error);
    const size_t valid = xlm_utf8_check(word, size); /* without the space, which messages must not count */
    g_string_assign(t->word, valid == size ? " " : "");
    g_string_append_len(t->word, word, (gssize)size);
    return encode_text(t, language, t->word->str, t->word->len, ids, words, error);
}

/* ---- with places ---- */

/* Append the subwords of a word or line with their places in `line`. */
static bool place_subwords(xlm_tokenizer *t, const char *line, const xlm_word *word, GArray *places, GArray *subwords,
                           GError **error)
{
    size_t n;
    guint i = 0;
    g_array_set_size(places, 0);
    const char *segmented = xlm_cutter_locate(t->cutter, line + word->start, word->size, places, &n, error);
    for (size_t begin = 0, end; segmented != NULL && begin < n; begin = end + 1, i++) {
        const char *space = memchr(segmented + begin, ' ', n - begin);
        end = space != NULL ? (size_t)(space - segmented) : n;
        const xlm_origin *place = &g_array_index(places, xlm_origin, i);
        const xlm_located_subword located = {.id = xlm_vocabulary_find(t->vocabulary, segmented + begin, end - begin),
                                             .start = word->start + place->start, .end = word->start + place->end};
        g_array_append_val(subwords, located);
    }
    return segmented != NULL;
}

/* Maps bytes of the line to those of the original text of `size` bytes. */
static void place_in_text(xlm_located_subword *s, const xlm_origin *origins, size_t line_size, size_t size)
{
    const bool none = s->start == s->end;
    xlm_origin place = {(uint32_t)size, (uint32_t)size};
    if (s->start < line_size)
        place = none ? origins[s->start] : xlm_origins_join(origins + s->start, s->end - s->start);
    s->start = place.start;
    s->end = none ? place.start : place.end;
}

bool xlm_tokenizer_locate(xlm_tokenizer *t, int language, const char *text, size_t size, GArray *subwords, GError **error)
{
    const char *line;
    size_t line_size, n;
    const xlm_origin *origins;
    const xlm_word *words;
    t = of_language(t, language);
    if (!set_language(t, language, error) ||
        !xlm_normaliser_run_origins(t->normaliser, text, size, &line, &line_size, &origins, error) ||
        !xlm_tokenizer_words(t, language, line, line_size, &words, &n, error))
        return false;
    const int32_t *twins = xlm_vocabulary_twins(t->vocabulary, language), unknown = xlm_vocabulary_special(t->vocabulary, XLM_UNK);
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(xlm_origin));
    guint i = subwords->len;
    bool good = true;
    for (size_t k = 0; k < n && good; k++)
        good = place_subwords(t, line, &words[k], places, subwords, error);
    for (; i < subwords->len; i++) {
        xlm_located_subword *s = &g_array_index(subwords, xlm_located_subword, i);
        t->unknown += s->id == unknown;
        t->made++;
        s->id = twins != NULL ? twins[s->id] : s->id;
        place_in_text(s, origins, line_size, size);
    }
    return good;
}
