/* xlm-mpi: fuzz target: config.json of models of other programs. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "foreign/architecture.h"
#include "fuzz.h"
#include "options/options.h"

/* A model that was read, printed and read again is the same. */
static void read_again(xlm_foreign_config *config)
{
    xlm_foreign_config again;
    GError *error = NULL;
    json_t *json = xlm_foreign_config_print(config);
    const bool xlm = strcmp(config->architecture->model_type, "xlm") == 0;
    json_object_set_new(json, xlm ? "pad_index" : "pad_token_id", json_integer(config->pad));
    char *text = json_dumps(json, JSON_REAL_PRECISION(17));
    fuzz_require(text != NULL, "a configuration can be printed");
    const bool good = xlm_foreign_config_parse("again", text, strlen(text), &again, &error);
    fuzz_check(good, error);
    fuzz_require(good && again.architecture == config->architecture, "what was printed is of the same architecture");
    fuzz_require(xlm_model_check(&again.model, NULL), "what was printed is a model");
    for (const xlm_option *option = xlm_model_options; option->name != NULL; option++) {
        char *first = xlm_option_print(option, &config->model), *second = xlm_option_print(option, &again.model);
        fuzz_require(strcmp(first, second) == 0, "what was printed is the same model");
        g_free(first);
        g_free(second);
    }
    fuzz_require(again.model.vocabulary == config->model.vocabulary && again.model.languages == config->model.languages,
                 "what was printed has the same rows");
    fuzz_require(g_strcmp0(again.pair_form, config->pair_form) == 0 &&
                     g_strcmp0(again.translations, config->translations) == 0, "what was printed has read the same pairs");
    free(text);
    json_decref(json);
    xlm_foreign_config_clear(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    GError *error = NULL;
    xlm_foreign_config config;
    const bool good = xlm_foreign_config_parse("config.json", (const char *)data, size, &config, &error);
    fuzz_check(good, error);
    /* XLM-R may have one language, and then is RoBERTa: what an architecture lacks is no error of the file. */
    if (good && xlm_model_check(&config.model, NULL) && config.architecture->lacks(&config.model, config.pad) == NULL)
        read_again(&config);
    xlm_foreign_config_clear(&config);
    return 0;
}
