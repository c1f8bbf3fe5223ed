/* xlm-mpi: held-out pairs translated and scored while a model is trained. SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/dev_translations.h"

#include <string.h>

#include "base/log.h"
#include "files/files.h"
#include "files/new_file.h"
#include "model/checkpoint_names.h"
#include "run/dev_attention.h"
#include "translation/translate.h"
#include "translation_scores/metric.h"

/* The pairs of one direction. */
typedef struct direction {
    const char *name;  /* "en-de" */
    int32_t from, to;  /* language ids */
    int64_t sentences;
    GArray *ids;       /* int32_t, of the sources */
    GArray *offsets;   /* int64_t [sentences + 1] */
    GArray *languages; /* int32_t [2][sentences]: `from`, then `to` */
    GPtrArray *references; /* char * [sentences] */
} direction;

struct xlm_dev_translations {
    const xlm_job *job;
    const xlm_vocabulary *vocabulary;
    xlm_translation_options options;
    xlm_translation_metric *metric;
    int directions;
    direction *direction;
    int64_t longest;   /* ids of a source */
};

/* Tokens of all hypotheses of a batch: enough for efficient products, with little memory compared to that of training. */
enum { BATCH_TOKENS = 4096 };

/* With fewer pairs, scores of translations vary much by chance. */
enum { FEW_PAIRS = 200 };

/* ---- pairs ---- */

typedef struct reading {
    const xlm_corpus *corpus;
    const xlm_corpus_text *source, *target;
    int64_t max_ids;   /* of a source that the model can read */
    int64_t left_out;  /* pairs with a longer one */
} reading;

/* The ids of a sentence, in place of those in the array. */
static bool read_sentence(const reading *r, const xlm_corpus_text *text, int64_t sentence, GArray *ids, GError **error)
{
    g_array_set_size(ids, 0);
    return xlm_corpus_read_sentence(r->corpus, text, sentence, ids, error);
}

static bool read_pair(reading *r, const int64_t link[2], bool swapped, direction *d, GArray *ids, GError **error)
{
    if (!read_sentence(r, r->source, link[swapped ? 1 : 0], ids, error))
        return false;
    if (ids->len > r->max_ids) {
        r->left_out++;
        return true;
    }
    g_array_append_vals(d->ids, ids->data, ids->len);
    const int64_t end = d->ids->len;
    g_array_append_val(d->offsets, end);
    if (!read_sentence(r, r->target, link[swapped ? 0 : 1], ids, error))
        return false;
    GString *reference = g_string_new(NULL);
    xlm_vocabulary_decode(xlm_corpus_vocabulary(r->corpus), (const int32_t *)(const void *)ids->data, ids->len, reference);
    g_ptr_array_add(d->references, g_string_free(reference, FALSE));
    d->sentences++;
    return true;
}

static void set_languages(direction *d)
{
    for (int side = 0; side < 2; side++)
        for (int64_t i = 0; i < d->sentences; i++)
            g_array_append_val(d->languages, *(side == 0 ? &d->from : &d->to));
}

/* At most job->evaluate.sentences pairs, spread evenly over all. */
static bool read_pairs(xlm_dev_translations *dev, reading *r, const xlm_corpus_pairs *pairs, bool swapped, direction *d,
                       GError **error)
{
    const int64_t asked = dev->job->evaluate.sentences, n = asked > 0 ? MIN(asked, pairs->pairs) : pairs->pairs;
    const int64_t first = 0;
    g_autofree int64_t *links = g_new(int64_t, 2 * pairs->pairs);
    g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
    g_array_append_val(d->offsets, first);
    bool good = xlm_corpus_read_links(r->corpus, pairs, 0, pairs->pairs, links, error);
    for (int64_t i = 0; i < n && good; i++)
        good = read_pair(r, links + 2 * (i * pairs->pairs / n), swapped, d, ids, error);
    set_languages(d);
    return good;
}

static bool refuse(const xlm_corpus *corpus, const char *name, GError **error)
{
    int n;
    const xlm_corpus_pairs *pairs = xlm_corpus_all_pairs(corpus, XLM_HELD_OUT, &n);
    g_autoptr(GString) known = g_string_new(NULL);
    for (int i = 0; i < n; i++)
        g_string_append_printf(known, "%s%s-%s, %s-%s", known->len > 0 ? ", " : "", pairs[i].source->language,
                               pairs[i].target->language, pairs[i].target->language, pairs[i].source->language);
    return xlm_error_set(error, EX_CONFIG, "[evaluate]: translate = %s: %s has no such held-out pairs; it has %s", name,
                         xlm_corpus_path(corpus), known->len > 0 ? known->str : "none (xlm_prep --para and --held-out)");
}

static bool open_direction(xlm_dev_translations *dev, const xlm_corpus *corpus, const char *name, GError **error)
{
    bool swapped;
    const xlm_corpus_pairs *pairs = xlm_corpus_find_pairs(corpus, XLM_HELD_OUT, name, &swapped);
    if (pairs == NULL || pairs->pairs == 0)
        return refuse(corpus, name, error);
    for (int i = 0; i < dev->directions; i++)
        if (strcmp(dev->direction[i].name, name) == 0)
            return xlm_error_set(error, EX_CONFIG, "[evaluate]: translate has %s twice", name);
    direction *d = &dev->direction[dev->directions++];
    reading r = {.corpus = corpus, .source = swapped ? pairs->target : pairs->source,
                 .target = swapped ? pairs->source : pairs->target, .max_ids = dev->job->model.positions - 2};
    *d = (direction){.name = name, .from = r.source->language_id, .to = r.target->language_id,
                     .ids = g_array_new(FALSE, FALSE, sizeof(int32_t)), .offsets = g_array_new(FALSE, FALSE, sizeof(int64_t)),
                     .languages = g_array_new(FALSE, FALSE, sizeof(int32_t)),
                     .references = g_ptr_array_new_with_free_func(g_free)};
    if (!read_pairs(dev, &r, pairs, swapped, d, error))
        return false;
    if (r.left_out > 0)
        xlm_log_warn("[evaluate]: %s: %" G_GINT64_FORMAT " pairs are left out, whose sources have more tokens than the model's "
                     "positions allow", name, r.left_out);
    xlm_log_info("[evaluate]: %s: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " held-out pairs are translated for %s", name,
                 d->sentences, pairs->pairs, xlm_evaluate_metrics[dev->job->evaluate.metric]);
    if (pairs->pairs < FEW_PAIRS)
        xlm_log_warn("[evaluate]: %s: the corpus has only %" G_GINT64_FORMAT " held-out pairs, and scores of so few vary much by "
                     "chance; hold out more, or add a corpus of them (xlm_prep --like)", name, pairs->pairs);
    for (int64_t i = 0; i < d->sentences; i++)
        dev->longest = MAX(dev->longest, g_array_index(d->offsets, int64_t, i + 1) - g_array_index(d->offsets, int64_t, i));
    return d->sentences > 0 ||
           xlm_error_set(error, EX_CONFIG, "[evaluate]: %s has no held-out pair that is short enough", name);
}

static bool check_model(const xlm_job *job, const xlm_vocabulary *vocabulary, GError **error)
{
    const int64_t directions = g_strv_length(job->evaluate.translate);
    const int64_t ordinary = xlm_vocabulary_size(vocabulary) - xlm_vocabulary_specials(vocabulary)->distinct;
    if (job->model.decoder_layers == 0)
        return xlm_error_set(error, EX_CONFIG, "[evaluate]: translate needs a decoder, and the model has none; set decoder_layers "
                             "in [model]");
    if (job->model.head == XLM_HEAD_NONE)
        return xlm_error_set(error, EX_CONFIG, "[evaluate]: translate needs a head for words; set head = bert or xlm in [model]");
    if (directions > 1 && !xlm_decoder_knows_language(&job->model, xlm_vocabulary_specials(vocabulary)))
        return xlm_error_set(error, EX_CONFIG, "[evaluate]: translate has %" G_GINT64_FORMAT " directions, and without language "
                             "embeddings or tokens the decoder cannot know which; set language_embeddings = true or "
                             "language_tokens = true in [model]", directions);
    if (job->evaluate.beam > ordinary)
        return xlm_error_set(error, EX_CONFIG, "[evaluate]: beam = %" G_GINT64_FORMAT " is larger than the vocabulary, which has %"
                             G_GINT64_FORMAT " tokens that are not special", job->evaluate.beam, ordinary);
    return true;
}

static bool open_metric(xlm_dev_translations *dev, GError **error)
{
    static const xlm_bleu_words words[] = {[XLM_EVALUATE_13A] = XLM_BLEU_13A, [XLM_EVALUATE_INTL] = XLM_BLEU_INTL,
                                           [XLM_EVALUATE_ZH] = XLM_BLEU_ZH, [XLM_EVALUATE_CHAR] = XLM_BLEU_CHAR,
                                           [XLM_EVALUATE_NONE] = XLM_BLEU_NONE};
    const xlm_metric_options options = {.words = words[dev->job->evaluate.words]};
    const char *name = xlm_evaluate_metrics[dev->job->evaluate.metric];
    return (dev->metric = xlm_translation_metric_new(name, &options, error)) != NULL;
}

xlm_dev_translations *xlm_dev_translations_open(const xlm_job *job, const xlm_corpus *corpus, GError **error)
{
    if (!check_model(job, xlm_corpus_vocabulary(corpus), error))
        return NULL;
    xlm_dev_translations *dev = g_new0(xlm_dev_translations, 1);
    char **names = job->evaluate.translate;
    *dev = (xlm_dev_translations){.job = job, .vocabulary = xlm_corpus_vocabulary(corpus), .options = xlm_translation_defaults};
    dev->direction = g_new0(direction, g_strv_length(names));
    dev->options.search.beam = job->evaluate.beam;
    dev->options.search.length_penalty = job->evaluate.length_penalty;
    dev->options.batch_tokens = BATCH_TOKENS;
    bool good = open_metric(dev, error);
    for (char **name = names; *name != NULL && good; name++)
        good = open_direction(dev, corpus, *name, error);
    if (good)
        return dev;
    xlm_dev_translations_close(dev);
    return NULL;
}

void xlm_dev_translations_close(xlm_dev_translations *dev)
{
    if (dev == NULL)
        return;
    for (int i = 0; i < dev->directions; i++) {
        g_array_unref(dev->direction[i].ids);
        g_array_unref(dev->direction[i].offsets);
        g_array_unref(dev->direction[i].languages);
        g_ptr_array_unref(dev->direction[i].references);
    }
    xlm_translation_metric_free(dev->metric);
    g_free(dev->direction);
    g_free(dev);
}

/* ---- translations and their scores ---- */

/* Write a field of the file, with spaces instead of control characters, some of which would end it. */
static void write_field(FILE *out, const char *text, char end)
{
    for (; *text != '\0'; text++)
        fputc(g_ascii_iscntrl(*text) ? ' ' : *text, out);
    fputc(end, out);
}

static void write_example(FILE *out, const xlm_dev_translations *dev, int64_t step, const direction *d, int64_t sentence,
                          const char *translation)
{
    g_autoptr(GString) source = g_string_new(NULL);
    const int64_t first = g_array_index(d->offsets, int64_t, sentence), end = g_array_index(d->offsets, int64_t, sentence + 1);
    xlm_vocabulary_decode(dev->vocabulary, &g_array_index(d->ids, int32_t, first), (size_t)(end - first), source);
    fprintf(out, "%" G_GINT64_FORMAT "\t", step);
    write_field(out, d->name, '\t');
    write_field(out, source->str, '\t');
    write_field(out, g_ptr_array_index(d->references, sentence), '\t');
    write_field(out, translation, '\n');
}

/* Examples of an evaluation; of rank 0. */
typedef struct examples {
    xlm_new_file text;
    int64_t step;
    GError *failure; /* of attention; then there are no others */
} examples;

static void write_attention(const xlm_dev_translations *dev, const xlm_translator *translator, const direction *d,
                            const xlm_translation_sources *sources, const xlm_translation_set *set, examples *e)
{
    const char *output = dev->job->train.output;
    g_autofree char *name = g_strdup_printf(XLM_ATTENTION_FILES "%s.h5", d->name), *path = g_build_filename(output, name, NULL);
    g_autofree char *model = xlm_checkpoint_path(output, e->step);
    const xlm_dev_attention attention = {.translator = translator, .vocabulary = dev->vocabulary, .sources = sources, .set = set,
                                         .n = MIN(d->sentences, dev->job->evaluate.examples), .model = model, .step = e->step};
    if (e->failure == NULL)
        xlm_dev_attention_write(&attention, path, &e->failure);
}

/* The score of a direction. e: gets examples; NULL: none. */
static double score_direction(const xlm_dev_translations *dev, const xlm_translator *translator, const direction *d, examples *e)
{
    const int32_t *languages = (const int32_t *)(const void *)d->languages->data;
    const xlm_translation_sources sources = {
        .sentences = d->sentences, .offsets = (const int64_t *)(const void *)d->offsets->data,
        .ids = (const int32_t *)(const void *)d->ids->data, .from = languages, .to = languages + d->sentences};
    xlm_translation_set *set = xlm_translate(translator, &sources);
    int64_t counts[XLM_METRIC_COUNTS] = {0};
    g_autoptr(GString) text = g_string_new(NULL);
    for (int64_t s = 0; s < d->sentences; s++) {
        const char *reference = g_ptr_array_index(d->references, s);
        g_string_set_size(text, 0);
        if (set->first[s + 1] > set->first[s]) {
            const xlm_translation *best = &set->all[set->first[s]];
            xlm_vocabulary_decode(dev->vocabulary, best->ids, (size_t)best->tokens, text);
        }
        xlm_translation_metric_add(dev->metric, text->str, &reference, 1, counts);
        if (e != NULL && s < dev->job->evaluate.examples)
            write_example(e->text.stream, dev, e->step, d, s, text->str);
    }
    if (e != NULL)
        write_attention(dev, translator, d, &sources, set, e);
    xlm_translation_set_free(set);
    return xlm_translation_metric_score(dev->metric, counts);
}

static void begin_examples(const xlm_dev_translations *dev, xlm_new_file *file, GError **error)
{
    g_autofree char *path = g_build_filename(dev->job->train.output, XLM_TRANSLATIONS_FILE, NULL);
    g_autofree char *head = g_strdelimit(g_strdup(XLM_TRANSLATIONS_HEAD), ",", '\t');
    if (xlm_new_file_create(file, path, error))
        fprintf(file->stream, "%s\n", head);
}

static void end_examples(examples *e, GError **error)
{
    if (e->failure == NULL) {
        xlm_new_file_commit(&e->text, error);
        return;
    }
    xlm_new_file_discard(&e->text);
    g_propagate_error(error, e->failure);
}

static void add_measure(const xlm_dev_translations *dev, GArray *measures, const char *language, double value, int64_t sentences)
{
    const xlm_language_measure row = {
        .measure = {.name = xlm_translation_metric_class(dev->metric)->name, .value = value, .terms = sentences},
        .language = language};
    g_array_append_val(measures, row);
}

static bool measure(void *data, const xlm_workspace *workspace, int64_t step, GArray *measures, GError **error)
{
    const xlm_dev_translations *dev = data;
    const xlm_translator translator = {.comm = workspace->comm, .model = xlm_host_model(workspace->host), .tape = workspace->tape,
                                       .specials = xlm_vocabulary_specials(dev->vocabulary), .options = &dev->options};
    GError *failure = NULL;
    examples e = {.step = step};
    const bool shows = workspace->comm->rank == 0 && dev->job->evaluate.examples > 0;
    if (shows)
        begin_examples(dev, &e.text, &failure);
    if (!xlm_comm_agree_on(workspace->comm, failure, error))
        return false;
    g_autofree double *score = g_new(double, dev->directions);
    double sum = 0;
    int64_t sentences = 0;
    for (int i = 0; i < dev->directions; i++) {
        score[i] = score_direction(dev, &translator, &dev->direction[i], shows ? &e : NULL);
        sum += score[i];
        sentences += dev->direction[i].sentences;
    }
    add_measure(dev, measures, NULL, sum / dev->directions, sentences);
    for (int i = 0; i < dev->directions && dev->directions > 1; i++)
        add_measure(dev, measures, dev->direction[i].name, score[i], dev->direction[i].sentences);
    if (shows)
        end_examples(&e, &failure);
    return xlm_comm_agree_on(workspace->comm, failure, error);
}

/* The examples that were just written are those of the best model so far: copy them to a second file. */
static bool keep_best(void *data, const xlm_comm *comm, int64_t step G_GNUC_UNUSED, GError **error)
{
    const xlm_dev_translations *dev = data;
    GError *failure = NULL;
    if (comm->rank == 0 && dev->job->evaluate.examples > 0) {
        const char *output = dev->job->train.output;
        g_autofree char *newest = g_build_filename(output, XLM_TRANSLATIONS_FILE, NULL), *text = NULL;
        g_autofree char *best = g_build_filename(output, XLM_BEST_TRANSLATIONS_FILE, NULL);
        gsize size;
        xlm_new_file file;
        if (xlm_files_load(newest, &text, &size, &failure) && xlm_new_file_create(&file, best, &failure)) {
            fwrite(text, 1, size, file.stream);
            xlm_new_file_commit(&file, &failure);
        }
    }
    return xlm_comm_agree_on(comm, failure, error);
}

xlm_validation xlm_dev_translations_validation(xlm_dev_translations *dev)
{
    return (xlm_validation){
        .measure = measure, .keep_best = keep_best, .data = dev, .split = "dev",
        .language = dev->directions > 1 ? XLM_MEAN_LANGUAGE : dev->direction[0].name,
    };
}

static uint64_t plan(const void *data, const xlm_model *model, xlm_tape *tape)
{
    const xlm_dev_translations *dev = data;
    const xlm_comm alone = {.ranks = 1};
    const xlm_translator translator = {.comm = &alone, .model = model, .tape = tape,
                                       .specials = xlm_vocabulary_specials(dev->vocabulary), .options = &dev->options};
    const int64_t longest = MAX(dev->longest, 1);
    const uint64_t bytes = xlm_translation_bytes(&translator, longest);
    if (dev->job->evaluate.examples == 0)
        return bytes;
    return MAX(bytes, xlm_translation_attention_bytes(&translator, longest, xlm_model_get_config(model)->decoder_layers));
}

xlm_planned_validation xlm_dev_translations_plan(const xlm_dev_translations *dev)
{
    return (xlm_planned_validation){.bytes = plan, .data = dev};
}
