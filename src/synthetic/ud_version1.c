/* xlm-mpi: trees of Universal Dependencies 2 as version 1 would have them. SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic/ud_version1.h"

#include <string.h>

static const struct {
    const char *now, *before;
} renamed[] = {
    {"obj", "dobj"}, {"fixed", "mwe"}, {"nsubj:pass", "nsubjpass"}, {"csubj:pass", "csubjpass"}, {"aux:pass", "auxpass"},
    {"obl", "nmod"}, {"obl:tmod", "nmod:tmod"}, {"obl:npmod", "nmod:npmod"}, {"obl:unmarked", "nmod:npmod"},
    {"nmod:unmarked", "nmod:npmod"}, {"nmod:desc", "compound"}, {"flat:foreign", "foreign"}, {"orphan", "remnant"},
    {"clf", "compound"},
};

/* Is `relation` this one or a subtype of it? */
static bool is_kind(const char *relation, const char *kind)
{
    const size_t size = strlen(kind);
    return strncmp(relation, kind, size) == 0 && (relation[size] == '\0' || relation[size] == ':');
}

static bool has_feature(const char *features, const char *feature)
{
    const char *at = strstr(features, feature);
    return at != NULL && (at == features || at[-1] == '|') && (at[strlen(feature)] == '\0' || at[strlen(feature)] == '|');
}

static const char *relation_before(const xlm_conllu_word *word)
{
    const char *now = word->column[XLM_CONLLU_DEPREL], *features = word->column[XLM_CONLLU_FEATS];
    for (size_t i = 0; i < G_N_ELEMENTS(renamed); i++)
        if (strcmp(now, renamed[i].now) == 0)
            return renamed[i].before;
    if (is_kind(now, "flat"))
        return "name";
    if (is_kind(now, "obl"))
        return "nmod";
    if ((strcmp(now, "advmod") == 0 || strcmp(now, "det") == 0) &&
        (has_feature(features, "Polarity=Neg") || has_feature(features, "PronType=Neg")))
        return "neg";
    return now;
}

static const char *tag_before(const xlm_conllu_word *word)
{
    const char *now = word->column[XLM_CONLLU_UPOS];
    if (strcmp(now, "CCONJ") == 0)
        return "CONJ";
    return strcmp(now, "AUX") == 0 && is_kind(word->column[XLM_CONLLU_DEPREL], "cop") ? "VERB" : now;
}

static int32_t head_before(const xlm_conllu *tree, int32_t i)
{
    const xlm_conllu_word *word = xlm_conllu_word_at(tree, (size_t)i);
    const char *relation = word->column[XLM_CONLLU_DEPREL];
    if (word->head <= i || !(is_kind(relation, "cc") || is_kind(relation, "punct")))
        return word->head;
    const xlm_conllu_word *head = xlm_conllu_word_at(tree, (size_t)word->head);
    return is_kind(head->column[XLM_CONLLU_DEPREL], "conj") && head->head >= 0 ? head->head : word->head;
}

void xlm_ud1_view(const xlm_conllu *tree, GArray *view)
{
    g_array_set_size(view, tree->words->len);
    for (guint i = 0; i < tree->words->len; i++) {
        const xlm_conllu_word *word = xlm_conllu_word_at(tree, i);
        g_array_index(view, xlm_ud1_word, i) =
            (xlm_ud1_word){tag_before(word), relation_before(word), head_before(tree, (int32_t)i)};
    }
}
