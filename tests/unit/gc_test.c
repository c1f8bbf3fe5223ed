/* xlm-mpi: gc in the host that training has, by hand: both forms, sentences' ends, gradients, what it refuses.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "host_fixture.h"

#include "tensor/tape.h"

extern const xlm_loss_class xlm_loss_gc, xlm_loss_mlm;

/* ---- a table in memory ---- */

/* X of 5 6, 5 7, 5 9, 6 6, 6 7, 6 8, 8 9, 10 11; 8 9 are neighbours across the end of a sentence only. */
static const uint64_t row_offsets[V + 1] = {0, 0, 0, 0, 0, 0, 3, 6, 6, 7, 7, 8, 8, 8};
static const uint32_t columns[] = {6, 7, 9, 6, 7, 8, 9, 11};
static const float counts[] = {150, 7, 12, 4, 30, 0.5F, 1000, 3};
static xlm_cooccurrence_table table = {.vocabulary = V, .window = 2, .entries = 8, .offsets = row_offsets, .columns = columns,
                                       .counts = counts};

static void *read_table(const char *path, const xlm_resource_origin *origin, GError **error)
{
    (void)origin;
    if (strcmp(path, "cooc.h5") == 0)
        return &table;
    xlm_error_set(error, EX_NOINPUT, "%s: there is none", path);
    return NULL;
}

static void keep_table(void *contents) { (void)contents; }

static const xlm_resource_reader reader = {.kind = "cooccurrence", .folder = "cooccurrence", .read = read_table,
                                           .free = keep_table};
static const xlm_resource_reader *const readers[] = {&reader, NULL};

static void test_find(void **state)
{
    (void)state;
    double sum = 0;
    for (int32_t a = 0; a < V; a++)
        for (int32_t b = 0; b < V; b++) {
            double wanted = 0;
            for (uint64_t e = row_offsets[MIN(a, b)]; e < row_offsets[MIN(a, b) + 1]; e++)
                wanted += (int32_t)columns[e] == MAX(a, b) ? (double)counts[e] : 0;
            assert_true(xlm_cooccurrence_find(&table, a, b) == wanted);
            sum += wanted;
        }
    assert_true(sum == 2 * 1206.5 - 4); /* all but 6 6 are on both sides of the diagonal */
}

/* ---- a batch ---- */

/* <s> 5 [6] [7] 8 </s> [9] 5 </s> and <s> 10 [6] 6 3 11 </s>, and a sentence whose only word is masked. */
enum { TEXT_T = 19, TEXT_M = 5 };
static const int32_t text_offsets[] = {0, 9, 16, 19},
    text_original[TEXT_T] = {0, 5, 6, 7, 8, 2, 9, 5, 2, 0, 10, 6, 6, 3, 11, 2, 0, 12, 2},
    text_ids[TEXT_T] = {0, 5, 4, 7, 8, 2, 4, 5, 2, 0, 10, 8, 6, 3, 11, 2, 0, 4, 2},
    text_positions[TEXT_T] = {0, 1, 2, 3, 4, 5, 6, 0, 1, 0, 1, 2, 3, 4, 5, 6, 0, 1, 2},
    text_masked[TEXT_M] = {2, 3, 6, 11, 17}, text_targets[TEXT_M] = {6, 7, 9, 6, 12};
static const int32_t text_languages[TEXT_T], text_types[TEXT_T];
static xlm_row_key text_keys[TEXT_T];

static xlm_batch text_batch(void)
{
    for (int32_t i = 0; i < TEXT_T; i++)
        text_keys[i] = (xlm_row_key){3, (uint32_t)i};
    return (xlm_batch){
        .original = {
            .tokens = TEXT_T, .sequences = 3, .offsets = text_offsets, .ids = text_original, .unmasked = text_original,
            .positions = text_positions, .languages = text_languages, .unswitched = text_languages, .types = text_types,
            .keys = text_keys, .specials = &xlm_own_special_tokens,
        },
        .corrupted = {
            .tokens = TEXT_T, .sequences = 3, .offsets = text_offsets, .ids = text_ids, .unmasked = text_original,
            .positions = text_positions, .languages = text_languages, .unswitched = text_languages, .types = text_types,
            .keys = text_keys, .specials = &xlm_own_special_tokens,
        },
        .predicted = TEXT_M, .predicted_rows = text_masked, .targets = text_targets,
    };
}

/* Its pairs at distances 1 and 2 with their X, as one reads them. */
static const struct pair {
    int32_t t, k, distance;
    double x;
} pairs[] = {
    {2, 1, 1, 150}, {2, 3, 1, 30}, {2, 4, 2, 0.5}, {3, 2, 1, 30}, {3, 1, 2, 7}, {3, 4, 1, 0}, {6, 7, 1, 12},
    {11, 10, 1, 0}, {11, 12, 1, 4}, {11, 13, 2, 0},
};

static struct hosted_job gc_job(const xlm_batch *of, const char *const *options)
{
    struct hosted_job job = {.batch = of, .languages = true, .readers = readers, .stream = {.name = "text", .mask = 0.15}};
    add_objective(&job, "gc", &xlm_loss_gc, options);
    return job;
}

static void close_gc(struct hosted_job *job)
{
    xlm_options_free(xlm_loss_gc.options, job->objective[0].state);
    close_job(job);
}

/* ---- the loss ---- */

struct settings {
    const char *options[6]; /* ..., NULL */
    bool embedding;
    int window;
    double x_max, exponent;
};

static double by_hand(struct hosted_job *job, const struct settings *s, int64_t *known, int64_t *all)
{
    const xlm_view view = {.text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_ALL};
    const xlm_parameter *p = xlm_parameters_get(job->parameters, xlm_parameters_find(job->parameters, "embeddings/word/weight"));
    double h[TEXT_T * 6], sum = 0;
    xlm_tape_begin(job->tape, NULL, false, GRADIENT_SEED, GRADIENT_STEP);
    xlm_var_read(xlm_encode_view(job->model, job->tape, job->batch, &view), 0, TEXT_T, h);
    *known = *all = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++) {
        const struct pair *pair = &pairs[i];
        if (pair->distance > s->window)
            continue;
        (*all)++;
        if (pair->x == 0)
            continue;
        (*known)++;
        const double *e = xlm_parameters_values(job->parameters) + p->start + text_original[pair->k] * p->cols;
        const double *u = s->embedding ? e : h + pair->k * 6;
        double product = 0;
        for (int c = 0; c < 6; c++)
            product += h[pair->t * 6 + c] * u[c];
        const double weight = pair->x < s->x_max ? pow(pair->x / s->x_max, s->exponent) : 1;
        const double error = product / sqrt(6) - log(pair->x);
        sum += weight * error * error;
    }
    return sum / (2 * s->window) / TEXT_M;
}

static void test_gc(void **state)
{
    (void)state;
    static const struct settings all[] = {
        {{"cooccurrence=cooc.h5", NULL}, false, 2, 100, 0.75},
        {{"cooccurrence=cooc.h5", "form=embedding", NULL}, true, 2, 100, 0.75},
        {{"cooccurrence=cooc.h5", "window=1", "x_max=10", "exponent=0.5", NULL}, false, 1, 10, 0.5},
        {{"cooccurrence=cooc.h5", "window=1", "x_max=1000", "exponent=2", "form=embedding", NULL}, true, 1, 1000, 2},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        const xlm_batch of = text_batch();
        struct hosted_job job = gc_job(&of, all[i].options);
        assert_true(open_job(&job));
        const xlm_pass_input input = job_input(&job, 0, 1);
        assert_int_equal(input.terms[0], TEXT_M);
        int64_t known, neighbours;
        const double wanted = by_hand(&job, &all[i], &known, &neighbours);
        xlm_sums sums = xlm_host_sums_new(job.host);
        xlm_tape_begin(job.tape, NULL, true, GRADIENT_SEED, GRADIENT_STEP);
        xlm_host_run(job.host, job.tape, &input, NULL, &sums, NULL);
        if (!(fabs(sums.mean[0] / TEXT_M - wanted) < 1e-12) || !(wanted > 0))
            fail_msg("settings %d: %.15g, by hand %.15g", (int)i, sums.mean[0] / TEXT_M, wanted);
        const xlm_metric_sum *metric = xlm_host_metric_sums(job.host, &sums, 0);
        assert_true(metric->sum == (double)known && metric->count == (double)neighbours);
        xlm_sums_free(&sums);
        check_gradients_of(&job, &input);
        close_gc(&job);
    }
}

/* Beside mlm, which wants fewer rows of the last layer, with the same results. */
static void test_beside_mlm(void **state)
{
    (void)state;
    static const char *const options[] = {"cooccurrence=cooc.h5", NULL};
    const xlm_batch of = text_batch();
    struct hosted_job job = gc_job(&of, options);
    add_objective(&job, "mlm", &xlm_loss_mlm, NULL);
    assert_true(open_job(&job));
    xlm_sums sums[3];
    for (int i = 0; i < 3; i++)
        sums[i] = xlm_host_sums_new(job.host);
    for (int only = -1; only < 2; only++) {
        xlm_pass_input input = {.stream = 0, .batch = &of, .parts = 1, .step = GRADIENT_STEP, .only = only};
        xlm_host_count(job.host, &input, job.arena);
        xlm_tape_begin(job.tape, NULL, true, GRADIENT_SEED, GRADIENT_STEP);
        xlm_host_run(job.host, job.tape, &input, NULL, &sums[only + 1], NULL);
        if (only < 0)
            check_gradients_of(&job, &input);
    }
    assert_true(fabs(sums[0].mean[0] - sums[1].mean[0]) < 1e-10);
    assert_true(fabs(sums[0].mean[1] - sums[2].mean[1]) < 1e-10);
    for (int i = 0; i < 3; i++)
        xlm_sums_free(&sums[i]);
    close_gc(&job);
}

/* Words without any co-occurrence: no pair, and no gradient. */
static void test_nothing_known(void **state)
{
    (void)state;
    static const char *const options[] = {"cooccurrence=cooc.h5", NULL};
    static const int32_t strange[TEXT_T] = {0, 12, 12, 12, 12, 2, 12, 12, 2, 0, 12, 12, 12, 12, 12, 2, 0, 12, 2};
    xlm_batch of = text_batch();
    of.corrupted.unmasked = of.original.ids = of.original.unmasked = strange;
    struct hosted_job job = gc_job(&of, options);
    assert_true(open_job(&job));
    const xlm_pass_input input = job_input(&job, 0, 1);
    double *gradient = g_new0(double, xlm_parameters_size(job.parameters));
    assert_true(run_job(&job, &input, gradient, NULL) == 0);
    for (int64_t i = 0; i < xlm_parameters_size(job.parameters); i++)
        assert_true(gradient[i] == 0);
    g_free(gradient);
    close_gc(&job);
}

/* ---- what it refuses ---- */

static void refuse(const char *const *options, const char *message)
{
    const xlm_batch of = text_batch();
    struct hosted_job job = gc_job(&of, options);
    assert_false(open_job(&job));
    assert_string_equal(job.message, message);
    close_gc(&job);
}

static void test_refuses(void **state)
{
    (void)state;
    static const char *const none[] = {"cooccurrence=none.h5", NULL}, *const wide[] = {"cooccurrence=cooc.h5", "window=3", NULL};
    static const char *const good[] = {"cooccurrence=cooc.h5", NULL};
    refuse(none, "[objective gc]: none.h5: there is none");
    refuse(wide, "[objective gc]: window = 3, but cooc.h5 counts neighbours at most 2 apart; lower window, or count with xlm_cooc "
           "--window 3");
    table.entries = 0;
    refuse(good, "[objective gc]: cooc.h5: has no pairs of subwords");
    table.entries = G_N_ELEMENTS(columns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),         cmocka_unit_test(test_gc),
        cmocka_unit_test(test_beside_mlm),   cmocka_unit_test(test_nothing_known),
        cmocka_unit_test(test_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
