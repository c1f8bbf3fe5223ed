/* xlm-mpi: the head that finds answers, by hand and by central differences. SPDX-License-Identifier: GPL-3.0-or-later */
#include "host_fixture.h"

#include "tasks/answer_head.h"
#include "tensor/tape.h"

enum { D = 6 };
static xlm_head_form form; /* that is tested */

static void declare(xlm_loss *self, xlm_declaration *declaration) { xlm_answer_declare(self, declaration, form); }

static xlm_var *loss_of(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    return xlm_answer_loss(self, tape, pass, form, 0);
}

static const xlm_loss_class answers = {.abi = XLM_LOSS_ABI, .name = "answers", .needs_stream = true, .declare = declare,
                                       .loss = loss_of};

/* <s> 5 </s> 6 7* 8* </s>, <s>** 9 10 </s> 11 </s> and <s> </s> 12** </s>: answers of two subwords, of none and of one. */
enum { N_TOKENS = 17, N_PREDICTED = 6 };
static const int32_t qa_offsets[] = {0, 7, 13, 17},
    qa_ids[N_TOKENS] = {0, 5, 2, 6, 7, 8, 2, 0, 9, 10, 2, 11, 2, 0, 2, 12, 2},
    qa_types[N_TOKENS] = {0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1},
    qa_positions[N_TOKENS] = {0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3},
    qa_masked[N_PREDICTED] = {4, 5, 7, 7, 15, 15}, qa_targets[N_PREDICTED] = {0, 1, 0, 1, 0, 1};
static const int32_t qa_languages[N_TOKENS];
static xlm_row_key qa_keys[N_TOKENS];

static xlm_batch make_batch(void)
{
    for (int32_t i = 0; i < N_TOKENS; i++)
        qa_keys[i] = (xlm_row_key){3, (uint32_t)i};
    return (xlm_batch){
        .corrupted = {
            .tokens = N_TOKENS, .sequences = 3, .offsets = qa_offsets, .ids = qa_ids, .unmasked = qa_ids,
            .positions = qa_positions, .languages = qa_languages, .unswitched = qa_languages, .types = qa_types,
            .keys = qa_keys, .specials = &xlm_own_special_tokens,
        },
        .predicted = N_PREDICTED, .predicted_rows = qa_masked, .targets = qa_targets,
    };
}

static const double *values_of(const struct hosted_job *job, const char *name)
{
    g_autofree char *path = g_strconcat("objectives/answers/", name, NULL);
    const xlm_parameter *p = xlm_parameters_get(job->parameters, xlm_parameters_find(job->parameters, path));
    return xlm_parameters_values(job->parameters) + p->start;
}

/* x becomes LayerNorm(gelu(P x + p)), plainly. */
static void apply(const struct hosted_job *job, double x[D])
{
    const double *weight = values_of(job, "dense_weight"), *bias = values_of(job, "dense_bias");
    double y[D], mean = 0, variance = 0;
    for (int i = 0; i < D; i++) {
        double u = bias[i];
        for (int j = 0; j < D; j++)
            u += weight[i * D + j] * x[j];
        y[i] = u * (1 + erf(u / sqrt(2))) / 2;
        mean += y[i] / D;
    }
    for (int i = 0; i < D; i++)
        variance += (y[i] - mean) * (y[i] - mean) / D;
    for (int i = 0; i < D; i++)
        x[i] = (y[i] - mean) / sqrt(variance + job->config.layer_norm_epsilon) * values_of(job, "norm_weight")[i] +
               values_of(job, "norm_bias")[i];
}

/* Logit of an end of each row. */
static void read_logits(struct hosted_job *job, double logits[N_TOKENS][2])
{
    const xlm_view view = {.text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_ALL};
    const double *weight = values_of(job, "weight");
    double h[N_TOKENS * D];
    xlm_tape_begin(job->tape, NULL, false, GRADIENT_SEED, GRADIENT_STEP);
    xlm_var_read(xlm_encode_view(job->model, job->tape, job->batch, &view), 0, N_TOKENS, h);
    for (int t = 0; t < N_TOKENS; t++) {
        if (form == XLM_FORM_DENSE_NORM)
            apply(job, h + t * D);
        for (int end = 0; end < 2; end++) {
            logits[t][end] = 0;
            for (int c = 0; c < D; c++)
                logits[t][end] += h[t * D + c] * weight[end * D + c];
        }
    }
}

static void check_loss(void)
{
    const xlm_batch of = make_batch();
    struct hosted_job job = {.batch = &of, .stream = {.name = "train"}};
    add_objective(&job, "answers", &answers, NULL);
    assert_true(open_job(&job));
    double logits[N_TOKENS][2], wanted = 0;
    read_logits(&job, logits);
    for (int i = 0; i < N_PREDICTED; i++) {
        double sum = 0;
        for (int32_t t = qa_offsets[i / 2]; t < qa_offsets[i / 2 + 1]; t++)
            sum += exp(logits[t][i % 2]);
        wanted -= log(exp(logits[qa_masked[i]][i % 2]) / sum) / N_PREDICTED;
    }
    xlm_sums sums = xlm_host_sums_new(job.host);
    xlm_pass_input input = job_input(&job, 0, 1);
    assert_int_equal(input.terms[0], N_PREDICTED);
    xlm_tape_begin(job.tape, NULL, false, GRADIENT_SEED, GRADIENT_STEP);
    xlm_host_run(job.host, job.tape, &input, NULL, &sums, NULL);
    assert_true(fabs(sums.mean[0] / N_PREDICTED - wanted) < 1e-12);
    xlm_sums_free(&sums);
    check_gradients_of(&job, &input);
    close_job(&job);
}

struct prediction {
    double rows[N_PREDICTED * 11]; /* of three spans of up to two rows */
};

static void predict(void *data, xlm_loss *loss, xlm_tape *tape, const xlm_pass *pass)
{
    struct prediction *p = data;
    assert_int_equal(xlm_answer_width(3), 11);
    xlm_answer_predict(loss, tape, pass, form, 2, 3, p->rows);
}

static void check_predictions(void)
{
    const xlm_batch of = make_batch();
    struct hosted_job job = {.batch = &of, .stream = {.name = "test"}};
    add_objective(&job, "answers", &answers, NULL);
    assert_true(open_job(&job));
    double logits[N_TOKENS][2];
    read_logits(&job, logits);
    struct prediction p = {{0}};
    xlm_sums sums = xlm_host_sums_new(job.host);
    xlm_pass_input input = job_input(&job, 0, 1);
    xlm_tape_begin(job.tape, NULL, false, 0, 0);
    xlm_host_run(job.host, job.tape, &input, NULL, &sums, &(xlm_host_outputs){.visit = predict, .data = &p});
    xlm_sums_free(&sums);
    static const int64_t contexts[][2] = {{3, 3}, {11, 1}, {15, 1}}; /* first row, rows */
    for (int s = 0; s < 3; s++) {
        const double *numbers = p.rows + s * 22;
        assert_true(fabs(xlm_answer_null_score(numbers) - logits[qa_offsets[s]][0] - logits[qa_offsets[s]][1]) < 1e-12);
        xlm_answer_span span;
        int64_t found = 0;
        double before = INFINITY;
        for (; xlm_answer_span_at(numbers, found, &span); found++) {
            assert_true(span.start >= 0 && span.end >= span.start && span.end < contexts[s][1] && span.end - span.start < 2);
            assert_true(fabs(span.score - logits[contexts[s][0] + span.start][0] - logits[contexts[s][0] + span.end][1]) < 1e-12);
            assert_true(span.score <= before);
            before = span.score;
        }
        assert_int_equal(found, s == 0 ? 3 : 1); /* of the five of three rows, all of one */
    }
    close_job(&job);
}

static void test_linear(void **state)
{
    (void)state;
    form = XLM_FORM_LINEAR;
    check_loss();
    check_predictions();
}

static void test_dense_norm(void **state)
{
    (void)state;
    form = XLM_FORM_DENSE_NORM;
    check_loss();
    check_predictions();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_linear), cmocka_unit_test(test_dense_norm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
