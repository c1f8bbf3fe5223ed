/* xlm-mpi: fuzz target: sentences with labels, as tables and as JSON. SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"
#include "tasks/labelled_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    static char *const names[] = {(char *)"label", (char *)"text", NULL};
    static char *const numbers[] = {(char *)"2", (char *)"1", (char *)"3", NULL};
    char *const *const columns[] = {NULL, names, numbers, NULL};
    static const char *const languages[] = {NULL, "de"};
    const uint8_t how = fuzz_take(&data, &size);
    const xlm_labelled_options options = {.columns = columns[how & 3], .leave_out_empty = (how & 4) != 0,
                                          .unlabelled = how >= 128};
    xlm_labelled_text *text = xlm_labelled_text_new();
    GError *error = NULL;
    const bool good = xlm_labelled_text_read(text, fuzz_write("labels.tsv", data, size), languages[how >> 3 & 1], 0, &options,
                                             &error);
    fuzz_check(good, error);
    fuzz_require(!good || text->items->len > 0, "a text has items");
    for (guint i = 0; good && i < text->items->len; i++) {
        const xlm_labelled_item *item = &g_array_index(text->items, xlm_labelled_item, i);
        fuzz_require(item->label == NULL ? options.unlabelled : g_utf8_validate(item->label, -1, NULL) && *item->label != '\0',
                     "labels are UTF-8 and not empty");
        for (int s = 0; s < 2; s++)
            fuzz_require((s > 0 && item->sentence[s] == NULL) || g_utf8_validate(item->sentence[s], -1, NULL),
                         "sentences are UTF-8");
        fuzz_require(item->line > 0 && item->row >= 0 && item->row < item->line, "an item has a line");
    }
    xlm_labelled_text_free(text);
    return 0;
}
