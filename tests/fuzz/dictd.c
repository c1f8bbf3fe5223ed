/* xlm-mpi: fuzz target: dictd databases: the index and, after a byte 0, the text, plain or compressed.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"
#include "lexicon/dictd.h"
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
    xlm_entries entries = {.take = take, .first = fuzz_take(&data, &size) & 1};
    size_t length;
    const char *index = fuzz_cut(&data, &size, &length);
    const char *path = fuzz_write("fuzz.index", index, length);
    fuzz_write("fuzz.dict", data, size);
    GError *error = NULL;
    const bool good = xlm_dictd_read(&entries, path, &error);
    fuzz_check(good, error);
    if (entries.bad > 0)
        fuzz_note("lines skipped", "some");
    return 0;
}
