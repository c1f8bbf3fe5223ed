/* xlm-mpi: section [stream NAME] of a job file. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_STREAM_STREAM_CONFIG_H
#define XLM_STREAM_STREAM_CONFIG_H

#include "options/jobfile.h"
#include "stream/stage_plugins.h"

enum { XLM_STREAM_MAX_BATCH = 1 << 24 }; /* a row key has 24 bits for the instance and 8 for the stream */

typedef struct xlm_stream_config {
    int64_t batch;  /* instances per step, over all ranks; the largest number of all steps */
    xlm_piecewise *batches; /* the number at each step (stream/batch_sizes.h); NULL: batch at all */
    int64_t length; /* maximum number of tokens of an instance, including special tokens; of each half for form xlm */
    int64_t type;   /* number of the spans' name in xlm_stage_choices */
    int64_t form;   /* the same for the layout */
    /* [xlm_stages_count()] the options of each stage, NULL for a stage that has none. The array itself is NULL if no stage of the
     * stream needs options, as for labelled examples. */
    void **options;
    int plugins; /* number of stages of the stream that are plugins */
    xlm_stage_use *plugin; /* [plugins] in their order, added by xlm_stream_config_plug */
} xlm_stream_config;

/* Read the section: keys of the stream and of all stages; missing keys get their defaults. *config is overwritten; on failure
 * nothing in it needs freeing. Errors as xlm_options_parse. */
bool xlm_stream_config_read(xlm_stream_config *config, const xlm_jobfile *job, const char *section, GError **error);
void xlm_stream_config_clear(xlm_stream_config *config);
/* Add a stage that is a plugin, after those added before. What *use points to is borrowed, and must outlive the streams that are
 * opened with the config. */
void xlm_stream_config_plug(xlm_stream_config *config, const xlm_stage_use *use);
/* Calls each(data, table, from) for the stream's own options and for those of each of its stages but plugins, whose values are in
 * *from. */
typedef void xlm_stream_table(void *data, const xlm_option *table, const void *from);
void xlm_stream_config_tables(const xlm_stream_config *config, xlm_stream_table *each, void *data);
/* Append all keys with their values, as xlm_options_print. */
void xlm_stream_config_print(const xlm_stream_config *config, GString *out);
/* Append all keys with their meanings, as xlm_options_help. */
void xlm_stream_config_help(GString *out);

/* Number of instances that a step reads. */
int64_t xlm_stream_config_batch(const xlm_stream_config *config, int64_t step);
/* The options of a stage; NULL when it has none. */
const void *xlm_stream_config_options(const xlm_stream_config *config, const xlm_stage_class *cls);
/* The value of a stage's key of type REAL; 0 when no stage has such a key or the config has no options. */
double xlm_stream_config_real(const xlm_stream_config *config, const char *key);
/* The same for a flag; false when no stage has it. */
bool xlm_stream_config_flag(const xlm_stream_config *config, const char *key);
/* The same for a choice: its number; 0 when no stage has it. */
int64_t xlm_stream_config_choice(const xlm_stream_config *config, const char *key);
/* A key of the stages that make the corrupted text, noise and masking, whose value is neither its default nor 0; NULL: there is
 * none. [out] value: g_free. */
const char *xlm_stream_config_corruption(const xlm_stream_config *config, char **value);
/* Called for each key that changes with the step, with its value at a step: first those of the stream itself, then those of its
 * stages in their order. */
typedef void xlm_stream_schedule(void *data, const char *key, double value);
void xlm_stream_config_schedules(const xlm_stream_config *config, int64_t step, xlm_stream_schedule *each, void *data);

#endif
