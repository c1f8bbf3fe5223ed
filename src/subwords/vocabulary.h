/* xlm-mpi: the subword vocabulary and all it takes to turn text into ids. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * In our own vocabularies, ids 0 to 4 are special tokens, followed by subwords by falling count, ties by bytes; or, if the
 * vocabulary was made like another one (xlm_prep --like), in the order of that one, and then the added subwords. In other
 * vocabularies the special tokens may have any ids, and the subwords have the remaining ids in their order; so use
 * xlm_vocabulary_special and xlm_vocabulary_is_special. The vocabulary also has its segmenter (subwords/segmenter.h), how lines
 * are split into words, whether they are lower-cased, and the names of the languages. A tokenizer (subwords/tokenizer.h) needs
 * nothing else, so a corpus file or a checkpoint is enough to encode a user's sentence.
 *
 * In a file (`path` is "/vocabulary" in corpora and checkpoints; languages are beside it):
 *   /vocabulary               attributes: format_version, words = "icu" | "space", lowercase = 0 | 1, specials (how many of
 *                             the words are special), and the ids of these: bos, pad, eos, unk, mask (0 to 4 when there are
 *                             no such attributes); normalisation; segmenter: its name (subwords/segmenter.h)
 *                             language_form, if languages have tokens: their form, "__*__"
 *   /vocabulary/words         [V] strings; index = id; with the marks of the segmenter
 *   /vocabulary/counts        [V] i64: count of each in the text the vocabulary was made of, 0 for the special ones
 *   /vocabulary/...           what the segmenter has learned: its own members and attributes, see its class
 *   /vocabulary/second/...    the same of another segmenter of the class, which cuts text of the language whose id is the attribute
 *                             second_language of /vocabulary (Marian's models have one for each side)
 *   /vocabulary/made/<lang>   a language made of another one (synthetic/language.h); attributes: base, steps, shared, seed, and
 *                             weights when it has a syntax
 *   /vocabulary/made/<lang>/twins   [n x 2] i32: id of a subword, id of its twin in the synthetic language
 *   /languages                [n] strings; index = language id
 *
 * A synthetic language may write the subwords of its base in its own letters: each subword that the two languages do not share
 * has a twin, an entry after all subwords of text. `house@@` of language xx is spelled `xx:house@@`; its count is its original's.
 * Twins do not come from text, so neither the segmenter nor vocabulary files know them: text of a synthetic language is segmented
 * in its base's letters, and each id is exchanged for its twin (xlm_vocabulary_twins). */
#ifndef XLM_SUBWORDS_VOCABULARY_H
#define XLM_SUBWORDS_VOCABULARY_H

#include <xlm/special_tokens.h>

#include "store/store.h"
#include "subwords/segmenter.h"
#include "subwords/special_tokens.h"
#include "text/words.h"

typedef struct xlm_vocabulary xlm_vocabulary; /* never changes after it was made, so any number of threads may use it */

/* A language made of another one. */
typedef struct xlm_vocabulary_made {
    int language, base; /* ids of languages */
    const char *steps;  /* the steps that make it, as in synthetic/language.h: "invert,transliterate" */
    double shared;      /* share of the subwords that have no twin; meaningless if the language has no twins */
    int64_t seed;
    const char *weights; /* files of the syntax and their digests, "" for none */
    int32_t twins;       /* number of subwords that have a twin */
    const int32_t *originals; /* [twins] their ids, ascending */
} xlm_vocabulary_made;
/* Free the array and what its elements point to. */
void xlm_vocabulary_made_free(xlm_vocabulary_made *made, int n);

/* Everything in a vocabulary besides subwords and their segmenter. */
typedef struct xlm_vocabulary_settings {
    bool in_order; /* subwords get ids in the given order, not by falling count */
    const xlm_special_tokens *specials; /* NULL: xlm_own_special_tokens */
    const char *const *special_names;   /* [XLM_SPECIAL_TOKENS] NULL: "<s>", ... */
    xlm_word_mode words;
    bool lowercase;
    int languages;
    const char *const *language_names; /* [languages] */
    int made_languages;
    const xlm_vocabulary_made *made; /* [made_languages] */
    const xlm_segmenter *second; /* of the same class, which cuts text of one language; NULL: `segmenter` cuts all. Borrowed */
    int second_language;         /* id of that language */
    const char *language_form; /* form of the tokens of languages: "__*__" makes __de__ that of de; with "*", languages are called
                                * as in NLLB, deu_Latn; NULL: there are none */
} xlm_vocabulary_settings;

/* Choose the subwords for a text. [in, out] counted: all subwords that the segmenter makes of the text, sorted by count; only the
 * first max_subwords (0: all) with a count of at least min_count are kept. Were any left out? Then those that are kept must be
 * counted and sorted again, because subwords that are left out are split into smaller ones. */
bool xlm_vocabulary_cut(xlm_word_counts *counted, int64_t min_count, int64_t max_subwords);

/* [in] subwords: with counts, in any order (see settings->in_order), for example from xlm_vocabulary_cut or
 * xlm_word_counts_read; copied. A subword that is spelled like a special token is still a subword with its own id. Takes
 * ownership of the reference to the segmenter, and drops it on failure. Copies settings. Twins get ids after all subwords,
 * synthetic language by synthetic language. Errors (EX_DATAERR): more subwords than ids below 2^31 - 1; a special token after the
 * last id; a subword or a text of the segmenter that is not UTF-8; a subword that is spelled like a twin; no token of
 * a language among the subwords, if languages have tokens. */
xlm_vocabulary *xlm_vocabulary_new(const xlm_word_counts *subwords, xlm_segmenter *segmenter,
                                   const xlm_vocabulary_settings *settings, GError **error);
/* Settings for a vocabulary like this one, whose subwords are in their order, without synthetic languages. What they point to is
 * borrowed. [out] names: of the special tokens. */
xlm_vocabulary_settings xlm_vocabulary_settings_of(const xlm_vocabulary *vocabulary, const char *names[XLM_SPECIAL_TOKENS]);
/* NULL is allowed. */
void xlm_vocabulary_free(xlm_vocabulary *vocabulary);

/* Write into a file; collective over the ranks of the store, each with the same vocabulary. path: of the group,
 * "/vocabulary". rank: of this process among those of the store (0 when it is alone). */
bool xlm_vocabulary_save(const xlm_vocabulary *vocabulary, xlm_store *store, const char *path, int rank,
                         GError **error);
/* Read what xlm_vocabulary_save wrote; not collective. EX_DATAERR, with the file, for anything else. */
xlm_vocabulary *xlm_vocabulary_load(const xlm_store *store, const char *path, GError **error);

/* Is it a valid name of a language? Names are used for groups in files and in "a-b", so they consist of letters, digits, '_' and
 * '.', and do not begin with '.'. */
bool xlm_is_language_name(const char *name);

/* Special tokens, subwords and twins together. */
int64_t xlm_vocabulary_size(const xlm_vocabulary *vocabulary);
const char *const *xlm_vocabulary_words(const xlm_vocabulary *vocabulary); /* [size] UTF-8, by id, then NULL */
const int64_t *xlm_vocabulary_counts(const xlm_vocabulary *vocabulary);    /* [size] */
int xlm_vocabulary_languages(const xlm_vocabulary *vocabulary);
const char *const *xlm_vocabulary_language_names(const xlm_vocabulary *vocabulary); /* [languages], then NULL */
/* Id of a language, -1 when there is none of this name. */
int xlm_vocabulary_find_language(const xlm_vocabulary *vocabulary, const char *name);
/* The form of the tokens of languages (xlm_vocabulary_settings); NULL: there are none. The token of a language: xlm_language_token
 * with xlm_vocabulary_specials. */
const char *xlm_vocabulary_language_form(const xlm_vocabulary *vocabulary);
xlm_word_mode xlm_vocabulary_word_mode(const xlm_vocabulary *vocabulary);
bool xlm_vocabulary_lowercase(const xlm_vocabulary *vocabulary);
const xlm_segmenter *xlm_vocabulary_segmenter(const xlm_vocabulary *vocabulary);
/* The segmenter of one language alone, and the id of that language; NULL: xlm_vocabulary_segmenter is that of all. Marks of
 * subwords mean the same for both. */
const xlm_segmenter *xlm_vocabulary_second_segmenter(const xlm_vocabulary *vocabulary, int *language);
/* The subwords without the special tokens, by id: subword i has the id xlm_ordinary_id(xlm_vocabulary_specials(v), i). */
const xlm_word_counts *xlm_vocabulary_subwords(const xlm_vocabulary *vocabulary);
/* All special tokens, valid as long as the vocabulary; the id of one; does this id belong to one? */
const xlm_special_tokens *xlm_vocabulary_specials(const xlm_vocabulary *vocabulary);
int32_t xlm_vocabulary_special(const xlm_vocabulary *vocabulary, xlm_special special);
bool xlm_vocabulary_is_special(const xlm_vocabulary *vocabulary, int32_t id);

/* The synthetic languages, in the order of the settings. */
const xlm_vocabulary_made *xlm_vocabulary_made_languages(const xlm_vocabulary *vocabulary, int *n);
/* How a synthetic language was made; NULL: the language is none. */
const xlm_vocabulary_made *xlm_vocabulary_find_made(const xlm_vocabulary *vocabulary, int language);
/* The ids that replace ids of text in a language: [size], by id. NULL if they do not change, because the language is not
 * synthetic or keeps the letters of its base. Ids without a twin (special tokens, shared subwords, twins) map to themselves. */
const int32_t *xlm_vocabulary_twins(const xlm_vocabulary *vocabulary, int language);
/* The language whose words a language's words are segmented like: the base of a synthetic language, or itself. */
int xlm_vocabulary_base_language(const xlm_vocabulary *vocabulary, int language);

/* The name of a row of a published model's word embeddings that no token has, by its id then; is a subword called so? */
#define XLM_ROW_NAME "[row %" G_GINT64_FORMAT "]"
bool xlm_is_row_name(const char *subword);

/* The id of a subword as in segmented text ("lo@@") or of a twin ("xx:lo@@"); that of XLM_UNK if there is none. Never another
 * special token. */
int32_t xlm_vocabulary_find(const xlm_vocabulary *vocabulary, const char *subword, size_t size);
/* Do `id` and `next`, which follows it, belong to one word? False if one of them is special or not an id. The token of a language
 * belongs to the first word of its text. */
bool xlm_vocabulary_joins(const xlm_vocabulary *vocabulary, int32_t id, int32_t next);
/* What the marks of a subword mean, of a twin those of its subword; a special token is a word. */
xlm_word_mark xlm_vocabulary_marks(const xlm_vocabulary *vocabulary, int32_t id);

/* A digest of the subwords, counts, segmenter, word mode, case, twins, and of special tokens with other ids than our own (not of
 * the languages). */
uint64_t xlm_vocabulary_digest(const xlm_vocabulary *vocabulary);
/* The same without the counts, which are other ones in the vocabulary of other text: what ids and their splitting rest on. */
uint64_t xlm_vocabulary_subwords_digest(const xlm_vocabulary *vocabulary);

/* Append the text of ids[n]: subwords of a word joined, words and special tokens (by their names) between single
 * spaces, and without tokens of languages. A word of twins has the name of its language once: "xx:low". */
void xlm_vocabulary_decode(const xlm_vocabulary *vocabulary, const int32_t *ids, size_t n, GString *out);

#endif
