/* xlm-mpi: sentences of CoNLL-U files. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The format of Universal Dependencies: a line for each word, with ten columns separated by tabs, a blank line after each
 * sentence, and comments that begin with #. A word has a whole number as its ID; multiword tokens (3-4), which show how words are
 * written together, and empty nodes (8.1), words that are left out of the sentence, are skipped and counted.
 *
 * The column HEAD is either given for all words of a sentence, and then makes one tree, or for none (`_`). */
#ifndef XLM_FORMATS_CONLLU_H
#define XLM_FORMATS_CONLLU_H

#include "text/lines.h"

enum {
    XLM_CONLLU_ID, XLM_CONLLU_FORM, XLM_CONLLU_LEMMA, XLM_CONLLU_UPOS, XLM_CONLLU_XPOS, XLM_CONLLU_FEATS, XLM_CONLLU_HEAD,
    XLM_CONLLU_DEPREL, XLM_CONLLU_DEPS, XLM_CONLLU_MISC, XLM_CONLLU_COLUMNS
};

typedef struct xlm_conllu_word {
    char *column[XLM_CONLLU_COLUMNS]; /* 0-terminated, none empty */
    int32_t head;                     /* index of the head, -1 for the root; without meaning if there is no tree */
    int64_t line;                     /* in the file */
} xlm_conllu_word;

/* One sentence; it is reused for the next ones. */
typedef struct xlm_conllu {
    GArray *words;       /* xlm_conllu_word */
    GPtrArray *comments; /* char *, with their # */
    bool has_tree;
    int64_t multiword, empty; /* tokens and nodes that were skipped, in this sentence */
    GString *text;            /* what words and comments point into */
    GArray *rows;             /* where the lines are in the text */
} xlm_conllu;

xlm_conllu *xlm_conllu_new(void);
/* NULL is allowed. */
void xlm_conllu_free(xlm_conllu *sentence);

/* What is done with the column HEAD: it is ignored; a tree is read if there is one; there must be one. */
typedef enum { XLM_CONLLU_TREES_PASSED_OVER, XLM_CONLLU_TREES_READ, XLM_CONLLU_TREES_NEEDED } xlm_conllu_trees;

/* The next sentence of the file. Returns 1, 0 at the end of the file, or -1 with *error: those of xlm_lines_next, or EX_DATAERR
 * with file and line for a line that is not UTF-8 or does not have ten columns, words that are not numbered 1, 2, 3, ..., a HEAD
 * that is not a word of the sentence, and trees without a root, with several, or with a circle. */
int xlm_conllu_next(xlm_lines *lines, xlm_conllu *sentence, xlm_conllu_trees trees, GError **error);
/* Skip up to n sentences without checking them. Returns how many there were, or -1 with *error. */
int64_t xlm_conllu_skip(xlm_lines *lines, int64_t n, GError **error);

/* Does a file have the name of a CoNLL-U file: *.conllu, or compressed, such as *.conllu.gz? */
bool xlm_conllu_is_named(const char *path);

static inline xlm_conllu_word *xlm_conllu_word_at(const xlm_conllu *sentence, size_t i)
{
    return &g_array_index(sentence->words, xlm_conllu_word, i);
}

#endif
