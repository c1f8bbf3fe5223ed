/* xlm-mpi: parts of a tokenizer.json. SPDX-License-Identifier: GPL-3.0-or-later */
#include "subwords/tokenizer_print.h"

unsigned xlm_tokenizer_special_how(const xlm_vocabulary *v, int32_t id)
{
    return XLM_ADDED_SPECIAL | (id == xlm_vocabulary_special(v, XLM_MASK) ? XLM_ADDED_LSTRIP : 0);
}

json_t *xlm_tokenizer_print_added(int32_t id, const char *text, unsigned how)
{
    return json_pack("{s:i, s:s, s:b, s:b, s:b, s:b, s:b}", "id", id, "content", text, "single_word",
                     (how & XLM_ADDED_SINGLE_WORD) != 0, "lstrip", (how & XLM_ADDED_LSTRIP) != 0, "rstrip",
                     (how & XLM_ADDED_RSTRIP) != 0, "normalized", (how & XLM_ADDED_NORMALIZED) != 0, "special",
                     (how & XLM_ADDED_SPECIAL) != 0);
}

json_t *xlm_tokenizer_print_specials(const xlm_vocabulary *v)
{
    const xlm_special_tokens *specials = xlm_vocabulary_specials(v);
    json_t *added = json_array();
    for (int32_t i = 0; i < specials->distinct; i++)
        json_array_append_new(added, xlm_tokenizer_print_added(specials->ascending[i],
                                                               xlm_vocabulary_words(v)[specials->ascending[i]],
                                                               xlm_tokenizer_special_how(v, specials->ascending[i])));
    return added;
}

/* Puts the tokens that open and close sequences around a sequence. */
json_t *xlm_tokenizer_print_template(const xlm_vocabulary *v)
{
    const char *const *words = xlm_vocabulary_words(v);
    const int32_t bos = xlm_vocabulary_special(v, XLM_BOS), eos = xlm_vocabulary_special(v, XLM_EOS);
    json_t *tokens = json_object();
    json_object_set_new(tokens, words[bos], json_pack("{s:s, s:[i], s:[s]}", "id", words[bos], "ids", bos, "tokens", words[bos]));
    json_object_set_new(tokens, words[eos], json_pack("{s:s, s:[i], s:[s]}", "id", words[eos], "ids", eos, "tokens", words[eos]));
#define SPECIAL "{s:{s:s, s:i}}"
#define SPECIAL_OF(token, type) "SpecialToken", "id", token, "type_id", type
#define SEQUENCE_OF(name, type) "Sequence", "id", name, "type_id", type
    json_t *single = json_pack("[" SPECIAL SPECIAL SPECIAL "]", SPECIAL_OF(words[bos], 0), SEQUENCE_OF("A", 0),
                               SPECIAL_OF(words[eos], 0));
    json_t *pair = json_pack("[" SPECIAL SPECIAL SPECIAL SPECIAL SPECIAL "]", SPECIAL_OF(words[bos], 0), SEQUENCE_OF("A", 0),
                             SPECIAL_OF(words[eos], 0), SEQUENCE_OF("B", 1), SPECIAL_OF(words[eos], 1));
    return json_pack("{s:s, s:o, s:o, s:o}", "type", "TemplateProcessing", "single", single, "pair", pair, "special_tokens",
                     tokens);
}

void xlm_tokenizer_separate(json_t *tokenizer, int separators)
{
    enum { SEPARATOR = 2 }; /* of <s> A </s> B </s> */
    json_t *pair = json_object_get(json_object_get(tokenizer, "post_processor"), "pair");
    for (int i = 1; i < separators; i++)
        json_array_insert(pair, SEPARATOR, json_array_get(pair, SEPARATOR));
}
