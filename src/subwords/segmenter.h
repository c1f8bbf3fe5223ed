/* xlm-mpi: segmenters, which cut text into subwords. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A way of segmenting is a file with an xlm_segmenter_class, and a line in the table of segmenters.c. Two kinds of objects are
 * made of a class:
 *
 *   xlm_segmenter   what was learned (merges, scores of subwords): it does not change once made, and any number of threads may
 *                   use it
 *   xlm_cutter      cuts text by a segmenter, with memory of its own: one for each thread
 *
 *   learning        xlm_segmenter_learn | xlm_segmenter_read -> xlm_segmenter_count_subwords -> xlm_vocabulary_new
 *   using           xlm_vocabulary_load -> xlm_cutter_new -> xlm_cutter_word
 *
 * Subwords are written as in the vocabulary, with the marks that the class puts on them: "lo@@" says that its word continues in
 * the next subword; other marks say where a word begins. Only the class looks at marks: xlm_segmenter_joins says whether two
 * subwords in a row are of one word, and xlm_segmenter_spell gives the text without marks. Subwords hold neither spaces nor line
 * ends. Text that no subword of the vocabulary holds comes out as it is, and is then unknown to the vocabulary. Nothing here is
 * collective except xlm_segmenter_save. */
#ifndef XLM_SUBWORDS_SEGMENTER_H
#define XLM_SUBWORDS_SEGMENTER_H

#include <xlm/options.h>

#include "store/store.h"
#include "subwords/tokenizer_files.h"
#include "text/normalise.h"
#include "text/word_counts.h"

typedef struct xlm_vocabulary xlm_vocabulary; /* subwords/vocabulary.h */

/* ---- what a class can do besides: each struct is there whole, except for functions that say what NULL means ---- */

/* What xlm_prep's options ask of a class. What is not given is 0 or NULL. */
typedef struct xlm_segmenter_options {
    int64_t amount; /* learn so many units (merges, subwords) */
    char *file;     /* read what was learned from this file */
} xlm_segmenter_options;

/* Vocabularies made from text. */
typedef struct xlm_segmenter_learning {
    const xlm_option *options; /* of xlm_prep, into an xlm_segmenter_options; without a row for `file`, it is only learned */
    /* options->amount > 0. Fewer units are learned when words have no more. EX_DATAERR when there are too few words for any. */
    void *(*learn)(const xlm_segmenter_options *options, const xlm_word_counts *words, GError **error);
    /* Continue learning: all of model, and up to `amount` units more. Append the subwords that these make to `added`, each with
     * the count 0. NULL: the class cannot. */
    void *(*learn_more)(const void *model, const xlm_word_counts *words, uint32_t amount, xlm_word_counts *added);
    /* Append all subwords of a vocabulary of the class in their order, whether text has them or not, with counts 0. NULL: a
     * vocabulary has those that text has, by falling count. */
    void (*list)(const void *model, xlm_word_counts *subwords);
    /* May a vocabulary have the model? Texts must be UTF-8, and those of a user's file may not be. EX_DATAERR. NULL: always. */
    bool (*check)(const void *model, GError **error);
} xlm_segmenter_learning;

/* Vocabularies made of others (subwords/vocabulary_change.h). */
typedef struct xlm_segmenter_change {
    /* Append to `kept`, which are some of `subwords`, the others of these that must be there for text to become kept ones, and
     * those that are one character of kept ones, so that text in their letters is known. Returns a model for a vocabulary of
     * `kept` alone; text that has become kept subwords still becomes the same ones. NULL with EX_DATAERR. */
    void *(*reduce)(const void *model, const xlm_word_counts *subwords, xlm_word_counts *kept, GError **error);
    /* The subword that a word (or line) would be, given as the normaliser leaves it; g_free. NULL: it is not one word. */
    char *(*whole)(const void *model, const char *word);
    /* A model that makes each of `wanted` whole, beside `subwords`. Append to `added` these, except those that are in `subwords`,
     * and what else must be there, each after what it is made of. NULL with EX_DATAERR for a subword that cannot be made. */
    void *(*enlarge)(const void *model, const xlm_word_counts *subwords, const xlm_word_counts *wanted, xlm_word_counts *added,
                     GError **error);
} xlm_segmenter_change;

/* Tokenizers that are published with models, and those that Hugging Face's transformers read. */
typedef struct xlm_segmenter_exchange {
    /* What the files hold, with all tokens by their ids. NULL without an error when they are not of the class; NULL with
     * EX_DATAERR, file and place, when they are wrong. */
    void *(*adopt)(const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error);
    /* The other way. [out] files: by name the bytes of one, as a string, or JSON; settings: members of tokenizer_config.json,
     * among them tokenizer_class; notes: sentences about where that tokenizer differs from ours. */
    void (*publish)(const xlm_vocabulary *vocabulary, json_t *files, json_t *settings, GString *notes);
    /* Append to `added` the subwords that such a tokenizer must have besides those of the vocabulary, since it makes them on the
     * way to these. publish is then given a vocabulary that has them. NULL: none. */
    void (*publish_needs)(const xlm_vocabulary *vocabulary, xlm_word_counts *added);
} xlm_segmenter_exchange;

/* When are two models the same? */
typedef struct xlm_segmenter_comparison {
    /* A number that differs where models do, and goes on from `digest` (xlm_digest). NULL: that of what print gives. */
    uint64_t (*digest)(const void *model, uint64_t digest);
    /* Is `model` the first part of `larger`, so that this segments as model does, except for more units? Else EX_DATAERR, with
     * words that say how they differ: "it has 9 merges, there are 8 there". */
    bool (*extends)(const void *model, const void *larger, GError **error);
} xlm_segmenter_comparison;

/* ---- classes ---- */

typedef enum {
    XLM_SEGMENTS_WORDS, /* of normalised text, one at a time (text/words.h) */
    XLM_SEGMENTS_LINES  /* whole, as the class's normaliser leaves them: the class finds words itself */
} xlm_segmenter_input;

/* Where in its word a subword is, as far as its marks say. */
typedef enum {
    XLM_MARKS_NOTHING = 0,
    XLM_MARKS_BEGIN = 1, /* its word begins with it */
    XLM_MARKS_END = 2    /* its word ends with it */
} xlm_word_mark;

/* Returns what the marks of a subword say, and appends its text without them; out: NULL if that is not needed. */
typedef xlm_word_mark xlm_segmenter_spelling(const void *model, const char *subword, GString *out);

/* All functions must be there, except the normaliser. They are given the `model` that functions of the class have returned, or
 * the `cutter` of open. */
typedef struct xlm_segmenter_class {
    const char *name;          /* what files say */
    bool is_default;           /* that of files that name none, which are older than names; digests leave out its name, too */
    const char *unit;          /* what is learned, in the plural: "merges" */
    const char *marks;         /* what the marks of subwords mean, for people who read a file */
    xlm_segmenter_input input;
    const char *normalisation; /* what the normaliser does, for people who read a file; NULL: there is none */

    /* What brings lines, and those that xlm_normaliser_run is given for its vocabularies, into a form of the class's own, with
     * words between single spaces when `input` is words. model: NULL for one that is still to be learned. NULL:
     * text/normalise.h and text/words.h. */
    xlm_normaliser *(*normaliser)(const void *model);

    /* A model as the bytes of a file (xlm_segmenter_options, xlm_segmenter_write), and of such bytes; name: for messages. */
    GString *(*print)(const void *model);
    void *(*parse)(const char *name, const char *bytes, size_t size, GError **error);
    /* A model as members and attributes of the vocabulary's group, `path`. save: collective over the ranks of the store. */
    bool (*save)(const void *model, xlm_store *store, const char *path, int rank, GError **error);
    void *(*load)(const xlm_store *store, const char *path, GError **error);
    void (*free)(void *model);

    uint32_t (*size)(const void *model); /* units */
    xlm_segmenter_spelling *spell;

    /* allowed: subwords that may come out, or NULL for all; borrowed, as model is, until close. */
    void *(*open)(const void *model, const xlm_word_counts *allowed);
    void (*close)(void *cutter);
    /* Subwords of a word (or line) between single spaces: *n bytes, valid until the next call. places: NULL, or append to it an
     * xlm_origin of bytes of text for each subword; a character of which several subwords were made is in the places of all. A
     * class that appends none has subwords that follow one another in the text, each as spell gives it, or as it is. NULL with an
     * error, only with places, when these cannot be known. */
    const char *(*segment)(void *cutter, const char *text, size_t size, GArray *places, size_t *n, GError **error);
    /* The same for the text of a subword of the class, as where in a word its marks say that it is. */
    const char *(*segment_subword)(void *cutter, const char *subword, size_t *n);

    const xlm_segmenter_learning *learning;     /* NULL: it comes only with published tokenizers */
    const xlm_segmenter_change *change;         /* NULL: its subwords cannot be left out or added */
    const xlm_segmenter_exchange *exchange;     /* NULL: there are no published tokenizers of the class */
    const xlm_segmenter_comparison *comparison; /* NULL: models are the same when they print the same */
} xlm_segmenter_class;

/* ---- the table (segmenters.c) ---- */

/* Number of classes, and one of them. */
int xlm_segmenters_count(void);
const xlm_segmenter_class *xlm_segmenter_class_at(int i);
/* Add one more after those of the table, before any file is read. */
void xlm_segmenter_register(const xlm_segmenter_class *cls);
/* The options of xlm_prep for the class, of which there may be none. */
const xlm_option *xlm_segmenter_class_options(const xlm_segmenter_class *cls);
/* The name of the one that sets `amount` or `file`, which is at `offset` in xlm_segmenter_options; NULL when there is none. */
const char *xlm_segmenter_option_name(const xlm_segmenter_class *cls, size_t offset);
/* Does the class segment words? Else EX_DATAERR. what needs them: "--derive". */
bool xlm_segmenter_class_takes_words(const xlm_segmenter_class *cls, const char *what, GError **error);

/* ---- segmenters ---- */

typedef struct xlm_segmenter xlm_segmenter;

/* One with a model of the class, which it owns from now on. */
xlm_segmenter *xlm_segmenter_new(const xlm_segmenter_class *cls, void *model);
/* Share it: every reference is to be given back. unref: NULL is allowed. */
xlm_segmenter *xlm_segmenter_ref(const xlm_segmenter *segmenter);
void xlm_segmenter_unref(xlm_segmenter *segmenter);
const xlm_segmenter_class *xlm_segmenter_class_of(const xlm_segmenter *segmenter);
/* For tests and tools of one class. */
const void *xlm_segmenter_model(const xlm_segmenter *segmenter);

/* The functions of the class, on its segmenters. learn, parse, read and load return NULL with an error. learn, learn_more: for
 * classes that can. */
xlm_segmenter *xlm_segmenter_learn(const xlm_segmenter_class *cls, const xlm_segmenter_options *options,
                                   const xlm_word_counts *words, GError **error);
xlm_segmenter *xlm_segmenter_learn_more(const xlm_segmenter *segmenter, const xlm_word_counts *words, uint32_t amount,
                                        xlm_word_counts *added);
GString *xlm_segmenter_print(const xlm_segmenter *segmenter); /* g_string_free */
xlm_segmenter *xlm_segmenter_parse(const xlm_segmenter_class *cls, const char *name, const char *bytes, size_t size,
                                   GError **error);
/* From a file. A byte order mark at its beginning is skipped. EX_NOINPUT when it cannot be read. */
xlm_segmenter *xlm_segmenter_read(const xlm_segmenter_class *cls, const char *path, GError **error);
/* Written under another name and renamed. EX_CANTCREAT. */
bool xlm_segmenter_write(const xlm_segmenter *segmenter, const char *path, GError **error);
/* Does the class learn more, and say which subwords a vocabulary has? */
bool xlm_segmenter_class_learns_more(const xlm_segmenter_class *cls);
bool xlm_segmenter_class_lists(const xlm_segmenter_class *cls);
/* The subwords of a vocabulary in their order, with their counts in the words; for classes that say so. */
xlm_word_counts *xlm_segmenter_list(const xlm_segmenter *segmenter, const xlm_word_counts *words);
/* reduce, whole and enlarge of the class, for classes that can (else EX_DATAERR, what: "--keep"). */
bool xlm_segmenter_can_change(const xlm_segmenter *segmenter, const char *what, GError **error);
xlm_segmenter *xlm_segmenter_reduce(const xlm_segmenter *segmenter, const xlm_word_counts *subwords, xlm_word_counts *kept,
                                    GError **error);
char *xlm_segmenter_whole(const xlm_segmenter *segmenter, const char *word);
xlm_segmenter *xlm_segmenter_enlarge(const xlm_segmenter *segmenter, const xlm_word_counts *subwords,
                                     const xlm_word_counts *wanted, xlm_word_counts *added, GError **error);
/* For `reduce`: append those of `subwords` that are one character of a subword of `kept` after this prefix, with this suffix. */
void xlm_segmenter_keep_characters(xlm_segmenter_spelling *spell, const void *model, const xlm_word_counts *subwords,
                                   const char *prefix, const char *suffix, xlm_word_counts *kept);
/* Append a subword, with the count 0, when `subwords` has it. */
void xlm_segmenter_keep(const xlm_word_counts *subwords, const char *subword, size_t size, xlm_word_counts *kept);
uint32_t xlm_segmenter_size(const xlm_segmenter *segmenter);
bool xlm_segmenter_check(const xlm_segmenter *segmenter, GError **error);
uint64_t xlm_segmenter_digest(const xlm_segmenter *segmenter, uint64_t digest);
/* What brings lines into the form that the segmenter works on. lower: for classes without a normaliser. segmenter may be NULL,
 * for one that is still to be learned by a class without one. xlm_normaliser_free, before the segmenter is freed. */
xlm_normaliser *xlm_segmenter_normaliser(const xlm_segmenter *segmenter, bool lower, GError **error);
/* Are two subwords in a row of one word? */
bool xlm_segmenter_joins(const xlm_segmenter *segmenter, const char *subword, const char *next);
/* Append the text of a subword without marks. */
void xlm_segmenter_spell(const xlm_segmenter *segmenter, const char *subword, GString *out);
/* Does `larger` segment as segmenter does, except for more units? EX_DATAERR, also for two of different classes. */
bool xlm_segmenter_extends(const xlm_segmenter *segmenter, const xlm_segmenter *larger, GError **error);

/* With the attribute `segmenter` of the group, which names the class. Collective over the ranks of the store. */
bool xlm_segmenter_save(const xlm_segmenter *segmenter, xlm_store *store, const char *path, int rank, GError **error);
/* EX_DATAERR, with the file, for a class that is not in the table, and for what is not as it was saved. */
xlm_segmenter *xlm_segmenter_load(const xlm_store *store, const char *path, GError **error);

/* ---- cutters ---- */

typedef struct xlm_cutter xlm_cutter;

/* segmenter and allowed are borrowed for as long as the cutter lives. allowed: subwords that may come out, as the
 * vocabulary has them, or NULL (or empty) for all. To be used by one thread at a time. */
xlm_cutter *xlm_cutter_new(const xlm_segmenter *segmenter, const xlm_word_counts *allowed);
/* NULL is allowed. */
void xlm_cutter_free(xlm_cutter *cutter);

/* The subwords of one word (size > 0, no space, no line end; of a line, where the class takes lines) between single spaces: "lo@@
 * west". *n bytes, valid until the next call. Nothing is remembered. */
const char *xlm_cutter_word(xlm_cutter *cutter, const char *word, size_t size, size_t *n);
/* The same, and append to `places` for each subword which bytes of the word, or line, it is (xlm_origin). NULL with
 * EX_SOFTWARE. */
const char *xlm_cutter_locate(xlm_cutter *cutter, const char *word, size_t size, GArray *places, size_t *n, GError **error);
/* xlm_cutter_word for the text of a subword of another vocabulary of the class, as it would be cut where in a word it is. */
const char *xlm_cutter_subword(xlm_cutter *cutter, const char *subword, size_t *n);
/* Append the segmented form of a text whose words are between ' ' and '\n'. These are copied as they are, so lines
 * stay lines. For text that comes in pieces, cut it at line ends. Words are remembered from one call to the next, up to
 * a bounded size. */
void xlm_cutter_text(xlm_cutter *cutter, const char *text, size_t size, GString *out);

/* All subwords of a set of words with their counts, as a new table, sorted. allowed as above. */
xlm_word_counts *xlm_segmenter_count_subwords(const xlm_segmenter *segmenter, const xlm_word_counts *words,
                                              const xlm_word_counts *allowed);

#endif
