/* xlm-mpi: objectives of src/losses as the trainer calls them: gradients, parts, what they refuse.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "batch_fixture.h"
#include "gradient.h"

#include <xlm/loss.h>

#include "base/options.h"
#include "nn/model.h"

extern const xlm_loss_class xlm_loss_align, xlm_loss_dict_mlm;

/* ---- what the trainer gives ---- */

enum { WORDS = 11, WIDTH = 5, PAIRS = 7 };

/* Words with several translations, from either side. */
static const int32_t source[PAIRS] = {5, 5, 6, 7, 8, 10, 10}, target[PAIRS] = {9, 7, 9, 8, 5, 6, 9};
static xlm_dictionary dictionary = {.pairs = PAIRS, .token = {source, target}, .language = {0, 1}};

const xlm_dictionary *xlm_loss_dictionary(xlm_loss *loss, const char *path, char *message, size_t size)
{
    (void)loss;
    if (strcmp(path, "dict.h5") == 0)
        return &dictionary;
    g_snprintf(message, size, "%s: there is none", path);
    return NULL;
}

/* State of an objective whose one option is a text, as align's. */
struct opened {
    xlm_model_config model;
    xlm_loss_setup setup;
    xlm_loss loss;
    char message[200];
    bool good;
};

static void open_align(struct opened *o, const char *path)
{
    const xlm_loss_class *cls = &xlm_loss_align;
    o->setup.model = &o->model;
    o->loss = (xlm_loss){.cls = cls, .name = "align", .state = g_malloc0(cls->state_size), .setup = &o->setup};
    *(const char **)((char *)o->loss.state + cls->options[0].offset) = path;
    o->good = cls->open(&o->loss, o->message, sizeof o->message);
}

static void close_loss(struct opened *o) { g_free(o->loss.state); }

/* ---- align ---- */

struct part {
    struct opened *of;
    xlm_pass pass;
};

static xlm_var *align_part(xlm_tape *tape, void *context)
{
    struct part *p = context;
    return p->of->loss.cls->loss(&p->of->loss, tape, &p->pass);
}

static double mean_cosine(const double *e, int64_t first, int64_t end)
{
    double sum = 0;
    for (int64_t i = first; i < end; i++) {
        const double *a = e + source[i] * WIDTH, *b = e + target[i] * WIDTH;
        double ab = 0, aa = 0, bb = 0;
        for (int c = 0; c < WIDTH; c++)
            ab += a[c] * b[c], aa += a[c] * a[c], bb += b[c] * b[c];
        sum += ab / sqrt(aa * bb);
    }
    return sum / (double)(end - first);
}

static void test_align(void **state)
{
    (void)state;
    struct opened o = {0};
    open_align(&o, "dict.h5");
    assert_true(o.good);
    assert_string_equal(o.message, "");
    xlm_parameters *p = gradient_inputs("embeddings/word/weight", WORDS, WIDTH, NULL);
    const double *e = xlm_parameters_values(p);
    xlm_tape *tape = xlm_tape_new(p);
    static const int64_t cuts[] = {1, 2, 3, PAIRS, 16};
    for (size_t k = 0; k < G_N_ELEMENTS(cuts); k++) {
        int64_t first = 0;
        for (int64_t part = 0; part < cuts[k]; part++) {
            struct part context = {&o, {.part = part, .parts = cuts[k]}};
            const int64_t n = o.loss.cls->count(&o.loss, &context.pass);
            assert_true(n >= PAIRS / cuts[k] && n <= (PAIRS + cuts[k] - 1) / cuts[k]); /* shared evenly */
            if (n == 0)
                continue;
            xlm_tape_begin(tape, NULL, true, 1, 1);
            const xlm_var *y = align_part(tape, &context);
            assert_true(y->rows == 1 && y->cols == 1);
            assert_true(fabs(*y->value + mean_cosine(e, first, first + n)) < 1e-12);
            gradient_check(p, align_part, &context);
            first += n;
        }
        assert_int_equal(first, PAIRS); /* every pair in one part */
    }
    xlm_tape_free(tape);
    xlm_parameters_free(p);
    close_loss(&o);
}

static void test_align_refuses(void **state)
{
    (void)state;
    struct opened o = {0};
    open_align(&o, "other.h5");
    assert_false(o.good);
    assert_string_equal(o.message, "other.h5: there is none");
    close_loss(&o);
    o = (struct opened){.model = {.language_embeddings = true}};
    open_align(&o, "dict.h5");
    assert_true(o.good); /* with a warning */
    assert_non_null(strstr(o.message, "language embeddings"));
    close_loss(&o);
    o = (struct opened){0};
    dictionary.pairs = 0;
    open_align(&o, "dict.h5");
    dictionary.pairs = PAIRS;
    assert_false(o.good);
    assert_string_equal(o.message, "dict.h5: has no pairs");
    close_loss(&o);
}

/* ---- dict-mlm ---- */

struct trained {
    struct opened o;
    xlm_loss_stream stream;
    xlm_parameters *parameters;
    xlm_model *model;
    xlm_batch batch;
    xlm_score *scores;
};

/* As the job file would say it; false with o.message when it is refused. */
static bool open_dict_mlm(struct trained *t, const char *predict, double switching, const xlm_dictionary *of_stream)
{
    const xlm_loss_class *cls = &xlm_loss_dict_mlm;
    GError *error = NULL;
    t->stream = (xlm_loss_stream){.name = "text", .mask = 0.15, .switching = switching, .dictionary = of_stream};
    t->o.loss = (xlm_loss){.cls = cls, .name = "dict", .state = g_malloc0(cls->state_size), .setup = &t->o.setup,
                           .stream = &t->stream};
    assert_true(xlm_option_set(&cls->options[0], predict, t->o.loss.state, &error));
    *t->o.message = '\0';
    t->o.setup.model = &t->o.model;
    return cls->open(&t->o.loss, t->o.message, sizeof t->o.message);
}

static void open_model(struct trained *t)
{
    xlm_model_config c = {0};
    assert_true(xlm_options_defaults(xlm_model_options, &c, NULL));
    c.layers = 1, c.hidden_size = 6, c.attention_heads = 2, c.feed_forward_size = 7, c.positions = 5, c.vocabulary = V,
        c.languages = 2;
    c.vocabulary_chunk = 3, c.language_embeddings = true;
    assert_true(xlm_model_check(&c, NULL));
    t->parameters = xlm_parameters_new();
    t->model = xlm_model_new(&c, t->parameters);
    xlm_parameters_seal(t->parameters);
    for (int64_t i = 0; i < xlm_parameters_size(t->parameters); i++)
        xlm_parameters_values(t->parameters)[i] = 0.7 * gradient_number(7, i);
}

/* Of the four targets 5, 11, 12, 9 the second and the last have a translation. */
static const int32_t translations[T] = {-1, 3, 6, -1, -1, -1, 4, -1, -1, -1, 10, 8}, translated[M] = {5, 6, 12, 10};
static const xlm_annotation annotation = {.name = "translations", .axis = XLM_AXIS_TOKENS, .values = translations};

static xlm_var *dict_mlm_pass(xlm_tape *tape, void *context)
{
    struct trained *t = context;
    xlm_var **hidden = xlm_model_encode(t->model, tape, &t->batch, t->batch.masked_rows, t->batch.masked);
    const xlm_pass pass = {.model = t->model, .batch = &t->batch, .hidden = hidden, .masked = hidden[1], .layers = 1,
                           .scores = t->scores};
    return t->o.loss.cls->loss(&t->o.loss, tape, &pass);
}

static double value_of(struct trained *t, gradient_build *build)
{
    xlm_tape *tape = xlm_tape_new(t->parameters);
    xlm_tape_begin(tape, NULL, false, 1, 1);
    const double value = *build(tape, t)->value;
    xlm_tape_free(tape);
    return value;
}

/* Of given labels, by the head alone. */
static const int32_t *labels;
static xlm_var *by_labels(xlm_tape *tape, void *context)
{
    struct trained *t = context;
    xlm_var **hidden = xlm_model_encode(t->model, tape, &t->batch, t->batch.masked_rows, t->batch.masked);
    return xlm_lm_cross_entropy(t->model, tape, hidden[1], labels, NULL);
}

static void test_dict_mlm(void **state)
{
    (void)state;
    static const char *const forms[] = {"original", "translation"};
    double value[2];
    for (int form = 0; form < 2; form++) {
        struct trained t = {.batch = batch};
        xlm_score scores[M] = {{0}};
        t.batch.annotations = &annotation;
        open_model(&t);
        assert_true(open_dict_mlm(&t, forms[form], form == 0 ? 0.5 : 0, &dictionary));
        assert_string_equal(t.o.message, "");
        gradient_check(t.parameters, dict_mlm_pass, &t);
        t.scores = scores;
        value[form] = value_of(&t, dict_mlm_pass);
        labels = form == 0 ? targets : translated;
        assert_true(fabs(value[form] - value_of(&t, by_labels)) < 1e-12);
        double sum = 0;
        for (int i = 0; i < M; i++)
            sum += scores[i].loss;
        assert_true(fabs(sum / M - value[form]) < 1e-5); /* scores are floats */
        close_loss(&t.o);
        xlm_model_free(t.model);
        xlm_parameters_free(t.parameters);
    }
    assert_true(fabs(value[0] - value[1]) > 1e-3);
}

static void refuse_dict_mlm(const char *predict, double switching, const xlm_dictionary *of_stream, const char *message)
{
    struct trained t = {0};
    assert_false(open_dict_mlm(&t, predict, switching, of_stream));
    if (strstr(t.o.message, message) == NULL)
        fail_msg("no '%s' in: %s", message, t.o.message);
    close_loss(&t.o);
}

static void test_dict_mlm_refuses(void **state)
{
    (void)state;
    refuse_dict_mlm("original", 0, NULL, "[stream text] has no dictionary; give it dictionary = FILE.h5");
    refuse_dict_mlm("translation", 0, NULL, "has no dictionary");
    refuse_dict_mlm("original", 0, &dictionary, "set switching = 0.5 in [stream text]");
    refuse_dict_mlm("translation", 0.5, &dictionary, "set switching = 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_align),
        cmocka_unit_test(test_align_refuses),
        cmocka_unit_test(test_dict_mlm),
        cmocka_unit_test(test_dict_mlm_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
