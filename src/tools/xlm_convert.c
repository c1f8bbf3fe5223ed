/* xlm-mpi: xlm_convert, models of transformers and ours. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/log.h"
#include "foreign/convert.h"
#include "tools/program.h"

static const xlm_program program = {
    .name = "xlm_convert",
    .arguments = "MODEL -o OUTPUT",
    .purpose = "Convert a published model into a model file, and a model file into such a model",
    .notes =
        "A directory, as Hugging Face's transformers have it, becomes a file that [train] start, xlm_tune, xlm_align, xlm_embed\n"
        "and xlm_fill read; a file, model or checkpoint, becomes such a directory. Known are BERT, RoBERTa, XLM-R, XLM and\n"
        "ALBERT, for masked words, without a head, or with that of a task, which is left out; tagging is kept on the way to\n"
        "transformers. Weights are read from safetensors files alone: pickled ones (.bin, .pt, .pth) can run any program.\n"
        "\n"
        "Examples:\n"
        "  xlm_convert xlm-roberta-base/ -o xlmr.h5\n"
        "  xlm_convert run1/latest -o run1-hf\n"
        "\n",
    .files =
        "  MODEL   a directory with config.json, model.safetensors and a tokenizer, or a file: run1/latest\n"
        "  OUTPUT  a file, or a directory with config.json, model.safetensors, a tokenizer, README.md and xlm_vocabulary.h5\n",
};

static struct {
    char *output, *languages;
    xlm_convert_options convert;
} given;

static const GOptionEntry options[] = {
    {"output", 'o', 0, G_OPTION_ARG_FILENAME, &given.output, "file or directory to write", "OUTPUT"},
    {"languages", 0, 0, G_OPTION_ARG_STRING, &given.languages,
     "names of the languages of a published model, by id; default: as its config.json says, else und", "LANG,..."},
    {"tokenizer", 0, 0, G_OPTION_ARG_FILENAME, &given.convert.tokenizer,
     "take the tokenizer from this directory and not from the model's", "DIR"},
    {.long_name = NULL}};
static const xlm_program_group groups[XLM_PROGRAM_GROUPS] = {{"Options", options}};

/* Names between commas, each its own. */
static bool read_languages(GError **error)
{
    if (given.languages == NULL)
        return true;
    char **names = given.convert.languages = g_strsplit(given.languages, ",", 0);
    for (int i = 0; names[i] != NULL; i++) {
        bool good = *names[i] != '\0' && g_utf8_validate(names[i], -1, NULL);
        for (int k = 0; k < i && good; k++)
            good = !g_str_equal(names[i], names[k]);
        if (!good)
            return xlm_error_set(error, EX_USAGE, "--languages %s: name %d is empty, not UTF-8, or the same as another",
                                 given.languages, i + 1);
    }
    return names[0] != NULL || xlm_error_set(error, EX_USAGE, "--languages: no names");
}

static bool convert(const char *model, GError **error)
{
    if (g_file_test(model, G_FILE_TEST_IS_DIR) || xlm_convert_is_pickled(model))
        return xlm_convert_import(model, &given.convert, given.output, error);
    if (given.convert.languages != NULL || given.convert.tokenizer != NULL)
        return xlm_error_set(error, EX_USAGE, "%s is no directory; --languages and --tokenizer are for published models", model);
    return xlm_convert_export(model, &given.convert, given.output, error);
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    xlm_log_open(program.name, true);
    bool good = xlm_program_parse(&program, groups, &argc, &argv, &error) && read_languages(&error);
    const char *model = good ? xlm_program_argument(&program, argc, argv, "model", &error) : NULL;
    if (model != NULL && given.output == NULL)
        xlm_error_set(&error, EX_USAGE, "say what to write: -o OUTPUT");
    else if (model != NULL)
        convert(model, &error);
    g_strfreev(given.convert.languages);
    g_free(given.convert.tokenizer);
    g_free(given.languages);
    g_free(given.output);
    return xlm_error_exit(error);
}
