/* xlm-mpi: fuzz target: words that a vocabulary gets, a line each. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "fuzz.h"

#include "subwords/bpe_class.h"
#include "subwords/vocabulary_change.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    static const char words[] = "low 9\nlo@@ 5\nw 5\nhouse 3\n. 2\n", codes[] = "l o 9\nlo w</w> 7\n";
    static xlm_vocabulary *vocabulary;
    if (vocabulary == NULL) {
        static const char *const languages[] = {"en"};
        const xlm_vocabulary_settings settings = {.words = XLM_WORDS_ICU, .lowercase = true, .languages = 1,
                                                  .language_names = languages};
        xlm_word_counts *counts = xlm_word_counts_parse("words", words, strlen(words), NULL);
        vocabulary = xlm_vocabulary_new(counts, xlm_segmenter_parse(&xlm_segmenter_bpe, "codes", codes, strlen(codes), NULL),
                                        &settings, NULL);
        xlm_word_counts_free(counts);
    }
    GError *error = NULL;
    xlm_word_counts *read = xlm_vocabulary_read_words(vocabulary, fuzz_write("words", data, size), &error);
    fuzz_check(read != NULL, error);
    for (uint32_t i = 0; read != NULL && i < xlm_word_counts_size(read); i++) {
        size_t n;
        const char *word = xlm_word_counts_word(read, i, &n);
        fuzz_require(n > 0 && g_utf8_validate(word, (gssize)n, NULL), "words are UTF-8");
    }
    xlm_word_counts_free(read);
    return 0;
}
