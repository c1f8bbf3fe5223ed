/* xlm-mpi: objectives of src/losses in the host that training has: gradients, parts, what they refuse.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "host_fixture.h"

#include <xlm/similarity.h>

extern const xlm_loss_class xlm_loss_align, xlm_loss_dict_mlm, xlm_loss_dwa, xlm_loss_mlm;

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

/* The second and the last of the targets 5, 11, 12, 9 have a translation. */
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
    xlm_var **hidden = xlm_model_encode(job->model, job->tape, &job->batch->corrupted, false, XLM_TOP_LAYER, job->batch->predicted_rows,
                                        job->batch->predicted);
    return xlm_var_scalar(xlm_lm_cross_entropy(job->model, job->tape, XLM_STACK_ENCODER, hidden[2], labels, NULL, NULL));
}

static double check_prediction(struct hosted_job *job, const int32_t *labels)
{
    xlm_score scores[M] = {{0}};
    assert_true(open_job(job));
    const xlm_pass_input input = job_input(job, 0, 1);
    assert_int_equal(input.terms[0], M);
    check_gradients_of(job, &input);
    const double value = run_job(job, &input, NULL, &(xlm_host_outputs){.scores = scores});
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

/* With label smoothing the target is (1 − ε) onehot + ε/V; on held-out text there is none. */
static void test_mlm_smoothed(void **state)
{
    (void)state;
    static const char *const options[] = {"label_smoothing=0.2", NULL};
    struct hosted_job job = text_job(&batch, 0, NULL);
    add_objective(&job, "mlm", &xlm_loss_mlm, options);
    assert_true(open_job(&job));
    xlm_pass_input input = job_input(&job, 0, 1);
    const double plain = by_labels(&job, targets);
    double every = 0;
    for (int32_t v = 0; v < V; v++) {
        const int32_t labels[M] = {v, v, v, v};
        every += by_labels(&job, labels) / V;
    }
    assert_true(fabs(every - plain) > 1e-3);
    assert_true(fabs(run_job(&job, &input, NULL, NULL) - (0.8 * plain + 0.2 * every)) < 1e-12);
    input.held_out = true;
    assert_true(fabs(run_job(&job, &input, NULL, NULL) - plain) < 1e-12);
    input.held_out = false;
    check_gradients_of(&job, &input);
    close_job(&job);
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
    refuse_job(&job, message);
}

static void test_dict_mlm_refuses(void **state)
{
    (void)state;
    refuse_dict_mlm("predict=original", 0, NULL, "[stream text] has no dictionary; give it dictionary = FILE.h5");
    refuse_dict_mlm("predict=translation", 0, NULL, "has no dictionary");
    refuse_dict_mlm("predict=original", 0, &dictionary, "set switching = 0.5 in [stream text]");
    refuse_dict_mlm("predict=translation", 0.5, &dictionary, "set switching = 0");
}

/* ---- dwa ---- */

/* Two pairs as the form xlm has them, <s> 5 6 </s> 7 </s> <s> 8 9 3 </s> 10 11 </s>, with an <unk>, and one as bert has them,
 * <s> 5 7 12 </s> 9 8 </s>. Masked are rows 1, 7, 11, 15 and 19. */
enum { PAIR_T = 21, PAIR_M = 5 };
static const int32_t pair_offsets[] = {0, 13, 21},
    pair_original[PAIR_T] = {0, 5, 6, 2, 7, 2, 0, 8, 9, 3, 2, 10, 2, 0, 5, 7, 12, 2, 9, 8, 2},
    pair_ids[PAIR_T] = {0, 4, 6, 2, 7, 2, 0, 11, 9, 3, 2, 10, 2, 0, 5, 4, 12, 2, 9, 4, 2},
    pair_positions[PAIR_T] = {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6, 0},
    pair_types[PAIR_T] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1},
    pair_languages[PAIR_T] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1},
    pair_masked[PAIR_M] = {1, 7, 11, 15, 19}, pair_targets[PAIR_M] = {5, 8, 10, 7, 8};
static xlm_row_key pair_keys[PAIR_T];
static const xlm_batch pair_batch = {
    .original = {
        .tokens = PAIR_T, .sequences = 2, .offsets = pair_offsets, .ids = pair_original, .unmasked = pair_original,
        .positions = pair_positions, .languages = pair_languages, .unswitched = pair_languages, .types = pair_types,
        .keys = pair_keys, .specials = &xlm_own_special_tokens,
    },
    .corrupted = {
        .tokens = PAIR_T, .sequences = 2, .offsets = pair_offsets, .ids = pair_ids, .unmasked = pair_original,
        .positions = pair_positions, .languages = pair_languages, .unswitched = pair_languages, .types = pair_types,
        .keys = pair_keys, .specials = &xlm_own_special_tokens,
    },
    .predicted = PAIR_M, .predicted_rows = pair_masked, .targets = pair_targets,
};
/* Which rows its pairs are: source and target, first row and number. */
enum { PAIRS_OF_BATCH = 3 };
static const int32_t pair_rows[PAIRS_OF_BATCH][4] = {{1, 2, 7, 3}, {4, 1, 11, 1}, {14, 3, 18, 2}};

/* How rows are linked. */
struct linking {
    xlm_transport transport;
    bool filter;
    xlm_itermax itermax;
};
static const struct linking off = {XLM_TRANSPORT_DEFAULTS, .filter = false};

static struct hosted_job pair_job(const char *const *options)
{
    for (int i = 0; i < PAIR_T; i++)
        pair_keys[i] = (xlm_row_key){(uint32_t)(i >= pair_offsets[1] ? 4 : 3),
                                     (uint32_t)(i - (i >= pair_offsets[1] ? pair_offsets[1] : 0))};
    struct hosted_job job = {.batch = &pair_batch, .languages = true, .stream = {.name = "pairs", .parallel = true, .mask = 0.15}};
    add_objective(&job, "dwa", &xlm_loss_dwa, options);
    return job;
}

/* Which row is linked to which, from hidden states of the original. */
static void link_rows(struct hosted_job *job, int64_t layer, const struct linking *by, bool linked[PAIR_T][PAIR_T])
{
    const int64_t d = job->config.hidden_size;
    const xlm_view view = {.text = XLM_TEXT_ORIGINAL, .layer = layer, .rows = XLM_ROWS_ALL};
    double states[PAIR_T * 6], a[9];
    bool links[9];
    xlm_tape_begin(job->tape, NULL, false, GRADIENT_SEED, GRADIENT_STEP);
    xlm_var_read(xlm_encode_view(job->model, job->tape, &pair_batch, &view), 0, PAIR_T, states);
    memset(linked, 0, sizeof(bool) * PAIR_T * PAIR_T);
    for (int p = 0; p < PAIRS_OF_BATCH; p++) {
        const int32_t *r = pair_rows[p];
        xlm_similarity_products(r[1], r[3], d, states + r[0] * d, states + r[2] * d, a);
        xlm_similarity_transport(&by->transport, r[1], r[3], a);
        if (by->filter)
            xlm_similarity_filter(&by->itermax, r[1], r[3], a, links);
        else
            xlm_similarity_argmax(r[1], r[3], a, true, links);
        for (int i = 0; i < r[1]; i++)
            for (int j = 0; j < r[3]; j++)
                if (links[i * r[3] + j])
                    linked[r[0] + i][r[2] + j] = linked[r[2] + j][r[0] + i] = true;
    }
}

/* y = W x + b of the objective's own. */
static void project(struct hosted_job *job, const char *which, const double *x, double *y)
{
    char *names[] = {g_strconcat("objectives/dwa/", which, "/weight", NULL), g_strconcat("objectives/dwa/", which, "/bias", NULL)};
    const double *values = xlm_parameters_values(job->parameters);
    const double *w = values + xlm_parameters_get(job->parameters, xlm_parameters_find(job->parameters, names[0]))->start;
    const double *b = values + xlm_parameters_get(job->parameters, xlm_parameters_find(job->parameters, names[1]))->start;
    for (int r = 0; r < 6; r++) {
        y[r] = b[r];
        for (int c = 0; c < 6; c++)
            y[r] += w[r * 6 + c] * x[c];
    }
    g_free(names[0]);
    g_free(names[1]);
}

/* Mean over these queries of the cross-entropy of their links, from the corrupted batch; [out] their number. */
static double by_pointer(struct hosted_job *job, int64_t layer, bool linked[PAIR_T][PAIR_T], const bool *queries, int *n)
{
    const xlm_view view = {.text = XLM_TEXT_CORRUPTED, .layer = layer, .rows = XLM_ROWS_ALL};
    double h[PAIR_T * 6], sum = 0;
    xlm_tape_begin(job->tape, NULL, false, GRADIENT_SEED, GRADIENT_STEP);
    xlm_var_read(xlm_encode_view(job->model, job->tape, &pair_batch, &view), 0, PAIR_T, h);
    *n = 0;
    for (int p = 0; p < PAIRS_OF_BATCH; p++)
        for (int side = 0; side < 2; side++) {
            const int32_t *own = pair_rows[p] + 2 * side, *other = pair_rows[p] + 2 * (1 - side);
            for (int i = own[0]; i < own[0] + own[1]; i++) {
                double q[6], k[6], z[4], all = 0, of_labels = 0;
                int labels = 0;
                project(job, "query", h + i * 6, q);
                for (int j = 0; j < other[1]; j++) {
                    project(job, "key", h + (other[0] + j) * 6, k);
                    z[j] = 0;
                    for (int c = 0; c < 6; c++)
                        z[j] += q[c] * k[c] / sqrt(6);
                    all += exp(z[j]);
                    if (linked[i][other[0] + j])
                        labels++, of_labels += z[j];
                }
                if (queries[i] && labels > 0)
                    sum += log(all) - of_labels / labels, ++*n;
            }
        }
    return sum / *n;
}

static void check_dwa(const char *const *options, int64_t label_layer, int64_t layer, const struct linking *by, const bool *queries,
                      int min)
{
    struct hosted_job job = pair_job(options);
    bool linked[PAIR_T][PAIR_T];
    int n, links = 0;
    assert_true(open_job(&job));
    link_rows(&job, label_layer, by, linked);
    for (int i = 0; i < PAIR_T; i++)
        for (int j = 0; j < i; j++)
            links += linked[i][j];
    const double wanted = by_pointer(&job, layer, linked, queries, &n);
    assert_true(n >= min);
    xlm_pass_input input = job_input(&job, 0, 1);
    label_job(&job, &input);
    assert_int_equal(input.terms[0], n);
    assert_true(fabs(run_job(&job, &input, NULL, NULL) - wanted) < 1e-12);
    check_metric(&job, &input, "labels_per_pair", links, PAIRS_OF_BATCH);
    check_gradients_of(&job, &input);
    close_job(&job);
}

static bool is_masked_row(int row)
{
    bool masked = false;
    for (int i = 0; i < PAIR_M; i++)
        masked |= pair_masked[i] == row;
    return masked;
}

static void test_dwa(void **state)
{
    (void)state;
    bool queries[PAIR_T];
    for (int i = 0; i < PAIR_T; i++)
        queries[i] = is_masked_row(i);
    const struct linking itermax = {XLM_TRANSPORT_DEFAULTS, true, XLM_ITERMAX_DEFAULTS};
    check_dwa((const char *const[]){"label_layer=1", NULL}, 1, 2, &itermax, queries, 3);
    check_dwa((const char *const[]){"label_layer=2", "filter=off", NULL}, 2, 2, &off, queries, PAIR_M); /* all have links */
    check_dwa((const char *const[]){"label_layer=0", "layer=1", "filter=off", "remembered=0", NULL}, 0, 1, &off, queries, PAIR_M);
}

/* Each of the settings of labels has its effect: with it alone changed, masked rows have other links. */
static void test_dwa_settings(void **state)
{
    (void)state;
    static const struct {
        const char *options[4];
        struct linking by, without;
    } settings[] = {
        {{"label_layer=0", "itermax_iterations=3"}, {{1e-6, 1, 2}, true, {0.9, 3}}, {{1e-6, 1, 2}, true, {0.9, 2}}},
        {{"label_layer=0", "sinkhorn_iterations=9"}, {{1e-6, 1, 9}, true, {0.9, 2}}, {{1e-6, 1, 2}, true, {0.9, 2}}},
        {{"label_layer=0", "mu=3"}, {{1e-6, 3, 2}, true, {0.9, 2}}, {{1e-6, 1, 2}, true, {0.9, 2}}},
        {{"label_layer=0", "epsilon=1"}, {{1, 1, 2}, true, {0.9, 2}}, {{1e-6, 1, 2}, true, {0.9, 2}}},
        {{"label_layer=0", "epsilon=3", "alpha=1"}, {{3, 1, 2}, true, {1, 2}}, {{3, 1, 2}, true, {0.9, 2}}},
    };
    bool queries[PAIR_T], linked[2][PAIR_T][PAIR_T];
    for (int i = 0; i < PAIR_T; i++)
        queries[i] = is_masked_row(i);
    for (size_t i = 0; i < G_N_ELEMENTS(settings); i++) {
        struct hosted_job job = pair_job(settings[i].options);
        bool other = false;
        assert_true(open_job(&job));
        link_rows(&job, 0, &settings[i].without, linked[0]);
        link_rows(&job, 0, &settings[i].by, linked[1]);
        for (int k = 0; k < PAIR_M; k++)
            other |= memcmp(linked[0][pair_masked[k]], linked[1][pair_masked[k]], sizeof linked[0][0]) != 0;
        if (!other)
            fail_msg("setting %d changes nothing", (int)i);
        close_job(&job);
        check_dwa(settings[i].options, 0, 2, &settings[i].by, queries, 1);
    }
}

/* Queries that are drawn: of the unmasked about 15 %, of each link one side or the other, of many steps. */
static void test_dwa_queries(void **state)
{
    (void)state;
    enum { STEPS = 400 };
    static const char *const forms[] = {"queries=unmasked", "queries=all-aligned"};
    for (int form = 0; form < 2; form++) {
        struct hosted_job job = pair_job((const char *const[]){"label_layer=2", "filter=off", forms[form], NULL});
        bool linked[PAIR_T][PAIR_T];
        int64_t terms = 0, min = INT64_MAX, max = 0, links = 0;
        double expected = 0; /* all-aligned: of a token with k links, each of which chooses one of its sides, 1 - 1 / 2^k */
        assert_true(open_job(&job));
        link_rows(&job, 2, &off, linked);
        for (int i = 0; i < PAIR_T; i++) {
            int own = 0;
            for (int j = 0; j < PAIR_T; j++)
                own += linked[i][j], links += j < i && linked[i][j];
            expected += 1 - pow(0.5, own);
        }
        for (int64_t step = 0; step < STEPS; step++) {
            xlm_pass_input input = {.stream = 0, .batch = &pair_batch, .parts = 1, .step = step, .only = -1};
            xlm_host_count(job.host, &input, job.arena);
            label_job(&job, &input);
            terms += input.terms[0];
            min = MIN(min, input.terms[0]), max = MAX(max, input.terms[0]);
            if (step < 8 && input.terms[0] > 0)
                check_gradients_of(&job, &input);
        }
        const double mean = (double)terms / STEPS;
        if (form == 0) /* of 12 tokens 5 are masked */
            assert_true(fabs(mean - 0.15 * 7) < 0.2 && min == 0);
        else /* at least one token of each pair, at most one of each link */
            assert_true(min >= PAIRS_OF_BATCH && max <= links && mean > 0.5 * (double)links && min < max &&
                        fabs(mean - expected) < 0.2);
        close_job(&job);
    }
}

static void refuse_dwa(const char *const *options, xlm_loss_stream stream, const char *message)
{
    struct hosted_job job = pair_job(options);
    job.stream = stream;
    refuse_job(&job, message);
}

static void test_dwa_refuses(void **state)
{
    (void)state;
    const xlm_loss_stream pairs = {.name = "pairs", .parallel = true, .mask = 0.15}, text = {.name = "text", .mask = 0.15},
                          plain = {.name = "pairs", .parallel = true};
    static const char *const two[] = {"label_layer=2", NULL}, *const three[] = {"label_layer=3", NULL},
        *const above[] = {"label_layer=2", "layer=3", NULL}, *const unmasked[] = {"label_layer=2", "queries=unmasked", NULL};
    refuse_dwa(NULL, pairs, "label_layer = 10, but the model has 2 layers; set label_layer to one of 0 to 2");
    refuse_dwa(three, pairs, "label_layer = 3, but the model has 2 layers");
    refuse_dwa(above, pairs, "layer = 3, but the model has 2 layers");
    refuse_dwa(two, text, "[stream text] has none; set type = parallel there");
    refuse_dwa(two, plain, "[stream pairs] masks nothing");
    struct hosted_job job = pair_job(unmasked);
    job.stream = plain;
    assert_true(open_job(&job));
    close_job(&job);
}

/* The metric of the first labelling again is 1, of labels by other weights less; a pair that was not seen is not counted. */
static double agreement_of(struct hosted_job *job, int64_t step, double *count)
{
    xlm_pass_input input = {.stream = 0, .batch = &pair_batch, .parts = 1, .step = step, .only = -1};
    xlm_sums sums = xlm_host_sums_new(job->host);
    xlm_host_begin_step(job->host);
    xlm_host_count(job->host, &input, job->arena);
    label_job(job, &input);
    xlm_tape_begin(job->tape, NULL, true, GRADIENT_SEED, GRADIENT_STEP);
    xlm_host_run(job->host, job->tape, &input, NULL, &sums, NULL);
    const xlm_metric_sum agreement = xlm_host_metric_sums(job->host, &sums, 0)[2];
    assert_string_equal(xlm_host_metric_names(job->host, 0)->pdata[2], "agreement");
    GByteArray *published = g_byte_array_new();
    size_t bytes;
    const void *rows = xlm_host_published(job->host, 0, &bytes);
    g_byte_array_append(published, rows, (guint)bytes);
    xlm_host_finish_step(job->host, step, &published);
    g_byte_array_unref(published);
    xlm_sums_free(&sums);
    *count = agreement.count;
    return agreement.count > 0 ? agreement.sum / agreement.count : -1;
}

static void test_dwa_agreement(void **state)
{
    (void)state;
    struct hosted_job job = pair_job((const char *const[]){"label_layer=2", "filter=off", "remembered=1000", NULL});
    double count;
    assert_true(open_job(&job));
    assert_true(agreement_of(&job, 0, &count) == -1); /* nothing to compare with */
    assert_true(agreement_of(&job, 1, &count) == 1 && count == 16); /* 8 numbers of the first pair of two sequences */
    double *x = xlm_parameters_values(job.parameters), min = 1;
    for (int64_t step = 2; step < 10; step++) {
        for (int64_t i = 0; i < xlm_parameters_size(job.parameters); i++)
            x[i] = 0.7 * gradient_number((uint32_t)step + 20, i);
        const double now = agreement_of(&job, step, &count);
        min = MIN(min, now);
        assert_true(agreement_of(&job, step, &count) == 1);
    }
    assert_true(min < 0.8 && min >= 0);
    close_job(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_align),
        cmocka_unit_test(test_align_refuses),
        cmocka_unit_test(test_resources),
        cmocka_unit_test(test_mlm),
        cmocka_unit_test(test_mlm_smoothed),
        cmocka_unit_test(test_dict_mlm),
        cmocka_unit_test(test_dict_mlm_refuses),
        cmocka_unit_test(test_dwa),
        cmocka_unit_test(test_dwa_settings),
        cmocka_unit_test(test_dwa_queries),
        cmocka_unit_test(test_dwa_refuses),
        cmocka_unit_test(test_dwa_agreement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
