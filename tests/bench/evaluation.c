/* xlm-mpi: scoring of a fine-tuned model beside the forward pass alone. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     evaluation CHECKPOINT FILE [threads [rounds]]
 *
 * Prints tokens/s of xlm_predict over the examples of a file (passes as xlm_eval makes them, predictions, losses), and of the
 * encoder's forward pass alone over the same examples, packed into batches of 2048 tokens that are made beforehand: medians over
 * rounds of both in turn. */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "gemm/hardware.h"
#include "model/model_file.h"
#include "tasks/predict.h"
#include "tasks/tune_job.h"

enum { TOKENS = 2048, MAX_ROUNDS = 99 };

typedef struct measured {
    xlm_loaded_model *loaded;
    const xlm_task *task;
    xlm_loss self;
    xlm_host *host;
    xlm_tape *tape;
    xlm_examples *examples;
    GPtrArray *batches; /* xlm_batch, for the forward pass alone */
} measured;

static void check(bool good, const GError *error)
{
    if (good)
        return;
    fprintf(stderr, "evaluation: %s\n", error != NULL ? error->message : "failed");
    exit(EXIT_FAILURE);
}

static void open_model(measured *m, const char *checkpoint, GError **error)
{
    m->loaded = xlm_model_file_read_header(checkpoint, error);
    check(m->loaded != NULL && m->loaded->task != NULL, *error);
    const xlm_model_task *task = m->loaded->task;
    m->task = xlm_task_find(task->name, error);
    check(m->task != NULL, *error);
    xlm_task_state *state = xlm_task_state_read(m->task, checkpoint, task->options, NULL, error);
    check(state != NULL, *error);
    state->labels = task->labels;
    state->classes = g_strv_length(task->labels);
    m->self = (xlm_loss){.cls = &m->task->loss, .name = m->task->loss.name, .state = state};
    const xlm_loss_stream stream = {.name = "test"};
    const xlm_objective_spec objective = {.name = m->self.name, .cls = m->self.cls, .state = m->self.state};
    const xlm_host_setup setup = {.model = m->loaded->model, .about = {.model = &m->loaded->config,
                                            .specials = xlm_vocabulary_specials(m->loaded->vocabulary)},
                                  .streams = 1, .stream = &stream, .objectives = 1, .objective = &objective};
    m->host = xlm_host_open(&setup, m->loaded->parameters, error);
    check(m->host != NULL && xlm_model_file_read_values(checkpoint, m->loaded, error), *error);
    m->tape = xlm_tape_new(m->loaded->parameters);
}

static void open_text(measured *m, const char *path, GError **error)
{
    const xlm_task_source source = {.language = -1, .path = path};
    const xlm_task_encoder encoder = {.tokenizer = xlm_tokenizer_new(m->loaded->vocabulary, error),
                                      .length = m->loaded->task->length};
    GString *description = g_string_new(NULL);
    void *text = m->task->read(&m->self, &source, 1, error);
    check(text != NULL, *error);
    m->examples = xlm_examples_new(xlm_vocabulary_specials(m->loaded->vocabulary));
    check(m->task->encode(&m->self, text, &encoder, m->examples, description, error), *error);
    fprintf(stderr, "%s\n", description->str);
}

static void pack(measured *m, GError **error)
{
    const int64_t n = xlm_examples_count(m->examples);
    xlm_arena *arena = xlm_arena_new();
    m->batches = g_ptr_array_new();
    for (int64_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n; end++)
            if (xlm_examples_tokens(m->examples, end + 1) - xlm_examples_tokens(m->examples, first) > TOKENS)
                break;
        int64_t *example = g_new(int64_t, end - first);
        uint32_t *instance = g_new(uint32_t, end - first);
        for (int64_t i = first; i < end; i++) {
            example[i - first] = i;
            instance[i - first] = (uint32_t)(i - first);
        }
        xlm_batch *batch = XLM_TAKE(arena, xlm_batch, 1);
        check(xlm_examples_read(m->examples, end - first, example, instance, arena, batch, error), *error);
        g_ptr_array_add(m->batches, batch);
    }
}

static double score(const xlm_comm *comm, measured *m, double *predictions, GError **error)
{
    const xlm_predictor predictor = {.comm = comm, .host = m->host, .tape = m->tape, .task = m->task, .self = &m->self};
    xlm_measure loss;
    const double begin = xlm_clock();
    check(xlm_predict(&predictor, m->examples, predictions, &loss, error), *error);
    return xlm_clock() - begin;
}

static double encode(const measured *m)
{
    const double begin = xlm_clock();
    for (guint i = 0; i < m->batches->len; i++) {
        const xlm_batch *batch = m->batches->pdata[i];
        xlm_tape_begin(m->tape, NULL, false, 0, 0);
        xlm_model_encode(m->loaded->model, m->tape, &batch->corrupted, false, XLM_TOP_LAYER, batch->predicted_rows, batch->predicted);
    }
    return xlm_clock() - begin;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    measured m = {0};
    xlm_hardware hardware;
    double scored[MAX_ROUNDS], encoded[MAX_ROUNDS];
    const int rounds = argc > 4 ? CLAMP(atoi(argv[4]), 1, MAX_ROUNDS) : 3;
    xlm_comm comm;
    if (argc < 3)
        return EXIT_FAILURE;
    xlm_comm_open(&comm, "evaluation", &argc, &argv);
    xlm_hardware_open(&hardware, argc > 3 ? atoi(argv[3]) : 0, 1);
    open_model(&m, argv[1], &error);
    open_text(&m, argv[2], &error);
    pack(&m, &error);
    const int64_t n = xlm_examples_count(m.examples);
    double *predictions = g_new(double, xlm_examples_predictions(m.examples, n) * m.task->width(&m.self));
    for (int i = 0; i < rounds; i++) {
        scored[i] = score(&comm, &m, predictions, &error);
        encoded[i] = encode(&m);
        fprintf(stderr, "round %d: scored in %.2f s, encoded in %.2f s\n", i + 1, scored[i], encoded[i]);
    }
    qsort(scored, (size_t)rounds, sizeof *scored, by_value);
    qsort(encoded, (size_t)rounds, sizeof *encoded, by_value);
    const double tokens = (double)xlm_examples_tokens(m.examples, n);
    printf("%.0f %.0f\n", tokens / scored[rounds / 2], tokens / encoded[rounds / 2]);
    return xlm_comm_close(&comm, NULL);
}
