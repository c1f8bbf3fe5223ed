/* xlm-mpi: the passes of predictions, and the classes of tasks that they refuse. SPDX-License-Identifier: GPL-3.0-or-later */
#include "host_fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stream/example_passes.h"
#include "tasks/predict.h"

/* One run of examples, and one rank. */
int64_t xlm_examples_count(const xlm_examples *examples)
{
    (void)examples;
    return batch.corrupted.sequences;
}

int64_t xlm_examples_predictions(const xlm_examples *examples, int64_t n)
{
    (void)examples;
    return n > 0 ? batch.predicted : 0;
}

bool xlm_examples_pass_over(const xlm_comm *comm, const xlm_examples *examples, const char *what, xlm_example_pass *pass,
                            void *data, GError **error)
{
    (void)comm, (void)examples, (void)what, (void)error;
    xlm_arena *arena = xlm_arena_new();
    pass(data, &(xlm_example_run){.n = batch.corrupted.sequences, .batch = &batch, .arena = arena});
    xlm_arena_free(arena);
    return true;
}

void xlm_comm_merge_double(const xlm_comm *comm, double *values, int64_t n) { (void)comm, (void)values, (void)n; }

/* ---- a task ---- */

static int held_out, called; /* passes of the loss and of predictions */
static double drawn;         /* in the latest loss */

static xlm_var *loss_of(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    (void)self;
    called++;
    held_out += pass->held_out;
    drawn = xlm_pass_uniform(pass, pass->batch->corrupted.keys[0], 0);
    return xlm_mean(tape, xlm_pass_view(pass, 0)->states);
}

static void predict(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, double *predictions)
{
    (void)self, (void)tape;
    called++;
    held_out += pass->held_out;
    for (int32_t i = 0; i < pass->batch->predicted; i++)
        predictions[i] = i;
}

static int64_t width(const xlm_loss *self)
{
    (void)self;
    return 1;
}

static void declare_second_mean(xlm_loss *self, xlm_declaration *declaration)
{
    (void)self;
    xlm_declare_mean(declaration, 1);
}

static int64_t label(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    (void)self, (void)tape;
    return pass->batch->predicted;
}

#define CLASS .abi = XLM_LOSS_ABI, .name = "task", .summary = "a task", .needs_stream = true, .loss = loss_of
static const xlm_task plain = {.loss = {CLASS}, .width = width, .predict = predict},
                      labels = {.loss = {CLASS, .label = label}, .width = width, .predict = predict},
                      means = {.loss = {CLASS, .declare = declare_second_mean}, .width = width, .predict = predict};

static xlm_measure predict_with(const xlm_task *task, int64_t step)
{
    struct hosted_job job = {.batch = &batch, .stream = {.name = "train"}};
    double predictions[M];
    xlm_measure loss;
    add_objective(&job, "task", &task->loss, NULL);
    assert_true(open_job(&job));
    const xlm_predictor predictor = {.host = job.host, .tape = job.tape, .task = task, .self = xlm_host_loss(job.host, 0),
                                     .step = step};
    assert_true(xlm_predict(&predictor, NULL, predictions, &loss, NULL));
    for (int i = 0; i < M; i++)
        assert_true(predictions[i] == i);
    close_job(&job);
    return loss;
}

/* What held-out text has in pre-training, these passes have: draws that do not depend on the step. */
static void test_held_out(void **state)
{
    (void)state;
    assert_int_equal(predict_with(&plain, 3).terms, M);
    assert_int_equal(called, 2);
    assert_int_equal(held_out, 2);
    const double first = drawn;
    predict_with(&plain, 4);
    assert_true(drawn == first);
}

static void test_refused(void **state)
{
    const xlm_task *const refused[] = {&labels, &means};
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
        const pid_t child = fork();
        if (child == 0) {
            signal(SIGTRAP, SIG_DFL);
            signal(SIGABRT, SIG_DFL);
            close(STDERR_FILENO);
            predict_with(refused[i], 3);
            _exit(0);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && (WTERMSIG(status) == SIGTRAP || WTERMSIG(status) == SIGABRT));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_held_out),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
