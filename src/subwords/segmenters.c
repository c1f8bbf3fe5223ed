/* xlm-mpi: the table of segmenters. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "subwords/segmenter.h"

/* One line per class. */
#define SEGMENTERS(segmenter) \
    segmenter(bpe) \
    segmenter(bpe_bytes) \
    segmenter(bpe_xlm) \
    segmenter(sentencepiece) \
    segmenter(wordpiece)

#define DECLARE(segmenter) extern const xlm_segmenter_class xlm_segmenter_##segmenter;
SEGMENTERS(DECLARE)

#define ENTRY(segmenter) &xlm_segmenter_##segmenter,
static const xlm_segmenter_class *const table[] = {SEGMENTERS(ENTRY)};

static GPtrArray *registered; /* of const xlm_segmenter_class; NULL: none */

int xlm_segmenters_count(void) { return (int)(G_N_ELEMENTS(table) + (registered != NULL ? registered->len : 0)); }

const xlm_segmenter_class *xlm_segmenter_class_at(int i)
{
    const int built_in = G_N_ELEMENTS(table);
    return i < built_in ? table[i] : registered->pdata[i - built_in];
}

void xlm_segmenter_register(const xlm_segmenter_class *cls)
{
    if (registered == NULL)
        registered = g_ptr_array_new();
    g_ptr_array_add(registered, (void *)(uintptr_t)cls);
}

/* NULL with EX_DATAERR when there is no class of this name; the message lists the classes. name NULL: the default. */
static const xlm_segmenter_class *find_class(const char *name, GError **error)
{
    g_autoptr(GString) names = g_string_new(NULL);
    for (int i = 0; i < xlm_segmenters_count(); i++) {
        const xlm_segmenter_class *cls = xlm_segmenter_class_at(i);
        if (name != NULL ? strcmp(cls->name, name) == 0 : cls->is_default)
            return cls;
        g_string_append_printf(names, "%s%s", i > 0 ? ", " : "", cls->name);
    }
    xlm_error_set(error, EX_DATAERR, "its segmenter is \"%s\", which this version of xlm-mpi does not have; it has %s", name,
                  names->str);
    return NULL;
}

const xlm_option *xlm_segmenter_class_options(const xlm_segmenter_class *cls)
{
    static const xlm_option none[] = {XLM_OPTION_END};
    return cls->learning != NULL ? cls->learning->options : none;
}

const char *xlm_segmenter_option_name(const xlm_segmenter_class *cls, size_t offset)
{
    const xlm_option *option = xlm_segmenter_class_options(cls);
    while (option->name != NULL && option->offset != offset)
        option++;
    return option->name;
}

bool xlm_segmenter_class_learns_more(const xlm_segmenter_class *cls)
{
    return cls->learning != NULL && cls->learning->learn_more != NULL;
}

const xlm_segmenter_library xlm_segmenter_libraries[] = {{"SentencePiece", "libsentencepiece.so"}, {NULL, NULL}};

bool xlm_segmenter_class_lists(const xlm_segmenter_class *cls) { return cls->learning != NULL && cls->learning->list != NULL; }

int64_t xlm_segmenter_class_learning_bytes(const xlm_segmenter_class *cls, int64_t words, int64_t letters)
{
    return words * cls->learning->word_bytes + letters * cls->learning->letter_bytes;
}

bool xlm_segmenter_class_takes_words(const xlm_segmenter_class *cls, const char *what, GError **error)
{
    return cls->input == XLM_SEGMENTS_WORDS ||
           xlm_error_set(error, EX_DATAERR, "%s needs text that is segmented word by word, and the segmenter %s takes whole "
                         "lines; use a vocabulary of another segmenter", what, cls->name);
}

xlm_segmenter *xlm_segmenter_load(const xlm_store *store, const char *path, GError **error)
{
    g_autoptr(GError) unknown = NULL;
    g_autofree char *name = xlm_store_get_text(store, path, "segmenter", NULL);
    const xlm_segmenter_class *cls = find_class(name, &unknown);
    if (cls == NULL) {
        xlm_error_set(error, unknown->code, "%s: %s: %s", xlm_store_path(store), path, unknown->message);
        return NULL;
    }
    void *model = cls->load(store, path, error);
    return model != NULL ? xlm_segmenter_new(cls, model) : NULL;
}
