/* xlm-mpi: fuzz target: dictionaries as text and twins. SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"
#include "lexicon/entries.h"
#include "text/normalise.h"

static bool take(void *data, const xlm_entry *entry, GError **error)
{
    (void)data, (void)error;
    for (int side = 0; side < 2; side++)
        fuzz_require(xlm_utf8_check(entry->word[side], entry->size[side]) == entry->size[side], "a word is UTF-8");
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    const xlm_entries_form form = fuzz_take(&data, &size) & 1 ? XLM_ENTRIES_TWINS : XLM_ENTRIES_TEXT;
    xlm_entries entries = {.take = take};
    GError *error = NULL;
    const bool good = xlm_entries_read(&entries, form, fuzz_write("entries.txt", data, size), &error);
    fuzz_check(good, error);
    if (entries.bad > 0)
        fuzz_note("lines skipped", "some");
    return 0;
}
