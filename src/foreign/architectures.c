/* xlm-mpi: architectures of other programs, and what they share. SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "foreign/architecture.h"
#include "nn/layer.h"
#include "options/options.h"
#include "subwords/vocabulary.h"

/* A line each. A model is written in the first architecture that can hold it. */
#define ARCHITECTURES(architecture) \
    architecture(roberta) \
    architecture(xlm_roberta) \
    architecture(xlm_roberta_xl) \
    architecture(bert) \
    architecture(albert) \
    architecture(xlm) \
    architecture(modernbert) \
    architecture(m2m100) \
    architecture(marian)

#define DECLARE(architecture) extern const xlm_architecture xlm_architecture_##architecture;
ARCHITECTURES(DECLARE)
#define REFERENCE(architecture) &xlm_architecture_##architecture,
static const xlm_architecture *const table[] = {ARCHITECTURES(REFERENCE)};

/* What the architecture lacks of the stacks, and of what no architecture with an encoder alone has; NULL: nothing. */
static const char *lacked_stacks(const xlm_architecture *a, const xlm_model_config *m)
{
    const bool sines = xlm_model_has_sinusoids(m) && m->position_type != XLM_POSITIONS_SINUSOIDAL;
    return a->has_decoder        ? NULL
           : m->decoder_layers > 0 ? "a decoder"
           : m->scale_embeddings ? "scaled embeddings"
           : !m->encode_bos      ? "an encoder that does not see <s>"
           : !m->output_bias     ? "an output layer without a bias"
           : sines               ? "sines before cosines"
                                 : NULL;
}

/* What the architecture lacks of where the model's norms are; NULL: nothing. */
static const char *lacked_norms(const xlm_architecture *a, const xlm_model_config *m)
{
    const bool pre = m->norm == XLM_NORM_PRE;
    return pre && !a->pre_norm                              ? "norms before the sublayers"
           : !pre && a->pre_norm                            ? "norms after the sublayers"
           : m->final_norm && !a->pre_norm                  ? "a final norm"
           : !m->final_norm && a->pre_norm                  ? "layers without a final norm"
           : m->embedding_norm && a->no_embedding_norm      ? "a norm of the embeddings"
           : !m->embedding_norm && !a->no_embedding_norm    ? "embeddings without a norm"
                                                            : NULL;
}

const xlm_architecture *xlm_architecture_choose(const xlm_model_config *model, int64_t pad, GError **error)
{
    g_autoptr(GString) why = g_string_new(NULL);
    if (model->adapters.n > 0) {
        xlm_error_set(error, EX_DATAERR, "it has adapters, which no architecture of transformers that is known here has; merge "
                      "LoRA into the model first (--merge-adapters), or write an adapter by itself (--adapter NAME)");
        return NULL;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
        const char *stacks = lacked_stacks(table[i], model), *norms = stacks != NULL ? stacks : lacked_norms(table[i], model);
        const char *lacked = norms != NULL ? norms : table[i]->lacks(model, pad);
        if (lacked == NULL)
            return table[i];
        g_string_append_printf(why, "%s%s has not %s", i > 0 ? ", " : "", table[i]->model_type, lacked);
    }
    xlm_error_set(error, EX_DATAERR, "no architecture of transformers can hold the model: %s", why->str);
    return NULL;
}

/* ---- names of tensors ---- */

/* A name with # for the number of its layer: "encoder/layer.12/..." -> "encoder/layer.#/...", *number = 12; a layer that all
 * share is number 0. */
static char *take_number(const char *name, int64_t *number)
{
    const char *rest;
    const xlm_layer layer = xlm_layer_of(name, &rest);
    *number = layer.number;
    return rest == name ? g_strdup(name) : g_strdup_printf("%s/layer.#/%s", xlm_stack_name(layer.stack), rest);
}

static const char *find_name(const xlm_tensor_name *names, const char *ours)
{
    for (; names->ours != NULL; names++)
        if (strcmp(names->ours, ours) == 0)
            return names->theirs;
    return NULL;
}

/* Take " 0/3" from the end of a name. */
static void take_part(char *theirs, xlm_tensor_part *part)
{
    char *space = strchr(theirs, ' ');
    *part = (xlm_tensor_part){0, 1};
    if (space == NULL)
        return;
    *part = (xlm_tensor_part){atoi(space + 1), atoi(strchr(space, '/') + 1)};
    *space = '\0';
}

char *xlm_architecture_tensor(const xlm_architecture *architecture, bool bare, const char *parameter, xlm_tensor_part *part)
{
    xlm_tensor_part unused;
    const char *leaf = strrchr(parameter, '/');
    int64_t number;
    g_autofree char *stem = g_strndup(parameter, (size_t)(leaf - parameter)), *ours = take_number(stem, &number);
    const char *found = find_name(architecture->body, ours), *prefix = bare ? "" : architecture->prefix;
    if (found == NULL) {
        found = find_name(architecture->head, ours);
        prefix = "";
    }
    g_autofree char *theirs = g_strdup(found != NULL ? found : "");
    take_part(theirs, part != NULL ? part : &unused);
    char *name = NULL;
    if (found != NULL) {
        const char *layer = strchr(theirs, '#');
        if (g_str_has_suffix(theirs, "="))
            name = g_strndup(theirs, strlen(theirs) - 1);
        else
            name = layer == NULL ? g_strdup_printf("%s%s.%s", prefix, theirs, leaf + 1)
                                 : g_strdup_printf("%s%.*s%" G_GINT64_FORMAT "%s.%s", prefix, (int)(layer - theirs), theirs,
                                                   number, layer + 1, leaf + 1);
    }
    return name;
}

bool xlm_architecture_is_unused(const xlm_architecture *architecture, const char *rest)
{
    for (const char *const *beginning = architecture->unused; *beginning != NULL; beginning++)
        if (g_str_has_prefix(rest, *beginning))
            return true;
    return false;
}

/* ---- values of config.json ---- */

static bool read_number(const json_t *json, const char *path, const xlm_config_number *number, xlm_model_config *model,
                        GError **error)
{
    void *value = (char *)model + number->offset;
    const json_t *found = json_object_get(json, number->theirs);
    if (found == NULL && number->default_value == NULL)
        return xlm_config_refuse(path, number->theirs, error, "is missing");
    if (!number->real)
        return xlm_config_int(json, path, number->theirs,
                              number->default_value != NULL ? g_ascii_strtoll(number->default_value, NULL, 10) : -1,
                              value, error);
    *(double *)value = found != NULL ? json_number_value(found) : g_ascii_strtod(number->default_value, NULL);
    return found == NULL || json_is_number(found) || xlm_config_refuse(path, number->theirs, error, "is not a number");
}

/* ---- how a model that was ours has read pairs of sentences ---- */

/* {"form": "xlm", "translations": "en-de,de-en"}, each only if it is known */
static const char PAIRS[] = "xlm_mpi_pairs", FORM[] = "form", TRANSLATIONS[] = "translations";

/* "en-de,de-en"; empty: it translates nothing. */
static bool are_translations(const char *text)
{
    g_auto(GStrv) names = g_strsplit(text, ",", -1);
    bool good = true;
    for (char **name = names; *name != NULL && good; name++) {
        g_auto(GStrv) pair = g_strsplit(*name, "-", -1);
        good = g_strv_length(pair) == 2 && xlm_is_language_name(pair[0]) && xlm_is_language_name(pair[1]);
    }
    return good;
}

static bool read_pairs(const json_t *json, const char *path, xlm_foreign_config *config, GError **error)
{
    const json_t *pairs = json_object_get(json, PAIRS), *form = json_object_get(pairs, FORM);
    const json_t *translations = json_object_get(pairs, TRANSLATIONS);
    config->pair_form = g_strdup(json_string_value(form));
    config->translations = g_strdup(json_string_value(translations));
    if (pairs != NULL && !json_is_object(pairs))
        return xlm_config_refuse(path, PAIRS, error, "is not an object");
    if (form != NULL && g_strcmp0(config->pair_form, "bert") != 0 && g_strcmp0(config->pair_form, "xlm") != 0)
        return xlm_config_refuse(path, FORM, error, "is neither \"bert\" nor \"xlm\"");
    return translations == NULL || (config->translations != NULL && are_translations(config->translations)) ||
           xlm_config_refuse(path, TRANSLATIONS, error, "is no list of pairs of languages such as \"en-de,de-en\"");
}

static void write_pairs(json_t *json, const xlm_foreign_config *config)
{
    json_auto_t *pairs = json_object();
    if (config->pair_form != NULL)
        json_object_set_new(pairs, FORM, json_string(config->pair_form));
    if (config->translations != NULL)
        json_object_set_new(pairs, TRANSLATIONS, json_string(config->translations));
    if (json_object_size(pairs) > 0)
        json_object_set(json, PAIRS, pairs);
}

/* ---- the whole of config.json ---- */

/* Configurations of old models name their classes alone: "architectures": ["BertForMaskedLM"]. */
static const xlm_architecture *find_class(const json_t *json)
{
    const char *name = json_string_value(json_array_get(json_object_get(json, "architectures"), 0));
    for (size_t i = 0; i < G_N_ELEMENTS(table) && name != NULL; i++) {
        const size_t size = strlen(table[i]->class_name);
        if (strncmp(name, table[i]->class_name, size) == 0 &&
            (g_str_has_prefix(name + size, "For") || g_str_has_prefix(name + size, "Model") ||
             g_str_has_prefix(name + size, "With")))
            return table[i];
    }
    return NULL;
}

static const xlm_architecture *find_architecture(const json_t *json, const char *path, GError **error)
{
    const char *type = xlm_config_text(json, path, "model_type", "", error);
    const xlm_architecture *found = type != NULL && *type == '\0' ? find_class(json) : NULL;
    g_autoptr(GString) known = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
        if (type != NULL && strcmp(type, table[i]->model_type) == 0)
            found = table[i];
        g_string_append_printf(known, "%s%s", i > 0 ? ", " : "", table[i]->model_type);
    }
    if (found == NULL && type != NULL)
        xlm_config_refuse(path, "model_type", error, "is \"%s\"; known here are %s", type, known->str);
    return found;
}

static bool read_config(const json_t *json, const char *path, xlm_foreign_config *config, GError **error)
{
    if (!json_is_object(json))
        return xlm_error_set(error, EX_DATAERR, "%s: no configuration of a model: {\"model_type\": ...}", path);
    const xlm_architecture *a = config->architecture = find_architecture(json, path, error);
    if (a == NULL)
        return false;
    for (const xlm_config_number *number = a->numbers; number->theirs != NULL; number++)
        if (!read_number(json, path, number, &config->model, error))
            return false;
    config->model.languages = 1;
    config->model.position_offset = 0;
    if (config->model.embedding_size == 0)
        config->model.embedding_size = config->model.hidden_size;
    return a->read(json, config, path, error) && read_pairs(json, path, config, error);
}

bool xlm_foreign_config_parse(const char *path, const char *bytes, size_t size, xlm_foreign_config *config, GError **error)
{
    json_error_t wrong;
    *config = (xlm_foreign_config){.pad = -1};
    if (!xlm_options_defaults(xlm_model_options, &config->model, error))
        return false;
    json_auto_t *json = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &wrong);
    if (json == NULL)
        return xlm_error_set(error, EX_DATAERR, "%s:%d: not JSON: %s", path, wrong.line, wrong.text);
    return read_config(json, path, config, error);
}

void xlm_foreign_config_clear(xlm_foreign_config *config)
{
    g_strfreev(config->languages);
    config->languages = NULL;
    g_clear_pointer(&config->pair_form, g_free);
    g_clear_pointer(&config->translations, g_free);
}

json_t *xlm_foreign_config_print(xlm_foreign_config *config)
{
    const xlm_architecture *a = config->architecture;
    json_t *json = json_object();
    json_object_set_new(json, "model_type", json_string(a->model_type));
    for (const xlm_config_number *number = a->numbers; number->theirs != NULL; number++) {
        const void *value = (const char *)&config->model + number->offset;
        json_object_set_new(json, number->theirs,
                            number->real ? json_real(*(const double *)value) : json_integer(*(const int64_t *)value));
    }
    a->write(json, config);
    json_object_set_new(json, "tie_word_embeddings", json_true());
    write_pairs(json, config);
    return json;
}
