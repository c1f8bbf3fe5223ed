/* xlm-mpi: options that say which sentence pairs, of several commands. SPDX-License-Identifier: GPL-3.0-or-later */
#include "program/pair_options.h"

#include <errno.h>
#include <string.h>

#include "aligners/align_input.h"
#include "files/path.h"
#include "model_aligner/model_links.h"

bool xlm_pair_options_languages(const char *text, char ***languages, GError **error)
{
    return xlm_program_list("languages", text, 2, 2, "the languages of source and target, as in en,de", languages, error);
}

bool xlm_pair_options_split(const char *text, xlm_split otherwise, bool splits[2], GError **error)
{
    const bool all = g_strcmp0(text, "all") == 0;
    xlm_split split = otherwise;
    const bool good = all || text == NULL || xlm_split_find(text, &split);
    for (int s = 0; s < 2; s++)
        splits[s] = all || s == (int)split;
    return good || xlm_error_set(error, EX_USAGE, "--split=%s: must be train, held_out or all", text);
}

bool xlm_pair_options_layer(const char *text, int64_t otherwise, int64_t *layer, GError **error)
{
    guint64 number;
    *layer = text == NULL ? otherwise : XLM_LAYER_ALL;
    if (text == NULL || strcmp(text, "all") == 0)
        return true;
    if (!g_ascii_string_to_unsigned(text, 10, 0, G_MAXINT32, &number, NULL))
        return xlm_error_set(error, EX_USAGE, "--layer=%s: must be the number of a layer, from 0, or all", text);
    *layer = (int64_t)number;
    return true;
}

bool xlm_pair_options_from(const char *option, int64_t from, GError **error)
{
    return from == XLM_COUNT_FOUND || xlm_program_is_in(option, from, 0, 1, error);
}

bool xlm_pair_options_source(const xlm_comm *comm, char *const *paths, const char *split, bool *corpus, GError **error)
{
    bool is[2] = {false, false};
    g_autofree char *file = NULL;
    GError *failure = NULL;
    xlm_path_member(paths[0], &file);
    for (int f = 0; paths[f] != NULL; f++)
        is[f] = xlm_align_is_corpus(comm, paths[f]);
    *corpus = is[0];
    if (paths[1] != NULL && (is[0] || is[1]))
        xlm_error_set(&failure, EX_USAGE, "%s: is HDF5, not text; a corpus has the sentences of both languages, so give it alone",
                      paths[is[0] ? 0 : 1]);
    else if (comm->rank == 0 && !is[0] && !g_file_test(file, G_FILE_TEST_EXISTS))
        xlm_error_set(&failure, EX_NOINPUT, "%s: %s", paths[0], g_strerror(ENOENT));
    else if (!is[0] && split != NULL)
        xlm_error_set(&failure, EX_USAGE, "--split is only for a corpus, and %s is not one; leave it out", paths[0]);
    return xlm_comm_agree_on(comm, failure, error);
}
