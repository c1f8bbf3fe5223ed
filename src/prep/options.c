/* xlm-mpi: the options of a preparation. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/options.h"

#include <string.h>

#include "base/exhaustion.h"
#include "formats/conllu.h"
#include "options/options.h"
#include "text/scripts.h"

static void free_source(void *pointer)
{
    xlm_prep_source *source = pointer;
    for (int side = 0; side < 2; side++) {
        g_free(source->path[side]);
        xlm_line_form_clear(&source->form[side]);
    }
    g_free(source);
}

/* The options of each class of segmenters, by its number, with nothing set. */
static xlm_segmenter_options **new_segmenters(void)
{
    const int n = xlm_segmenters_count();
    xlm_segmenter_options **asked = g_new(xlm_segmenter_options *, n);
    for (int i = 0; i < n; i++)
        asked[i] = g_new0(xlm_segmenter_options, 1);
    return asked;
}

static void free_segmenters(xlm_segmenter_options **asked)
{
    for (int i = 0; i < xlm_segmenters_count(); i++) {
        xlm_options_free(xlm_segmenter_class_options(xlm_segmenter_class_at(i)), asked[i]);
        g_free(asked[i]);
    }
    g_free(asked);
}

xlm_prep_options *xlm_prep_options_new(void)
{
    xlm_prep_options *options = g_new0(xlm_prep_options, 1);
    options->languages = g_ptr_array_new_with_free_func(g_free);
    options->sources = g_ptr_array_new_with_free_func(free_source);
    options->synthetic = g_ptr_array_new_with_free_func((GDestroyNotify)xlm_synthetic_free);
    options->like_files = g_ptr_array_new_with_free_func(g_free);
    options->copied_pairs = g_array_new(FALSE, FALSE, 2 * sizeof(int));
    options->segmenters = new_segmenters();
    options->filter.scripts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)xlm_scripts_free);
    options->sample = 1;
    options->alpha = 0.5;
    options->min_count = 1;
    options->held_out = 0.01;
    return options;
}

void xlm_prep_options_free(xlm_prep_options *options)
{
    if (options == NULL)
        return;
    char **texts[] = {&options->vocabulary, &options->output, &options->write_segmenter,
                      &options->write_vocabulary, &options->write_twins, &options->segment_input, &options->segment_output,
                      &options->derive_input, &options->derive_output, &options->command, &options->like_path,
                      &options->scratch};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(*texts[i]);
    g_ptr_array_free(options->languages, TRUE);
    g_ptr_array_free(options->sources, TRUE);
    g_ptr_array_free(options->synthetic, TRUE);
    g_ptr_array_free(options->like_files, TRUE);
    if (options->append == NULL) /* whose vocabulary it would be */
        xlm_vocabulary_free(options->like);
    xlm_appended_close(options->append);
    xlm_earlier_split_clear(&options->like_split);
    g_array_free(options->copied_pairs, TRUE);
    free_segmenters(options->segmenters);
    g_hash_table_unref(options->filter.scripts);
    g_free(options);
}

/* ---- inputs ---- */

static bool check_language(const char *name, const char *option, const char *specification, GError **error)
{
    return xlm_is_language_name(name) ||
           xlm_error_set(error, EX_USAGE, "%s=%s: \"%s\" is not a name of a language; use letters, digits, _ and . (zh_cn, not "
                         "zh-cn)", option, specification, name);
}

/* The id of a language, which gets the next id if it is new. */
static int intern_language(xlm_prep_options *options, const char *name)
{
    for (guint i = 0; i < options->languages->len; i++)
        if (strcmp(options->languages->pdata[i], name) == 0)
            return (int)i;
    g_ptr_array_add(options->languages, g_strdup(name));
    return (int)options->languages->len - 1;
}

/* Split "NAME=FILE,FILE" into its name and files. [out] name: g_free; files: g_strfreev; either may be set even on failure. */
static bool split_specification(const char *option, const char *form, const char *specification, char **name,
                                char ***files, GError **error)
{
    const char *equals = strchr(specification, '=');
    if (equals != NULL && equals > specification && equals[1] == '\0')
        return xlm_error_set(error, EX_USAGE, "%s=%s: no file is named after the =; the form is %s=%s", option, specification,
                             option, form);
    if (equals == NULL || equals == specification)
        return xlm_error_set(error, EX_USAGE, "%s=%s: the form is %s=%s", option, specification, option, form);
    *name = g_strndup(specification, (gsize)(equals - specification));
    *files = g_strsplit(equals + 1, ",", -1);
    return !g_strv_contains((const char *const *)*files, "") ||
           xlm_error_set(error, EX_USAGE, "%s=%s: a name of a file is empty; the form is %s=%s", option, specification, option,
                         form);
}

static const xlm_prep_source *source_at(const xlm_prep_options *options, guint i)
{
    return options->sources->pdata[i];
}

/* The file of a side, "FILE", "jsonl:FIELD:FILE", ... */
static bool take_file(const char *option, const char *specification, const char *given, xlm_prep_source *source, int side,
                      GError **error)
{
    const char *path;
    if (!xlm_line_form_parse(given, &source->form[side], &path, error)) {
        g_prefix_error(error, "%s=%s: ", option, specification);
        return false;
    }
    source->path[side] = g_strdup(path);
    return true;
}

static bool add_monolingual(xlm_prep_options *options, const char *specification, const char *name, char **files,
                            GError **error)
{
    if (!check_language(name, "--mono", specification, error))
        return false;
    const int language = intern_language(options, name);
    for (int i = 0; i < options->monolingual_sources; i++)
        if (source_at(options, (guint)i)->language[0] == language)
            return xlm_error_set(error, EX_USAGE, "--mono=%s: language %s is given twice; give all its files in one "
                                 "--mono %s=FILE,FILE", specification, name, name);
    for (; *files != NULL; files++) {
        xlm_prep_source *source = g_new0(xlm_prep_source, 1);
        source->sides = 1;
        source->language[0] = language;
        g_ptr_array_insert(options->sources, options->monolingual_sources++, source);
        if (!take_file("--mono", specification, *files, source, 0, error))
            return false;
        source->conllu = source->form[0].kind == XLM_FORM_TEXT && xlm_conllu_is_named(source->path[0]);
    }
    return true;
}

bool xlm_prep_add_monolingual(xlm_prep_options *options, const char *specification, GError **error)
{
    g_autofree char *name = NULL;
    g_auto(GStrv) files = NULL;
    return split_specification("--mono", "LANG=FILE[,FILE...]", specification, &name, &files, error) &&
           add_monolingual(options, specification, name, files, error);
}

/* The lines of two files correspond; units of TMX only to those of the same file, and web pages to nothing. */
static bool check_forms(const char *specification, char *const *files, GError **error)
{
    const char *file[2] = {NULL};
    bool good = true;
    for (int side = 0; side < 2 && good; side++) {
        xlm_line_form form;
        const char *path;
        if (!xlm_line_form_parse(files[side], &form, &path, NULL))
            continue; /* refused when the file is taken */
        file[side] = form.kind == XLM_FORM_TMX ? path : NULL;
        good = form.kind != XLM_FORM_WET ||
               xlm_error_set(error, EX_USAGE, "--para=%s: WET is for --mono; its lines are translations of nothing",
                             specification);
        xlm_line_form_clear(&form);
    }
    return good && (g_strcmp0(file[0], file[1]) == 0 ||
                    xlm_error_set(error, EX_USAGE, "--para=%s: both sides of a pair are of one TMX file, tmx:A:FILE,tmx:B:FILE",
                                  specification));
}

static bool add_parallel(xlm_prep_options *options, const char *specification, char *const *names,
                         char *const *files, GError **error)
{
    if (g_strv_length((char **)names) != 2 || g_strv_length((char **)files) != 2)
        return xlm_error_set(error, EX_USAGE, "--para=%s: the form is --para=A-B=FILE_A,FILE_B, two languages and two "
                             "files", specification);
    if (!check_language(names[0], "--para", specification, error) ||
        !check_language(names[1], "--para", specification, error))
        return false;
    for (int side = 0; side < 2; side++)
        if (xlm_conllu_is_named(files[side]))
            return xlm_error_set(error, EX_USAGE, "--para=%s: CoNLL-U is for --mono; give sentences, one a line", specification);
    if (!check_forms(specification, files, error))
        return false;
    const int a = intern_language(options, names[0]), b = intern_language(options, names[1]);
    if (a == b)
        return xlm_error_set(error, EX_USAGE, "--para=%s: a pair needs two languages", specification);
    for (guint i = (guint)options->monolingual_sources; i < options->sources->len; i++) {
        const int *other = source_at(options, i)->language;
        if ((other[0] == a && other[1] == b) || (other[0] == b && other[1] == a))
            return xlm_error_set(error, EX_USAGE, "--para=%s: the pair %s-%s is given twice; join its files",
                                 specification, names[0], names[1]);
    }
    xlm_prep_source *source = g_new0(xlm_prep_source, 1);
    *source = (xlm_prep_source){.sides = 2, .language = {a, b}};
    g_ptr_array_add(options->sources, source);
    return take_file("--para", specification, files[0], source, 0, error) &&
           take_file("--para", specification, files[1], source, 1, error);
}

bool xlm_prep_add_parallel(xlm_prep_options *options, const char *specification, GError **error)
{
    g_autofree char *name = NULL;
    g_auto(GStrv) files = NULL;
    if (!split_specification("--para", "A-B=FILE_A,FILE_B", specification, &name, &files, error))
        return false;
    g_auto(GStrv) names = g_strsplit(name, "-", -1);
    return add_parallel(options, specification, names, files, error);
}

/* ---- synthetic languages ---- */

static bool is_asked_for(const xlm_prep_options *options, int language)
{
    for (guint i = 0; i < options->synthetic->len; i++)
        if (((const xlm_synthetic *)options->synthetic->pdata[i])->language == language)
            return true;
    return false;
}

static bool add_made(xlm_prep_options *options, const char *specification, const char *name, const char *base,
                     const char *steps, GError **error)
{
    if (!check_language(name, "--derive", specification, error) || !check_language(base, "--derive", specification, error))
        return false;
    const int known = (int)options->languages->len, language = intern_language(options, name);
    const bool made_before = options->like != NULL && xlm_vocabulary_find_made(options->like, language) != NULL;
    if (language < known && (!made_before || is_asked_for(options, language)))
        return xlm_error_set(error, EX_USAGE, "--derive=%s: there is a language %s already; choose another name", specification,
                             name);
    GError *cause = NULL;
    xlm_synthetic *made = xlm_synthetic_parse(steps, &cause);
    if (made == NULL) {
        g_prefix_error(&cause, "--derive=%s: ", specification);
        g_propagate_error(error, cause);
        return false;
    }
    made->language = language;
    made->base = intern_language(options, base);
    g_ptr_array_add(options->synthetic, made);
    for (int i = 0; i < options->monolingual_sources; i++) {
        xlm_prep_source *source = options->sources->pdata[i];
        if (made->weights[0] == NULL || source->language[0] != made->base)
            continue;
        if (!source->conllu)
            return xlm_error_set(error, EX_USAGE, "--derive=%s: syntax needs trees, and %s is not CoNLL-U (*.conllu, "
                                 "*.conllu.gz)", specification, source->path[0]);
        source->needs_trees = true;
    }
    return true;
}

bool xlm_prep_add_synthetic(xlm_prep_options *options, const char *specification, GError **error)
{
    const char *equals = strchr(specification, '='), *colon = equals != NULL ? strchr(equals, ':') : NULL;
    if (colon == NULL)
        return xlm_error_set(error, EX_USAGE, "--derive=%s: the form is --derive NAME=BASE:STEP[,STEP...]", specification);
    g_autofree char *name = g_strndup(specification, (gsize)(equals - specification));
    g_autofree char *base = g_strndup(equals + 1, (gsize)(colon - equals - 1));
    return add_made(options, specification, name, base, colon + 1, error);
}

/* ---- memory ---- */

static const int64_t DEFAULT_MEMORY = INT64_C(2) << 30;

bool xlm_prep_has_text(const xlm_prep_options *options, int language, bool monolingual)
{
    const guint sources = monolingual ? (guint)options->monolingual_sources : options->sources->len;
    for (guint i = 0; i < sources; i++)
        for (int side = 0; side < source_at(options, i)->sides; side++)
            if (source_at(options, i)->language[side] == language)
                return true;
    return false;
}

int64_t xlm_prep_memory(const xlm_prep_options *options) { return options->memory > 0 ? options->memory : DEFAULT_MEMORY; }

int64_t xlm_prep_learning_memory(const xlm_prep_options *options)
{
    const uint64_t left = xlm_memory_left();
    if (options->memory > 0)
        return options->memory;
    return left > INT64_MAX ? INT64_MAX : MAX((int64_t)left, DEFAULT_MEMORY);
}

char *xlm_prep_scratch(const xlm_prep_options *options)
{
    const char *const written[] = {options->output, options->write_segmenter, options->write_vocabulary, options->write_twins,
                                   options->segment_output, options->derive_output};
    if (options->scratch != NULL)
        return g_strdup(options->scratch);
    for (size_t i = 0; i < G_N_ELEMENTS(written); i++)
        if (written[i] != NULL)
            return g_path_get_dirname(written[i]);
    return g_strdup(".");
}

/* ---- pairs ---- */

int xlm_prep_new_pairs_count(const xlm_prep_options *options)
{
    return (int)options->sources->len - options->monolingual_sources + (int)options->synthetic->len;
}

int xlm_prep_pairs_count(const xlm_prep_options *options)
{
    return xlm_prep_new_pairs_count(options) + (int)options->copied_pairs->len;
}

int xlm_prep_pair_of(const xlm_prep_options *options, const xlm_corpus_pairs *pairs)
{
    const int n = xlm_prep_pairs_count(options), a = pairs->source->language_id, b = pairs->target->language_id;
    for (int i = 0, languages[2]; i < n; i++) {
        xlm_prep_pair_languages(options, i, languages);
        if ((languages[0] == a && languages[1] == b) || (languages[0] == b && languages[1] == a))
            return i;
    }
    return -1;
}

/* Exchange the sides of a parallel source. */
static void turn(xlm_prep_source *source)
{
    const xlm_prep_source old = *source;
    for (int side = 0; side < 2; side++) {
        source->language[side] = old.language[1 - side];
        source->path[side] = old.path[1 - side];
        source->form[side] = old.form[1 - side];
    }
}

static void match_pairs(xlm_prep_options *options, const xlm_corpus_pairs *pairs)
{
    const int i = xlm_prep_pair_of(options, pairs), languages[2] = {pairs->source->language_id, pairs->target->language_id};
    if (i < 0)
        g_array_append_vals(options->copied_pairs, languages, 1);
    else if (i < (int)options->sources->len - options->monolingual_sources) {
        xlm_prep_source *source = options->sources->pdata[options->monolingual_sources + i];
        if (source->language[0] != languages[0])
            turn(source);
    }
}

void xlm_prep_match_pairs(xlm_prep_options *options)
{
    for (int split = 0; split < XLM_SPLITS; split++) {
        int n;
        const xlm_corpus_pairs *pairs = xlm_corpus_all_pairs(options->append->corpus, split, &n);
        for (int i = 0; i < n; i++)
            match_pairs(options, &pairs[i]);
    }
}

void xlm_prep_pair_languages(const xlm_prep_options *options, int i, int languages[2])
{
    const int given = (int)options->sources->len - options->monolingual_sources;
    if (i < given) {
        const xlm_prep_source *source = source_at(options, (guint)(options->monolingual_sources + i));
        languages[0] = source->language[0];
        languages[1] = source->language[1];
    } else if (i >= xlm_prep_new_pairs_count(options)) {
        memcpy(languages, options->copied_pairs->data + (gsize)(i - xlm_prep_new_pairs_count(options)) * 2 * sizeof(int),
               2 * sizeof(int));
    } else {
        const xlm_synthetic *made = options->synthetic->pdata[i - given];
        languages[0] = made->base;
        languages[1] = made->language;
    }
}

char *xlm_prep_pair_name(const xlm_prep_options *options, int i)
{
    int languages[2];
    xlm_prep_pair_languages(options, i, languages);
    return g_strdup_printf("%s-%s", (const char *)options->languages->pdata[languages[0]],
                           (const char *)options->languages->pdata[languages[1]]);
}
