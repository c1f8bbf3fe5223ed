/* xlm-mpi: small corpora for tests, written into files. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TESTS_CORPUS_FIXTURE_H
#define XLM_TESTS_CORPUS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus/corpus.h"
#include "subwords/bpe_class.h"

enum { SUBWORDS = 1000, VOCABULARY = SUBWORDS + XLM_SPECIALS };

/* Texts and pairs of one split. Languages are numbered in the order of `languages` below. */
typedef struct split_text {
    int64_t sentences, monolingual;
    const int *lengths; /* [sentences] tokens of each */
} split_text;

typedef struct split_pairs {
    int source, target; /* languages */
    int64_t pairs;
    const int64_t *links; /* [pairs x 2] */
} split_pairs;

enum { LANGUAGES = 4, MAX_PAIRS = 3 };
static const char *const languages[LANGUAGES] = {"en", "de", "fr", "cs"};

typedef struct corpus_plan {
    split_text text[2][LANGUAGES]; /* by xlm_split; no sentences: the split has none */
    split_pairs pairs[2][MAX_PAIRS];
    int32_t (*token)(int language, int64_t index); /* NULL: token_at; ids as in vocabularies of our own */
    const xlm_special_tokens *specials;            /* NULL: our own */
} corpus_plan;

/* Token `index` of a language's text: they count up, so that ids show which stretch of text it is. */
static inline int32_t token_at(int language, int64_t index)
{
    return XLM_SPECIALS + (int32_t)((index + 400 * language) % SUBWORDS);
}

/* The id in another vocabulary of a token that has this one in ours. specials: of the other; NULL: our own. */
static inline int32_t id_in(const xlm_special_tokens *specials, int32_t id)
{
    return specials == NULL ? id : id < XLM_SPECIALS ? specials->id[id] : xlm_ordinary_id(specials, id - XLM_SPECIALS);
}

static void must(bool good, GError *error)
{
    if (!good)
        fail_msg("%s", error != NULL ? error->message : "failed without a message");
}

/* The error has that exit code and that message in it; it is freed. */
static inline void must_say(GError *error, int code, const char *message)
{
    assert_non_null(error);
    if (strstr(error->message, message) == NULL)
        fail_msg("no '%s' in: %s", message, error->message);
    assert_int_equal(xlm_error_exit_code(error), code);
    g_error_free(error);
}

static void write_numbers(xlm_store *store, const char *path, xlm_type type, uint64_t rows, int columns,
                          const void *data)
{
    GError *error = NULL;
    const uint64_t dims[2] = {rows, (uint64_t)columns};
    must(xlm_store_dataset(store, path, type, columns > 1 ? 2 : 1, dims, XLM_STORE_CHECKED, &error), error);
    must(xlm_store_write(store, path, 0, rows, data, &error), error);
}

static void write_vocabulary(xlm_store *store, const xlm_special_tokens *specials)
{
    xlm_word_counts *subwords = xlm_word_counts_new();
    for (int i = 0; i < SUBWORDS; i++) {
        char word[16];
        const int size = g_snprintf(word, sizeof word, "w%04d", i);
        xlm_word_counts_add(subwords, word, (size_t)size, 2 * SUBWORDS - i);
    }
    xlm_word_counts_sort(subwords);
    GError *error = NULL;
    static const char codes[] = "w 0 1\n";
    xlm_segmenter *segmenter = xlm_segmenter_parse(&xlm_segmenter_bpe, "codes", codes, strlen(codes), &error);
    must(segmenter != NULL, error);
    const xlm_vocabulary_settings settings = {.specials = specials, .words = XLM_WORDS_SPACE, .languages = LANGUAGES,
                                              .language_names = languages};
    xlm_vocabulary *vocabulary = xlm_vocabulary_new(subwords, segmenter, &settings, &error);
    must(vocabulary != NULL, error);
    must(xlm_vocabulary_save(vocabulary, store, "/vocabulary", 0, &error), error);
    xlm_vocabulary_free(vocabulary);
    xlm_word_counts_free(subwords);
}

static void write_text(xlm_store *store, const char *split, int language, const split_text *text,
                       int32_t (*token)(int, int64_t), const xlm_special_tokens *specials)
{
    char *group = g_strdup_printf("/%s/text/%s", split, languages[language]);
    char *offsets_path = g_strconcat(group, "/offsets", NULL), *tokens_path = g_strconcat(group, "/tokens", NULL);
    uint64_t *offsets = g_new0(uint64_t, text->sentences + 1);
    for (int64_t i = 0; i < text->sentences; i++)
        offsets[i + 1] = offsets[i] + (uint64_t)text->lengths[i];
    const uint64_t n = offsets[text->sentences];
    uint16_t *tokens = g_new(uint16_t, n + 1);
    for (uint64_t i = 0; i < n; i++)
        tokens[i] = (uint16_t)id_in(specials, token(language, (int64_t)i));
    write_numbers(store, offsets_path, XLM_U64, (uint64_t)text->sentences + 1, 1, offsets);
    write_numbers(store, tokens_path, XLM_U16, n, 1, tokens);
    GError *error = NULL;
    must(xlm_store_set_text(store, group, "language", languages[language], &error) &&
         xlm_store_set_int(store, group, "language_id", language, &error) &&
         xlm_store_set_int(store, group, "sentences", text->sentences, &error) &&
         xlm_store_set_int(store, group, "monolingual_sentences", text->monolingual, &error), error);
    g_free(tokens);
    g_free(offsets);
    g_free(tokens_path);
    g_free(offsets_path);
    g_free(group);
}

static void write_pairs(xlm_store *store, const char *split, const split_pairs *pairs)
{
    const char *source = languages[pairs->source], *target = languages[pairs->target];
    char *group = g_strdup_printf("/%s/parallel/%s-%s", split, source, target);
    char *path = g_strconcat(group, "/links", NULL);
    write_numbers(store, path, XLM_I64, (uint64_t)pairs->pairs, 2, pairs->links);
    GError *error = NULL;
    must(xlm_store_set_text(store, group, "source", source, &error) &&
         xlm_store_set_text(store, group, "target", target, &error) &&
         xlm_store_set_int(store, group, "pairs", pairs->pairs, &error), error);
    g_free(path);
    g_free(group);
}

/* Write the corpus into a new directory of its own. g_free; remove_corpus. */
static char *write_corpus(const corpus_plan *plan)
{
    static const char *const splits[2] = {[XLM_TRAIN] = "train", [XLM_HELD_OUT] = "held_out"};
    char *directory = g_dir_make_tmp("xlm-corpus-XXXXXX", NULL), *path = g_build_filename(directory, "c.h5", NULL);
    GError *error = NULL;
    xlm_store *store = xlm_store_create(NULL, path, &error);
    must(store != NULL, error);
    must(xlm_store_set_text(store, "/", "format", XLM_CORPUS_FORMAT, &error) &&
         xlm_store_set_int(store, "/", "format_version", XLM_CORPUS_VERSION, &error), error);
    write_vocabulary(store, plan->specials);
    for (int split = 0; split < 2; split++) {
        for (int i = 0; i < LANGUAGES; i++)
            if (plan->text[split][i].sentences > 0)
                write_text(store, splits[split], i, &plan->text[split][i],
                           plan->token != NULL ? plan->token : token_at, plan->specials);
        for (int i = 0; i < MAX_PAIRS; i++)
            if (plan->pairs[split][i].pairs > 0)
                write_pairs(store, splits[split], &plan->pairs[split][i]);
    }
    must(xlm_store_commit(store, &error), error);
    g_free(directory);
    return path;
}

static void remove_corpus(char *path)
{
    char *directory = g_path_get_dirname(path);
    g_unlink(path);
    g_rmdir(directory);
    g_free(directory);
    g_free(path);
}

/* The corpus as it is opened; its file is gone at once. */
static inline xlm_corpus *make_corpus(const corpus_plan *plan)
{
    char *path = write_corpus(plan);
    GError *error = NULL;
    xlm_corpus *corpus = xlm_corpus_open(path, &error);
    must(corpus != NULL, error);
    remove_corpus(path);
    return corpus;
}

#endif
