/* xlm-mpi: tagging of words: parts of speech, named entities. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * L = −(1/M) Σ_t log softmax(W f(h_t) + b)[tag of the word], h_t = H[L] at the first subword of each word; W: tags x d; f: the
 * layers of the option `head` (tasks/head_form.h).
 *
 * Words are normalised and segmented one by one, in the same way as the text of the corpus. A word without a subword (which has
 * only invisible characters) is read as <unk>, so every word is predicted. A sentence of more tokens than `length` is cut between
 * words, and a word that does not fit by itself is read only in part. A tag that the training text does not have is never
 * predicted: it counts as wrong, and is not among the M words. */
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/names.h"
#include "tasks/class_head.h"
#include "tasks/tag_scores.h"
#include "tasks/tagged_text.h"

enum { AUTO, ACCURACY, MICRO_F1, MACRO_F1, SPAN_F1, RUN_F1 };

struct tagging {
    xlm_task_state of;
    char *column;
    int64_t head, choose_by;
};

static const xlm_option tagging_options[] = {
    {"column", XLM_OPTION_TEXT, "upos", 0, 0, NULL,
     "column that the tag is in: of CoNLL-U files upos, xpos, or a key in FEATS or MISC such as NER, where a word without the "
     "key has the tag O; of files with columns between blanks (CoNLL-2002, -2003) its number from 2, by default the last one",
     offsetof(struct tagging, column)},
    {"head", XLM_OPTION_CHOICE, "linear", 0, 0, XLM_HEAD_FORM_CHOICES, XLM_HEAD_FORM_HELP, offsetof(struct tagging, head)},
    {"choose_by", XLM_OPTION_CHOICE, "auto", 0, 0, "auto|accuracy|micro_f1|macro_f1|span_f1|run_f1",
     "measure by which the best checkpoint is chosen; auto: span_f1 for BIO tags (O, B-PER, I-PER), else accuracy",
     offsetof(struct tagging, choose_by)},
    XLM_OPTION_END,
};

/* ---- head and loss ---- */

static void tagging_declare(xlm_loss *self, xlm_declaration *declaration)
{
    const struct tagging *tagging = self->state;
    const xlm_class_head head = {.classes = tagging->of.classes, .form = (xlm_head_form)tagging->head};
    xlm_class_declare(self, declaration, &head);
}

/* The number of words whose tag is one of the labels. */
static int64_t tagging_count(xlm_loss *self, const xlm_pass *pass)
{
    (void)self;
    int64_t n = 0;
    for (int32_t i = 0; i < pass->batch->predicted; i++)
        n += pass->batch->targets[i] >= 0;
    return n;
}

static xlm_var *tagging_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct tagging *tagging = self->state;
    const xlm_batch *batch = pass->batch;
    const int64_t n = tagging_count(self, pass);
    xlm_var *h = xlm_pass_view(pass, 0)->states;
    const int32_t *targets = batch->targets;
    if (n < batch->predicted) {
        int32_t *rows = xlm_tape_take(tape, sizeof *rows * (uint64_t)n), *tags = xlm_tape_take(tape, sizeof *tags * (uint64_t)n);
        int64_t k = 0;
        for (int32_t i = 0; i < batch->predicted; i++)
            if (batch->targets[i] >= 0) {
                rows[k] = i;
                tags[k++] = batch->targets[i];
            }
        h = xlm_rows(tape, h, rows, n);
        targets = tags;
    }
    h = xlm_head_form_apply(self, tape, h, (xlm_head_form)tagging->head, tagging->of.head_dropout); /* n x d */
    xlm_var *weight = xlm_loss_param(self, tape, "weight"), *bias = xlm_loss_param(self, tape, "bias");
    return xlm_vocab_cross_entropy(tape, h, weight, bias, targets, n, n == batch->predicted ? pass->scores : NULL);
}

/* The predictions for a word: its tag, and the tag's probability. */
enum { TAG, PROBABILITY, WIDTH };

static int64_t tagging_width(const xlm_loss *self)
{
    (void)self;
    return WIDTH;
}

static void tagging_predict(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, double *predictions)
{
    const struct tagging *tagging = self->state;
    xlm_var *weight = xlm_loss_param(self, tape, "weight"), *bias = xlm_loss_param(self, tape, "bias");
    xlm_var *h = xlm_head_form_apply(self, tape, xlm_pass_view(pass, 0)->states, (xlm_head_form)tagging->head, 0);
    const xlm_var *z = xlm_linear(tape, h, weight, bias); /* M x tags */
    const int64_t rows = xlm_var_rows(z), tags = xlm_var_cols(z);
    xlm_real *row = xlm_tape_take(tape, sizeof *row * (uint64_t)tags);
    for (int64_t i = 0; i < rows; i++) {
        xlm_var_read(z, i, 1, row);
        int64_t best = 0;
        double sum = 0;
        for (int64_t c = 1; c < tags; c++)
            best = row[c] > row[best] ? c : best;
        for (int64_t c = 0; c < tags; c++)
            sum += exp((double)row[c] - (double)row[best]);
        predictions[i * WIDTH + TAG] = (double)best;
        predictions[i * WIDTH + PROBABILITY] = 1 / sum;
    }
}

/* ---- text ---- */

static void *tagging_read(const xlm_loss *self, const xlm_task_source *sources, int64_t n, GError **error)
{
    const struct tagging *tagging = self->state;
    xlm_tagged_text *text = xlm_tagged_text_new();
    text->untagged = tagging->of.unlabelled;
    text->underscore = text->untagged && g_strv_contains((const char *const *)tagging->of.labels, "_");
    for (int64_t i = 0; i < n; i++)
        if (!xlm_tagged_text_read(text, sources[i].path, sources[i].language,
                                  tagging->column != NULL ? tagging->column : "upos", error)) {
            xlm_tagged_text_free(text);
            return NULL;
        }
    return text;
}

static void tagging_read_free(void *text) { xlm_tagged_text_free(text); }

static const xlm_tagged_word *word_at(const xlm_tagged_text *text, guint i)
{
    return &g_array_index(text->words, xlm_tagged_word, i);
}

static xlm_task_items tagging_items(const void *pointer)
{
    const xlm_tagged_text *text = pointer;
    xlm_task_items items = {.all = text->words->len, .what = "words"};
    for (guint i = 0; i < text->words->len; i++)
        items.gold += word_at(text, i)->tag != NULL;
    return items;
}

/* The tags of a text that are not among the labels, sorted, none twice. g_strfreev. */
static char **other_tags(const xlm_task_state *of, const xlm_tagged_text *text)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < text->words->len; i++)
        if (word_at(text, i)->tag != NULL)
            g_hash_table_add(seen, (char *)word_at(text, i)->tag);
    for (int64_t c = 0; c < of->classes; c++)
        g_hash_table_remove(seen, of->labels[c]);
    return xlm_task_names(seen);
}

static char **tagging_labels(const xlm_loss *self, const void *pointer, GError **error)
{
    (void)self;
    const xlm_tagged_text *text = pointer;
    g_auto(GStrv) labels = other_tags(&(xlm_task_state){0}, text);
    if (labels[1] != NULL)
        return g_steal_pointer(&labels);
    xlm_error_set(error, EX_DATAERR, "%s: all words have the same tag, %s; there is nothing to learn",
                  g_array_index(text->words, xlm_tagged_word, 0).path, labels[0]);
    return NULL;
}

/* What was cut or replaced in a text, for the log. */
typedef struct tally {
    int64_t cut, unknown, long_words;
} tally;

static void end_piece(xlm_examples *examples, int32_t language)
{
    xlm_examples_add_special(examples, XLM_EOS, language, 0);
    xlm_examples_end(examples);
}

/* Set `ids` to the subwords of a word; for a synthetic language the tokenizer returns twins. first: it is the first word of its
 * sentence. */
static bool segment(const xlm_task_encoder *encoder, const xlm_tagged_word *word, bool first, GArray *ids, tally *seen,
                    GError **error)
{
    const int32_t unknown = xlm_vocabulary_special(xlm_tokenizer_vocabulary(encoder->tokenizer), XLM_UNK);
    g_array_set_size(ids, 0);
    if (!xlm_tokenizer_encode_word(encoder->tokenizer, word->language, !first, word->word, strlen(word->word), ids, NULL,
                                   error)) {
        g_prefix_error(error, "%s:%" G_GINT64_FORMAT ": ", word->path, word->line);
        return false;
    }
    if (ids->len == 0) {
        g_array_append_val(ids, unknown);
        seen->unknown++;
    }
    const int64_t around = 2 + (xlm_vocabulary_language_form(xlm_tokenizer_vocabulary(encoder->tokenizer)) != NULL);
    if (ids->len > encoder->length - around) {
        g_array_set_size(ids, (guint)(encoder->length - around));
        seen->long_words++;
    }
    return true;
}

/* The token of the language, if it has one; returns the number of these. */
static int64_t begin_text(const xlm_task_encoder *encoder, int32_t language, xlm_examples *examples)
{
    const int32_t token = xlm_language_token(xlm_vocabulary_specials(xlm_tokenizer_vocabulary(encoder->tokenizer)), language);
    if (token >= 0)
        xlm_examples_add(examples, token, language, 0);
    return token >= 0;
}

static bool encode_sentence(GHashTable *labels, const xlm_task_encoder *encoder, const xlm_tagged_word *words, guint n,
                            GArray *ids, xlm_examples *examples, tally *seen, GError **error)
{
    const int32_t language = MAX(words[0].language, 0);
    int64_t tokens = 0; /* of the present piece; 0: none has begun */
    for (guint i = 0; i < n; i++) {
        if (!segment(encoder, &words[i], i == 0, ids, seen, error))
            return false;
        if (tokens + ids->len + 1 > encoder->length) {
            end_piece(examples, language);
            seen->cut++;
            tokens = 0;
        }
        if (tokens == 0) {
            xlm_examples_add_special(examples, XLM_BOS, language, 0);
            tokens = 1 + begin_text(encoder, words[0].language, examples);
        }
        for (guint k = 0; k < ids->len; k++) {
            xlm_examples_add(examples, g_array_index(ids, int32_t, k), language, 0);
            if (k == 0)
                xlm_examples_predict(examples, words[i].tag != NULL ? xlm_names_find(labels, words[i].tag) : -1);
        }
        tokens += ids->len;
    }
    end_piece(examples, language);
    return true;
}

/* Warn of tags that are not labels; it is an error when all are. */
static bool check_tags(const xlm_task_state *of, GHashTable *labels, const xlm_tagged_text *text, GError **error)
{
    const xlm_tagged_word *first = NULL;
    int64_t words = 0;
    for (guint i = 0; i < text->words->len; i++) {
        const xlm_tagged_word *word = word_at(text, i);
        if (word->tag == NULL || xlm_names_find(labels, word->tag) >= 0)
            continue;
        words++;
        first = first != NULL ? first : word;
    }
    if (words == 0)
        return true;
    const int64_t gold = tagging_items(text).gold;
    if (words == gold) {
        g_autofree char *known = xlm_names_some(of->labels);
        return xlm_error_at(error, first->path, first->line, "neither the tag \"%s\" (of \"%s\") nor any other of this text is in "
                            "the training text, which has %s; is it the same tag set and column?", first->tag, first->word, known);
    }
    g_auto(GStrv) others = other_tags(of, text);
    g_autofree char *list = xlm_names_some(others);
    xlm_log_warn("tags that the training text does not have count as wrong: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                 " words, with %s (first at %s:%" G_GINT64_FORMAT ")", words, gold, list, first->path, first->line);
    return true;
}

static bool check_measure(const struct tagging *tagging, GError **error)
{
    const bool bio = xlm_tags_are_bio(tagging->of.labels);
    if (tagging->choose_by == SPAN_F1 && !bio)
        return xlm_error_set(error, EX_CONFIG, "[task tagging]: choose_by = span_f1 is for BIO tags (O, B-PER, I-PER); the "
                             "training text has others, as \"%s\"", tagging->of.labels[0]);
    return tagging->choose_by != RUN_F1 || !bio ||
           xlm_error_set(error, EX_CONFIG, "[task tagging]: choose_by = run_f1 is for tags that are not BIO; set span_f1");
}

static bool tagging_encode(const xlm_loss *self, void *pointer, const xlm_task_encoder *encoder, xlm_examples *examples,
                           GString *description, GError **error)
{
    const struct tagging *tagging = self->state;
    const xlm_tagged_text *text = pointer;
    if (!check_measure(tagging, error))
        return false;
    g_autoptr(GHashTable) labels = xlm_names_index(tagging->of.labels, tagging->of.classes);
    g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
    tally seen = {0};
    bool good = check_tags(&tagging->of, labels, text, error);
    for (guint s = 0, first = 0; s < text->ends->len && good; first = g_array_index(text->ends, guint, s++))
        good = encode_sentence(labels, encoder, &g_array_index(text->words, xlm_tagged_word, first),
                               g_array_index(text->ends, guint, s) - first, ids, examples, &seen, error);
    g_string_append_printf(description, "%u sentences, %u words, %" G_GINT64_FORMAT " tokens", text->ends->len, text->words->len,
                           xlm_examples_tokens(examples, xlm_examples_count(examples)));
    xlm_task_note(description, "-DOCSTART- lines skipped", text->document_lines);
    xlm_task_note(description, "files with IOB1 tags, which are read as BIO", text->rewritten);
    xlm_task_note(description, "cuts between words", seen.cut);
    xlm_task_note(description, "words longer than an example, read in part", seen.long_words);
    xlm_task_note(description, "words without a subword, read as <unk>", seen.unknown);
    return good;
}

/* ---- results ---- */

/* Move the measure by which checkpoints are chosen to the front. */
static void put_first(const struct tagging *tagging, GArray *measures)
{
    static const char *const names[] = {NULL, "accuracy", "micro_f1", "macro_f1", "span_f1", "run_f1"};
    const char *name = names[tagging->choose_by];
    if (name == NULL)
        name = xlm_tags_are_bio(tagging->of.labels) ? "span_f1" : "accuracy";
    for (guint i = 0; i < measures->len; i++) {
        const xlm_measure m = g_array_index(measures, xlm_measure, i);
        if (strcmp(m.name, name) != 0)
            continue;
        g_array_remove_index(measures, i);
        g_array_prepend_val(measures, m);
    }
}

static void tagging_score(const xlm_loss *self, const void *pointer, const double *predictions, xlm_task_scores *scores)
{
    const struct tagging *tagging = self->state;
    const xlm_tagged_text *text = pointer;
    const guint all = text->words->len, sentences = text->ends->len;
    g_autofree int32_t *gold = g_new(int32_t, all), *predicted = g_new(int32_t, all); /* of the n words that have a tag */
    g_autofree uint32_t *ends = g_new(uint32_t, sentences);
    guint n = 0;
    g_auto(GStrv) others = other_tags(&tagging->of, text);
    g_autoptr(GPtrArray) labels = g_ptr_array_new(); /* those of the model, then the other tags of the text */
    for (int64_t c = 0; c < tagging->of.classes; c++)
        g_ptr_array_add(labels, tagging->of.labels[c]);
    for (char **name = others; *name != NULL; name++)
        g_ptr_array_add(labels, *name);
    const int64_t classes = labels->len;
    g_autoptr(GHashTable) index = xlm_names_index((char *const *)labels->pdata, classes);
    int64_t unseen = 0;
    for (guint s = 0, i = 0; s < sentences; ends[s++] = n)
        for (; i < g_array_index(text->ends, guint, s); i++) {
            if (word_at(text, i)->tag == NULL)
                continue;
            gold[n] = xlm_names_find(index, word_at(text, i)->tag);
            predicted[n] = (int32_t)predictions[i * WIDTH + TAG];
            unseen += gold[n++] >= tagging->of.classes;
        }
    g_ptr_array_add(labels, NULL);
    const xlm_tag_pairs pairs = {
        .words = n, .sentences = sentences, .gold = gold, .predicted = predicted, .ends = ends,
        .labels = (char *const *)labels->pdata, .classes = classes, .bio = xlm_tags_are_bio(tagging->of.labels),
    };
    xlm_tag_scores(&pairs, scores);
    xlm_task_scores_confuse(scores, pairs.labels, n, gold, predicted);
    put_first(tagging, scores->measures);
    if (unseen > 0)
        xlm_task_scores_add(scores, "unseen_tags", (double)unseen / n, unseen);
}

/* Print lines `token<tab>gold<tab>predicted`, with an empty line after each sentence; gold is `_` where there is none. */
static void tagging_print(const xlm_loss *self, const void *pointer, const double *predictions, GString *out)
{
    const struct tagging *tagging = self->state;
    const xlm_tagged_text *text = pointer;
    for (guint s = 0, i = 0; s < text->ends->len; s++) {
        for (; i < g_array_index(text->ends, guint, s); i++) {
            const char *gold = word_at(text, i)->tag;
            const int32_t tag = (int32_t)predictions[i * WIDTH + TAG];
            g_string_append_printf(out, "%s\t%s\t%s\n", word_at(text, i)->word, gold != NULL ? gold : "_",
                                   tagging->of.labels[tag]);
        }
        g_string_append_c(out, '\n');
    }
}

const xlm_task xlm_task_tagging = {
    .loss = {
        .abi = XLM_LOSS_ABI,
        .name = "tagging",
        .summary = "a tag for each word, on its first subword: parts of speech, named entities (BIO)",
        .needs_stream = true,
        .options = tagging_options,
        .state_size = sizeof(struct tagging),
        .declare = tagging_declare,
        .count = tagging_count,
        .loss = tagging_loss,
    },
    .read = tagging_read,
    .read_free = tagging_read_free,
    .items = tagging_items,
    .labels = tagging_labels,
    .encode = tagging_encode,
    .width = tagging_width,
    .predict = tagging_predict,
    .score = tagging_score,
    .print = tagging_print,
};
