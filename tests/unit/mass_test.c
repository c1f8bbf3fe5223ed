/* xlm-mpi: masked sequence to sequence pre-training, and views of the rows that are not masked, in double precision.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "host_fixture.h"

extern const xlm_loss_class xlm_loss_mass, xlm_loss_mlm;

enum { MASK = XLM_ID_MASK, MAX_SEQUENCES = 5, LENGTH = 7, MAX_TOKENS = MAX_SEQUENCES * LENGTH, BATCHES = 300 };

/* ---- batches that are drawn ---- */

/* What a stream, or a stage after it, may make of some sentences. */
struct drawn {
    int32_t offsets[MAX_SEQUENCES + 1], original[MAX_TOKENS], ids[MAX_TOKENS], positions[MAX_TOKENS], languages[MAX_TOKENS],
        types[MAX_TOKENS], rows[MAX_TOKENS], targets[MAX_TOKENS];
    xlm_row_key keys[MAX_TOKENS];
    xlm_batch batch;
};

static uint32_t draw(uint32_t below)
{
    static uint32_t counter;
    static const xlm_rng_key key = {{3, 4}};
    return xlm_rng_below(xlm_rng_draw(key, counter++, 0, 0, 0).v[0], below);
}

/* A row that is predicted, as <mask>, another word or itself. */
static void predict(struct drawn *d, int32_t row)
{
    const uint32_t how = draw(10);
    d->rows[d->batch.predicted] = row;
    d->targets[d->batch.predicted++] = d->original[row];
    d->ids[row] = how < 8 ? MASK : how == 8 ? XLM_SPECIALS + (int32_t)draw(V - XLM_SPECIALS) : d->original[row];
}

/* Sentences with a fragment, without one, and now and then one that is all <mask>, its <s> as well. */
static void draw_batch(struct drawn *d)
{
    *d = (struct drawn){.offsets = {0}};
    const int32_t sequences = 1 + (int32_t)draw(MAX_SEQUENCES);
    int32_t n = 0;
    for (int32_t s = 0; s < sequences; s++) {
        const int32_t length = 3 + (int32_t)draw(LENGTH - 2), first = n, words = length - 2;
        for (int32_t i = 0; i < length; i++, n++) {
            d->ids[n] = d->original[n] = i == 0            ? XLM_ID_BOS
                                         : i == length - 1 ? XLM_ID_EOS
                                                           : XLM_SPECIALS + (int32_t)draw(V - XLM_SPECIALS);
            d->positions[n] = i;
            d->languages[n] = s % 2;
            d->keys[n] = (xlm_row_key){40 + (uint32_t)s, (uint32_t)i};
        }
        d->offsets[s + 1] = n;
        const uint32_t kind = draw(8);
        const int32_t m = 1 + (int32_t)draw((uint32_t)words), start = first + 1 + (int32_t)draw((uint32_t)(words - m + 1));
        for (int32_t row = first; row < n && kind > 1; row++)
            if (row >= start && row < start + m)
                predict(d, row);
        for (int32_t row = first; row < n && kind == 0; row++) {
            predict(d, row);
            d->ids[row] = MASK;
        }
    }
    const xlm_text text = {
        .tokens = n, .sequences = sequences, .offsets = d->offsets, .ids = d->original, .unmasked = d->original,
        .positions = d->positions, .languages = d->languages, .unswitched = d->languages, .types = d->types, .keys = d->keys,
        .specials = &xlm_own_special_tokens,
    };
    d->batch.original = d->batch.corrupted = text;
    d->batch.corrupted.ids = d->ids;
    d->batch.predicted_rows = d->rows;
    d->batch.targets = d->targets;
}

static const char *const smoothed[] = {"label_smoothing=0.2", NULL};

static struct hosted_job open_with(const xlm_batch *of, bool beside, bool own, const char *const *options)
{
    struct hosted_job job = {.batch = of, .languages = true, .decoder_layers = 2, .own_embeddings = own,
                             .stream = {.name = "text", .mask = 0.5, .fragment = true}};
    add_objective(&job, "mass", &xlm_loss_mass, options);
    if (beside)
        add_objective(&job, "mlm", &xlm_loss_mlm, NULL);
    if (!open_job(&job))
        fail_msg("%s", job.message);
    return job;
}

/* ---- the decoder's text and memory, by hand ---- */

/* The rows of memory of each sequence: those that are not <mask>, or the first. */
static int32_t memory_rows(const xlm_text *text, int32_t *rows, int32_t *starts)
{
    int32_t n = 0;
    starts[0] = 0;
    for (int32_t s = 0; s < text->sequences; s++) {
        for (int32_t row = text->offsets[s]; row < text->offsets[s + 1]; row++)
            if (text->ids[row] != MASK)
                rows[n++] = row;
        if (n == starts[s])
            rows[n++] = text->offsets[s];
        starts[s + 1] = n;
    }
    return n;
}

/* The text of the fragments: the token before each, where it is in the sentence. */
struct fragments {
    int32_t n, terms, offsets[MAX_SEQUENCES + 1], ids[MAX_TOKENS], positions[MAX_TOKENS], languages[MAX_TOKENS], rows[MAX_TOKENS],
        targets[MAX_TOKENS];
};

static void add_before(struct fragments *f, const struct drawn *d, int32_t row)
{
    f->ids[f->n] = d->original[row];
    f->positions[f->n] = d->positions[row];
    f->languages[f->n++] = d->languages[row];
}

static void find_fragments(const struct drawn *d, struct fragments *f)
{
    *f = (struct fragments){.n = 0};
    for (int32_t s = 0; s < d->batch.corrupted.sequences; s++) {
        for (int32_t k = 0; k < d->batch.predicted; k++)
            if (d->rows[k] > d->offsets[s] && d->rows[k] < d->offsets[s + 1]) {
                f->rows[f->terms] = f->n;
                f->targets[f->terms++] = d->original[d->rows[k]];
                add_before(f, d, d->rows[k] - 1);
            }
        if (f->n == f->offsets[s])
            add_before(f, d, d->offsets[s]);
        f->offsets[s + 1] = f->n;
    }
}

static double by_hand(struct hosted_job *job, const struct drawn *d, const struct fragments *f, double smoothing)
{
    int32_t rows[MAX_TOKENS], starts[MAX_SEQUENCES + 1];
    const int32_t n = memory_rows(&d->batch.corrupted, rows, starts);
    xlm_row_key none[MAX_TOKENS] = {{0, 0}};
    const xlm_text text = {
        .tokens = f->n, .sequences = d->batch.corrupted.sequences, .offsets = f->offsets, .ids = f->ids, .unmasked = f->ids,
        .positions = f->positions, .languages = f->languages, .unswitched = f->languages, .types = d->types, .keys = none,
        .specials = &xlm_own_special_tokens,
    };
    xlm_tape_begin(job->tape, NULL, false, 1, 1);
    xlm_var *all = xlm_model_encode(job->model, job->tape, &d->batch.corrupted, false, XLM_TOP_LAYER, NULL, 0)[2];
    xlm_var *h = xlm_model_decode(job->model, job->tape, &text, xlm_rows(job->tape, all, rows, n), starts, XLM_TOP_LAYER, NULL, 0)[2];
    const xlm_var *z = xlm_lm_logits(job->model, job->tape, XLM_STACK_DECODER, h);
    double sum = 0;
    for (int32_t i = 0; i < f->terms; i++) {
        double total = 0, mean = 0;
        for (int v = 0; v < V; v++)
            total += exp(z->value[f->rows[i] * V + v]);
        for (int v = 0; v < V; v++)
            mean += (log(total) - z->value[f->rows[i] * V + v]) / V;
        sum += (1 - smoothing) * (log(total) - z->value[f->rows[i] * V + f->targets[i]]) + smoothing * mean;
    }
    return sum / f->terms;
}

static void check_made(const xlm_text *made, const struct drawn *d, const struct fragments *f)
{
    const size_t n = sizeof(int32_t) * (size_t)f->n;
    assert_int_equal(made->tokens, f->n);
    assert_int_equal(made->sequences, d->batch.corrupted.sequences);
    assert_memory_equal(made->offsets, f->offsets, sizeof(int32_t) * ((size_t)made->sequences + 1));
    assert_memory_equal(made->ids, f->ids, n);
    assert_memory_equal(made->positions, f->positions, n);
    assert_memory_equal(made->languages, f->languages, n);
    for (int32_t s = 0; s < made->sequences; s++)
        for (int32_t i = made->offsets[s]; i < made->offsets[s + 1]; i++)
            assert_true(made->keys[i].instance == 40 + (uint32_t)s && made->keys[i].position == (uint32_t)(i - made->offsets[s]));
}

static void test_loss_by_hand(void **state)
{
    (void)state;
    int without = 0, hidden = 0;
    for (int i = 0; i < BATCHES; i++) {
        struct drawn d;
        struct fragments f;
        draw_batch(&d);
        find_fragments(&d, &f);
        struct hosted_job job = open_with(&d.batch, false, i % 2, i % 4 >= 2 ? smoothed : NULL);
        xlm_pass_input input = job_input(&job, 0, 1);
        label_job(&job, &input);
        assert_int_equal(input.terms[0], f.terms);
        without += f.terms == 0;
        for (int32_t s = 0, rows[MAX_TOKENS], starts[MAX_SEQUENCES + 1]; s < d.batch.corrupted.sequences; s++) {
            memory_rows(&d.batch.corrupted, rows, starts);
            hidden += starts[s + 1] - starts[s] == 1;
        }
        if (f.terms > 0) {
            check_made(input.made[0], &d, &f);
            const double got = run_job(&job, &input, NULL, NULL), wanted = by_hand(&job, &d, &f, i % 4 >= 2 ? 0.2 : 0);
            if (!(fabs(got - wanted) < 1e-12))
                fail_msg("batch %d: %.15g instead of %.15g", i, got, wanted);
            input.held_out = true; /* without label smoothing */
            assert_true(fabs(run_job(&job, &input, NULL, NULL) - by_hand(&job, &d, &f, 0)) < 1e-12);
        }
        close_job(&job);
    }
    assert_true(without > 5 && hidden > 20); /* there were such batches */
}

/* Beside mlm, which reads other rows of the same encoding, both losses are what they are alone. */
static void test_beside_mlm(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct drawn d;
        struct fragments f;
        do {
            draw_batch(&d);
            find_fragments(&d, &f);
        } while (f.terms == 0);
        double losses[3];
        for (int k = 0; k < 2; k++) {
            struct hosted_job job = open_with(&d.batch, k == 1, i % 2, NULL);
            xlm_pass_input input = job_input(&job, 0, 1);
            label_job(&job, &input);
            losses[k] = run_job(&job, &input, NULL, NULL);
            input.terms[0] = 0; /* mlm alone */
            losses[2] = run_job(&job, &input, NULL, NULL);
            close_job(&job);
        }
        assert_true(fabs(losses[1] - losses[0] - losses[2]) < 1e-12 && losses[2] > 0);
    }
}

static void test_gradients(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        struct drawn d;
        do
            draw_batch(&d);
        while (d.batch.predicted < 3);
        struct hosted_job job = open_with(&d.batch, i % 2, i % 3 == 1, i % 2 == 1 ? smoothed : NULL);
        xlm_pass_input input = job_input(&job, 0, 1);
        label_job(&job, &input);
        if (input.terms[0] > 0)
            check_gradients_of(&job, &input);
        close_job(&job);
    }
}

/* ---- views of rows that are not masked ---- */

enum { TOP, BELOW, ORIGINAL, VIEWS };

static void look_declare(xlm_loss *self, xlm_declaration *declaration)
{
    (void)self;
    for (int i = 0; i < VIEWS; i++) {
        const xlm_view view = {.text = i == ORIGINAL ? XLM_TEXT_ORIGINAL : XLM_TEXT_CORRUPTED, .rows = XLM_ROWS_UNMASKED,
                               .layer = i == BELOW ? 1 : XLM_TOP_LAYER, .gradient = true};
        xlm_declare_view(declaration, &view);
    }
}

static xlm_var *look_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    (void)self;
    for (int i = 0; i < VIEWS; i++) {
        const xlm_encoded *view = xlm_pass_view(pass, i);
        int32_t rows[MAX_TOKENS], starts[MAX_SEQUENCES + 1];
        const int32_t n = memory_rows(view->text, rows, starts);
        const xlm_var *all = xlm_model_encode(pass->model, tape, view->text, false, i == BELOW ? 1 : 2, NULL, 0)[i == BELOW ? 1 : 2];
        assert_int_equal(xlm_var_rows(view->states), n);
        assert_memory_equal(view->rows, rows, sizeof *rows * (size_t)n);
        for (int32_t k = 0; k < n * 6; k++)
            assert_true(fabs(view->states->value[k] - all->value[rows[k / 6] * 6 + k % 6]) < 1e-12);
    }
    return xlm_constant(tape, 1, 1, &(xlm_real){1});
}

static int64_t look_count(xlm_loss *self, const xlm_pass *pass)
{
    (void)self, (void)pass;
    return 1;
}

static void test_views(void **state)
{
    (void)state;
    static const xlm_loss_class look = {.abi = XLM_LOSS_ABI, .name = "look", .needs_stream = true, .declare = look_declare,
                                        .count = look_count, .loss = look_loss};
    for (int i = 0; i < 50; i++) {
        struct drawn d;
        draw_batch(&d);
        struct hosted_job job = {.batch = &d.batch, .stream = {.name = "text"}};
        add_objective(&job, "look", &look, NULL);
        assert_true(open_job(&job));
        const xlm_pass_input input = job_input(&job, 0, 1);
        assert_true(run_job(&job, &input, NULL, NULL) == 1);
        close_job(&job);
    }
}

/* ---- what is refused ---- */

static void refuse(struct hosted_job job, const char *message)
{
    struct drawn d;
    draw_batch(&d);
    job.batch = &d.batch;
    add_objective(&job, "mass", &xlm_loss_mass, NULL);
    refuse_job(&job, message);
}

static void test_refusals(void **state)
{
    (void)state;
    const xlm_loss_stream good = {.name = "text", .mask = 0.5, .fragment = true};
    xlm_loss_stream stream = good;
    refuse((struct hosted_job){.stream = stream}, "[objective mass]: it needs a decoder, and the model has none");
    stream.parallel = true;
    refuse((struct hosted_job){.stream = stream, .decoder_layers = 1}, "[objective mass]: [stream text] has pairs");
    stream = good, stream.joined = true;
    refuse((struct hosted_job){.stream = stream, .decoder_layers = 1}, "can hold several sentences; set join_sentences = false");
    stream = good, stream.noise = true;
    refuse((struct hosted_job){.stream = stream, .decoder_layers = 1}, "[stream text] has noise");
    stream = good, stream.mask = 0;
    refuse((struct hosted_job){.stream = stream, .decoder_layers = 1}, "masks no fragments; set mask = 0.5 and mask_unit = fragment");
    stream = good, stream.fragment = false;
    refuse((struct hosted_job){.stream = stream, .decoder_layers = 1}, "masks no fragments; set mask = 0.5 and mask_unit = fragment");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loss_by_hand), cmocka_unit_test(test_beside_mlm), cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_views), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
