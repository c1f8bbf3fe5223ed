/* xlm-mpi: ALIGN-MLM's word-embedding alignment (Tang et al. 2022). SPDX-License-Identifier: GPL-3.0-or-later
 *
 * L = −(1/n) Σ_i cos(E[a_i], E[b_i]) over all n pairs (a_i, b_i) of a bilingual dictionary, in every step; E are the word
 * embeddings. The paper gives it the weight 10, next to mlm. It reads no stream: part p of P has pairs [p·n/P, (p+1)·n/P). */
#include <xlm/loss.h>

#include <stdio.h>

struct align {
    char *path;
    const xlm_dictionary *dictionary;
};

static const xlm_option align_options[] = {
    {"dictionary", XLM_OPTION_TEXT, NULL, 0, 0, NULL, "file of xlm_dict, the dictionary whose pairs are pulled together",
     offsetof(struct align, path)},
    XLM_OPTION_END,
};

static bool align_open(xlm_loss *self, char *message, size_t size)
{
    struct align *align = self->state;
    align->dictionary = xlm_loss_resource(self, "dictionary", align->path, message, size);
    if (align->dictionary == NULL)
        return false;
    if (align->dictionary->pairs == 0) {
        snprintf(message, size, "%s: has no pairs", align->path);
        return false;
    }
    if (self->setup->model->language_embeddings)
        snprintf(message, size, "the model has language embeddings, which are added to the word embeddings that are aligned "
                 "here; the paper advises against them (language_embeddings = false)");
    return true;
}

static int64_t first_pair(const struct align *align, const xlm_pass *pass, int64_t part)
{
    return align->dictionary->pairs * part / pass->parts;
}

static int64_t align_count(xlm_loss *self, const xlm_pass *pass)
{
    return first_pair(self->state, pass, pass->part + 1) - first_pair(self->state, pass, pass->part);
}

static xlm_var *align_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct align *align = self->state;
    const int64_t first = first_pair(align, pass, pass->part), n = align_count(self, pass);
    xlm_var *words = xlm_param(tape, "embeddings/word/weight"); /* V x e */
    xlm_var *a = xlm_rows(tape, words, align->dictionary->token[0] + first, n); /* n x e */
    xlm_var *b = xlm_rows(tape, words, align->dictionary->token[1] + first, n);
    return xlm_scale(tape, xlm_mean(tape, xlm_cosine(tape, a, b)), -1);
}

const xlm_loss_class xlm_loss_align = {
    .abi = XLM_LOSS_ABI,
    .name = "align",
    .summary = "pull the embeddings of the words of a bilingual dictionary together (ALIGN-MLM)",
    .needs_stream = false,
    .options = align_options,
    .state_size = sizeof(struct align),
    .open = align_open,
    .count = align_count,
    .loss = align_loss,
};
