/* xlm-mpi: section [stream NAME] of a job file. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/stream_config.h"

#include <stddef.h>
#include <string.h>

#include "options/options.h"
#include "options/piecewise.h"
#include "stream/batch_sizes.h"
#include "stream/stages.h"

enum { TYPE, FORM };

/* Keys of the stream itself; the choices are the names of stages. */
static const xlm_option *own_options(void)
{
    static xlm_option table[] = {
        [TYPE] = {"type", XLM_OPTION_CHOICE, "monolingual", 0, 0, NULL, "kind of text that is read",
                  offsetof(xlm_stream_config, type)},
        [FORM] = {"form", XLM_OPTION_CHOICE, "xlm", 0, 0, NULL,
                  "type parallel: how pairs are laid out: several in an instance, one half of sources and one half of targets, "
                  "each with positions of its own (xlm); one, <s> S </s> T </s> (bert)", offsetof(xlm_stream_config, form)},
        {"batch", XLM_OPTION_PIECEWISE_INT, "32", 0, XLM_STREAM_MAX_BATCH, NULL,
         "number of instances in a step, over all ranks; or STEP:NUMBER,STEP:NUMBER,..., linear between these steps and rounded, "
         "with STEP=NUMBER where it jumps, constant before the first and after the last: where it is 0, the stream is not read",
         offsetof(xlm_stream_config, batches)},
        {"length", XLM_OPTION_INT, "128", 4, 65536, NULL,
         "maximum number of tokens of an instance, including special tokens; for form xlm, of each half",
         offsetof(xlm_stream_config, length)},
        XLM_OPTION_END,
    };
    table[TYPE].choices = xlm_stage_choices(XLM_STAGE_SPANS);
    table[FORM].choices = xlm_stage_choices(XLM_STAGE_LAYOUT);
    return table;
}

/* A key may belong to the stream or to any stage. */
static bool check_keys(const xlm_jobfile *job, const char *section, GError **error)
{
    g_autofree const xlm_option **tables = g_new0(const xlm_option *, xlm_stages_count() + 2); /* NULL-terminated */
    int n = 0;
    tables[n++] = own_options();
    for (int i = 0; i < xlm_stages_count(); i++)
        if (xlm_stage_at(i)->options != NULL)
            tables[n++] = xlm_stage_at(i)->options;
    return xlm_options_check_keys(tables, job, section, error);
}

/* The largest batch is the one that memory is needed for. */
static bool set_largest_batch(xlm_stream_config *config, const xlm_jobfile *job, const char *section, GError **error)
{
    config->batch = xlm_batch_sizes_largest(config->batches);
    if (config->batch > 0)
        return true;
    g_autofree char *text = xlm_jobfile_value(job, section, "batch");
    return xlm_jobfile_refuse(job, section, "batch", error, "batch = %s: is 0 in every step, so the stream would never be read; "
                              "leave it out, or let it read an instance in some step", text);
}

bool xlm_stream_config_read(xlm_stream_config *config, const xlm_jobfile *job, const char *section, GError **error)
{
    *config = (xlm_stream_config){0};
    if (!check_keys(job, section, error) || !xlm_options_read(own_options(), job, section, config, error))
        return false;
    config->options = g_new0(void *, xlm_stages_count());
    bool good = set_largest_batch(config, job, section, error);
    for (int i = 0; i < xlm_stages_count() && good; i++) {
        const xlm_stage_class *cls = xlm_stage_at(i);
        if (cls->options == NULL)
            continue;
        config->options[i] = g_malloc0(cls->options_size);
        good = xlm_options_read(cls->options, job, section, config->options[i], error);
    }
    if (!good)
        xlm_stream_config_clear(config);
    return good;
}

void xlm_stream_config_clear(xlm_stream_config *config)
{
    for (int i = 0; config->options != NULL && i < xlm_stages_count(); i++)
        if (config->options[i] != NULL) {
            xlm_options_free(xlm_stage_at(i)->options, config->options[i]);
            g_free(config->options[i]);
        }
    g_clear_pointer(&config->options, g_free);
    g_clear_pointer(&config->batches, g_free);
    g_clear_pointer(&config->plugin, g_free);
    config->plugins = 0;
}

void xlm_stream_config_plug(xlm_stream_config *config, const xlm_stage_use *use)
{
    config->plugin = g_renew(xlm_stage_use, config->plugin, config->plugins + 1);
    config->plugin[config->plugins++] = *use;
}

void xlm_stream_config_tables(const xlm_stream_config *config, xlm_stream_table *each, void *data)
{
    each(data, own_options(), config);
    for (int i = 0; i < xlm_stages_count(); i++)
        if (config->options[i] != NULL)
            each(data, xlm_stage_at(i)->options, config->options[i]);
}

static void print_table(void *out, const xlm_option *table, const void *from) { xlm_options_print(table, from, out); }

void xlm_stream_config_print(const xlm_stream_config *config, GString *out)
{
    xlm_stream_config_tables(config, print_table, out);
}

void xlm_stream_config_help(GString *out)
{
    xlm_options_help(own_options(), out);
    for (int i = 0; i < xlm_stages_count(); i++)
        if (xlm_stage_at(i)->options != NULL)
            xlm_options_help(xlm_stage_at(i)->options, out);
}

int64_t xlm_stream_config_batch(const xlm_stream_config *config, int64_t step)
{
    return config->batches != NULL ? xlm_batch_size_at(config->batches, step) : config->batch;
}

const void *xlm_stream_config_options(const xlm_stream_config *config, const xlm_stage_class *cls)
{
    for (int i = 0; config->options != NULL && i < xlm_stages_count(); i++)
        if (xlm_stage_at(i) == cls)
            return config->options[i];
    return NULL;
}

/* The address of the value of a stage's key; NULL when no stage has a key of that name and type. */
static const void *find_value(const xlm_stream_config *config, const char *key, xlm_option_type type)
{
    for (int i = 0; config->options != NULL && i < xlm_stages_count(); i++)
        for (const xlm_option *o = xlm_stage_at(i)->options; o != NULL && o->name != NULL; o++)
            if (o->type == type && strcmp(o->name, key) == 0)
                return (const char *)config->options[i] + o->offset;
    return NULL;
}

void xlm_stream_config_schedules(const xlm_stream_config *config, int64_t step, xlm_stream_schedule *each, void *data)
{
    if (config->batches != NULL && !xlm_piecewise_is_constant(config->batches))
        each(data, "batch", (double)xlm_stream_config_batch(config, step));
    for (int i = 0; config->options != NULL && i < xlm_stages_count(); i++)
        for (const xlm_option *o = xlm_stage_at(i)->options; o != NULL && o->name != NULL; o++) {
            xlm_piecewise *const *numbers = (const void *)((const char *)config->options[i] + o->offset);
            if (o->type == XLM_OPTION_PIECEWISE && *numbers != NULL && !xlm_piecewise_is_constant(*numbers))
                each(data, o->name, xlm_piecewise_at(*numbers, step));
        }
}

const char *xlm_stream_config_corruption(const xlm_stream_config *config, char **value)
{
    for (int i = 0; config->options != NULL && i < xlm_stages_count(); i++) {
        const xlm_stage_class *cls = xlm_stage_at(i);
        if (config->options[i] == NULL || (cls->kind != XLM_STAGE_NOISE && cls->kind != XLM_STAGE_CORRUPT))
            continue;
        for (const xlm_option *o = cls->options; o->name != NULL; o++) {
            g_autofree char *text = xlm_option_print(o, config->options[i]);
            if (g_strcmp0(text, o->default_value) != 0 && strcmp(text, "0") != 0) {
                *value = g_steal_pointer(&text);
                return o->name;
            }
        }
    }
    return NULL;
}

double xlm_stream_config_real(const xlm_stream_config *config, const char *key)
{
    const double *value = find_value(config, key, XLM_OPTION_REAL);
    return value != NULL ? *value : 0;
}

bool xlm_stream_config_flag(const xlm_stream_config *config, const char *key)
{
    const bool *value = find_value(config, key, XLM_OPTION_FLAG);
    return value != NULL && *value;
}

int64_t xlm_stream_config_choice(const xlm_stream_config *config, const char *key)
{
    const int64_t *value = find_value(config, key, XLM_OPTION_CHOICE);
    return value != NULL ? *value : 0;
}
