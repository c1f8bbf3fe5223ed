/* xlm-mpi: sentence-order prediction: where its stage cuts and what it swaps; its loss in the host that training has, by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "host_fixture.h"

#include "stream/stage_pass.h"
#include "tensor/tape.h"

extern const xlm_loss_class xlm_loss_sop;

/* ---- the stage ---- */

enum { SEQUENCES = 20000, SENTENCES = 5 };

/* Arrange sequences of n sentences each, their numbers from `first` on. [out] spans: [sequences x n], swapped: [sequences] */
static void arrange(uint64_t seed, int32_t first, int32_t sequences, int32_t n, xlm_stage_span *spans, int32_t *swapped)
{
    const xlm_stage stage = {.cls = xlm_loss_sop.stage, .name = "sop"};
    const xlm_stage_pass pass = {.self = &stage, .values = &swapped, .name = 17, .key = xlm_rng_make_key(seed, XLM_RNG_STAGE, 3)};
    int32_t *ends = g_new(int32_t, sequences + 1);
    xlm_row_key *key = g_new(xlm_row_key, sequences);
    for (int32_t s = 0; s <= sequences; s++)
        ends[s] = s * n;
    for (int32_t s = 0; s < sequences; s++) {
        key[s] = (xlm_row_key){(uint32_t)(first + s), 0};
        swapped[s] = -1;
        for (int32_t i = 0; i < n; i++)
            spans[s * n + i] = (xlm_stage_span){.number = i, .tokens = 1 + i, .language = s % 2};
    }
    stage.cls->arrange((xlm_stage *)(uintptr_t)&stage, &pass, &(xlm_stage_text){sequences, ends, key, spans});
    g_free(ends);
    g_free(key);
}

/* The number of sentences in the first segment of the text as it was; fails unless `span` are its two segments, in the order that
 * `swapped` says, each with its own sentences in order, of type 0 the one that comes first. */
static int32_t cut_of(const xlm_stage_span *span, int32_t n, int32_t swapped)
{
    int32_t first = 0;
    while (first < n && span[first].side == 0)
        first++;
    const int32_t cut = swapped ? n - first : first;
    assert_in_range(cut, 1, n - 1);
    for (int32_t i = 0; i < n; i++) {
        assert_int_equal(span[i].number, swapped ? (i + cut) % n : i);
        assert_int_equal(span[i].tokens, 1 + span[i].number);
        assert_int_equal(span[i].side, i >= first);
    }
    return cut;
}

static bool is_near(double count, double n, double p) { return fabs(count - n * p) < 4.5 * sqrt(n * p * (1 - p)); }

/* Half of the sequences are swapped, and the cuts are uniform, whether they are or not. */
static void test_arrange(void **state)
{
    (void)state;
    xlm_stage_span *spans = g_new(xlm_stage_span, SEQUENCES * SENTENCES), alone[SENTENCES];
    int32_t *swapped = g_new(int32_t, SEQUENCES), of_one, counts[2][SENTENCES] = {{0}};
    arrange(1, 0, SEQUENCES, SENTENCES, spans, swapped);
    for (int32_t s = 0; s < SEQUENCES; s++) {
        assert_in_range(swapped[s], 0, 1);
        counts[swapped[s]][cut_of(spans + s * SENTENCES, SENTENCES, swapped[s])]++;
    }
    for (int order = 0; order < 2; order++)
        for (int cut = 1; cut < SENTENCES; cut++)
            if (!is_near(counts[order][cut], SEQUENCES, 0.5 / (SENTENCES - 1)))
                fail_msg("%d of %d sequences are cut after %d sentences and %sswapped", counts[order][cut], SEQUENCES, cut,
                         order ? "" : "not ");
    for (int32_t s = 0; s < 50; s++) { /* each by itself is what it is among others */
        arrange(1, s, 1, SENTENCES, alone, &of_one);
        assert_int_equal(of_one, swapped[s]);
        for (int32_t i = 0; i < SENTENCES; i++)
            assert_true(alone[i].number == spans[s * SENTENCES + i].number && alone[i].side == spans[s * SENTENCES + i].side);
    }
    g_free(spans);
    g_free(swapped);
}

/* Two sentences can be cut at one place; one has no order. */
static void test_arrange_few(void **state)
{
    (void)state;
    xlm_stage_span spans[2 * 200];
    int32_t swapped[200], all = 0;
    arrange(2, 0, 200, 2, spans, swapped);
    for (int32_t s = 0; s < 200; s++) {
        assert_int_equal(cut_of(spans + 2 * s, 2, swapped[s]), 1);
        all += swapped[s];
    }
    assert_true(is_near(all, 200, 0.5));
    arrange(2, 0, 200, 1, spans, swapped);
    for (int32_t s = 0; s < 200; s++)
        assert_true(swapped[s] == -1 && spans[s].side == 0 && spans[s].number == 0);
}

/* ---- the objective ---- */

enum { WIDTH = 6 };
static const char *const names[] = {"swapped", NULL};

static struct hosted_job sop_job(const xlm_batch *of)
{
    return (struct hosted_job){.batch = of, .stream = {.name = "text", .joined = true, .annotations = names}};
}

static xlm_annotation orders_of(const int32_t *swapped)
{
    return (xlm_annotation){.name = "swapped", .axis = XLM_AXIS_SEQUENCES, .values = swapped, .length = 3, .width = 1};
}

/* Row r of W x + b, of a parameter "objectives/sop/NAME/weight" and its bias. */
static double row_of(const struct hosted_job *job, const char *name, int r, const double *x)
{
    g_autofree char *weight = g_strdup_printf("objectives/sop/%s/weight", name);
    g_autofree char *bias = g_strdup_printf("objectives/sop/%s/bias", name);
    const double *all = xlm_parameters_values(job->parameters);
    const double *w = all + xlm_parameters_get(job->parameters, xlm_parameters_find(job->parameters, weight))->start;
    double sum = all[xlm_parameters_get(job->parameters, xlm_parameters_find(job->parameters, bias))->start + r];
    for (int c = 0; c < WIDTH; c++)
        sum += w[r * WIDTH + c] * x[c];
    return sum;
}

/* The mean of −log p over the sequences with an order, number by number, and how many of these are right. */
static double by_hand(struct hosted_job *job, const int32_t *swapped, int *terms, int *right)
{
    const xlm_view view = {.text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_ALL};
    double h[T * WIDTH], sum = 0;
    xlm_tape_begin(job->tape, NULL, false, GRADIENT_SEED, GRADIENT_STEP);
    xlm_var_read(xlm_encode_view(job->model, job->tape, job->batch, &view), 0, T, h);
    *terms = *right = 0;
    for (int s = 0; s < 3; s++) {
        double pooled[WIDTH];
        if (swapped[s] < 0)
            continue;
        for (int c = 0; c < WIDTH; c++)
            pooled[c] = tanh(row_of(job, "pooler", c, h + offsets[s] * WIDTH));
        const double z[2] = {row_of(job, "classifier", 0, pooled), row_of(job, "classifier", 1, pooled)};
        sum += log(1 + exp(z[1 - swapped[s]] - z[swapped[s]]));
        *right += z[swapped[s]] >= z[1 - swapped[s]];
        ++*terms;
    }
    return sum / *terms;
}

static void test_loss(void **state)
{
    (void)state;
    static const int32_t cases[][3] = {{1, -1, 0}, {0, 1, 1}, {-1, 1, -1}};
    for (size_t k = 0; k < G_N_ELEMENTS(cases); k++) {
        const xlm_annotation annotation = orders_of(cases[k]);
        xlm_batch of = batch;
        of.annotations = &annotation;
        struct hosted_job job = sop_job(&of);
        add_objective(&job, "sop", &xlm_loss_sop, NULL);
        assert_true(open_job(&job));
        int terms, right;
        const double wanted = by_hand(&job, cases[k], &terms, &right);
        xlm_pass_input input = job_input(&job, 0, 1);
        assert_int_equal(input.terms[0], terms);
        xlm_sums sums = xlm_host_sums_new(job.host);
        xlm_tape_begin(job.tape, NULL, true, GRADIENT_SEED, GRADIENT_STEP);
        xlm_host_run(job.host, job.tape, &input, NULL, &sums, NULL);
        const xlm_metric_sum *metric = xlm_host_metric_sums(job.host, &sums, 0);
        if (!(fabs(sums.mean[0] / terms - wanted) < 1e-12) || metric[0].count != terms || metric[0].sum != right)
            fail_msg("case %zu: loss %.15g, by hand %.15g; right %g, by hand %d", k, sums.mean[0] / terms, wanted, metric[0].sum,
                     right);
        xlm_sums_free(&sums);
        check_gradients_of(&job, &input);
        close_job(&job);
    }
    /* Without an order anywhere there are no terms. */
    static const int32_t none[3] = {-1, -1, -1};
    const xlm_annotation annotation = orders_of(none);
    xlm_batch of = batch;
    of.annotations = &annotation;
    struct hosted_job job = sop_job(&of);
    add_objective(&job, "sop", &xlm_loss_sop, NULL);
    assert_true(open_job(&job));
    assert_int_equal(job_input(&job, 0, 1).terms[0], 0);
    close_job(&job);
}

static void test_refuses(void **state)
{
    (void)state;
    struct hosted_job job = sop_job(&batch);
    job.stream.joined = false;
    add_objective(&job, "sop", &xlm_loss_sop, NULL);
    refuse_job(&job, "[objective sop]: [stream text] has one sentence in a sequence, which has no order; set join_sentences");
    job = sop_job(&batch);
    job.stream.annotations = NULL;
    add_objective(&job, "sop", &xlm_loss_sop, NULL);
    refuse_job(&job, "[objective sop]: [stream text] does not say which of its texts are swapped");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrange), cmocka_unit_test(test_arrange_few), cmocka_unit_test(test_loss),
        cmocka_unit_test(test_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
