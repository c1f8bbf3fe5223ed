/* xlm-mpi: attention of the decoder while it translates held-out sentences, as a file. SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/dev_attention.h"

#include "aligners/matrix_file.h"
#include "aligners/subword_links.h"

/* The subwords of a side. */
typedef struct side {
    GArray *offsets;        /* int64_t */
    GArray *subwords, *words; /* int32_t */
} side;

static side new_side(void)
{
    const int64_t first = 0;
    side s = {g_array_new(FALSE, FALSE, sizeof(int64_t)), g_array_new(FALSE, FALSE, sizeof(int32_t)),
              g_array_new(FALSE, FALSE, sizeof(int32_t))};
    g_array_append_val(s.offsets, first);
    return s;
}

static void free_side(side *s)
{
    g_array_unref(s->offsets);
    g_array_unref(s->subwords);
    g_array_unref(s->words);
}

/* Add subwords that are no words: special tokens, and tokens of languages. */
static void add_no_words(side *s, const int32_t *ids, guint n)
{
    const int32_t none = XLM_MATRIX_NO_WORD;
    g_array_append_vals(s->subwords, ids, n);
    for (guint i = 0; i < n; i++)
        g_array_append_val(s->words, none);
}

/* begin: a special token before the ids, or -1. Words are numbered from the first one of the sentence on, whatever is before it, as
 * in the matrices and links of xlm_align. */
static void add_sentence(side *s, const xlm_vocabulary *vocabulary, int32_t begin, const int32_t *ids, int64_t n)
{
    const int32_t end = xlm_vocabulary_special(vocabulary, XLM_EOS);
    if (begin >= 0)
        add_no_words(s, &begin, 1);
    if (n > 0 && xlm_is_language_token(xlm_vocabulary_specials(vocabulary), ids[0])) {
        add_no_words(s, ids++, 1);
        n--;
    }
    if (n > 0) {
        const guint first = s->words->len;
        g_array_append_vals(s->subwords, ids, (guint)n);
        g_array_set_size(s->words, first + (guint)n);
        xlm_subword_words(vocabulary, ids, n, &g_array_index(s->words, int32_t, first));
    }
    add_no_words(s, &end, 1);
    const int64_t all = s->subwords->len;
    g_array_append_val(s->offsets, all);
}

static xlm_matrix_side describe(const side *s, int language)
{
    return (xlm_matrix_side){.language = language, .offsets = (const int64_t *)(const void *)s->offsets->data,
                             .subwords = (const int32_t *)(const void *)s->subwords->data,
                             .words = (const int32_t *)(const void *)s->words->data};
}

static int64_t layer_of(const xlm_translator *t) { return xlm_model_get_config(t->model)->decoder_layers; }

/* NULL: there is none. */
static const xlm_translation *best_of(const xlm_dev_attention *a, int64_t sentence)
{
    const int64_t first = a->set->first[sentence];
    return a->set->first[sentence + 1] > first ? &a->set->all[first] : NULL;
}

static xlm_matrix_file *create(const xlm_dev_attention *a, const xlm_comm *alone, const char *path, GError **error)
{
    side source = new_side(), target = new_side();
    g_autofree bool *left_out = g_new(bool, a->n + 1);
    for (int64_t i = 0; i < a->n; i++) {
        const int64_t *offsets = a->sources->offsets + i;
        const xlm_translation *best = best_of(a, i);
        left_out[i] = best == NULL;
        add_sentence(&source, a->vocabulary, xlm_vocabulary_special(a->vocabulary, XLM_BOS), a->sources->ids + offsets[0],
                     offsets[1] - offsets[0]);
        add_sentence(&target, a->vocabulary, -1, best != NULL ? best->ids : NULL, best != NULL ? best->tokens : 0);
    }
    const xlm_matrix_pairs pairs = {.pairs = a->n, .left_out = left_out,
                                    .side = {describe(&source, a->sources->from[0]), describe(&target, a->sources->to[0])}};
    xlm_matrix_file *file = xlm_matrix_file_create(alone, path, &pairs, a->vocabulary, layer_of(a->translator), 1, error);
    free_side(&source);
    free_side(&target);
    return file;
}

/* A row of the matrix, what a source subword gets, is a column of the weights. */
static void add_matrix(const xlm_dev_attention *a, int64_t sentence, const xlm_translation *best, xlm_matrix_file *file)
{
    const xlm_real *weights = xlm_translation_attention(a->translator, a->sources, sentence, best, layer_of(a->translator));
    const int64_t n = a->sources->offsets[sentence + 1] - a->sources->offsets[sentence] + 2, m = best->tokens + 1;
    g_autofree float *values = g_new(float, n * m);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            values[i * m + j] = (float)weights[j * n + i];
    xlm_matrix_file_add(file, 0, n * m, values);
}

bool xlm_dev_attention_write(const xlm_dev_attention *a, const char *path, GError **error)
{
    const xlm_comm alone = xlm_comm_alone();
    xlm_matrix_file *file = create(a, &alone, path, error);
    xlm_store *store = file != NULL ? xlm_matrix_file_store(file) : NULL;
    bool good = store != NULL && xlm_store_set_text(store, "/", "model", a->model, error) &&
                xlm_store_set_int(store, "/", "step", a->step, error) &&
                xlm_store_set_text(store, "/", "method", "attention", error) &&
                xlm_store_set_text(store, "/", "values", "attention of the decoder to its source, mean over the heads", error);
    for (int64_t i = 0; i < a->n && good; i++) {
        const xlm_translation *best = best_of(a, i);
        if (best != NULL)
            add_matrix(a, i, best, file);
        if (xlm_matrix_file_full(file))
            good = xlm_matrix_file_write(file, error);
    }
    return xlm_matrix_file_end(file, good, error);
}
