/* xlm-mpi: checkpoints made to do harm: an error that says what is wrong, never a crash. SPDX-License-Identifier:
 * GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "run_fixture.h"

#include "../unit/hostile.h"
#include "corpus/corpus_file.h"
#include "foreign/convert.h"
#include "prep/like.h"
#include "tasks/task.h"
#include "tasks/tune_job.h"

#define T40 ((int64_t)1 << 40)
#define T62 ((int64_t)1 << 62)

#define QUERY "/model/encoder/layer.0/attention/query/weight"
#define OWN_WORDS "/model/decoder/embeddings/word/weight"
#define FIRST "/optimiser/first_moment/encoder/layer.0/attention/query/weight"
#define SECOND "/optimiser/second_moment/encoder/layer.0/attention/query/weight"

enum { V = SUBWORDS + XLM_SPECIALS };

/* Changes that a tool which reads the model must refuse. */
static const change model_changes[] = {
    {"/model", "layers", SET_INT, -1, .expected = "/model: layers = -1: must be an integer from 1 to 1000"},
    {"/model", "layers", SET_INT, 0, .expected = "layers = 0"},
    {"/model", "layers", SET_INT, T62, .expected = "layers = 4611686018427387904"},
    {"/model", "layers", SET_INT, 1000000, .expected = "layers = 1000000"},
    {"/model", "layers", SET_INT, 1000, .expected = "it has no /model/encoder/layer.1/"},
    {"/model", "hidden_size", SET_INT, 0, .expected = "hidden_size = 0"},
    {"/model", "hidden_size", SET_INT, -16, .expected = "hidden_size = -16"},
    {"/model", "hidden_size", SET_INT, (int64_t)1 << 31, .expected = "hidden_size = 2147483648"},
    {"/model", "hidden_size", SET_INT, T40, .expected = "hidden_size = 1099511627776"},
    {"/model", "hidden_size", SET_INT, 1 << 20, .expected = "it has no /model/embeddings/projection/weight"},
    {"/model", "attention_heads", SET_INT, 0, .expected = "attention_heads = 0"},
    {"/model", "attention_heads", SET_INT, -1, .expected = "attention_heads = -1"},
    {"/model", "attention_heads", SET_INT, T40, .expected = "attention_heads = 1099511627776"},
    {"/model", "attention_heads", SET_INT, 3, .expected = "attention_heads = 3 does not divide hidden_size = 16"},
    {"/model", "positions", SET_INT, -1, .expected = "positions = -1"},
    {"/model", "positions", SET_INT, T40, .expected = "positions = 1099511627776"},
    {"/model", "positions", SET_INT, 1 << 20, .expected = "/model/embeddings/position/weight is 34 x 16 there, 1048578 x 16 "
     "here"},
    {"/model", "position_offset", SET_INT, -40, .expected = "position_offset = -40"},
    {"/model", "position_offset", SET_INT, T40, .expected = "position_offset = "},
    {"/model", "position_type", SET_TEXT, .text = "none", .expected = "/model: position_type = none: is not one of"},
    {"/model", "feed_forward_size", SET_INT, -1, .expected = "feed_forward_size = -1"},
    {"/model", "feed_forward_size", SET_INT, T40, .expected = "feed_forward_size = "},
    {"/model", "feed_forward_size", SET_INT, 1 << 22, .expected = " there, "},
    {"/model", "embedding_size", SET_INT, -1, .expected = "embedding_size = -1"},
    {"/model", "embedding_size", SET_INT, T40, .expected = "embedding_size = "},
    {"/model", "embedding_size", SET_INT, 8, .expected = "/model/embeddings/word/weight is 55 x 16 there, 55 x 8 here"},
    {"/model", "dropout", SET_REAL, .r = NAN, .expected = "/model: dropout = nan: must be a number from 0 to 0.99"},
    {"/model", "dropout", SET_REAL, .r = 2, .expected = "dropout = 2"},
    {"/model", "attention_dropout", SET_REAL, .r = -0.5, .expected = "attention_dropout = -0.5"},
    {"/model", "layer_norm_epsilon", SET_REAL, .r = INFINITY, .expected = "layer_norm_epsilon = inf"},
    {"/model", "activation", SET_TEXT, .text = "elu", .expected = "/model: activation = elu: is not one of"},
    {"/model", "head", SET_TEXT, .text = "gpt", .expected = "/model: head = gpt"},
    {"/model", "share_layers", SET_TEXT, .text = "perhaps", .expected = "/model: share_layers = perhaps"},
    {"/model", "decoder_layers", SET_INT, 0, .expected = "/model: share_embeddings = false is for a decoder"},
    {"/model", "decoder_layers", SET_INT, 2, .expected = "it has no /model/decoder/layer.1/"},
    {"/model", "share_embeddings", SET_TEXT, .text = "perhaps", .expected = "/model: share_embeddings = perhaps"},
    {"/model", "share_embeddings", SET_INT, 0, .expected = "attribute 'share_embeddings' is not a text"},
    {OWN_WORDS, NULL, REMOVE, .expected = "it has no " OWN_WORDS},
    {OWN_WORDS, NULL, RESHAPE, V + 1, 16, .expected = OWN_WORDS " is 56 x 16 there, 55 x 16 here"},
    {OWN_WORDS, NULL, ELEMENT_REAL, 17, .r = NAN, .expected = OWN_WORDS ": element 17 is nan"},
    {"/model/decoder/lm_head/bias", NULL, REMOVE, .expected = "it has no /model/decoder/lm_head/bias"},
    {"/model", "vocabulary_chunk", SET_INT, 0, .expected = "vocabulary_chunk = 0"},
    {"/model", "vocabulary", SET_INT, V + 1, .expected = "/model: vocabulary = 56, but there are 55 words"},
    {"/model", "vocabulary", SET_INT, V - 1, .expected = "/model: vocabulary = 54, but there are 55 words"},
    {"/model", "vocabulary", SET_INT, -1, .expected = "/model: vocabulary = -1"},
    {"/model", "vocabulary", SET_INT, T40, .expected = "/model: vocabulary = 1099511627776"},
    {"/model", "languages", SET_INT, T40, .expected = "/model: languages = 1099511627776"},
    {"/model", "languages", SET_INT, 3, .expected = "/model: languages = 3, but there are 2"},
    {"/model", "languages", SET_INT, 0, .expected = "/model: languages = 0"},
    /* wrong types */
    {"/model", "layers", SET_REAL, .r = 1, .expected = "attribute 'layers' is not a whole number"},
    {"/model", "layers", SET_UNSIGNED, -1, .expected = "attribute 'layers' is not a whole number"},
    {"/model", "layers", SET_TWO, 1, .expected = "attribute 'layers' is not a whole number"},
    {"/model", "layers", REMOVE, .expected = "has no attribute 'layers'"},
    {"/model", "activation", SET_INT, 0, .expected = "attribute 'activation' is not a text"},
    {"/model", "norm_first", SET_TEXT, .text = "true", .expected = "/model: norm_first is no key that this version knows"},
    {"/model", "dropout", SET_INT, 0, .expected = "attribute 'dropout' is not a floating-point number"},
    {"/model", "head", SET_INT, 0, .expected = "attribute 'head' is not a text"},
    {QUERY, NULL, RETYPE_INT, 1, .expected = "its elements are not floating-point numbers"},
    {QUERY, NULL, RESHAPE, 256, .expected = QUERY " is "},
    {QUERY, NULL, RESHAPE, 16, 17, .expected = QUERY " is 16 x 17 there"},
    {QUERY, NULL, REMOVE, .expected = "it has no " QUERY},
    {QUERY, NULL, UNALLOCATED, 16, 16, .expected = QUERY ": says that it has more elements"},
    {QUERY, NULL, UNALLOCATED, T40, T40, .expected = QUERY ": says that it has more elements"},
    {QUERY, NULL, EXTERNAL, .expected = QUERY ": has its elements in another file"},
    {QUERY, NULL, SOFT_LINK, .text = "/model/encoder/layer.0/attention/key/weight", .expected = QUERY ": is a link"},
    {"/task", NULL, OUTER_LINK, .text = "/tmp/other.h5", .expected = "/task: is a link"},
    {QUERY, NULL, SECOND_NAME, .text = "/model/encoder/layer.0/attention/key/weight", .expected = ": is there under two names"},
    {"/model/encoder/layer.0/attention/query", NULL, SECOND_NAME, .text = "/model", .expected = "/model: is there under two names"},
    {QUERY, NULL, ELEMENT_REAL, 17, .r = NAN, .expected = QUERY ": element 17 is nan"},
    {QUERY, NULL, ELEMENT_REAL, 0, .r = INFINITY, .expected = QUERY ": element 0 is inf"},
    /* the head of the file */
    {"/", "step", SET_INT, -1, .expected = "step = -1"},
    {"/", "step", SET_INT, T62, .expected = "step = 4611686018427387904"},
    {"/", "step", SET_REAL, .r = 3, .expected = "'step' is not a whole number"},
    {"/", "format", SET_TEXT, .text = "xlm-mpi corpus", .expected = "not a checkpoint"},
    {"/", "format_version", SET_INT, 2, .expected = "has format version 2, which is of a newer version of xlm-mpi; this program "
     "reads versions up to 1: use the version that wrote the file, or a later one"},
    {"/", "format_version", SET_INT, 0, .expected = "has format version 0, this program reads 1"},
    {"/", "header_digest", REMOVE, .expected = "has no header_digest"},
    /* the vocabulary */
    {"/vocabulary", "format_version", SET_INT, 5, .expected = "/vocabulary: has format version 5, which is of a newer version of "
     "xlm-mpi; this program reads versions up to 4: use the version that wrote the file, or a later one"},
    {"/vocabulary", "format_version", SET_INT, 0, .expected = "/vocabulary: attribute format_version is less than 1"},
    {"/vocabulary", "specials", SET_INT, 4, .expected = "not the number of special tokens"},
    {"/vocabulary", "mask", SET_INT, -T40, .expected = "mask = -1 is not an id"},
    {"/vocabulary", "mask", SET_INT, T40, .expected = "a word is missing"},
    {"/vocabulary", "unk", SET_INT, 2, .expected = "unk = 2 is the id of another special token"},
    {"/vocabulary", "pad", REMOVE, .expected = "pad"},
    {"/vocabulary", "words", SET_TEXT, .text = "runes", .expected = "neither `icu` nor `space`"},
    {"/vocabulary", "segmenter", SET_TEXT, .text = "runes", .expected = "segmenter is \"runes\", which this version"},
    {"/vocabulary/words", NULL, UNALLOCATED, T40, .expected = "/vocabulary/words: says that it has more elements"},
    {"/vocabulary/words", NULL, RETYPE_INT, 1, .expected = "/vocabulary/words: is not a list of fixed-length strings"},
    {"/vocabulary/words", NULL, ELEMENT_TEXT, 7, .text = "w\xff", .expected = "is not UTF-8"},
    {"/vocabulary/words", NULL, ELEMENT_TEXT, 7, .text = "", .expected = "empty subword"},
    {"/vocabulary/words", NULL, ELEMENT_TEXT, 7, .text = "wört40", .expected = "a word is missing or occurs twice"},
    {"/vocabulary/words", NULL, RESHAPE, V - 1, .expected = "/vocabulary/counts: its shape is 55"},
    {"/vocabulary/counts", NULL, ELEMENT_INT, -5, .r = 9, .expected = "counts are negative"},
    {"/vocabulary/counts", NULL, RETYPE_INT, T62, .expected = "too large to be added up"},
    {"/vocabulary/counts", NULL, RETYPE_REAL, .r = 1, .expected = "its elements are not integers"},
    {"/vocabulary/counts", NULL, RESHAPE, V, 2, .expected = "/vocabulary/counts: its shape is 55"},
    {"/vocabulary/counts", NULL, UNALLOCATED, V, .expected = "/vocabulary/counts: says that it has more elements"},
    {"/vocabulary/codes", NULL, ELEMENT_TEXT, 0, .text = "w", .expected = "/vocabulary/codes"},
    {"/vocabulary/codes", NULL, REMOVE, .expected = "has no /vocabulary/codes"},
    {"/languages", NULL, ELEMENT_TEXT, 0, .text = "de", .expected = "/languages: are not names"},
    {"/languages", NULL, ELEMENT_TEXT, 0, .text = "", .expected = "/languages: are not names"},
    {"/languages", NULL, UNALLOCATED, T40, .expected = "/languages: says that it has more elements"},
    /* the task */
    {"/task", "length", SET_INT, -1, .expected = "/task: length = -1: must be from 3 to the model's 32 positions"},
    {"/task", "length", SET_INT, T40, .expected = "/task: length = 1099511627776"},
    {"/task", "length", SET_TEXT, .text = "16", .expected = "'length' is not a whole number"},
    {"/task", "language", SET_TEXT, .text = "tlh", .expected = "/task: language = tlh"},
    {"/task", "options", SET_INT, 3, .expected = "'options' is not a text"},
    {"/task", "name", REMOVE, .expected = "has no attribute 'name'"},
    {"/task/labels", NULL, ELEMENT_TEXT, 1, .text = "", .expected = "/task/labels: label 1"},
    {"/task/labels", NULL, ELEMENT_TEXT, 2, .text = "A", .expected = "/task/labels: label 2"},
    {"/task/labels", NULL, ELEMENT_TEXT, 2, .text = "\xff", .expected = "/task/labels: label 2"},
    {"/task/labels", NULL, UNALLOCATED, T40, .expected = "/task/labels: says that it has more elements"},
    {"/task/languages", NULL, ELEMENT_TEXT, 0, .text = "tl", .expected = "/task/languages: tl, which is not one of /languages"},
    {"/task/languages", NULL, ELEMENT_TEXT, 0, .text = "en", .expected = "/task/languages: en occurs there twice"},
};

/* Changes that a resuming run must refuse. */
static const change run_changes[] = {
    {"/", "step", SET_INT, -1, .expected = "step = -1"},
    {"/", "corpus_digest", SET_INT, 1, .expected = "'corpus_digest' is not a text"},
    {"/generator", "seed", SET_REAL, .r = 7, .expected = "'seed' is not a whole number"},
    {QUERY, NULL, ELEMENT_REAL, 3, .r = NAN, .expected = QUERY ": element 3 is nan"},
    {FIRST, NULL, ELEMENT_REAL, 3, .r = NAN, .expected = FIRST ": element 3 is nan"},
    {FIRST, NULL, ELEMENT_REAL, 3, .r = -INFINITY, .expected = FIRST ": element 3 is -inf"},
    {SECOND, NULL, ELEMENT_REAL, 255, .r = -1e-3, .expected = SECOND ": element 255 is -0.001, where a mean of squares belongs"},
    {SECOND, NULL, RETYPE_INT, 1, .expected = SECOND ": its elements are not floating-point numbers"},
    {SECOND, NULL, UNALLOCATED, 16, 16, .expected = SECOND ": says that it has more elements"},
    {SECOND, NULL, RESHAPE, 8, 32, .expected = "does not fit the job: " SECOND " is 8 x 32 there"},
    {"/task/best", NULL, ELEMENT_REAL, 0, .r = NAN, .expected = "/task/best: a score of nan"},
    {"/task/best", NULL, ELEMENT_REAL, 1, .r = NAN, .expected = "at step nan"},
    {"/task/best", NULL, ELEMENT_REAL, 1, .r = -3, .expected = "at step -3"},
    {"/task/best", NULL, ELEMENT_REAL, 1, .r = 1e300, .expected = "at step 1e+300"},
    {"/task/best", NULL, ELEMENT_REAL, 1, .r = 21, .expected = "at step 21 in a checkpoint of step 20"},
    {"/task/best", NULL, RESHAPE, 3, .expected = "/task/best has 3 numbers there, 2 here"},
    {"/task/best", NULL, RETYPE_INT, 3, .expected = "/task/best: its elements are not floating-point numbers"},
    {"/task/from_best", NULL, ELEMENT_INT, -1, .expected = "/task/from_best: -1 evaluations in a checkpoint of step 20"},
    {"/task/from_best", NULL, ELEMENT_INT, 21, .expected = "/task/from_best: 21 evaluations"},
    {"/task/labels", NULL, ELEMENT_TEXT, 2, .text = "B", .expected = "its labels are A, B, B; here A, B, C"},
    {"/objectives/contrast/queue", NULL, UNALLOCATED, T40, .expected = "/objectives/contrast/queue: says that it has more "
     "elements"},
};

static char *labels[] = {(char *)"A", (char *)"B", (char *)"C", NULL};
static char *languages[] = {(char *)"de", (char *)"en", NULL};
static const xlm_model_task task = {.name = (char *)"tagging", .language = (char *)"en", .length = 16,
                                         .options = (char *)"column = upos\n", .labels = labels, .languages = languages};

static run *make_tuned(const xlm_comm *comm)
{
    run *r = make_run(comm, 16, true);
    g_free(r->saved[1].values);
    r->saved[1] = (xlm_saved_state){.path = XLM_CHECKPOINT_BEST, .type = XLM_STATE_F64, .values = g_new0(double, 2), .n = 2};
    r->saved[2] = (xlm_saved_state){.path = XLM_CHECKPOINT_FROM_BEST, .type = XLM_STATE_I64, .values = g_new0(int64_t, 1), .n = 1,
                                    .optional = true};
    r->state.saved_states = 3;
    r->state.task = &task;
    fill(r, 20);
    *(int64_t *)r->saved[2].values = 3;
    ((double *)r->saved[1].values)[0] = 0.75;
    ((double *)r->saved[1].values)[1] = 10;
    return r;
}

/* The file of these bytes, with the change. */
static void write_changed(const xlm_comm *comm, const char *path, const char *bytes, gsize size, const change *c)
{
    CHECK(g_file_set_contents(path, bytes, (gssize)size, NULL));
    if (!make_change(path, c)) {
        fprintf(stderr, "%s %s: the change was not made\n", c->object, c->name != NULL ? c->name : "");
        failures++;
    }
}

/* By one process, as tools read. */
static void models_are_refused(const xlm_comm *comm, const char *path, const char *bytes, gsize size)
{
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    for (size_t i = 0; i < G_N_ELEMENTS(model_changes); i++) {
        const change *c = &model_changes[i];
        GError *error = NULL;
        write_changed(comm, path, bytes, size, c);
        xlm_loaded_model *loaded = xlm_model_file_read(path, &error);
        if (loaded != NULL || error->code != EX_DATAERR || strstr(error->message, c->expected) == NULL ||
            strstr(error->message, path) == NULL) {
            fprintf(stderr, "%s %s: no \"%s\" in: %s\n", c->object, c->name != NULL ? c->name : "", c->expected,
                    error != NULL ? error->message : "a model");
            failures++;
        }
        g_clear_error(&error);
        xlm_model_file_free(loaded);
    }
    /* Kilobytes. Sanitizers keep what was freed. */
    getrusage(RUSAGE_SELF, &after);
    CHECK(after.ru_maxrss - before.ru_maxrss < 512 << 10);
}

/* Files of before languages of training were kept have the one that was named, or none. */
static void languages_are_read(const xlm_comm *comm, const char *path, const char *bytes, gsize size)
{
    static const change removal = {.object = "/task/languages", .kind = REMOVE};
    xlm_loaded_model *loaded;
    write_changed(comm, path, bytes, size, &removal);
    GOOD((loaded = xlm_model_file_read(path, &error)) != NULL);
    CHECK(g_strv_equal((const char *const *)loaded->task->languages, (const char *const[]){"en", NULL}));
    xlm_model_file_free(loaded);
}

/* A key of [model] that the file was written before has its default. */
static void keys_have_defaults(const xlm_comm *comm, const char *path, const char *bytes, gsize size)
{
    static const change other = {.object = "/model", .name = "activation", .kind = SET_TEXT, .text = "gelu_tanh"},
                        removal = {.object = "/model", .name = "activation", .kind = REMOVE},
                        shared = {.object = "/model", .name = "share_embeddings", .kind = REMOVE};
    for (int removed = 0; removed <= 1; removed++) {
        xlm_loaded_model *loaded;
        write_changed(comm, path, bytes, size, removed ? &removal : &other);
        GOOD((loaded = xlm_model_file_read(path, &error)) != NULL);
        CHECK(loaded->config.activation == (removed ? XLM_GELU : XLM_GELU_TANH) && !loaded->config.share_embeddings);
        xlm_model_file_free(loaded);
    }
    xlm_loaded_model *before;
    write_changed(comm, path, bytes, size, &shared);
    GOOD((before = xlm_model_file_read(path, &error)) != NULL);
    CHECK(before->config.share_embeddings && xlm_parameters_find(before->parameters, "decoder/embeddings/word/weight") < 0);
    xlm_model_file_free(before);
}

/* xlm_prep --like reads no more of a file of a newer version. */
static void newer_vocabularies_are_refused(const xlm_comm *comm, const char *path, const char *bytes, gsize size)
{
    static const char *const formats[] = {XLM_CORPUS_FORMAT, XLM_CHECKPOINT_FORMAT, XLM_MODEL_FILE_FORMAT};
    static const change newer = {.object = "/", .name = "format_version", .kind = SET_INT, .i = 2};
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
        const change format = {.object = "/", .name = "format", .kind = SET_TEXT, .text = formats[i]};
        xlm_prep_options *options = xlm_prep_options_new();
        write_changed(comm, path, bytes, size, &format);
        GOOD(xlm_prep_set_like(options, path, &error));
        xlm_prep_options_free(options);
        options = xlm_prep_options_new();
        CHECK(make_change(path, &newer));
        BAD(xlm_prep_set_like(options, path, &error), EX_DATAERR, path, "has format version 2, which is of a newer version");
        xlm_prep_options_free(options);
    }
}

/* A task without classes has no head that another program knows. */
static void tasks_without_classes_are_not_exported(const xlm_comm *comm, const char *path, const char *directory)
{
    static char *none[] = {NULL};
    xlm_model_task empty = task;
    empty.labels = none;
    run *r = make_run_of(comm, 16, false, false);
    xlm_model_config config = r->config;
    config.decoder_layers = 0;
    config.language_embeddings = false;
    config.share_embeddings = config.norm_biases = config.linear_biases = true;
    GOOD(xlm_model_check(&config, &error));
    xlm_parameters *p = xlm_parameters_new();
    xlm_model *model = xlm_model_new(&config, p);
    xlm_parameters_seal(p);
    g_remove(path);
    xlm_store *store;
    GOOD((store = xlm_store_create(comm, path, &error)) != NULL);
    GOOD(xlm_model_file_write_origin(store, comm, XLM_MODEL_FILE_FORMAT, p, &error));
    GOOD(xlm_model_file_write_content(store, comm, &config, p, r->vocabulary, &empty, &error));
    GOOD(xlm_store_commit(store, &error));
    g_autofree char *output = g_build_filename(directory, "published", NULL);
    BAD(xlm_convert_export(path, output, &error), EX_DATAERR, path,
        "/task/labels: has no names of classes, which the task tagging needs");
    xlm_model_free(model);
    xlm_parameters_free(p);
    free_run(r);
}

/* The task checks what /task says. */
static void tasks_are_refused(const xlm_comm *comm)
{
    static const char *const options[] = {"columm = upos\n", "choose_by = luck\n", "[model]\nlayers = -1\n", "column\n",
                                          "column = upos\ncolumn = xpos\n"};
    const xlm_task *tagging;
    GOOD((tagging = xlm_task_find("tagging", &error)) != NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(options); i++)
        BAD(xlm_task_state_read(tagging, "tuned.h5", options[i], NULL, &error) != NULL, EX_DATAERR, "tuned.h5", "");
}

static void runs_are_refused(const xlm_comm *comm, const char *path, const char *bytes, gsize size)
{
    run *r = make_tuned(comm);
    for (size_t i = 0; i < G_N_ELEMENTS(run_changes); i++) {
        xlm_comm_barrier(comm);
        if (comm->rank == 0)
            write_changed(comm, path, bytes, size, &run_changes[i]);
        xlm_comm_barrier(comm);
        BAD(xlm_checkpoint_read(comm, path, &r->state, &error), EX_DATAERR, run_changes[i].expected, path);
        CHECK(r->state.step == 20);
    }
    free_run(r);
}

int main(int argc, char **argv)
{
    xlm_comm world, *comm = &world;
    xlm_comm_open(comm, "hostile_test", &argc, &argv);
    char *directory = make_directory(comm), *path = xlm_checkpoint_path(directory, 20), *bytes = NULL;
    gsize size = 0;
    run *r = make_tuned(comm);
    GOOD(xlm_checkpoint_write(comm, directory, &r->state, 1, &error));
    GOOD(xlm_checkpoint_read(comm, path, &r->state, &error));
    if (comm->rank == 0) {
        xlm_loaded_model *loaded;
        GOOD((loaded = xlm_model_file_read(path, &error)) != NULL);
        CHECK(g_strv_equal((const char *const *)loaded->task->languages, (const char *const *)languages));
        xlm_model_file_free(loaded);
        CHECK(g_file_get_contents(path, &bytes, &size, NULL));
    }
    if (comm->ranks == 1)
        models_are_refused(comm, path, bytes, size), languages_are_read(comm, path, bytes, size),
            keys_have_defaults(comm, path, bytes, size), tasks_are_refused(comm),
            newer_vocabularies_are_refused(comm, path, bytes, size),
            tasks_without_classes_are_not_exported(comm, path, directory);
    if (comm->ranks <= 2)
        runs_are_refused(comm, path, bytes, size);
    free_run(r);
    g_free(bytes);
    g_free(path);
    remove_directory(comm, directory);
    int64_t all = failures;
    xlm_comm_sum_int64(comm, &all, 1);
    const int code = xlm_comm_close(comm, NULL);
    return all == 0 ? code : EXIT_FAILURE;
}
