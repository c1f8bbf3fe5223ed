/* xlm-mpi: tokenised text to segmented text. SPDX-License-Identifier: GPL-3.0-or-later */
#include "corpus/prepare_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/log.h"
#include "base/signals.h"
#include "corpus/prepare_scan.h"
#include "text/bpe.h"

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
    if (xlm_comm_agree(comm, &failure))
        return true;
    g_propagate_error(error, failure);
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

/* ---- segmenting ---- */

/* One block of this rank. */
static void segment_block(xlm_scan *scan, xlm_segmenter *segmenter, GString *out)
{
    xlm_scan_text line;
    g_string_truncate(out, 0);
    xlm_scan_block(scan);
    while (xlm_scan_line(scan, &line)) {
        xlm_segmenter_text(segmenter, line.text[0], line.size[0], out);
        if (xlm_scan_terminated(scan))
            g_string_append_c(out, '\n');
    }
}

static bool segment_all(const xlm_comm *comm, xlm_scan *scan, xlm_segmenter *segmenter, struct output *output,
                        GError **error)
{
    GString *block = g_string_new("");
    size_t *sizes = g_new(size_t, comm->ranks);
    GError *failure = NULL;
    for (int64_t more = 1; more > 0 && failure == NULL;) {
        segment_block(scan, segmenter, block);
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

static bool segment_file(const xlm_comm *comm, const xlm_prepare_options *options, const xlm_bpe *bpe,
                         const xlm_word_counts *allowed, GError **error)
{
    const double begin = xlm_clock();
    struct output output;
    xlm_signals_watch(); /* before there is a file to remove */
    if (!open_output(&output, comm, options->segment_output, error))
        return false;
    const xlm_prepare_source source = {.sides = 1, .path = {options->segment_input}};
    xlm_segmenter *segmenter = xlm_segmenter_new(bpe, allowed);
    xlm_scan *scan = xlm_scan_open(comm, &source);
    int64_t lines = 0;
    bool good = segment_all(comm, scan, segmenter, &output, error);
    if (good)
        good = xlm_scan_finish(scan, comm, &lines, error);
    else
        xlm_scan_close(scan);
    xlm_segmenter_free(segmenter);
    good = close_output(&output, comm, good, error) && good;
    if (good)
        xlm_log_info("%" G_GINT64_FORMAT " lines segmented in %.1f s", lines, xlm_clock() - begin);
    return good;
}

bool xlm_prepare_segment(const xlm_comm *comm, const xlm_prepare_options *options, GError **error)
{
    GError *failure = NULL;
    xlm_bpe *bpe = xlm_bpe_read(options->codes, &failure);
    xlm_word_counts *allowed = NULL;
    if (bpe != NULL && options->vocabulary != NULL)
        allowed = xlm_word_counts_read(options->vocabulary, &failure);
    const bool good = xlm_comm_agree(comm, &failure) && segment_file(comm, options, bpe, allowed, &failure);
    xlm_word_counts_free(allowed);
    xlm_bpe_free(bpe);
    if (!good)
        g_propagate_error(error, failure);
    return good;
}
