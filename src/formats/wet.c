/* xlm-mpi: text of web pages in WET. SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/wet.h"

#include <string.h>

enum { MAX_SHOWN = 40 };

void xlm_wet_begin(xlm_wet *wet, xlm_lines *lines)
{
    *wet = (xlm_wet){.lines = lines, .place = XLM_WET_BETWEEN};
    xlm_lines_keep_bytes(lines); /* lengths count CR */
}

static bool is_named(const char *line, const char *colon, const char *name)
{
    return (size_t)(colon - line) == strlen(name) && g_ascii_strncasecmp(line, name, strlen(name)) == 0;
}

static bool between(xlm_wet *wet, const char *line, size_t size, GError **error)
{
    if (size == 0)
        return true;
    if (size < strlen("WARC/") || memcmp(line, "WARC/", strlen("WARC/")) != 0)
        return XLM_LINES_REFUSE(wet->lines, error, "a record must begin here, with WARC/1.0; is this WET, and was the one before "
                                "it longer than its Content-Length?");
    wet->place = XLM_WET_HEADERS;
    wet->record++;
    wet->left = -1;
    wet->typed = wet->text = false;
    return true;
}

static bool end_headers(xlm_wet *wet, GError **error)
{
    if (!wet->typed || wet->left < 0)
        return XLM_LINES_REFUSE(wet->lines, error, "record %" G_GINT64_FORMAT " has no header %s", wet->record,
                                wet->typed ? "Content-Length" : "WARC-Type");
    wet->place = wet->left > 0 ? XLM_WET_CONTENT : XLM_WET_BETWEEN;
    return true;
}

static bool header(xlm_wet *wet, const char *line, size_t size, GError **error)
{
    if (size == 0)
        return end_headers(wet, error);
    const char *colon = memchr(line, ':', size);
    if (xlm_is_blank(*line)) /* more of the header before it */
        return true;
    if (colon == NULL)
        return XLM_LINES_REFUSE(wet->lines, error, "a header without a colon");
    g_autofree char *value = g_strndup(colon + 1, size - (size_t)(colon + 1 - line));
    g_strstrip(value);
    if (is_named(line, colon, "WARC-Type")) {
        wet->typed = true;
        wet->text = g_ascii_strcasecmp(value, "conversion") == 0;
    } else if (is_named(line, colon, "Content-Length")) {
        guint64 length;
        if (!g_ascii_string_to_unsigned(value, 10, 0, G_MAXINT64, &length, NULL)) {
            g_autofree char *valid = g_utf8_make_valid(value, -1);
            return XLM_LINES_REFUSE(wet->lines, error, "Content-Length: %.*s: not a number of bytes", MAX_SHOWN, valid);
        }
        wet->left = (int64_t)length;
    }
    return true;
}

/* A line of the content: [*size], of which the part that belongs to it is left. */
static bool content(xlm_wet *wet, const char *line, size_t *size, bool terminated, GError **error)
{
    const uint64_t left = (uint64_t)wet->left;
    if (*size + terminated <= left) {
        wet->left -= (int64_t)(*size + terminated);
    } else if (*size == left || (*size == left + 1 && line[left] == '\r')) {
        *size = left; /* its last line, whose end is behind it */
        wet->left = 0;
    } else {
        return XLM_LINES_REFUSE(wet->lines, error, "record %" G_GINT64_FORMAT " ends within this line by its Content-Length",
                                wet->record);
    }
    if (wet->left == 0)
        wet->place = XLM_WET_BETWEEN;
    return true;
}

int xlm_wet_next(xlm_wet *wet, const char **text, size_t *size, GError **error)
{
    const char *line;
    size_t length;
    const int got = xlm_lines_next(wet->lines, &line, &length, error);
    if (got == 0 && wet->place != XLM_WET_BETWEEN) {
        XLM_LINES_REFUSE(wet->lines, error, "record %" G_GINT64_FORMAT " is cut short; get the file again", wet->record);
        return -1;
    }
    if (got != 1)
        return got;
    *text = line;
    *size = 0;
    if (wet->place == XLM_WET_CONTENT) {
        const bool is_text = wet->text;
        if (!content(wet, line, &length, xlm_lines_terminated(wet->lines), error))
            return -1;
        *size = is_text ? length : 0;
        return 1;
    }
    length = xlm_lines_end(line, length);
    return (wet->place == XLM_WET_BETWEEN ? between : header)(wet, line, length, error) ? 1 : -1;
}
