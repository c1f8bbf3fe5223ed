/* xlm-mpi: the heads that tell classes apart, by hand and by central differences. SPDX-License-Identifier: GPL-3.0-or-later */
#include "host_fixture.h"

#include "tasks/class_head.h"
#include "tensor/tape.h"

enum { CLASSES = 3, D = 6, N_TOKENS = 12, N = 3 };

/* A head, and the biases of the model that it is of. */
typedef struct kind {
    xlm_head_form form;
    bool mean, biases;
    xlm_activation activation;
} kind;

static const kind kinds[] = {
    {XLM_FORM_LINEAR, false, true, XLM_GELU},     {XLM_FORM_DENSE, false, true, XLM_GELU},
    {XLM_FORM_DENSE_NORM, false, true, XLM_GELU}, {XLM_FORM_DENSE_NORM, false, false, XLM_SWISH},
    {XLM_FORM_LINEAR, true, true, XLM_GELU},      {XLM_FORM_DENSE_NORM, true, false, XLM_GELU_TANH},
    {XLM_FORM_DENSE, true, false, XLM_GELU}, /* whose bias is there all the same */
};
static const kind *tested;

static xlm_class_head head_of(const kind *k) { return (xlm_class_head){CLASSES, k->form, k->mean, 0}; }

static void declare(xlm_loss *self, xlm_declaration *d)
{
    const xlm_class_head head = head_of(tested);
    xlm_class_declare(self, d, &head);
}

static xlm_var *loss_of(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const xlm_class_head head = head_of(tested);
    return xlm_class_loss(self, tape, pass, &head);
}

static const xlm_loss_class classes = {.abi = XLM_LOSS_ABI, .name = "classes", .needs_stream = true, .declare = declare,
                                       .loss = loss_of};

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

/* out_i = bias_i + Σ_j weight_ij in_j; bias: NULL, or [rows] */
static void linear(int rows, const double *weight, const double *bias, const double *in, double *out)
{
    for (int i = 0; i < rows; i++) {
        out[i] = bias != NULL ? bias[i] : 0;
        for (int j = 0; j < D; j++)
            out[i] += weight[i * D + j] * in[j];
    }
}

static double activate(xlm_activation activation, double u)
{
    return activation == XLM_SWISH  ? u / (1 + exp(-u))
           : activation == XLM_GELU ? u * (1 + erf(u / sqrt(2))) / 2
                                    : u * (1 + tanh(sqrt(2 / M_PI) * (u + 0.044715 * u * u * u))) / 2;
}

/* x becomes what the last layer reads. */
static void apply(const struct hosted_job *job, const kind *k, double x[D])
{
    double in[D], mean = 0, variance = 0;
    if (k->form == XLM_FORM_LINEAR)
        return;
    memcpy(in, x, sizeof in);
    const bool bias = k->form == XLM_FORM_DENSE || k->biases;
    linear(D, values_of(job, "dense_weight"), bias ? values_of(job, "dense_bias") : NULL, in, x);
    for (int i = 0; i < D; i++) {
        x[i] = k->form == XLM_FORM_DENSE ? tanh(x[i]) : activate(k->activation, x[i]);
        mean += x[i] / D;
    }
    if (k->form == XLM_FORM_DENSE)
        return;
    for (int i = 0; i < D; i++)
        variance += (x[i] - mean) * (x[i] - mean) / D;
    for (int i = 0; i < D; i++)
        x[i] = (x[i] - mean) / sqrt(variance + job->config.layer_norm_epsilon) * values_of(job, "norm_weight")[i] +
               (k->biases ? values_of(job, "norm_bias")[i] : 0);
}

/* Probabilities of the classes, plainly. */
static void probabilities(const struct hosted_job *job, const kind *of, double p[N][CLASSES])
{
    const xlm_view view = {.text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_ALL};
    double h[N_TOKENS * D];
    xlm_tape_begin(job->tape, NULL, false, GRADIENT_SEED, GRADIENT_STEP);
    xlm_var_read(xlm_encode_view(job->model, job->tape, job->batch, &view), 0, N_TOKENS, h);
    for (int n = 0; n < N; n++) {
        double x[D] = {0}, sum = 0;
        const int32_t first = nli_offsets[n], end = of->mean ? nli_offsets[n + 1] : first + 1;
        for (int32_t t = first; t < end; t++)
            for (int i = 0; i < D; i++)
                x[i] += h[t * D + i] / (end - first);
        apply(job, of, x);
        linear(CLASSES, values_of(job, "weight"), values_of(job, "bias"), x, p[n]);
        for (int k = 0; k < CLASSES; k++)
            sum += p[n][k] = exp(p[n][k]);
        for (int k = 0; k < CLASSES; k++)
            p[n][k] /= sum;
    }
}

static void predict(void *data, xlm_loss *loss, xlm_tape *tape, const xlm_pass *pass)
{
    const xlm_class_head head = head_of(tested);
    xlm_class_predict(loss, tape, pass, &head, data);
}

static void test_heads(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        tested = &kinds[i];
        struct hosted_job job = {.batch = &nli_batch, .stream = {.name = "train"}, .no_biases = !tested->biases,
                                 .activation = tested->activation};
        add_objective(&job, "classes", &classes, NULL);
        assert_true(open_job(&job));
        double wanted[N][CLASSES], found[N * CLASSES], loss = 0;
        xlm_sums sums = xlm_host_sums_new(job.host);
        probabilities(&job, tested, wanted);
        for (int n = 0; n < N; n++)
            loss -= log(wanted[n][nli_targets[n]]) / N;
        xlm_pass_input input = job_input(&job, 0, 1);
        assert_int_equal(input.terms[0], N);
        xlm_tape_begin(job.tape, NULL, false, GRADIENT_SEED, GRADIENT_STEP);
        xlm_host_run(job.host, job.tape, &input, NULL, &sums, &(xlm_host_outputs){.visit = predict, .data = found});
        assert_true(fabs(sums.mean[0] / N - loss) < 1e-12);
        xlm_sums_free(&sums);
        for (int k = 0; k < N * CLASSES; k++)
            assert_true(fabs(found[k] - wanted[k / CLASSES][k % CLASSES]) < 1e-12);
        check_gradients_of(&job, &input);
        close_job(&job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_heads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
