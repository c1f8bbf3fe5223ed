/* xlm-mpi: a corpus with the vocabulary of a checkpoint or another corpus. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/like.h"

#include <string.h>

#include "base/log.h"
#include "corpus/corpus_file.h"
#include "model/model_file.h"
#include "store/store.h"
#include "subwords/published.h"

/* ---- the file ---- */

static bool check_format(const xlm_store *store, GError **error)
{
    g_autofree char *format = xlm_store_get_text(store, "/", "format", NULL);
    int64_t step;
    if (g_strcmp0(format, XLM_CORPUS_FORMAT) == 0)
        return xlm_store_check_format(store, XLM_CORPUS_FORMAT, XLM_CORPUS_VERSION, "a corpus", "xlm_prep", error);
    if (g_strcmp0(format, XLM_CHECKPOINT_FORMAT) == 0 || g_strcmp0(format, XLM_MODEL_FILE_FORMAT) == 0)
        return xlm_model_file_check_format(store, false, &step, error) == XLM_FILE_GOOD;
    return xlm_error_set(error, EX_DATAERR, "%s: is neither a corpus of xlm_prep nor a checkpoint; --like takes its vocabulary "
                         "from one of these", xlm_store_path(store));
}

/* Set the options that follow from options->like. option: the option that gave it. */
static void set_like(xlm_prep_options *options, const char *path, const char *option)
{
    options->like_option = option;
    options->like_path = g_strdup(path);
    options->words = xlm_vocabulary_word_mode(options->like);
    options->lower = xlm_vocabulary_lowercase(options->like);
    for (const char *const *name = xlm_vocabulary_language_names(options->like); *name != NULL; name++)
        g_ptr_array_add(options->languages, g_strdup(*name));
}

bool xlm_prep_set_tokenizer(xlm_prep_options *options, const char *path, GError **error)
{
    int added = 0;
    xlm_tokenizer_files *files = xlm_tokenizer_files_read(path, error);
    if (files == NULL)
        return false;
    xlm_tokenizer_files_list(files, options->like_files);
    options->like = xlm_published_vocabulary(files, &added, error);
    xlm_tokenizer_files_free(files);
    if (options->like == NULL)
        return false;
    if (added > 0)
        xlm_log_info("%s lacks special tokens: %d of ours are added after its own", path, added);
    set_like(options, path, "--tokenizer");
    return true;
}

bool xlm_prep_set_like(xlm_prep_options *options, const char *path, GError **error)
{
    g_autoptr(xlm_store) store = xlm_store_open(path, error);
    if (store == NULL || !check_format(store, error) ||
        (options->like = xlm_vocabulary_load(store, "/vocabulary", error)) == NULL ||
        (xlm_store_has(store, "/assigned/held_out") && !xlm_earlier_split_read(&options->like_split, store, error)))
        return false;
    g_ptr_array_add(options->like_files, g_strdup(path));
    set_like(options, path, "--like");
    return true;
}

bool xlm_prep_set_append(xlm_prep_options *options, const char *path, GError **error)
{
    if ((options->append = xlm_appended_open(path, error)) == NULL)
        return false;
    options->like = (xlm_vocabulary *)(uintptr_t)xlm_corpus_vocabulary(options->append->corpus);
    g_ptr_array_add(options->like_files, g_strdup(path));
    set_like(options, path, "--append");
    return true;
}

/* ---- synthetic languages ---- */

/* The digests in what xlm_synthetic_weights returns, without the names of files. g_free. */
static char *weights_digests(const char *weights)
{
    GString *digests = g_string_new(NULL);
    for (const char *at = weights; (at = strstr(at, "SHA-256 ")) != NULL;) {
        at += strlen("SHA-256 ");
        g_string_append_len(digests, at, (gssize)strspn(at, "0123456789abcdef"));
    }
    return g_string_free(digests, FALSE);
}

/* [out] same: are the steps those of the file, with the same weights? */
static bool compare_steps(const xlm_synthetic *asked, const xlm_vocabulary_made *there, bool *same, GError **error)
{
    xlm_synthetic *steps = xlm_synthetic_parse(there->steps, error);
    g_autofree char *weights = steps != NULL ? xlm_synthetic_weights(asked, error) : NULL;
    if (weights != NULL) {
        g_autofree char *digests = weights_digests(weights), *others = weights_digests(there->weights);
        *same = asked->transliterates == steps->transliterates && asked->orders == steps->orders &&
                memcmp(asked->order, steps->order, sizeof *steps->order * (size_t)steps->orders) == 0 &&
                strcmp(digests, others) == 0;
    }
    xlm_synthetic_free(steps);
    return weights != NULL;
}

static bool check_made(const xlm_prep_options *options, const xlm_synthetic *asked, GError **error)
{
    const char *name = options->languages->pdata[asked->language], *base = options->languages->pdata[asked->base];
    const xlm_vocabulary_made *there = xlm_vocabulary_find_made(options->like, asked->language);
    if (there == NULL)
        return !asked->transliterates ||
               xlm_error_set(error, EX_USAGE, "--derive=%s=%s:%s: a vocabulary that is given with %s gets no twins; derive "
                             "%s where the vocabulary is made, or leave transliterate out", name, base, asked->steps,
                             options->like_option, name);
    bool same = false;
    if (there->base == asked->base && !compare_steps(asked, there, &same, error))
        return false;
    if (!same)
        return xlm_error_set(error, EX_USAGE, "--derive=%s=%s:%s: in %s it is %s=%s:%s; derive it in the same way", name, base,
                             asked->steps, options->like_path, name, (char *)options->languages->pdata[there->base],
                             there->steps);
    if (asked->weights[0] != NULL && there->seed != options->seed)
        return xlm_error_set(error, EX_USAGE, "--seed=%" G_GINT64_FORMAT ": in %s the orders of words of %s are drawn with the "
                             "seed %" G_GINT64_FORMAT "; give --seed=%" G_GINT64_FORMAT, options->seed, options->like_path, name,
                             there->seed, there->seed);
    return true;
}

bool xlm_prep_check_like(const xlm_prep_options *options, GError **error)
{
    for (guint i = 0; i < options->sources->len; i++) {
        const xlm_prep_source *source = options->sources->pdata[i];
        for (int side = 0; side < source->sides; side++) {
            const xlm_vocabulary_made *made = xlm_vocabulary_find_made(options->like, source->language[side]);
            const char *name = options->languages->pdata[source->language[side]];
            if (made != NULL)
                return xlm_error_set(error, EX_USAGE, "%s: %s is a synthetic language in %s; make its text with --derive "
                                     "%s=%s:%s", source->path[side], name, options->like_path, name,
                                     (char *)options->languages->pdata[made->base], made->steps);
        }
    }
    for (guint i = 0; i < options->synthetic->len; i++)
        if (!check_made(options, options->synthetic->pdata[i], error))
            return false;
    return true;
}

/* ---- subwords ---- */

static xlm_word_counts *copy_counts(const xlm_word_counts *counts)
{
    xlm_word_counts *copy = xlm_word_counts_new();
    xlm_word_counts_add_all(copy, counts, 1);
    return copy;
}

/* The subwords of the text that the vocabulary does not have, which are characters: at most n, most frequent first. */
static xlm_word_counts *find_characters(const xlm_vocabulary *like, const xlm_word_counts *words, uint32_t n)
{
    const xlm_word_counts *known = xlm_vocabulary_subwords(like);
    g_autoptr(xlm_word_counts) cut = xlm_segmenter_count_subwords(xlm_vocabulary_segmenter(like), words, known);
    xlm_word_counts *characters = xlm_word_counts_new();
    for (uint32_t i = 0; i < xlm_word_counts_size(cut); i++) {
        size_t size;
        const char *subword = xlm_word_counts_word(cut, i, &size);
        if (xlm_word_counts_index(known, subword, size) == UINT32_MAX)
            xlm_word_counts_add(characters, subword, size, xlm_word_counts_count(cut, i));
    }
    xlm_word_counts_sort(characters);
    xlm_word_counts_cut(characters, n);
    return characters;
}

/* Learn up to `add` more subwords. Returns the segmenter, and adds the candidates for new subwords to `allowed`. */
static xlm_segmenter *learn_more(const xlm_vocabulary *like, int64_t add, const xlm_word_counts *learn_from,
                                 xlm_word_counts *allowed)
{
    const xlm_segmenter *base = xlm_vocabulary_segmenter(like);
    g_autoptr(xlm_word_counts) characters = find_characters(like, learn_from, (uint32_t)add), learned = xlm_word_counts_new();
    const uint32_t amount = (uint32_t)add - xlm_word_counts_size(characters);
    xlm_segmenter *segmenter = xlm_segmenter_learn_more(base, learn_from, amount, learned);
    xlm_log_info("%u characters and %u %s added to the vocabulary", xlm_word_counts_size(characters),
                 xlm_segmenter_size(segmenter) - xlm_segmenter_size(base), xlm_segmenter_class_of(base)->unit);
    xlm_word_counts_add_all(allowed, characters, 0);
    xlm_word_counts_add_all(allowed, learned, 1);
    return segmenter;
}

/* How often subword i of the corpus is in its text that is copied. */
static int64_t copied_count(const xlm_appended *append, uint32_t i)
{
    const xlm_vocabulary *vocabulary = xlm_corpus_vocabulary(append->corpus);
    const int32_t id = xlm_ordinary_id(xlm_vocabulary_specials(vocabulary), (int32_t)i);
    /* A vocabulary that was given has the counts of other text, which may be lower. */
    return MAX(xlm_vocabulary_counts(vocabulary)[id] - (append->dropped_counts != NULL ? append->dropped_counts[id] : 0), 0);
}

/* The subwords of the file in their order, then the others of `allowed` that occur in the text, by falling count. counted: the
 * counts of subwords in the text. append: not NULL: the counts of the file, of what is copied, are added. */
static xlm_word_counts *order_subwords(const xlm_word_counts *known, const xlm_word_counts *allowed,
                                       const xlm_word_counts *counted, const xlm_appended *append)
{
    xlm_word_counts *ordered = xlm_word_counts_new();
    g_autoptr(xlm_word_counts) added = xlm_word_counts_new();
    for (uint32_t i = 0; i < xlm_word_counts_size(allowed); i++) {
        size_t size;
        const char *subword = xlm_word_counts_word(allowed, i, &size);
        const int64_t count = MAX(xlm_word_counts_find(counted, subword, size), 0);
        if (i < xlm_word_counts_size(known))
            xlm_word_counts_add(ordered, subword, size, count + (append != NULL ? copied_count(append, i) : 0));
        else if (count > 0)
            xlm_word_counts_add(added, subword, size, count);
    }
    xlm_word_counts_sort(added);
    xlm_word_counts_add_all(ordered, added, 1);
    return ordered;
}

xlm_segmenter *xlm_prep_like_segmenter(const xlm_prep_options *options, const xlm_word_counts *learn_from,
                                       xlm_word_counts **allowed)
{
    *allowed = copy_counts(xlm_vocabulary_subwords(options->like));
    return options->add_subwords > 0 ? learn_more(options->like, options->add_subwords, learn_from, *allowed)
                                     : xlm_segmenter_ref(xlm_vocabulary_segmenter(options->like));
}

xlm_word_counts *xlm_prep_like_subwords(const xlm_prep_options *options, const xlm_word_counts *allowed,
                                        const xlm_word_counts *counted)
{
    const xlm_word_counts *known = xlm_vocabulary_subwords(options->like);
    xlm_word_counts *subwords = order_subwords(known, allowed, counted, options->append);
    xlm_log_info("vocabulary of %s: %u subwords, and %u that are added", options->like_path, xlm_word_counts_size(known),
                 xlm_word_counts_size(subwords) - xlm_word_counts_size(known));
    return subwords;
}
