/* xlm-mpi: a text file made from another one, by all ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/steps.h"

#include <errno.h>
#include <stdio.h>

#include "base/signals.h"
#include "files/new_file.h"
#include "prep/texts.h"

/* ---- the output: rank 0 writes ---- */

static bool open_output(xlm_new_file *output, const xlm_comm *comm, const char *path, GError **error)
{
    GError *failure = NULL;
    *output = (xlm_new_file){0};
    if (comm->rank == 0)
        xlm_new_file_create(output, path, &failure);
    return xlm_comm_agree_on(comm, failure, error);
}

/* Give the file its name when `keep`; else, or when that fails, remove it. Collective. */
static bool close_output(xlm_new_file *output, const xlm_comm *comm, bool keep, GError **error)
{
    GError *failure = NULL;
    if (output->stream != NULL && keep)
        xlm_new_file_commit(output, &failure);
    else if (output->stream != NULL)
        xlm_new_file_discard(output);
    return xlm_comm_agree_on(comm, failure, error);
}

/* ---- block by block ---- */

/* Write the blocks of all ranks in the order of the ranks, which is that of their blocks in the source. Collective. */
static void write_blocks(const xlm_comm *comm, const GString *block, xlm_new_file *output, GError **failure)
{
    for (int r = 0; r < comm->ranks; r++) {
        void *bytes = block->str;
        size_t size = block->len;
        xlm_comm_bytes_to_first(comm, r, &bytes, &size);
        if (comm->rank == 0 && *failure == NULL && fwrite(bytes, 1, size, output->stream) < size)
            xlm_new_file_failed(output->path, "cannot be written", errno, failure);
        if (bytes != block->str)
            g_free(bytes);
    }
}

static bool rewrite_all(const xlm_comm *comm, xlm_scan *scan, xlm_new_file *output, xlm_rewrite_block *rewrite, void *state,
                        GError **error)
{
    g_autoptr(GString) block = g_string_new("");
    GError *failure = NULL;
    for (int64_t more = 1; more > 0 && failure == NULL;) {
        g_string_truncate(block, 0);
        rewrite(scan, block, state);
        xlm_signals_none(&failure);
        write_blocks(comm, block, output, &failure);
        xlm_comm_agree(comm, &failure);
        more = !xlm_scan_ended(scan);
        xlm_comm_sum_int64(comm, &more, 1);
    }
    if (failure == NULL)
        return true;
    g_propagate_error(error, failure);
    return false;
}

static bool rewrite_source(const xlm_comm *comm, const xlm_prep_source *source, const char *path, xlm_rewrite_block *block,
                           void *state, int64_t *lines, GError **error)
{
    xlm_new_file output;
    xlm_signals_watch(); /* before there is a file to remove */
    if (!open_output(&output, comm, path, error))
        return false;
    xlm_scan *scan = xlm_scan_open(comm, source);
    bool good = rewrite_all(comm, scan, &output, block, state, error);
    if (good)
        good = xlm_scan_finish(scan, comm, lines, error);
    else
        xlm_scan_close(scan);
    return close_output(&output, comm, good, error) && good;
}

bool xlm_prep_rewrite(const xlm_comm *comm, const xlm_prep_options *options, xlm_prep_source *source, const char *path,
                      xlm_rewrite_block *block, void *state, int64_t *lines, GError **error)
{
    g_autofree char *scratch = xlm_prep_scratch(options);
    xlm_prep_texts *texts = xlm_prep_texts_open(comm, &source, 1, scratch, error);
    const bool good = texts != NULL && xlm_prep_texts_read(texts, comm, &source, 1, error) &&
                      rewrite_source(comm, source, path, block, state, lines, error);
    xlm_prep_texts_close(texts);
    return good;
}
