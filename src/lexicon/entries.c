/* xlm-mpi: the entries of bilingual dictionaries in different formats. SPDX-License-Identifier: GPL-3.0-or-later */
#include "lexicon/entries.h"

#include <string.h>

#include "base/log.h"
#include "text/lines.h"
#include "text/normalise.h"

enum { SHOWN = 3 };

bool xlm_entries_give(xlm_entries *entries, const xlm_entry *entry, GError **error)
{
    entries->read++;
    return entries->take(entries->data, entry, error);
}

void xlm_entries_pass_over(xlm_entries *entries, const char *path, int64_t line, const char *why)
{
    if (entries->bad++ < SHOWN)
        xlm_log_warn("%s:%" G_GINT64_FORMAT ": %s; skipped", path, line, why);
}

/* The line without blanks around it. */
static void trim(const char **text, size_t *size)
{
    while (*size > 0 && xlm_is_blank((*text)[*size - 1]))
        --*size;
    while (*size > 0 && xlm_is_blank(**text))
        ++*text, --*size;
}

/* Find the two fields of a line. Returns NULL, or what is wrong with it. */
static const char *split_text(const char *text, size_t size, xlm_entry *entry)
{
    trim(&text, &size);
    const char *end = text + size, *tab = memchr(text, '\t', size), *at = tab != NULL ? tab : memchr(text, ' ', size);
    if (at == NULL)
        return "one word alone, where `word translation` belongs";
    entry->word[0] = text;
    entry->size[0] = (size_t)(at - text);
    entry->word[1] = at;
    entry->size[1] = (size_t)(end - at);
    for (int side = 0; side < 2; side++)
        trim(&entry->word[side], &entry->size[side]);
    if (memchr(entry->word[1], tab != NULL ? '\t' : ' ', entry->size[1]) != NULL)
        return tab != NULL ? "more than two fields" : "more than two words; put a tab between the two sides";
    return NULL;
}

static const char *split_twins(const char *text, size_t size, xlm_entry *entry)
{
    const char *tab = memchr(text, '\t', size);
    if (tab == NULL || tab == text || tab + 1 == text + size || memchr(tab + 1, '\t', (size_t)(text + size - tab - 1)) != NULL)
        return "not `subword<tab>subword`";
    entry->word[0] = text;
    entry->size[0] = (size_t)(tab - text);
    entry->word[1] = tab + 1;
    entry->size[1] = (size_t)(text + size - tab - 1);
    return NULL;
}

static bool read_line(xlm_entries *entries, xlm_entries_form form, const xlm_lines *lines, const char *text, size_t size,
                      GError **error)
{
    xlm_entry entry = {.path = xlm_lines_path(lines), .line = xlm_lines_number(lines)};
    const char *at = text;
    size_t left = size;
    trim(&at, &left);
    if (left == 0)
        return true;
    const char *wrong = xlm_utf8_check(text, size) < size ? "not UTF-8"
                        : form == XLM_ENTRIES_TWINS       ? split_twins(text, size, &entry)
                                                          : split_text(text, size, &entry);
    if (wrong == NULL)
        return xlm_entries_give(entries, &entry, error);
    xlm_entries_pass_over(entries, entry.path, entry.line, wrong);
    return true;
}

bool xlm_entries_read(xlm_entries *entries, xlm_entries_form form, const char *path, GError **error)
{
    g_autoptr(xlm_lines) lines = xlm_lines_open(path, error);
    if (lines == NULL)
        return false;
    const char *text;
    size_t size;
    int more;
    while ((more = xlm_lines_next(lines, &text, &size, error)) == 1)
        if (!read_line(entries, form, lines, text, size, error))
            break;
    return more == 0;
}
