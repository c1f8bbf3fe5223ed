/* xlm-mpi: the heads that tell classes apart, by hand and by central differences. SPDX-License-Identifier: GPL-3.0-or-later */
#include "host_fixture.h"

#include "tasks/class_head.h"
#include "tensor/tape.h"

enum { CLASSES = 3, D = 6, N_TOKENS = 12, N = 3 };

static void declare_linear(xlm_loss *self, xlm_declaration *d) { xlm_class_declare(self, d, CLASSES, false); }
static void declare_dense(xlm_loss *self, xlm_declaration *d) { xlm_class_declare(self, d, CLASSES, true); }
static xlm_var *loss_linear(xlm_loss *self, xlm_tape *t, const xlm_pass *pass) { return xlm_class_loss(self, t, pass, false, 0); }
static xlm_var *loss_dense(xlm_loss *self, xlm_tape *t, const xlm_pass *pass) { return xlm_class_loss(self, t, pass, true, 0); }

static const xlm_loss_class heads[] = {
    {.abi = XLM_LOSS_ABI, .name = "classes", .needs_stream = true, .declare = declare_linear, .loss = loss_linear},
    {.abi = XLM_LOSS_ABI, .name = "classes", .needs_stream = true, .declare = declare_dense, .loss = loss_dense},
};

/* <s>* 5 6 </s> 7 </s>, <s>* 8 </s> and <s>* 9 </s> of classes 2, 0, 2. */
static const int32_t nli_offsets[] = {0, 6, 9, 12}, nli_ids[N_TOKENS] = {0, 5, 6, 2, 7, 2, 0, 8, 2, 0, 9, 2},
    nli_types[N_TOKENS] = {0, 0, 0, 0, 1, 1}, nli_positions[N_TOKENS] = {0, 1, 2, 3, 4, 5, 0, 1, 2, 0, 1, 2},
    nli_languages[N_TOKENS], nli_masked[N] = {0, 6, 9}, nli_targets[N] = {2, 0, 2};
static xlm_row_key nli_keys[N_TOKENS];

static const xlm_batch nli_batch = {
    .corrupted = {
        .tokens = N_TOKENS, .sequences = N, .offsets = nli_offsets, .ids = nli_ids, .unmasked = nli_ids,
        .positions = nli_positions, .languages = nli_languages, .unswitched = nli_languages, .types = nli_types,
        .keys = nli_keys, .specials = &xlm_own_special_tokens,
    },
    .predicted = N, .predicted_rows = nli_masked, .targets = nli_targets,
};

static const double *values_of(const struct hosted_job *job, const char *name)
{
    char *path = g_strconcat("objectives/classes/", name, NULL);
    const xlm_parameter *p = xlm_parameters_get(job->parameters, xlm_parameters_find(job->parameters, path));
    g_free(path);
    return xlm_parameters_values(job->parameters) + p->start;
}

/* out_i = bias_i + Σ_j weight_ij in_j */
static void linear(int rows, const double *weight, const double *bias, const double *in, double *out)
{
    for (int i = 0; i < rows; i++) {
        out[i] = bias[i];
        for (int j = 0; j < D; j++)
            out[i] += weight[i * D + j] * in[j];
    }
}

/* Probabilities of the classes, plainly. */
static void probabilities(const struct hosted_job *job, bool dense, double p[N][CLASSES])
{
    const xlm_view view = {.text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_ALL};
    double h[N_TOKENS * D];
    xlm_tape_begin(job->tape, NULL, false, GRADIENT_SEED, GRADIENT_STEP);
    xlm_var_read(xlm_encode_view(job->model, job->tape, job->batch, &view), 0, N_TOKENS, h);
    for (int n = 0; n < N; n++) {
        double x[D], sum = 0;
        memcpy(x, h + nli_masked[n] * D, sizeof x);
        if (dense) {
            linear(D, values_of(job, "dense_weight"), values_of(job, "dense_bias"), h + nli_masked[n] * D, x);
            for (int i = 0; i < D; i++)
                x[i] = tanh(x[i]);
        }
        linear(CLASSES, values_of(job, "weight"), values_of(job, "bias"), x, p[n]);
        for (int k = 0; k < CLASSES; k++)
            sum += p[n][k] = exp(p[n][k]);
        for (int k = 0; k < CLASSES; k++)
            p[n][k] /= sum;
    }
}

struct prediction {
    bool dense;
    double rows[N * CLASSES];
};

static void predict(void *data, xlm_loss *loss, xlm_tape *tape, const xlm_pass *pass)
{
    struct prediction *p = data;
    xlm_class_predict(loss, tape, pass, p->dense, p->rows);
}

static void test_heads(void **state)
{
    (void)state;
    for (int dense = 0; dense <= 1; dense++) {
        struct hosted_job job = {.batch = &nli_batch, .stream = {.name = "train"}};
        add_objective(&job, "classes", &heads[dense], NULL);
        assert_true(open_job(&job));
        double wanted[N][CLASSES], loss = 0;
        xlm_sums sums = xlm_host_sums_new(job.host);
        probabilities(&job, dense, wanted);
        for (int n = 0; n < N; n++)
            loss -= log(wanted[n][nli_targets[n]]) / N;
        struct prediction found = {.dense = dense};
        xlm_pass_input input = job_input(&job, 0, 1);
        assert_int_equal(input.terms[0], N);
        xlm_tape_begin(job.tape, NULL, false, GRADIENT_SEED, GRADIENT_STEP);
        xlm_host_run(job.host, job.tape, &input, NULL, &sums, &(xlm_host_outputs){.visit = predict, .data = &found});
        assert_true(fabs(sums.mean[0] / N - loss) < 1e-12);
        xlm_sums_free(&sums);
        for (int i = 0; i < N * CLASSES; i++)
            assert_true(fabs(found.rows[i] - wanted[i / CLASSES][i % CLASSES]) < 1e-12);
        check_gradients_of(&job, &input);
        close_job(&job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_heads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
