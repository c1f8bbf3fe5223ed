/* xlm-mpi: the prepared corpus, one HDF5 file. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Layout of corpus.h5 (S sentences, N tokens, P pairs; `split` is `train` or `held_out`):
 *
 *   /                               format = "xlm-mpi corpus", format_version, program_version, command, seed,
 *                                   held_out_share
 *   /inputs                         [n] strings: path, bytes, lines and SHA-256 of every file that the corpus was made from
 *   /filter                         only with rules of prep/filter_options.h: rules [K] and sources [n], strings;
 *                                   left_out [n x K] i64: how many sentences or pairs; scripts, strings: of languages
 *   /languages, /vocabulary/...     languages, subwords, counts, segmenter (subwords/vocabulary.h)
 *   /<split>/text/<lang>/tokens     [N] u16 (u32 when the vocabulary has more than 65,536 subwords), without special tokens
 *   /<split>/text/<lang>/offsets    [S+1] u64; sentence i is tokens[offsets[i] .. offsets[i+1])
 *       attributes of the group:    language, language_id, sentences, monolingual_sentences
 *   /<split>/parallel/<a>-<b>/links [P x 2] i64: sentence of <a>, sentence of <b> that are translations
 *       attributes of the group:    source, target, pairs
 *
 * A synthetic language (synthetic/language.h) has only monolingual text: that of its base, sentence by sentence, in the same
 * order and in the same split. The pair <base>-<made> links sentence i of one with sentence i of the other. How the language was
 * made, and the twins of subwords that are its dictionary, are stored with the vocabulary.
 *
 * The first `monolingual_sentences` sentences of a language are its monolingual text; those after them are only in parallel text.
 * Every split has a group for every language and every pair; readers skip those without sentences. A pair of languages has its
 * name in the order in which the languages were given. */
#ifndef XLM_CORPUS_CORPUS_H
#define XLM_CORPUS_CORPUS_H

#include "store/store.h"
#include "subwords/vocabulary.h"

#define XLM_CORPUS_FORMAT "xlm-mpi corpus"
enum { XLM_CORPUS_VERSION = 1 };

typedef struct xlm_corpus xlm_corpus;

/* Text of one language in one split. */
typedef struct xlm_corpus_text {
    const char *language;
    int language_id;
    int64_t sentences, monolingual_sentences, tokens;
    const char *tokens_path, *offsets_path; /* of the datasets in the file */
} xlm_corpus_text;

/* The pairs of sentences of two languages in one split. */
typedef struct xlm_corpus_pairs {
    const char *name; /* "de-en" */
    const xlm_corpus_text *source, *target;
    int64_t pairs;
    const char *links_path;
} xlm_corpus_pairs;

typedef enum { XLM_TRAIN, XLM_HELD_OUT } xlm_split;
/* "train" or "held_out", as in files. */
const char *xlm_split_name(xlm_split split);
/* False when there is no split of this name; users may also write "held-out". */
bool xlm_split_find(const char *name, xlm_split *split);

/* Open a corpus for reading; not collective. The file may be untrusted. Header, vocabulary, shapes, and that offsets end where
 * tokens do, are checked here. Numbers are checked when they are read, so that a large corpus is not read at every start: that no
 * offset is greater than the next one, that each id is in the vocabulary, and that each link leads to a sentence. EX_NOINPUT,
 * EX_DATAERR. */
xlm_corpus *xlm_corpus_open(const char *path, GError **error);
void xlm_corpus_close(xlm_corpus *corpus);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xlm_corpus, xlm_corpus_close)
/* xlm_store_check_unchanged() for its file. */
bool xlm_corpus_check_unchanged(const xlm_corpus *corpus, GError **error);

const char *xlm_corpus_path(const xlm_corpus *corpus);
const xlm_vocabulary *xlm_corpus_vocabulary(const xlm_corpus *corpus);
/* A digest of vocabulary and languages. A checkpoint fits only corpora that have the same digest. */
uint64_t xlm_corpus_digest(const xlm_corpus *corpus);
/* The same for a vocabulary that is not from a corpus. */
uint64_t xlm_corpus_digest_of(const xlm_vocabulary *vocabulary);

/* NULL when the split has no such language or pair. The name of a pair may be given in either order. [out] swapped: the file has
 * it the other way round; may be NULL. */
const xlm_corpus_text *xlm_corpus_find_text(const xlm_corpus *corpus, xlm_split split, const char *language);
const xlm_corpus_pairs *xlm_corpus_find_pairs(const xlm_corpus *corpus, xlm_split split, const char *name, bool *swapped);
/* All texts, and all pairs of languages, of a split. [out] n: their number. */
const xlm_corpus_text *xlm_corpus_texts(const xlm_corpus *corpus, xlm_split split, int *n);
const xlm_corpus_pairs *xlm_corpus_all_pairs(const xlm_corpus *corpus, xlm_split split, int *n);

/* Read offsets [first, first + n) of a text. */
bool xlm_corpus_read_offsets(const xlm_corpus *corpus, const xlm_corpus_text *text, int64_t first, int64_t n,
                             uint64_t *offsets, GError **error);
/* Read tokens [first, first + n) of a text as 32-bit ids. */
bool xlm_corpus_read_tokens(const xlm_corpus *corpus, const xlm_corpus_text *text, int64_t first, int64_t n,
                            int32_t *ids, GError **error);
/* Read the links of pairs [first, first + n). [out] links: [n x 2]. */
bool xlm_corpus_read_links(const xlm_corpus *corpus, const xlm_corpus_pairs *pairs, int64_t first, int64_t n,
                           int64_t *links, GError **error);
/* Find n sentences, in any order. Offsets of sentences that are near one another are read together. [in] sentences: [2n − 1], of
 * which every second number is used, the first, the third and so on: a column of the links of xlm_corpus_read_links. [out]
 * starts, tokens: [n] the first token of each sentence, and the number of its tokens. */
bool xlm_corpus_sentence_offsets(const xlm_corpus *corpus, const xlm_corpus_text *text, int64_t n, const int64_t *sentences,
                          int64_t *starts, int64_t *tokens, GError **error);

#endif
