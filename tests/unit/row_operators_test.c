/* xlm-mpi: operators over rows, of which objectives on sentences are made: values, gradients, the same bits on any number of
 * threads. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Built twice: row_operators_test in double, with gradients against central differences, row_operators_float_test as the
 * programs are. */
#ifdef XLM_DOUBLE
#include "gradient.h"
#else
#include <glib.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "tensor/parameters.h"
#include "tensor/variable.h"
#endif

#include <omp.h>

#include "subwords/special_tokens.h"

#ifdef XLM_DOUBLE
static const double TOLERANCE = 1e-12;
#else
static const double TOLERANCE = 3e-6;
#endif
static const double TEMPERATURE = 0.3;

static double number(uint32_t which, int64_t i)
{
    return 2 * xlm_rng_unit(xlm_rng_draw((xlm_rng_key){{8, 4}}, (uint32_t)i, which, 0, 0).v[0]) - 1;
}

/* Rows of a and b, rows of the table c, columns of all; the last is work for several threads. */
static const struct size {
    int rows, others, cols;
} sizes[] = {{1, 1, 3}, {7, 5, 16}, {33, 65, 33}, {130, 7, 1}, {260, 131, 130}};

static xlm_parameters *make_parameters(const struct size *size)
{
    xlm_parameters *p = xlm_parameters_new();
    xlm_parameters_add(p, "a", size->rows, size->cols, XLM_INIT_ZERO, true);
    xlm_parameters_add(p, "b", size->rows, size->cols, XLM_INIT_ZERO, true);
    xlm_parameters_add(p, "c", size->others, size->cols, XLM_INIT_ZERO, true);
    xlm_parameters_seal(p);
    for (int64_t i = 0; i < xlm_parameters_size(p); i++)
        xlm_parameters_values(p)[i] = (xlm_real)number(1, i);
    return p;
}

static xlm_var *in(xlm_tape *tape, const char *name) { return xlm_param(tape, name); }

/* ---- forms: what is built of a, b and c ---- */

typedef xlm_var *build(xlm_tape *tape, void *context);

static xlm_var *subtract(xlm_tape *tape, void *context)
{
    (void)context;
    return xlm_subtract(tape, in(tape, "a"), in(tape, "b"));
}

static xlm_var *multiply(xlm_tape *tape, void *context)
{
    (void)context;
    return xlm_multiply(tape, in(tape, "a"), in(tape, "b"));
}

/* Results, not parameters, that go elsewhere too, and both inputs the same. */
static xlm_var *shared(xlm_tape *tape, void *context)
{
    (void)context;
    xlm_var *a = xlm_scale(tape, in(tape, "a"), 1.5), *b = xlm_scale(tape, in(tape, "b"), 0.5);
    xlm_var *difference = xlm_subtract(tape, a, b), *product = xlm_multiply(tape, b, difference);
    xlm_var *square = xlm_multiply(tape, product, product), *zero = xlm_subtract(tape, a, a);
    return xlm_add(tape, xlm_add(tape, square, zero), xlm_subtract(tape, product, a));
}

static xlm_var *row_dot(xlm_tape *tape, void *context)
{
    (void)context;
    xlm_var *a = xlm_scale(tape, in(tape, "a"), 1.5);
    return xlm_add(tape, xlm_row_dot(tape, a, in(tape, "b")), xlm_row_dot(tape, a, a));
}

/* Rows of a and of c, some twice, some never; then of a alone. */
enum { MAX_ROW_PAIRS = 600 };

static int64_t choose_row_pairs(const xlm_var *a, const xlm_var *b, int32_t *of_a, int32_t *of_b)
{
    const int64_t n = 2 * a->rows + 1;
    for (int64_t i = 0; i < n; i++) {
        of_a[i] = (int32_t)(i * i % a->rows);
        of_b[i] = (int32_t)((i + 2) * 3 % b->rows);
    }
    return n;
}

static xlm_var *row_pairs_dot(xlm_tape *tape, void *context)
{
    (void)context;
    int32_t of_a[MAX_ROW_PAIRS], of_b[MAX_ROW_PAIRS];
    xlm_var *a = xlm_scale(tape, in(tape, "a"), 1.5), *c = in(tape, "c");
    int64_t n = choose_row_pairs(a, c, of_a, of_b);
    xlm_var *y = xlm_row_pairs_dot(tape, a, of_a, c, of_b, n);
    n = choose_row_pairs(a, a, of_a, of_b);
    return xlm_add(tape, y, xlm_row_pairs_dot(tape, a, of_a, a, of_b, n));
}

static xlm_var *row_normalise(xlm_tape *tape, void *context)
{
    (void)context;
    xlm_var *a = xlm_scale(tape, in(tape, "a"), 1.5), *y = xlm_row_normalise(tape, a);
    return xlm_add(tape, xlm_multiply(tape, y, in(tape, "b")), a);
}

/* Rows of a in sequences of 0, 1, 2, … rows, every third left out, and those of sequence 4 all. */
struct sequences {
    int32_t n, *offsets;
    bool *wanted, all;
};

static struct sequences cut(int rows, bool all)
{
    struct sequences s = {.offsets = g_new0(int32_t, rows + 2), .wanted = g_new0(bool, rows), .all = all};
    while (s.offsets[s.n] < rows) {
        s.offsets[s.n + 1] = MIN(rows, s.offsets[s.n] + s.n);
        s.n++;
    }
    for (int i = 0; i < rows; i++)
        s.wanted[i] = i % 3 != 2 && !(s.n > 4 && i >= s.offsets[4] && i < s.offsets[5]);
    return s;
}

static void free_sequences(struct sequences *s)
{
    g_free(s->offsets);
    g_free(s->wanted);
}

static xlm_var *sequence_mean(xlm_tape *tape, void *context)
{
    const struct sequences *s = context;
    return xlm_sequence_mean(tape, in(tape, "a"), s->offsets, s->n, s->all ? NULL : s->wanted);
}

/* a goes elsewhere after it: its gradient is added to. */
static xlm_var *sequence_mean_of_shared(xlm_tape *tape, void *context)
{
    xlm_var *a = xlm_scale(tape, in(tape, "a"), 1.5);
    const struct sequences *s = context;
    xlm_var *mean = xlm_sequence_mean(tape, a, s->offsets, s->n, s->all ? NULL : s->wanted);
    return xlm_add(tape, xlm_mean(tape, mean), xlm_mean(tape, xlm_multiply(tape, a, a)));
}

static xlm_score scores[260];
static const int32_t *targets_of(int others)
{
    static int32_t targets[260];
    for (int i = 0; i < 260; i++)
        targets[i] = (int32_t)((uint64_t)i * 2654435761u % (uint64_t)others);
    return targets;
}

static xlm_var *cross_entropy(xlm_tape *tape, void *context)
{
    (void)context;
    xlm_var *z = xlm_linear(tape, in(tape, "a"), in(tape, "c"), NULL);
    return xlm_cross_entropy(tape, z, targets_of((int)z->cols), scores);
}

static xlm_var *cross_entropy_of_shared(xlm_tape *tape, void *context)
{
    (void)context;
    xlm_var *z = xlm_linear(tape, in(tape, "a"), in(tape, "c"), NULL), *before = xlm_mean(tape, xlm_multiply(tape, z, z));
    return xlm_add(tape, before, xlm_cross_entropy(tape, z, targets_of((int)z->cols), NULL));
}

static xlm_var *info_nce(xlm_tape *tape, void *context)
{
    (void)context;
    return xlm_info_nce(tape, in(tape, "a"), in(tape, "b"), in(tape, "c"), TEMPERATURE, scores);
}

/* Negatives without gradient, as of a queue; none at all. */
static xlm_var *info_nce_of_queue(xlm_tape *tape, void *context)
{
    (void)context;
    static xlm_real queue[131 * 130];
    const xlm_var *c = in(tape, "c");
    for (int64_t i = 0; i < c->rows * c->cols; i++)
        queue[i] = (xlm_real)number(2, i);
    xlm_var *y = xlm_info_nce(tape, in(tape, "a"), in(tape, "b"), xlm_constant(tape, c->rows, c->cols, queue), TEMPERATURE, NULL);
    xlm_var *none = xlm_info_nce(tape, in(tape, "a"), in(tape, "b"), xlm_constant(tape, 0, c->cols, queue), TEMPERATURE, NULL);
    return xlm_add(tape, y, none);
}

/* The three are results, one of them twice. */
static xlm_var *info_nce_of_shared(xlm_tape *tape, void *context)
{
    (void)context;
    xlm_var *a = xlm_row_normalise(tape, in(tape, "a")), *c = xlm_row_normalise(tape, in(tape, "c"));
    return xlm_add(tape, xlm_info_nce(tape, a, a, c, TEMPERATURE, NULL),
                   xlm_info_nce(tape, a, xlm_row_normalise(tape, in(tape, "b")), a, TEMPERATURE, NULL));
}

/* Up to 6 groups of rows of c, apart from one another, that rows of a point into; the second has no queries. Every other query has
 * two labels, the first and the last key, where there are two. */
static const xlm_pointer_targets *pointers_of(int rows, int others)
{
    static int32_t queries[7], first[6], keys[6], offsets[261], labels[520];
    static xlm_pointer_targets t = {.queries = queries, .first = first, .keys = keys, .offsets = offsets, .labels = labels};
    t.groups = MIN(6, others);
    for (int g = 0; g < t.groups; g++) {
        first[g] = others * g / t.groups;
        keys[g] = MAX(1, others * (g + 1) / t.groups - first[g] - 1);
        queries[g + 1] = rows * (g + 1) / t.groups;
    }
    if (t.groups > 2)
        queries[2] = queries[1];
    for (int g = 0; g < t.groups; g++)
        for (int i = queries[g]; i < queries[g + 1]; i++) {
            const int n = keys[g] > 1 && i % 2 == 1 ? 2 : 1;
            labels[offsets[i]] = first[g] + (n == 2 ? 0 : i * 7 % keys[g]);
            if (n == 2)
                labels[offsets[i] + 1] = first[g] + keys[g] - 1;
            offsets[i + 1] = offsets[i] + n;
        }
    return &t;
}

static xlm_var *pointer(xlm_tape *tape, void *context)
{
    (void)context;
    xlm_var *a = in(tape, "a"), *c = in(tape, "c");
    return xlm_pointer_cross_entropy(tape, a, c, pointers_of((int)a->rows, (int)c->rows), scores);
}

/* Queries and keys are results, of one variable and of two that go elsewhere too. */
static xlm_var *pointer_of_shared(xlm_tape *tape, void *context)
{
    (void)context;
    xlm_var *a = xlm_scale(tape, in(tape, "a"), 1.5), *c = xlm_scale(tape, in(tape, "c"), 0.5);
    const int rows = (int)a->rows, others = (int)c->rows;
    xlm_var *elsewhere = xlm_add(tape, xlm_mean(tape, xlm_multiply(tape, a, a)), xlm_mean(tape, xlm_multiply(tape, c, c)));
    xlm_var *own = xlm_pointer_cross_entropy(tape, a, a, pointers_of(rows, rows), NULL);
    xlm_var *both = xlm_pointer_cross_entropy(tape, a, c, pointers_of(rows, others), NULL);
    return xlm_add(tape, elsewhere, xlm_add(tape, own, both));
}

/* Sums of 0, 1, 2 and 3 rows of a, as many as a has rows, among them the same more than once. */
static const int32_t *sums_of(int rows, const int32_t **index)
{
    static int32_t offsets[261], of[4 * 260];
    for (int i = 0; i < rows; i++) {
        offsets[i + 1] = offsets[i] + i % 4;
        for (int e = offsets[i]; e < offsets[i + 1]; e++)
            of[e] = (int32_t)((uint64_t)e * 2654435761u % (uint64_t)rows);
    }
    *index = of;
    return offsets;
}

static xlm_var *rows_sum(xlm_tape *tape, void *context)
{
    (void)context;
    xlm_var *a = in(tape, "a");
    const int32_t *index, *offsets = sums_of((int)a->rows, &index);
    return xlm_rows_sum(tape, a, offsets, index, a->rows);
}

static xlm_var *rows_sum_of_shared(xlm_tape *tape, void *context)
{
    (void)context;
    xlm_var *a = xlm_scale(tape, in(tape, "a"), 1.5);
    const int32_t *index, *offsets = sums_of((int)a->rows, &index);
    return xlm_add(tape, xlm_multiply(tape, a, a), xlm_rows_sum(tape, a, offsets, index, a->rows));
}

static build *const forms[] = {subtract,      multiply, shared,           row_dot,           row_normalise, cross_entropy,
                               row_pairs_dot,
                               cross_entropy_of_shared, info_nce, info_nce_of_queue, info_nce_of_shared, pointer,
                               pointer_of_shared, rows_sum, rows_sum_of_shared};

/* ---- values ---- */

static void near(const char *what, double got, double wanted)
{
    if (!(fabs(got - wanted) <= TOLERANCE * fmax(1, fabs(wanted))))
        fail_msg("%s: %.14g, not %.14g", what, got, wanted);
}

static double dot(const xlm_real *a, const xlm_real *b, int cols)
{
    double sum = 0;
    for (int c = 0; c < cols; c++)
        sum += (double)a[c] * b[c];
    return sum;
}

/* −log softmax, of candidate `target` of z[n]; *best: it has the highest. */
static double surprise(const double *z, int n, int target, bool *best)
{
    double sum = 0;
    *best = true;
    for (int j = 0; j < n; j++) {
        sum += exp(z[j] - z[target]);
        *best &= z[j] <= z[target];
    }
    return log(sum);
}

static void check_scores(const char *what, int64_t i, double loss, bool best)
{
    if (!(fabs(scores[i].loss - loss) <= 1e-5 * fmax(1, loss)) || scores[i].correct != best)
        fail_msg("%s, row %d: scored %g, %d, not %g, %d", what, (int)i, (double)scores[i].loss, (int)scores[i].correct, loss,
                 best);
}

static void check_entropies(xlm_tape *tape, const struct size *size)
{
    const int n = size->rows, m = size->others, d = size->cols;
    const xlm_real *a = in(tape, "a")->value, *b = in(tape, "b")->value, *c = in(tape, "c")->value;
    double *z = g_new(double, m + 1), sum = 0, contrast = 0;
    bool best;
    const double entropy = (double)*cross_entropy(tape, NULL)->value;
    const int32_t *target = targets_of(m);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            z[j] = dot(a + i * d, c + j * d, d);
        const double loss = surprise(z, m, target[i], &best);
        check_scores("cross_entropy", i, loss, best);
        sum += loss / n;
    }
    near("cross_entropy", entropy, sum);
    const double found = (double)*info_nce(tape, NULL)->value;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            z[j] = dot(a + i * d, c + j * d, d) / TEMPERATURE;
        z[m] = dot(a + i * d, b + i * d, d) / TEMPERATURE;
        const double loss = surprise(z, m + 1, m, &best);
        check_scores("info_nce", i, loss, best);
        contrast += loss / n;
    }
    near("info_nce", found, contrast);
    g_free(z);
}

static void check_pointer(xlm_tape *tape, const struct size *size)
{
    const int d = size->cols;
    const xlm_real *a = in(tape, "a")->value, *c = in(tape, "c")->value;
    const double found = (double)*pointer(tape, NULL)->value;
    const xlm_pointer_targets *t = pointers_of(size->rows, size->others);
    double *z = g_new(double, size->others), sum = 0;
    for (int g = 0; g < t->groups; g++)
        for (int i = t->queries[g]; i < t->queries[g + 1]; i++) {
            for (int j = 0; j < t->keys[g]; j++)
                z[j] = dot(a + i * d, c + (t->first[g] + j) * d, d) / sqrt(d);
            const int labels = t->offsets[i + 1] - t->offsets[i];
            double loss = 0;
            bool any = false, best;
            for (int l = t->offsets[i]; l < t->offsets[i + 1]; l++) {
                loss += surprise(z, t->keys[g], t->labels[l] - t->first[g], &best) / labels;
                any |= best;
            }
            check_scores("pointer_cross_entropy", i, loss, any);
            sum += loss / size->rows;
        }
    near("pointer_cross_entropy", found, sum);
    g_free(z);
}

static void check_rows(xlm_tape *tape, const struct size *size)
{
    const int n = size->rows, d = size->cols;
    const xlm_real *a = in(tape, "a")->value, *b = in(tape, "b")->value;
    const xlm_var *difference = subtract(tape, NULL), *product = multiply(tape, NULL);
    const xlm_var *sum = rows_sum(tape, NULL);
    const int32_t *index, *offsets = sums_of(n, &index);
    for (int i = 0; i < n; i++)
        for (int c = 0; c < d; c++) {
            double wanted = 0;
            for (int e = offsets[i]; e < offsets[i + 1]; e++)
                wanted += (double)a[index[e] * d + c];
            near("rows_sum", (double)sum->value[i * d + c], wanted);
        }
    const xlm_var *y = xlm_row_dot(tape, in(tape, "a"), in(tape, "b")), *unit = xlm_row_normalise(tape, in(tape, "a"));
    for (int i = 0; i < n * d; i++) {
        near("subtract", (double)difference->value[i], (double)a[i] - (double)b[i]);
        near("multiply", (double)product->value[i], (double)a[i] * (double)b[i]);
    }
    int32_t of_a[MAX_ROW_PAIRS], of_c[MAX_ROW_PAIRS];
    const xlm_real *c = in(tape, "c")->value;
    const int64_t pairs = choose_row_pairs(in(tape, "a"), in(tape, "c"), of_a, of_c);
    const xlm_var *of_pairs = xlm_row_pairs_dot(tape, in(tape, "a"), of_a, in(tape, "c"), of_c, pairs);
    assert_true(of_pairs->rows == pairs && of_pairs->cols == 1);
    for (int64_t i = 0; i < pairs; i++)
        near("row_pairs_dot", (double)of_pairs->value[i], dot(a + of_a[i] * d, c + of_c[i] * d, d));
    for (int i = 0; i < n; i++) {
        near("row_dot", (double)y->value[i], dot(a + i * d, b + i * d, d));
        near("row_normalise", dot(unit->value + i * d, unit->value + i * d, d), 1);
        near("row_normalise", dot(unit->value + i * d, a + i * d, d), sqrt(dot(a + i * d, a + i * d, d)));
    }
}

static void check_means(xlm_tape *tape, const struct size *size, bool all)
{
    struct sequences s = cut(size->rows, all);
    const xlm_real *a = in(tape, "a")->value;
    const xlm_var *y = sequence_mean(tape, &s);
    assert_true(y->rows == s.n && y->cols == size->cols);
    for (int k = 0; k < s.n; k++)
        for (int c = 0; c < size->cols; c++) {
            double sum = 0, count = 0;
            for (int i = s.offsets[k]; i < s.offsets[k + 1]; i++)
                if (all || s.wanted[i])
                    sum += (double)a[i * size->cols + c], count++;
            near("sequence_mean", (double)y->value[k * size->cols + c], count > 0 ? sum / count : 0);
        }
    free_sequences(&s);
}

static void test_values(void **state)
{
    (void)state;
    for (size_t k = 0; k < G_N_ELEMENTS(sizes); k++) {
        xlm_parameters *p = make_parameters(&sizes[k]);
        xlm_tape *tape = xlm_tape_new(p);
        xlm_tape_begin(tape, NULL, true, 1, 1);
        check_rows(tape, &sizes[k]);
        check_means(tape, &sizes[k], true);
        check_means(tape, &sizes[k], false);
        check_entropies(tape, &sizes[k]);
        check_pointer(tape, &sizes[k]);
        xlm_tape_free(tape);
        xlm_parameters_free(p);
    }
}

/* Large logits do not overflow. */
static void test_large_logits(void **state)
{
    (void)state;
    xlm_parameters *p = make_parameters(&sizes[0]);
    xlm_tape *tape = xlm_tape_new(p);
    xlm_tape_begin(tape, NULL, true, 1, 1);
    const xlm_real z[] = {1000, 0, -1000}, one[] = {1000, 0, 0}, other[] = {0, 1000, 0};
    const int32_t first = 0, last = 2;
    assert_true(*xlm_cross_entropy(tape, xlm_constant(tape, 1, 3, z), &first, NULL)->value == 0);
    assert_true(*xlm_cross_entropy(tape, xlm_constant(tape, 1, 3, z), &last, NULL)->value == 2000);
    xlm_var *q = xlm_constant(tape, 1, 3, one), *k = xlm_constant(tape, 1, 3, other);
    assert_true(*xlm_info_nce(tape, q, q, k, 0.05, NULL)->value == 0);
    near("info_nce", (double)*xlm_info_nce(tape, q, k, q, 0.05, NULL)->value, 2e7);
    const xlm_real keys[] = {1000, 0, 0, 0, 1000, 0};
    xlm_pointer_targets away = {1, (const int32_t[]){0, 1}, (const int32_t[]){0}, (const int32_t[]){2}, (const int32_t[]){0, 1},
                                &first};
    assert_true(*xlm_pointer_cross_entropy(tape, q, xlm_constant(tape, 2, 3, keys), &away, NULL)->value == 0);
    away.labels = (const int32_t[]){1};
    near("pointer", (double)*xlm_pointer_cross_entropy(tape, q, xlm_constant(tape, 2, 3, keys), &away, NULL)->value, 1e6 / sqrt(3));
    xlm_tape_free(tape);
    xlm_parameters_free(p);
}

static void test_rows_of_zeros(void **state)
{
    (void)state;
    xlm_parameters *p = xlm_parameters_new();
    xlm_parameters_add(p, "a", 2, 3, XLM_INIT_ZERO, true);
    xlm_parameters_seal(p);
    xlm_parameters_values(p)[3] = 2;
    xlm_real gradient[16] = {0};
    xlm_tape *tape = xlm_tape_new(p);
    xlm_tape_begin(tape, gradient, true, 1, 1);
    xlm_var *y = xlm_row_normalise(tape, in(tape, "a"));
    const xlm_real wanted[] = {0, 0, 0, 1, 0, 0};
    assert_memory_equal(y->value, wanted, sizeof wanted);
    xlm_tape_seed(tape, xlm_mean(tape, y), 6);
    xlm_tape_backward(tape);
    const xlm_real gradients[] = {0, 0, 0, 0, (xlm_real)0.5, (xlm_real)0.5};
    assert_memory_equal(gradient, gradients, sizeof gradients);
    xlm_tape_free(tape);
    xlm_parameters_free(p);
}

/* Masked positions are text, whatever token is there; special tokens are not. */
static void test_text_rows(void **state)
{
    (void)state;
    static const int32_t original[] = {XLM_ID_BOS, 7, 9, XLM_ID_UNK, XLM_ID_EOS};
    static const int32_t ids[] = {XLM_ID_BOS, XLM_ID_MASK, 9, XLM_ID_UNK, XLM_ID_EOS};
    const xlm_batch batch = {
        .original = {
            .tokens = 5, .ids = original, .unmasked = original, .specials = &xlm_own_special_tokens,
        },
        .corrupted = {
            .tokens = 5, .ids = ids, .unmasked = original, .specials = &xlm_own_special_tokens,
        },
    };
    xlm_parameters *p = make_parameters(&sizes[0]);
    xlm_tape *tape = xlm_tape_new(p);
    xlm_tape_begin(tape, NULL, true, 1, 1);
    const bool wanted[] = {false, true, true, false, false};
    assert_memory_equal(xlm_text_rows(tape, &batch.corrupted), wanted, sizeof wanted);
    xlm_tape_free(tape);
    xlm_parameters_free(p);
}

/* ---- the same bits on any number of threads ---- */

static xlm_real *gradients_of(xlm_parameters *p, build *make, void *context, int threads)
{
    omp_set_num_threads(threads);
    xlm_real *gradient = g_new0(xlm_real, xlm_parameters_size(p));
    xlm_tape *tape = xlm_tape_new(p);
    xlm_tape_begin(tape, gradient, true, 3, 9);
    xlm_var *y = make(tape, context);
    xlm_tape_seed(tape, xlm_mean(tape, xlm_multiply(tape, y, y)), 1);
    xlm_tape_backward(tape);
    xlm_tape_free(tape);
    omp_set_num_threads(1);
    return gradient;
}

static void compare_threads(xlm_parameters *p, build *make, void *context)
{
    xlm_real *one = gradients_of(p, make, context, 1);
    for (int threads = 2; threads <= 3; threads++) {
        xlm_real *several = gradients_of(p, make, context, threads);
        assert_memory_equal(several, one, sizeof *one * (size_t)xlm_parameters_size(p));
        g_free(several);
    }
    g_free(one);
}

static void test_threads(void **state)
{
    (void)state;
    for (size_t k = 0; k < G_N_ELEMENTS(sizes); k++) {
        xlm_parameters *p = make_parameters(&sizes[k]);
        for (size_t f = 0; f < G_N_ELEMENTS(forms); f++)
            compare_threads(p, forms[f], NULL);
        for (int all = 0; all <= 1; all++) {
            struct sequences s = cut(sizes[k].rows, all);
            compare_threads(p, sequence_mean, &s);
            compare_threads(p, sequence_mean_of_shared, &s);
            free_sequences(&s);
        }
        xlm_parameters_free(p);
    }
}

/* The mean of a sequence has the key of its first row; where sequences are empty there are keys too. */
static void test_keys_of_means(void **state)
{
    (void)state;
    static const int32_t offsets[] = {0, 2, 2, 5, 5}, rows[5] = {0};
    static const xlm_row_key keys[5] = {{7, 0}, {7, 1}, {9, 0}, {9, 1}, {9, 2}};
    xlm_parameters *p = make_parameters(&sizes[0]);
    xlm_tape *tape = xlm_tape_new(p);
    xlm_tape_begin(tape, NULL, true, 1, 1);
    xlm_var *table = in(tape, "a");
    const int32_t *indices = rows;
    const xlm_var *mean = xlm_sequence_mean(tape, xlm_embedding_sum(tape, 1, &table, &indices, 5, keys), offsets, 4, NULL);
    const int expected[] = {0, 2, 2, 4};
    for (int s = 0; s < 4; s++)
        assert_memory_equal(&mean->keys[s], &keys[expected[s]], sizeof keys[0]);
    assert_null(xlm_sequence_mean(tape, table, (const int32_t[]){0, (int32_t)table->rows}, 1, NULL)->keys);
    xlm_tape_free(tape);
    xlm_parameters_free(p);
}

/* ---- gradients ---- */

#ifdef XLM_DOUBLE
static void test_gradients(void **state)
{
    (void)state;
    for (size_t k = 0; k + 1 < G_N_ELEMENTS(sizes); k++) {
        xlm_parameters *p = make_parameters(&sizes[k]);
        for (size_t f = 0; f < G_N_ELEMENTS(forms); f++)
            if (forms[f] != row_normalise || sizes[k].cols > 1) /* the sign of a number has a gradient of zero */
                gradient_check(p, forms[f], NULL);
        for (int all = 0; all <= 1; all++) {
            struct sequences s = cut(sizes[k].rows, all);
            gradient_check(p, sequence_mean, &s);
            gradient_check(p, sequence_mean_of_shared, &s);
            free_sequences(&s);
        }
        xlm_parameters_free(p);
    }
}
#endif

int main(void)
{
    omp_set_num_threads(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),    cmocka_unit_test(test_large_logits), cmocka_unit_test(test_rows_of_zeros),
        cmocka_unit_test(test_text_rows), cmocka_unit_test(test_threads),      cmocka_unit_test(test_keys_of_means),
#ifdef XLM_DOUBLE
        cmocka_unit_test(test_gradients),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
