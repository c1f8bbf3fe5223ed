/* xlm-mpi: the host of objectives: views, how often things are asked and encoded. SPDX-License-Identifier: GPL-3.0-or-later */
#include "host_fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gemm/gemm.h"
#include "tensor/tape.h"

/* ---- an objective whose views a test sets ---- */

enum { MAX_VIEWS = 6 };

struct looker {
    int views;
    xlm_view view[MAX_VIEWS];
    int counted;
    const xlm_encoded *seen[MAX_VIEWS];
};

static void look_declare(xlm_loss *self, xlm_declaration *declaration)
{
    struct looker *looker = self->state;
    for (int i = 0; i < looker->views; i++)
        assert_int_equal(xlm_declare_view(declaration, &looker->view[i]), i);
    xlm_declare_weight(declaration, "weight", 5, self->setup->model->hidden_size);
    xlm_declare_metric(declaration, "views");
}

static int64_t look_count(xlm_loss *self, const xlm_pass *pass)
{
    struct looker *looker = self->state;
    looker->counted++;
    return pass->batch->corrupted.sequences;
}

/* Mean over views of the mean of (h Wᵀ)². */
static xlm_var *look_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    struct looker *looker = self->state;
    xlm_var *sum = NULL;
    for (int i = 0; i < MAX(looker->views, 1); i++) {
        looker->seen[i] = xlm_pass_view(pass, i);
        xlm_var *z = xlm_linear(tape, looker->seen[i]->states, xlm_loss_param(self, tape, "weight"), NULL);
        xlm_var *mean = xlm_mean(tape, xlm_multiply(tape, z, z));
        sum = sum == NULL ? mean : xlm_add(tape, sum, mean);
    }
    xlm_loss_metric(self, "views", MAX(looker->views, 1), 1);
    return sum;
}

static const xlm_loss_class look = {
    .abi = XLM_LOSS_ABI, .name = "look", .summary = "looks at views", .needs_stream = true, .state_size = sizeof(struct looker),
    .declare = look_declare, .count = look_count, .loss = look_loss,
};

static struct looker *add_looker(struct hosted_job *job, const char *name, int views, const xlm_view *view)
{
    add_objective(job, name, &look, NULL);
    struct looker *looker = job->objective[job->objectives - 1].state;
    looker->views = views;
    for (int i = 0; i < views; i++)
        looker->view[i] = view[i];
    return looker;
}

/* A pair with a masked token on each side and one switched to the other language; a pair in two halves, as of form xlm. */
enum { TOKENS = 13 };
static const int32_t pair_offsets[] = {0, 6, 13}, pair_ids[TOKENS] = {0, 4, 2, 4, 12, 2, 0, 5, 2, 0, 9, 4, 2};
static const int32_t pair_original[TOKENS] = {0, 7, 2, 8, 6, 2, 0, 5, 2, 0, 9, 10, 2};
static const int32_t pair_positions[TOKENS] = {0, 1, 2, 3, 4, 5, 0, 1, 2, 0, 1, 2, 3};
static const int32_t pair_types[TOKENS] = {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1};
static const int32_t pair_languages[TOKENS] = {0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1};
static const int32_t pair_text_languages[TOKENS] = {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1};
static const int32_t pair_masked[] = {1, 3, 11}, pair_targets[] = {7, 8, 10};
static xlm_row_key pair_keys[TOKENS];

static xlm_batch pair_batch(void)
{
    for (int i = 0; i < TOKENS; i++)
        pair_keys[i] = i < 6 ? (xlm_row_key){20, (uint32_t)i} : (xlm_row_key){21, (uint32_t)(i - 6)};
    return (xlm_batch){
        .original = {
            .tokens = TOKENS, .sequences = 2, .offsets = pair_offsets, .ids = pair_original, .unmasked = pair_original,
            .positions = pair_positions, .languages = pair_text_languages, .unswitched = pair_text_languages,
            .types = pair_types, .keys = pair_keys, .specials = &xlm_own_special_tokens,
        },
        .corrupted = {
            .tokens = TOKENS, .sequences = 2, .offsets = pair_offsets, .ids = pair_ids, .unmasked = pair_original,
            .positions = pair_positions, .languages = pair_languages, .unswitched = pair_text_languages, .types = pair_types,
            .keys = pair_keys, .specials = &xlm_own_special_tokens,
        },
        .predicted = 3, .predicted_rows = pair_masked, .targets = pair_targets,
    };
}

static struct hosted_job pair_job(const xlm_batch *of)
{
    return (struct hosted_job){.batch = of, .languages = true, .stream = {.name = "pairs", .parallel = true}};
}

/* ---- what the encoder reads ---- */

static void same_ints(const char *what, const int32_t *got, const int32_t *wanted, int n)
{
    for (int i = 0; i < n; i++)
        if (got[i] != wanted[i])
            fail_msg("%s[%d] is %d, not %d", what, i, got[i], wanted[i]);
}

static void test_inputs(void **state)
{
    (void)state;
    const xlm_batch of = pair_batch();
    struct hosted_job job = pair_job(&of);
    const xlm_view views[] = {
        {.text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER, .gradient = true, .dropout = true},
        {.text = XLM_TEXT_ORIGINAL, .layer = 1, .rows = XLM_ROWS_PREDICTED, .gradient = true},
        {.text = XLM_TEXT_ORIGINAL, .side = XLM_SIDE_FIRST, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_FIRST, .gradient = true},
        {.text = XLM_TEXT_ORIGINAL, .side = XLM_SIDE_SECOND, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_PREDICTED, .gradient = true},
        {.text = XLM_TEXT_ORIGINAL, .side = XLM_SIDE_FIRST, .layer = 1, .rows = XLM_ROWS_PREDICTED, .gradient = true},
        {.text = XLM_TEXT_CORRUPTED, .side = XLM_SIDE_SECOND, .layer = 1, .rows = XLM_ROWS_PREDICTED, .gradient = true},
    };
    struct looker *looker = add_looker(&job, "look", 6, views);
    assert_true(open_job(&job));
    const xlm_pass_input input = job_input(&job, 0, 1);
    run_job(&job, &input, NULL, NULL);
    assert_true(looker->seen[0]->text == &of.corrupted && looker->seen[0]->targets == NULL);
    assert_int_equal(looker->seen[0]->states->rows, TOKENS);

    const xlm_text *b = looker->seen[1]->text;
    assert_true(b->ids == pair_original && b->languages == pair_text_languages && b->tokens == TOKENS);
    assert_int_equal(looker->seen[1]->states->rows, 3);

    b = looker->seen[2]->text;
    static const int32_t first_ids[] = {0, 7, 2, 0, 5, 2}, first_offsets[] = {0, 3, 6}, thirds[] = {0, 1, 2, 0, 1, 2};
    assert_int_equal(b->tokens, 6);
    same_ints("ids of the first side", b->ids, first_ids, 6);
    same_ints("offsets of the first side", b->offsets, first_offsets, 3);
    same_ints("positions of the first side", b->positions, thirds, 6);
    assert_int_equal(looker->seen[2]->states->rows, 2);

    b = looker->seen[3]->text;
    static const int32_t second_ids[] = {0, 8, 6, 2, 0, 9, 10, 2}, second_offsets[] = {0, 4, 8};
    static const int32_t fourths[] = {0, 1, 2, 3, 0, 1, 2, 3};
    static const int32_t ones[] = {1, 1, 1, 1, 1, 1, 1, 1}, zeros[] = {0, 0, 0, 0, 0, 0, 0, 0};
    assert_int_equal(b->tokens, 8);
    same_ints("ids of the second side", b->ids, second_ids, 8);
    same_ints("offsets of the second side", b->offsets, second_offsets, 3);
    same_ints("positions of the second side", b->positions, fourths, 8);
    same_ints("languages of the second side", b->languages, ones, 8);
    same_ints("types of the second side", b->types, zeros, 8);
    assert_true(b->keys[0].instance == 20 && b->keys[3].position == 3 && b->keys[4].instance == 21 && b->keys[4].position == 0);
    const xlm_encoded *e = looker->seen[3];
    assert_true(e->states->rows == 2 && e->rows[0] == 1 && e->rows[1] == 6 && e->targets[0] == 8 && e->targets[1] == 10);
    e = looker->seen[4];
    assert_true(e->states->rows == 1 && e->rows[0] == 1 && e->targets[0] == 7 && e->text->ids[1] == 7);

    e = looker->seen[5];
    static const int32_t corrupted_ids[] = {0, 4, 12, 2, 0, 9, 4, 2}, corrupted_languages[] = {1, 1, 0, 1, 1, 1, 1, 1};
    same_ints("ids of the corrupted second side", e->text->ids, corrupted_ids, 8);
    same_ints("its ids before masking", e->text->unmasked, second_ids, 8);
    same_ints("its languages", e->text->languages, corrupted_languages, 8);
    same_ints("its languages before switching", e->text->unswitched, ones, 8);
    assert_true(e->states->rows == 2 && e->rows[0] == 1 && e->rows[1] == 6 && e->targets[1] == 10);
    close_job(&job);
}

/* ---- gradients ---- */

static void test_gradients(void **state)
{
    (void)state;
    const xlm_batch of = pair_batch();
    struct hosted_job job = pair_job(&of);
    const xlm_view one[] = {
        {.text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_PREDICTED, .gradient = true, .dropout = true},
        {.text = XLM_TEXT_ORIGINAL, .layer = 1, .rows = XLM_ROWS_ALL},                            /* no gradient */
        {.text = XLM_TEXT_ORIGINAL, .side = XLM_SIDE_FIRST, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_FIRST, .gradient = true},
    };
    const xlm_view two[] = {
        {.text = XLM_TEXT_ORIGINAL, .side = XLM_SIDE_SECOND, .layer = 0, .rows = XLM_ROWS_FIRST, .gradient = true, .dropout = true},
        {.text = XLM_TEXT_CORRUPTED, .layer = 1, .rows = XLM_ROWS_PREDICTED, .gradient = true, .dropout = true},
    };
    add_looker(&job, "one", 3, one);
    add_looker(&job, "two", 2, two);
    add_looker(&job, "whole", 0, NULL);
    assert_true(open_job(&job));
    for (int recompute = 0; recompute < 2; recompute++) {
        xlm_tape_recompute(job.tape, recompute);
        const xlm_pass_input input = job_input(&job, 0, 1);
        check_gradients_of(&job, &input);
    }
    close_job(&job);
}

/* ---- encoded once, and no further than needed ---- */

static double flops_of(struct hosted_job *job)
{
    const xlm_pass_input input = job_input(job, 0, 1);
    const double before = xlm_gemm_flops();
    run_job(job, &input, NULL, NULL);
    return xlm_gemm_flops() - before;
}

static double flops_of_views(int objectives, const xlm_view *view)
{
    const xlm_batch of = pair_batch();
    struct hosted_job job = pair_job(&of);
    static const char *const names[] = {"one", "two", "three"};
    for (int k = 0; k < objectives; k++)
        add_looker(&job, names[k], 1, &view[k]);
    assert_true(open_job(&job));
    const double flops = flops_of(&job);
    close_job(&job);
    return flops;
}

static double projection(double rows) { return 2 * rows * 5 * 6; }

static void test_encoded_once(void **state)
{
    (void)state;
    const xlm_view all = {.layer = XLM_TOP_LAYER, .gradient = true, .dropout = true};
    xlm_view masked = all, middle = all, lowest = all;
    masked.rows = XLM_ROWS_PREDICTED;
    middle.layer = 1;
    lowest.layer = 0;
    const xlm_view thrice[] = {all, all, all}, mixed[] = {masked, all}, lower[] = {lowest, middle}, few[] = {masked, middle};
    const double whole = flops_of_views(1, thrice), half = flops_of_views(1, &middle), some = flops_of_views(1, &masked);
    assert_true(flops_of_views(3, thrice) == whole + 2 * projection(TOKENS));
    assert_true(flops_of_views(2, mixed) == whole + projection(3));
    /* Up to the highest layer that is asked for, and at the rows that are wanted there. */
    assert_true(flops_of_views(1, &lowest) == projection(TOKENS));
    assert_true(flops_of_views(2, lower) == half + projection(TOKENS));
    assert_true(some - projection(3) < whole - projection(TOKENS) && half - projection(TOKENS) < some - projection(3));
    assert_true(flops_of_views(2, few) == some + projection(TOKENS));
}

/* ---- rows near the masked ones ---- */

static void check_near(int64_t reach, const int32_t *rows, int n)
{
    const xlm_batch of = pair_batch();
    struct hosted_job job = pair_job(&of);
    xlm_view all = {.layer = XLM_TOP_LAYER, .gradient = true, .dropout = true}, near = all, masked = all, first = all;
    near.rows = XLM_ROWS_NEAR, near.reach = reach;
    masked.rows = XLM_ROWS_PREDICTED;
    first.rows = XLM_ROWS_FIRST;
    const xlm_view together[] = {masked, near, first}, alone[] = {near}, whole[] = {all};
    struct looker *looker[] = {add_looker(&job, "together", 3, together), add_looker(&job, "alone", 1, alone),
                               add_looker(&job, "whole", 1, whole)};
    assert_true(open_job(&job));
    double states[TOKENS * 6];
    for (int who = 2; who >= 0; who--) { /* the rows that somebody wants are computed, or all */
        xlm_pass_input input = job_input(&job, 0, 1);
        input.only = who;
        for (int k = 0; k < 3; k++)
            input.terms[k] = k == who ? 2 : 0;
        run_job(&job, &input, NULL, NULL);
        if (who == 2) {
            memcpy(states, looker[2]->seen[0]->states->value, sizeof states);
            assert_null(looker[2]->seen[0]->rows);
        }
        for (int v = 0; who < 2 && v < looker[who]->views; v++) {
            const xlm_encoded *seen = looker[who]->seen[v];
            const bool is_near = who == 1 || v == 1;
            const int32_t *wanted = is_near ? rows : v == 0 ? pair_masked : pair_offsets;
            assert_int_equal(seen->states->rows, is_near ? n : v == 0 ? 3 : 2);
            same_ints("rows of a view", seen->rows, wanted, (int)seen->states->rows);
            for (int64_t i = 0; i < seen->states->rows; i++) {
                assert_memory_equal(&seen->states->keys[i], &pair_keys[wanted[i]], sizeof *pair_keys);
                for (int c = 0; c < 6; c++)
                    assert_true(fabs(seen->states->value[i * 6 + c] - states[wanted[i] * 6 + c]) < 1e-12);
            }
        }
        check_gradients_of(&job, &input);
    }
    close_job(&job);
    /* Rows of both are computed once, and no more than these. */
    const xlm_view both[] = {masked, near};
    assert_true(flops_of_views(2, both) == flops_of_views(1, alone) + projection(3));
    assert_true(n == TOKENS || flops_of_views(1, alone) - projection(n) < flops_of_views(1, whole) - projection(TOKENS));
}

static void test_near(void **state)
{
    (void)state;
    static const int32_t none[] = {1, 3, 11}, one[] = {0, 1, 2, 3, 4, 10, 11, 12}, two[] = {0, 1, 2, 3, 4, 5, 9, 10, 11, 12};
    static const int32_t many[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    check_near(0, none, 3);
    check_near(1, one, 8);
    check_near(2, two, 10); /* not into the other sequence */
    check_near(100, many, TOKENS);
}

/* ---- what passes take ---- */

/* An objective that computes its own way, and reads what it computes. */
static int64_t spender_label(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    (void)self;
    const xlm_var *h = xlm_pass_view(pass, 0)->states;
    const int64_t n = xlm_var_rows(h) * xlm_var_cols(h);
    xlm_real *values = xlm_tape_take(tape, sizeof *values * (uint64_t)n), *kept = xlm_pass_keep(pass, sizeof *kept * (uint64_t)n);
    xlm_var_read(h, 0, xlm_var_rows(h), values);
    for (int64_t i = 0; i < n; i++)
        kept[i] = values[i] * values[i];
    return pass->batch->corrupted.sequences;
}

struct triple {
    xlm_var *x, *y;
};

static void triple_backward(void *pointer)
{
    const struct triple *t = pointer;
    const xlm_real *dy = xlm_var_gradient(t->y);
    xlm_real *dx = xlm_var_input_gradient(t->x);
    for (int64_t i = 0; dx != NULL && i < xlm_var_rows(t->x) * xlm_var_cols(t->x); i++)
        dx[i] += 3 * dy[i];
}

static xlm_var *spender_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    (void)self;
    xlm_var *h = xlm_pass_view(pass, 1)->states;
    const int64_t rows = xlm_var_rows(h), cols = xlm_var_cols(h);
    xlm_real *values = xlm_tape_take(tape, sizeof *values * (uint64_t)(rows * cols));
    xlm_var_read(h, 0, rows, values);
    for (int64_t i = 0; i < rows * cols; i++)
        values[i] *= 3;
    struct triple *t = xlm_tape_take(tape, sizeof *t);
    *t = (struct triple){.x = h, .y = xlm_operator(tape, rows, cols, 1, &h, triple_backward, t)};
    xlm_var_write(t->y, 0, rows, values);
    xlm_var *kept = xlm_constant(tape, rows, cols, pass->labels);
    return xlm_mean(tape, xlm_multiply(tape, t->y, kept));
}

static void spender_declare(xlm_loss *self, xlm_declaration *declaration)
{
    (void)self;
    const xlm_view label = {.text = XLM_TEXT_ORIGINAL, .layer = 1, .rows = XLM_ROWS_PREDICTED};
    const xlm_view learnt = {.text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_PREDICTED, .gradient = true,
                             .dropout = true};
    xlm_declare_view(declaration, &label);
    xlm_declare_view(declaration, &learnt);
}

static const xlm_loss_class spender = {
    .abi = XLM_LOSS_ABI, .name = "spender", .needs_stream = true, .declare = spender_declare, .label = spender_label,
    .loss = spender_loss,
};

/* Bytes of a step on this tape, and of what its labels keep; operations. */
struct step_cost {
    uint64_t bytes, kept;
    double flops;
};

static struct step_cost cost_on(struct hosted_job *job, xlm_tape *tape, double *gradient)
{
    xlm_arena *arena = xlm_arena_new();
    xlm_pass_input input = {.stream = 0, .batch = job->batch, .parts = 1, .step = GRADIENT_STEP, .only = -1};
    xlm_sums sums = xlm_host_sums_new(job->host);
    const double before = xlm_gemm_flops();
    xlm_host_count(job->host, &input, arena);
    xlm_tape_begin(tape, NULL, true, GRADIENT_SEED, GRADIENT_STEP);
    xlm_host_label(job->host, tape, &input, -1, NULL);
    xlm_tape_begin(tape, gradient, true, GRADIENT_SEED, GRADIENT_STEP);
    xlm_host_run(job->host, tape, &input, input.terms, &sums, NULL);
    const struct step_cost cost = {xlm_tape_peak_bytes(tape), xlm_arena_peak(arena), xlm_gemm_flops() - before};
    xlm_sums_free(&sums);
    xlm_arena_free(arena);
    return cost;
}

/* An objective is estimated without a line of its own: on shapes its step takes what it takes. */
static void test_cost(void **state)
{
    (void)state;
    const xlm_batch of = pair_batch();
    struct hosted_job job = pair_job(&of);
    add_objective(&job, "look", &look, NULL);
    add_objective(&job, "spend", &spender, NULL);
    assert_true(open_job(&job));
    double *gradient = g_new0(double, xlm_parameters_size(job.parameters));
    xlm_tape *shapes = xlm_tape_new_of_shapes(job.parameters);
    for (int recompute = 0; recompute < 2; recompute++) {
        xlm_tape_recompute(job.tape, recompute == 1);
        xlm_tape_recompute(shapes, recompute == 1);
        const struct step_cost made = cost_on(&job, job.tape, gradient), counted = cost_on(&job, shapes, XLM_NO_NUMBERS);
        assert_int_equal(counted.bytes, made.bytes);
        assert_int_equal(counted.kept, made.kept);
        assert_true(counted.flops == made.flops && made.flops > 0 && made.kept > sizeof(double) * 3 * 6);
    }
    xlm_tape_free(shapes);
    g_free(gradient);
    close_job(&job);
}

static void test_counted_once(void **state)
{
    (void)state;
    const xlm_batch of = pair_batch();
    struct hosted_job job = pair_job(&of);
    struct looker *looker = add_looker(&job, "look", 0, NULL);
    assert_true(open_job(&job));
    const xlm_pass_input input = job_input(&job, 0, 1);
    double *gradient = g_new0(double, xlm_parameters_size(job.parameters));
    run_job(&job, &input, gradient, NULL);
    run_job(&job, &input, NULL, NULL);
    assert_int_equal(looker->counted, 1);
    g_free(gradient);
    close_job(&job);
}

/* Draws of the stream's own batch do not depend on what else is encoded, and those of others are others. */
static void test_draws(void **state)
{
    (void)state;
    const xlm_batch of = pair_batch();
    const xlm_view views[] = {
        {.text = XLM_TEXT_CORRUPTED, .layer = 0, .gradient = true, .dropout = true},
        {.text = XLM_TEXT_CORRUPTED, .layer = 0, .dropout = true},
        {.text = XLM_TEXT_CORRUPTED, .layer = 0, .gradient = true},
    };
    double *first = NULL;
    for (int views_in_all = 1; views_in_all <= 3; views_in_all++) {
        struct hosted_job job = pair_job(&of);
        struct looker *looker = add_looker(&job, "look", views_in_all, views);
        assert_true(open_job(&job));
        job.config.dropout = 0.5;
        xlm_model_free(job.model);
        xlm_parameters *other = xlm_parameters_new();
        job.model = xlm_model_new(&job.config, other); /* the same parameters, with dropout */
        xlm_parameters_free(other);
        xlm_host_close(job.host);
        const xlm_host_setup setup = {.model = job.model, .about = {.model = &job.config}, .resources = job.resources,
                                      .streams = 1, .stream = &job.stream, .objectives = 1, .objective = job.objective};
        xlm_parameters *again = xlm_parameters_new();
        job.host = xlm_host_open(&setup, again, NULL);
        xlm_parameters_free(again);
        const xlm_pass_input input = job_input(&job, 0, 1);
        run_job(&job, &input, NULL, NULL);
        const size_t bytes = sizeof(double) * TOKENS * 6;
        const double *x = looker->seen[0]->states->value;
        if (first == NULL)
            first = g_memdup2(x, bytes);
        assert_memory_equal(x, first, bytes);
        int dropped = 0;
        for (int i = 0; i < TOKENS * 6; i++)
            dropped += x[i] == 0;
        assert_true(dropped > TOKENS && dropped < 5 * TOKENS);
        for (int v = 1; v < views_in_all; v++)
            assert_true(memcmp(looker->seen[v]->states->value, x, bytes) != 0);
        for (int i = 0; views_in_all == 3 && i < TOKENS * 6; i++)
            assert_true(looker->seen[2]->states->value[i] != 0);
        close_job(&job);
    }
    g_free(first);
}

/* ---- views without gradient, for labels and for losses ---- */

/* Sees its view without gradient in label, the sum of which is its only term; a view with gradient for the loss. */
struct labeller {
    xlm_view view;
    double average; /* momentum; 0: no average */
    double sum;
};

enum { LABELLED, LEARNED };

static void labeller_declare(xlm_loss *self, xlm_declaration *declaration)
{
    const struct labeller *labeller = self->state;
    const xlm_view lowest = {.layer = 0, .gradient = true, .dropout = true};
    xlm_declare_view(declaration, &labeller->view);
    xlm_declare_view(declaration, &lowest);
    if (labeller->average > 0)
        xlm_declare_average(declaration, labeller->average);
}

static int64_t labeller_label(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    struct labeller *labeller = self->state;
    const xlm_var *h = xlm_pass_view(pass, LABELLED)->states;
    (void)tape;
    labeller->sum = 0;
    for (int64_t i = 0; i < h->rows * h->cols; i++)
        labeller->sum += h->value[i];
    return 1;
}

static xlm_var *labeller_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    (void)self;
    return xlm_mean(tape, xlm_pass_view(pass, LEARNED)->states);
}

static const xlm_loss_class labeller_class = {
    .abi = XLM_LOSS_ABI, .name = "labeller", .summary = "labels by a view", .needs_stream = true,
    .state_size = sizeof(struct labeller), .declare = labeller_declare, .label = labeller_label, .loss = labeller_loss,
};

/* Labels and losses of one micro-batch, with two labellers, the second of which has an average, and a looker. */
struct step_of_views {
    double flops, sum[2];    /* operations of products; sums of each labeller's view */
    double states[TOKENS * 6];
    xlm_row_key keys[TOKENS];
    int64_t rows;            /* of the looker's view */
    bool shared;               /* a view is kept for passes after the labels */
};

enum { FIRST_LABELLER = 1, SECOND_LABELLER = 2, LOOKER = 4 };

static struct step_of_views take_step(int who, const xlm_view *labelled, const xlm_view *looked_at)
{
    const xlm_batch of = pair_batch();
    struct hosted_job job = pair_job(&of);
    struct labeller *labeller[2] = {NULL, NULL};
    struct looker *looker = NULL;
    static const char *const names[] = {"first", "second"};
    for (int i = 0; i < 2; i++)
        if (who & (i == 0 ? FIRST_LABELLER : SECOND_LABELLER)) {
            add_objective(&job, names[i], &labeller_class, NULL);
            labeller[i] = job.objective[job.objectives - 1].state;
            *labeller[i] = (struct labeller){.view = *labelled, .average = i * 0.5};
        }
    if (who & LOOKER)
        looker = add_looker(&job, "look", 1, looked_at);
    assert_true(open_job(&job));
    struct step_of_views made = {0};
    xlm_pass_input input = job_input(&job, 0, 1);
    const double before = xlm_gemm_flops();
    for (int average = -1; average < xlm_host_averages(job.host); average++)
        if (xlm_host_has_labels(job.host, average)) {
            xlm_tape_begin(job.tape, NULL, true, GRADIENT_SEED, GRADIENT_STEP);
            xlm_host_label(job.host, job.tape, &input, average, average < 0 ? NULL : xlm_parameters_values(job.parameters));
        }
    run_job(&job, &input, NULL, NULL);
    made.flops = xlm_gemm_flops() - before;
    for (int i = 0; i < 2; i++)
        made.sum[i] = labeller[i] != NULL ? labeller[i]->sum : 0;
    if (looker != NULL) {
        const xlm_var *h = looker->seen[0]->states;
        made.rows = h->rows;
        memcpy(made.states, h->value, sizeof(double) * (size_t)(h->rows * h->cols));
        memcpy(made.keys, h->keys, sizeof *made.keys * (size_t)h->rows);
    }
    made.shared = input.shared != NULL;
    close_job(&job);
    return made;
}

/* A view that labels and losses ask for is encoded once for all of them, and is what it is for one alone. */
static void test_labels_share_views_with_losses(void **state)
{
    (void)state;
    const xlm_view all = {.text = XLM_TEXT_ORIGINAL, .layer = XLM_TOP_LAYER}, half = {.text = XLM_TEXT_ORIGINAL, .layer = 1};
    xlm_view masked = all, second = all, dropped = all;
    masked.rows = XLM_ROWS_PREDICTED;
    second.side = XLM_SIDE_SECOND;
    dropped.dropout = true;
    const double loss = projection(TOKENS); /* all that a looker does beside encoding */

    const struct step_of_views label = take_step(FIRST_LABELLER, &all, &all), look_alone = take_step(LOOKER, &all, &all);
    assert_true(label.flops == look_alone.flops - loss && !label.shared && !look_alone.shared);
    struct step_of_views both = take_step(FIRST_LABELLER | LOOKER, &all, &all);
    assert_true(both.flops == look_alone.flops && both.sum[0] == label.sum[0]);
    assert_true(both.rows == TOKENS && both.shared);
    assert_memory_equal(both.states, look_alone.states, sizeof both.states);
    assert_memory_equal(both.keys, look_alone.keys, sizeof both.keys);

    /* Labels with averages, which are made later, share it too. */
    both = take_step(FIRST_LABELLER | SECOND_LABELLER | LOOKER, &all, &all);
    assert_true(both.flops == look_alone.flops && both.sum[0] == label.sum[0] && both.sum[1] == label.sum[0]);

    /* Up to the highest layer that either asks for; other rows of it. */
    const struct step_of_views lower = take_step(LOOKER, NULL, &half);
    both = take_step(FIRST_LABELLER | LOOKER, &all, &half);
    assert_true(both.flops == look_alone.flops && both.sum[0] == label.sum[0]);
    assert_memory_equal(both.states, lower.states, sizeof both.states);
    both = take_step(FIRST_LABELLER | LOOKER, &half, &all);
    assert_true(both.flops == look_alone.flops);
    assert_memory_equal(both.states, look_alone.states, sizeof both.states);
    both = take_step(FIRST_LABELLER | LOOKER, &all, &masked);
    assert_true(both.flops == label.flops + projection(3) && both.rows == 3 && both.shared);
    for (int i = 0; i < 3; i++) {
        assert_memory_equal(&both.keys[i], &pair_keys[pair_masked[i]], sizeof *both.keys);
        assert_memory_equal(both.states + i * 6, look_alone.states + pair_masked[i] * 6, 6 * sizeof *both.states);
    }

    /* Another input, or other dropout, is another encoding. */
    const struct step_of_views side = take_step(LOOKER, NULL, &second);
    both = take_step(FIRST_LABELLER | LOOKER, &all, &second);
    assert_true(both.flops == label.flops + side.flops && !both.shared);
    both = take_step(FIRST_LABELLER | LOOKER, &all, &dropped);
    assert_true(both.flops == label.flops + look_alone.flops && !both.shared);
}

/* ---- refusals and estimates ---- */

static void refuse(xlm_view view, bool parallel, const char *message)
{
    const xlm_batch of = pair_batch();
    struct hosted_job job = pair_job(&of);
    job.stream.parallel = parallel;
    add_looker(&job, "look", 1, &view);
    refuse_job(&job, message);
}

static void test_refusals(void **state)
{
    (void)state;
    refuse((xlm_view){.layer = 3}, true, "[objective look]: layer = 3, but the model has 2 layers");
    refuse((xlm_view){.rows = XLM_ROWS_NEAR, .reach = -1}, true,
           "[objective look]: a view that reaches -1 rows around the predicted ones");
    refuse((xlm_view){.rows = XLM_ROWS_LINKED}, true,
           "[objective look]: it reads rows that are linked, and [stream pairs] has no word alignments; give it "
           "alignments = FILE.h5");
    refuse((xlm_view){.layer = -2}, true, "[objective look]: layer = -2, but the model has 2 layers");
    refuse((xlm_view){.text = XLM_TEXT_ORIGINAL, .side = XLM_SIDE_SECOND}, false,
           "[objective look]: it reads the two sides of pairs, and [stream pairs] has none; set type = parallel there");
}

/* ---- names, which are side by side in files ---- */

struct named {
    const char *state, *weight; /* NULL: none */
    double number;
};

static void named_declare(xlm_loss *self, xlm_declaration *declaration)
{
    struct named *named = self->state;
    if (named->state != NULL)
        xlm_declare_state(declaration, named->state, XLM_STATE_F64, &named->number, 1);
    if (named->weight != NULL)
        xlm_declare_weight(declaration, named->weight, 1, 1);
}

static const xlm_loss_class named_class = {
    .abi = XLM_LOSS_ABI, .name = "named", .summary = "declares a state and a weight", .needs_stream = true,
    .state_size = sizeof(struct named), .declare = named_declare, .loss = look_loss,
};

static void test_names(void **state)
{
    static const struct named names[] = {
        {"queue", "projection", 0}, {"loss", NULL, 0}, {"average", NULL, 0}, {NULL, "average/x", 0}, {"queue", "queue", 0},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        const pid_t child = fork();
        if (child == 0) {
            const xlm_batch of = pair_batch();
            struct hosted_job job = pair_job(&of);
            signal(SIGTRAP, SIG_DFL);
            signal(SIGABRT, SIG_DFL);
            close(STDERR_FILENO);
            add_objective(&job, "named", &named_class, NULL);
            *(struct named *)job.objective[0].state = names[i];
            _exit(open_job(&job) ? 0 : 1);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(i == 0 ? WIFEXITED(status) && WEXITSTATUS(status) == 0
                           : WIFSIGNALED(status) && (WTERMSIG(status) == SIGTRAP || WTERMSIG(status) == SIGABRT));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_encoded_once),
        cmocka_unit_test(test_near),
        cmocka_unit_test(test_cost),
        cmocka_unit_test(test_counted_once),
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_labels_share_views_with_losses),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
