/* xlm-mpi: a training job, read from a job file. SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/job.h"

#include <stddef.h>
#include <string.h>

#include "job/adapters.h"
#include "job/rates.h"
#include "job/warm_start_model.h"
#include "options/options.h"
#include "stream/stages.h"

const char *const xlm_training_former_keys[] = {"granules", "micro_batches", NULL};

static const char *const stream_former_keys[] = {"masking", "mask_unit", NULL};
const xlm_jobfile_kind xlm_job_kinds[] = {{"model", false, NULL}, {"train", false, xlm_training_former_keys},
                                          {"evaluate", false, NULL}, {"adapter", true, NULL},
                                          {"stream", true, stream_former_keys}, {"stage", true, NULL},
                                          {"objective", true, NULL}, {NULL, false, NULL}};

#define TRAIN(member) offsetof(xlm_train_config, member)
#define OPTIMISER(member) TRAIN(optimiser.member)

const xlm_option xlm_train_options[] = {
    {"corpus", XLM_OPTION_TEXT, NULL, 0, 0, NULL,
     "corpus file, from xlm_prep, or several that have one vocabulary (xlm_prep --like) and are read as one: a.h5,b.h5",
     TRAIN(corpus)},
    {"start", XLM_OPTION_TEXT, "", 0, 0, NULL,
     "checkpoint whose model a new run begins with, at step 0: parameters are taken by name, and so are keys of [model] that the "
     "job leaves out; the corpus must have its vocabulary (xlm_prep --like); a run that resumes takes nothing from it",
     TRAIN(start)},
    {"start_rows", XLM_OPTION_CHOICE, "draw", 0, 0, "draw|average",
     "with start: how rows of subwords and languages that the checkpoint does not have begin: drawn, or as the mean of the "
     "subwords that it cuts them into, and of all its languages",
     TRAIN(start_rows)},
    {"start_decoder", XLM_OPTION_CHOICE, "encoder", 0, 0, "draw|encoder|copy",
     "with start, from a checkpoint without a decoder: how the decoder begins. draw: all of it is drawn; encoder: its layers, and "
     "its own embeddings and head (share_embeddings), are copies of the encoder's, and attention to the encoder's states is drawn; "
     "copy: that attention is a copy of the layer's self-attention too",
     TRAIN(start_decoder)},
    {"steps", XLM_OPTION_INT, NULL, 1, 1e12, NULL, "number of updates in all", TRAIN(steps)},
    XLM_TRAINING_OPTIONS(TRAIN),
    XLM_OPTIMISER_OPTIONS(OPTIMISER, "1e-4"),
    {"warmup", XLM_OPTION_INT, "0", 0, 1e12, NULL, "number of steps in which the learning rate rises", OPTIMISER(warmup)},
    {"evaluate_every", XLM_OPTION_INT, "1000", 0, 1e12, NULL,
     "steps between two evaluations on held-out text; 0: at the beginning and the end only", TRAIN(evaluate_every)},
    {"evaluate_instances", XLM_OPTION_INT, "512", 1, 1e12, NULL,
     "held-out instances of each stream in an evaluation, shared out among its languages or pairs, each of which has at least "
     "one micro-batch",
     TRAIN(evaluate_instances)},
    {"checkpoint_every", XLM_OPTION_INT, "1000", 0, 1e12, NULL,
     "steps between two checkpoints; 0: at the end only. With [evaluate] each evaluation with a better score writes one as well",
     TRAIN(checkpoint_every)},
    {"keep", XLM_OPTION_INT, "3", 1, 1e6, NULL, "number of the newest checkpoints that stay", TRAIN(keep)},
    XLM_OPTION_END,
};

#define EVALUATE(member) offsetof(xlm_evaluate_config, member)

const char *const xlm_evaluate_metrics[] = {
    [XLM_EVALUATE_BLEU] = "bleu", [XLM_EVALUATE_CHRF] = "chrf", [XLM_EVALUATE_CHRF_WORDS] = "chrf++"};

const xlm_option xlm_evaluate_options[] = {
    {"choose_by", XLM_OPTION_LIST, "", 0, 0, NULL,
     "measure of held-out text by which checkpoints are compared, with each evaluation but the first; the best is kept, as "
     "OUTPUT/best. OBJECTIVE/loss or a metric of the objective; where masked tokens are predicted also OBJECTIVE/perplexity, "
     "/accuracy, and of one language OBJECTIVE/loss/LANG and so on; loss: the weighted sum of all objectives' losses; with "
     "translate its metric, of one direction METRIC/en-de; the mean of several, with commas. Default: the metric with "
     "translate, else loss", EVALUATE(choose_by)},
    {"patience", XLM_OPTION_INT, "0", 0, 1e9, NULL,
     "the run ends when what it is chosen by has not become better in this many evaluations; 0: it does not", EVALUATE(patience)},
    {"translate", XLM_OPTION_LIST, "", 0, 0, NULL,
     "directions, such as en-de,de-en, in which held-out pairs are translated and scored with each evaluation but the first",
     EVALUATE(translate)},
    {"sentences", XLM_OPTION_INT, "500", 0, 1e12, NULL, "maximum number of held-out pairs of each direction; 0: all",
     EVALUATE(sentences)},
    {"beam", XLM_OPTION_INT, "1", 1, 1000, NULL, "number of hypotheses of a sentence; 1: greedy search", EVALUATE(beam)},
    {"length_penalty", XLM_OPTION_REAL, "1", -100, 100, NULL, "exponent of the length by which log-probabilities are divided",
     EVALUATE(length_penalty)},
    {"metric", XLM_OPTION_CHOICE, "bleu", 0, 0, "bleu|chrf|chrf++", "score of translations, as of xlm_bleu", EVALUATE(metric)},
    {"words", XLM_OPTION_CHOICE, "13a", 0, 0, "13a|intl|zh|char|none", "what BLEU takes for words, as of xlm_bleu",
     EVALUATE(words)},
    {"examples", XLM_OPTION_INT, "8", 0, 1e6, NULL,
     "number of translations of each direction that OUTPUT/translations.tsv shows beside their references, and "
     "OUTPUT/attention-*.h5 with the decoder's attention", EVALUATE(examples)},
    XLM_OPTION_END,
};

static const xlm_option stage_options[] = {
    {"plugin", XLM_OPTION_TEXT, "", 0, 0, NULL, "path of the module, or its name; default: the section's name",
     offsetof(xlm_job_stage, plugin)},
    {"stream", XLM_OPTION_TEXT, NULL, 0, 0, NULL, "name of the stream that it changes; its stages work in the order of the file",
     offsetof(xlm_job_stage, stream_name)},
    XLM_OPTION_END,
};

static const xlm_option objective_options[] = {
    {"plugin", XLM_OPTION_TEXT, "", 0, 0, NULL,
     "name of the objective, or path of a module of your own; default: the section's name", offsetof(xlm_job_objective, plugin)},
    {"stream", XLM_OPTION_TEXT, "", 0, 0, NULL, "name of the stream that it reads; left out for objectives without one",
     offsetof(xlm_job_objective, stream_name)},
    {"weight", XLM_OPTION_PIECEWISE, "1", -1e9, 1e9, NULL,
     "factor of its loss in the sum: a number; or STEP:NUMBER,STEP:NUMBER,..., linear between these steps, with STEP=NUMBER "
     "where it jumps, constant before the first and after the last: where it is 0, the objective takes no part",
     offsetof(xlm_job_objective, weight.numbers)},
    {"begin", XLM_OPTION_INT, "0", 0, 1e12, NULL, "number of updates before it takes part",
     offsetof(xlm_job_objective, weight.begin)},
    XLM_OPTION_END,
};

static bool read_streams(xlm_job *job, const xlm_jobfile *file, GError **error)
{
    g_auto(GStrv) names = xlm_jobfile_names(file, "stream");
    const int n = (int)g_strv_length(names);
    bool good = true;
    job->stream = g_new0(xlm_job_stream, MAX(n, 1));
    for (int s = 0; s < n && good; s++) {
        g_autofree char *section = g_strdup_printf("stream %s", names[s]);
        good = xlm_stream_config_read(&job->stream[s].config, file, section, error);
        if (good)
            job->stream[job->streams++].name = g_strdup(names[s]);
    }
    return good;
}

/* The index of the stream that a section names; -1 with an error: there is none. */
static int find_named(const xlm_job *job, const xlm_jobfile *file, const char *section, const char *name, GError **error)
{
    for (int s = 0; s < job->streams; s++)
        if (strcmp(job->stream[s].name, name) == 0)
            return s;
    xlm_jobfile_refuse(file, section, "stream", error, "there is no section [stream %s]", name);
    return -1;
}

static bool find_stream(const xlm_job *job, const xlm_jobfile *file, const char *section, xlm_job_objective *o, GError **error)
{
    o->stream = -1;
    if (o->stream_name == NULL) {
        if (o->cls->needs_stream)
            return xlm_jobfile_refuse(file, section, NULL, error, "objective \"%s\" reads a stream; say which with stream = NAME",
                                 o->cls->name);
        return true;
    }
    if (!o->cls->needs_stream)
        return xlm_jobfile_refuse(file, section, "stream", error, "objective \"%s\" reads no stream; leave stream out",
                                  o->cls->name);
    return (o->stream = find_named(job, file, section, o->stream_name, error)) >= 0;
}

/* The keys of a section as the file has them, a line each. */
static char *copy_section(const xlm_jobfile *file, const char *section)
{
    GString *out = g_string_new(NULL);
    g_auto(GStrv) keys = xlm_jobfile_keys(file, section);
    for (char **key = keys; *key != NULL; key++) {
        g_autofree char *value = xlm_jobfile_value(file, section, *key);
        g_string_append_printf(out, *value != '\0' ? "%s = %s\n" : "%s =\n", *key, value);
    }
    return g_string_free(out, FALSE);
}

/* Options of the section's plugin, beside the section's own ones; where it is not known, the section as it is written. */
static bool read_options(const xlm_jobfile *file, const char *section, const xlm_option *own, xlm_job_plugin *use, GError **error)
{
    if (use->loaded.cls == NULL) {
        use->as_written = copy_section(file, section);
        return true;
    }
    const xlm_option *tables[] = {own, use->loaded.options, NULL};
    for (const xlm_option *o = own; o->name != NULL; o++)
        if (xlm_options_have(use->loaded.options, o->name))
            return xlm_jobfile_refuse(file, section, NULL, error, "the plugin has an option \"%s\", which is a key of every "
                                      "section [%s NAME]; give the option another name", o->name, use->loaded.kind->name);
    if (use->loaded.state_size > 0)
        use->state = g_malloc0(use->loaded.state_size);
    return xlm_options_check_keys(tables, file, section, error) &&
           xlm_options_read(use->loaded.options, file, section, use->state, error);
}

/* The plugin is the one of that name which the known job has, without its module; or loaded. */
static bool find_plugin(const xlm_plugin_kind *kind, const char *plugin, const xlm_job *known, xlm_plugin *found, GError **error)
{
    const xlm_plugin_kind *const kinds[] = {kind, NULL};
    if (known == NULL)
        return xlm_plugin_load(kinds, plugin, found, error);
    for (int k = 0; k < known->objectives; k++)
        if (kind == &xlm_loss_plugins && strcmp(known->objective[k].plugin, plugin) == 0)
            *found = known->objective[k].use.loaded;
    for (int k = 0; k < known->stages; k++)
        if (kind == &xlm_stage_plugins && strcmp(known->stage[k].plugin, plugin) == 0)
            *found = known->stage[k].use.loaded;
    found->module = NULL;
    return true;
}

/* Stages that belong to every stream are not chosen by name. */
static bool check_stage_name(const xlm_jobfile *file, const char *section, const char *plugin, GError **error)
{
    return !xlm_stages_have(plugin) ||
           xlm_jobfile_refuse(file, section, NULL, error, "the stage \"%s\" is a part of every stream, and what it does is set "
                              "in [stream NAME] (--help-job); a stage of your own is named by its path (plugin = ./NAME.so)",
                              plugin);
}

/* The plugin of a section, by default of the section's name, and its options. known: as for read_job. */
static bool read_plugin(const xlm_plugin_kind *kind, const xlm_jobfile *file, const char *section, const char *name,
                        const xlm_option *own, const xlm_job *known, char **plugin, xlm_job_plugin *use, GError **error)
{
    if (*plugin == NULL)
        *plugin = g_strdup(name);
    return (kind != &xlm_stage_plugins || check_stage_name(file, section, *plugin, error)) &&
           find_plugin(kind, *plugin, known, &use->loaded, error) && read_options(file, section, own, use, error);
}

/* The stage that an objective's class brings changes its stream, once however many objectives of that class read it. */
static void bring_stage(xlm_job *job, const xlm_job_objective *o)
{
    xlm_stream_config *config = &job->stream[o->stream].config;
    for (int i = 0; i < config->plugins; i++)
        if (config->plugin[i].cls == o->cls->stage)
            return;
    xlm_stream_config_plug(config, &(xlm_stage_use){.section = "objective", .name = o->name, .cls = o->cls->stage});
}

static bool read_objective(xlm_job *job, const xlm_jobfile *file, const char *name, const xlm_job *known, xlm_job_objective *o,
                           GError **error)
{
    g_autofree char *section = g_strdup_printf("objective %s", name);
    o->name = g_strdup(name);
    if (strcmp(name, "total") == 0)
        return xlm_jobfile_refuse(file, section, NULL, error, "\"total\" names the weighted sum of all objectives in metrics.csv; "
                                  "give the objective another name (with plugin = its plugin)");
    const bool good = xlm_options_read(objective_options, file, section, o, error) &&
                      read_plugin(&xlm_loss_plugins, file, section, name, objective_options, known, &o->plugin, &o->use, error);
    o->cls = o->use.loaded.cls;
    if (!good || (o->cls != NULL && !find_stream(job, file, section, o, error)))
        return false;
    if (o->cls != NULL && o->cls->stage != NULL)
        bring_stage(job, o);
    return true;
}

static bool read_stage(xlm_job *job, const xlm_jobfile *file, const char *name, const xlm_job *known, xlm_job_stage *stage,
                       GError **error)
{
    g_autofree char *section = g_strdup_printf("stage %s", name);
    stage->name = g_strdup(name);
    const bool good = xlm_options_read(stage_options, file, section, stage, error) &&
                      read_plugin(&xlm_stage_plugins, file, section, name, stage_options, known, &stage->plugin, &stage->use,
                                  error);
    const int s = good ? find_named(job, file, section, stage->stream_name, error) : -1;
    if (s >= 0 && stage->use.loaded.cls != NULL) {
        const xlm_stage_use use = {"stage", stage->name, stage->use.loaded.cls, stage->use.state};
        xlm_stream_config_plug(&job->stream[s].config, &use);
    }
    return s >= 0;
}

static bool read_stages(xlm_job *job, const xlm_jobfile *file, const xlm_job *known, GError **error)
{
    g_auto(GStrv) names = xlm_jobfile_names(file, "stage");
    const int n = (int)g_strv_length(names);
    bool good = true;
    job->stage = g_new0(xlm_job_stage, MAX(n, 1));
    for (int k = 0; k < n && good; k++)
        good = read_stage(job, file, names[k], known, &job->stage[job->stages++], error);
    return good;
}

static bool read_objectives(xlm_job *job, const xlm_jobfile *file, const xlm_job *known, GError **error)
{
    g_auto(GStrv) names = xlm_jobfile_names(file, "objective");
    const int n = (int)g_strv_length(names);
    bool good = true;
    job->objective = g_new0(xlm_job_objective, MAX(n, 1));
    for (int k = 0; k < n && good; k++)
        good = read_objective(job, file, names[k], known, &job->objective[job->objectives++], error);
    return good;
}

/* Keys of the model that a run which starts from another one's need not give. */
static bool inherit_model(xlm_job *job, const xlm_jobfile *file, GError **error)
{
    const xlm_train_config *c = &job->train;
    if (c->start != NULL)
        return xlm_warm_start_model(c->start, c->output, file, &job->model, error) &&
               (c->start_decoder == XLM_START_DECODER_ENCODER || job->model.decoder_layers > 0 ||
                xlm_jobfile_refuse(file, "train", "start_decoder", error,
                                   "the model has no decoder; set decoder_layers in [model]"));
    if (!xlm_job_adapters_join(NULL, &job->model.adapters, error)) {
        g_prefix_error(error, "%s: ", xlm_jobfile_path(file));
        return false;
    }
    if (c->start_rows != XLM_START_DRAW)
        return xlm_jobfile_refuse(file, "train", "start_rows", error, "start_rows = average is for a run that starts from a "
                                  "model; name it with start = CHECKPOINT");
    return c->start_decoder == XLM_START_DECODER_ENCODER ||
           xlm_jobfile_refuse(file, "train", "start_decoder", error, "start_decoder is for a run that starts from a model; name "
                              "it with start = CHECKPOINT");
}

/* Why a key of [evaluate] about translations would do nothing; NULL: it does something. */
static const char *why_idle(const xlm_evaluate_config *c, const char *key)
{
    static const char *const others[] = {"choose_by", "patience", "translate", NULL};
    if (c->translate == NULL && !g_strv_contains(others, key))
        return "is about translations; name directions with translate = en-de";
    if (c->metric != XLM_EVALUATE_BLEU && strcmp(key, "words") == 0)
        return "is about BLEU; set metric = bleu";
    if (c->beam == 1 && strcmp(key, "length_penalty") == 0)
        return "is for several hypotheses of a sentence; set beam";
    return NULL;
}

static bool check_translations(const xlm_job *job, const xlm_jobfile *file, GError **error)
{
    for (const xlm_option *o = xlm_evaluate_options; o->name != NULL; o++) {
        g_autofree char *value = xlm_option_print(o, &job->evaluate);
        const char *why = why_idle(&job->evaluate, o->name);
        if (why != NULL && strcmp(value, o->default_value) != 0)
            return xlm_jobfile_refuse(file, "evaluate", o->name, error, "%s %s", o->name, why);
    }
    return true;
}

static bool read_evaluate(xlm_job *job, const xlm_jobfile *file, GError **error)
{
    xlm_evaluate_config *c = &job->evaluate;
    if (!xlm_jobfile_has(file, "evaluate"))
        return true;
    if (!xlm_options_parse(xlm_evaluate_options, file, "evaluate", c, error))
        return false;
    c->given = true;
    if (c->choose_by == NULL)
        c->choose_by = g_strsplit(c->translate != NULL ? xlm_evaluate_metrics[c->metric] : "loss", ",", -1);
    return check_translations(job, file, error) &&
           (c->patience == 0 || job->train.evaluate_every > 0 ||
            xlm_jobfile_refuse(file, "evaluate", "patience", error,
                               "patience counts evaluations, and evaluate_every = 0 makes one, at the end"));
}

/* What no single option can say. */
static bool check_job(const xlm_job *job, const xlm_jobfile *file, GError **error)
{
    const int64_t g = job->train.micro_batches;
    if ((g & (g - 1)) != 0)
        return xlm_jobfile_refuse(file, "train", "micro_batches", error, "micro_batches = %" G_GINT64_FORMAT " is not a power of "
                                  "two", g);
    if (!xlm_rates_check_freeze(file, "train", job->train.optimiser.freeze, xlm_job_adapters_learn(&job->model.adapters),
                                xlm_layers_of(&job->model, XLM_STACK_ENCODER), error))
        return false;
    if (job->objectives == 0)
        return xlm_error_set(error, EX_CONFIG, "%s: there is no section [objective NAME]; a job needs one at least",
                             xlm_jobfile_path(file));
    for (int s = 0; s < job->streams; s++) {
        bool used = false;
        for (int k = 0; k < job->objectives; k++)
            used |= g_strcmp0(job->objective[k].stream_name, job->stream[s].name) == 0;
        if (!used) {
            g_autofree char *section = g_strdup_printf("stream %s", job->stream[s].name);
            return xlm_jobfile_refuse(file, section, NULL, error, "no objective names this stream");
        }
    }
    return true;
}

/* own: the section's own options, which are in *from. */
static void print_plugin(const char *kind, const char *name, const xlm_option *own, const void *from, const xlm_job_plugin *use,
                         GString *out)
{
    g_string_append_printf(out, "\n[%s %s]\n", kind, name);
    if (use->as_written != NULL) {
        g_string_append(out, use->as_written);
        return;
    }
    xlm_options_print(own, from, out);
    xlm_options_print(use->loaded.options, use->state, out);
}

/* Every section with every key. */
static char *print_job(const xlm_job *job)
{
    GString *out = g_string_new("[model]\n");
    xlm_options_print(xlm_model_options, &job->model, out);
    xlm_job_adapters_print(&job->model.adapters, out);
    g_string_append(out, "\n[train]\n");
    xlm_options_print(xlm_train_options, &job->train, out);
    if (job->evaluate.given) {
        g_string_append(out, "\n[evaluate]\n");
        xlm_options_print(xlm_evaluate_options, &job->evaluate, out);
    }
    for (int s = 0; s < job->streams; s++) {
        g_string_append_printf(out, "\n[stream %s]\n", job->stream[s].name);
        xlm_stream_config_print(&job->stream[s].config, out);
    }
    for (int k = 0; k < job->stages; k++)
        print_plugin("stage", job->stage[k].name, stage_options, &job->stage[k], &job->stage[k].use, out);
    for (int k = 0; k < job->objectives; k++)
        print_plugin("objective", job->objective[k].name, objective_options, &job->objective[k], &job->objective[k].use, out);
    return g_string_free(out, FALSE);
}

/* Takes the file, which may be NULL. known: NULL, or a job whose plugins are the only ones that are known; then nothing else that
 * the file names is opened. */
static xlm_job *read_job(xlm_jobfile *file, const xlm_job *known, GError **error)
{
    if (file == NULL)
        return NULL;
    xlm_job *job = g_new0(xlm_job, 1);
    job->complete = xlm_job_complete;
    const bool good = xlm_options_parse(xlm_model_options, file, "model", &job->model, error) &&
                      xlm_options_parse(xlm_train_options, file, "train", &job->train, error) &&
                      xlm_job_adapters_read(file, &job->model.adapters, error) && read_evaluate(job, file, error) &&
                      (known != NULL || inherit_model(job, file, error)) && read_streams(job, file, error) &&
                      read_stages(job, file, known, error) && read_objectives(job, file, known, error) &&
                      check_job(job, file, error);
    xlm_jobfile_free(file);
    if (good) {
        job->text = print_job(job);
        return job;
    }
    xlm_job_free(job);
    return NULL;
}

xlm_job *xlm_job_load(const char *path, char *const *overrides, GError **error)
{
    return read_job(xlm_jobfile_load(path, xlm_job_kinds, overrides, error), NULL, error);
}

char *xlm_job_complete(const xlm_job *job, const char *text)
{
    xlm_job *other = read_job(xlm_jobfile_parse("job", text, strlen(text), xlm_job_kinds, NULL, NULL), job, NULL);
    char *complete = other != NULL ? g_steal_pointer(&other->text) : NULL;
    xlm_job_free(other);
    return complete;
}

bool xlm_job_computes(const xlm_job *job, int k, int64_t step)
{
    const xlm_job_objective *o = &job->objective[k];
    return xlm_loss_weight_takes_part(&o->weight, step) &&
           (o->stream < 0 || xlm_stream_config_batch(&job->stream[o->stream].config, step) > 0);
}

bool xlm_job_learns(const xlm_job *job, int k, int64_t step)
{
    return xlm_job_computes(job, k, step) && xlm_loss_weight_at(&job->objective[k].weight, step) != 0;
}

/* own: the section's own options, which are in *from. */
static void free_plugin(char **name, const xlm_option *own, void *from, xlm_job_plugin *use)
{
    if (use->state != NULL)
        xlm_options_free(use->loaded.options, use->state);
    g_free(use->state);
    g_free(use->as_written);
    xlm_options_free(own, from);
    g_free(*name);
    xlm_plugin_unload(&use->loaded);
}

void xlm_job_free(xlm_job *job)
{
    if (job == NULL)
        return;
    for (int s = 0; s < job->streams; s++) {
        xlm_stream_config_clear(&job->stream[s].config);
        g_free(job->stream[s].name);
    }
    for (int k = 0; k < job->stages; k++)
        free_plugin(&job->stage[k].name, stage_options, &job->stage[k], &job->stage[k].use);
    for (int k = 0; k < job->objectives; k++)
        free_plugin(&job->objective[k].name, objective_options, &job->objective[k], &job->objective[k].use);
    xlm_options_free(xlm_train_options, &job->train);
    xlm_options_free(xlm_evaluate_options, &job->evaluate);
    xlm_options_free(xlm_model_options, &job->model);
    g_free(job->stream);
    g_free(job->stage);
    g_free(job->objective);
    g_free(job->text);
    g_free(job);
}

static void help_heading(GString *text, const char *section, const char *about)
{
    g_string_append_printf(text, "[%s]\n  %s\n\n", section, about);
}

static void help_section(GString *text, const char *section, const char *about, const xlm_option *table)
{
    help_heading(text, section, about);
    xlm_options_help(table, text);
    g_string_append_c(text, '\n');
}

static bool help_plugin(GString *text, const char *name, GError **error)
{
    static const xlm_plugin_kind *const any[] = {&xlm_loss_plugins, &xlm_stage_plugins, NULL};
    xlm_plugin plugin;
    if (!xlm_plugin_load(any, name, &plugin, error))
        return false;
    g_string_append_printf(text, "[%s NAME] with plugin = %s\n  %s%s\n\n", plugin.kind->name, name, plugin.summary,
                           plugin.options == NULL ? "; no options of its own" : "");
    xlm_options_help(plugin.options, text);
    xlm_plugin_unload(&plugin);
    return true;
}

bool xlm_job_print_help(const char *plugin, FILE *out, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    bool good = true;
    if (plugin != NULL) {
        good = help_plugin(text, plugin, error);
    } else {
        help_section(text, "model", "the model: its encoder and head", xlm_model_options);
        help_section(text, "train", "the run: corpus, optimiser, reports", xlm_train_options);
        help_section(text, "evaluate", "how checkpoints are compared during the run; without this section they are not",
                     xlm_evaluate_options);
        help_heading(text, "adapter NAME", "small matrices that learn while the model stays as it is; up to eight of them");
        xlm_job_adapters_help(text);
        g_string_append_c(text, '\n');
        help_heading(text, "stream NAME", "what the encoder reads; any number of them");
        xlm_stream_config_help(text);
        g_string_append_c(text, '\n');
        help_section(text, "stage NAME", "a plugin that changes what a stream reads; any number of them", stage_options);
        help_section(text, "objective NAME", "what is learned from it; any number of them", objective_options);
        g_auto(GStrv) names = xlm_plugin_names();
        for (char **name = names; *name != NULL; name++)
            help_plugin(text, *name, NULL);
    }
    fputs(text->str, out);
    return good;
}
