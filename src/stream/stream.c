/* xlm-mpi: streams, what the encoder reads at each step. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/stream.h"

#include "base/rng.h"
#include "stream/masking.h"
#include "stream/packing.h"
#include "stream/sources.h"
#include "stream/switching.h"
#include "stream/translations.h"

#define OPTION(name, type, fallback, least, most, choices, help) \
    {#name, XLM_OPTION_##type, fallback, least, most, choices, help, offsetof(xlm_stream_config, name)}

enum { MOST_BATCH = 1 << 24, MOST_STREAMS = 256 }; /* a row key has 24 bits for the instance, 8 for the stream */

const xlm_option xlm_stream_options[] = {
    OPTION(type, CHOICE, "monolingual", 0, 0, "monolingual|parallel", "text that is read"),
    OPTION(languages, LIST, "", 0, 0, NULL,
           "languages (en,de) or, for type parallel, pairs (de-en,fr-en), source first; all of the corpus when empty"),
    OPTION(alpha, REAL, "0.7", 0, 1, NULL,
           "languages are drawn in proportion to their share of the tokens (pairs: of the pairs) to this power"),
    OPTION(batch, INT, "32", 1, MOST_BATCH, NULL, "instances a step, over all ranks"),
    OPTION(length, INT, "128", 4, 65536, NULL,
           "most tokens of an instance, special ones included; for form xlm of each half"),
    OPTION(form, CHOICE, "xlm", 0, 0, "xlm|bert",
           "type parallel: several pairs, source half and target half with positions of their own (xlm); one pair, "
           "<s> S </s> T </s> (bert)"),
    OPTION(shuffle_sides, FLAG, "false", 0, 0, NULL,
           "type parallel: draw for each instance which side comes first (PPA)"),
    OPTION(mask, REAL, "0.15", 0, 1, NULL, "share of the ordinary tokens that is predicted; 0: none"),
    OPTION(mask_token, REAL, "0.8", 0, 1, NULL, "share of those that is replaced by <mask>"),
    OPTION(mask_random, REAL, "0.1", 0, 1, NULL, "share of those that is replaced by a random token; the rest stays"),
    OPTION(dictionary, TEXT, "", 0, 0, NULL,
           "dictionary by which tokens are switched to the other language (DICT-MLM), from xlm_dict"),
    OPTION(switching, REAL, "0", 0, 1, NULL,
           "with a dictionary: share of the predicted tokens that is switched instead (DICT-MLM: 0.5): a translation, drawn if "
           "there are several, and its language take the place of token and language; a token without one stays"),
    OPTION(share, REAL, "1", 0, 1, NULL,
           "type parallel: share of the pairs that is read in training, drawn once with the seed (ALIGN-MLM: 0.01, 0.1, "
           "0.25, 1); a smaller one is part of a larger one"),
    OPTION(least_side, INT, "0", 0, 65536, NULL,
           "type parallel: pairs with a side of fewer subwords are left out (PPA: 10); 0: no bound"),
    OPTION(most_pair, INT, "0", 0, 131072, NULL,
           "type parallel: pairs of more subwords together are left out (PPA: 128); 0: no bound"),
    XLM_OPTION_END};

struct xlm_stream {
    const xlm_corpus *corpus;
    uint32_t number;
    xlm_stream_config config; /* languages are a copy */
    uint64_t seed;
    xlm_sources *sources;
    xlm_sampler *sampler;
    xlm_dictionary *dictionary;     /* NULL: none */
    xlm_translations *translations;
    xlm_packing packing;      /* scratch of a read */
    const xlm_examples *examples; /* read instead of text; NULL: text */
    GArray *chosen;               /* int64_t: the examples of a read */
};

/* Evaluation draws as a step that training never comes to. */
static const uint64_t in_order_step = UINT64_MAX;

/* ---- opening ---- */

static bool refuse(const char *name, const char *what, GError **error)
{
    return xlm_error_set(error, EX_CONFIG, "[stream %s]: %s", name, what);
}

/* What the table cannot check. */
static bool check(const char *name, const xlm_stream_config *c, GError **error)
{
    if (c->mask_token + c->mask_random > 1 + 1e-9)
        return refuse(name, "mask_token and mask_random are more than 1 together; lower one", error);
    if (c->type == XLM_STREAM_MONOLINGUAL && (c->shuffle_sides || c->share < 1 || c->least_side > 0 || c->most_pair > 0))
        return refuse(name, "shuffle_sides, share, least_side and most_pair are about pairs; set type = parallel", error);
    if (c->share <= 0)
        return refuse(name, "a share of 0 leaves no pair; take share in (0, 1]", error);
    if (c->dictionary == NULL && c->switching > 0)
        return refuse(name, "switching needs a dictionary to switch by; give dictionary = FILE.h5", error);
    return true;
}

/* Is a language the one that a stream reads under this name, or one of the pair? */
static bool reads(const char *name, const char *language)
{
    char **sides = g_strsplit(name, "-", 2); /* no language has a "-" in its name */
    const bool found = g_strv_contains((const char *const *)sides, language);
    g_strfreev(sides);
    return found;
}

/* Does the stream read a language of its dictionary? It reads all languages when none is named. */
static bool check_languages(const xlm_stream *stream, const char *name, GError **error)
{
    const char *const *known = xlm_vocabulary_language_names(xlm_corpus_vocabulary(stream->corpus));
    bool found = stream->config.languages == NULL;
    for (char **language = stream->config.languages; !found && *language != NULL; language++)
        for (int side = 0; side < 2; side++)
            found |= reads(*language, known[stream->dictionary->language[side]]);
    return found || xlm_error_set(error, EX_CONFIG, "[stream %s]: %s is of %s and %s, and the stream reads neither", name,
                                  stream->config.dictionary, known[stream->dictionary->language[0]],
                                  known[stream->dictionary->language[1]]);
}

static bool open_dictionary(xlm_stream *stream, const char *name, GError **error)
{
    const xlm_vocabulary *vocabulary = xlm_corpus_vocabulary(stream->corpus);
    if (stream->config.dictionary == NULL)
        return true;
    stream->dictionary = xlm_dictionary_read(stream->config.dictionary, XLM_DICTIONARY_PAIRS, vocabulary,
                                             xlm_corpus_digest(stream->corpus), error);
    if (stream->dictionary == NULL) {
        g_prefix_error(error, "[stream %s]: ", name);
        return false;
    }
    stream->translations = xlm_translations_new(stream->dictionary, xlm_vocabulary_size(vocabulary));
    return check_languages(stream, name, error);
}

xlm_stream *xlm_stream_open(const xlm_corpus *corpus, xlm_split split, const char *name, int number,
                            const xlm_stream_config *config, uint64_t seed, GError **error)
{
    if (number < 0 || number >= MOST_STREAMS) {
        refuse(name, "a job has at most 256 streams; join some", error);
        return NULL;
    }
    if (!check(name, config, error))
        return NULL;
    xlm_sources *sources = xlm_sources_open(corpus, split, name, config, seed, error);
    if (sources == NULL)
        return NULL;
    xlm_stream *stream = g_new0(xlm_stream, 1);
    *stream = (xlm_stream){.corpus = corpus, .number = (uint32_t)number, .config = *config, .seed = seed,
                           .sources = sources};
    stream->config.languages = g_strdupv(config->languages);
    stream->config.dictionary = g_strdup(config->dictionary);
    stream->sampler = xlm_sources_sampler(sources, config->alpha, seed, stream->number);
    xlm_packing_init(&stream->packing);
    if (open_dictionary(stream, name, error))
        return stream;
    xlm_stream_close(stream);
    return NULL;
}

xlm_stream *xlm_stream_open_examples(const xlm_examples *examples, const char *name, int number, const xlm_stream_config *config,
                                     uint64_t seed, GError **error)
{
    const double share = 1;
    const int64_t n = xlm_examples_count(examples);
    g_assert(number >= 0 && number < MOST_STREAMS && xlm_examples_longest(examples) <= config->length);
    if (n == 0) {
        xlm_error_set(error, EX_DATAERR, "[stream %s]: there are no examples", name);
        return NULL;
    }
    xlm_stream *stream = g_new0(xlm_stream, 1);
    *stream = (xlm_stream){.number = (uint32_t)number, .config = *config, .seed = seed, .examples = examples};
    stream->config.languages = g_strdupv(config->languages);
    stream->config.dictionary = NULL;
    stream->sampler = xlm_sampler_new(1, &share, &n, 1, seed, stream->number);
    stream->chosen = g_array_new(FALSE, FALSE, sizeof(int64_t));
    xlm_packing_init(&stream->packing);
    return stream;
}

void xlm_stream_close(xlm_stream *stream)
{
    if (stream == NULL)
        return;
    if (stream->chosen != NULL)
        g_array_unref(stream->chosen);
    xlm_translations_free(stream->translations);
    xlm_dictionary_free(stream->dictionary);
    xlm_packing_clear(&stream->packing);
    xlm_sampler_free(stream->sampler);
    xlm_sources_close(stream->sources);
    g_strfreev(stream->config.languages);
    g_free(stream->config.dictionary);
    g_free(stream);
}

/* ---- what it is ---- */

const xlm_stream_config *xlm_stream_get_config(const xlm_stream *stream) { return &stream->config; }

const xlm_dictionary *xlm_stream_dictionary(const xlm_stream *stream) { return stream->dictionary; }

int64_t xlm_stream_instances(const xlm_stream *stream)
{
    return stream->examples != NULL ? xlm_examples_count(stream->examples) : xlm_sources_instances(stream->sources);
}

int xlm_stream_sources(const xlm_stream *stream)
{
    return stream->examples != NULL ? 1 : xlm_sources_count(stream->sources);
}

int64_t xlm_stream_source_instances(const xlm_stream *stream, int source)
{
    return stream->examples != NULL ? xlm_examples_count(stream->examples)
                                    : xlm_sources_instances_of(stream->sources, source);
}

int64_t xlm_stream_longest(const xlm_stream *stream)
{
    const xlm_stream_config *c = &stream->config;
    return c->type == XLM_STREAM_PARALLEL && c->form == XLM_FORM_XLM ? 2 * c->length : c->length;
}

int64_t xlm_stream_most_predicted(const xlm_stream *stream, int64_t instances)
{
    if (stream->examples != NULL)
        return instances * xlm_examples_most_predictions(stream->examples);
    if (stream->config.mask <= 0)
        return 0;
    /* Chance chooses a tenth more than the share of many tokens hardly ever; of each instance one at least. */
    return (int64_t)((double)(instances * xlm_stream_longest(stream)) * stream->config.mask * 1.1) + instances;
}

double xlm_stream_predicted_share(const xlm_stream *stream)
{
    const xlm_examples *e = stream->examples;
    if (e == NULL)
        return stream->config.mask;
    const int64_t n = xlm_examples_count(e);
    return (double)xlm_examples_predictions(e, n) / (double)xlm_examples_tokens(e, n);
}

int64_t xlm_stream_positions(const xlm_stream *stream) { return stream->config.length; }

char *xlm_stream_describe(const xlm_stream *stream)
{
    GString *out = g_string_new(NULL);
    const int64_t n = xlm_stream_instances(stream);
    if (stream->examples != NULL)
        g_string_printf(out, "%" G_GINT64_FORMAT " examples of %.1f tokens", n,
                        (double)xlm_examples_tokens(stream->examples, n) / (double)n);
    else
        xlm_sources_describe(stream->sources, xlm_sampler_quotas(stream->sampler), out);
    return g_string_free(out, FALSE);
}

/* ---- reading ---- */

/* Plan the sequence that is instance `instance` of a source. number: of the draw within its step. */
static bool plan(xlm_stream *stream, uint64_t step, uint64_t number, int source, int64_t instance, GError **error)
{
    bool target_first = false;
    if (stream->examples != NULL) {
        g_array_append_val(stream->chosen, instance);
        return true;
    }
    if (stream->config.shuffle_sides) {
        const xlm_rng_key key = xlm_rng_make_key(stream->seed, XLM_RNG_PAIR, step);
        target_first = xlm_rng_draw(key, (uint32_t)number, (uint32_t)(number >> 32), stream->number, 0).v[0] & 1;
    }
    if (!xlm_sources_find(stream->sources, source, instance, target_first, stream->packing.spans, error))
        return false;
    xlm_packing_end_sequence(&stream->packing);
    return true;
}

/* Annotate text and choose what is predicted. */
static void corrupt(const xlm_stream *stream, uint64_t step, uint64_t first, xlm_batch_layout *batch)
{
    const xlm_stream_config *c = &stream->config;
    const xlm_draws draws = {.seed = stream->seed, .step = step, .stream = stream->number, .first = first};
    const xlm_masking masking = {
        .mask = c->mask, .mask_token = c->mask_token, .mask_random = c->mask_random,
        .vocabulary = (int32_t)xlm_vocabulary_size(xlm_corpus_vocabulary(stream->corpus)),
    };
    if (stream->translations != NULL)
        xlm_annotate_translations(stream->translations, &draws, batch);
    xlm_mask(&masking, &draws, batch);
    if (stream->translations != NULL) {
        xlm_batch_layout_switch(batch);
        xlm_switch(c->switching, &draws, batch);
    }
}

/* Lay out and mask what is planned. */
static bool finish(xlm_stream *stream, uint64_t step, uint64_t first, xlm_arena *arena, xlm_batch *batch,
                   GError **error)
{
    const guint n = stream->examples != NULL ? stream->chosen->len : stream->packing.ends->len;
    uint32_t *instances = XLM_TAKE(arena, uint32_t, n);
    xlm_batch_layout layout;
    for (guint s = 0; s < n; s++)
        instances[s] = stream->number << 24 | (uint32_t)((first + s) % MOST_BATCH);
    const bool good = stream->examples != NULL
                          ? xlm_examples_lay_out(stream->examples, n, (const int64_t *)(void *)stream->chosen->data, instances,
                                                 arena, &layout, error)
                          : xlm_packing_read(&stream->packing, stream->corpus, instances, arena, &layout, error);
    if (!good)
        return false;
    xlm_batch_layout_copy_original(&layout);
    if (stream->examples == NULL)
        corrupt(stream, step, first, &layout);
    *batch = xlm_batch_of_layout(&layout);
    return true;
}

/* After reading. Parts of a file that has changed may still be in memory, and others be read as something else. */
static bool check_unchanged(const xlm_stream *stream, bool good, GError **error)
{
    GError *changed = NULL;
    if (stream->examples != NULL || xlm_corpus_check_unchanged(stream->corpus, &changed))
        return good;
    /* Whatever else is wrong comes from that. */
    g_clear_error(error);
    g_propagate_error(error, changed);
    return false;
}

static void begin(xlm_stream *stream)
{
    xlm_packing_reset(&stream->packing);
    if (stream->chosen != NULL)
        g_array_set_size(stream->chosen, 0);
}

bool xlm_stream_read(xlm_stream *stream, int64_t step, int64_t first, int64_t n, xlm_arena *arena, xlm_batch *batch,
                     GError **error)
{
    g_assert(step >= 0 && first >= 0 && n >= 0 && first + n <= stream->config.batch);
    begin(stream);
    for (int64_t i = first; i < first + n; i++) {
        int source;
        int64_t instance;
        xlm_sampler_draw(stream->sampler, step * stream->config.batch + i, &source, &instance);
        if (!plan(stream, (uint64_t)step, (uint64_t)i, source, instance, error))
            return check_unchanged(stream, false, error);
    }
    return check_unchanged(stream, finish(stream, (uint64_t)step, (uint64_t)first, arena, batch, error), error);
}

bool xlm_stream_read_in_order(xlm_stream *stream, int64_t first, int64_t n, xlm_arena *arena, xlm_batch *batch,
                              GError **error)
{
    g_assert(first >= 0 && n >= 0 && first + n <= xlm_stream_instances(stream));
    begin(stream);
    for (int64_t i = first; i < first + n; i++) {
        int64_t instance = i;
        const int source = stream->examples != NULL ? 0 : xlm_sources_at(stream->sources, i, &instance);
        if (!plan(stream, in_order_step, (uint64_t)i, source, instance, error))
            return check_unchanged(stream, false, error);
    }
    return check_unchanged(stream, finish(stream, in_order_step, (uint64_t)first, arena, batch, error), error);
}
