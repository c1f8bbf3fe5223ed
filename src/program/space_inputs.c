/* xlm-mpi: the spaces of word vectors that a command reads, with their languages. SPDX-License-Identifier: GPL-3.0-or-later */
#include "program/space_inputs.h"

#include "lexicon/frequency.h"
#include "subwords/vocabulary_join.h"

bool xlm_space_inputs_check_corpus(const xlm_corpus *corpus, const xlm_vocabulary *vocabulary, const char *model, GError **error)
{
    g_autoptr(GError) why = NULL;
    return xlm_vocabulary_same_subwords(xlm_corpus_vocabulary(corpus), vocabulary, &why) ||
           xlm_error_set(error, EX_DATAERR, "%s: was trained with other subwords than %s has (%s)", model, xlm_corpus_path(corpus),
                         why->message);
}

/* The rows of the training text of a side's language. */
static bool choose_rows(const xlm_word_side *side, const xlm_corpus *corpus, GArray **rows, GError **error)
{
    g_autoptr(GArray) list = xlm_frequency_list_of(corpus, side->name, error);
    if (list == NULL)
        return false;
    *rows = g_array_new(FALSE, FALSE, sizeof(int32_t));
    for (guint i = 0; i < list->len; i++)
        g_array_append_val(*rows, g_array_index(list, xlm_frequency, i).id);
    return true;
}

static bool choose_by_corpus(xlm_space_inputs *in, const char *path, GError **error)
{
    const xlm_loaded_model *loaded = xlm_word_space_model(in->spaces[0]);
    if (loaded == NULL || in->spaces[1] != NULL)
        return xlm_error_set(error, EX_USAGE, "--corpus=%s: selects subwords of a checkpoint; it is not for files of "
                             "vectors", path);
    if (in->sides.side[0].name == NULL)
        return xlm_error_set(error, EX_USAGE, "--corpus=%s: give the languages whose training text selects the subwords", path);
    g_autoptr(xlm_corpus) corpus = xlm_corpus_open(path, error);
    if (corpus == NULL)
        return false;
    bool good = xlm_space_inputs_check_corpus(corpus, loaded->vocabulary, xlm_word_space_path(in->spaces[0]), error);
    for (int s = 0; s < in->sides.n && good; s++)
        good = choose_rows(&in->sides.side[s], corpus, &in->rows[s], error);
    if (good && in->sides.n == 1)
        in->rows[1] = g_array_ref(in->rows[0]);
    return good;
}

bool xlm_space_inputs_open(xlm_space_inputs *inputs, const char *const paths[2], const char *const languages[2],
                           const char *corpus, int64_t max_words, GError **error)
{
    xlm_space_inputs *in = inputs;
    for (int s = 0; s < 2; s++)
        if (paths[s] != NULL && (in->spaces[s] = xlm_word_space_open(paths[s], max_words, error)) == NULL)
            return false;
    for (int s = 0; s < 2; s++) {
        xlm_word_side *side = &in->sides.side[s];
        *side = (xlm_word_side){.space = in->spaces[s] != NULL ? in->spaces[s] : in->spaces[0], .name = languages[s]};
        if (!xlm_word_space_language(side->space, languages[s], &side->language, error))
            return false;
    }
    in->sides.n = in->spaces[1] != NULL || g_strcmp0(languages[0], languages[1]) != 0 ? 2 : 1;
    const int64_t widths[] = {xlm_word_space_width(in->sides.side[0].space), xlm_word_space_width(in->sides.side[1].space)};
    if (widths[0] != widths[1])
        return xlm_error_set(error, EX_DATAERR, "%s: its vectors have %" G_GINT64_FORMAT " numbers, those of %s have %"
                             G_GINT64_FORMAT "; they must be in one space", paths[1], widths[1], paths[0], widths[0]);
    return corpus == NULL || choose_by_corpus(in, corpus, error);
}

void xlm_space_inputs_close(xlm_space_inputs *inputs)
{
    for (int s = 0; s < 2; s++) {
        xlm_word_space_free(inputs->spaces[s]);
        g_clear_pointer(&inputs->rows[s], g_array_unref);
    }
}

void xlm_space_inputs_add_words(const xlm_space_inputs *inputs, int side, xlm_word_set *set)
{
    const xlm_word_side *of = &inputs->sides.side[side];
    const GArray *rows = inputs->rows[side];
    const int64_t n = rows != NULL ? rows->len : xlm_word_space_rows(of->space);
    xlm_word_set_open(set, of->space, of->language);
    for (int64_t i = 0; i < n; i++) {
        const int32_t row = rows != NULL ? g_array_index(rows, int32_t, i) : (int32_t)i;
        if (xlm_word_space_row_is_word(of->space, row))
            xlm_word_set_add_row(set, row);
    }
}
