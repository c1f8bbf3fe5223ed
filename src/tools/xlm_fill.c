/* xlm-mpi: xlm_fill, a trained model's guesses for masked words. SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/terminal.h"
#include "gemm/hardware.h"
#include "model/model_file.h"
#include "objective/views.h"
#include "program/program.h"
#include "stream/examples.h"
#include "subwords/tokenizer.h"
#include "tasks/sources.h"
#include "text/lines.h"

static const char MASK[] = "<mask>"; /* whatever its name in the vocabulary */

/* Only the checkpoint is a file; the other arguments are sentences. */
static int role(int argument) { return argument == 1 ? XLM_READS : 0; }

static const xlm_program program = {
    .name = "xlm_fill",
    .arguments = "CHECKPOINT [SENTENCE...]",
    .precision = true,
    .role = role,
    .purpose = "Fill in the words for <mask> in a sentence with a trained model's best predictions",
    .notes =
        "Without sentences on the command line they are read from standard input, one per line. A sentence may have several\n"
        "masks, which may also be written as in the vocabulary: [MASK] for BERT, <special1> for XLM. They are printed by that\n"
        "name. A prediction that ends in @@ is the beginning of a word.\n\n"
        "Examples:\n"
        "  xlm_fill model/latest --language en \"The <mask> is red.\"\n"
        "  xlm_fill model/latest --language de --top 10 < sentences\n\n",
    .files =
        "  CHECKPOINT  a checkpoint of xlm_train, for example OUTPUT/latest\n",
};

static struct {
    char *language;
    gint64 top;
} given = {.top = 5};

static const GOptionEntry options[] = {
    {"language", 'l', 0, G_OPTION_ARG_STRING, &given.language, "language of the sentences, by its name in the corpus", "LANG"},
    {"top", 'k', 0, G_OPTION_ARG_INT64, &given.top, "number of predictions for each mask (default 5)", "N"},
    {.long_name = NULL}};

static const xlm_program_group option_groups[XLM_PROGRAM_GROUPS] = {{"Options", options}};

typedef struct filler {
    xlm_loaded_model *loaded;
    xlm_tokenizer *tokenizer;
    xlm_tape *tape;
    xlm_arena *arena;
    int language;
} filler;

/* The name of the mask token in the vocabulary. */
static const char *mask_name(const filler *f)
{
    const xlm_vocabulary *v = f->loaded->vocabulary;
    return xlm_vocabulary_words(v)[xlm_vocabulary_special(v, XLM_MASK)];
}

/* The first mask in a text, NULL for none; its size. */
static const char *find_mask(const filler *f, const char *text, size_t *size)
{
    const char *usual = strstr(text, MASK), *own = strstr(text, mask_name(f));
    const bool is_usual = usual != NULL && (own == NULL || usual < own);
    *size = strlen(is_usual ? MASK : mask_name(f));
    return is_usual ? usual : own;
}

/* The ids of a sentence between <s> and </s>; rows: the positions of the masks; named: the sentence with the vocabulary's name
 * for them. */
static bool encode(filler *f, const char *sentence, GArray *ids, GArray *rows, GString *named, GError **error)
{
    const xlm_special_tokens *specials = xlm_vocabulary_specials(f->loaded->vocabulary);
    const char *end;
    size_t mask;
    if (!g_utf8_validate(sentence, -1, &end))
        return xlm_error_set(error, EX_DATAERR, "byte %td: 0x%02x is not UTF-8", end - sentence + 1, (unsigned char)*end);
    g_array_append_val(ids, specials->id[XLM_BOS]);
    xlm_tokenizer_begin(f->tokenizer, f->language, ids);
    for (const char *rest = sentence;;) {
        const char *next = find_mask(f, rest, &mask);
        const size_t size = next != NULL ? (size_t)(next - rest) : strlen(rest);
        size_t text = size; /* a space before a mask belongs to the mask */
        while (next != NULL && text > 0 && rest[text - 1] == ' ')
            text--;
        if (!xlm_tokenizer_encode_word(f->tokenizer, f->language, false, rest, text, ids, NULL, error))
            return false;
        g_string_append_len(named, rest, (gssize)size);
        if (next == NULL)
            break;
        g_string_append(named, mask_name(f));
        const int32_t row = (int32_t)ids->len;
        g_array_append_val(rows, row);
        g_array_append_val(ids, specials->id[XLM_MASK]);
        rest = next + mask;
    }
    g_array_append_val(ids, specials->id[XLM_EOS]);
    if (rows->len == 0)
        return strcmp(mask_name(f), MASK) == 0
                   ? xlm_error_set(error, EX_DATAERR, "there is no %s in \"%s\"", MASK, sentence)
                   : xlm_error_set(error, EX_DATAERR, "there is no %s, and no %s, in \"%s\"", mask_name(f), MASK, sentence);
    if (ids->len > f->loaded->config.positions)
        return xlm_error_set(error, EX_DATAERR, "%u subwords are too many for a model of %" G_GINT64_FORMAT
                             " positions; shorten the sentence", ids->len, f->loaded->config.positions);
    return true;
}

/* The sentence as an example, whose masks are predicted. */
static xlm_examples *make_example(const filler *f, const GArray *ids, const GArray *rows)
{
    xlm_examples *example = xlm_examples_new(xlm_vocabulary_specials(f->loaded->vocabulary));
    for (guint i = 0, mask = 0; i < ids->len; i++) {
        xlm_examples_add(example, g_array_index(ids, int32_t, i), MAX(f->language, 0), 0);
        if (mask < rows->len && g_array_index(rows, int32_t, mask) == (int32_t)i) {
            xlm_examples_predict(example, -1);
            mask++;
        }
    }
    xlm_examples_end(example);
    return example;
}

/* Logits of the masked rows, M x V, memory of the tape; NULL on errors. */
static const float *predict(filler *f, const GArray *ids, const GArray *rows, GError **error)
{
    static const xlm_view masked = {.layer = XLM_TOP_LAYER, .rows = XLM_ROWS_PREDICTED};
    xlm_examples *example = make_example(f, ids, rows);
    xlm_batch batch;
    float *logits = NULL;
    xlm_arena_reset(f->arena);
    if (xlm_examples_read(example, 1, &(int64_t){0}, &(uint32_t){0}, f->arena, &batch, error)) {
        xlm_tape_begin(f->tape, NULL, false, 0, 0);
        xlm_var *hidden = xlm_encode_view(f->loaded->model, f->tape, &batch, &masked);
        const xlm_var *z = xlm_lm_logits(f->loaded->model, f->tape, XLM_STACK_ENCODER, hidden);
        logits = xlm_tape_take(f->tape, sizeof *logits * (uint64_t)(xlm_var_rows(z) * xlm_var_cols(z)));
        xlm_var_read(z, 0, xlm_var_rows(z), logits);
    }
    xlm_examples_free(example);
    return logits;
}

/* The `top` highest of logits[size] without special tokens and rows that no token has, highest first. */
static void print_guesses(const filler *f, const float *logits, int64_t size)
{
    const char *const *words = xlm_vocabulary_words(f->loaded->vocabulary);
    double highest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < size; i++)
        highest = fmax(highest, logits[i]);
    for (int64_t i = 0; i < size; i++)
        sum += exp(logits[i] - highest);
    g_autofree bool *shown = g_new0(bool, size);
    for (gint64 k = 0; k < given.top; k++) {
        int64_t best = -1;
        for (int64_t i = 0; i < size; i++)
            if (!shown[i] && (best < 0 || logits[i] > logits[best]) &&
                xlm_is_text(xlm_vocabulary_specials(f->loaded->vocabulary), (int32_t)i) && !xlm_is_row_name(words[i]))
                best = i;
        if (best < 0)
            break;
        shown[best] = true;
        g_autofree char *word = xlm_terminal_escape(words[best]);
        printf("  %5.1f%%  %s\n", 100 * exp(logits[best] - highest) / sum, word);
    }
}

/* place: for messages. */
static bool fill(filler *f, const char *sentence, const char *place, GError **error)
{
    g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int32_t)), rows = g_array_new(FALSE, FALSE, sizeof(int32_t));
    g_autoptr(GString) named = g_string_new(NULL);
    const float *logits = encode(f, sentence, ids, rows, named, error) ? predict(f, ids, rows, error) : NULL;
    if (logits == NULL) {
        g_prefix_error(error, "%s: ", place);
        return false;
    }
    const int64_t size = f->loaded->config.vocabulary;
    g_autofree char *shown = xlm_terminal_escape(named->str);
    printf("%s\n", shown);
    for (guint m = 0; m < rows->len; m++) {
        if (rows->len > 1)
            printf(" mask %u\n", m + 1);
        print_guesses(f, logits + m * size, size);
    }
    return xlm_program_flush(error);
}

static bool fill_lines(filler *f, FILE *in, GError **error)
{
    char *line = NULL;
    size_t room = 0, number = 0;
    bool good = true;
    for (ssize_t n; good && (n = getline(&line, &room, in)) >= 0;) {
        char place[64];
        g_snprintf(place, sizeof place, "standard input:%zu", ++number);
        if (memchr(line, '\0', (size_t)n) != NULL)
            good = xlm_error_set(error, EX_DATAERR, "%s: a byte of zero; this is not text", place);
        size_t size = (size_t)n - (line[n - 1] == '\n');
        const size_t mark = number == 1 ? xlm_lines_mark(line, size) : 0;
        size = xlm_lines_end(line + mark, size - mark);
        line[mark + size] = '\0';
        good = good && (size == 0 || fill(f, line + mark, place, error));
    }
    if (good && ferror(in))
        good = xlm_error_set(error, EX_IOERR, "standard input: %s", g_strerror(errno));
    free(line);
    return good;
}

static bool open_filler(filler *f, const char *path, GError **error)
{
    xlm_hardware hardware;
    xlm_hardware_open(&hardware, 0, 1);
    if ((f->loaded = xlm_model_file_read(path, error)) == NULL)
        return false;
    if (f->loaded->config.head == XLM_HEAD_NONE)
        return xlm_error_set(error, EX_DATAERR,
                             "%s: has no language-modelling head (it is fine-tuned); use the checkpoint that it was made from, "
                             "or fine-tune with keep_head = true", path);
    return (f->tokenizer = xlm_tokenizer_new(f->loaded->vocabulary, error)) != NULL &&
           (f->tape = xlm_model_file_tape(f->loaded)) != NULL && (f->arena = xlm_arena_new()) != NULL &&
           xlm_task_language(f->loaded->vocabulary, given.language, xlm_loaded_model_reads_language(f->loaded), "--language",
                             EX_USAGE, &f->language, error);
}

static void close_filler(filler *f)
{
    xlm_arena_free(f->arena);
    xlm_tape_free(f->tape);
    xlm_tokenizer_free(f->tokenizer);
    xlm_model_file_free(f->loaded);
}

static bool read_options(int *argc, char ***argv, GError **error)
{
    return xlm_program_parse(&program, option_groups, argc, argv, error) &&
           (*argc >= 2 || xlm_error_set(error, EX_USAGE, "a checkpoint is needed; see xlm_fill --help")) &&
           xlm_program_is_in("top", given.top, 1, G_MAXINT64, error);
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    filler f = {0};
    xlm_log_open(program.name, true);
    bool good = read_options(&argc, &argv, &error) && open_filler(&f, argv[1], &error);
    for (int i = 2; i < argc && good; i++) {
        char place[32];
        g_snprintf(place, sizeof place, "sentence %d", i - 1);
        good = fill(&f, argv[i], place, &error);
    }
    if (good && argc == 2)
        good = fill_lines(&f, stdin, &error);
    close_filler(&f);
    xlm_program_free_options(option_groups);
    return xlm_error_exit(error);
}
