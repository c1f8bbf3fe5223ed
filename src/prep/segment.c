/* xlm-mpi: tokenised text made into segmented text. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/steps.h"

#include "base/log.h"
#include "prep/segmenter_options.h"

static void segment_block(xlm_scan *scan, GString *out, void *cutter)
{
    xlm_scan_text line;
    xlm_scan_block(scan);
    while (xlm_scan_line(scan, &line)) {
        xlm_cutter_text(cutter, line.text[0], line.size[0], out);
        if (xlm_scan_terminated(scan))
            g_string_append_c(out, '\n');
    }
}

static bool segment_file(const xlm_comm *comm, const xlm_prep_options *options, const xlm_segmenter *segmenter,
                         const xlm_word_counts *allowed, GError **error)
{
    const double begin = xlm_clock();
    xlm_prep_source source = {.sides = 1, .path = {options->segment_input}, .as_is = true};
    xlm_cutter *cutter = xlm_cutter_new(segmenter, allowed);
    int64_t lines = 0;
    const bool good = xlm_prep_rewrite(comm, options, &source, options->segment_output, segment_block, cutter, &lines, error);
    xlm_cutter_free(cutter);
    if (good)
        xlm_log_info("%" G_GINT64_FORMAT " lines segmented in %.1f s", lines, xlm_clock() - begin);
    return good;
}

bool xlm_prep_segment(const xlm_comm *comm, const xlm_prep_options *options, GError **error)
{
    GError *failure = NULL;
    const xlm_segmenter_class *cls;
    const xlm_segmenter_options *asked = xlm_prep_segmenter(options, &cls);
    xlm_segmenter *segmenter = xlm_segmenter_read(cls, asked->file, &failure);
    g_autoptr(xlm_word_counts) allowed = NULL;
    if (segmenter != NULL && options->vocabulary != NULL)
        allowed = xlm_word_counts_read(options->vocabulary, &failure);
    const bool good = xlm_comm_agree_on(comm, failure, error) && segment_file(comm, options, segmenter, allowed, error);
    xlm_segmenter_unref(segmenter);
    return good;
}
