/* xlm-mpi: segmenters, which cut text into subwords. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A segmenter class is a file with an xlm_segmenter_class and a line in the table of segmenters.c. A class makes two kinds of
 * objects:
 *
 *   xlm_segmenter   what was learned (merges, scores of subwords): it never changes after it was made, so any number of threads
 *                   may use it
 *   xlm_cutter      cuts text by a segmenter, with its own memory: one for each thread
 *
 *   learning        xlm_segmenter_learn | xlm_segmenter_read -> xlm_segmenter_count_subwords -> xlm_vocabulary_new
 *   using           xlm_vocabulary_load -> xlm_cutter_new -> xlm_cutter_word
 *
 * Subwords are written as in the vocabulary, with the marks of the class: "lo@@" says that its word continues in the next
 * subword; other marks say where a word begins. Only the class interprets marks: xlm_segmenter_joins says whether two consecutive
 * subwords belong to one word, and xlm_segmenter_spell gives the text without marks. Subwords contain neither spaces nor line
 * ends. Text that no subword of the vocabulary covers is copied to the output, and is then unknown to the vocabulary. Nothing
 * here is collective except xlm_segmenter_save. */
#ifndef XLM_SUBWORDS_SEGMENTER_H
#define XLM_SUBWORDS_SEGMENTER_H

#include <xlm/options.h>

#include "store/store.h"
#include "subwords/tokenizer_files.h"
#include "text/normalise.h"
#include "text/word_counts.h"

typedef struct xlm_vocabulary xlm_vocabulary; /* subwords/vocabulary.h */

/* ---- optional parts of a class: each struct must be complete, except for functions that say what NULL means ---- */

/* The options of xlm_prep for a class. Those that are not given are 0 or NULL. */
typedef struct xlm_segmenter_options {
    int64_t amount; /* learn this many units (merges, subwords) */
    char *file;     /* read what was learned from this file */
} xlm_segmenter_options;

/* Vocabularies made from text. */
typedef struct xlm_segmenter_learning {
    const xlm_option *options; /* of xlm_prep, into an xlm_segmenter_options; without a row for `file`, a model can only be
                                * learned */
    /* options->amount > 0. Learns fewer units if the words allow no more. EX_DATAERR when there are too few words to learn
     * any. */
    void *(*learn)(const xlm_segmenter_options *options, const xlm_word_counts *words, GError **error);
    /* Continue learning: the result has all of model and up to `amount` more units. Append the subwords that these make to
     * `added`, each with the count 0. NULL: the class cannot do this. */
    void *(*learn_more)(const void *model, const xlm_word_counts *words, uint32_t amount, xlm_word_counts *added);
    /* Append all subwords of a vocabulary of the class in their order, whether they occur in text or not, with counts 0. NULL: a
     * vocabulary has the subwords that occur in text, by falling count. */
    void (*list)(const void *model, xlm_word_counts *subwords);
    /* Memory that learning takes, measured: bytes for each different word, and for each byte of these words. */
    int word_bytes, letter_bytes;
    bool any_order; /* learn makes the same of the words in any order; else they must be sorted (text/word_counts.h) */
    /* May a vocabulary use the model? Texts must be UTF-8, and those of a user's file may not be. EX_DATAERR. NULL: always. */
    bool (*check)(const void *model, GError **error);
    /* Is what print returns the file of another program, with all that the model has? NULL: always. */
    bool (*has_file)(const void *model);
} xlm_segmenter_learning;

/* Vocabularies made of others (subwords/vocabulary_change.h). */
typedef struct xlm_segmenter_change {
    /* `kept` are some of `subwords`. Append those of the others without which text would not become kept subwords, and those that
     * are single characters of kept subwords, so that text in their letters is known. Returns a model for a vocabulary of only
     * `kept`; text that became kept subwords before still becomes the same ones. NULL with EX_DATAERR. */
    void *(*reduce)(const void *model, const xlm_word_counts *subwords, xlm_word_counts *kept, GError **error);
    /* The subword that a normalised word (or line) would be; g_free. NULL: it is not one word. */
    char *(*whole)(const void *model, const char *word);
    /* A model that makes `subwords` and each of `wanted` as one subword. Append to `added` those that are not in `subwords`, and
     * other subwords that these need, each after its parts. NULL with EX_DATAERR for a subword that cannot be made. */
    void *(*enlarge)(const void *model, const xlm_word_counts *subwords, const xlm_word_counts *wanted, xlm_word_counts *added,
                     GError **error);
} xlm_segmenter_change;

/* Tokenizers that are published with models, and tokenizers that Hugging Face's transformers read. */
typedef struct xlm_segmenter_exchange {
    /* The model in the files, and all tokens by their ids. NULL without an error when the files do not belong to the class; NULL
     * with EX_DATAERR, file and place, when they are wrong. */
    void *(*adopt)(const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error);
    /* The opposite direction. [out] files: file name -> bytes, as a string, or JSON; settings: members of tokenizer_config.json,
     * including tokenizer_class, without which they have no such tokenizer; notes: sentences about how it differs from ours. */
    void (*publish)(const xlm_vocabulary *vocabulary, json_t *files, json_t *settings, GString *notes);
    /* Append to `added` the subwords that such a tokenizer needs in addition to those of the vocabulary, because it makes them on
     * the way to these. publish then gets a vocabulary that has them. NULL: none. */
    void (*publish_needs)(const xlm_vocabulary *vocabulary, xlm_word_counts *added);
} xlm_segmenter_exchange;

/* When are two models the same? */
typedef struct xlm_segmenter_comparison {
    /* A number that differs between different models; continues from `digest` (xlm_digest). NULL: the digest of what print
     * returns. */
    uint64_t (*digest)(const void *model, uint64_t digest);
    /* Is `model` the first part of `larger`, so that `larger` segments in the same way, except for more units? Else EX_DATAERR,
     * which says how they differ: "it has 9 merges, there are 8 there". */
    bool (*extends)(const void *model, const void *larger, GError **error);
} xlm_segmenter_comparison;

/* ---- classes ---- */

typedef enum {
    XLM_SEGMENTS_WORDS, /* words of normalised text, one at a time (text/words.h) */
    XLM_SEGMENTS_LINES  /* whole lines from the class's normaliser: the class finds words itself */
} xlm_segmenter_input;

/* The position of a subword in its word, as far as its marks show it. */
typedef enum {
    XLM_MARKS_NOTHING = 0,
    XLM_MARKS_BEGIN = 1, /* its word begins with it */
    XLM_MARKS_END = 2    /* its word ends with it */
} xlm_word_mark;

/* Returns the meaning of the marks of a subword, and appends its text without them. out: NULL if the text is not needed. */
typedef xlm_word_mark xlm_segmenter_spelling(const void *model, const char *subword, GString *out);
/* Appends the text of subwords [n] that are one word. Returns false, with nothing appended, if together they are not
 * text. */
typedef bool xlm_segmenter_joining(const void *model, const char *const *subwords, size_t n, GString *out);

/* The libraries that segmenters call, ended by one without a name: their names, and how the names of their files begin. */
typedef struct xlm_segmenter_library {
    const char *name, *file;
} xlm_segmenter_library;
extern const xlm_segmenter_library xlm_segmenter_libraries[];

/* All functions are mandatory except normaliser, format_version and spell_word. They get a `model` that a function of the class
 * has returned, or the `cutter` of open. */
typedef struct xlm_segmenter_class {
    const char *name;          /* the name in files */
    bool is_default;           /* the class of old files, which do not name one; digests leave out its name too */
    const char *unit;          /* what is learned, plural: "merges" */
    const char *marks;         /* the meaning of the marks of subwords, for readers of a file */
    xlm_segmenter_input input;
    const char *normalisation; /* what the normaliser does, for readers of a file; NULL: there is none */

    /* A normaliser that brings lines into the form that the class needs, with single spaces between words if `input` is words.
     * model: NULL if it has not been learned yet. NULL: text/normalise.h and text/words.h are used. */
    xlm_normaliser *(*normaliser)(const void *model);

    /* The format_version of a vocabulary with the model (subwords/vocabulary_store.c). NULL: 3, that of any segmenter. */
    int64_t (*format_version)(const void *model);

    /* A model to and from the bytes of a file (xlm_segmenter_options, xlm_segmenter_write). name: for messages. */
    GString *(*print)(const void *model);
    void *(*parse)(const char *name, const char *bytes, size_t size, GError **error);
    /* A model to and from members and attributes of the vocabulary's group, `path`. save: collective over the ranks of the
     * store. */
    bool (*save)(const void *model, xlm_store *store, const char *path, int rank, GError **error);
    void *(*load)(const xlm_store *store, const char *path, GError **error);
    void (*free)(void *model);

    uint32_t (*size)(const void *model); /* units */
    xlm_segmenter_spelling *spell;
    xlm_segmenter_joining *spell_word; /* for classes whose subwords may be parts of characters; NULL: the text of a word is that of
                                        * its subwords, one after another */

    /* allowed: subwords that may be in the output, or NULL for all. It and model are borrowed until close. */
    void *(*open)(const void *model, const xlm_word_counts *allowed);
    void (*close)(void *cutter);
    /* The subwords of a word (or line), separated by single spaces: *n bytes, valid until the next call. places: NULL, or append
     * an xlm_origin of bytes of text for each subword; a character that became several subwords is in the places of all of them.
     * A class that appends none has subwords that follow one another in the text, each as spell returns it or unchanged. Returns
     * NULL with an error only if places are requested and cannot be determined. */
    const char *(*segment)(void *cutter, const char *text, size_t size, GArray *places, size_t *n, GError **error);
    /* The same for the text of a subword of the class, at the position in a word that its marks show. */
    const char *(*segment_subword)(void *cutter, const char *subword, size_t *n);

    const xlm_segmenter_learning *learning;     /* NULL: models come only from published tokenizers */
    const xlm_segmenter_change *change;         /* NULL: its subwords cannot be left out or added */
    const xlm_segmenter_exchange *exchange;     /* NULL: there are no published tokenizers of the class */
    const xlm_segmenter_comparison *comparison; /* NULL: models are the same when they print the same */
} xlm_segmenter_class;

/* ---- the table (segmenters.c) ---- */

/* Number of classes, and one of them. */
int xlm_segmenters_count(void);
const xlm_segmenter_class *xlm_segmenter_class_at(int i);
/* Add a class after those of the table, before any file is read. */
void xlm_segmenter_register(const xlm_segmenter_class *cls);
/* The options of xlm_prep for the class; there may be none. */
const xlm_option *xlm_segmenter_class_options(const xlm_segmenter_class *cls);
/* The name of the option that sets `amount` or `file`, the member at `offset` in xlm_segmenter_options; NULL when there is
 * none. */
const char *xlm_segmenter_option_name(const xlm_segmenter_class *cls, size_t offset);
/* Does the class segment words? Else EX_DATAERR. what: the option that needs words, such as "--derive". */
bool xlm_segmenter_class_takes_words(const xlm_segmenter_class *cls, const char *what, GError **error);

/* ---- segmenters ---- */

typedef struct xlm_segmenter xlm_segmenter;

/* A segmenter with a model of the class. Takes ownership of the model. */
xlm_segmenter *xlm_segmenter_new(const xlm_segmenter_class *cls, void *model);
/* Add and drop a reference; every reference must be dropped. unref: NULL is allowed. */
xlm_segmenter *xlm_segmenter_ref(const xlm_segmenter *segmenter);
void xlm_segmenter_unref(xlm_segmenter *segmenter);
const xlm_segmenter_class *xlm_segmenter_class_of(const xlm_segmenter *segmenter);
/* For tests and tools of one class. */
const void *xlm_segmenter_model(const xlm_segmenter *segmenter);

/* The functions of the class for its segmenters. learn, parse, read and load return NULL with an error. learn, learn_more: for
 * classes that can learn. */
xlm_segmenter *xlm_segmenter_learn(const xlm_segmenter_class *cls, const xlm_segmenter_options *options,
                                   const xlm_word_counts *words, GError **error);
xlm_segmenter *xlm_segmenter_learn_more(const xlm_segmenter *segmenter, const xlm_word_counts *words, uint32_t amount,
                                        xlm_word_counts *added);
GString *xlm_segmenter_print(const xlm_segmenter *segmenter); /* g_string_free */
xlm_segmenter *xlm_segmenter_parse(const xlm_segmenter_class *cls, const char *name, const char *bytes, size_t size,
                                   GError **error);
/* Read a file. Skips a byte order mark at its beginning. EX_NOINPUT when it cannot be read. */
xlm_segmenter *xlm_segmenter_read(const xlm_segmenter_class *cls, const char *path, GError **error);
/* Is the file that xlm_segmenter_write writes one of another program? Else only this program knows its form. */
bool xlm_segmenter_has_file(const xlm_segmenter *segmenter);
/* Write a file, under a temporary name that is then renamed. Errors of xlm_fields_write. */
bool xlm_segmenter_write(const xlm_segmenter *segmenter, const char *path, GError **error);
/* Can the class continue learning, and does it say which subwords a vocabulary has? */
bool xlm_segmenter_class_learns_more(const xlm_segmenter_class *cls);
bool xlm_segmenter_class_lists(const xlm_segmenter_class *cls);
/* About how many bytes learning takes from so many different words that have `letters` bytes altogether, with the table of these
 * words; for classes that can learn. */
int64_t xlm_segmenter_class_learning_bytes(const xlm_segmenter_class *cls, int64_t words, int64_t letters);
/* The subwords of a vocabulary in their order, with counts 0; for classes that say which subwords a vocabulary has. */
xlm_word_counts *xlm_segmenter_list(const xlm_segmenter *segmenter);
/* reduce, whole and enlarge of the class. EX_DATAERR if the class does not have them. what: the option for messages, such as
 * "--keep". */
bool xlm_segmenter_can_change(const xlm_segmenter *segmenter, const char *what, GError **error);
xlm_segmenter *xlm_segmenter_reduce(const xlm_segmenter *segmenter, const xlm_word_counts *subwords, xlm_word_counts *kept,
                                    GError **error);
char *xlm_segmenter_whole(const xlm_segmenter *segmenter, const char *word);
xlm_segmenter *xlm_segmenter_enlarge(const xlm_segmenter *segmenter, const xlm_word_counts *subwords,
                                     const xlm_word_counts *wanted, xlm_word_counts *added, GError **error);
/* For `reduce`: append those of `subwords` that are a single character, with this suffix, of a subword of `kept` after this
 * prefix. */
void xlm_segmenter_keep_characters(xlm_segmenter_spelling *spell, const void *model, const xlm_word_counts *subwords,
                                   const char *prefix, const char *suffix, xlm_word_counts *kept);
/* Append a subword with the count 0: if `subwords` has it; if `subwords` does not have it. */
void xlm_segmenter_keep(const xlm_word_counts *subwords, const char *subword, size_t size, xlm_word_counts *kept);
void xlm_segmenter_add_missing(const xlm_word_counts *subwords, const char *subword, size_t size, xlm_word_counts *added);
uint32_t xlm_segmenter_size(const xlm_segmenter *segmenter);
bool xlm_segmenter_check(const xlm_segmenter *segmenter, GError **error);
uint64_t xlm_segmenter_digest(const xlm_segmenter *segmenter, uint64_t digest);
/* The normaliser of lines for a segmenter. lower: for classes without their own normaliser. segmenter may be NULL if a class
 * without a normaliser has not learned it yet. xlm_normaliser_free, before the segmenter is freed. */
xlm_normaliser *xlm_segmenter_normaliser(const xlm_segmenter *segmenter, bool lower, GError **error);
/* What the marks of a subword mean. */
xlm_word_mark xlm_segmenter_marks(const xlm_segmenter *segmenter, const char *subword);
/* Do two consecutive subwords belong to one word? */
bool xlm_segmenter_joins(const xlm_segmenter *segmenter, const char *subword, const char *next);
/* Append the text of a subword without marks. */
void xlm_segmenter_spell(const xlm_segmenter *segmenter, const char *subword, GString *out);
/* The same for subwords [n] that are one word (xlm_segmenter_joins). Subwords that are parts of a character become that
 * character. */
void xlm_segmenter_spell_word(const xlm_segmenter *segmenter, const char *const *subwords, size_t n, GString *out);
/* Does `larger` segment as segmenter does, except for more units? Else EX_DATAERR, also for different classes. */
bool xlm_segmenter_extends(const xlm_segmenter *segmenter, const xlm_segmenter *larger, GError **error);

/* Also writes the attribute `segmenter` of the group, which names the class. Collective over the ranks of the store. */
bool xlm_segmenter_save(const xlm_segmenter *segmenter, xlm_store *store, const char *path, int rank, GError **error);
/* EX_DATAERR, with the file, for a class that is not in the table, and for data that cannot be what was saved. */
xlm_segmenter *xlm_segmenter_load(const xlm_store *store, const char *path, GError **error);

/* ---- cutters ---- */

typedef struct xlm_cutter xlm_cutter;

/* segmenter and allowed are borrowed as long as the cutter lives. allowed: subwords of the vocabulary that may be in the output,
 * or NULL (or empty) for all. A cutter may be used by one thread at a time. */
xlm_cutter *xlm_cutter_new(const xlm_segmenter *segmenter, const xlm_word_counts *allowed);
/* NULL is allowed. */
void xlm_cutter_free(xlm_cutter *cutter);

/* The subwords of one word (size > 0, no space, no line end), or of a line if the class segments lines, separated by single
 * spaces: "lo@@ west". *n bytes, valid until the next call. The word is not remembered. */
const char *xlm_cutter_word(xlm_cutter *cutter, const char *word, size_t size, size_t *n);
/* The same, and append to `places` the bytes of the word, or line, of each subword (xlm_origin). NULL with EX_SOFTWARE. */
const char *xlm_cutter_locate(xlm_cutter *cutter, const char *word, size_t size, GArray *places, size_t *n, GError **error);
/* xlm_cutter_word for the text of a subword of another vocabulary of the class, cut as at the subword's position in a word. */
const char *xlm_cutter_subword(xlm_cutter *cutter, const char *subword, size_t *n);
/* Append the segmented form of a text whose words are separated by ' ' and '\n'. Separators are copied, so lines stay lines. If
 * text arrives in blocks, divide it at line ends. Words are remembered from one call to the next, up to a bounded size. */
void xlm_cutter_text(xlm_cutter *cutter, const char *text, size_t size, GString *out);

/* These subwords in their order, with the counts that they have among `parts`, or 0. */
xlm_word_counts *xlm_segmenter_recount(const xlm_word_counts *subwords, const xlm_word_counts *parts);
/* All subwords of a set of words with their counts, as a new sorted table. allowed: as above. */
xlm_word_counts *xlm_segmenter_count_subwords(const xlm_segmenter *segmenter, const xlm_word_counts *words,
                                              const xlm_word_counts *allowed);

#endif
