/* xlm-mpi: translations of one rank, and of all. SPDX-License-Identifier: GPL-3.0-or-later */
#include "translation/results.h"

struct record {
    int64_t sentence;
    double log_probability, score;
    int32_t tokens, links;
};

xlm_own_translations xlm_own_translations_new(void)
{
    return (xlm_own_translations){.records = g_array_new(FALSE, TRUE, sizeof(struct record)),
                                  .ids = g_array_new(FALSE, FALSE, sizeof(int32_t)),
                                  .links = g_array_new(FALSE, FALSE, sizeof(xlm_token_link))};
}

void xlm_own_translations_clear(xlm_own_translations *own)
{
    g_array_unref(own->records);
    g_array_unref(own->ids);
    g_array_unref(own->links);
}

void xlm_own_translations_add(xlm_own_translations *own, int64_t sentence, const xlm_translation *t)
{
    const struct record record = {sentence, t->log_probability, t->score, t->tokens, t->links};
    g_array_append_val(own->records, record);
    if (t->tokens > 0)
        g_array_append_vals(own->ids, t->ids, (guint)t->tokens);
    if (t->links > 0)
        g_array_append_vals(own->links, t->link, (guint)t->links);
}

/* Those of all ranks one after another, in new memory. [out] n: their number. */
static void *gather(const xlm_comm *comm, const GArray *own, int64_t *n)
{
    const size_t size = g_array_get_element_size((GArray *)(uintptr_t)own);
    g_autofree size_t *sizes = g_new(size_t, comm->ranks);
    void *all;
    size_t bytes = 0;
    xlm_comm_gather_all(comm, own->data, own->len * size, &all, sizes);
    for (int r = 0; r < comm->ranks; r++)
        bytes += sizes[r];
    *n = (int64_t)(bytes / size);
    return all;
}

xlm_translation_set *xlm_own_translations_merge(const xlm_own_translations *own, const xlm_comm *comm, int64_t sentences)
{
    int64_t n, ids, links;
    g_autofree struct record *records = gather(comm, own->records, &n);
    xlm_translation_set *t = g_new0(xlm_translation_set, 1);
    const int32_t *id = t->memory[0] = gather(comm, own->ids, &ids);
    const xlm_token_link *link = t->memory[1] = gather(comm, own->links, &links);
    t->sentences = sentences;
    t->first = g_new0(int64_t, sentences + 1);
    t->all = g_new(xlm_translation, MAX(n, 1));
    for (int64_t i = 0; i < n; i++)
        t->first[records[i].sentence + 1]++;
    for (int64_t s = 0; s < sentences; s++)
        t->first[s + 1] += t->first[s];
    g_autofree int64_t *next = g_memdup2(t->first, sizeof *t->first * (gsize)(sentences + 1));
    for (int64_t i = 0; i < n; i++) {
        const struct record *r = &records[i];
        t->all[next[r->sentence]++] = (xlm_translation){.tokens = r->tokens, .ids = id, .log_probability = r->log_probability,
                                                        .score = r->score, .links = r->links, .link = link};
        id += r->tokens;
        link += r->links;
    }
    return t;
}

void xlm_translation_set_free(xlm_translation_set *t)
{
    if (t == NULL)
        return;
    g_free(t->first);
    g_free(t->all);
    g_free(t->memory[0]);
    g_free(t->memory[1]);
    g_free(t);
}
