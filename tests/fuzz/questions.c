/* xlm-mpi: fuzz target: questions with answers, in JSON. SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"
#include "tasks/question_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    xlm_question_text *text = xlm_question_text_new();
    GError *error = NULL;
    const bool good = xlm_question_text_read(text, fuzz_write("questions.json", data, size), "en", 0, &error);
    fuzz_check(good, error);
    for (guint i = 0; good && i < text->questions->len; i++) {
        const xlm_question *question = &g_array_index(text->questions, xlm_question, i);
        const xlm_context *context = &g_array_index(text->contexts, xlm_context, question->context);
        fuzz_require(*question->id != '\0' && g_utf8_validate(question->text, -1, NULL), "questions have an id and are UTF-8");
        fuzz_require(g_utf8_validate(context->text, context->size, NULL), "contexts are UTF-8");
        for (guint k = 0; k < question->answers; k++) {
            const xlm_answer *answer = &g_array_index(text->answers, xlm_answer, question->first_answer + k);
            fuzz_require(answer->start < answer->end && answer->end <= context->size, "answers are in their contexts");
        }
    }
    xlm_question_text_free(text);
    return 0;
}
