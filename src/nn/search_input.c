/* xlm-mpi: checks of the arguments of a search, and the size of its cache. SPDX-License-Identifier: GPL-3.0-or-later */
#include "nn/search_input.h"

#include <math.h>

#include "nn/model_parts.h"
#include "tensor/tape.h"

#define NUMBER "%" G_GINT64_FORMAT

static void check_model(const xlm_model_config *model, const xlm_special_tokens *specials)
{
    if (model->decoder_layers < 1)
        xlm_tape_fail("search", "the model has no decoder");
    if (model->head == XLM_HEAD_NONE)
        xlm_tape_fail("search", "the model has no head for words");
    for (int i = 0; i < XLM_SPECIAL_TOKENS; i++)
        if (specials->id[i] < 0 || specials->id[i] >= model->vocabulary)
            xlm_tape_fail("search", "special token %d is not in the vocabulary of " NUMBER, (int)specials->id[i],
                          model->vocabulary);
}

static void check_options(const xlm_model_config *model, const xlm_search_options *o)
{
    if (!(isfinite(o->temperature) && o->temperature >= 0))
        xlm_tape_fail("search", "the temperature is %g", o->temperature);
    if (o->beam < 1 || o->beam > XLM_MAX_BEAM)
        xlm_tape_fail("search", "the beam is " NUMBER ", not from 1 to %d", o->beam, XLM_MAX_BEAM);
    if (o->temperature <= 0 && o->beam > model->vocabulary)
        xlm_tape_fail("search", "the beam is " NUMBER ", the vocabulary has " NUMBER " tokens", o->beam, model->vocabulary);
    if (o->top_k < 0 || o->top_k > model->vocabulary)
        xlm_tape_fail("search", "top_k is " NUMBER ", the vocabulary has " NUMBER " tokens", o->top_k, model->vocabulary);
    if (!isfinite(o->length_penalty))
        xlm_tape_fail("search", "the length penalty is %g", o->length_penalty);
}

static void check_sentence(const xlm_model_config *model, const xlm_search_input *in, int32_t i)
{
    if (in->memory_offsets[i + 1] <= in->memory_offsets[i])
        xlm_tape_fail("search", "sentence %d has rows %d to %d of the memory", (int)i, (int)in->memory_offsets[i],
                      (int)in->memory_offsets[i + 1]);
    if (in->languages[i] < 0 || in->languages[i] >= model->languages)
        xlm_tape_fail("search", "sentence %d is to be in language %d of " NUMBER, (int)i, (int)in->languages[i],
                      model->languages);
    if (in->max_tokens[i] < 0 || in->max_tokens[i] >= model->positions)
        xlm_tape_fail("search", "sentence %d may have %d tokens and </s>, the model has " NUMBER " positions", (int)i,
                      (int)in->max_tokens[i], model->positions);
}

static void check_memory(const xlm_model_config *model, const xlm_search_input *in)
{
    if (in->memory->cols != model->hidden_size)
        xlm_tape_fail("search", "the memory has " NUMBER " columns, not " NUMBER, in->memory->cols, model->hidden_size);
    if (in->memory_offsets[0] != 0 || in->memory_offsets[in->sentences] != in->memory->rows)
        xlm_tape_fail("search", "sentences have rows %d to %d of the memory's " NUMBER, (int)in->memory_offsets[0],
                      (int)in->memory_offsets[in->sentences], in->memory->rows);
}

void xlm_search_check(const xlm_model *model, const xlm_special_tokens *specials, const xlm_search_options *options,
                      const xlm_search_input *input)
{
    check_model(&model->config, specials);
    check_options(&model->config, options);
    if (input->sentences < 1)
        xlm_tape_fail("search", "there are %d sentences", (int)input->sentences);
    if (options->temperature > 0 && input->keys == NULL)
        xlm_tape_fail("search", "there are no keys for the draws");
    for (int32_t i = 0; i < input->sentences; i++)
        check_sentence(&model->config, input, i);
    check_memory(&model->config, input);
    const int64_t rows = xlm_search_cache_rows(options, input);
    if (rows > G_MAXINT32)
        xlm_tape_fail("search", "the cache would have " NUMBER " rows, more than %d; take fewer sentences", rows, G_MAXINT32);
}

/* Each hypothesis may keep <s> and all of its tokens. */
int64_t xlm_search_cache_rows_of(const xlm_search_options *options, const xlm_search_input *input, int32_t sentence)
{
    return options->beam * (input->max_tokens[sentence] + 1);
}

int64_t xlm_search_cache_rows(const xlm_search_options *options, const xlm_search_input *input)
{
    int64_t rows = 0;
    for (int32_t i = 0; i < input->sentences; i++)
        rows += xlm_search_cache_rows_of(options, input, i);
    return rows;
}
