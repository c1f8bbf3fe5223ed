/* xlm-mpi: vocabularies and tokenizers of models of other programs. SPDX-License-Identifier: GPL-3.0-or-later */
#include "foreign/foreign_vocabulary.h"

#include <string.h>

#include "base/log.h"
#include "subwords/published.h"
#include "subwords/tokenizer_print.h"
#include "text/fields.h"

/* Attribute of XLM_CONVERT_VOCABULARY: number of rows of the model's word embeddings, including those that only tokenizer.json
 * needs; without it, there are as many as subwords. */
static const char ROWS[] = "rows";

/* ---- reading ---- */

/* [out] rows: number of rows of the model's word embeddings; the first are those of the vocabulary. */
static xlm_vocabulary *read_own(const char *path, int64_t *rows, GError **error)
{
    g_autoptr(xlm_store) store = xlm_store_open(path, error);
    if (store == NULL)
        return NULL;
    xlm_vocabulary *v = NULL;
    if (xlm_store_check_format(store, XLM_CONVERT_VOCABULARY_FORMAT, XLM_CONVERT_VOCABULARY_VERSION, "a vocabulary",
                               "xlm_convert", error))
        v = xlm_vocabulary_load(store, "/vocabulary", error);
    if (v != NULL && !xlm_store_get_int(store, "/", ROWS, rows, NULL))
        *rows = xlm_vocabulary_size(v);
    return v;
}

static bool check_own(const xlm_vocabulary *v, const char *path, const xlm_convert_options *options, int64_t own_rows,
                      int64_t rows, int64_t embedded, GError **error)
{
    if (options->languages != NULL)
        return xlm_error_set(error, EX_USAGE, "--languages: %s names the languages", path);
    if (own_rows != rows || rows < xlm_vocabulary_size(v))
        return xlm_error_set(error, EX_DATAERR, "%s: is of a model with %" G_GINT64_FORMAT " rows of subwords, and config.json "
                             "says %" G_GINT64_FORMAT "; remove the file when the tokenizer has changed", path, own_rows, rows);
    if (rows > xlm_vocabulary_size(v))
        xlm_log_info("%" G_GINT64_FORMAT " rows of subwords that only tokenizer.json needs are left out",
                     rows - xlm_vocabulary_size(v));
    return embedded == 0 || xlm_vocabulary_languages(v) == embedded ||
           xlm_error_set(error, EX_DATAERR, "%s: has %d languages, and config.json says %" G_GINT64_FORMAT, path,
                         xlm_vocabulary_languages(v), embedded);
}

/* Names from config.json made valid (xlm_is_language_name) and different: "zh-yue" becomes "zh_yue". g_strfreev. */
static char **usable_names(char **named)
{
    GPtrArray *names = g_ptr_array_new();
    for (; *named != NULL; named++) {
        GString *name = g_string_new(*named);
        for (size_t i = 0; i < name->len; i++)
            if (!g_ascii_isalnum(name->str[i]) && name->str[i] != '_' && (i == 0 || name->str[i] != '.'))
                name->str[i] = '_';
        while (g_ptr_array_find_with_equal_func(names, name->str, g_str_equal, NULL))
            g_string_append_c(name, '_');
        if (strcmp(name->str, *named) != 0)
            xlm_log_info("the language \"%s\" is called %s here", *named, name->str);
        g_ptr_array_add(names, g_string_free(name, FALSE));
    }
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}

/* The languages for a published tokenizer: those of the command line, otherwise its own, otherwise those of config.json,
 * otherwise one. */
static char **choose_languages(const xlm_vocabulary *v, const xlm_convert_options *options, int64_t embedded, char **named)
{
    if (options->languages != NULL)
        return g_strdupv(options->languages);
    if (xlm_vocabulary_languages(v) > 0)
        return g_strdupv((char **)(uintptr_t)xlm_vocabulary_language_names(v));
    if (named != NULL)
        return usable_names(named);
    if (embedded == 0)
        return g_strsplit("und", ",", 0);
    char **names = g_new0(char *, (gsize)embedded + 1);
    for (int64_t i = 0; i < embedded; i++)
        names[i] = g_strdup_printf("lang%" G_GINT64_FORMAT, i);
    return names;
}

/* A vocabulary like v, of these subwords in their order, and with these languages. */
static xlm_vocabulary *remake(const xlm_vocabulary *v, const xlm_word_counts *subwords, int languages,
                              const char *const *language_names, GError **error)
{
    const char *names[XLM_SPECIAL_TOKENS];
    xlm_vocabulary_settings settings = xlm_vocabulary_settings_of(v, names);
    settings.languages = languages;
    settings.language_names = language_names;
    return xlm_vocabulary_new(subwords, xlm_segmenter_ref(xlm_vocabulary_segmenter(v)), &settings, error);
}

/* The same vocabulary with these languages, and with subwords "[row 17]" after all others up to `rows`, for rows of embeddings
 * that no token has. */
static xlm_vocabulary *complete(const xlm_vocabulary *v, int64_t rows, char **languages, GError **error)
{
    g_autoptr(xlm_word_counts) subwords = xlm_word_counts_new();
    xlm_word_counts_add_all(subwords, xlm_vocabulary_subwords(v), 1);
    for (int64_t id = xlm_vocabulary_size(v); id < rows; id++) {
        g_autofree char *name = g_strdup_printf(XLM_ROW_NAME, id);
        xlm_word_counts_add(subwords, name, strlen(name), 0);
    }
    return remake(v, subwords, (int)g_strv_length(languages), (const char *const *)languages, error);
}

static xlm_vocabulary *read_published(const char *place, const xlm_convert_options *options, int64_t rows, int64_t embedded,
                                      char **named, GError **error)
{
    int added;
    xlm_vocabulary *v = xlm_published_read(place, &added, error);
    if (v == NULL)
        return NULL;
    const int64_t tokens = xlm_vocabulary_size(v) - added;
    xlm_vocabulary *completed = NULL;
    g_auto(GStrv) languages = choose_languages(v, options, embedded, named);
    const int sides = xlm_vocabulary_languages(v);
    int second;
    if (xlm_vocabulary_second_segmenter(v, &second) != NULL && (int)g_strv_length(languages) != sides) {
        xlm_vocabulary_free(v);
        xlm_error_set(error, EX_USAGE, "--languages: %u names; %s has a tokenizer for each of %d languages: give the source's, then "
                      "the target's", g_strv_length(languages), place, sides);
        return NULL;
    }
    if (tokens > rows)
        xlm_error_set(error, EX_DATAERR, "%s: the tokenizer has %" G_GINT64_FORMAT " tokens, and config.json says %"
                      G_GINT64_FORMAT, place, tokens, rows);
    else
        completed = complete(v, rows, languages, error);
    if (completed != NULL && rows - tokens > rows / 8) /* a few are usual, for a round number */
        xlm_log_warn("%s: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " rows of the word embeddings have no token; is this the "
                     "tokenizer of the model?", place, rows - tokens, rows);
    else if (completed != NULL && tokens < rows)
        xlm_log_info("%" G_GINT64_FORMAT " rows of the word embeddings have no token", rows - tokens);
    if (completed != NULL && xlm_vocabulary_size(completed) > rows)
        xlm_log_info("the tokenizer has not all of our special tokens; %" G_GINT64_FORMAT " rows of zeros are added for them, "
                     "and biases of -30 if the output layer has biases",
                     xlm_vocabulary_size(completed) - rows);
    xlm_vocabulary_free(v);
    return completed;
}

xlm_vocabulary *xlm_foreign_vocabulary_read(const char *directory, const xlm_convert_options *options, int64_t rows,
                                            int64_t embedded, char **named, GError **error)
{
    const char *place = options->tokenizer != NULL ? options->tokenizer : directory;
    g_autofree char *path = g_build_filename(place, XLM_CONVERT_VOCABULARY, NULL);
    xlm_vocabulary *v = NULL;
    if (g_file_test(path, G_FILE_TEST_EXISTS)) {
        int64_t own_rows;
        v = read_own(path, &own_rows, error);
        if (v != NULL && !check_own(v, path, options, own_rows, rows, embedded, error))
            g_clear_pointer(&v, xlm_vocabulary_free);
    } else {
        v = read_published(place, options, rows, embedded, named, error);
    }
    return v;
}

/* ---- writing ---- */

static bool write_bytes(const char *directory, const char *name, const char *bytes, size_t size, GError **error)
{
    g_autofree char *path = g_build_filename(directory, name, NULL);
    return xlm_fields_write(path, g_string_new_len(bytes, (gssize)size), error);
}

bool xlm_foreign_write_text(const char *directory, const char *name, const char *text, GError **error)
{
    return write_bytes(directory, name, text, strlen(text), error);
}

bool xlm_foreign_write_json(const char *directory, const char *name, json_t *json, GError **error)
{
    /* Use as few digits as give the same numbers. */
    char *text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_auto_t *again = json_loads(text, 0, NULL);
    if (!json_equal(json, again)) {
        free(text);
        text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    }
    json_decref(json);
    g_autofree char *line = g_strconcat(text, "\n", NULL);
    free(text);
    return xlm_foreign_write_text(directory, name, line, error);
}

static bool write_own(const xlm_vocabulary *v, int64_t rows, const char *directory, GError **error)
{
    g_autofree char *path = g_build_filename(directory, XLM_CONVERT_VOCABULARY, NULL);
    xlm_store *store = xlm_store_create(NULL, path, error);
    const bool good = store != NULL && xlm_store_set_text(store, "/", "format", XLM_CONVERT_VOCABULARY_FORMAT, error) &&
                      xlm_store_set_int(store, "/", "format_version", XLM_CONVERT_VOCABULARY_VERSION, error) &&
                      xlm_store_set_int(store, "/", ROWS, rows, error) &&
                      xlm_vocabulary_save(v, store, "/vocabulary", 0, error);
    return xlm_store_end(store, good, error);
}

/* Those that the kind of tokenizer has not named; null: it has none. */
static void name_specials(const xlm_vocabulary *v, json_t *json)
{
    static const struct {
        const char *role;
        xlm_special special;
    } roles[] = {{"bos_token", XLM_BOS}, {"cls_token", XLM_BOS}, {"eos_token", XLM_EOS},  {"sep_token", XLM_EOS},
                 {"pad_token", XLM_PAD}, {"unk_token", XLM_UNK}, {"mask_token", XLM_MASK}};
    for (size_t i = 0; i < G_N_ELEMENTS(roles); i++)
        if (json_object_get(json, roles[i].role) == NULL)
            json_object_set_new(json, roles[i].role,
                                json_string(xlm_vocabulary_words(v)[xlm_vocabulary_special(v, roles[i].special)]));
        else if (json_is_null(json_object_get(json, roles[i].role)))
            json_object_del(json, roles[i].role);
}

/* tokenizer_config.json and special_tokens_map.json, if there is a tokenizer for them. settings: those of its kind; taken. */
static bool write_settings(const xlm_vocabulary *v, const xlm_model_config *config, json_t *settings, const char *directory,
                           GError **error)
{
    static const char *const own[] = {"bos_token", "cls_token", "mask_token"};
    json_auto_t *specials = json_object();
    if (json_object_get(settings, "tokenizer_class") == NULL) {
        json_decref(settings);
        return true;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(own); i++)
        if (json_object_get(settings, own[i]) != NULL)
            json_object_set(specials, own[i], json_object_get(settings, own[i]));
    json_object_set_new(settings, "model_max_length", json_integer(config->positions));
    json_object_set_new(settings, "clean_up_tokenization_spaces", json_false());
    json_object_set_new(settings, "model_input_names", config->token_types ? json_pack("[sss]", "input_ids", "token_type_ids",
                                                                                       "attention_mask")
                                                                           : json_pack("[ss]", "input_ids", "attention_mask"));
    name_specials(v, settings);
    name_specials(v, specials);
    return xlm_foreign_write_json(directory, "tokenizer_config.json", settings, error) &&
           xlm_foreign_write_json(directory, "special_tokens_map.json", json_incref(specials), error);
}

/* Note what none of their tokenizers does. */
static void note_made(const xlm_vocabulary *v, GString *notes)
{
    int made;
    xlm_vocabulary_made_languages(v, &made);
    if (made > 0)
        g_string_append(notes, "Text of synthetic languages, which xlm-mpi makes of another language's, cannot be tokenised "
                        "here.\n");
}

static bool write_files(const char *directory, json_t *files, GError **error)
{
    const char *name;
    json_t *content;
    bool good = true;
    json_object_foreach(files, name, content)
        good = good && (json_is_string(content) ? write_bytes(directory, name, json_string_value(content),
                                                              json_string_length(content), error)
                                                : xlm_foreign_write_json(directory, name, json_incref(content), error));
    return good;
}

/* A vocabulary of all subwords by id, including twins as if they came from text, and then of these. */
static xlm_vocabulary *append_subwords(const xlm_vocabulary *v, const xlm_word_counts *added, GError **error)
{
    g_autoptr(xlm_word_counts) subwords = xlm_word_counts_new();
    for (int32_t id = 0; id < xlm_vocabulary_size(v); id++)
        if (!xlm_vocabulary_is_special(v, id))
            xlm_word_counts_add(subwords, xlm_vocabulary_words(v)[id], strlen(xlm_vocabulary_words(v)[id]), 0);
    xlm_word_counts_add_all(subwords, added, 1);
    return remake(v, subwords, xlm_vocabulary_languages(v), xlm_vocabulary_language_names(v), error);
}

bool xlm_foreign_vocabulary_complete(const xlm_vocabulary *v, xlm_vocabulary **larger, GError **error)
{
    const xlm_segmenter_class *cls = xlm_segmenter_class_of(xlm_vocabulary_segmenter(v));
    g_autoptr(xlm_word_counts) added = xlm_word_counts_new();
    if (cls->exchange != NULL && cls->exchange->publish_needs != NULL)
        cls->exchange->publish_needs(v, added);
    *larger = NULL;
    return xlm_word_counts_size(added) == 0 || (*larger = append_subwords(v, added, error)) != NULL;
}

/* Note how text may become other subwords there. */
static void note_added(int64_t added, GString *notes)
{
    if (added > 0)
        g_string_append_printf(notes, "The last %" G_GINT64_FORMAT " subwords are made on the way to others. Where a word has "
                               "one of them left over, as rare words may, xlm-mpi takes it apart again, or does not know it, and "
                               "the tokenizer here keeps it.\n", added);
}

/* Two texts are separated as in training if tokenizer.json says how. The classes do as they do: RoBERTa's and XLM-R's, the former
 * in spite of tokenizer.json in transformers 5, put two tokens there, the others one; and their tokens have one type. */
static void separate(const xlm_vocabulary *v, int separators, bool token_types, json_t *files, const json_t *settings,
                     GString *notes)
{
    static const char *const numbers[] = {"no", "one", "two"};
    json_t *tokenizer = json_object_get(files, "tokenizer.json");
    const char *class_name = json_string_value(json_object_get(settings, "tokenizer_class"));
    if (separators == 0 || class_name == NULL)
        return;
    const bool roberta = strstr(class_name, "Roberta") != NULL;
    const int theirs = roberta ? 2 : tokenizer != NULL ? separators : 1;
    if (tokenizer != NULL)
        xlm_tokenizer_separate(tokenizer, separators);
    if (theirs != separators)
        g_string_append_printf(notes, "Between two texts the model was fine-tuned with %s %s, and %s puts %s there%s.\n",
                               numbers[separators], xlm_vocabulary_words(v)[xlm_vocabulary_special(v, XLM_EOS)], class_name,
                               numbers[theirs], tokenizer != NULL ? " in transformers 5" : "");
    if (roberta && token_types)
        g_string_append_printf(notes, "The second of two texts had tokens of type 1 when the model was fine-tuned, and %s gives all "
                               "the type 0: set token_type_ids yourself.\n", class_name);
}

bool xlm_foreign_vocabulary_write(const xlm_vocabulary *own, const xlm_vocabulary *larger, const xlm_model_config *config,
                                  int separators, const char *directory, GString *notes, GError **error)
{
    const xlm_vocabulary *v = larger != NULL ? larger : own;
    if (!write_own(own, xlm_vocabulary_size(v), directory, error))
        return false;
    const xlm_segmenter_class *cls = xlm_segmenter_class_of(xlm_vocabulary_segmenter(v));
    if (cls->exchange == NULL) {
        xlm_log_warn("transformers have no tokenizer of the kind %s: tokenise with xlm-mpi, and give them the ids", cls->name);
        g_string_append_printf(notes, "Transformers have no tokenizer of the kind %s: tokenise with xlm-mpi, and give them the "
                               "ids.\n", cls->name);
        return true;
    }
    json_auto_t *files = json_object();
    json_t *settings = json_object();
    const gsize before = notes->len;
    cls->exchange->publish(v, files, settings, notes);
    separate(v, separators, config->token_types, files, settings, notes);
    note_added(xlm_vocabulary_size(v) - xlm_vocabulary_size(own), notes);
    note_made(own, notes);
    g_auto(GStrv) lines = g_strsplit(notes->str + before, "\n", -1);
    for (char **line = lines; *line != NULL; line++)
        if (**line != '\0')
            xlm_log_info("%s", *line);
    if (write_files(directory, files, error))
        return write_settings(v, config, settings, directory, error);
    json_decref(settings);
    return false;
}
