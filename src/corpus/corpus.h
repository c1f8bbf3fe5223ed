/* xlm-mpi: the corpus that programs read: one corpus file, or several as one. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files of one corpus, "a.h5,b.h5", have the same subwords (xlm_prep --like). They are read as if one corpus had been prepared
 * from their texts, those of a.h5 first. A language has its text in all files: the monolingual sentences of the first file, of
 * the second, and so on, then the sentences that are only in parallel text, likewise; links of pairs, in the order of the files
 * too, lead to the sentences as they are numbered so. Languages and pairs are matched by their names; one that only some of the
 * files have is that of these files. The languages of the first file come first; a pair is in the order of the first file that
 * has it. Counts of subwords are added.
 *
 * corpus/corpus_file.h describes a file. */
#ifndef XLM_CORPUS_CORPUS_H
#define XLM_CORPUS_CORPUS_H

#include "corpus/corpus_file.h"

typedef struct xlm_corpus xlm_corpus;

/* Text of one language in one split. */
typedef struct xlm_corpus_text {
    const char *language;
    int language_id;
    int64_t sentences, monolingual_sentences, tokens;
    const struct xlm_text_piece *pieces; /* [piece_count] where it is in the files */
    int piece_count;
} xlm_corpus_text;

/* The pairs of sentences of two languages in one split. */
typedef struct xlm_corpus_pairs {
    const char *name; /* "de-en" */
    const xlm_corpus_text *source, *target;
    int64_t pairs;
    const struct xlm_pairs_piece *pieces; /* [piece_count] where they are in the files */
    int piece_count;
} xlm_corpus_pairs;

/* Open a corpus for reading; not collective. path: a file, or several between commas; so names of files have no commas. The files
 * may be untrusted: xlm_corpus_file_open says what is checked. A warning when they hold out sentences by different rules.
 * EX_USAGE when a name is empty or given twice; EX_NOINPUT; EX_DATAERR, also when a file has other subwords than the first. */
xlm_corpus *xlm_corpus_open(const char *path, GError **error);
void xlm_corpus_close(xlm_corpus *corpus);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xlm_corpus, xlm_corpus_close)
/* Is it the path of a corpus, or of several: is the first file an HDF5 file? */
bool xlm_corpus_is_named(const char *path);
/* xlm_store_check_unchanged() for its files. */
bool xlm_corpus_check_unchanged(const xlm_corpus *corpus, GError **error);

/* As given to xlm_corpus_open. */
const char *xlm_corpus_path(const xlm_corpus *corpus);
const xlm_vocabulary *xlm_corpus_vocabulary(const xlm_corpus *corpus);
/* A digest of vocabulary, with its counts, and languages. A checkpoint fits only corpora that have the same digest. */
uint64_t xlm_corpus_digest(const xlm_corpus *corpus);
/* The same for a vocabulary that is not from a corpus. */
uint64_t xlm_corpus_digest_of(const xlm_vocabulary *vocabulary);
/* The same without the counts: what is made of ids fits every corpus of these subwords and languages (xlm_prep --like). */
uint64_t xlm_corpus_subwords_digest_of(const xlm_vocabulary *vocabulary);
/* A digest of the text: numbers of sentences, tokens and pairs, and some of the tokens and links of each. The same whether the
 * text is in one file or in several; another when the same files are in another order. Reads some hundred numbers of each
 * language and pair. */
bool xlm_corpus_text_digest(const xlm_corpus *corpus, uint64_t *digest, GError **error);
/* A digest of all that is known of an open corpus: vocabulary, with its counts, languages, and numbers of sentences, tokens and
 * pairs. Reads nothing. */
uint64_t xlm_corpus_sizes_digest(const xlm_corpus *corpus);

/* NULL when the split has no such language or pair. The name of a pair may be given in either order. [out] swapped: the corpus
 * has it the other way round; may be NULL. */
const xlm_corpus_text *xlm_corpus_find_text(const xlm_corpus *corpus, xlm_split split, const char *language);
const xlm_corpus_pairs *xlm_corpus_find_pairs(const xlm_corpus *corpus, xlm_split split, const char *name, bool *swapped);
/* All texts, in the order of their languages, and all pairs of languages, by name, of a split. [out] n: their number. */
const xlm_corpus_text *xlm_corpus_texts(const xlm_corpus *corpus, xlm_split split, int *n);
const xlm_corpus_pairs *xlm_corpus_all_pairs(const xlm_corpus *corpus, xlm_split split, int *n);

/* Read offsets [first, first + n) of a text. */
bool xlm_corpus_read_offsets(const xlm_corpus_text *text, int64_t first, int64_t n, uint64_t *offsets, GError **error);
/* Read tokens [first, first + n) of a text as 32-bit ids. */
bool xlm_corpus_read_tokens(const xlm_corpus_text *text, int64_t first, int64_t n, int32_t *ids, GError **error);
/* Tokens that those who go through a text read at a time; the sentences are then fewer, but at least one. */
enum { XLM_CORPUS_TOKENS_AT_ONCE = 4 << 20 };
/* Can an array hold the tokens of the sentence, or of it and the next ones? EX_DATAERR if not, which names it. */
bool xlm_corpus_fits(const xlm_corpus *corpus, const xlm_corpus_text *text, int64_t sentence, int64_t tokens, GError **error);
/* Append the tokens of one sentence to ids, a GArray of int32_t. EX_DATAERR, also as xlm_corpus_fits for all of the array. */
bool xlm_corpus_read_sentence(const xlm_corpus *corpus, const xlm_corpus_text *text, int64_t sentence, GArray *ids, GError **error);
/* Read the links of pairs [first, first + n). [out] links: [n x 2]. */
bool xlm_corpus_read_links(const xlm_corpus *corpus, const xlm_corpus_pairs *pairs, int64_t first, int64_t n,
                           int64_t *links, GError **error);
/* Find n sentences, in any order. Offsets of sentences that are near one another are read together. [in] sentences: [2n − 1], of
 * which every second number is used, the first, the third and so on: a column of the links of xlm_corpus_read_links. [out]
 * starts, tokens: [n] the first token of each sentence, and the number of its tokens. */
bool xlm_corpus_sentence_offsets(const xlm_corpus_text *text, int64_t n, const int64_t *sentences, int64_t *starts, int64_t *tokens,
                                 GError **error);

#endif
