/* xlm-mpi: classification of a sentence, or of a pair of them. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * L = −(1/N) Σ_i log softmax(W f(h_i) + b)[class of i], h_i = H[L] at the <s> of
 *     <s> S </s>    or    <s> S </s> T </s>, with types 0 and 1 where the model has them,
 * or, with pooling = mean, its mean over all tokens; W: classes x d (Devlin et al. 2019; of [CLS] and [SEP] where the
 * vocabulary's special tokens are called so). f: the layers of the option `head` (tasks/head_form.h).
 *
 * A pair of more than `length` tokens is cut at the end of its longer side, token by token, until it fits. A sentence without a
 * subword (which has only invisible characters) is read as <unk>.
 *
 * Code-switching (Pan et al. 2021, section 2.3): a pair (S, T) of language x that has the translation (S', T') becomes (S, T')
 * and (S', T), which belong to one step; neither (S, T) nor (S', T') is used for training. */
#include <string.h>

#include "base/log.h"
#include "base/names.h"
#include "corpus/corpus.h"
#include "lexicon/dictionary.h"
#include "tasks/class_head.h"
#include "tasks/labelled_text.h"
#include "tasks/parallel_items.h"
#include "tasks/task.h"

enum { REFUSE, LEAVE_OUT };
enum { FIRST, MEAN };
enum { ACCURACY, MACRO_F1 };

struct classification {
    xlm_task_state of;
    char **columns;
    int64_t empty, separators, head, pooling, choose_by;
    char *code_switching; /* the language that pairs are switched with; NULL: none */
    int64_t pair_by;
    char *dictionary;     /* words are switched by; NULL: none */
    double switching;
};

#define OPTION(member, type, ...) {#member, XLM_OPTION_##type, __VA_ARGS__, offsetof(struct classification, member)}

static const xlm_option classification_options[] = {
    OPTION(columns, LIST, "", 0, 0, NULL,
     "columns of the label and of one or two sentences: names in the header, names of members of JSON objects, or, for files "
     "without header, numbers from 1; by default found by the first line (XNLI, MultiNLI, PAWS-X, GLUE, "
     "label<tab>sentence[<tab>sentence])"),
    OPTION(empty, CHOICE, "refuse", 0, 0, "refuse|leave_out",
     "items with a sentence or label without text, and, in files with a header, lines with too few columns: refuse the file, or "
     "leave them out and say how many there are"),
    OPTION(separators, INT, "1", 1, 2, NULL,
     "number of </s> between the sentences of a pair; RoBERTa and XLM-R are fine-tuned with 2"),
    OPTION(head, CHOICE, "linear", 0, 0, XLM_HEAD_FORM_CHOICES, XLM_HEAD_FORM_HELP),
    OPTION(pooling, CHOICE, "first", 0, 0, "first|mean",
     "h: the state of <s>, or the mean of the states of all tokens, as most classifiers of ModernBERT have it"),
    OPTION(choose_by, CHOICE, "accuracy", 0, 0, "accuracy|macro_f1", "measure by which the best checkpoint is chosen"),
    OPTION(code_switching, TEXT, "", 0, 0, NULL,
     "a language of the training files: train on (S, T') and (S', T) instead of each pair (S, T) in another language that has a "
     "translation (S', T') in this one (PPA: en)"),
    OPTION(pair_by, CHOICE, "auto", 0, 0, XLM_PAIRING_CHOICES,
     "which items of two training files are translations of each other: those with the same id, or on the same line; auto: by id "
     "if all items have one of their own, else by line"),
    OPTION(dictionary, TEXT, "", 0, 0, NULL,
     "file of xlm_dict, by which words of the training text are switched to the other language, drawn anew for each epoch"),
    OPTION(switching, REAL, "0.5", 0, 1, NULL, "share of the words with a translation in the dictionary that is switched"),
    XLM_OPTION_END,
};

/* ---- head and loss ---- */

static xlm_class_head head_of(const xlm_loss *self)
{
    const struct classification *c = self->state;
    return (xlm_class_head){c->of.classes, (xlm_head_form)c->head, c->pooling == MEAN, c->of.head_dropout};
}

static void classification_declare(xlm_loss *self, xlm_declaration *declaration)
{
    const xlm_class_head head = head_of(self);
    xlm_class_declare(self, declaration, &head);
}

static xlm_var *classification_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const xlm_class_head head = head_of(self);
    return xlm_class_loss(self, tape, pass, &head);
}

/* The predictions for an item are the probabilities of all classes. */
static int64_t classification_width(const xlm_loss *self)
{
    const struct classification *c = self->state;
    return c->of.classes;
}

static void classification_predict(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, double *predictions)
{
    const xlm_class_head head = head_of(self);
    xlm_class_predict(self, tape, pass, &head, predictions);
}

/* ---- text ---- */

static const xlm_labelled_item *item_at(const xlm_labelled_text *text, int64_t i)
{
    return &g_array_index(text->items, xlm_labelled_item, i);
}

static void report_file(const xlm_labelled_file *file)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_string_append_printf(out, "%" G_GINT64_FORMAT " items", file->items);
    xlm_task_note(out, "left out, for their gold_label is \"-\"", file->unlabelled);
    xlm_task_note(out, "left out for an empty sentence or label", file->empty);
    xlm_task_note(out, "lines left out for too few columns", file->parts);
    xlm_log_info("%s: %s; %s", file->path, file->form, out->str);
}

static void *classification_read(const xlm_loss *self, const xlm_task_source *sources, int64_t n, GError **error)
{
    const struct classification *c = self->state;
    const xlm_labelled_options options = {.columns = c->columns, .leave_out_empty = c->empty == LEAVE_OUT,
                                          .unlabelled = c->of.unlabelled};
    xlm_labelled_text *text = xlm_labelled_text_new();
    for (int64_t i = 0; i < n; i++) {
        if (!xlm_labelled_text_read(text, sources[i].path, sources[i].name, sources[i].language, &options, error)) {
            xlm_labelled_text_free(text);
            return NULL;
        }
        report_file(&g_array_index(text->files, xlm_labelled_file, i));
    }
    return text;
}

static void classification_read_free(void *text) { xlm_labelled_text_free(text); }

static xlm_task_items classification_items(const void *pointer)
{
    const xlm_labelled_text *text = pointer;
    xlm_task_items items = {.all = text->items->len, .what = "items"};
    for (guint i = 0; i < text->items->len; i++)
        items.gold += item_at(text, i)->label != NULL;
    return items;
}

/* The number of sentences of its items. */
static int64_t sentences_of(const xlm_labelled_text *text) { return item_at(text, 0)->sentence[1] != NULL ? 2 : 1; }

static char **classification_labels(const xlm_loss *self, const void *pointer, GError **error)
{
    xlm_task_state *state = self->state;
    const xlm_labelled_text *text = pointer;
    state->sentences = sentences_of(text);
    if (!xlm_labelled_text_check_labels(text, error))
        return NULL;
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < text->items->len; i++)
        g_hash_table_add(seen, (char *)item_at(text, i)->label);
    g_auto(GStrv) labels = xlm_task_names(seen);
    if (labels[1] != NULL)
        return g_steal_pointer(&labels);
    xlm_error_set(error, EX_DATAERR, "%s: all items have the same label, %s; there is nothing to learn",
                  xlm_labelled_file_of(text, item_at(text, 0))->path, labels[0]);
    return NULL;
}

/* ---- examples ---- */

/* A text that is being encoded. */
typedef struct encoding {
    const struct classification *task;
    const xlm_labelled_text *text;
    const xlm_task_encoder *encoder;
    xlm_examples *examples;
    GHashTable *labels; /* of xlm_names_index */
    GArray *ids[2];     /* int32_t: of both sides of the present item */
    int64_t cut, unknown; /* numbers of items that were cut, and of sentences that are read as <unk> */
} encoding;

static bool refuse_label(const encoding *e, const xlm_labelled_item *item, GError **error)
{
    const xlm_labelled_file *file = xlm_labelled_file_of(e->text, item);
    g_autofree char *known = xlm_names_some(e->task->of.labels);
    return xlm_error_at(error, file->path, item->line, "the training text has no label \"%s\"; it has %s%s", item->label, known,
                        xlm_labelled_file_hint(file, item));
}

static bool segment(encoding *e, const xlm_labelled_item *item, int side, GArray *ids, GError **error)
{
    xlm_tokenizer *tokenizer = e->encoder->tokenizer;
    const xlm_labelled_file *file = xlm_labelled_file_of(e->text, item);
    const char *sentence = item->sentence[side];
    g_array_set_size(ids, 0);
    if (!xlm_tokenizer_encode(tokenizer, file->language, sentence, strlen(sentence), ids, NULL, error)) {
        g_prefix_error(error, "%s:%" G_GINT64_FORMAT ": ", file->path, item->line);
        return false;
    }
    if (ids->len == 0) {
        const int32_t unknown = xlm_vocabulary_special(xlm_tokenizer_vocabulary(tokenizer), XLM_UNK);
        g_array_append_val(ids, unknown);
        e->unknown++;
    }
    return true;
}

/* Is token i a whole word? */
static bool is_word(const xlm_vocabulary *vocabulary, const GArray *ids, guint i)
{
    const int32_t id = g_array_index(ids, int32_t, i), before = i > 0 ? g_array_index(ids, int32_t, i - 1) : -1;
    const xlm_special_tokens *specials = xlm_vocabulary_specials(vocabulary);
    if (xlm_is_language_token(specials, id))
        return false;
    return !(i > 0 && !xlm_is_language_token(specials, before) && xlm_vocabulary_joins(vocabulary, before, id)) &&
           !(i + 1 < ids->len && xlm_vocabulary_joins(vocabulary, id, g_array_index(ids, int32_t, i + 1)));
}

static void add_side(encoding *e, const GArray *ids, guint kept, int32_t language, int32_t type)
{
    const xlm_vocabulary *vocabulary = xlm_tokenizer_vocabulary(e->encoder->tokenizer);
    const bool mark = e->task->dictionary != NULL && e->encoder->training;
    for (guint i = 0; i < kept; i++) {
        xlm_examples_add(e->examples, g_array_index(ids, int32_t, i), language, type);
        if (mark && is_word(vocabulary, ids, i))
            xlm_examples_mark_word(e->examples);
    }
}

/* How many tokens of each side are kept: tokens are cut from the longer side, or from the second if both are equally long. */
static void truncate_pair(int64_t room, const GArray *const *ids, guint sides, guint *kept)
{
    kept[0] = ids[0]->len;
    kept[1] = sides > 1 ? ids[1]->len : 0;
    while (kept[0] + kept[1] > room)
        kept[kept[0] > kept[1] ? 0 : 1]--;
}

/* Add an example: the first sentence of one item and, if items are pairs, the second sentence of another item of the same
 * class. */
static bool add_example(encoding *e, const xlm_labelled_item *first, const xlm_labelled_item *second, GError **error)
{
    const int32_t target = first->label != NULL ? xlm_names_find(e->labels, first->label) : 0;
    const guint sides = first->sentence[1] != NULL ? 2 : 1;
    const int64_t between = sides > 1 ? e->task->separators : 0, room = e->encoder->length - 2 - between;
    const int32_t language[2] = {MAX(xlm_labelled_file_of(e->text, first)->language, 0),
                                 MAX(xlm_labelled_file_of(e->text, second)->language, 0)};
    guint kept[2];
    if (target < 0)
        return refuse_label(e, first, error);
    if (!segment(e, first, 0, e->ids[0], error) || (sides > 1 && !segment(e, second, 1, e->ids[1], error)))
        return false;
    truncate_pair(room, (const GArray *const *)e->ids, sides, kept);
    e->cut += kept[0] + kept[1] < e->ids[0]->len + (sides > 1 ? e->ids[1]->len : 0);
    xlm_examples_add_special(e->examples, XLM_BOS, language[0], 0);
    xlm_examples_predict(e->examples, target);
    add_side(e, e->ids[0], kept[0], language[0], 0);
    for (int64_t k = 0; k < between; k++)
        xlm_examples_add_special(e->examples, XLM_EOS, language[0], 0);
    if (sides > 1)
        add_side(e, e->ids[1], kept[1], language[1], 1);
    xlm_examples_add_special(e->examples, XLM_EOS, language[sides - 1], sides > 1);
    xlm_examples_end(e->examples);
    return true;
}

/* ---- code-switching ---- */

/* Find the items that are translations of each other. */
static bool find_parallel(const encoding *e, xlm_parallel_items *parallel, GError **error)
{
    const xlm_labelled_text *text = e->text;
    g_autofree xlm_parallel_item *items = g_new(xlm_parallel_item, text->items->len);
    g_autofree xlm_parallel_file *files = g_new(xlm_parallel_file, text->files->len);
    for (guint i = 0; i < text->items->len; i++) {
        const xlm_labelled_item *item = item_at(text, i);
        items[i] = (xlm_parallel_item){.id = item->id, .file = item->file, .row = item->row, .line = item->line};
    }
    for (guint f = 0; f < text->files->len; f++) {
        const xlm_labelled_file *file = &g_array_index(text->files, xlm_labelled_file, f);
        files[f] = (xlm_parallel_file){.path = file->path, .language = file->language_name};
    }
    return xlm_parallel_items_find(parallel, items, text->items->len, files, (int32_t)text->files->len,
                                   e->task->code_switching, (xlm_pairing)e->task->pair_by, error);
}

/* The items that could not be paired, and the reason for the first of them. */
typedef struct unpaired {
    int64_t items;
    const xlm_labelled_item *first;
    bool label; /* its translation has another label; else it has no translation */
} unpaired;

/* Add both examples of each item that has a translation of the same class. */
static bool add_switched(encoding *e, const xlm_parallel_items *parallel, int64_t *pairs, unpaired *left, GError **error)
{
    for (guint i = 0; i < e->text->items->len; i++) {
        const xlm_labelled_item *item = item_at(e->text, i);
        if (g_strcmp0(xlm_labelled_file_of(e->text, item)->language_name, e->task->code_switching) == 0)
            continue;
        const int64_t partner = parallel->partner[i];
        const xlm_labelled_item *other = partner >= 0 ? item_at(e->text, partner) : NULL;
        if (other == NULL || strcmp(other->label, item->label) != 0) {
            if (left->items++ == 0)
                *left = (unpaired){.items = 1, .first = item, .label = other != NULL};
            continue;
        }
        if (!add_example(e, item, other, error) || !add_example(e, other, item, error))
            return false;
        ++*pairs;
    }
    return true;
}

static bool report_pairs(const encoding *e, const xlm_parallel_items *parallel, int64_t pairs, const unpaired *left,
                         GString *description, GError **error)
{
    const char *path = left->items > 0 ? xlm_labelled_file_of(e->text, left->first)->path : NULL;
    const char *why = left->label ? "its translation has another label" : "no translation";
    if (pairs == 0)
        return xlm_error_at(error, path, left->first->line, "code_switching = %s finds no pair by %s (of this item: %s); are "
                            "these files translations of each other? (pair_by)", e->task->code_switching,
                            parallel->by_id ? "id" : "line", why);
    g_string_append_printf(description, "; code-switched with %s: %" G_GINT64_FORMAT " pairs, by %s, two examples each",
                           e->task->code_switching, pairs, parallel->by_id ? "id" : "line");
    if (left->items > 0)
        xlm_log_warn("code-switching: %" G_GINT64_FORMAT " items could not be paired and are left out, the first of them %s:%"
                     G_GINT64_FORMAT " (%s)", left->items, path, left->first->line, why);
    return true;
}

static bool encode_switched(encoding *e, GString *description, GError **error)
{
    if (item_at(e->text, 0)->sentence[1] == NULL)
        return xlm_error_set(error, EX_CONFIG, "code_switching = %s switches one of two sentences, and items of %s have one",
                             e->task->code_switching, g_array_index(e->text->files, xlm_labelled_file, 0).path);
    xlm_parallel_items parallel;
    if (!find_parallel(e, &parallel, error))
        return false;
    int64_t pairs = 0;
    unpaired left = {0};
    const bool good = add_switched(e, &parallel, &pairs, &left, error) &&
                      report_pairs(e, &parallel, pairs, &left, description, error);
    if (good)
        xlm_examples_keep_together(e->examples, 2);
    xlm_parallel_items_clear(&parallel);
    return good;
}

/* Is some of the text in a language of the dictionary? */
static bool reads_language_of(const encoding *e, const xlm_dictionary *dictionary)
{
    for (guint f = 0; f < e->text->files->len; f++) {
        const int32_t language = MAX(g_array_index(e->text->files, xlm_labelled_file, f).language, 0);
        if (language == dictionary->language[0] || language == dictionary->language[1])
            return true;
    }
    return false;
}

static bool switch_words(const encoding *e, GString *description, GError **error)
{
    const xlm_vocabulary *vocabulary = xlm_tokenizer_vocabulary(e->encoder->tokenizer);
    const char *path = e->task->dictionary;
    xlm_dictionary *dictionary = xlm_dictionary_read(path, XLM_DICTIONARY_PAIRS, vocabulary, xlm_corpus_digest_of(vocabulary),
                                                     error);
    if (dictionary == NULL)
        return false;
    const char *const *names = xlm_vocabulary_language_names(vocabulary);
    bool good = reads_language_of(e, dictionary);
    if (good) {
        int64_t words, translated;
        xlm_examples_switch_words(e->examples, dictionary, xlm_vocabulary_size(vocabulary), e->task->switching);
        xlm_examples_count_words(e->examples, &words, &translated);
        g_string_append_printf(description, "; words of one subword: %" G_GINT64_FORMAT ", with a translation in %s: %"
                               G_GINT64_FORMAT ", of which %g %% are switched", words, path, translated,
                               100 * e->task->switching);
    } else {
        xlm_error_set(error, EX_CONFIG, "dictionary = %s is of %s and %s, and the training files are in neither", path,
                      names[dictionary->language[0]], names[dictionary->language[1]]);
    }
    xlm_dictionary_free(dictionary);
    return good;
}

/* ---- all ---- */

/* A class of pairs is none of single sentences. */
static bool check_sentences(const encoding *e, GError **error)
{
    static const char *const names[] = {"", "single sentences", "pairs of sentences"};
    const int64_t here = sentences_of(e->text), trained = e->task->of.sentences;
    return trained == 0 || here == trained ||
           xlm_error_set(error, EX_DATAERR, "%s: has %s, and the training text had %s",
                         xlm_labelled_file_of(e->text, item_at(e->text, 0))->path, names[here], names[trained]);
}

static bool encode_items(encoding *e, GError **error)
{
    for (guint i = 0; i < e->text->items->len; i++)
        if (!add_example(e, item_at(e->text, i), item_at(e->text, i), error))
            return false;
    return true;
}

static bool classification_encode(const xlm_loss *self, void *pointer, const xlm_task_encoder *encoder, xlm_examples *examples,
                                  GString *description, GError **error)
{
    const struct classification *c = self->state;
    encoding e = {.task = c, .text = pointer, .encoder = encoder, .examples = examples};
    if (!check_sentences(&e, error))
        return false;
    const bool pairs = sentences_of(e.text) == 2;
    const int64_t min_length = 3 + (pairs ? e.task->separators + 1 : 0);
    if (encoder->length < min_length)
        return xlm_error_set(error, EX_CONFIG, "length = %" G_GINT64_FORMAT " has no room for the special tokens and a token of "
                             "each sentence; it must be at least %" G_GINT64_FORMAT, encoder->length, min_length);
    e.labels = xlm_names_index(c->of.labels, c->of.classes);
    for (int side = 0; side < 2; side++)
        e.ids[side] = g_array_new(FALSE, FALSE, sizeof(int32_t));
    g_string_append_printf(description, "%u %s", e.text->items->len, pairs ? "pairs of sentences" : "sentences");
    const bool good = (encoder->training && e.task->code_switching != NULL ? encode_switched(&e, description, error)
                                                                           : encode_items(&e, error)) &&
                      (!encoder->training || e.task->dictionary == NULL || switch_words(&e, description, error));
    for (int side = 0; side < 2; side++)
        g_array_unref(e.ids[side]);
    g_hash_table_unref(e.labels);
    g_string_append_printf(description, ", %" G_GINT64_FORMAT " tokens",
                           xlm_examples_tokens(examples, xlm_examples_count(examples)));
    xlm_task_note(description, "cut to length, the longer sentence first", e.cut);
    xlm_task_note(description, "sentences without a subword, read as <unk>", e.unknown);
    return good;
}

/* ---- results ---- */

static int32_t most_probable(const double *probability, int64_t classes)
{
    int32_t best = 0;
    for (int32_t k = 1; k < classes; k++)
        best = probability[k] > probability[best] ? k : best;
    return best;
}

static void classification_score(const xlm_loss *self, const void *pointer, const double *predictions, xlm_task_scores *scores)
{
    const struct classification *c = self->state;
    const xlm_labelled_text *text = pointer;
    const int64_t all = text->items->len, classes = c->of.classes;
    g_autofree int32_t *gold = g_new(int32_t, all), *predicted = g_new(int32_t, all); /* of the n items that have a label */
    g_autoptr(GHashTable) labels = xlm_names_index(c->of.labels, classes);
    int64_t n = 0, right = 0, counted = 0;
    double f1 = 0;
    for (int64_t i = 0; i < all; i++) {
        if (item_at(text, i)->label == NULL)
            continue;
        gold[n] = xlm_names_find(labels, item_at(text, i)->label);
        predicted[n++] = most_probable(predictions + i * classes, classes);
    }
    g_autofree xlm_task_row *row = xlm_task_count(classes, n, gold, predicted);
    for (int64_t k = 0; k < classes; k++) {
        if (row[k].gold + row[k].predicted == 0)
            continue;
        f1 += xlm_task_f1(&row[k]);
        right += row[k].right;
        counted++;
        xlm_task_scores_add_row(scores, "class", c->of.labels[k], &row[k]);
    }
    const xlm_measure measures[] = {{"accuracy", (double)right / (double)n, n}, {"macro_f1", f1 / (double)counted, counted}};
    const bool by_f1 = c->choose_by == MACRO_F1;
    g_array_append_val(scores->measures, measures[by_f1]);
    g_array_append_val(scores->measures, measures[!by_f1]);
    xlm_task_scores_confuse(scores, c->of.labels, n, gold, predicted);
}

/* Append a text that divides neither columns nor rows: labels and ids of JSON may have tabs and line ends. */
static void append_text(GString *out, const char *text)
{
    for (; *text != '\0'; text++)
        g_string_append_c(out, strchr("\t\r\n", *text) != NULL ? ' ' : *text);
}

/* Print a table with a header: id (or number of the line), gold (empty where there is none), predicted, the probability of each
 * class, the sentences. */
static void classification_print(const xlm_loss *self, const void *pointer, const double *predictions, GString *out)
{
    const struct classification *c = self->state;
    const xlm_labelled_text *text = pointer;
    g_string_append(out, "id\tgold\tpredicted");
    for (int64_t k = 0; k < c->of.classes; k++) {
        g_string_append(out, "\tp(");
        append_text(out, c->of.labels[k]);
        g_string_append_c(out, ')');
    }
    g_string_append(out, item_at(text, 0)->sentence[1] != NULL ? "\tsentence1\tsentence2\n" : "\tsentence1\n");
    for (guint i = 0; i < text->items->len; i++, predictions += c->of.classes) {
        const xlm_labelled_item *item = item_at(text, i);
        if (item->id != NULL)
            append_text(out, item->id);
        else
            g_string_append_printf(out, "%" G_GINT64_FORMAT, item->line);
        g_string_append_c(out, '\t');
        append_text(out, item->label != NULL ? item->label : "");
        g_string_append_c(out, '\t');
        append_text(out, c->of.labels[most_probable(predictions, c->of.classes)]);
        for (int64_t k = 0; k < c->of.classes; k++)
            g_string_append_printf(out, "\t%.6f", predictions[k]);
        for (int side = 0; side < 2 && item->sentence[side] != NULL; side++) {
            g_string_append_c(out, '\t');
            append_text(out, item->sentence[side]);
        }
        g_string_append_c(out, '\n');
    }
}

const xlm_task xlm_task_classification = {
    .loss = {
        .abi = XLM_LOSS_ABI,
        .name = "classification",
        .summary = "a class for each sentence or pair of sentences, on <s>: inference (XNLI), paraphrases (PAWS-X)",
        .needs_stream = true,
        .options = classification_options,
        .state_size = sizeof(struct classification),
        .declare = classification_declare,
        .loss = classification_loss,
    },
    .read = classification_read,
    .read_free = classification_read_free,
    .items = classification_items,
    .labels = classification_labels,
    .encode = classification_encode,
    .width = classification_width,
    .predict = classification_predict,
    .score = classification_score,
    .print = classification_print,
};
