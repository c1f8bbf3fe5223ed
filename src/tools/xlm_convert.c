/* xlm-mpi: xlm_convert, models of transformers and ours. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/log.h"
#include "files/files.h"
#include "foreign/convert.h"
#include "foreign/adapter_directory.h"
#include "model/model_adapters.h"
#include "model/model_mean.h"
#include "model/model_vocabulary.h"
#include "program/program.h"
#include "subwords/vocabulary.h"

static const xlm_program program = {
    .name = "xlm_convert",
    .arguments = "MODEL -o OUTPUT",
    .purpose = "Convert a published model to a model file and back; leave out, add and restore subwords",
    .notes =
        "A directory in the format of Hugging Face's transformers is converted to a file that [train] start, xlm_tune,\n"
        "xlm_align, xlm_embed, xlm_fill and xlm_translate read; a file, model or checkpoint, is converted to such a directory.\n"
        "Supported are BERT, RoBERTa, XLM-R, XLM-R XL, XLM, ALBERT, ModernBERT and mmBERT, for masked words, without a head, or\n"
        "with a head for classification of tokens or sequences or for question answering that computes the same as ours; other\n"
        "heads are left out; and models that translate: M2M100, NLLB-200, Marian (OPUS). Weights are read only from safetensors\n"
        "files: pickled files (.bin, .pt, .pth) can run any program.\n\n"
        "With --keep, --add-words, --add-languages or --restore a file is converted to one with another vocabulary. --keep\n"
        "leaves out subwords that no corpus has, except special tokens, the single characters of the kept subwords, and what\n"
        "the segmenter needs; text of the corpora is split as before. Prepare text for the new file with xlm_prep --like.\n"
        "--restore restores the whole vocabulary, before or after training: with the model's rows for the subwords that it has,\n"
        "and the original's rows for all others.\n\n"
        "--average takes the mean of MODEL and other checkpoints of a run, or of runs from one start.\n\n"
        "With --merge-adapters, adapters of a file become part of its model, so that programs that know no adapters can use\n"
        "it. --add-adapter reads an adapter of PEFT or of the library adapters into a model; --adapter writes one so.\n"
        "--exchange puts the adapter of another language into a model that was fine-tuned with one (MAD-X).\n\n"
        "Examples:\n"
        "  xlm_convert xlm-roberta-base/ -o xlmr.h5\n"
        "  xlm_convert run1/latest -o run1-hf\n"
        "  xlm_convert xlmr.h5 --keep corpus.h5 -o small.h5\n"
        "  xlm_convert small-run/latest --restore xlmr.h5 -o whole.h5\n\n",
    .files =
        "  MODEL   a directory with config.json, model.safetensors and a tokenizer, or a file: run1/latest\n"
        "  OUTPUT  a file, or a directory with config.json, model.safetensors, a tokenizer, README.md and xlm_vocabulary.h5\n",
};

#define UNSET G_MININT64

static struct {
    char *output, *languages;
    xlm_convert_options convert;
    char *add_languages, *new_rows;
    gint64 seed;
    xlm_model_vocabulary_options vocabulary;
    char **average;
    gboolean merge;
    char *add, *adapter, *exchange;
} given = {.seed = UNSET};

static const GOptionEntry options[] = {
    {"output", 'o', XLM_WRITES, G_OPTION_ARG_FILENAME, &given.output, "file or directory to write", "OUTPUT"},
    {"languages", 0, 0, G_OPTION_ARG_STRING, &given.languages,
     "names of the languages of a published model, by id; default: those in its config.json, otherwise und", "LANG,..."},
    {"tokenizer", 0, XLM_READS, G_OPTION_ARG_FILENAME, &given.convert.tokenizer,
     "take the tokenizer from this directory instead of the model's", "DIR"},
    {"average", 0, XLM_READS, G_OPTION_ARG_FILENAME_ARRAY, &given.average,
     "write MODEL with the mean of its parameters and those of this one; may be repeated", "OTHER"},
    {.long_name = NULL}};
static const GOptionEntry vocabulary_options[] = {
    {"keep", 0, XLM_READS, G_OPTION_ARG_FILENAME_ARRAY, &given.vocabulary.keep,
     "leave out subwords that this corpus, made with xlm_prep --like MODEL, does not have; may be repeated", "CORPUS"},
    {"add-words", 0, XLM_READS, G_OPTION_ARG_FILENAME, &given.vocabulary.words,
     "add a subword for each word in this file, one per line", "FILE"},
    {"add-languages", 0, 0, G_OPTION_ARG_STRING, &given.add_languages, "add languages with these names", "LANG,..."},
    {"new-rows", 0, 0, G_OPTION_ARG_STRING, &given.new_rows,
     "rows of what is added: average (default; for a word the mean of the subwords that it was split into, for a language the "
     "mean of all) or draw (as at the start of training)", "HOW"},
    {"seed", 0, 0, G_OPTION_ARG_INT64, &given.seed, "with --new-rows draw: seed of the rows (default 1)", "N"},
    {"restore", 0, XLM_READS, G_OPTION_ARG_FILENAME, &given.vocabulary.restore,
     "take the vocabulary of this file, from which the model was made, and its rows for subwords that the model does not "
     "have", "ORIGINAL"},
    {.long_name = NULL}};
static const GOptionEntry adapter_options[] = {
    {"merge-adapters", 0, 0, G_OPTION_ARG_NONE, &given.merge, "merge all adapters of MODEL into its linear layers", NULL},
    {"add-adapter", 0, XLM_READS, G_OPTION_ARG_FILENAME, &given.add,
     "add to MODEL, a file, the adapter in this directory: adapter_config.json with adapter_model.safetensors (PEFT's LoRA) or "
     "adapter.safetensors (bottleneck adapters of the library adapters)", "DIR"},
    {"adapter", 0, 0, G_OPTION_ARG_STRING, &given.adapter,
     "with --add-adapter: the name that the adapter gets (default: its own, or lora); alone: write the adapter of this name as "
     "such a directory",
     "NAME"},
    {"exchange", 0, 0, G_OPTION_ARG_STRING, &given.exchange,
     "put adapter NEW (default: of the same name) of the model in FILE in the place of adapter OLD of MODEL", "OLD=FILE[:NEW]"},
    {.long_name = NULL}};
static const xlm_program_group groups[XLM_PROGRAM_GROUPS] = {
    {"Options", options}, {"Vocabulary", vocabulary_options}, {"Adapters", adapter_options}};

/* Names separated by commas, all different. text NULL: none. */
static bool read_names(const char *option, const char *text, char ***languages, GError **error)
{
    if (text == NULL)
        return true;
    char **names = *languages = g_strsplit(text, ",", 0);
    for (int i = 0; names[i] != NULL; i++) {
        bool good = xlm_is_language_name(names[i]);
        for (int k = 0; k < i && good; k++)
            good = !g_str_equal(names[i], names[k]);
        if (!good)
            return xlm_error_set(error, EX_USAGE, "--%s=%s: name %d, \"%s\", occurs twice or is not a valid name; use letters, "
                                 "digits, _ and . (zh_cn, not zh-cn)", option, text, i + 1, names[i]);
    }
    return names[0] != NULL || xlm_error_set(error, EX_USAGE, "--%s: no names", option);
}

static bool read_options(GError **error)
{
    static const char *const ways[] = {"average", "draw", NULL};
    if (!xlm_program_is_one_of("new-rows", given.new_rows, ways, error))
        return false;
    given.vocabulary.average = g_strcmp0(given.new_rows, "draw") != 0;
    if (given.seed != UNSET && given.vocabulary.average)
        return xlm_error_set(error, EX_USAGE, "--seed is for rows that are drawn; use it with --new-rows draw");
    given.vocabulary.seed = given.seed == UNSET ? 1 : given.seed;
    return read_names("languages", given.languages, &given.convert.languages, error) &&
           read_names("add-languages", given.add_languages, &given.vocabulary.languages, error);
}

static bool changes_vocabulary(void)
{
    const xlm_model_vocabulary_options *v = &given.vocabulary;
    return v->keep != NULL || v->words != NULL || v->languages != NULL || v->restore != NULL;
}

/* A file is to be written. */
static bool check_file(GError **error)
{
    return !g_str_has_suffix(given.output, ".safetensors") ||
           xlm_error_set(error, EX_USAGE, "%s: the output is a model file; name it model.h5", given.output);
}

/* The output is a directory. */
static bool check_directory(const char *model, GError **error)
{
    static const char *const files[] = {".h5", ".safetensors"};
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
        if (g_str_has_suffix(given.output, files[i]))
            return xlm_error_set(error, EX_USAGE, "%s: %s is a model file, which is converted to a directory; give a name "
                                 "without %s", given.output, model, files[i]);
    return true;
}

static bool change_vocabulary(const char *model, bool directory, GError **error)
{
    const xlm_model_vocabulary_options *v = &given.vocabulary;
    if (directory)
        return xlm_error_set(error, EX_USAGE, "%s is a published model; convert it to a file first: xlm_convert %s -o model.h5",
                             model, model);
    if (v->restore != NULL && (v->keep != NULL || v->words != NULL || v->languages != NULL))
        return xlm_error_set(error, EX_USAGE, "--restore cannot be combined with --keep, --add-words or --add-languages");
    return check_file(error) && xlm_model_vocabulary_change(model, v, given.output, error);
}

static bool changes_adapters(void) { return given.merge || given.add != NULL || given.adapter != NULL || given.exchange != NULL; }

/* "en=de/latest:de" */
static bool exchange_adapter(const char *model, GError **error)
{
    const char *equals = strchr(given.exchange, '='), *colon = equals != NULL ? strrchr(equals, ':') : NULL;
    if (equals == NULL || equals == given.exchange || equals[1] == '\0' || colon == equals + 1)
        return xlm_error_set(error, EX_USAGE, "--exchange=%s: must be OLD=FILE or OLD=FILE:NEW", given.exchange);
    g_autofree char *old = g_strndup(given.exchange, (gsize)(equals - given.exchange));
    g_autofree char *path = colon != NULL ? g_strndup(equals + 1, (gsize)(colon - equals - 1)) : g_strdup(equals + 1);
    const xlm_model_exchange exchange = {.old = old, .path = path, .new = colon != NULL ? colon + 1 : old};
    return check_file(error) && xlm_model_exchange_adapter(model, &exchange, given.output, error);
}

static bool change_adapters(const char *model, bool directory, GError **error)
{
    if (directory)
        return xlm_error_set(error, EX_USAGE, "%s is a published model; convert it to a file first: xlm_convert %s -o model.h5",
                             model, model);
    if (changes_vocabulary())
        return xlm_error_set(error, EX_USAGE, "options of adapters and of the vocabulary cannot be combined");
    if (given.merge && (given.add != NULL || given.adapter != NULL))
        return xlm_error_set(error, EX_USAGE, "--merge-adapters cannot be combined with --add-adapter and --adapter");
    if (given.exchange != NULL && (given.merge || given.add != NULL || given.adapter != NULL))
        return xlm_error_set(error, EX_USAGE, "--exchange cannot be combined with --merge-adapters, --add-adapter and --adapter");
    if (given.exchange != NULL)
        return exchange_adapter(model, error);
    if (given.add != NULL && !xlm_adapter_directory_is(given.add))
        return xlm_error_set(error, EX_NOINPUT, "%s: has no adapter_config.json", given.add);
    if (given.merge)
        return check_file(error) && xlm_model_merge_adapters(model, given.output, error);
    if (given.add != NULL)
        return check_file(error) && xlm_adapter_directory_import(model, given.add, given.adapter, given.output, error);
    return check_directory(model, error) && xlm_adapter_directory_export(model, given.adapter, given.output, error);
}

static bool average(const char *model, bool directory, GError **error)
{
    if (directory)
        return xlm_error_set(error, EX_USAGE, "%s is a published model; convert it to a file first: xlm_convert %s -o model.h5",
                             model, model);
    if (changes_adapters() || changes_vocabulary())
        return xlm_error_set(error, EX_USAGE, "--average cannot be combined with options of adapters and of the vocabulary");
    return check_file(error) && xlm_model_mean(model, given.average, given.output, error);
}

static bool convert(const char *model, GError **error)
{
    const xlm_model_vocabulary_options *v = &given.vocabulary;
    const bool directory = xlm_convert_is_theirs(model);
    if (!directory && !g_file_test(model, G_FILE_TEST_EXISTS))
        return xlm_error_set(error, EX_NOINPUT, "%s: there is no such file or directory; published models are not downloaded, "
                             "give the directory that you have downloaded", model);
    if (!directory && (given.convert.languages != NULL || given.convert.tokenizer != NULL))
        return xlm_error_set(error, EX_USAGE, "%s is not a directory; --languages and --tokenizer are for published "
                                              "models", model);
    if (given.new_rows != NULL && v->words == NULL && v->languages == NULL)
        return xlm_error_set(error, EX_USAGE, "--new-rows is for --add-words and --add-languages");
    if (given.average != NULL)
        return average(model, directory, error);
    if (changes_adapters())
        return change_adapters(model, directory, error);
    if (changes_vocabulary())
        return change_vocabulary(model, directory, error);
    if (directory)
        return check_file(error) && xlm_convert_import(model, &given.convert, given.output, error);
    return check_directory(model, error) && xlm_convert_export(model, given.output, error);
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    xlm_log_open(program.name, true);
    bool good = xlm_program_parse(&program, groups, &argc, &argv, &error) && read_options(&error) &&
                xlm_files_check_declared(&error);
    const char *model = good ? xlm_program_argument(&program, argc, argv, "model", &error) : NULL;
    if (model != NULL && given.output == NULL)
        xlm_error_set(&error, EX_USAGE, "no output given; give -o OUTPUT");
    else if (model != NULL)
        convert(model, &error);
    xlm_program_free_options(groups);
    g_strfreev(given.vocabulary.languages);
    g_strfreev(given.convert.languages);
    return xlm_error_exit(error);
}
