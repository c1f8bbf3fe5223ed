/* xlm-mpi: the special tokens of our own vocabularies, and of others. SPDX-License-Identifier: GPL-3.0-or-later */
#include "subwords/special_tokens.h"

#include <string.h>

const char *const xlm_own_special_names[XLM_SPECIAL_TOKENS] = {"<s>", "<pad>", "</s>", "<unk>", "<mask>"};

const char *xlm_special_name(xlm_special special)
{
    static const char *const names[XLM_SPECIAL_TOKENS] = {"bos", "pad", "eos", "unk", "mask"};
    return names[special];
}

/* Insert an id into the sorted distinct ids. False if it is there already. */
static bool insert(xlm_special_tokens *specials, int32_t id)
{
    int32_t at = specials->distinct;
    for (; at > 0 && specials->ascending[at - 1] >= id; at--)
        if (specials->ascending[at - 1] == id)
            return false;
    memmove(&specials->ascending[at + 1], &specials->ascending[at], sizeof id * (size_t)(specials->distinct++ - at));
    specials->ascending[at] = id;
    return true;
}

bool xlm_special_tokens_set(xlm_special_tokens *specials, const int32_t id[XLM_SPECIAL_TOKENS], GError **error)
{
    *specials = (xlm_special_tokens){.distinct = 0};
    for (int i = 0; i < XLM_SPECIAL_TOKENS; i++) {
        specials->id[i] = id[i];
        if (id[i] < 0)
            return xlm_error_set(error, EX_DATAERR, "%s = %d is not an id of a special token", xlm_special_name(i), id[i]);
        const bool begins = id[i] == id[XLM_BOS] && (i == XLM_PAD || (i == XLM_EOS && id[XLM_PAD] != id[XLM_BOS]));
        if (!insert(specials, id[i]) && !begins)
            return xlm_error_set(error, EX_DATAERR, "%s = %d is the id of another special token too", xlm_special_name(i), id[i]);
    }
    return true;
}
