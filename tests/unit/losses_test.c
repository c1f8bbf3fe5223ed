/* xlm-mpi: objectives of src/losses as the trainer calls them: gradients, parts, what they refuse. SPDX-License-Identifier: GPL-3.0-or-later */
#include "gradient.h"

#include <xlm/loss.h>

extern const xlm_loss_class xlm_loss_align;

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_align),
        cmocka_unit_test(test_align_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
