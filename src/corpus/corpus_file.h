/* xlm-mpi: one corpus file, for reading. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Layout of corpus.h5 (S sentences, N tokens, P pairs; `split` is `train` or `held_out`):
 *
 *   /                               format = "xlm-mpi corpus", format_version, program_version, command, seed,
 *                                   held_out_share
 *   /inputs                         [n] strings: path, bytes, lines and SHA-256 of every file that the corpus was made from
 *   /filter                         only with rules of prep/filter_options.h: rules [K] and sources [n], strings;
 *                                   left_out [n x K] i64: how many sentences or pairs; scripts, strings: of languages
 *   /assigned                       held_out, left_out: [n] u64, digests (prep/split.h) of sentences that pairs have put there, for
 *                                   xlm_prep --append
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
 * name in the order in which the languages were given.
 *
 * Programs read corpora by corpus/corpus.h, which joins several files. */
#ifndef XLM_CORPUS_CORPUS_FILE_H
#define XLM_CORPUS_CORPUS_FILE_H

#include "store/store.h"
#include "subwords/vocabulary.h"

#define XLM_CORPUS_FORMAT "xlm-mpi corpus"
enum { XLM_CORPUS_VERSION = 1 };

typedef enum { XLM_TRAIN, XLM_HELD_OUT } xlm_split;
enum { XLM_SPLITS = 2 };
/* "train" or "held_out", as in files. */
const char *xlm_split_name(xlm_split split);
/* False when there is no split of this name; users may also write "held-out". */
bool xlm_split_find(const char *name, xlm_split *split);

/* Text of one language in one split of the file. */
typedef struct xlm_file_text {
    const char *language;
    int64_t sentences, monolingual_sentences, tokens;
    const char *tokens_path, *offsets_path; /* of the datasets */
} xlm_file_text;

/* The pairs of sentences of two languages in one split of the file. */
typedef struct xlm_file_pairs {
    const char *name; /* "de-en" */
    const xlm_file_text *source, *target;
    int64_t pairs;
    const char *links_path;
} xlm_file_pairs;

typedef struct xlm_corpus_file {
    xlm_store *store;
    xlm_vocabulary *vocabulary; /* of the file; whoever has read the file may take it and leave NULL */
    int64_t subwords;           /* its size */
    xlm_file_text *text[XLM_SPLITS]; /* [text_count], in the order of the languages; those with sentences */
    int text_count[XLM_SPLITS];
    xlm_file_pairs *pairs[XLM_SPLITS]; /* [pair_count], by name; those with sentences */
    int pair_count[XLM_SPLITS];
    GStringChunk *strings; /* names and paths of text and pairs */
} xlm_corpus_file;

/* Open a file; not collective. It may be untrusted. Header, vocabulary, shapes, and that offsets end where tokens do, are checked
 * here. Numbers are checked when they are read, so that a large corpus is not read at every start: that no offset is greater than
 * the next one, that each id is in the vocabulary, and that each link leads to a sentence. EX_NOINPUT, EX_DATAERR. */
xlm_corpus_file *xlm_corpus_file_open(const char *path, GError **error);
/* NULL is allowed. */
void xlm_corpus_file_close(xlm_corpus_file *file);

/* NULL when the split has no text of the language. */
const xlm_file_text *xlm_corpus_file_find_text(const xlm_corpus_file *file, xlm_split split, const char *language);

/* Read offsets [first, first + n) of a text. */
bool xlm_corpus_file_offsets(const xlm_corpus_file *file, const xlm_file_text *text, int64_t first, int64_t n,
                             uint64_t *offsets, GError **error);
/* Read tokens [first, first + n) of a text as 32-bit ids. */
bool xlm_corpus_file_tokens(const xlm_corpus_file *file, const xlm_file_text *text, int64_t first, int64_t n, int32_t *ids,
                            GError **error);
/* Read the links of pairs [first, first + n). [out] links: [n x 2]. */
bool xlm_corpus_file_links(const xlm_corpus_file *file, const xlm_file_pairs *pairs, int64_t first, int64_t n, int64_t *links,
                           GError **error);

#endif
