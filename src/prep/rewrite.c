/* xlm-mpi: a text file made of another one, by all ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/signals.h"

/* ---- the output: rank 0 writes, under another name until it is whole ---- */

struct output {
    const char *path;
    char *temporary;
    FILE *file; /* NULL on other ranks */
};

static bool fail_output(const struct output *output, int exit_code, const char *what, GError **error)
{
    return xlm_error_set(error, exit_code, "%s: %s: %s", output->path, what, g_strerror(errno));
}

static bool open_output(struct output *output, const xlm_comm *comm, const char *path, GError **error)
{
    GError *failure = NULL;
    *output = (struct output){.path = path};
    if (comm->rank == 0) {
        output->temporary = g_strconcat(path, ".XXXXXX", NULL);
        const int descriptor = g_mkstemp_full(output->temporary, O_RDWR | O_CLOEXEC, 0666);
        if (descriptor < 0 || (output->file = fdopen(descriptor, "wb")) == NULL)
            fail_output(output, EX_CANTCREAT, "cannot be made", &failure);
    }
    if (xlm_comm_agree_on(comm, failure, error))
        return true;
    g_free(output->temporary);
    return false;
}

/* Give the file its name when `keep`; else, or when that fails, remove it. Collective. */
static bool close_output(struct output *output, const xlm_comm *comm, bool keep, GError **error)
{
    GError *failure = NULL;
    if (output->file != NULL) {
        const bool flushed = fflush(output->file) == 0 && fsync(fileno(output->file)) == 0;
        if (keep && !flushed)
            fail_output(output, EX_IOERR, "cannot be written", &failure);
        fclose(output->file);
        if (keep && flushed && rename(output->temporary, output->path) != 0)
            fail_output(output, EX_CANTCREAT, "cannot be given its name", &failure);
        if (!keep || failure != NULL)
            unlink(output->temporary);
    }
    g_free(output->temporary);
    if (xlm_comm_agree(comm, &failure))
        return true;
    if (keep)
        g_propagate_error(error, failure);
    else
        g_error_free(failure);
    return false;
}

/* ---- block by block ---- */

static bool rewrite_all(const xlm_comm *comm, xlm_scan *scan, struct output *output, xlm_rewrite_block *rewrite, void *state,
                        GError **error)
{
    GString *block = g_string_new("");
    size_t *sizes = g_new(size_t, comm->ranks);
    GError *failure = NULL;
    for (int64_t more = 1; more > 0 && failure == NULL;) {
        g_string_truncate(block, 0);
        rewrite(scan, block, state);
        xlm_signals_none(&failure);
        void *all;
        size_t total = 0;
        xlm_comm_gather_all(comm, block->str, block->len, &all, sizes);
        for (int r = 0; r < comm->ranks; r++)
            total += sizes[r];
        if (failure == NULL && output->file != NULL && fwrite(all, 1, total, output->file) < total)
            fail_output(output, EX_IOERR, "cannot be written", &failure);
        g_free(all);
        xlm_comm_agree(comm, &failure);
        more = !xlm_scan_ended(scan);
        xlm_comm_sum_int64(comm, &more, 1);
    }
    g_free(sizes);
    g_string_free(block, TRUE);
    if (failure == NULL)
        return true;
    g_propagate_error(error, failure);
    return false;
}

bool xlm_prep_rewrite(const xlm_comm *comm, const xlm_prep_source *source, const char *path, xlm_rewrite_block *block,
                      void *state, int64_t *lines, GError **error)
{
    struct output output;
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
