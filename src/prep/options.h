/* xlm-mpi: the options of a preparation, checked before any work. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_PREP_OPTIONS_H
#define XLM_PREP_OPTIONS_H

#include "formats/line_form.h"
#include "prep/appended.h"
#include "subwords/vocabulary.h"
#include "synthetic/language.h"
#include "text/words.h"

/* One monolingual file, or the two line-aligned files of a pair of languages. */
typedef struct xlm_prep_source {
    int sides;       /* 1: monolingual, 2: parallel */
    int language[2]; /* index into `languages` */
    char *path[2];         /* "-": standard input */
    xlm_line_form form[2]; /* where the text is in a line */
    const struct xlm_prep_text *text[2]; /* its lines, while xlm_prep_texts (prep/texts.h) lends them */
    bool conllu;      /* the file is CoNLL-U (monolingual only) */
    bool needs_trees; /* its sentences must have trees */
    bool as_is;       /* lines are read unchanged, with CR and byte order mark */
} xlm_prep_source;

/* What to do with a line that is not UTF-8, or has no text where its form says (formats/line_form.h). */
typedef enum {
    XLM_BAD_STOP,  /* it is an error */
    XLM_BAD_SKIP,  /* it is left out, together with its translation */
    XLM_BAD_REPAIR /* what is not UTF-8 becomes U+FFFD; a line that this does not help is left out */
} xlm_bad_lines;

/* Which sentences and pairs are left out (prep/filter_options.h); 0: the rule was not given. */
typedef struct xlm_filter_options {
    int64_t max_line_bytes, max_characters, min_words, max_words, max_word_characters;
    double max_ratio, script_share;
    int64_t untranslated, duplicates; /* 0: keep, 1: drop */
    GHashTable *scripts; /* char *, the name of a language -> xlm_scripts *: those given with --script */
} xlm_filter_options;

typedef struct xlm_prep_options {
    GPtrArray *languages; /* char *: names in the order in which they were first given */
    GPtrArray *sources;   /* xlm_prep_source *: the monolingual ones first, each kind in the order given */
    int monolingual_sources;
    GPtrArray *synthetic; /* xlm_synthetic *: synthetic languages to make from languages with monolingual text */
    double shared;   /* share of the subwords that transliteration does not change, [0, 1] */

    char *like_path;            /* corpus, checkpoint or published tokenizer with the vocabulary to use (prep/like.h), or NULL */
    const char *like_option;    /* the option that gives it: "--like", "--tokenizer" or "--append" */
    GPtrArray *like_files;      /* char *: its files: one, or those of a tokenizer's directory */
    xlm_vocabulary *like;       /* its vocabulary; `languages` begins with its languages, and words and lower come from it */
    xlm_earlier_split like_split; /* of a corpus of --like: what it holds out is held out here too; otherwise it lists nothing */
    xlm_appended *append;       /* the corpus to which text is added, whose vocabulary `like` is; or NULL */
    GArray *copied_pairs;       /* int x 2: languages of its pairs that are not given */
    int64_t add_subwords;       /* maximum number of added subwords */

    xlm_bad_lines bad_lines;
    xlm_filter_options filter;
    xlm_word_mode words;
    bool lower;
    xlm_segmenter_options **segmenters; /* the options of each class (prep/segmenter_options.h) */
    int64_t memory;             /* bytes per rank for counting and learning; 0: as xlm_prep_memory says */
    char *scratch;              /* directory of scratch files, or NULL: that of the first output */
    double sample;              /* share of the sentences from which a segmenter is learned, (0, 1] */
    double alpha;               /* exponent of a language's share of the text from which a segmenter is learned */
    char *vocabulary;           /* file to read, or NULL */
    int64_t min_count;          /* minimum count of a subword of the vocabulary */
    int64_t max_vocabulary;     /* maximum number of subwords without special tokens; 0: no limit */
    double held_out;            /* share of sentences, [0, 1) */
    int64_t seed;

    char *output, *write_segmenter, *write_vocabulary, *write_twins; /* files to write, or NULL */
    char *segment_input, *segment_output;          /* both or neither: text to be segmented */
    char *derive_input, *derive_output;            /* both or neither: CoNLL-U to be converted to a synthetic language */
    char *command;                                 /* the command line, for the record */
} xlm_prep_options;

xlm_prep_options *xlm_prep_options_new(void);
/* Free everything that the options point to. NULL is allowed. */
void xlm_prep_options_free(xlm_prep_options *options);

/* Take "LANG=FILE[,FILE...]", with files as in formats/line_form.h. EX_USAGE when it has another form or the language already has monolingual text. */
bool xlm_prep_add_monolingual(xlm_prep_options *options, const char *specification, GError **error);
/* Take "A-B=FILE_A,FILE_B", likewise. EX_USAGE when it has another form or the pair was given before, in either order. */
bool xlm_prep_add_parallel(xlm_prep_options *options, const char *specification, GError **error);

/* Take "NAME=BASE:STEP[,STEP...]" (synthetic/language.h). Call it after all text was given. EX_USAGE when it has another form,
 * NAME has text or is given twice, or a syntax has no trees. */
bool xlm_prep_add_synthetic(xlm_prep_options *options, const char *specification, GError **error);

/* Check numbers and options that require or exclude one another (EX_USAGE), that inputs can be read (EX_NOINPUT) and have text
 * (EX_DATAERR), and that outputs are not inputs (EX_USAGE) and can be created (EX_CANTCREAT). */
bool xlm_prep_options_check(const xlm_prep_options *options, GError **error);

/* The part of xlm_prep_options_check for text that is not in a file of its own, or has not been lines before, while it is open
 * (prep/texts.h). EX_DATAERR. */
bool xlm_prep_check_unpacked(const xlm_prep_options *options, GError **error);

/* With --append: put the sides of pairs into the order of the corpus, and find its pairs that are not given. Call it after all
 * text was given. */
void xlm_prep_match_pairs(xlm_prep_options *options);

/* Was text of a language given? monolingual: count only that of no pair. */
bool xlm_prep_has_text(const xlm_prep_options *options, int language, bool monolingual);

/* Bytes that a rank may take for counting words. */
int64_t xlm_prep_memory(const xlm_prep_options *options);
/* Bytes that this rank may take for learning: those of --memory if it was given, else all that the node has left. */
int64_t xlm_prep_learning_memory(const xlm_prep_options *options);
/* The directory of scratch files: that of --scratch, or of the first output. g_free. */
char *xlm_prep_scratch(const xlm_prep_options *options);

/* The number of pairs of languages: first those given as text, in their order, then each base with each of its synthetic
 * languages; these are the new ones. Then those of the corpus of --append that are not among them. */
int xlm_prep_pairs_count(const xlm_prep_options *options);
int xlm_prep_new_pairs_count(const xlm_prep_options *options);
/* The number of a pair of the corpus of --append. */
int xlm_prep_pair_of(const xlm_prep_options *options, const xlm_corpus_pairs *pairs);
/* [out] languages: of pair i. */
void xlm_prep_pair_languages(const xlm_prep_options *options, int i, int languages[2]);
/* The name of pair i: "de-en". g_free. */
char *xlm_prep_pair_name(const xlm_prep_options *options, int i);

#endif
