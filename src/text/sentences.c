/* xlm-mpi: the sentences of a text. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text/sentences.h"

#include <unicode/utext.h>

#include "text/breaks.h"

struct xlm_sentence_splitter {
    UBreakIterator *breaks;
    GArray *sentences; /* xlm_word */
};

xlm_sentence_splitter *xlm_sentence_splitter_new(const char *language, GError **error)
{
    UBreakIterator *breaks = xlm_breaks_open(UBRK_SENTENCE, language, error);
    if (breaks == NULL)
        return NULL;
    xlm_sentence_splitter *s = g_new(xlm_sentence_splitter, 1);
    *s = (xlm_sentence_splitter){breaks, g_array_new(FALSE, FALSE, sizeof(xlm_word))};
    return s;
}

void xlm_sentence_splitter_free(xlm_sentence_splitter *s)
{
    if (s == NULL)
        return;
    ubrk_close(s->breaks);
    g_array_unref(s->sentences);
    g_free(s);
}

const xlm_word *xlm_sentence_splitter_split(xlm_sentence_splitter *s, const char *text, size_t size, size_t *n, GError **error)
{
    UErrorCode status = U_ZERO_ERROR;
    UText bytes = UTEXT_INITIALIZER;
    g_array_set_size(s->sentences, 0);
    *n = 0;
    utext_openUTF8(&bytes, text, (int64_t)size, &status);
    ubrk_setUText(s->breaks, &bytes, &status);
    if (U_SUCCESS(status)) {
        int32_t start = ubrk_first(s->breaks);
        for (int32_t end; (end = ubrk_next(s->breaks)) != UBRK_DONE; start = end) {
            const xlm_word sentence = {(uint32_t)start, (uint32_t)(end - start)};
            g_array_append_val(s->sentences, sentence);
        }
    }
    utext_close(&bytes);
    if (U_FAILURE(status)) {
        xlm_error_set(error, EX_SOFTWARE, "ICU cannot find the sentences of a text: %s", u_errorName(status));
        return NULL;
    }
    *n = s->sentences->len;
    return (const xlm_word *)(void *)s->sentences->data;
}
