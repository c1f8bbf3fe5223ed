/* xlm-mpi: fuzz target: paragraphs of web pages. SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/html.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    static xlm_html_reader *reader;
    if (reader == NULL)
        reader = xlm_html_reader_new(NULL);
    GError *error = NULL;
    xlm_html_page *page = xlm_html_read(reader, "page", (const char *)data, size, &error);
    fuzz_check(page != NULL, error);
    for (guint i = 0; page != NULL && i < page->paragraphs->len; i++) {
        const xlm_html_paragraph *p = &g_array_index(page->paragraphs, xlm_html_paragraph, i);
        fuzz_require(p->occurrence < p->occurrences && *p->text != '\0' && g_utf8_validate(p->text, -1, NULL),
                     "a paragraph is one of so many, and has UTF-8 text");
    }
    xlm_html_page_free(page);
    return 0;
}
