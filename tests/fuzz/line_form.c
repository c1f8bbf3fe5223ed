/* xlm-mpi: fuzz target: where the text is in lines of text, JSON or fields. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "formats/line_form.h"
#include "fuzz.h"

static void read_lines(const xlm_line_form *form, xlm_lines *lines)
{
    g_autoptr(GString) storage = g_string_new(NULL);
    GError *error = NULL;
    const char *line, *text;
    size_t length, size;
    int more = 1;
    while (more == 1 && (more = xlm_lines_next(lines, &line, &length, &error)) == 1) {
        if (xlm_lines_number(lines) == 1)
            more = xlm_line_form_check(form, lines, line, length, &error) ? 1 : -1;
        if (more == 1 && !xlm_line_form_text(form, lines, line, length, storage, &text, &size, &error)) {
            fuzz_require(text == line && size == length, "without text there is the whole line");
            more = -1;
        }
        if (more != 1)
            break;
        const bool inside = text >= line && text + size <= line + length;
        const bool stored = text == storage->str && size == storage->len;
        fuzz_require(inside || stored, "text is part of the line or of the storage");
        fuzz_require(!stored || g_utf8_validate(text, (gssize)size, NULL), "strings of JSON are UTF-8");
        fuzz_require(form->kind != XLM_FORM_FIELDS || memchr(text, '\t', size) == NULL, "a field has no tab");
        g_free(g_strndup(text, size));
    }
    fuzz_check(more == 0, error);
}

/* The first byte: 1 names the file .tsv. Then what is given as a file, "jsonl:FIELD:", and after a byte 0 the file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    const bool table = fuzz_take(&data, &size) == '1';
    size_t length;
    const char *prefix = fuzz_cut(&data, &size, &length);
    g_autofree char *given = g_strdup_printf("%.*sFILE", (int)length, prefix);
    xlm_line_form form;
    const char *file;
    GError *error = NULL;
    const bool good = xlm_line_form_parse(given, &form, &file, &error);
    fuzz_check(good, error);
    if (!good)
        return 0;
    fuzz_require(g_str_has_suffix(file, "FILE"), "a file is what is left of what was given");
    /* Of these forms another reader makes lines. */
    if (form.kind != XLM_FORM_TMX && form.kind != XLM_FORM_WET) {
        error = NULL;
        xlm_lines *lines = xlm_lines_open(fuzz_write(table ? "lines.tsv" : "lines", data, size), &error);
        fuzz_check(lines != NULL, error);
        if (lines != NULL)
            read_lines(&form, lines);
        xlm_lines_close(lines);
    }
    xlm_line_form_clear(&form);
    return 0;
}
