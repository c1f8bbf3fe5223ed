/* xlm-mpi: moco in the host that training has, by hand: loss, metrics, queue, gradients, what it refuses.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "host_fixture.h"

#include "tensor/tape.h"

extern const xlm_loss_class xlm_loss_moco;

enum { PAIR_TOKENS = 19, PAIRS_OF_BATCH = 3, WIDTH = 3, QUEUE = 5, HIDDEN = 6 };

/* Three pairs as of form bert. */
static const int32_t pair_offsets[] = {0, 6, 13, 19};
static const int32_t pair_ids[PAIR_TOKENS] = {0, 7, 2, 8, 6, 2, 0, 5, 9, 2, 10, 4, 2, 0, 11, 12, 2, 6, 2};
static const int32_t pair_positions[PAIR_TOKENS] = {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5};
static const int32_t pair_types[PAIR_TOKENS] = {0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1};
static const int32_t pair_masked[] = {1, 10}, pair_targets[] = {7, 10};
static xlm_row_key pair_keys[PAIR_TOKENS];

static xlm_batch pair_batch(void)
{
    for (int32_t s = 0; s < PAIRS_OF_BATCH; s++)
        for (int32_t i = pair_offsets[s]; i < pair_offsets[s + 1]; i++)
            pair_keys[i] = (xlm_row_key){(uint32_t)(30 + s), (uint32_t)(i - pair_offsets[s])};
    const xlm_text text = {
        .tokens = PAIR_TOKENS, .sequences = PAIRS_OF_BATCH, .offsets = pair_offsets, .ids = pair_ids, .unmasked = pair_ids,
        .positions = pair_positions, .languages = pair_types, .unswitched = pair_types, .types = pair_types, .keys = pair_keys,
        .specials = &xlm_own_special_tokens,
    };
    return (xlm_batch){.original = text, .corrupted = text, .predicted = 2, .predicted_rows = pair_masked, .targets = pair_targets};
}

static struct hosted_job moco_job(const xlm_batch *of)
{
    return (struct hosted_job){
        .batch = of, .stream = {.name = "pairs", .batch = PAIRS_OF_BATCH, .parallel = true, .drawn_sides = true},
    };
}

/* A parameter's numbers, rows x cols. */
static const double *values_of(const struct hosted_job *job, const char *name)
{
    return xlm_parameters_values(job->parameters) +
           xlm_parameters_get(job->parameters, xlm_parameters_find(job->parameters, name))->start;
}

static double dot(const double *a, const double *b)
{
    double sum = 0;
    for (int c = 0; c < WIDTH; c++)
        sum += a[c] * b[c];
    return sum;
}

/* z of one side, [PAIRS_OF_BATCH x WIDTH], all weights times `factor`, number by number. */
static void project_side(struct hosted_job *job, xlm_view_side side, double factor, bool normalise, double *z)
{
    const xlm_view view = {.text = XLM_TEXT_ORIGINAL, .side = side, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_FIRST};
    const int64_t n = xlm_parameters_size(job->parameters);
    double *values = xlm_parameters_values(job->parameters), *before = g_memdup2(values, sizeof *values * (size_t)n);
    double h[PAIRS_OF_BATCH * HIDDEN];
    for (int64_t i = 0; i < n; i++)
        values[i] *= factor;
    xlm_tape_begin(job->tape, NULL, false, GRADIENT_SEED, GRADIENT_STEP);
    xlm_var_read(xlm_encode_view(job->model, job->tape, job->batch, &view), 0, PAIRS_OF_BATCH, h);
    const double *first = values_of(job, "objectives/moco/projection/hidden/weight");
    const double *second = values_of(job, "objectives/moco/projection/output/weight");
    for (int s = 0; s < PAIRS_OF_BATCH; s++) {
        double length = 0, inner[HIDDEN] = {0};
        for (int c = 0; c < HIDDEN; c++)
            length += h[s * HIDDEN + c] * h[s * HIDDEN + c];
        for (int r = 0; r < HIDDEN; r++) {
            for (int c = 0; c < HIDDEN; c++)
                inner[r] += first[r * HIDDEN + c] * h[s * HIDDEN + c] / sqrt(length);
            inner[r] = fmax(inner[r], 0);
        }
        for (int r = 0; r < WIDTH; r++) {
            z[s * WIDTH + r] = 0;
            for (int c = 0; c < HIDDEN; c++)
                z[s * WIDTH + r] += second[r * HIDDEN + c] * inner[c];
        }
        const double norm = sqrt(dot(z + s * WIDTH, z + s * WIDTH));
        for (int r = 0; r < WIDTH && normalise; r++)
            z[s * WIDTH + r] /= norm;
    }
    memcpy(values, before, sizeof *values * (size_t)n);
    g_free(before);
}

/* The loss with `filled` negatives, and in numbers[] what the metrics are. */
static double moco_value(const double *query, const double *key, const double *queue, int filled, double tau, double *numbers)
{
    double sum = 0;
    numbers[0] = numbers[1] = 0;
    for (int s = 0; s < PAIRS_OF_BATCH; s++) {
        const double own = dot(query + s * WIDTH, key + s * WIDTH) / tau;
        double others = 0;
        bool first = true;
        for (int j = 0; j < filled; j++) {
            const double other = dot(query + s * WIDTH, queue + j * WIDTH) / tau;
            others += exp(other);
            first &= own >= other;
        }
        sum -= log(exp(own) / (exp(own) + others));
        numbers[0] += first;
        numbers[1] += sqrt(dot(key + s * WIDTH, key + s * WIDTH));
    }
    return sum / PAIRS_OF_BATCH;
}

/* Steps until the queue is full and older keys have gone. */
static void check_moco(bool normalise)
{
    const char *const options[] = {"queue=5", "projection=3", "temperature=0.5", "momentum=0.9",
                                   normalise ? "normalise=true" : "normalise=false", NULL};
    const xlm_batch of = pair_batch();
    struct hosted_job job = moco_job(&of);
    add_objective(&job, "moco", &xlm_loss_moco, options);
    assert_true(open_job(&job));
    double momentum, all[4 * PAIRS_OF_BATCH * WIDTH] = {0};
    assert_string_equal(xlm_host_average(job.host, 0, &momentum)->name, "moco");
    assert_true(momentum == 0.9);
    for (int step = 0; step < 4; step++) {
        const double factor = 1 - 0.1 * step; /* averages that are other ones at each step */
        double query[PAIRS_OF_BATCH * WIDTH], key[PAIRS_OF_BATCH * WIDTH], numbers[2];
        xlm_pass_input input = job_input(&job, 0, 1);
        xlm_host_begin_step(job.host);
        label_job_averaged(&job, &input, factor);
        assert_int_equal(input.terms[0], PAIRS_OF_BATCH);
        const int filled = MIN(step * PAIRS_OF_BATCH, QUEUE), oldest = step * PAIRS_OF_BATCH - filled;
        project_side(&job, XLM_SIDE_FIRST, 1, normalise, query);
        project_side(&job, XLM_SIDE_SECOND, factor, normalise, key);
        const double wanted = moco_value(query, key, all + oldest * WIDTH, filled, 0.5, numbers);
        xlm_sums sums = xlm_host_sums_new(job.host);
        xlm_tape_begin(job.tape, NULL, true, GRADIENT_SEED, GRADIENT_STEP);
        xlm_host_run(job.host, job.tape, &input, NULL, &sums, NULL);
        const xlm_metric_sum *metrics = xlm_host_metric_sums(job.host, &sums, 0);
        if (!(fabs(sums.mean[0] / PAIRS_OF_BATCH - wanted) < 1e-12) || (filled == 0) != (wanted == 0))
            fail_msg("step %d: loss %.15g, by hand %.15g", step, sums.mean[0] / PAIRS_OF_BATCH, wanted);
        assert_true(metrics[0].count == (filled > 0 ? PAIRS_OF_BATCH : 0) && (filled == 0 || metrics[0].sum == numbers[0]));
        assert_true(metrics[1].count == PAIRS_OF_BATCH && fabs(metrics[1].sum - numbers[1]) < 1e-12);
        xlm_sums_free(&sums);
        check_gradients_of(&job, &input);
        for (int i = 0; i < PAIRS_OF_BATCH * WIDTH; i++)
            all[step * PAIRS_OF_BATCH * WIDTH + i] = key[i];
        finish_job_step(&job, step);
    }
    int n;
    const xlm_saved_state *states = xlm_host_states(job.host, &n);
    assert_int_equal(n, 2);
    assert_true(states[0].n == QUEUE * WIDTH && states[1].n == 1 && *(const int64_t *)states[1].values == 12);
    for (int i = 7; i < 12; i++) /* key i in row i mod QUEUE */
        for (int c = 0; c < WIDTH; c++)
            assert_true(fabs(((const double *)states[0].values)[i % QUEUE * WIDTH + c] - all[i * WIDTH + c]) < 1e-14);
    close_job(&job);
}

static void test_moco(void **state)
{
    (void)state;
    check_moco(false);
}

static void test_moco_normalised(void **state)
{
    (void)state;
    check_moco(true);
}

/* A queue that begins with drawn keys of norm 1 is full at the first step, and the keys of the step replace its first rows. */
static void test_moco_random(void **state)
{
    (void)state;
    const char *const options[] = {"queue=5", "projection=3", "temperature=0.5", "momentum=0.9", "queue_start=random", NULL};
    const xlm_batch of = pair_batch();
    struct hosted_job job = moco_job(&of);
    add_objective(&job, "moco", &xlm_loss_moco, options);
    assert_true(open_job(&job));
    int n;
    const double *queue = xlm_host_states(job.host, &n)[0].values;
    double first[QUEUE * WIDTH], query[PAIRS_OF_BATCH * WIDTH], key[PAIRS_OF_BATCH * WIDTH], numbers[2];
    memcpy(first, queue, sizeof first);
    for (int i = 0; i < QUEUE; i++) {
        assert_true(fabs(dot(first + i * WIDTH, first + i * WIDTH) - 1) < 1e-12);
        assert_true(i == 0 || fabs(dot(first, first + i * WIDTH)) < 0.999);
    }
    xlm_pass_input input = job_input(&job, 0, 1);
    xlm_host_begin_step(job.host);
    label_job_averaged(&job, &input, 1);
    project_side(&job, XLM_SIDE_FIRST, 1, false, query);
    project_side(&job, XLM_SIDE_SECOND, 1, false, key);
    const double wanted = moco_value(query, key, first, QUEUE, 0.5, numbers);
    xlm_sums sums = xlm_host_sums_new(job.host);
    xlm_tape_begin(job.tape, NULL, true, GRADIENT_SEED, GRADIENT_STEP);
    xlm_host_run(job.host, job.tape, &input, NULL, &sums, NULL);
    assert_true(wanted > 0 && fabs(sums.mean[0] / PAIRS_OF_BATCH - wanted) < 1e-12);
    assert_true(xlm_host_metric_sums(job.host, &sums, 0)[0].count == PAIRS_OF_BATCH);
    xlm_sums_free(&sums);
    finish_job_step(&job, 0);
    for (int i = 0; i < PAIRS_OF_BATCH * WIDTH; i++)
        assert_true(fabs(queue[i] - key[i]) < 1e-14);
    assert_memory_equal(queue + PAIRS_OF_BATCH * WIDTH, first + PAIRS_OF_BATCH * WIDTH, 2 * WIDTH * sizeof *first);
    close_job(&job);
}

/* A checkpoint can have any number of appended keys: the queue is full then, and keys go into its rows and nowhere else. */
static void check_appended(int64_t appended, const int row[PAIRS_OF_BATCH])
{
    const char *const options[] = {"queue=5", "projection=3", "temperature=0.5", "momentum=0.9", NULL};
    const xlm_batch of = pair_batch();
    struct hosted_job job = moco_job(&of);
    add_objective(&job, "moco", &xlm_loss_moco, options);
    assert_true(open_job(&job));
    int n;
    const xlm_saved_state *states = xlm_host_states(job.host, &n);
    double *queue = states[0].values, wanted[QUEUE * WIDTH], query[PAIRS_OF_BATCH * WIDTH], key[PAIRS_OF_BATCH * WIDTH], numbers[2];
    for (int i = 0; i < QUEUE * WIDTH; i++)
        queue[i] = wanted[i] = 0.1 * i;
    *(int64_t *)states[1].values = appended;
    xlm_pass_input input = job_input(&job, 0, 1);
    xlm_host_begin_step(job.host);
    label_job_averaged(&job, &input, 1);
    project_side(&job, XLM_SIDE_FIRST, 1, false, query);
    project_side(&job, XLM_SIDE_SECOND, 1, false, key);
    const double loss = moco_value(query, key, wanted, QUEUE, 0.5, numbers);
    xlm_sums sums = xlm_host_sums_new(job.host);
    xlm_tape_begin(job.tape, NULL, true, GRADIENT_SEED, GRADIENT_STEP);
    xlm_host_run(job.host, job.tape, &input, NULL, &sums, NULL);
    assert_true(fabs(sums.mean[0] / PAIRS_OF_BATCH - loss) < 1e-12);
    xlm_sums_free(&sums);
    finish_job_step(&job, 0);
    for (int s = 0; s < PAIRS_OF_BATCH; s++)
        memcpy(wanted + row[s] * WIDTH, key + s * WIDTH, WIDTH * sizeof *wanted);
    for (int i = 0; i < QUEUE * WIDTH; i++)
        assert_true(fabs(queue[i] - wanted[i]) < 1e-14);
    assert_true(*(const int64_t *)states[1].values >= 0);
    close_job(&job);
}

static void test_moco_any_number(void **state)
{
    (void)state;
    check_appended(-1, (const int[]){0, 0, 1});        /* 2^64 - 1, the largest number of all */
    check_appended(INT64_MAX, (const int[]){2, 0, 1}); /* 2^63 - 1, and 0 after it */
    check_appended(INT64_MIN, (const int[]){3, 1, 2}); /* 2^63, and 1 after it */
}

static void refuse_moco(const char *option, bool parallel, const char *message)
{
    const char *const options[] = {option, NULL};
    const xlm_batch of = pair_batch();
    struct hosted_job job = moco_job(&of);
    job.stream.parallel = parallel;
    add_objective(&job, "moco", &xlm_loss_moco, options);
    refuse_job(&job, message);
}

static void test_moco_refuses(void **state)
{
    (void)state;
    refuse_moco("queue=2", true, "[objective moco]: queue = 2, but a step of [stream pairs] has 3 keys; set queue to no less than "
                "batch");
    refuse_moco("queue=3", false, "[objective moco]: it reads the two sides of pairs, and [stream pairs] has none; set type = "
                "parallel there");
    refuse_moco("layer=3", true, "[objective moco]: layer = 3, but the model has 2 layers");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moco),
        cmocka_unit_test(test_moco_normalised), cmocka_unit_test(test_moco_random),
        cmocka_unit_test(test_moco_any_number),
        cmocka_unit_test(test_moco_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
