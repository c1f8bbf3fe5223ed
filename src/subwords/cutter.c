/* xlm-mpi: cutting text by a segmenter. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "subwords/segmenter.h"
#include "text/strings.h"

/* The segmented form of a word that was seen before: its place in `text`. */
typedef struct answer {
    size_t start;
    uint32_t size;
} answer;

struct xlm_cutter {
    const xlm_segmenter_class *cls;
    const xlm_segmenter *segmenter;
    void *cutter; /* of the class */

    xlm_strings *seen; /* words */
    GArray *answers;   /* answer, by number of the word in `seen` */
    GString *text;
};

static const size_t SEEN_LONGEST = 256;            /* longer words are not remembered */
static const size_t SEEN_MEMORY = (size_t)1 << 28; /* when words and answers take more, all are forgotten */

xlm_cutter *xlm_cutter_new(const xlm_segmenter *segmenter, const xlm_word_counts *allowed)
{
    const bool all = allowed == NULL || xlm_word_counts_size(allowed) == 0;
    xlm_cutter *c = g_new(xlm_cutter, 1);
    c->cls = xlm_segmenter_class_of(segmenter);
    c->segmenter = segmenter;
    c->cutter = c->cls->open(xlm_segmenter_model(segmenter), all ? NULL : allowed);
    c->seen = xlm_strings_new();
    c->answers = g_array_new(FALSE, FALSE, sizeof(answer));
    c->text = g_string_new(NULL);
    return c;
}

void xlm_cutter_free(xlm_cutter *c)
{
    if (c == NULL)
        return;
    c->cls->close(c->cutter);
    xlm_strings_free(c->seen);
    g_array_free(c->answers, TRUE);
    g_string_free(c->text, TRUE);
    g_free(c);
}

const char *xlm_cutter_word(xlm_cutter *c, const char *word, size_t size, size_t *n)
{
    return c->cls->segment(c->cutter, word, size, NULL, n, NULL);
}

/* Number of bytes of a subword at the beginning of text[size], by its spelling or its own text. The last subword of a word takes
 * all the rest. */
static size_t match(const xlm_cutter *c, const char *subword, bool last, const char *text, size_t size, GString *spelled)
{
    g_string_truncate(spelled, 0);
    xlm_segmenter_spell(c->segmenter, subword, spelled);
    const size_t n = spelled->len <= size && memcmp(text, spelled->str, spelled->len) == 0 ? spelled->len : strlen(subword);
    return last ? size : MIN(n, size);
}

const char *xlm_cutter_locate(xlm_cutter *c, const char *word, size_t size, GArray *places, size_t *n, GError **error)
{
    const guint before = places->len;
    const char *segmented = c->cls->segment(c->cutter, word, size, places, n, error);
    if (segmented == NULL || places->len > before)
        return segmented;
    g_autoptr(GString) subword = g_string_new(NULL), spelled = g_string_new(NULL);
    for (size_t at = 0, begin = 0, end; begin < *n; begin = end + 1) {
        const char *space = memchr(segmented + begin, ' ', *n - begin);
        end = space != NULL ? (size_t)(space - segmented) : *n;
        g_string_truncate(subword, 0);
        g_string_append_len(subword, segmented + begin, (gssize)(end - begin));
        const size_t taken = match(c, subword->str, space == NULL, word + at, size - at, spelled);
        xlm_origins_add(places, 1, at, at + taken);
        at += taken;
    }
    return segmented;
}

const char *xlm_cutter_subword(xlm_cutter *c, const char *subword, size_t *n)
{
    return c->cls->segment_subword(c->cutter, subword, n);
}

/* ---- text ---- */

/* The result of xlm_cutter_word, from memory if the word was seen before. */
static const char *answer_for(xlm_cutter *c, const char *word, size_t size, size_t *n)
{
    if (size > SEEN_LONGEST)
        return xlm_cutter_word(c, word, size, n);
    const uint32_t i = xlm_strings_add(c->seen, word, size);
    if (i == c->answers->len) {
        const char *subwords = xlm_cutter_word(c, word, size, n);
        const answer a = {c->text->len, (uint32_t)*n};
        g_string_append_len(c->text, subwords, (gssize)*n);
        g_array_append_val(c->answers, a);
    }
    const answer *a = &g_array_index(c->answers, answer, i);
    *n = a->size;
    return c->text->str + a->start;
}

static void forget_when_full(xlm_cutter *c)
{
    if (xlm_strings_memory(c->seen) + c->text->len < SEEN_MEMORY)
        return;
    xlm_strings_clear(c->seen);
    g_array_set_size(c->answers, 0);
    g_string_truncate(c->text, 0);
}

/* Make room for n more bytes. */
static void reserve(GString *out, size_t n)
{
    const size_t length = out->len;
    if (length + n < out->allocated_len)
        return;
    g_string_set_size(out, MAX(length + n, 2 * length));
    g_string_truncate(out, length);
}

void xlm_cutter_text(xlm_cutter *c, const char *text, size_t size, GString *out)
{
    size_t start = 0;
    for (size_t i = 0; i <= size; i++) {
        if (i < size && text[i] != ' ' && text[i] != '\n')
            continue;
        size_t n = 0;
        forget_when_full(c);
        const char *subwords = i > start ? answer_for(c, text + start, i - start, &n) : text;
        reserve(out, n + 1);
        memcpy(out->str + out->len, subwords, n);
        out->len += n;
        if (i < size)
            out->str[out->len++] = text[i];
        start = i + 1;
    }
    reserve(out, 0);
    out->str[out->len] = '\0';
}

xlm_word_counts *xlm_segmenter_count_subwords(const xlm_segmenter *segmenter, const xlm_word_counts *words,
                                              const xlm_word_counts *allowed)
{
    xlm_word_counts *subwords = xlm_word_counts_new();
    xlm_cutter *c = xlm_cutter_new(segmenter, allowed);
    for (uint32_t i = 0; i < xlm_word_counts_size(words); i++) {
        size_t size, n;
        const char *word = xlm_word_counts_word(words, i, &size);
        if (size == 0)
            continue;
        const char *segmented = xlm_cutter_word(c, word, size, &n);
        xlm_word_counts_add_text(subwords, segmented, n, xlm_word_counts_count(words, i));
    }
    xlm_cutter_free(c);
    xlm_word_counts_sort(subwords);
    return subwords;
}

xlm_word_counts *xlm_segmenter_recount(const xlm_word_counts *subwords, const xlm_word_counts *parts)
{
    xlm_word_counts *counted = xlm_word_counts_new();
    for (uint32_t i = 0; i < xlm_word_counts_size(subwords); i++) {
        size_t size;
        const char *subword = xlm_word_counts_word(subwords, i, &size);
        xlm_word_counts_add(counted, subword, size, MAX(xlm_word_counts_find(parts, subword, size), 0));
    }
    return counted;
}

xlm_word_counts *xlm_segmenter_list(const xlm_segmenter *s)
{
    xlm_word_counts *all = xlm_word_counts_new();
    xlm_segmenter_class_of(s)->learning->list(xlm_segmenter_model(s), all);
    return all;
}
