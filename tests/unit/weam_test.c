/* xlm-mpi: the word-exchange aligning model in the host that training has: losses by hand, gradients, means, what it refuses.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "host_fixture.h"

extern const xlm_loss_class xlm_loss_weam;

/* One pair, <s> 5 7 12 </s> 9 8 </s>; masked are 5 and 7, 9, 8, of which 5 has no partner. */
enum { WEAM_T = 8, WEAM_M = 4, LINKS = 4 };
static const int32_t weam_offsets[] = {0, WEAM_T}, weam_original[WEAM_T] = {0, 5, 7, 12, 2, 9, 8, 2},
    weam_ids[WEAM_T] = {0, 4, 7, 12, 2, 4, 4, 2}, weam_positions[WEAM_T] = {0, 1, 2, 3, 4, 5, 6, 6},
    weam_types[WEAM_T] = {0, 0, 0, 0, 0, 1, 1, 1}, weam_masked[WEAM_M] = {1, 2, 5, 6}, weam_targets[WEAM_M] = {5, 7, 9, 8},
    weam_links[2 * LINKS] = {2, 3, 2, 6, 3, 5, 3, 6};
static const xlm_row_key weam_keys[WEAM_T] = {{4, 0}, {4, 1}, {4, 2}, {4, 3}, {4, 4}, {4, 5}, {4, 6}, {4, 7}};
static const xlm_annotation weam_annotation = {.name = "links", .axis = XLM_AXIS_OWN, .values = weam_links, .length = LINKS,
                                               .width = 2},
                            no_links = {.name = "links", .axis = XLM_AXIS_OWN, .values = weam_links, .width = 2};
static const xlm_batch weam_batch = {
    .original = {
        .tokens = WEAM_T, .sequences = 1, .offsets = weam_offsets, .ids = weam_original, .unmasked = weam_original,
        .positions = weam_positions, .languages = weam_types, .unswitched = weam_types, .types = weam_types,
        .keys = weam_keys, .specials = &xlm_own_special_tokens,
    },
    .corrupted = {
        .tokens = WEAM_T, .sequences = 1, .offsets = weam_offsets, .ids = weam_ids, .unmasked = weam_original,
        .positions = weam_positions, .languages = weam_types, .unswitched = weam_types, .types = weam_types,
        .keys = weam_keys, .specials = &xlm_own_special_tokens,
    },
    .predicted = WEAM_M, .predicted_rows = weam_masked, .targets = weam_targets, .annotations = &weam_annotation,
};
/* Partners of masked row i of the batch: 1 has 5, 2 has 3 and 5, 5 has 1, 2 and 3; 6 none. */
static const int32_t weam_partners[WEAM_M][4] = {{-1}, {3, 6, -1}, {3, -1}, {2, 3, -1}};

static struct hosted_job weam_job(const xlm_batch *of, const char *const *options)
{
    struct hosted_job job = {.batch = of, .stream = {.name = "pairs", .parallel = true, .mask = 0.3, .alignments = true}};
    add_objective(&job, "weam", &xlm_loss_weam, options);
    return job;
}

static const double *own(struct hosted_job *job, const char *name)
{
    char *full = g_strconcat("objectives/weam/", name, NULL);
    const int p = xlm_parameters_find(job->parameters, full);
    assert_true(p >= 0);
    g_free(full);
    return xlm_parameters_values(job->parameters) + xlm_parameters_get(job->parameters, p)->start;
}

/* −log p(target) by a head of the objective's own, at a state of 6 numbers. */
static double by_head(struct hosted_job *job, const char *prefix, const double *h, int32_t label)
{
    char *names[4];
    static const char *const parts[] = {"/dense/weight", "/dense/bias", "/layer_norm/weight", "/layer_norm/bias"};
    const double *part[4];
    for (int i = 0; i < 4; i++) {
        names[i] = g_strconcat(prefix, parts[i], NULL);
        part[i] = own(job, names[i]);
        g_free(names[i]);
    }
    double y[6], mean = 0, variance = 0, z[V], sum = 0;
    for (int r = 0; r < 6; r++) {
        double u = part[1][r];
        for (int c = 0; c < 6; c++)
            u += part[0][r * 6 + c] * h[c];
        y[r] = u * (1 + erf(u / sqrt(2))) / 2;
        mean += y[r] / 6;
    }
    for (int r = 0; r < 6; r++)
        variance += (y[r] - mean) * (y[r] - mean) / 6;
    const double *values = xlm_parameters_values(job->parameters);
    const double *words = values + xlm_parameters_get(job->parameters, xlm_parameters_find(job->parameters,
                                                                                           "embeddings/word/weight"))->start;
    const double *bias = values + xlm_parameters_get(job->parameters, xlm_parameters_find(job->parameters, "lm_head/bias"))->start;
    for (int w = 0; w < V; w++) {
        z[w] = bias[w];
        for (int r = 0; r < 6; r++)
            z[w] += words[w * 6 + r] * (part[2][r] * (y[r] - mean) / sqrt(variance + job->config.layer_norm_epsilon) + part[3][r]);
        sum += exp(z[w]);
    }
    return log(sum) - z[label];
}

/* [out] both: Σ −log p of all masked positions by themselves, of those with partners by these. */
static void by_hand(struct hosted_job *job, double both[2])
{
    const xlm_view view = {.text = XLM_TEXT_CORRUPTED, .layer = 2, .rows = XLM_ROWS_ALL};
    double h[WEAM_T * 6];
    xlm_tape_begin(job->tape, NULL, false, GRADIENT_SEED, GRADIENT_STEP);
    xlm_var_read(xlm_encode_view(job->model, job->tape, &weam_batch, &view), 0, WEAM_T, h);
    both[0] = both[1] = 0;
    const double *w = own(job, "exchange/weight"), *b = own(job, "exchange/bias");
    for (int i = 0; i < WEAM_M; i++) {
        double exchanged[6] = {0}, turned[6];
        both[0] += by_head(job, "multilingual", h + weam_masked[i] * 6, weam_targets[i]);
        if (weam_partners[i][0] < 0)
            continue;
        for (const int32_t *p = weam_partners[i]; *p >= 0; p++)
            for (int c = 0; c < 6; c++)
                exchanged[c] += h[*p * 6 + c];
        for (int r = 0; r < 6; r++) {
            turned[r] = b[r];
            for (int c = 0; c < 6; c++)
                turned[r] += w[r * 6 + c] * exchanged[c];
        }
        both[1] += by_head(job, "cross_lingual", turned, weam_targets[i]);
    }
}

static void test_weam(void **state)
{
    (void)state;
    struct hosted_job job = weam_job(&weam_batch, (const char *const[]){"lambda=0.7", NULL});
    double both[2];
    assert_true(open_job(&job));
    by_hand(&job, both);
    xlm_pass_input input = job_input(&job, 0, 1);
    label_job(&job, &input);
    assert_true(input.terms[0] == WEAM_M && input.terms[1] == WEAM_M - 1);
    assert_true(fabs(run_job(&job, &input, NULL, NULL) - both[0] / WEAM_M - 0.7 * both[1] / (WEAM_M - 1)) < 1e-12);
    check_gradients_of(&job, &input);
    /* Who predicts always word 7 is right about one of the masked words, which has partners. */
    const int bias = xlm_parameters_find(job.parameters, "lm_head/bias");
    xlm_parameters_values(job.parameters)[xlm_parameters_get(job.parameters, bias)->start + 7] += 1000;
    check_metric(&job, &input, "with_partner", WEAM_M - 1, WEAM_M);
    check_metric(&job, &input, "cross_lingual_accuracy", 1, WEAM_M - 1);
    close_job(&job);
}

/* Two micro-batches, one without links: each mean is over all terms of both. */
static void test_weam_means(void **state)
{
    (void)state;
    xlm_batch unlinked = weam_batch;
    unlinked.annotations = &no_links;
    struct hosted_job job = weam_job(&weam_batch, (const char *const[]){"lambda=0.7", NULL});
    double both[2];
    assert_true(open_job(&job));
    assert_int_equal(xlm_host_means(job.host), 2);
    xlm_sums sums = xlm_host_sums_new(job.host);
    by_hand(&job, both);
    xlm_pass_input input[2];
    int64_t totals[2] = {0};
    for (int m = 0; m < 2; m++) {
        job.batch = m == 0 ? &weam_batch : &unlinked;
        input[m] = job_input(&job, 0, 1);
        label_job(&job, &input[m]);
        for (int i = 0; i < 2; i++)
            totals[i] += input[m].terms[i];
    }
    assert_true(totals[0] == 2 * WEAM_M && totals[1] == WEAM_M - 1);
    double *gradient = g_new0(double, xlm_parameters_size(job.parameters)), *x = xlm_parameters_values(job.parameters);
    double losses[3];
    const int64_t at = xlm_parameters_get(job.parameters, xlm_parameters_find(job.parameters, "embeddings/word/weight"))->start + 9;
    for (int nudge = 0; nudge < 3; nudge++) {
        x[at] += nudge == 1 ? 1e-5 : nudge == 2 ? -2e-5 : 0;
        xlm_sums_clear(&sums);
        for (int m = 0; m < 2; m++) {
            xlm_tape_begin(job.tape, nudge == 0 ? gradient : NULL, true, GRADIENT_SEED, GRADIENT_STEP);
            xlm_host_run(job.host, job.tape, &input[m], nudge == 0 ? totals : NULL, &sums, NULL);
        }
        losses[nudge] = xlm_host_mean_loss(job.host, 0, &sums, totals);
    }
    xlm_sums_free(&sums);
    assert_true(fabs(losses[0] - 2 * both[0] / totals[0] - 0.7 * both[1] / totals[1]) < 1e-12);
    const double difference = (losses[1] - losses[2]) / 2e-5;
    assert_true(fabs(difference) > 1e-3 && fabs(gradient[at] - difference) < 1e-7);
    g_free(gradient);
    close_job(&job);
}

/* Weights decay; biases and the gains of norms do not. */
static void test_decay(void **state)
{
    (void)state;
    struct hosted_job job = weam_job(&weam_batch, NULL);
    int weights = 0, others = 0;
    assert_true(open_job(&job));
    for (int i = 0; i < xlm_parameters_count(job.parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(job.parameters, i);
        if (!g_str_has_prefix(p->name, "objectives/"))
            continue;
        const bool decays = g_str_has_suffix(p->name, "/weight") && strstr(p->name, "/layer_norm/") == NULL;
        if (p->decay != decays)
            fail_msg("decay of %s", p->name);
        weights += decays;
        others += !decays;
    }
    assert_true(weights == 3 && others == 7);
    close_job(&job);
}

static void refuse_weam(xlm_loss_stream stream, const char *message)
{
    struct hosted_job job = weam_job(&weam_batch, NULL);
    job.stream = stream;
    refuse_job(&job, message);
}

static void test_weam_refuses(void **state)
{
    (void)state;
    const xlm_loss_stream stream = {.name = "pairs", .parallel = true, .mask = 0.3, .alignments = true};
    xlm_loss_stream text = stream, xlm = stream, unaligned = stream, unmasked = stream;
    text.parallel = false, xlm.several_pairs = true, unaligned.alignments = false, unmasked.mask = 0;
    refuse_weam(text, "[stream pairs] has none; set type = parallel there");
    refuse_weam(xlm, "set form = bert in [stream pairs]");
    refuse_weam(unaligned, "[stream pairs] has no word alignments; give it alignments = FILE.h5");
    refuse_weam(unmasked, "[stream pairs] masks nothing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weam),
        cmocka_unit_test(test_weam_means),
        cmocka_unit_test(test_decay),
        cmocka_unit_test(test_weam_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
