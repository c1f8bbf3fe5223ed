/* xlm-mpi: xlm_translate, text translated by a trained encoder and decoder. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rank 0 reads blocks of lines and sends them to the others; all ranks translate (translation/lines.h); rank 0 writes the lines
 * of the block before the next one is read. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/exhaustion.h"
#include "base/log.h"
#include "base/progress.h"
#include "files/files.h"
#include "files/new_file.h"
#include "files/path.h"
#include "gemm/hardware.h"
#include "job/translation_pairs.h"
#include "model/model_file.h"
#include "program/line_blocks.h"
#include "program/program.h"
#include "run/rank_kernels.h"
#include "train/arithmetic.h"
#include "translation/lines.h"

static const xlm_program program = {
    .name = "xlm_translate",
    .arguments = "CHECKPOINT [FILE...]",
    .progress = true,
    .precision = true,
    .purpose = "Translate text with a trained model that has a decoder",
    .notes =
        "Each line of the files, plain or compressed, is a sentence; without files, or for -, standard input is read. Translations are\n"
        "written in the order of the input, a line for each line, on standard output or to the file of -o. They are the same on\n"
        "any number of ranks and for any --block and --batch-tokens. A line without text has one empty translation, with --scores\n"
        "of score 0, with --n-best behind its number. Subwords are joined into words; if the segmenter treats punctuation marks\n"
        "as words, they are also words in the translation.\n\n"
        "Words are chosen by beam search: the score of a translation of n tokens is log p / (n + 1)^A, where --length-penalty\n"
        "sets A. A line that is longer than the model's positions is divided at its sentence ends. Lines of files are checked\n"
        "before any is translated.\n\n"
        "Where languages have tokens (M2M100, NLLB-200: eng_Latn), --from and --to are needed, and a token counts in --max-length.\n\n"
        "Examples:\n"
        "  xlm_translate model/latest --from en --to de text.en > text.de\n"
        "  mpiexec -n 4 xlm_translate model/latest --from en --to de text.en.gz -o text.de --alignment links\n"
        "  echo 'the house is red' | xlm_translate model/latest --from en --to de --n-best 5 --scores\n"
        "  xlm_translate model/latest --from en --to de --sample --temperature 0.8 --n-best 3 text.en\n\n",
    .files =
        "  CHECKPOINT  a checkpoint of xlm_train, for example OUTPUT/latest\n"
        "  FILE        text, one sentence per line; UTF-8\n",
};

static struct {
    char *from, *to, *output, *max_length, *alignment, *alignment_method, *long_lines;
    gint64 beam, n_best, top_k, seed, batch_tokens, block, length, alignment_layer, threads;
    double length_penalty, temperature, alignment_threshold;
    gboolean early_stopping, scores, sample;
} given = {.alignment_layer = -1, .n_best = 1, .seed = 1, .batch_tokens = 16384, .length_penalty = 1, .temperature = 1};

enum { DEFAULT_BEAM = 5 };

static const GOptionEntry text_options[] = {
    {"from", 0, 0, G_OPTION_ARG_STRING, &given.from, "language of the text, by its name in the model", "LANG"},
    {"to", 0, 0, G_OPTION_ARG_STRING, &given.to, "language of the translations", "LANG"},
    {"length", 0, 0, G_OPTION_ARG_INT64, &given.length,
     "maximum number of tokens of a sentence, including <s> and </s> (default: the model's positions)", "N"},
    {"long-lines", 0, 0, G_OPTION_ARG_STRING, &given.long_lines,
     "what is done with a longer line: it is divided at its sentence ends, and a sentence that is still too long is refused "
     "(split, the default), or cut between words (cut); the line is refused (refuse)", "split|cut|refuse"},
    {"block", 0, 0, G_OPTION_ARG_INT64, &given.block,
     "number of lines that are read, sorted by length and written together (default: 1024 for each rank); no line of them begins "
     "after 16 MiB or, if that is more, 256 KiB for each rank", "N"},
    {.long_name = NULL}};

static const GOptionEntry search_options[] = {
    {"beam", 0, 0, G_OPTION_ARG_INT64, &given.beam,
     "number of hypotheses of a sentence (default 5, or --n-best if it is larger); 1: greedy search", "K"},
    {"length-penalty", 0, 0, G_OPTION_ARG_DOUBLE, &given.length_penalty,
     "exponent of the length by which log-probabilities are divided (default 1); larger ones prefer longer translations", "A"},
    {"early-stopping", 0, 0, G_OPTION_ARG_NONE, &given.early_stopping,
     "end the search of a sentence as soon as it has K finished hypotheses", NULL},
    {"max-length", 0, 0, G_OPTION_ARG_STRING, &given.max_length,
     "a translation of a sentence of n tokens has at most A n + B (default 1.5,10), and no more than the model has "
     "positions", "A,B"},
    {"sample", 0, 0, G_OPTION_ARG_NONE, &given.sample, "draw each token instead, --n-best translations of a sentence", NULL},
    {"temperature", 0, 0, G_OPTION_ARG_DOUBLE, &given.temperature, "with --sample: draw from p^(1/T) (default 1)", "T"},
    {"top-k", 0, 0, G_OPTION_ARG_INT64, &given.top_k, "with --sample: draw among the K most probable tokens (default: all)", "K"},
    {"seed", 0, 0, G_OPTION_ARG_INT64, &given.seed, "with --sample: seed of the draws (default 1)", "S"},
    {"batch-tokens", 0, 0, G_OPTION_ARG_INT64, &given.batch_tokens,
     "maximum number of tokens of all hypotheses that a rank searches at a time (default 16384); more take more memory", "N"},
    {"threads", 0, 0, G_OPTION_ARG_INT64, &given.threads, XLM_THREADS_HELP, "N"},
    {.long_name = NULL}};

static const GOptionEntry output_options[] = {
    {"output", 'o', XLM_WRITES, G_OPTION_ARG_FILENAME, &given.output,
     "file of the translations (default: standard output)", "FILE"},
    {"n-best", 0, 0, G_OPTION_ARG_INT64, &given.n_best,
     "number of translations of each line (default 1); from 2 on, the number of the line and a tab come before each", "N"},
    {"scores", 0, 0, G_OPTION_ARG_NONE, &given.scores, "write the score and a tab before each translation", NULL},
    {"alignment", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.alignment,
     "file of the links between words of each line and of its translation, as 0-0 1-2, words being what is between "
     "blanks", "FILE"},
    {"alignment-method", 0, 0, G_OPTION_ARG_STRING, &given.alignment_method,
     "how they are found: each token of the translation is linked with the token that it attends to most, by the mean over the "
     "heads of a layer of the decoder (attention, the default); or from the states of a layer of the encoder, which reads both, "
     "by optimal transport, Argmax or Itermax, as xlm_align --checkpoint does", "attention|ot|argmax|itermax"},
    {"alignment-layer", 0, 0, G_OPTION_ARG_INT64, &given.alignment_layer,
     "that layer: of the decoder, 1 to the number of them (default: the last); of the encoder, 0 to the number of them (default: "
     "two thirds of it)", "N"},
    {"alignment-threshold", 0, 0, G_OPTION_ARG_DOUBLE, &given.alignment_threshold,
     "with attention: link with all tokens that get at least this share, instead of the one that gets most", "P"},
    {.long_name = NULL}};

static const xlm_program_group option_groups[XLM_PROGRAM_GROUPS] = {
    {"Text", text_options}, {"Search", search_options}, {"Output", output_options}};

/* Attention, followed by XLM_LINK_METHODS. */
static const char *const alignment_methods[] = {"attention", "ot", "argmax", "itermax", NULL};
static const char *const long_lines[] = {[XLM_LONG_SPLIT] = "split", [XLM_LONG_CUT] = "cut", [XLM_LONG_REFUSE] = "refuse", NULL};

/* ---- options ---- */

static bool read_max_length(xlm_translation_options *o, GError **error)
{
    if (given.max_length == NULL)
        return true;
    char *comma, *end = NULL;
    o->length_ratio = g_ascii_strtod(given.max_length, &comma);
    if (comma != given.max_length && *comma == ',')
        o->length_constant = g_ascii_strtoll(comma + 1, &end, 10);
    return (end != NULL && end != comma + 1 && *end == '\0' && o->length_ratio >= 0 && o->length_ratio <= 1e6 &&
            o->length_constant >= 0 && o->length_constant <= 1 << 20 && o->length_ratio + (double)o->length_constant > 0) ||
           xlm_error_set(error, EX_USAGE, "--max-length=%s: must be two numbers that are not negative, such as 1.5,10",
                         given.max_length);
}

/* The options of sampling, and those of search, exclude one another. */
static bool check_search(GError **error)
{
    if (given.sample && (given.beam != 0 || given.early_stopping))
        return xlm_error_set(error, EX_USAGE, "--sample draws translations, and --beam and --early-stopping search for them");
    if (!given.sample && (given.temperature < 1 || given.temperature > 1 || given.top_k != 0 || given.seed != 1))
        return xlm_error_set(error, EX_USAGE, "--temperature, --top-k and --seed are for --sample");
    if (!(given.temperature >= 1e-3 && given.temperature <= 1e3))
        return xlm_error_set(error, EX_USAGE, "--temperature=%g: must be 0.001 to 1000", given.temperature);
    if (!(given.length_penalty >= -100 && given.length_penalty <= 100))
        return xlm_error_set(error, EX_USAGE, "--length-penalty=%g: must be -100 to 100", given.length_penalty);
    return xlm_program_is_in("n-best", given.n_best, 1, XLM_MAX_BEAM, error) &&
           (given.beam == 0 || xlm_program_is_in("beam", given.beam, 1, XLM_MAX_BEAM, error)) &&
           xlm_program_is_in("top-k", given.top_k, 0, G_MAXINT32, error) &&
           xlm_program_is_in("seed", given.seed, 0, G_MAXINT64, error) &&
           xlm_program_is_in("batch-tokens", given.batch_tokens, 1, G_MAXINT32, error);
}

static bool check_options(GError **error)
{
    const bool threshold = given.alignment_threshold > 0 || given.alignment_threshold < 0;
    if (!xlm_program_is_one_of("alignment-method", given.alignment_method, alignment_methods, error))
        return false;
    const bool states = xlm_program_number_of(given.alignment_method, alignment_methods) > 0;
    if (given.alignment == NULL && (given.alignment_layer != -1 || given.alignment_method != NULL || threshold))
        return xlm_error_set(error, EX_USAGE, "--alignment-method, --alignment-layer and --alignment-threshold are for --alignment");
    if (states && threshold)
        return xlm_error_set(error, EX_USAGE, "--alignment-threshold is for --alignment-method=attention");
    if (!(given.alignment_threshold >= 0 && given.alignment_threshold <= 1))
        return xlm_error_set(error, EX_USAGE, "--alignment-threshold=%g: must be 0 to 1", given.alignment_threshold);
    return check_search(error) &&
           (given.alignment_layer == -1 ||
            xlm_program_is_in("alignment-layer", given.alignment_layer, states ? 0 : 1, 1000, error)) &&
           (given.length == 0 || xlm_program_is_in("length", given.length, 3, G_MAXINT32, error)) &&
           (given.block == 0 || xlm_program_is_in("block", given.block, 1, G_MAXINT32, error)) &&
           xlm_program_check_threads(given.threads, error) &&
           xlm_program_is_one_of("long-lines", given.long_lines, long_lines, error);
}

static bool read_options(int *argc, char ***argv, GError **error)
{
    return xlm_program_parse(&program, option_groups, argc, argv, error) &&
           (*argc >= 2 || xlm_error_set(error, EX_USAGE, "a checkpoint is needed; see xlm_translate --help")) &&
           check_options(error);
}

/* ---- opening and closing ---- */

typedef struct work {
    const xlm_comm *comm;
    const char *path;       /* of the checkpoint */
    xlm_loaded_model *loaded;
    xlm_tape *tape;
    xlm_tokenizer *tokenizer;
    xlm_sentence_splitter *sentences;
    xlm_translation_options options;
    xlm_line_translator lines;
    xlm_new_file output, alignment; /* of rank 0 */
    int64_t expected; /* sentences of all files; 0: not known, since standard input is one of them */
    double begin;
    xlm_progress progress;
} work;

/* needed: what the model has that the language is needed for; NULL: nothing. */
static bool find_language(const work *w, const char *option, const char *name, const char *needed, int32_t *id, GError **error)
{
    const xlm_vocabulary *v = w->loaded->vocabulary;
    g_autofree char *known = g_strjoinv(", ", (char **)xlm_vocabulary_language_names(v));
    *id = name != NULL ? xlm_vocabulary_find_language(v, name) : -1;
    if (name != NULL && *id < 0)
        return xlm_error_set(error, EX_USAGE, "--%s=%s: the model has no such language; it has %s", option, name, known);
    return name != NULL || needed == NULL ||
           xlm_error_set(error, EX_USAGE, "the model has %s; give --%s (one of %s)", needed, option, known);
}

static void choose_links(const xlm_model_config *config, xlm_translation_options *o)
{
    const int number = xlm_program_number_of(given.alignment_method, alignment_methods);
    o->links_by = number == 0 ? XLM_LINKS_BY_ATTENTION : XLM_LINKS_BY_STATES;
    o->link_method = (xlm_link_method)MAX(number - 1, 0);
    o->link_layer = given.alignment_layer != -1 ? given.alignment_layer
                    : number == 0 ? config->decoder_layers : (2 * config->layers + 1) / 3;
    o->link_threshold = given.alignment_threshold;
}

static bool choose_options(work *w, GError **error)
{
    xlm_translation_options *o = &w->options;
    *o = xlm_translation_defaults;
    o->search = (xlm_search_options){
        .beam = given.sample ? given.n_best : given.beam != 0 ? given.beam : MAX(DEFAULT_BEAM, given.n_best),
        .length_penalty = given.length_penalty, .early_stopping = given.early_stopping,
        .temperature = given.sample ? given.temperature : 0, .top_k = given.top_k, .seed = (uint64_t)given.seed};
    o->n_best = given.n_best;
    o->batch_tokens = given.batch_tokens;
    if (given.alignment != NULL)
        choose_links(&w->loaded->config, o);
    return read_max_length(o, error);
}

static bool check_model(work *w, GError **error)
{
    GError *why = NULL;
    const xlm_model_config *c = &w->loaded->config;
    if (!xlm_translation_check(w->loaded->model, xlm_vocabulary_specials(w->loaded->vocabulary), &w->options, &why)) {
        const int code = xlm_error_exit_code(why);
        xlm_error_set(error, code, "%s%s%s", code == EX_DATAERR ? w->path : "", code == EX_DATAERR ? ": " : "", why->message);
        g_error_free(why);
        return false;
    }
    return given.length <= c->positions ||
           xlm_error_set(error, EX_USAGE, "--length=%" G_GINT64_FORMAT ": the model of %s has %" G_GINT64_FORMAT " positions",
                         (int64_t)given.length, w->path, c->positions);
}

static bool open_translator(work *w, GError **error)
{
    xlm_line_translator *l = &w->lines;
    const bool named = xlm_vocabulary_language_form(w->loaded->vocabulary) != NULL;
    const char *embeddings = w->loaded->config.language_embeddings ? "language embeddings" : named ? "tokens of languages" : NULL;
    const char *tokens = w->loaded->config.language_tokens ? "language tokens" : embeddings;
    if (!find_language(w, "from", given.from, embeddings, &l->from, error) ||
        !find_language(w, "to", given.to, tokens, &l->to, error) ||
        (w->tokenizer = xlm_tokenizer_new(w->loaded->vocabulary, error)) == NULL ||
        (w->sentences = xlm_sentence_splitter_new(given.from, error)) == NULL)
        return false;
    l->encoder = (xlm_line_encoder){
        .tokenizer = w->tokenizer, .sentences = w->sentences, .language = l->from,
        .longest = given.length != 0 ? given.length - 2 : xlm_translation_longest(w->loaded->model),
        .long_lines = (xlm_long_lines)xlm_program_number_of(given.long_lines, long_lines)};
    if (l->encoder.longest < 2 && xlm_language_token(xlm_vocabulary_specials(w->loaded->vocabulary), l->from) >= 0)
        return xlm_error_set(error, EX_USAGE, "sentences of 3 tokens have no place for a word: <s>, the token of the language and "
                             "</s> take them; 4 are needed");
    l->from = MAX(l->from, 0);
    l->to = MAX(l->to, 0);
    l->translator = (xlm_translator){.comm = w->comm, .model = w->loaded->model, .options = &w->options,
                                     .specials = xlm_vocabulary_specials(w->loaded->vocabulary)};
    l->form = (xlm_line_columns){.numbers = given.n_best > 1, .scores = given.scores};
    l->parts = xlm_line_parts_new(given.alignment != NULL);
    return true;
}

/* Of rank 0. */
static void warn_of_pair(const work *w)
{
    const xlm_model_config *config = &w->loaded->config;
    const char *trained = w->loaded->translations;
    if (trained == NULL)
        return;
    if (!xlm_decoder_knows_language(config, xlm_vocabulary_specials(w->loaded->vocabulary)) && xlm_job_translates_into_several(trained))
        xlm_log_warn("%s: it was trained to translate into several languages (%s), and without language embeddings or tokens it "
                     "cannot know which of them is wanted; expect poor translations", w->path, trained);
    else if (!xlm_job_translates(trained, given.from, given.to))
        xlm_log_warn("%s: its run was not trained to translate%s%s%s%s%s%s; expect poor translations", w->path,
                     given.from != NULL ? " " : "", given.from != NULL ? given.from : "", given.to != NULL ? " into " : "",
                     given.to != NULL ? given.to : "", *trained != '\0' ? ", only " : "", trained);
}

/* Collective. Is there memory for the largest batch, on each node? The tape gets room for it. */
static bool check_memory(work *w, GError **error)
{
    xlm_line_translator *l = &w->lines;
    const double gib = 1 << 30;
    GError *failure = NULL;
    xlm_model_file_pack_float32(xlm_arithmetic_packs_in_search(w->comm));
    w->tape = l->translator.tape = xlm_model_file_tape(w->loaded);
    const uint64_t batch = xlm_translation_bytes(&l->translator, l->encoder.longest), left = xlm_memory_left();
    const uint64_t packed = xlm_model_file_packed_bytes(w->loaded), bytes = batch + packed, space = xlm_address_space_left();
    const uint64_t node = (uint64_t)xlm_comm_sum_node(w->comm, (int64_t)bytes);
    if (node > left || bytes > space)
        xlm_error_set(&failure, EX_UNAVAILABLE, "a batch of --batch-tokens %" G_GINT64_FORMAT ", or of the longest sentence, with %"
                      G_GINT64_FORMAT " hypotheses%s takes about %.2f GiB on each rank, and %.2f GiB are free; lower --batch-tokens, "
                      "--beam, --max-length or --length", (int64_t)given.batch_tokens, w->options.search.beam,
                      packed > 0 ? " and a copy of the parameters" : "", (double)bytes / gib,
                      (double)MIN(left / (uint64_t)w->comm->local_ranks, space) / gib);
    if (!xlm_comm_agree_on(w->comm, failure, error))
        return false;
    xlm_tape_reserve(w->tape, batch);
    return true;
}

static bool open_output(work *w, GError **error)
{
    return (given.output == NULL || xlm_new_file_create(&w->output, given.output, error)) &&
           (given.alignment == NULL || xlm_new_file_create(&w->alignment, given.alignment, error));
}

/* Collective. */
static bool open_work(work *w, const xlm_comm *comm, const char *path, GError **error)
{
    GError *failure = NULL;
    xlm_hardware hardware;
    w->comm = comm;
    w->path = path;
    xlm_hardware_open(&hardware, (int)given.threads, comm->local_ranks);
    xlm_rank_kernels_compare(comm, &hardware, xlm_program_precision() != XLM_FLOAT32, xlm_program_precision());
    const bool good = (w->loaded = xlm_model_file_read(path, &failure)) != NULL && choose_options(w, &failure) &&
                      check_model(w, &failure) && open_translator(w, &failure);
    if (good && comm->rank == 0)
        warn_of_pair(w);
    if (!xlm_comm_agree_on(comm, failure, error) || !check_memory(w, error))
        return false;
    failure = NULL;
    if (comm->rank == 0)
        open_output(w, &failure);
    return xlm_comm_agree_on(comm, failure, error);
}

static void close_work(work *w)
{
    if (w->output.stream != NULL)
        xlm_new_file_discard(&w->output);
    if (w->alignment.stream != NULL)
        xlm_new_file_discard(&w->alignment);
    xlm_line_parts_free(w->lines.parts);
    xlm_sentence_splitter_free(w->sentences);
    xlm_tokenizer_free(w->tokenizer);
    xlm_tape_free(w->tape);
    xlm_model_file_free(w->loaded);
}

/* ---- translating ---- */

/* On rank 0, for its share of a block: sentences are counted as if all ranks had done as much. */
static void show_progress(void *data, int64_t sentences, int64_t tokens)
{
    work *w = data;
    const double ranks = w->comm->ranks, done = (double)w->lines.counts.parts + ranks * (double)sentences;
    w->progress.other = (double)w->lines.counts.written + ranks * (double)tokens;
    xlm_progress_show(&w->progress, done);
}

static bool put(FILE *stream, const char *path, const GString *text, GError **error)
{
    errno = 0;
    if (fwrite(text->str, 1, text->len, stream) == text->len)
        return path != NULL || xlm_program_flush(error);
    return path != NULL ? xlm_new_file_failed(path, "cannot be written", errno, error)
                        : xlm_error_set(error, EX_IOERR, "standard output: %s", g_strerror(errno));
}

/* Collective. Translate a block, and write its translations. */
static bool translate_block(work *w, const xlm_line_block *block, GError **error)
{
    const bool writes = w->comm->rank == 0;
    g_autoptr(GString) text = g_string_new(NULL), links = g_string_new(NULL);
    GError *failure = NULL;
    if (!xlm_line_block_translate(&w->lines, block, writes ? text : NULL, writes && given.alignment != NULL ? links : NULL, error))
        return false;
    if (writes && put(given.output != NULL ? w->output.stream : stdout, given.output, text, &failure) && given.alignment != NULL)
        put(w->alignment.stream, given.alignment, links, &failure);
    return xlm_comm_agree_on(w->comm, failure, error);
}

static bool look_through_block(work *w, const xlm_line_block *block, GError **error)
{
    if (!xlm_line_block_encode(&w->lines, block, error))
        return false;
    w->expected += (int64_t)w->lines.parts->offsets->len - 1;
    xlm_progress_show(&w->progress, (double)w->expected);
    return true;
}

/* Collective. Give the blocks of a file to `take`. */
static bool each_block(work *w, const char *path, bool (*take)(work *, const xlm_line_block *, GError **), GError **error)
{
    const int64_t lines = given.block != 0 ? given.block : XLM_LINE_BLOCK_LINES * (int64_t)w->comm->ranks;
    xlm_line_blocks input;
    bool good = xlm_line_blocks_open(&input, w->comm, path, error);
    for (int64_t number = 1; good && input.more; number += (int64_t)w->lines.parts->first->len - 1) {
        good = xlm_line_blocks_next(&input, lines, xlm_line_block_bytes(w->comm->ranks), error);
        const xlm_line_block block = {.name = input.name, .number = number, .before = w->lines.counts.lines,
                                      .text = input.text->str, .size = input.text->len};
        good = good && take(w, &block, error);
    }
    xlm_line_blocks_close(&input);
    return good;
}

static bool is_standard_input(const char *path) { return strcmp(path, "-") == 0; }

/* Standard input cannot be read twice. */
static bool check_inputs(char *const *paths, GError **error)
{
    int times = 0;
    for (; *paths != NULL; paths++)
        times += is_standard_input(*paths);
    return times <= 1 || xlm_error_set(error, EX_USAGE, "standard input, -, is named %d times, but can be read once", times);
}

/* Collective. A file that cannot be read, or a line that cannot be translated, would end the program after hours of work. */
static bool look_through(work *w, char *const *paths, GError **error)
{
    bool good = true, all = true;
    w->progress = xlm_progress_begin("looking through the text", 0, "sentences");
    for (; good && *paths != NULL; paths++)
        if (is_standard_input(*paths))
            all = false;
        else
            good = each_block(w, *paths, look_through_block, error);
    xlm_progress_end(&w->progress);
    if (!all)
        w->expected = 0;
    return good;
}

static void report(const work *w)
{
    const xlm_line_counts *c = &w->lines.counts;
    const double seconds = xlm_clock() - w->begin;
    char sentences[16], tokens[16], time[16];
    if (c->divided > 0)
        xlm_log_warn("%" G_GINT64_FORMAT " lines of more than %" G_GINT64_FORMAT " tokens were divided", c->divided,
                     w->lines.encoder.longest);
    if (c->unknown > 0)
        xlm_log_warn("%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " tokens of the text are unknown to the model", c->unknown, c->ids);
    if (c->empty > 0)
        xlm_log_warn("%" G_GINT64_FORMAT " translations of lines with text are empty", c->empty);
    xlm_log_info("%" G_GINT64_FORMAT " lines, %" G_GINT64_FORMAT " sentences, %" G_GINT64_FORMAT " tokens written in %s: %s sentences/s, "
                 "%s tokens/s", c->lines, c->parts, c->written, xlm_log_time(seconds, time),
                 xlm_log_count((double)c->parts / seconds, sentences), xlm_log_count((double)c->written / seconds, tokens));
}

/* Collective. Give the files their names. */
static bool finish(work *w, GError **error)
{
    GError *failure = NULL;
    if (w->comm->rank == 0 && (given.output == NULL || xlm_new_file_commit(&w->output, &failure)) && given.alignment != NULL)
        xlm_new_file_commit(&w->alignment, &failure);
    return xlm_comm_agree_on(w->comm, failure, error);
}

static bool translate(work *w, char *const *paths, GError **error)
{
    static char standard_input[] = "-", *const input[] = {standard_input, NULL};
    if (*paths == NULL)
        paths = input;
    if (!check_inputs(paths, error))
        return false;
    bool good = look_through(w, paths, error);
    w->begin = xlm_clock();
    w->progress = xlm_progress_begin("translating", (double)w->expected, "sentences");
    w->progress.other_unit = "tokens";
    if (w->comm->rank == 0) {
        w->lines.translator.progress = show_progress;
        w->lines.translator.progress_data = w;
    }
    for (; good && *paths != NULL; paths++)
        good = each_block(w, *paths, translate_block, error);
    xlm_progress_end(&w->progress);
    return good && finish(w, error);
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    work w = {0};
    read_options(&argc, &argv, &error);
    xlm_comm comm;
    if (xlm_program_open(program.name, &comm, &argc, &argv, &error) && open_work(&w, &comm, argv[1], &error) &&
        translate(&w, argv + 2, &error))
        report(&w);
    close_work(&w);
    xlm_program_free_options(option_groups);
    return xlm_comm_close(&comm, error);
}
