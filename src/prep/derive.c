/* xlm-mpi: annotated text brought into a synthetic language. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * CoNLL-U in, CoNLL-U out, the same words in the order of the synthetic language:
 *   words      move with all their columns; ID is renumbered, and HEAD accordingly
 *   DEPS       becomes `_`, because enhanced graphs lead to empty nodes, which have no place in another order
 *   tokens     multiword tokens (3-4), empty nodes (8.1), and items of MISC such as SpaceAfter=No are left out, because they say
 *              how words were written together
 *   entities   BIO tags, wherever they occur from XPOS on (as a whole column, or as the value of a key of MISC, NER=B-PER), are
 *              repaired: the words of an entity keep its type; of consecutive ones the first has B- and the others I-, so an
 *              entity that is split up becomes several
 *   comments   are kept; `# text` is replaced; `# xlm_derivation = NAME=BASE:STEPS; seed N` is added
 *
 * FORM keeps the letters of the base, because letters change only after segmentation. Programs read such a file as text of the
 * synthetic language: xlm_tokenizer_encode with that language of the corpus or the model gives twins. */
#include "prep/steps.h"

#include <string.h>

#include "base/log.h"
#include "synthetic/bio_tags.h"
#include "prep/synthetic_text.h"

struct deriver {
    xlm_word_order *word_order;
    char *note;      /* "# xlm_derivation = ..." */
    GArray *order;   /* uint32_t: the word at each place of the new order */
    GArray *place;   /* uint32_t: the place of each word in the new order */
    GArray *slots;   /* xlm_bio_slot */
    GPtrArray *letters; /* for each slot, char [words] */
    int64_t counts[3]; /* sentences; multiword tokens left out; empty nodes left out */
};

/* ---- one sentence ---- */

/* Set d->slots, where the sentence has BIO tags, and d->letters, the first letters of these tags in the new order. */
static void repair_entities(struct deriver *d, const xlm_conllu *tree)
{
    xlm_bio_slots(tree, d->slots);
    g_ptr_array_set_size(d->letters, 0);
    for (guint i = 0; i < d->slots->len; i++) {
        char *letters = g_malloc(tree->words->len);
        xlm_bio_letters(tree, &g_array_index(d->slots, xlm_bio_slot, i), (const uint32_t *)(void *)d->order->data, letters);
        g_ptr_array_add(d->letters, letters);
    }
}

/* Change the first letters of the tags of the word that is at `place` in the new order. */
static void set_letters(struct deriver *d, xlm_conllu_word *word, guint place)
{
    for (guint i = 0; i < d->slots->len; i++) {
        size_t size;
        const char letter = ((const char *)d->letters->pdata[i])[place];
        char *tag = (char *)xlm_bio_tag(word, &g_array_index(d->slots, xlm_bio_slot, i), &size);
        if (letter != 0)
            *tag = letter;
    }
}

/* Print MISC without the items about spaces between words. */
static void print_misc(const char *misc, GString *out)
{
    const gsize start = out->len;
    for (const char *item = misc; item != NULL;) {
        const char *stop = item + strcspn(item, "|");
        if (!g_str_has_prefix(item, "SpaceAfter=") && !g_str_has_prefix(item, "SpacesAfter=") &&
            !g_str_has_prefix(item, "SpacesBefore=")) {
            if (out->len > start)
                g_string_append_c(out, '|');
            g_string_append_len(out, item, stop - item);
        }
        item = *stop == '|' ? stop + 1 : NULL;
    }
    if (out->len == start)
        g_string_append_c(out, '_');
}

static void print_text(const struct deriver *d, const xlm_conllu *tree, GString *out)
{
    g_string_append(out, "# text =");
    for (guint i = 0; i < d->order->len; i++)
        g_string_append_printf(out, " %s",
                               xlm_conllu_word_at(tree, g_array_index(d->order, uint32_t, i))->column[XLM_CONLLU_FORM]);
    g_string_append_c(out, '\n');
}

/* Is it the comment `# text = ...`? Blanks around the name may be left out. */
static bool is_text(const char *comment)
{
    static const char blanks[] = " \t";
    comment += 1 + strspn(comment + 1, blanks);
    if (!g_str_has_prefix(comment, "text"))
        return false;
    comment += strlen("text");
    return comment[strspn(comment, blanks)] == '=';
}

static void print_comments(const struct deriver *d, const xlm_conllu *tree, GString *out)
{
    for (guint i = 0; i < tree->comments->len; i++) {
        const char *comment = tree->comments->pdata[i];
        if (is_text(comment))
            print_text(d, tree, out);
        else
            g_string_append_printf(out, "%s\n", comment);
    }
    g_string_append_printf(out, "%s\n", d->note);
}

static void print_word(const struct deriver *d, const xlm_conllu *tree, guint place, const xlm_conllu_word *word, GString *out)
{
    g_string_append_printf(out, "%u", place + 1);
    for (int k = XLM_CONLLU_FORM; k < XLM_CONLLU_COLUMNS; k++) {
        g_string_append_c(out, '\t');
        if (k == XLM_CONLLU_HEAD && tree->has_tree)
            g_string_append_printf(out, "%u", word->head < 0 ? 0 : g_array_index(d->place, uint32_t, word->head) + 1);
        else if (k == XLM_CONLLU_DEPS)
            g_string_append_c(out, '_');
        else if (k == XLM_CONLLU_MISC)
            print_misc(word->column[k], out);
        else
            g_string_append(out, word->column[k]);
    }
    g_string_append_c(out, '\n');
}

static void derive_sentence(struct deriver *d, const xlm_conllu *tree, int64_t number, GString *out)
{
    xlm_word_order_of_tree(d->word_order, tree, number, d->order);
    g_array_set_size(d->place, d->order->len);
    for (guint i = 0; i < d->order->len; i++)
        g_array_index(d->place, uint32_t, g_array_index(d->order, uint32_t, i)) = i;
    repair_entities(d, tree);
    print_comments(d, tree, out);
    for (guint i = 0; i < d->order->len; i++)
        set_letters(d, xlm_conllu_word_at(tree, g_array_index(d->order, uint32_t, i)), i);
    for (guint i = 0; i < d->order->len; i++)
        print_word(d, tree, i, xlm_conllu_word_at(tree, g_array_index(d->order, uint32_t, i)), out);
    g_string_append_c(out, '\n');
}

/* ---- the file ---- */

static void derive_block(xlm_scan *scan, GString *out, void *state)
{
    struct deriver *d = state;
    const xlm_conllu *tree;
    xlm_scan_block(scan);
    while ((tree = xlm_scan_tree(scan)) != NULL) {
        derive_sentence(d, tree, xlm_scan_number(scan), out);
        d->counts[0]++;
        d->counts[1] += tree->multiword;
        d->counts[2] += tree->empty;
    }
}

static bool derive_file(const xlm_comm *comm, const xlm_prep_options *options, struct deriver *d, GError **error)
{
    const double begin = xlm_clock();
    const xlm_synthetic *made = options->synthetic->pdata[0];
    xlm_prep_source source = {.sides = 1, .path = {options->derive_input}, .conllu = true,
                                    .needs_trees = made->weights[0] != NULL};
    d->order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    d->place = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    d->slots = g_array_new(FALSE, FALSE, sizeof(xlm_bio_slot));
    d->letters = g_ptr_array_new_with_free_func(g_free);
    d->note = g_strdup_printf("# xlm_derivation = %s=%s:%s; seed %" G_GINT64_FORMAT,
                              (const char *)options->languages->pdata[made->language],
                              (const char *)options->languages->pdata[made->base], made->steps, options->seed);
    const bool good = xlm_prep_rewrite(comm, options, &source, options->derive_output, derive_block, d, NULL, error);
    xlm_comm_sum_int64(comm, d->counts, 3);
    if (good)
        xlm_log_info("%" G_GINT64_FORMAT " sentences derived in %.1f s; left out: %" G_GINT64_FORMAT " multiword tokens, %"
                     G_GINT64_FORMAT " empty nodes", d->counts[0], xlm_clock() - begin, d->counts[1], d->counts[2]);
    g_array_free(d->order, TRUE);
    g_array_free(d->place, TRUE);
    g_array_free(d->slots, TRUE);
    g_ptr_array_free(d->letters, TRUE);
    g_free(d->note);
    return good;
}

bool xlm_prep_derive(const xlm_comm *comm, const xlm_prep_options *options, GError **error)
{
    GError *failure = NULL;
    struct deriver d = {.word_order = xlm_word_order_new(options->synthetic->pdata[0], (uint64_t)options->seed, &failure)};
    const bool good = xlm_comm_agree_on(comm, failure, error) && derive_file(comm, options, &d, error);
    xlm_word_order_free(d.word_order);
    return good;
}
