/* xlm-mpi: objectives of src/losses in the host that training has: gradients, parts, what they refuse.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "host_fixture.h"

extern const xlm_loss_class xlm_loss_align, xlm_loss_dict_mlm, xlm_loss_mlm;

/* ---- a dictionary in memory ---- */

enum { PAIRS = 7 };

/* Words with several translations, from either side. */
static const int32_t source[PAIRS] = {5, 5, 6, 7, 8, 10, 10}, target[PAIRS] = {9, 7, 9, 8, 5, 6, 9};
static xlm_dictionary dictionary = {.pairs = PAIRS, .token = {source, target}, .language = {0, 1}};
static int times_read;

static void *read_dictionary(const char *path, const xlm_resource_origin *origin, GError **error)
{
    (void)origin;
    if (strcmp(path, "dict.h5") != 0) {
        xlm_error_set(error, EX_NOINPUT, "%s: there is none", path);
        return NULL;
    }
    times_read++;
    return &dictionary;
}

static void keep_dictionary(void *contents) { (void)contents; }

static const xlm_resource_reader reader = {.kind = "dictionary", .folder = "dictionaries", .read = read_dictionary,
                                           .free = keep_dictionary};
static const xlm_resource_reader *const readers[] = {&reader, NULL};

/* ---- align ---- */

static bool open_align(struct hosted_job *job, const char *path)
{
    char *option = g_strconcat("dictionary=", path, NULL);
    const char *const options[] = {option, NULL};
    job->readers = readers;
    add_objective(job, "align", &xlm_loss_align, options);
    g_free(option);
    return open_job(job);
}

static void close_align(struct hosted_job *job)
{
    for (int k = 0; k < job->objectives; k++)
        xlm_options_free(xlm_loss_align.options, job->objective[k].state);
    close_job(job);
}

static double mean_cosine(struct hosted_job *job, int64_t first, int64_t end)
{
    const xlm_parameter *p = xlm_parameters_get(job->parameters, xlm_parameters_find(job->parameters, "embeddings/word/weight"));
    double sum = 0;
    for (int64_t i = first; i < end; i++) {
        const double *e = xlm_parameters_values(job->parameters) + p->start;
        const double *a = e + source[i] * p->cols, *b = e + target[i] * p->cols;
        double ab = 0, aa = 0, bb = 0;
        for (int64_t c = 0; c < p->cols; c++)
            ab += a[c] * b[c], aa += a[c] * a[c], bb += b[c] * b[c];
        sum += ab / sqrt(aa * bb);
    }
    return sum / (double)(end - first);
}

static void test_align(void **state)
{
    (void)state;
    struct hosted_job job = {0};
    assert_true(open_align(&job, "dict.h5"));
    static const int64_t cuts[] = {1, 2, 3, PAIRS, 16};
    for (size_t k = 0; k < G_N_ELEMENTS(cuts); k++) {
        int64_t first = 0;
        for (int64_t part = 0; part < cuts[k]; part++) {
            const xlm_pass_input input = job_input(&job, part, cuts[k]);
            const int64_t n = input.terms[0];
            assert_true(n >= PAIRS / cuts[k] && n <= (PAIRS + cuts[k] - 1) / cuts[k]); /* shared evenly */
            if (n == 0)
                continue;
            assert_true(fabs(run_job(&job, &input, NULL, NULL) + mean_cosine(&job, first, first + n)) < 1e-12);
            check_gradients_of(&job, &input);
            first += n;
        }
        assert_int_equal(first, PAIRS); /* every pair in one part */
    }
    close_align(&job);
}

static void refuse_align(const char *path, const char *message)
{
    struct hosted_job job = {0};
    assert_false(open_align(&job, path));
    assert_string_equal(job.message, message);
    close_align(&job);
}

static void test_align_refuses(void **state)
{
    (void)state;
    refuse_align("other.h5", "[objective align]: other.h5: there is none");
    dictionary.pairs = 0;
    refuse_align("dict.h5", "[objective align]: dict.h5: has no pairs");
    dictionary.pairs = PAIRS;
    struct hosted_job job = {.languages = true};
    assert_true(open_align(&job, "dict.h5")); /* with a warning */
    close_align(&job);
}

/* ---- files that objectives ask for ---- */

static void test_resources(void **state)
{
    (void)state;
    struct hosted_job job = {.readers = readers};
    static const char *const options[] = {"dictionary=dict.h5", NULL};
    add_objective(&job, "one", &xlm_loss_align, options);
    add_objective(&job, "two", &xlm_loss_align, options);
    times_read = 0;
    assert_true(open_job(&job));
    assert_int_equal(times_read, 1);
    char message[200];
    assert_null(xlm_loss_resource(xlm_host_loss(job.host, 0), "recipe", "dict.h5", message, sizeof message));
    assert_string_equal(message, "the objective asks for a file of kind \"recipe\"; this program reads: dictionary");
    xlm_resource *list;
    assert_int_equal(xlm_resources_list(job.resources, &list), 1);
    assert_true(list[0].contents == &dictionary && strcmp(list[0].path, "dict.h5") == 0);
    g_free(list);
    close_align(&job);
}

/* ---- mlm and dict-mlm ---- */

/* Of the four targets 5, 11, 12, 9 the second and the last have a translation. */
static const int32_t translations[T] = {-1, 3, 6, -1, -1, -1, 4, -1, -1, -1, 10, 8}, translated[M] = {5, 6, 12, 10};
static const xlm_annotation annotation = {.name = "translations", .axis = XLM_AXIS_TOKENS, .values = translations};

static struct hosted_job text_job(const xlm_batch *of, double switching, const xlm_dictionary *of_stream)
{
    return (struct hosted_job){
        .batch = of, .languages = true,
        .stream = {.name = "text", .mask = 0.15, .switching = switching, .dictionary = of_stream},
    };
}

/* −log p of given labels, by the head alone. */
static double by_labels(struct hosted_job *job, const int32_t *labels)
{
    xlm_tape_begin(job->tape, NULL, false, GRADIENT_SEED, GRADIENT_STEP);
    xlm_var **hidden = xlm_model_encode(job->model, job->tape, job->batch, XLM_TOP_LAYER, job->batch->masked_rows,
                                        job->batch->masked);
    return xlm_var_scalar(xlm_lm_cross_entropy(job->model, job->tape, hidden[2], labels, NULL));
}

static double check_prediction(struct hosted_job *job, const int32_t *labels)
{
    xlm_score scores[M] = {{0}};
    assert_true(open_job(job));
    const xlm_pass_input input = job_input(job, 0, 1);
    assert_int_equal(input.terms[0], M);
    check_gradients_of(job, &input);
    const double value = run_job(job, &input, NULL, &(xlm_host_wishes){.scores = scores});
    assert_true(fabs(value - by_labels(job, labels)) < 1e-12);
    double sum = 0;
    for (int i = 0; i < M; i++)
        sum += scores[i].loss;
    assert_true(fabs(sum / M - value) < 1e-5); /* scores are floats */
    close_job(job);
    return value;
}

static void test_mlm(void **state)
{
    (void)state;
    struct hosted_job job = text_job(&batch, 0, NULL);
    add_objective(&job, "mlm", &xlm_loss_mlm, NULL);
    check_prediction(&job, targets);
}

static void test_dict_mlm(void **state)
{
    (void)state;
    static const char *const forms[][2] = {{"predict=original", NULL}, {"predict=translation", NULL}};
    double value[2];
    for (int form = 0; form < 2; form++) {
        xlm_batch switched = batch;
        switched.annotations = &annotation;
        struct hosted_job job = text_job(&switched, form == 0 ? 0.5 : 0, &dictionary);
        add_objective(&job, "dict", &xlm_loss_dict_mlm, forms[form]);
        value[form] = check_prediction(&job, form == 0 ? targets : translated);
    }
    assert_true(fabs(value[0] - value[1]) > 1e-3);
}

static void refuse_dict_mlm(const char *predict, double switching, const xlm_dictionary *of_stream, const char *message)
{
    const char *const options[] = {predict, NULL};
    struct hosted_job job = text_job(&batch, switching, of_stream);
    add_objective(&job, "dict", &xlm_loss_dict_mlm, options);
    assert_false(open_job(&job));
    if (strstr(job.message, message) == NULL)
        fail_msg("no '%s' in: %s", message, job.message);
    close_job(&job);
}

static void test_dict_mlm_refuses(void **state)
{
    (void)state;
    refuse_dict_mlm("predict=original", 0, NULL, "[stream text] has no dictionary; give it dictionary = FILE.h5");
    refuse_dict_mlm("predict=translation", 0, NULL, "has no dictionary");
    refuse_dict_mlm("predict=original", 0, &dictionary, "set switching = 0.5 in [stream text]");
    refuse_dict_mlm("predict=translation", 0.5, &dictionary, "set switching = 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_align),
        cmocka_unit_test(test_align_refuses),
        cmocka_unit_test(test_resources),
        cmocka_unit_test(test_mlm),
        cmocka_unit_test(test_dict_mlm),
        cmocka_unit_test(test_dict_mlm_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
