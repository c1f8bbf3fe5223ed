/* xlm-mpi: fuzz target: units of TMX in German and English. SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/tmx.h"

#include <string.h>

#include "fuzz.h"

static const char *const languages[] = {"de", "en-GB"};

static bool take(void *data, const GString *const *segments, GError **error)
{
    (void)error;
    GString *all = data;
    for (size_t i = 0; i < G_N_ELEMENTS(languages); i++) {
        const GString *segment = segments[i];
        fuzz_require(segment == NULL || strpbrk(segment->str, "\r\n") == NULL, "a segment is one line");
        fuzz_require(segment == NULL || strlen(segment->str) == segment->len, "a segment is text");
        g_string_append_printf(all, "[%s]", segment != NULL ? segment->str : "none");
    }
    return true;
}

/* The first byte: 1 shows what was read, for cases. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    const bool shows = fuzz_take(&data, &size) == '1';
    g_autoptr(GString) all = g_string_new(NULL);
    GError *error = NULL;
    xlm_lines *lines = xlm_lines_open(fuzz_write("memory", data, size), &error);
    fuzz_check(lines != NULL, error);
    error = NULL;
    const bool good = lines == NULL || xlm_tmx_read(lines, G_N_ELEMENTS(languages), languages, take, all, &error);
    fuzz_check(good, error);
    xlm_lines_close(lines);
    if (shows)
        fuzz_note("units", all->str);
    return 0;
}
