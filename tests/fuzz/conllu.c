/* xlm-mpi: fuzz target: sentences of CoNLL-U, as derived languages read them. SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/conllu.h"
#include "synthetic/bio_tags.h"
#include "synthetic/permute.h"
#include "synthetic/ud_version1.h"
#include "fuzz.h"

static xlm_permuter *permuter;
static GArray *view, *order, *letters, *slots;

static void use(const xlm_conllu *sentence, int64_t number)
{
    const guint n = sentence->words->len;
    g_array_set_size(order, MAX(n, 1));
    g_array_set_size(letters, MAX(n, 1));
    uint32_t *at = (uint32_t *)(void *)order->data;
    for (guint i = 0; i < n; i++)
        at[i] = sentence->has_tree ? i : n - 1 - i;
    if (sentence->has_tree) {
        xlm_ud1_view(sentence, view);
        xlm_permuter_order(permuter, sentence, number, at);
    }
    bool *seen = g_new0(bool, n + 1);
    for (guint i = 0; i < n; i++) {
        fuzz_require(at[i] < n && !seen[at[i]], "an order has each word once");
        seen[at[i]] = true;
    }
    g_free(seen);
    xlm_bio_slots(sentence, slots);
    for (guint i = 0; i < slots->len; i++)
        xlm_bio_letters(sentence, &g_array_index(slots, xlm_bio_slot, i), at, letters->data);
}

static void begin(void)
{
    fuzz_begin();
    if (permuter != NULL)
        return;
    static const char weights[] = "PRE_dobj_@ 12\nBI_DET_NOUN -1.5\nHI_BOS_@NOUN_ADJ 0.5\n";
    const char *path = fuzz_write("weights", weights, sizeof weights - 1);
    permuter = xlm_permuter_new(path, path, 1, NULL);
    view = g_array_new(FALSE, FALSE, sizeof(xlm_ud1_word));
    order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    letters = g_array_new(FALSE, FALSE, 1);
    slots = g_array_new(FALSE, FALSE, sizeof(xlm_bio_slot));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    begin();
    const xlm_conllu_trees trees = fuzz_take(&data, &size) & 1 ? XLM_CONLLU_TREES_NEEDED : XLM_CONLLU_TREES_READ;
    GError *error = NULL;
    xlm_lines *lines = xlm_lines_open(fuzz_write("trees.conllu", data, size), &error);
    fuzz_check(lines != NULL, error);
    error = NULL;
    xlm_conllu *sentence = xlm_conllu_new();
    int more = lines != NULL;
    for (int64_t i = 0; more == 1 && (more = xlm_conllu_next(lines, sentence, trees, &error)) == 1; i++)
        use(sentence, i);
    fuzz_check(more == 0, error);
    xlm_conllu_free(sentence);
    xlm_lines_close(lines);
    return 0;
}
