/* xlm-mpi: xlm_embed export, vectors of words and of sentences for other programs. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   names of the vocabulary, or the lines of a file -> ids -> blocks of examples -> vectors -> file */
#include <string.h>

#include "base/log.h"
#include "base/progress.h"
#include "commands/commands.h"
#include "lexicon/frequency.h"
#include "model/model_file.h"
#include "program/line_blocks.h"
#include "program/space_inputs.h"
#include "tasks/sources.h"
#include "text/fields.h"
#include "vectors/sentence_vectors.h"
#include "vectors/vector_file.h"
#include "vectors/word_vectors.h"

enum { BLOCK = 2048, BLOCK_BYTES = 1 << 22 }; /* vectors computed at a time; a block also ends at this many bytes of text */

static struct {
    char *text, *words, *corpus, *language, *pooling, *output;
    gint64 layer, length;
    gboolean special_tokens;
} given = {.layer = -1};

static const GOptionEntry options[] = {
    {"output", 'o', XLM_WRITES, G_OPTION_ARG_FILENAME, &given.output,
     "file to write: HDF5 if its name ends in .h5, otherwise text (default: text on standard output)", "FILE"},
    {"text", 't', XLM_READS, G_OPTION_ARG_FILENAME, &given.text,
     "vectors of the lines of this file, plain or compressed, - for standard input, instead of words", "FILE"},
    {"words", 'w', XLM_READS, G_OPTION_ARG_FILENAME, &given.words,
     "vectors of the words in this file, one per line, instead of the vocabulary's subwords", "FILE"},
    {"language", 'l', 0, G_OPTION_ARG_STRING, &given.language,
     "language of the text, or of words with --layer, by its name in the model; for rows of the word embeddings, the language whose "
     "embedding is added if the model has language embeddings", "LANG"},
    {"corpus", 'c', XLM_READS, G_OPTION_ARG_FILENAME, &given.corpus,
     "only subwords in the training text of --language in this corpus, the most frequent first", "CORPUS.h5"},
    {"layer", 0, 0, G_OPTION_ARG_INT64, &given.layer,
     "layer whose hidden states are used: 0 (embeddings) to the number of layers; default: the last for a text; for words, their "
     "rows of the word embeddings", "N"},
    {"pooling", 0, 0, G_OPTION_ARG_STRING, &given.pooling,
     "how the hidden states of a line are pooled into one vector: mean (default), first or max", "HOW"},
    {"special-tokens", 0, 0, G_OPTION_ARG_NONE, &given.special_tokens,
     "also pool over <s>, </s> and the token of the language, if it has one; for the vocabulary, also list the special tokens",
     NULL},
    {"length", 0, 0, G_OPTION_ARG_INT64, &given.length,
     "maximum number of tokens in a line, including <s> and </s>; longer lines are cut (default: the model's positions)", "N"},
    {.long_name = NULL}};

static int pooling; /* XLM_POOL_... */

/* What is exported, and the numbers of lines that were cut or empty. */
typedef struct work {
    const xlm_comm *comm;
    const char *path;         /* of the checkpoint */
    xlm_loaded_model *loaded;
    xlm_tokenizer *tokenizer;
    xlm_tape *tape;
    int language;             /* id, or -1 */
    int64_t length;
    int pooling;
    bool encoded;             /* hidden states; else rows of the word embeddings */
    xlm_vector_file *file;    /* of rank 0 */
    int64_t done, cut, empty, passed_over, left_out;
    xlm_progress progress;
} work;

/* A block: ids to compute vectors from, and their names. */
typedef struct block {
    GArray *ids;      /* int32_t */
    GArray *offsets;  /* int64_t, one more than there are vectors */
    GPtrArray *names; /* for words; NULL for a text */
} block;

static void open_block(block *b)
{
    const int64_t zero = 0;
    b->ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
    b->offsets = g_array_new(FALSE, FALSE, sizeof(int64_t));
    b->names = given.text == NULL ? g_ptr_array_new_with_free_func(g_free) : NULL;
    g_array_append_val(b->offsets, zero);
}

static void close_block(block *b)
{
    g_array_unref(b->ids);
    g_array_unref(b->offsets);
    if (b->names != NULL)
        g_ptr_array_unref(b->names);
}

static int64_t block_size(const block *b) { return (int64_t)b->offsets->len - 1; }

/* What is encoded begins as a line of text does. */
static void begin_vector(const work *w, block *b)
{
    if (w->encoded)
        xlm_tokenizer_begin(w->tokenizer, w->language, b->ids);
}

/* Ends a vector: the ids added to block->ids belong to one more vector. */
static void end_vector(block *b, const char *name)
{
    const int64_t end = b->ids->len;
    g_array_append_val(b->offsets, end);
    if (b->names != NULL)
        g_ptr_array_add(b->names, g_strdup(name));
}

/* ---- options ---- */

static bool check(GError **error)
{
    if (given.text != NULL && given.words != NULL)
        return xlm_error_set(error, EX_USAGE, "--text and --words cannot be combined");
    if (given.corpus != NULL && (given.text != NULL || given.words != NULL))
        return xlm_error_set(error, EX_USAGE, "--corpus selects subwords of the vocabulary; it cannot be combined with --text or "
                                              "--words");
    if (given.corpus != NULL && given.language == NULL)
        return xlm_error_set(error, EX_USAGE, "--corpus needs --language, the language whose text selects the subwords");
    if (given.layer != -1 && !xlm_program_is_in("layer", given.layer, 0, G_MAXINT64, error))
        return false;
    const bool encoded = given.text != NULL || given.layer >= 0;
    if (!encoded && (given.pooling != NULL || given.length != 0 || xlm_program_has_precision()))
        return xlm_error_set(error, EX_USAGE, "--pooling, --length and --precision are for hidden states; give --text or "
                                              "--layer");
    if (given.words != NULL && !encoded && given.special_tokens)
        return xlm_error_set(error, EX_USAGE, "--special-tokens: the rows of --words have none; give --layer for hidden states");
    if (!xlm_pooling_find(given.pooling, XLM_POOL_MEAN, &pooling, error))
        return false;
    return given.length == 0 || given.length >= 3 ||
           xlm_error_set(error, EX_USAGE, "--length=%" G_GINT64_FORMAT ": must be at least 3, for <s>, a token and "
                                                                       "</s>", given.length);
}

static bool open_work(work *w, GError **error)
{
    if ((w->loaded = xlm_model_file_read(w->path, error)) == NULL)
        return false;
    const xlm_model_config *c = &w->loaded->config;
    if (given.layer > c->layers)
        return xlm_error_set(error, EX_USAGE, "--layer=%" G_GINT64_FORMAT ": the model of %s has %" G_GINT64_FORMAT
                             " layers; 0 is the embeddings", given.layer, w->path, c->layers);
    if (given.length > c->positions)
        return xlm_error_set(error, EX_USAGE, "--length=%" G_GINT64_FORMAT ": the model of %s has %" G_GINT64_FORMAT " positions",
                             given.length, w->path, c->positions);
    w->encoded = given.text != NULL || given.layer >= 0;
    w->length = given.length > 0 ? given.length : c->positions;
    w->pooling = pooling;
    if (given.layer < 0)
        given.layer = w->encoded ? c->layers : -1;
    return xlm_task_language(w->loaded->vocabulary, given.language, w->encoded && xlm_loaded_model_reads_language(w->loaded),
                             "--language NAME", EX_USAGE, &w->language, error) &&
           (w->tokenizer = xlm_tokenizer_new(w->loaded->vocabulary, error)) != NULL &&
           (w->tape = xlm_model_file_tape(w->loaded)) != NULL;
}

static void close_work(work *w)
{
    xlm_vector_file_discard(w->file);
    xlm_tape_free(w->tape);
    xlm_tokenizer_free(w->tokenizer);
    xlm_model_file_free(w->loaded);
}

/* ---- vectors ---- */

static int64_t width(const work *w) { return w->encoded ? w->loaded->config.hidden_size : w->loaded->config.embedding_size; }

/* `<s> ids </s>` for each of the vectors [first, end), cut to the length; to be freed. */
static xlm_examples *make_examples(work *w, const block *b, int64_t first, int64_t end)
{
    xlm_examples *examples = xlm_examples_new(xlm_vocabulary_specials(w->loaded->vocabulary));
    const int32_t language = MAX(w->language, 0);
    for (int64_t i = first; i < end; i++) {
        const int64_t begin = g_array_index(b->offsets, int64_t, i), n = g_array_index(b->offsets, int64_t, i + 1) - begin;
        w->cut += n > w->length - 2;
        w->empty += n == 0;
        xlm_examples_add_sentence(examples, &g_array_index(b->ids, int32_t, begin), n, w->length - 2, language);
    }
    return examples;
}

static bool make_vectors(work *w, const block *b, int64_t first, int64_t end, float *vectors, GError **error)
{
    if (!w->encoded) {
        xlm_word_vectors(&w->loaded->config, w->loaded->parameters, w->language, end - first,
                         &g_array_index(b->offsets, int64_t, first), (const int32_t *)(const void *)b->ids->data, vectors);
        return true;
    }
    const xlm_sentence_encoder encoder = {.comm = w->comm, .model = w->loaded->model, .tape = w->tape, .layer = given.layer,
                                          .pooling = w->pooling, .special_tokens = given.special_tokens};
    xlm_examples *examples = make_examples(w, b, first, end);
    const bool good = xlm_sentence_vectors(&encoder, examples, vectors, error);
    xlm_examples_free(examples);
    return good;
}

/* Collective. The vectors of a block, computed BLOCK at a time, appended to the file by rank 0; then the block is empty. */
static bool export_block(work *w, block *b, GError **error)
{
    const int64_t n = block_size(b);
    g_autofree float *vectors = g_new(float, MAX(MIN(n, BLOCK) * width(w), 1));
    bool good = true;
    for (int64_t first = 0, end; first < n && good; first = end) {
        GError *failure = NULL;
        end = MIN(first + BLOCK, n);
        good = make_vectors(w, b, first, end, vectors, error);
        if (good && w->comm->rank == 0)
            xlm_vector_file_add(w->file, end - first, b->names != NULL ? (const char *const *)b->names->pdata + first : NULL,
                                vectors, &failure);
        good = good && xlm_comm_agree_on(w->comm, failure, error);
        w->done += end - first;
        xlm_progress_show(&w->progress, (double)w->done);
    }
    close_block(b);
    open_block(b);
    return good;
}

static bool describe(const work *w, GError **error)
{
    xlm_vector_file *f = w->file;
    return xlm_vector_file_describe(f, "command", xlm_command_line, error) &&
           xlm_vector_file_describe(f, "model", w->path, error) &&
           xlm_vector_file_describe_number(f, "step", w->loaded->step, error) &&
           xlm_vector_file_describe(f, "content", given.text != NULL ? "sentences" : "words", error) &&
           xlm_vector_file_describe(f, "language", given.language != NULL ? given.language : "", error) &&
           xlm_vector_file_describe(f, "vectors", w->encoded ? "hidden states" : "word embeddings", error) &&
           (!w->encoded || (xlm_vector_file_describe_number(f, "layer", given.layer, error) &&
                            xlm_vector_file_describe(f, "pooling", xlm_pooling_name(w->pooling), error) &&
                            xlm_vector_file_describe(f, "special_tokens", given.special_tokens ? "true" : "false", error)));
}

/* Collective. Rank 0 creates the file; n: as for xlm_vector_file_create. */
static bool create_file(work *w, int64_t n, GError **error)
{
    GError *failure = NULL;
    if (w->comm->rank == 0 && (w->file = xlm_vector_file_create(given.output, n, width(w), &failure)) != NULL)
        describe(w, &failure);
    w->progress = xlm_progress_begin("exporting", (double)MAX(n, 0), given.text != NULL ? "lines" : "words");
    return xlm_comm_agree_on(w->comm, failure, error);
}

/* ---- the vocabulary ---- */

/* Ids of the subwords that are exported. */
static GArray *choose_subwords(const work *w, GError **error)
{
    g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int32_t)), list = NULL;
    for (int32_t id = 0; id < w->loaded->config.vocabulary; id++)
        if (!xlm_is_text(xlm_vocabulary_specials(w->loaded->vocabulary), id) ? given.special_tokens : given.corpus == NULL)
            g_array_append_val(ids, id);
    if (given.corpus == NULL)
        return g_steal_pointer(&ids);
    g_autoptr(xlm_corpus) corpus = xlm_corpus_open(given.corpus, error);
    if (corpus != NULL && xlm_space_inputs_check_corpus(corpus, w->loaded->vocabulary, w->path, error))
        list = xlm_frequency_list_of(corpus, given.language, error);
    for (guint i = 0; list != NULL && i < list->len; i++)
        g_array_append_val(ids, g_array_index(list, xlm_frequency, i).id);
    return list != NULL ? g_steal_pointer(&ids) : NULL;
}

/* Text leaves out names that its readers would not find again: of rows without a token ("[row 17]"), and of tokens such as a line
 * end. */
static bool export_vocabulary(work *w, block *b, GError **error)
{
    GError *failure = NULL;
    g_autoptr(GArray) ids = choose_subwords(w, &failure);
    for (guint i = 0; ids != NULL && i < ids->len; i++) {
        const int32_t id = g_array_index(ids, int32_t, i);
        const char *name = xlm_vocabulary_words(w->loaded->vocabulary)[id];
        if (xlm_vector_file_is_text(given.output) && !xlm_fields_is_word(name)) {
            w->left_out++;
            continue;
        }
        begin_vector(w, b);
        g_array_append_val(b->ids, id);
        end_vector(b, name);
    }
    return xlm_comm_agree_on(w->comm, failure, error) && create_file(w, block_size(b), error) && export_block(w, b, error);
}

/* ---- lines ---- */

/* Adds a line of text, which may be changed, to a block. */
typedef bool add_line(work *w, block *b, char *line, GError **error);

/* Collective. Adds every line of a text, in order, to the block, which is exported whenever it is full. */
static bool read_text(work *w, const char *path, add_line *add, bool export, block *b, GError **error)
{
    xlm_line_blocks input;
    bool good = xlm_line_blocks_open(&input, w->comm, path, error) && (!export || create_file(w, -1, error));
    int64_t number = 0;
    while (good && input.more) {
        good = xlm_line_blocks_next(&input, BLOCK, BLOCK_BYTES, error);
        for (char *line = input.text->str, *end; good && *line != '\0'; line = end + 1) {
            end = strchr(line, '\n');
            *end = '\0';
            if (!(good = add(w, b, line, error)))
                g_prefix_error(error, "%s:%" G_GINT64_FORMAT ": ", input.name, number + 1);
            number++;
        }
        good = good && (!export || export_block(w, b, error));
    }
    xlm_line_blocks_close(&input);
    return good;
}

static bool add_sentence(work *w, block *b, char *line, GError **error)
{
    const bool good = xlm_tokenizer_encode(w->tokenizer, w->language, line, strlen(line), b->ids, NULL, error);
    end_vector(b, NULL);
    return good;
}

static bool export_text(work *w, block *b, GError **error)
{
    return read_text(w, given.text, add_sentence, true, b, error);
}

/* Are there ids from `first` on, all of subwords that the model knows? */
static bool is_known(const work *w, const GArray *ids, guint first)
{
    const int32_t unknown = xlm_vocabulary_special(w->loaded->vocabulary, XLM_UNK);
    guint i = first;
    while (i < ids->len && g_array_index(ids, int32_t, i) != unknown)
        i++;
    return first < ids->len && i == ids->len;
}

/* Adds a line that is one word, without the blanks around it. Other lines are skipped, and so are words without subwords and with
 * an unknown one, whose vector would say nothing of the word, and which other commands take as not covered (find_subwords in
 * vectors/word_space.c). As there, a word is cut as if after another word; but where it is encoded, it is the first of a line. */
static bool add_word(work *w, block *b, char *line, GError **error)
{
    const guint before = b->ids->len;
    begin_vector(w, b);
    const guint begun = b->ids->len;
    const char *word = g_strstrip(line);
    const bool one = *word != '\0' && strpbrk(word, " \t\r\v\f") == NULL;
    if (one && !xlm_tokenizer_encode_word(w->tokenizer, w->language, !w->encoded, word, strlen(word), b->ids, NULL, error))
        return false;
    if (is_known(w, b->ids, begun)) {
        end_vector(b, word);
    } else {
        g_array_set_size(b->ids, before);
        w->passed_over += *word != '\0';
    }
    return true;
}

/* All words are read first: the file begins with their number. */
static bool export_words(work *w, block *b, GError **error)
{
    return read_text(w, given.words, add_word, false, b, error) && create_file(w, block_size(b), error) &&
           export_block(w, b, error);
}

/* ---- the command ---- */

static void report(const work *w)
{
    if (w->left_out > 0)
        xlm_log_warn("%" G_GINT64_FORMAT " subwords left out: rows that no token has, and names with white space or control "
                     "characters, which text has no place for; a file named .h5 has all", w->left_out);
    if (w->cut > 0)
        xlm_log_warn("%" G_GINT64_FORMAT " lines of more than %" G_GINT64_FORMAT " tokens, <s> and </s> included, were cut",
                     w->cut, w->length);
    if (w->empty > 0 && !given.special_tokens)
        xlm_log_warn("%" G_GINT64_FORMAT " lines have no subword; their vectors are zeros", w->empty);
    if (given.text != NULL)
        xlm_tokenizer_warn_unknown(w->tokenizer, given.text);
    if (w->passed_over > 0)
        xlm_log_warn("%" G_GINT64_FORMAT " lines of %s skipped: more than one word, no subword, or one that the model does not "
                     "know", w->passed_over, given.words);
    if (!w->encoded && w->language < 0 && w->loaded->config.language_embeddings)
        xlm_log_info("no language embedding is added; --language adds one");
    char layer[32];
    g_snprintf(layer, sizeof layer, "layer %" G_GINT64_FORMAT, (int64_t)given.layer);
    xlm_log_info("%" G_GINT64_FORMAT " %s x %" G_GINT64_FORMAT ", %s of step %" G_GINT64_FORMAT "%s%s", w->done,
                 given.text != NULL ? "lines" : "words", width(w), w->encoded ? layer : "word embeddings", w->loaded->step,
                 given.output != NULL ? ", written to " : "", given.output != NULL ? given.output : "");
}

static bool finish(work *w, GError **error)
{
    GError *failure = NULL;
    xlm_progress_end(&w->progress);
    if (w->comm->rank == 0 && xlm_vector_file_describe_number(w->file, "cut", w->cut, &failure))
        xlm_vector_file_commit(g_steal_pointer(&w->file), &failure);
    return xlm_comm_agree_on(w->comm, failure, error);
}

static void run(const xlm_comm *comm, char *const *arguments, GError **error)
{
    work w = {.comm = comm, .path = arguments[0], .language = -1};
    block b;
    GError *failure = NULL;
    open_block(&b);
    open_work(&w, &failure);
    if (xlm_comm_agree_on(comm, failure, error) &&
        (given.text != NULL ? export_text : given.words != NULL ? export_words : export_vocabulary)(&w, &b, error) &&
        finish(&w, error))
        report(&w);
    close_block(&b);
    close_work(&w);
}

const xlm_command xlm_embed_export = {
    .name = "export",
    .arguments = "export CHECKPOINT",
    .purpose = "Write vectors of words or sentences for other programs",
    .notes =
        "export: writes the rows of the word embeddings as word2vec's text (a line \"N d\", then lines of a word and its "
        "numbers), which gensim and MUSE read: for all subwords, for those of a language (--corpus), or for whole words "
        "(--words), which are the mean of their subwords; words with a subword that the model does not know are skipped. Text "
        "leaves out subwords with white space or control characters, and rows that no token has; HDF5 has them. A subword "
        "that ends in @@ is continued by the next. With --text it "
        "writes a vector for each line of a text, in order: the hidden states of a layer, pooled over the line's tokens. The "
        "last line of the log says what was written. The result does not depend on the number of ranks. A file named .h5 has "
        "/vectors, /words and attributes for model, layer and pooling.\n\n",
    .examples =
        "  xlm_embed export run1/latest --language en --corpus corpus.h5 -o en.vec\n"
        "  xlm_embed export run1/latest --language de --words words.de -o de.vec\n"
        "  mpiexec -n 4 xlm_embed export run1/latest --language de --text text.de.gz --layer 6 -o de.h5\n"
        "  echo 'The house is red.' | xlm_embed export run1/latest --language en --text - --pooling first --special-tokens\n",
    .options = options,
    .takes = {"one checkpoint", 1, 1},
    .precision = true,
    .check = check,
    .run = run,
};
