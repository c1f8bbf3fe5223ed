/* xlm-mpi: a small run and its checkpoints, for tests on several ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TESTS_MPI_RUN_FIXTURE_H
#define XLM_TESTS_MPI_RUN_FIXTURE_H

#include <string.h>

#include <glib/gstdio.h>

#include "check.h"

#include "base/rng.h"
#include "checkpoint/checkpoint.h"
#include "model/checkpoint_names.h"
#include "options/options.h"
#include "subwords/bpe_class.h"

typedef struct run {
    xlm_model_config config;
    xlm_model *model;
    xlm_vocabulary *vocabulary;
    xlm_saved_state saved[3];
    xlm_shards shards;
    xlm_run_state state;
} run;

enum { SUBWORDS = 50, QUEUE = 300 };

static xlm_vocabulary *make_vocabulary(const xlm_comm *comm)
{
    static const char *const languages[] = {"en", "de"};
    static const char codes[] = "w 0 1\n";
    const xlm_vocabulary_settings settings = {.words = XLM_WORDS_SPACE, .languages = 2, .language_names = languages};
    xlm_word_counts *subwords = xlm_word_counts_new();
    for (int i = 0; i < SUBWORDS; i++) {
        char word[16];
        xlm_word_counts_add(subwords, word, (size_t)g_snprintf(word, sizeof word, "wört%02d", i), 2 * SUBWORDS - i);
    }
    xlm_vocabulary *vocabulary;
    xlm_segmenter *segmenter = xlm_segmenter_parse(&xlm_segmenter_bpe, "codes", codes, strlen(codes), NULL);
    GOOD((vocabulary = xlm_vocabulary_new(subwords, segmenter, &settings, &error)) != NULL);
    xlm_word_counts_free(subwords);
    return vocabulary;
}

/* hidden: the size that makes shapes differ. small: an encoder without biases, a fifth of the parameters; every array is written
 * and read by all ranks together, which takes most of the time of a test. */
static run *make_run_of(const xlm_comm *comm, int64_t hidden, bool with_queue, bool small)
{
    run *r = g_new0(run, 1);
    GOOD(xlm_options_defaults(xlm_model_options, &r->config, &error));
    r->vocabulary = make_vocabulary(comm);
    r->config.layers = 1;
    r->config.decoder_layers = small ? 0 : 1;
    r->config.share_embeddings = small;
    r->config.norm_biases = r->config.linear_biases = !small;
    r->config.hidden_size = hidden;
    r->config.attention_heads = 2;
    r->config.feed_forward_size = 0;
    r->config.positions = 32;
    r->config.language_embeddings = true;
    r->config.dropout = 0.25;
    r->config.vocabulary = xlm_vocabulary_size(r->vocabulary);
    r->config.languages = 2;
    GOOD(xlm_model_check(&r->config, &error));
    xlm_parameters *p = xlm_parameters_new();
    r->model = xlm_model_new(&r->config, p);
    xlm_parameters_add(p, "objectives/align/projection", 3, 7, XLM_INIT_NORMAL, true);
    xlm_parameters_seal(p);
    r->saved[0] = (xlm_saved_state){.path = "/objectives/contrast/queue", .type = XLM_STATE_F64, .values = g_new0(double, QUEUE),
                                      .n = QUEUE};
    r->saved[1] = (xlm_saved_state){.path = "/objectives/contrast/head", .type = XLM_STATE_F64, .values = g_new0(double, 1), .n = 1};
    /* Every rank has the whole moments, as a job of one rank has. */
    static const xlm_comm alone = {.ranks = 1, .local_ranks = 1};
    r->shards = xlm_shards_of(&alone, xlm_parameters_size(p));
    const size_t size = (size_t)r->shards.own;
    r->state = (xlm_run_state){.model = &r->config, .parameters = p, .shards = &r->shards, .scratch = g_new0(float, size),
                               .first_moment = g_new0(float, size), .second_moment = g_new0(float, size),
                               .optimiser = "adamw", .seed = 7, .corpus_digest = 0xfedcba9876543210u,
                               .job_text = "[model]\nlayers = 1\n", .vocabulary = r->vocabulary,
                               .saved_states = with_queue ? 2 : 1,
                               .saved_state = r->saved};
    return r;
}

static inline run *make_run(const xlm_comm *comm, int64_t hidden, bool with_queue)
{
    return make_run_of(comm, hidden, with_queue, false);
}

static inline run *make_small_run(const xlm_comm *comm) { return make_run_of(comm, 16, true, true); }

static void free_run(run *r)
{
    xlm_model_free(r->model);
    xlm_parameters_free(r->state.parameters);
    xlm_vocabulary_free(r->vocabulary);
    g_free(r->state.first_moment);
    g_free(r->state.second_moment);
    g_free(r->state.scratch);
    g_free(r->saved[0].values);
    g_free(r->saved[1].values);
    g_free(r->saved[2].values);
    g_free(r);
}

/* Any finite float, small, negative and denormal ones among them; second moments are not negative. */
static float number(int64_t step, uint32_t array, uint32_t i)
{
    uint32_t bits = xlm_rng_draw(xlm_rng_make_key(3, XLM_RNG_SAMPLE, (uint32_t)step), array, i, 0, 0).v[0] &
                    (array == 2 ? 0x3fffffffu : 0xbfffffffu);
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Give the run the numbers that it has at `step`. */
static void fill(run *r, int64_t step)
{
    const xlm_parameters *p = r->state.parameters;
    float *const arrays[] = {xlm_parameters_values(p), r->state.first_moment, r->state.second_moment};
    for (uint32_t a = 0; a < 3; a++)
        for (int k = 0; k < xlm_parameters_count(p); k++) {
            const xlm_parameter *one = xlm_parameters_get(p, k);
            for (int64_t i = one->start; i < one->start + one->rows * one->cols; i++)
                arrays[a][i] = number(step, a, (uint32_t)i);
        }
    for (uint32_t k = 0; k < 2; k++)
        for (int64_t i = 0; i < r->saved[k].n; i++)
            ((double *)r->saved[k].values)[i] = (double)number(step, 3 + k, (uint32_t)i) * 1e-300;
    r->state.step = step;
}

/* Takes the run. */
static inline void write_run(const xlm_comm *comm, run *r, const char *directory, int64_t step, int64_t keep)
{
    fill(r, step);
    GOOD(xlm_checkpoint_write(comm, directory, &r->state, keep, &error));
    free_run(r);
}

static inline void write_step(const xlm_comm *comm, const char *directory, int64_t step, int64_t keep)
{
    write_run(comm, make_run(comm, 16, true), directory, step, keep);
}

/* ---- directories ---- */

static char *share_text(const xlm_comm *comm, char *mine)
{
    void *text = mine;
    size_t size = mine != NULL ? strlen(mine) + 1 : 0;
    xlm_comm_broadcast_bytes(comm, 0, &text, &size);
    return text;
}

static inline char *make_directory(const xlm_comm *comm)
{
    return share_text(comm, comm->rank == 0 ? g_dir_make_tmp("xlm-checkpoint-XXXXXX", NULL) : NULL);
}

static void remove_tree(const char *path)
{
    GDir *folder = g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open(path, 0, NULL);
    for (const char *name; folder != NULL && (name = g_dir_read_name(folder)) != NULL;) {
        char *inside = g_build_filename(path, name, NULL);
        remove_tree(inside);
        g_free(inside);
    }
    if (folder != NULL)
        g_dir_close(folder);
    g_remove(path);
}

static inline void remove_directory(const xlm_comm *comm, char *directory)
{
    xlm_comm_barrier(comm);
    if (comm->rank == 0)
        remove_tree(directory);
    xlm_comm_barrier(comm);
    g_free(directory);
}

#endif
