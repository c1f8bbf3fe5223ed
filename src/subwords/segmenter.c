/* xlm-mpi: segmenters: what a class has learned. SPDX-License-Identifier: GPL-3.0-or-later */
#include "subwords/segmenter.h"

#include "base/rng.h"
#include "text/fields.h"
#include "text/lines.h"

struct xlm_segmenter {
    const xlm_segmenter_class *cls;
    void *model;
    gint references;
};

xlm_segmenter *xlm_segmenter_new(const xlm_segmenter_class *cls, void *model)
{
    xlm_segmenter *s = g_new(xlm_segmenter, 1);
    *s = (xlm_segmenter){cls, model, 1};
    return s;
}

xlm_segmenter *xlm_segmenter_ref(const xlm_segmenter *segmenter)
{
    xlm_segmenter *s = (xlm_segmenter *)(uintptr_t)segmenter; /* users do not see the number of references */
    g_atomic_int_inc(&s->references);
    return s;
}

void xlm_segmenter_unref(xlm_segmenter *s)
{
    if (s == NULL || !g_atomic_int_dec_and_test(&s->references))
        return;
    s->cls->free(s->model);
    g_free(s);
}

const xlm_segmenter_class *xlm_segmenter_class_of(const xlm_segmenter *s) { return s->cls; }
const void *xlm_segmenter_model(const xlm_segmenter *s) { return s->model; }

static xlm_segmenter *wrap(const xlm_segmenter_class *cls, void *model)
{
    return model != NULL ? xlm_segmenter_new(cls, model) : NULL;
}

/* ---- learning and files ---- */

xlm_segmenter *xlm_segmenter_learn(const xlm_segmenter_class *cls, const xlm_segmenter_options *options,
                                   const xlm_word_counts *words, GError **error)
{
    return wrap(cls, cls->learning->learn(options, words, error));
}

xlm_segmenter *xlm_segmenter_learn_more(const xlm_segmenter *s, const xlm_word_counts *words, uint32_t amount,
                                        xlm_word_counts *added)
{
    return wrap(s->cls, s->cls->learning->learn_more(s->model, words, amount, added));
}

GString *xlm_segmenter_print(const xlm_segmenter *s) { return s->cls->print(s->model); }

xlm_segmenter *xlm_segmenter_parse(const xlm_segmenter_class *cls, const char *name, const char *bytes, size_t size,
                                   GError **error)
{
    return wrap(cls, cls->parse(name, bytes, size, error));
}

xlm_segmenter *xlm_segmenter_read(const xlm_segmenter_class *cls, const char *path, GError **error)
{
    size_t size;
    g_autofree char *bytes = xlm_fields_load(path, &size, error);
    if (bytes == NULL)
        return NULL;
    const size_t mark = xlm_lines_mark(bytes, size);
    return xlm_segmenter_parse(cls, path, bytes + mark, size - mark, error);
}

bool xlm_segmenter_has_file(const xlm_segmenter *s)
{
    const xlm_segmenter_learning *learning = s->cls->learning;
    return learning != NULL && (learning->has_file == NULL || learning->has_file(s->model));
}

bool xlm_segmenter_write(const xlm_segmenter *s, const char *path, GError **error)
{
    return xlm_fields_write(path, xlm_segmenter_print(s), error);
}

bool xlm_segmenter_save(const xlm_segmenter *s, xlm_store *store, const char *path, int rank, GError **error)
{
    return s->cls->save(s->model, store, path, rank, error) && xlm_store_set_text(store, path, "segmenter", s->cls->name, error);
}

/* ---- vocabularies made of others ---- */

bool xlm_segmenter_can_change(const xlm_segmenter *s, const char *what, GError **error)
{
    return s->cls->change != NULL ||
           xlm_error_set(error, EX_DATAERR, "%s: subwords of the segmenter %s cannot be left out or added", what, s->cls->name);
}

xlm_segmenter *xlm_segmenter_reduce(const xlm_segmenter *s, const xlm_word_counts *subwords, xlm_word_counts *kept,
                                    GError **error)
{
    return wrap(s->cls, s->cls->change->reduce(s->model, subwords, kept, error));
}

char *xlm_segmenter_whole(const xlm_segmenter *s, const char *word) { return s->cls->change->whole(s->model, word); }

xlm_segmenter *xlm_segmenter_enlarge(const xlm_segmenter *s, const xlm_word_counts *subwords, const xlm_word_counts *wanted,
                                     xlm_word_counts *added, GError **error)
{
    return wrap(s->cls, s->cls->change->enlarge(s->model, subwords, wanted, added, error));
}

void xlm_segmenter_keep(const xlm_word_counts *subwords, const char *subword, size_t size, xlm_word_counts *kept)
{
    if (xlm_word_counts_index(subwords, subword, size) != UINT32_MAX)
        xlm_word_counts_add(kept, subword, size, 0);
}

void xlm_segmenter_add_missing(const xlm_word_counts *subwords, const char *subword, size_t size, xlm_word_counts *added)
{
    if (xlm_word_counts_index(subwords, subword, size) == UINT32_MAX)
        xlm_word_counts_add(added, subword, size, 0);
}

void xlm_segmenter_keep_characters(xlm_segmenter_spelling *spell, const void *model, const xlm_word_counts *subwords,
                                   const char *prefix, const char *suffix, xlm_word_counts *kept)
{
    g_autoptr(GString) text = g_string_new(NULL), character = g_string_new(NULL);
    const uint32_t n = xlm_word_counts_size(kept);
    for (uint32_t i = 0; i < n; i++) {
        g_string_truncate(text, 0);
        spell(model, xlm_word_counts_word(kept, i, NULL), text);
        for (const char *at = text->str, *next; *at != '\0'; at = next) {
            next = g_utf8_next_char(at);
            g_string_assign(character, prefix);
            g_string_append_len(character, at, next - at);
            g_string_append(character, suffix);
            xlm_segmenter_keep(subwords, character->str, character->len, kept);
        }
    }
}

/* ---- asking ---- */

uint32_t xlm_segmenter_size(const xlm_segmenter *s) { return s->cls->size(s->model); }

bool xlm_segmenter_check(const xlm_segmenter *s, GError **error)
{
    return s->cls->learning == NULL || s->cls->learning->check == NULL || s->cls->learning->check(s->model, error);
}

uint64_t xlm_segmenter_digest(const xlm_segmenter *s, uint64_t digest)
{
    if (s->cls->comparison != NULL && s->cls->comparison->digest != NULL)
        return s->cls->comparison->digest(s->model, digest);
    g_autoptr(GString) text = s->cls->print(s->model);
    return xlm_digest(text->str, text->len, digest);
}

xlm_normaliser *xlm_segmenter_normaliser(const xlm_segmenter *s, bool lower, GError **error)
{
    return s != NULL && s->cls->normaliser != NULL ? s->cls->normaliser(s->model) : xlm_normaliser_new(lower, error);
}

xlm_word_mark xlm_segmenter_marks(const xlm_segmenter *s, const char *subword) { return s->cls->spell(s->model, subword, NULL); }

bool xlm_segmenter_joins(const xlm_segmenter *s, const char *subword, const char *next)
{
    return (xlm_segmenter_marks(s, subword) & XLM_MARKS_END) == 0 && (xlm_segmenter_marks(s, next) & XLM_MARKS_BEGIN) == 0;
}

void xlm_segmenter_spell(const xlm_segmenter *s, const char *subword, GString *out) { s->cls->spell(s->model, subword, out); }

void xlm_segmenter_spell_word(const xlm_segmenter *s, const char *const *subwords, size_t n, GString *out)
{
    if (s->cls->spell_word != NULL && s->cls->spell_word(s->model, subwords, n, out))
        return;
    for (size_t i = 0; i < n; i++)
        s->cls->spell(s->model, subwords[i], out);
}

bool xlm_segmenter_extends(const xlm_segmenter *s, const xlm_segmenter *larger, GError **error)
{
    if (s->cls != larger->cls)
        return xlm_error_set(error, EX_DATAERR, "its segmenter is %s, there it is %s", s->cls->name, larger->cls->name);
    if (s->cls->comparison != NULL)
        return s->cls->comparison->extends(s->model, larger->model, error);
    GString *text[2] = {s->cls->print(s->model), s->cls->print(larger->model)};
    const bool same = g_string_equal(text[0], text[1]);
    for (int i = 0; i < 2; i++)
        g_string_free(text[i], TRUE);
    return same || xlm_error_set(error, EX_DATAERR, "it has %u %s, there are %u there, or others, or other rules of text",
                                 xlm_segmenter_size(s), s->cls->unit, xlm_segmenter_size(larger));
}
