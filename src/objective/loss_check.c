/* xlm-mpi: a check of an objective's gradients against finite differences, in double precision.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <xlm/loss_check.h>

#include <string.h>

#include "base/rng.h"
#include "objective/differences.h"
#include "objective/loss_check_batch.h"
#include "options/options.h"
#include "tensor/tape.h"

enum { SEED = 5, STEPS = 2 }; /* training steps before the check */

/* Objectives that request a file get what the check has, whatever the path. Readers have no argument for it, so it is here. */
static const xlm_loss_check *running;

static void *give_dictionary(const char *path, const xlm_resource_origin *origin, GError **error)
{
    (void)path, (void)origin, (void)error;
    return (void *)(running->dictionary != NULL ? running->dictionary : xlm_check_dictionary());
}

static void *give_cooccurrence(const char *path, const xlm_resource_origin *origin, GError **error)
{
    (void)path, (void)origin, (void)error;
    return (void *)(running->cooccurrence != NULL ? running->cooccurrence : xlm_check_cooccurrence());
}

static void keep(void *resource) { (void)resource; }

static const xlm_resource_reader dictionaries = {.kind = "dictionary", .read = give_dictionary, .free = keep},
                                 tables = {.kind = "cooccurrence", .read = give_cooccurrence, .free = keep};
static const xlm_resource_reader *const readers[] = {&dictionaries, &tables, NULL};

/* ---- what is given ---- */

static bool set_option(const xlm_loss_class *cls, const char *text, void *state, GError **error)
{
    g_auto(GStrv) pair = g_strsplit(text, "=", 2);
    const xlm_option *o = cls->options;
    while (o != NULL && o->name != NULL && strcmp(o->name, g_strstrip(pair[0])) != 0)
        o++;
    const bool known = o != NULL && o->name != NULL && pair[1] != NULL;
    return known ? xlm_option_set(o, g_strstrip(pair[1]), state, error)
                 : xlm_error_set(error, EX_USAGE, "\"%s\" is not an option of %s as KEY=VALUE", text, cls->name);
}

static bool is_given(const xlm_loss_check *check, const char *name)
{
    bool given = false;
    for (const char *const *text = check->options; text != NULL && *text != NULL; text++) {
        g_auto(GStrv) pair = g_strsplit(*text, "=", 2);
        given |= strcmp(g_strstrip(pair[0]), name) == 0;
    }
    return given;
}

/* Sets an option without a default. If it names a file, any path will do, because the check provides the contents. */
static bool set_missing(const xlm_option *o, void *state, GError **error)
{
    return o->type == XLM_OPTION_TEXT ? xlm_option_set(o, o->name, state, error)
                                      : xlm_error_set(error, EX_USAGE, "the option %s has no default; give \"%s=VALUE\"", o->name,
                                                      o->name);
}

static bool set_options(const xlm_loss_check *check, void *state, GError **error)
{
    const xlm_loss_class *cls = check->cls;
    if (cls->options != NULL)
        for (const xlm_option *o = cls->options; o->name != NULL; o++)
            if (o->default_value != NULL && !xlm_option_set(o, o->default_value, state, error))
                return false;
    for (const char *const *text = check->options; text != NULL && *text != NULL; text++)
        if (!set_option(cls, *text, state, error))
            return false;
    for (const xlm_option *o = cls->options; o != NULL && o->name != NULL; o++)
        if (o->default_value == NULL && !is_given(check, o->name) && !set_missing(o, state, error))
            return false;
    return true;
}

static bool set_model(const xlm_loss_check *check, xlm_model_config *model, GError **error)
{
    if (check->model != NULL) {
        *model = *check->model;
    } else {
        if (!xlm_options_defaults(xlm_model_options, model, error))
            return false;
        model->layers = 2, model->decoder_layers = 1, model->hidden_size = 8, model->attention_heads = 2;
        model->feed_forward_size = 12;
        model->positions = 2 * XLM_CHECK_POSITIONS, model->vocabulary = XLM_CHECK_VOCABULARY, model->vocabulary_chunk = 7;
        model->languages = XLM_CHECK_LANGUAGES, model->language_embeddings = model->token_types = true;
    }
    model->dropout = model->attention_dropout = 0;
    return xlm_model_check(model, error);
}

/* Checks an annotation of a built-in stage, if the batch has it: its shape, and that all values are in [min, end). */
static bool check_annotation(const xlm_batch *b, const char *name, int32_t width, int64_t min, int64_t end, GError **error)
{
    const xlm_annotation *a = xlm_batch_find_annotation(b, name);
    if (a == NULL)
        return true;
    bool good = a->width == width && (a->axis == XLM_AXIS_OWN) == (width > 1) &&
                (a->axis == XLM_AXIS_OWN || a->length == b->corrupted.tokens);
    for (int64_t i = 0; i < (int64_t)a->length * a->width && good; i++)
        good = a->values[i] >= min && a->values[i] < end;
    return good || xlm_error_set(error, EX_USAGE, "the annotation \"%s\" of the batch has another shape or a value that is out of "
                                 "range", name);
}

/* Refuses texts that would end the program or be read out of bounds. name: of the text, for messages. */
static bool check_text(const xlm_text *t, const char *name, const xlm_model_config *model, GError **error)
{
    if (t->offsets == NULL || t->ids == NULL || t->unmasked == NULL || t->positions == NULL || t->languages == NULL ||
        t->unswitched == NULL || t->types == NULL || t->keys == NULL || t->specials == NULL || t->sequences < 1 ||
        t->offsets[0] != 0 || t->offsets[t->sequences] != t->tokens)
        return xlm_error_set(error, EX_USAGE, "the %s text of the batch lacks an array, or its offsets do not run from 0 to its "
                             "tokens", name);
    for (int32_t s = 0; s < t->sequences; s++)
        if (t->offsets[s] >= t->offsets[s + 1])
            return xlm_error_set(error, EX_USAGE, "sequence %d of the %s text of the batch is empty", s, name);
    const struct {
        const int32_t *values;
        int64_t end;
    } arrays[] = {{t->ids, model->vocabulary},       {t->unmasked, model->vocabulary},  {t->positions, model->positions},
                  {t->languages, model->languages}, {t->unswitched, model->languages}, {t->types, 2}};
    for (size_t k = 0; k < G_N_ELEMENTS(arrays); k++)
        for (int32_t i = 0; i < t->tokens; i++)
            if (arrays[k].values[i] < 0 || arrays[k].values[i] >= arrays[k].end)
                return xlm_error_set(error, EX_USAGE, "token %d of the %s text of the batch has an id, position, language or type that "
                                     "the model does not have", i, name);
    return true;
}

static bool check_batch(const xlm_batch *b, const xlm_model_config *model, GError **error)
{
    if (!check_text(&b->original, "original", model, error) || !check_text(&b->corrupted, "corrupted", model, error))
        return false;
    const int32_t tokens = b->corrupted.tokens;
    if (!b->noise && (b->original.tokens != tokens || memcmp(b->original.offsets, b->corrupted.offsets,
                                                             sizeof *b->original.offsets * ((size_t)b->original.sequences + 1)) != 0))
        return xlm_error_set(error, EX_USAGE, "the texts of the batch have different rows, which only noise can cause; set its "
                             "noise");
    if (b->original.sequences != b->corrupted.sequences || b->predicted < 0 ||
        (b->predicted > 0 && (b->predicted_rows == NULL || b->targets == NULL)))
        return xlm_error_set(error, EX_USAGE, "the texts of the batch have different numbers of sequences, or it lacks an array");
    for (int32_t k = 0; k < b->predicted; k++)
        if (b->predicted_rows[k] < (k > 0 ? b->predicted_rows[k - 1] + 1 : 0) || b->predicted_rows[k] >= tokens ||
            b->targets[k] < 0 || b->targets[k] >= model->vocabulary)
            return xlm_error_set(error, EX_USAGE, "predicted row %d of the batch is out of order or range, or its target is", k);
    return check_annotation(b, "links", 2, 0, tokens, error) &&
           check_annotation(b, "translations", 1, -1, model->vocabulary, error) &&
           check_annotation(b, "translation_languages", 1, -1, model->languages, error);
}

/* ---- the objective in its host ---- */

typedef struct hosted {
    xlm_model_config config;
    xlm_parameters *parameters;
    xlm_model *model;
    xlm_resources *resources;
    xlm_host *host;
    xlm_tape *tape;
    xlm_arena *arena;
    double *averaged; /* weights of the average */
    char **words;
    int64_t *counts;
    const char **languages;
    const char *components[2]; /* of the stream, NULL-terminated */
    GPtrArray *annotations; /* their names, NULL-terminated */
} hosted;

/* Makes names and counts of subwords, and names of languages, which `open` may read. */
static void describe(hosted *h)
{
    h->words = g_new0(char *, h->config.vocabulary + 1);
    h->counts = g_new(int64_t, MAX(h->config.vocabulary, 1));
    for (int64_t i = 0; i < h->config.vocabulary; i++) {
        h->words[i] = g_strdup_printf("w%" G_GINT64_FORMAT, i);
        h->counts[i] = 1 + i % 7;
    }
    h->languages = g_new0(const char *, MAX(h->config.languages, 1));
    for (int64_t i = 0; i < h->config.languages; i++)
        h->languages[i] = i == 0 ? "first" : "other";
}

static bool open_host(const xlm_loss_check *check, const xlm_batch *batch, void *state, hosted *h, GError **error)
{
    const bool translates = batch != NULL && xlm_batch_find_annotation(batch, "translations") != NULL;
    for (const xlm_annotation *a = batch != NULL ? batch->annotations : NULL; a != NULL; a = a->next)
        g_ptr_array_add(h->annotations, (void *)(uintptr_t)a->name);
    g_ptr_array_add(h->annotations, NULL);
    h->components[0] = h->config.languages > 1 ? "first-other" : "first-first"; /* as describe names them */
    const xlm_loss_stream own = {
        .name = "check", .components = h->components, .batch = batch != NULL ? batch->corrupted.sequences : 0,
        .noise = batch != NULL && batch->noise, .parallel = true, .mask = 0.15,
        .alignments = batch != NULL && xlm_batch_find_annotation(batch, "links") != NULL,
        .dictionary = check->dictionary != NULL ? check->dictionary : translates ? xlm_check_dictionary() : NULL,
        .annotations = (const char *const *)h->annotations->pdata,
    };
    const xlm_loss_stream *stream = check->stream != NULL ? check->stream : &own;
    if (stream->noise != own.noise)
        return xlm_error_set(error, EX_USAGE, "the batch and the stream of the check must both have noise, or both none");
    const xlm_objective_spec spec = {.name = check->cls->name, .cls = check->cls, .state = state,
                                     .stream = batch != NULL ? 0 : -1};
    describe(h);
    h->parameters = xlm_parameters_new();
    h->model = xlm_model_new(&h->config, h->parameters);
    h->resources = xlm_resources_new(readers, &(xlm_resource_origin){0});
    const xlm_host_setup setup = {
        .model = h->model, .resources = h->resources, .streams = batch != NULL, .stream = stream, .objectives = 1, .objective = &spec,
        .about = {.model = &h->config, .words = (const char *const *)h->words, .counts = h->counts,
                  .specials = (batch != NULL ? batch : xlm_check_batch())->corrupted.specials, .languages = h->languages,
                  .seed = SEED,
                  .steps = 100, .warmup = 10},
    };
    h->host = xlm_host_open(&setup, h->parameters, error);
    if (h->host == NULL)
        return false;
    xlm_parameters_seal(h->parameters);
    const int64_t n = xlm_parameters_size(h->parameters);
    const xlm_rng_key key = xlm_rng_make_key(SEED, XLM_RNG_CHECK, 0);
    double *values = xlm_parameters_values(h->parameters);
    h->averaged = g_new(double, n);
    for (int64_t i = 0; i < n; i++) {
        values[i] = 1.4 * xlm_rng_unit(xlm_rng_draw(key, (uint32_t)i, (uint32_t)(i >> 32), 0, 0).v[0]) - 0.7;
        h->averaged[i] = 0.9 * values[i];
    }
    h->tape = xlm_tape_new(h->parameters);
    h->arena = xlm_arena_new();
    return true;
}

static void close_host(hosted *h)
{
    xlm_host_close(h->host);
    xlm_resources_free(h->resources);
    if (h->tape != NULL)
        xlm_tape_free(h->tape);
    if (h->arena != NULL)
        xlm_arena_free(h->arena);
    if (h->model != NULL)
        xlm_model_free(h->model);
    if (h->parameters != NULL)
        xlm_parameters_free(h->parameters);
    g_free(h->averaged);
    g_strfreev(h->words);
    g_free(h->counts);
    g_free(h->languages);
    g_ptr_array_unref(h->annotations);
}

/* The batch with its terms and labels. */
static xlm_pass_input make_input(const hosted *h, const xlm_batch *batch, int64_t step)
{
    xlm_pass_input input = {.stream = batch != NULL ? 0 : -1, .batch = batch, .parts = 1, .step = step, .only = -1};
    xlm_host_count(h->host, &input, h->arena);
    for (int average = -1; average < xlm_host_averages(h->host); average++)
        if (xlm_host_has_labels(h->host, average)) {
            xlm_tape_begin(h->tape, NULL, true, SEED, (uint64_t)step);
            xlm_host_label(h->host, h->tape, &input, average, average < 0 ? NULL : h->averaged);
        }
    return input;
}

/* Calls the hooks of a training step, without an update. */
static void make_step(const hosted *h, const xlm_batch *batch, int64_t step)
{
    xlm_host_begin_step(h->host);
    const xlm_pass_input input = make_input(h, batch, step);
    xlm_differences_pass(&(xlm_differences){h->host, h->parameters, h->tape, &input, SEED}, NULL, NULL);
    size_t bytes;
    const void *own = xlm_host_published(h->host, 0, &bytes);
    GByteArray *published = g_byte_array_new();
    g_byte_array_append(published, own, (guint)bytes);
    xlm_host_finish_step(h->host, step, &published);
    g_byte_array_unref(published);
}

static bool check_objective(const xlm_loss_check *check, void *state, FILE *table, GError **error)
{
    hosted h = {.annotations = g_ptr_array_new()};
    const xlm_batch *batch = !check->cls->needs_stream ? NULL : check->batch != NULL ? check->batch : xlm_check_batch();
    bool good = set_model(check, &h.config, error) && (batch == NULL || check_batch(batch, &h.config, error)) &&
                open_host(check, batch, state, &h, error);
    if (good) {
        for (int64_t step = 0; step < STEPS; step++)
            make_step(&h, batch, step);
        const xlm_pass_input input = make_input(&h, batch, STEPS);
        double largest = 0;
        good = xlm_differences_check(&(xlm_differences){h.host, h.parameters, h.tape, &input, SEED}, table, &largest, error);
        if (good && largest == 0)
            good = xlm_error_set(error, EX_SOFTWARE, "no parameter has a gradient");
    }
    close_host(&h);
    return good;
}

bool xlm_loss_check_gradients(const xlm_loss_check *check, FILE *table, char *message, size_t size)
{
    GError *error = NULL;
    const xlm_loss_class *cls = check->cls;
    if (cls->abi != XLM_LOSS_ABI) {
        g_snprintf(message, size, "the class is of plugin ABI %u, not %u; compile it with -DXLM_DOUBLE and this version's xlm/loss.h",
                   cls->abi, XLM_LOSS_ABI);
        return false;
    }
    void *state = g_malloc0(MAX(cls->state_size, 1));
    running = check;
    const bool usable = xlm_host_check_class(cls, &error) && xlm_options_check_table(cls->options, cls->state_size, &error);
    const bool good = usable && set_options(check, state, &error) && check_objective(check, state, table, &error);
    running = NULL;
    if (usable)
        xlm_options_free(cls->options, state);
    g_free(state);
    const char *name = cls->name != NULL ? cls->name : "the plugin";
    g_snprintf(message, size, "%s%s%s", good ? "" : name, good ? "" : ": ", good ? "" : error->message);
    g_clear_error(&error);
    return good;
}
