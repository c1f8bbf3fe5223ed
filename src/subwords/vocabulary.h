/* xlm-mpi: the subword vocabulary and all it takes to turn text into ids. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ids are, in vocabularies of our own, 0 to 4 for the special tokens, then subwords by falling count, ties by bytes; or, where
 * the vocabulary was made like another one (xlm_prep --like), in the order of that one, with what was added after. In others
 * the special tokens may have any ids, and the subwords have those between in their order; so ask xlm_vocabulary_special and
 * xlm_vocabulary_is_special. With the subwords go their segmenter (subwords/segmenter.h), how lines are split into words, whether
 * they are lower-cased, and the names of the languages: a tokenizer (subwords/tokenizer.h) needs nothing else, so a corpus file or a
 * checkpoint is enough to encode a user's sentence.
 *
 * In a file (`path` is "/vocabulary" in corpora and checkpoints, languages lie beside it):
 *   /vocabulary               attributes: format_version, words = "icu" | "space", lowercase = 0 | 1, specials (how many of
 *                             the words are special), and the ids of these: bos, pad, eos, unk, mask (0 to 4 when there are
 *                             no such attributes); normalisation; segmenter: its name (subwords/segmenter.h)
 *   /vocabulary/words         [V] strings; index = id; with the marks of the segmenter
 *   /vocabulary/counts        [V] i64: count of each in the text the vocabulary was made of, 0 for the special ones
 *   /vocabulary/...           what the segmenter has learned: its own members and attributes, see its class
 *   /vocabulary/made/<lang>   a language made of another one (synthetic/language.h); attributes: base, steps, shared, seed, and
 *                             weights when it has a syntax
 *   /vocabulary/made/<lang>/twins   [n x 2] i32: id of a subword, id of its twin in the synthetic language
 *   /languages                [n] strings; index = language id
 *
 * A synthetic language may write its base's subwords in letters of its own: each but those that both languages share has a
 * twin, an entry after all subwords of text. `house@@` of language xx is spelled `xx:house@@`; its count is its
 * original's. Twins do not come from text, so neither the segmenter nor vocabulary files know them: text of a synthetic
 * language is segmented in its base's letters, and each id is exchanged for its twin (xlm_vocabulary_twins). */
#ifndef XLM_SUBWORDS_VOCABULARY_H
#define XLM_SUBWORDS_VOCABULARY_H

#include <xlm/special_tokens.h>

#include "store/store.h"
#include "subwords/segmenter.h"
#include "subwords/special_tokens.h"
#include "text/words.h"

typedef struct xlm_vocabulary xlm_vocabulary; /* does not change once made: any number of threads may use it */

/* A language made of another one. */
typedef struct xlm_vocabulary_made {
    int language, base; /* ids of languages */
    const char *steps;  /* how it is made, as in synthetic/language.h: "invert,transliterate" */
    double shared;      /* share of the subwords that have no twin; of no meaning when none is to have one */
    int64_t seed;
    const char *weights; /* files of the syntax and their digests, "" for none */
    int32_t twins;       /* how many subwords have a twin */
    const int32_t *originals; /* [twins] their ids, ascending */
} xlm_vocabulary_made;

/* What there is besides subwords and their segmenter. */
typedef struct xlm_vocabulary_settings {
    bool in_order; /* subwords have their ids in the order in which they are given, not by falling count */
    const xlm_special_tokens *specials; /* NULL: xlm_own_special_tokens */
    const char *const *special_names;   /* [XLM_SPECIAL_TOKENS] NULL: "<s>", ... */
    xlm_word_mode words;
    bool lowercase;
    int languages;
    const char *const *language_names; /* [languages] */
    int made_languages;
    const xlm_vocabulary_made *made; /* [made_languages] */
} xlm_vocabulary_settings;

/* The subwords to take for a text whose words these are, with their counts, sorted: all subwords that the segmenter makes
 * of them, without those of a count below min_count, and of the rest the first max_subwords (0: all). Counts are of
 * the text as it will be encoded, in which subwords that were left out are taken apart into smaller ones. */
xlm_word_counts *xlm_vocabulary_choose(const xlm_segmenter *segmenter, const xlm_word_counts *words, int64_t min_count,
                                       int64_t max_subwords);

/* [in] subwords: with counts, in any order (see settings->in_order), for example from xlm_vocabulary_choose or
 * xlm_word_counts_read; copied. A subword that is spelled like a special token is still a subword, with an id of its own. Takes
 * over the reference to the segmenter, which it gives back when it fails. Copies settings. Twins get ids after all subwords,
 * synthetic language by synthetic language. Errors (EX_DATAERR): more subwords than ids below 2^31 - 1; a special token after
 * the last id; a subword or a text of the segmenter that is not UTF-8; a subword that is spelled like a twin. */
xlm_vocabulary *xlm_vocabulary_new(const xlm_word_counts *subwords, xlm_segmenter *segmenter,
                                   const xlm_vocabulary_settings *settings, GError **error);
/* NULL is allowed. */
void xlm_vocabulary_free(xlm_vocabulary *vocabulary);

/* Write into a file; collective over the ranks of the store, each with the same vocabulary. path: of the group,
 * "/vocabulary". rank: of this process among those of the store (0 when it is alone). */
bool xlm_vocabulary_save(const xlm_vocabulary *vocabulary, xlm_store *store, const char *path, int rank,
                         GError **error);
/* Read what xlm_vocabulary_save wrote; not collective. EX_DATAERR, with the file, for anything that is not. */
xlm_vocabulary *xlm_vocabulary_load(const xlm_store *store, const char *path, GError **error);

/* Can a language be called so? Names are those of groups in files and parts of "a-b": letters, digits, '_' and '.', which is not
 * the first. */
bool xlm_is_language_name(const char *name);

/* Special tokens, subwords and twins together. */
int64_t xlm_vocabulary_size(const xlm_vocabulary *vocabulary);
const char *const *xlm_vocabulary_words(const xlm_vocabulary *vocabulary); /* [size] UTF-8, by id, then NULL */
const int64_t *xlm_vocabulary_counts(const xlm_vocabulary *vocabulary);    /* [size] */
int xlm_vocabulary_languages(const xlm_vocabulary *vocabulary);
const char *const *xlm_vocabulary_language_names(const xlm_vocabulary *vocabulary); /* [languages], then NULL */
/* Id of a language, -1 when there is none of this name. */
int xlm_vocabulary_find_language(const xlm_vocabulary *vocabulary, const char *name);
xlm_word_mode xlm_vocabulary_word_mode(const xlm_vocabulary *vocabulary);
bool xlm_vocabulary_lowercase(const xlm_vocabulary *vocabulary);
const xlm_segmenter *xlm_vocabulary_segmenter(const xlm_vocabulary *vocabulary);
/* The subwords without the special tokens, by id: subword i has the id xlm_ordinary_id(xlm_vocabulary_specials(v), i). */
const xlm_word_counts *xlm_vocabulary_subwords(const xlm_vocabulary *vocabulary);
/* The special tokens: all of them, valid as long as the vocabulary; the id of one; is this id one of theirs? */
const xlm_special_tokens *xlm_vocabulary_specials(const xlm_vocabulary *vocabulary);
int32_t xlm_vocabulary_special(const xlm_vocabulary *vocabulary, xlm_special special);
bool xlm_vocabulary_is_special(const xlm_vocabulary *vocabulary, int32_t id);

/* The synthetic languages, in the order of the settings. */
const xlm_vocabulary_made *xlm_vocabulary_made_languages(const xlm_vocabulary *vocabulary, int *n);
/* What the ids of text become in a language: [size], by id; NULL when they stay as they are, because the language is
 * not made or keeps the letters of its base. Ids that have no twin (special tokens, shared subwords, twins) are their own. */
const int32_t *xlm_vocabulary_twins(const xlm_vocabulary *vocabulary, int language);
/* The language that a language's words are segmented as: a synthetic language's base, or itself. */
int xlm_vocabulary_base_language(const xlm_vocabulary *vocabulary, int language);

/* Id of a subword as it is in segmented text ("lo@@") or of a twin ("xx:lo@@"), that of XLM_UNK when there is none. Never
 * a special token. */
int32_t xlm_vocabulary_find(const xlm_vocabulary *vocabulary, const char *subword, size_t size);
/* Are `id` and `next`, which follows it, of one word? Never where one is special, or no id. */
bool xlm_vocabulary_joins(const xlm_vocabulary *vocabulary, int32_t id, int32_t next);

/* A number that is the same for equal subwords, counts, segmenters, word mode, case and twins (languages do not
 * matter). */
uint64_t xlm_vocabulary_digest(const xlm_vocabulary *vocabulary);

/* Append the text of ids[n]: subwords of a word joined, words and special tokens (by their names) between single
 * spaces. A word of twins has the name of its language once: "xx:low". */
void xlm_vocabulary_decode(const xlm_vocabulary *vocabulary, const int32_t *ids, size_t n, GString *out);

#endif
