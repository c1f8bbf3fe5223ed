/* xlm-mpi: what is aligned, text or a corpus. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/align_input.h"

#include "base/log.h"

bool xlm_align_is_corpus(const xlm_comm *comm, const char *path)
{
    bool is = comm->rank == 0 && xlm_corpus_is_named(path);
    xlm_comm_broadcast(comm, 0, &is, sizeof is);
    return is;
}

/* ---- which pairs of a corpus ---- */

/* "de-en, en-fr": the pairs of languages in any of the splits. *only: one of them; *n: their number. g_free. */
static char *name_pairs(const xlm_corpus *corpus, const bool splits[2], const char **only, int *n)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (int s = 0; s < 2; s++) {
        int count = 0;
        const xlm_corpus_pairs *pairs = splits[s] ? xlm_corpus_all_pairs(corpus, (xlm_split)s, &count) : NULL;
        for (int i = 0; i < count; i++)
            if (!g_ptr_array_find_with_equal_func(names, pairs[i].name, g_str_equal, NULL))
                g_ptr_array_add(names, (char *)pairs[i].name);
    }
    *n = (int)names->len;
    *only = names->len > 0 ? g_ptr_array_index(names, 0) : NULL;
    g_ptr_array_add(names, NULL);
    return g_strjoinv(", ", (char **)names->pdata);
}

static const char *which_split(const bool splits[2])
{
    return splits[XLM_TRAIN] && splits[XLM_HELD_OUT] ? "it" : splits[XLM_TRAIN] ? "train" : "held_out";
}

/* [out] parts. Returns their number, 0 with *error. */
static int find_parts(const xlm_corpus *corpus, const xlm_align_source *source, xlm_corpus_part *parts, GError **error)
{
    const char *const *languages = source->languages, *only;
    int n, found = 0;
    bool swapped = false;
    g_autofree char *all = name_pairs(corpus, source->splits, &only, &n);
    g_autofree char *asked = languages[0] != NULL ? g_strconcat(languages[0], "-", languages[1], NULL) : NULL;
    const char *path = xlm_corpus_path(corpus), *name = asked != NULL ? asked : n == 1 ? only : NULL;
    for (int s = 0; s < 2 && name != NULL; s++) {
        const xlm_corpus_pairs *pairs = source->splits[s] ? xlm_corpus_find_pairs(corpus, (xlm_split)s, name, &swapped) : NULL;
        if (pairs != NULL)
            parts[found++] = (xlm_corpus_part){(xlm_split)s, pairs};
    }
    if (n == 0)
        xlm_error_set(error, EX_USAGE, "%s: %s has no sentence pairs", path, which_split(source->splits));
    else if (asked == NULL && n > 1)
        xlm_error_set(error, EX_USAGE, "%s: has the pairs %s; say which with --languages", path, all);
    else if (found == 0)
        xlm_error_set(error, EX_USAGE, "--languages=%s,%s: not in %s, where %s has %s", languages[0], languages[1], path,
                      which_split(source->splits), all);
    else if (asked != NULL && swapped)
        xlm_log_info("%s has the pair %s: links are from %s to %s", path, parts[0].pairs->name, parts[0].pairs->source->language,
                     parts[0].pairs->target->language);
    return found;
}

static xlm_sentence_pairs *open_corpus(const xlm_comm *comm, const xlm_align_source *source, xlm_pair_work work, int64_t unit,
                                       xlm_corpus **corpus, GError **error)
{
    xlm_corpus_part parts[XLM_CORPUS_PARTS];
    int n = 0;
    GError *failure = NULL;
    if ((*corpus = xlm_corpus_open(source->files[0], &failure)) != NULL)
        n = find_parts(*corpus, source, parts, &failure);
    return xlm_comm_agree_on(comm, failure, error) ? xlm_sentence_pairs_open_corpus(comm, *corpus, parts, n, work, unit, error)
                                                   : NULL;
}

bool xlm_align_input_open(const xlm_comm *comm, const xlm_align_source *source, xlm_pair_work work, int64_t unit,
                          xlm_align_input *input, GError **error)
{
    *input = (xlm_align_input){0};
    input->pairs = source->corpus
                       ? open_corpus(comm, source, work, unit, &input->corpus, error)
                       : xlm_sentence_pairs_open(comm, source->files, source->files[1] != NULL ? 2 : 1, work, unit, error);
    return input->pairs != NULL;
}

void xlm_align_input_close(xlm_align_input *input)
{
    xlm_sentence_pairs_close(input->pairs);
    xlm_corpus_close(input->corpus);
    *input = (xlm_align_input){0};
}
