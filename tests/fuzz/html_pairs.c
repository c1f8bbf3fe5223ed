/* xlm-mpi: fuzz target: a manual in two languages: one page each with a byte 0 between them, and after another byte 0 the
 * original's.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include "formats/html_pairs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    static const char *const languages[] = {"en", "de", "orig"}, *const pages[] = {"en/p.html", "de/p.html", "orig/p.html"};
    xlm_html_pairs *pairs = xlm_html_pairs_new();
    bool good = true;
    GError *error = NULL;
    for (int l = 0; l < 3 && (l < 2 || size > 0) && good; l++) {
        size_t length;
        const char *text = fuzz_cut(&data, &size, &length);
        char *directory = g_path_get_dirname(fuzz_write(pages[l], text, length));
        good = l < 2 ? xlm_html_pairs_add(pairs, languages[l], directory, &error)
                     : xlm_html_pairs_set_original(pairs, languages[l], directory, &error);
        g_free(directory);
    }
    good = good && xlm_html_pairs_read(pairs, &error);
    fuzz_check(good, error);
    if (good)
        g_free(xlm_html_pairs_report(pairs));
    xlm_html_pairs_free(pairs);
    return 0;
}
