/* xlm-mpi: fuzz target: words with tags, in all forms. SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"
#include "tasks/tagged_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    static const char *const names[] = {"tags.conllu", "tags.tsv"}, *const columns[] = {"upos", "NER", "2", "4"};
    const uint8_t how = fuzz_take(&data, &size);
    xlm_tagged_text *text = xlm_tagged_text_new();
    text->untagged = how >= 128;
    GError *error = NULL;
    const bool good = xlm_tagged_text_read(text, fuzz_write(names[how & 1], data, size), 0, columns[how >> 1 & 3], &error);
    fuzz_check(good, error);
    for (guint i = 0; good && i < text->words->len; i++) {
        const xlm_tagged_word *word = &g_array_index(text->words, xlm_tagged_word, i);
        fuzz_require(word->tag != NULL || text->untagged, "words have tags unless they need none");
        fuzz_require(g_utf8_validate(word->word, -1, NULL) && (word->tag == NULL || g_utf8_validate(word->tag, -1, NULL)),
                     "words and tags are UTF-8");
    }
    xlm_tagged_text_free(text);
    return 0;
}
