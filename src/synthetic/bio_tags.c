/* xlm-mpi: BIO tags of words that change their order. SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic/bio_tags.h"

#include <string.h>

static bool is_entity(const char *tag, size_t size) { return size > 2 && (tag[0] == 'B' || tag[0] == 'I') && tag[1] == '-'; }

/* ---- slots ---- */

static bool is_same_slot(const xlm_bio_slot *a, const xlm_bio_slot *b)
{
    return a->column == b->column && a->key_size == b->key_size && memcmp(a->key, b->key, a->key_size) == 0;
}

static void add_slot(GArray *slots, xlm_bio_slot slot)
{
    for (guint i = 0; i < slots->len; i++)
        if (is_same_slot(&g_array_index(slots, xlm_bio_slot, i), &slot))
            return;
    g_array_append_val(slots, slot);
}

/* Slots of the keys of MISC: items between |. */
static void add_keys(const char *misc, GArray *slots)
{
    for (const char *item = misc; item != NULL;) {
        const char *stop = item + strcspn(item, "|"), *equals = memchr(item, '=', (size_t)(stop - item));
        if (equals != NULL && is_entity(equals + 1, (size_t)(stop - equals - 1)))
            add_slot(slots, (xlm_bio_slot){XLM_CONLLU_MISC, item, (size_t)(equals + 1 - item)});
        item = *stop == '|' ? stop + 1 : NULL;
    }
}

void xlm_bio_slots(const xlm_conllu *sentence, GArray *slots)
{
    static const int columns[] = {XLM_CONLLU_XPOS, XLM_CONLLU_FEATS, XLM_CONLLU_MISC};
    g_array_set_size(slots, 0);
    for (guint i = 0; i < sentence->words->len; i++) {
        char *const *column = xlm_conllu_word_at(sentence, i)->column;
        for (size_t k = 0; k < G_N_ELEMENTS(columns); k++)
            if (is_entity(column[columns[k]], strlen(column[columns[k]])) && strpbrk(column[columns[k]], "|=") == NULL)
                add_slot(slots, (xlm_bio_slot){columns[k], "", 0});
        add_keys(column[XLM_CONLLU_MISC], slots);
    }
}

const char *xlm_bio_tag(const xlm_conllu_word *word, const xlm_bio_slot *slot, size_t *size)
{
    const char *column = word->column[slot->column];
    if (slot->key_size == 0) {
        *size = strlen(column);
        return column;
    }
    for (const char *item = column; item != NULL;) {
        const char *stop = item + strcspn(item, "|");
        if (strncmp(item, slot->key, slot->key_size) == 0) {
            *size = (size_t)(stop - item) - slot->key_size;
            return item + slot->key_size;
        }
        item = *stop == '|' ? stop + 1 : NULL;
    }
    *size = 0;
    return column;
}

/* ---- letters ---- */

void xlm_bio_letters(const xlm_conllu *sentence, const xlm_bio_slot *slot, const uint32_t *order, char *letters)
{
    const guint n = sentence->words->len;
    g_autofree guint *entity = g_new0(guint, n); /* 0: none */
    const char *before = "";
    size_t before_size = 0;
    for (guint i = 0; i < n; i++) {
        size_t size;
        const char *tag = xlm_bio_tag(xlm_conllu_word_at(sentence, i), slot, &size);
        const bool goes_on = i > 0 && entity[i - 1] > 0 && size == before_size && *tag == 'I' &&
                             memcmp(tag + 1, before + 1, size - 1) == 0;
        if (is_entity(tag, size))
            entity[i] = goes_on ? entity[i - 1] : i + 1;
        before = tag;
        before_size = size;
    }
    for (guint i = 0; i < n; i++)
        letters[i] = entity[order[i]] == 0 ? 0 : i > 0 && entity[order[i - 1]] == entity[order[i]] ? 'I' : 'B';
}
