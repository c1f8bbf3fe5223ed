/* xlm-mpi: fuzz target: word alignments as text. SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"
#include "aligners/links.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    const xlm_count_from from = (xlm_count_from)(fuzz_take(&data, &size) % 3) - 1;
    const char *path = fuzz_write("links", data, size);
    GError *error = NULL;
    xlm_links *links = xlm_links_read(path, from, from, &error);
    fuzz_check(links != NULL, error);
    if (links != NULL) {
        xlm_link_score score = {0};
        for (int64_t s = 0; s < links->sentences; s++) {
            xlm_link_score_add(&score, links, s, links, s);
            xlm_links_sort(links->links + links->offsets[s], links->offsets[s + 1] - links->offsets[s]);
        }
        fuzz_require(score.links == score.possible && score.links_possible == score.links && score.links_sure == score.sure,
                     "links agree with themselves");
    }
    xlm_links_free(links);
    return 0;
}
