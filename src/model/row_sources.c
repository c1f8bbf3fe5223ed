/* xlm-mpi: where the rows of a larger vocabulary come from. SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/row_sources.h"

#include <string.h>

#include "subwords/vocabulary_join.h"

/* ---- what may be extended ---- */

static bool has_subwords(const xlm_vocabulary *old, const xlm_vocabulary *larger, GError **error)
{
    const char *const *words = xlm_vocabulary_words(old), *first = NULL;
    const int64_t n = xlm_vocabulary_size(old);
    int64_t missing = 0;
    const int32_t unknown = xlm_vocabulary_special(larger, XLM_UNK);
    for (int64_t id = n - 1; id >= 0; id--)
        if (!xlm_vocabulary_is_special(old, (int32_t)id) &&
            xlm_vocabulary_find(larger, words[id], strlen(words[id])) == unknown) {
            missing++;
            first = words[id];
        }
    return missing == 0 || xlm_error_set(error, EX_DATAERR, "%" G_GINT64_FORMAT " of its %" G_GINT64_FORMAT
                                         " subwords are not there, `%s` the first", missing,
                                         n - xlm_vocabulary_specials(old)->distinct, first);
}

bool xlm_vocabulary_extends(const xlm_vocabulary *old, const xlm_vocabulary *larger, GError **error)
{
    return xlm_vocabulary_same_word_form(old, larger, error) && has_subwords(old, larger, error) &&
           xlm_segmenter_extends(xlm_vocabulary_segmenter(old), xlm_vocabulary_segmenter(larger), error);
}

/* ---- sources ---- */

/* Sources while they are filled in, row after row. */
typedef struct builder {
    xlm_row_sources *sources;
    GArray *source; /* int32_t */
} builder;

static builder begin(int64_t rows)
{
    builder b = {g_new0(xlm_row_sources, 1), g_array_new(FALSE, FALSE, sizeof(int32_t))};
    b.sources->rows = rows;
    b.sources->first = g_new0(int64_t, rows + 1);
    return b;
}

/* Ends row i, whose sources are those that were appended since row i - 1 ended. by_name: the only source has the same name. */
static void end_row(builder *b, int64_t i, bool by_name)
{
    xlm_row_sources *s = b->sources;
    s->first[i + 1] = b->source->len;
    if (by_name)
        s->taken++;
    else if (s->first[i + 1] > s->first[i])
        s->averaged++;
    else
        s->drawn++;
}

static xlm_row_sources *finish(builder *b, int64_t old_rows)
{
    b->sources->left = old_rows - b->sources->taken;
    b->sources->source = (int32_t *)(void *)g_array_free(b->source, FALSE);
    return b->sources;
}

/* Appends the subwords into which `old` cuts the text of a new one. */
static void append_parts(const xlm_vocabulary *old, xlm_cutter *cutter, const char *subword, GArray *source)
{
    size_t size;
    const char *segmented = xlm_cutter_subword(cutter, subword, &size);
    char *copy = g_strndup(segmented, size), **parts = g_strsplit(copy, " ", -1);
    for (char **part = parts; *part != NULL; part++) {
        const int32_t id = xlm_vocabulary_find(old, *part, strlen(*part));
        if (!xlm_vocabulary_is_special(old, id))
            g_array_append_val(source, id);
    }
    g_strfreev(parts);
    g_free(copy);
}

/* The id in `old` of the special token that has this one in `specials`. */
static int32_t same_special(const xlm_vocabulary *old, const xlm_special_tokens *specials, int32_t id)
{
    xlm_special i = XLM_BOS;
    while (specials->id[i] != id)
        i++;
    return xlm_vocabulary_special(old, i);
}

xlm_row_sources *xlm_row_sources_of_subwords(const xlm_vocabulary *old, const xlm_vocabulary *larger, bool average)
{
    const char *const *words = xlm_vocabulary_words(larger);
    const xlm_special_tokens *specials = xlm_vocabulary_specials(larger);
    const uint32_t text = xlm_word_counts_size(xlm_vocabulary_subwords(larger));
    const int32_t n = (int32_t)xlm_vocabulary_size(larger), unknown = xlm_vocabulary_special(old, XLM_UNK);
    xlm_cutter *cutter = xlm_cutter_new(xlm_vocabulary_segmenter(old), xlm_vocabulary_subwords(old));
    builder b = begin(n);
    for (int32_t id = 0; id < n; id++) {
        const bool special = xlm_is_special(specials, id);
        const int32_t same = special ? same_special(old, specials, id) : xlm_vocabulary_find(old, words[id], strlen(words[id]));
        const bool known = special || same != unknown;
        if (known)
            g_array_append_val(b.source, same);
        else if (average && (uint32_t)xlm_ordinary_number(specials, id) < text)
            append_parts(old, cutter, words[id], b.source);
        end_row(&b, id, known);
    }
    xlm_cutter_free(cutter);
    return finish(&b, xlm_vocabulary_size(old));
}

xlm_row_sources *xlm_row_sources_of_languages(const xlm_vocabulary *old, const xlm_vocabulary *larger, bool average)
{
    const int n = xlm_vocabulary_languages(larger), known = xlm_vocabulary_languages(old);
    builder b = begin(n);
    for (int i = 0; i < n; i++) {
        const int32_t same = xlm_vocabulary_find_language(old, xlm_vocabulary_language_names(larger)[i]);
        if (same >= 0)
            g_array_append_val(b.source, same);
        for (int32_t k = 0; same < 0 && average && k < known; k++)
            g_array_append_val(b.source, k);
        end_row(&b, i, same >= 0);
    }
    return finish(&b, known);
}

void xlm_row_sources_free(xlm_row_sources *sources)
{
    if (sources == NULL)
        return;
    g_free(sources->first);
    g_free(sources->source);
    g_free(sources);
}

/* ---- rows ---- */

void xlm_row_sources_apply(const xlm_row_sources *s, int64_t cols, const float *old_rows, float *larger_rows)
{
    g_autofree double *sum = g_new(double, cols);
    for (int64_t i = 0; i < s->rows; i++) {
        const int64_t n = s->first[i + 1] - s->first[i];
        const int32_t *source = s->source + s->first[i];
        float *row = larger_rows + i * cols;
        if (n == 1)
            memcpy(row, old_rows + source[0] * cols, sizeof(float) * (size_t)cols);
        if (n < 2)
            continue;
        memset(sum, 0, sizeof(double) * (size_t)cols);
        for (int64_t k = 0; k < n; k++)
            for (int64_t c = 0; c < cols; c++)
                sum[c] += (double)old_rows[source[k] * cols + c];
        for (int64_t c = 0; c < cols; c++)
            row[c] = (float)(sum[c] / (double)n);
    }
}
