/* xlm-mpi: fuzz target: records of WET. SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/wet.h"
#include "fuzz.h"

/* The first byte: 1 shows what was read, for cases. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    const bool shows = fuzz_take(&data, &size) == '1';
    g_autoptr(GString) all = g_string_new(NULL);
    GError *error = NULL;
    xlm_lines *lines = xlm_lines_open(fuzz_write("pages", data, size), &error);
    fuzz_check(lines != NULL, error);
    error = NULL;
    xlm_wet wet;
    const char *text;
    size_t length;
    int got = lines != NULL;
    if (lines != NULL)
        xlm_wet_begin(&wet, lines);
    while (got == 1 && (got = xlm_wet_next(&wet, &text, &length, &error)) == 1) {
        fuzz_require(length <= size, "text is part of the file");
        g_string_append_len(all, text, (gssize)xlm_lines_end(text, length));
        g_string_append_c(all, '/');
    }
    fuzz_check(got == 0, error);
    xlm_lines_close(lines);
    if (shows)
        fuzz_note("lines", all->str);
    return 0;
}
