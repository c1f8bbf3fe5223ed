/* xlm-mpi: the model of a run that starts from another one's. SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/warm_start_model.h"

#include <string.h>

#include "files/path.h"
#include "job/adapters.h"
#include "model/checkpoint_names.h"
#include "model/model_attributes.h"
#include "model/model_file.h"
#include "options/options.h"

/* The checkpoint has parameters for all that the job's value of the key needs, or those that it lacks can be drawn. */
static bool may_differ(const char *key, const xlm_model_config *job, const xlm_model_config *start)
{
    if (xlm_model_key_is_free(key, start))
        return true;
    if (strcmp(key, "language_embeddings") == 0)
        return job->language_embeddings;
    if (strcmp(key, "language_tokens") == 0)
        return job->language_tokens || job->decoder_layers == 0;
    if (strcmp(key, "token_types") == 0)
        return job->token_types;
    if (strcmp(key, "decoder_layers") == 0)
        return job->decoder_layers == 0 || start->decoder_layers == 0;
    if (strcmp(key, "share_embeddings") == 0)
        return job->decoder_layers == 0 || start->share_embeddings;
    return strcmp(key, "head") == 0 && (job->head == XLM_HEAD_NONE || start->head == XLM_HEAD_NONE);
}

static bool compare_key(const xlm_option *option, const char *start, const xlm_jobfile *file, const xlm_model_config *job,
                        const xlm_model_config *there, GError **error)
{
    xlm_model_config sizes = *job;
    xlm_model_fill_in_sizes(&sizes);
    g_autofree char *here = xlm_option_print(option, &sizes), *other = xlm_option_print(option, there);
    return strcmp(here, other) == 0 || may_differ(option->name, job, there) ||
           xlm_jobfile_refuse(file, "model", option->name, error,
                              "%s = %s, but the model of %s, which the run starts from, has %s; "
                              "leave the key out", option->name, here, start, other);
}

static bool take_key(const xlm_option *option, const xlm_model_config *there, xlm_model_config *model, GError **error)
{
    g_autofree char *text = xlm_option_print(option, there);
    return xlm_option_set(option, text, model, error);
}

/* check: keys that are given must agree. */
static bool merge_keys(const char *start, const xlm_jobfile *file, const xlm_model_config *there, bool check,
                       xlm_model_config *model, GError **error)
{
    bool good = true;
    for (const xlm_option *option = xlm_model_options; option->name != NULL && good; option++) {
        g_autofree char *given = xlm_jobfile_value(file, "model", option->name);
        /* A fine-tuned model has no head for words: the run has the one that it would have anyway. */
        const bool own = strcmp(option->name, "head") == 0 && there->head == XLM_HEAD_NONE;
        if (given == NULL && !own)
            good = take_key(option, there, model, error);
    }
    g_autofree char *shared = xlm_jobfile_value(file, "model", "share_embeddings");
    g_autofree char *tokens = xlm_jobfile_value(file, "model", "language_tokens");
    if (model->decoder_layers == 0 && shared == NULL) /* the run leaves the decoder */
        model->share_embeddings = true;
    if (model->decoder_layers == 0 && tokens == NULL)
        model->language_tokens = false;
    for (const xlm_option *option = xlm_model_options; option->name != NULL && good && check; option++) {
        g_autofree char *given = xlm_jobfile_value(file, "model", option->name);
        if (given != NULL)
            good = compare_key(option, start, file, model, there, error);
    }
    if (good && !xlm_job_adapters_join(&there->adapters, &model->adapters, error)) {
        g_prefix_error(error, "%s: ", xlm_jobfile_path(file));
        good = false;
    }
    return good;
}

/* As the record of a run does (job/job_record.h). */
static bool gives_all_keys(const xlm_jobfile *file)
{
    g_auto(GStrv) keys = xlm_jobfile_keys(file, "model");
    bool all = true;
    for (const xlm_option *option = xlm_model_options; option->name != NULL && all; option++)
        all = g_strv_contains((const char *const *)keys, option->name);
    return all;
}

xlm_loaded_model *xlm_warm_start_newest(const char *output)
{
    g_autoptr(GArray) steps = xlm_checkpoint_steps(output, NULL);
    xlm_loaded_model *loaded = NULL;
    for (guint i = steps != NULL ? steps->len : 0; i-- > 0 && loaded == NULL;) {
        g_autofree char *path = xlm_checkpoint_path(output, g_array_index(steps, int64_t, i));
        loaded = xlm_model_file_read_header(path, NULL);
    }
    return loaded;
}

bool xlm_warm_start_model(const char *start, const char *output, const xlm_jobfile *file, xlm_model_config *model,
                          GError **error)
{
    g_autofree char *directory = g_path_get_dirname(start);
    if (xlm_path_same_file(directory, output))
        return xlm_jobfile_refuse(file, "train", "start", error, "%s is in the output directory of this run; give the new run a "
                                  "directory of its own", start);
    g_autoptr(GError) why = NULL;
    g_autoptr(xlm_loaded_model) there = xlm_model_file_read_header(start, &why);
    const bool gone = there == NULL && xlm_error_exit_code(why) == EX_NOINPUT;
    if (gone && gives_all_keys(file))
        return true;
    if (gone)
        there = xlm_warm_start_newest(output);
    if (there == NULL) {
        g_autofree char *place = xlm_jobfile_place(file, "train", "start");
        g_prefix_error(&why, "%s: ", place);
        g_propagate_error(error, g_steal_pointer(&why));
        return false;
    }
    return merge_keys(start, file, &there->config, !gone, model, error);
}
