/* xlm-mpi: what a preparation is told to do, checked before any work. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/options.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prep/like.h"
#include "prep/segmenter_options.h"
#include "text/conllu.h"
#include "text/normalise.h"

static void free_source(void *pointer)
{
    xlm_prepare_source *source = pointer;
    g_free(source->path[0]);
    g_free(source->path[1]);
    g_free(source);
}

xlm_prepare_options *xlm_prepare_options_new(void)
{
    xlm_prepare_options *options = g_new0(xlm_prepare_options, 1);
    options->languages = g_ptr_array_new_with_free_func(g_free);
    options->sources = g_ptr_array_new_with_free_func(free_source);
    options->made = g_ptr_array_new_with_free_func((GDestroyNotify)xlm_synthetic_free);
    options->segmenters = xlm_segmenter_options_new();
    options->alpha = 0.5;
    options->min_count = 1;
    options->held_out = 0.01;
    return options;
}

void xlm_prepare_options_free(xlm_prepare_options *options)
{
    if (options == NULL)
        return;
    char **texts[] = {&options->vocabulary, &options->output, &options->write_segmenter,
                      &options->write_vocabulary, &options->write_twins, &options->segment_input, &options->segment_output,
                      &options->derive_input, &options->derive_output, &options->command, &options->like_path};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(*texts[i]);
    g_ptr_array_free(options->languages, TRUE);
    g_ptr_array_free(options->sources, TRUE);
    g_ptr_array_free(options->made, TRUE);
    xlm_vocabulary_free(options->like);
    xlm_segmenter_options_free(options->segmenters);
    g_free(options);
}

/* ---- inputs ---- */

/* Languages become names of groups in the file and parts of "a-b": letters, digits, '_' and '.' only. */
static bool check_language(const char *name, const char *option, const char *specification, GError **error)
{
    bool good = *name != '\0' && *name != '.';
    for (const char *p = name; *p != '\0' && good; p++)
        good = g_ascii_isalnum(*p) || *p == '_' || *p == '.';
    return good || xlm_error_set(error, EX_USAGE, "%s=%s: \"%s\" is no name of a language; use letters, digits, _ and "
                                 ". (zh_cn, not zh-cn)", option, specification, name);
}

/* The id of a language, new or known. */
static int intern_language(xlm_prepare_options *options, const char *name)
{
    for (guint i = 0; i < options->languages->len; i++)
        if (strcmp(options->languages->pdata[i], name) == 0)
            return (int)i;
    g_ptr_array_add(options->languages, g_strdup(name));
    return (int)options->languages->len - 1;
}

/* Split "NAME=FILE,FILE" into its name and NULL-terminated files. */
static bool split_specification(const char *option, const char *form, const char *specification, char **name,
                                char ***files, GError **error)
{
    const char *equals = strchr(specification, '=');
    if (equals == NULL || equals == specification || equals[1] == '\0')
        return xlm_error_set(error, EX_USAGE, "%s=%s: the form is %s=%s", option, specification, option, form);
    char **parts = g_strsplit(equals + 1, ",", -1);
    for (char **part = parts; *part != NULL; part++)
        if (**part == '\0') {
            g_strfreev(parts);
            return xlm_error_set(error, EX_USAGE, "%s=%s: a name of a file is empty; the form is %s=%s", option,
                                 specification, option, form);
        }
    *name = g_strndup(specification, (gsize)(equals - specification));
    *files = parts;
    return true;
}

static const xlm_prepare_source *source_at(const xlm_prepare_options *options, guint i)
{
    return options->sources->pdata[i];
}

static bool add_monolingual(xlm_prepare_options *options, const char *specification, const char *name, char **files,
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
        xlm_prepare_source *source = g_new0(xlm_prepare_source, 1);
        source->sides = 1;
        source->language[0] = language;
        source->path[0] = g_strdup(*files);
        source->conllu = xlm_conllu_is_named(*files);
        g_ptr_array_insert(options->sources, options->monolingual_sources++, source);
    }
    return true;
}

bool xlm_prepare_add_monolingual(xlm_prepare_options *options, const char *specification, GError **error)
{
    char *name, **files;
    if (!split_specification("--mono", "LANG=FILE[,FILE...]", specification, &name, &files, error))
        return false;
    const bool done = add_monolingual(options, specification, name, files, error);
    g_strfreev(files);
    g_free(name);
    return done;
}

static bool add_parallel(xlm_prepare_options *options, const char *specification, char *const *names,
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
    const int a = intern_language(options, names[0]), b = intern_language(options, names[1]);
    if (a == b)
        return xlm_error_set(error, EX_USAGE, "--para=%s: a pair needs two languages", specification);
    for (guint i = (guint)options->monolingual_sources; i < options->sources->len; i++) {
        const int *other = source_at(options, i)->language;
        if ((other[0] == a && other[1] == b) || (other[0] == b && other[1] == a))
            return xlm_error_set(error, EX_USAGE, "--para=%s: the pair %s-%s is given twice; join its files",
                                 specification, names[0], names[1]);
    }
    xlm_prepare_source *source = g_new0(xlm_prepare_source, 1);
    *source = (xlm_prepare_source){.sides = 2, .language = {a, b}, .path = {g_strdup(files[0]), g_strdup(files[1])}};
    g_ptr_array_add(options->sources, source);
    return true;
}

bool xlm_prepare_add_parallel(xlm_prepare_options *options, const char *specification, GError **error)
{
    char *name, **files;
    if (!split_specification("--para", "A-B=FILE_A,FILE_B", specification, &name, &files, error))
        return false;
    char **names = g_strsplit(name, "-", -1);
    const bool done = add_parallel(options, specification, names, files, error);
    g_strfreev(names);
    g_strfreev(files);
    g_free(name);
    return done;
}

/* ---- synthetic languages ---- */

static bool has_text(const xlm_prepare_options *options, int language, bool monolingual)
{
    for (guint i = 0; i < (monolingual ? (guint)options->monolingual_sources : options->sources->len); i++)
        for (int side = 0; side < source_at(options, i)->sides; side++)
            if (source_at(options, i)->language[side] == language)
                return true;
    return false;
}

/* The vocabulary that is given has it as a synthetic language. */
static bool is_made_in(const xlm_vocabulary *like, int language)
{
    int n = 0;
    const xlm_vocabulary_made *made = like != NULL ? xlm_vocabulary_made_languages(like, &n) : NULL;
    for (int i = 0; i < n; i++)
        if (made[i].language == language)
            return true;
    return false;
}

static bool is_asked_for(const xlm_prepare_options *options, int language)
{
    for (guint i = 0; i < options->made->len; i++)
        if (((const xlm_synthetic *)options->made->pdata[i])->language == language)
            return true;
    return false;
}

static bool add_made(xlm_prepare_options *options, const char *specification, const char *name, const char *base,
                     const char *steps, GError **error)
{
    if (!check_language(name, "--derive", specification, error) || !check_language(base, "--derive", specification, error))
        return false;
    const int known = (int)options->languages->len, language = intern_language(options, name);
    if (language < known && (!is_made_in(options->like, language) || is_asked_for(options, language)))
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
    g_ptr_array_add(options->made, made);
    for (int i = 0; i < options->monolingual_sources; i++) {
        xlm_prepare_source *source = options->sources->pdata[i];
        if (made->weights[0] == NULL || source->language[0] != made->base)
            continue;
        if (!source->conllu)
            return xlm_error_set(error, EX_USAGE, "--derive=%s: syntax needs trees, and %s is not CoNLL-U (*.conllu, "
                                 "*.conllu.gz)", specification, source->path[0]);
        source->needs_trees = true;
    }
    return true;
}

bool xlm_prepare_add_made(xlm_prepare_options *options, const char *specification, GError **error)
{
    const char *equals = strchr(specification, '='), *colon = equals != NULL ? strchr(equals, ':') : NULL;
    if (colon == NULL)
        return xlm_error_set(error, EX_USAGE, "--derive=%s: the form is --derive NAME=BASE:STEP[,STEP...]", specification);
    char *name = g_strndup(specification, (gsize)(equals - specification));
    char *base = g_strndup(equals + 1, (gsize)(colon - equals - 1));
    const bool done = add_made(options, specification, name, base, colon + 1, error);
    g_free(name);
    g_free(base);
    return done;
}

/* ---- pairs ---- */

int xlm_prepare_pairs_count(const xlm_prepare_options *options)
{
    return (int)options->sources->len - options->monolingual_sources + (int)options->made->len;
}

void xlm_prepare_pair_languages(const xlm_prepare_options *options, int i, int languages[2])
{
    const int given = (int)options->sources->len - options->monolingual_sources;
    if (i < given) {
        const xlm_prepare_source *source = source_at(options, (guint)(options->monolingual_sources + i));
        languages[0] = source->language[0];
        languages[1] = source->language[1];
    } else {
        const xlm_synthetic *made = options->made->pdata[i - given];
        languages[0] = made->base;
        languages[1] = made->language;
    }
}

char *xlm_prepare_pair_name(const xlm_prepare_options *options, int i)
{
    int languages[2];
    xlm_prepare_pair_languages(options, i, languages);
    return g_strdup_printf("%s-%s", (const char *)options->languages->pdata[languages[0]],
                           (const char *)options->languages->pdata[languages[1]]);
}

/* ---- checks ---- */

static bool check_numbers(const xlm_prepare_options *o, GError **error)
{
    if (!(o->alpha >= 0 && o->alpha <= 1))
        return xlm_error_set(error, EX_USAGE, "--alpha=%g: the exponent is 0 (all languages alike) to 1 (as the text "
                             "is)", o->alpha);
    if (!(o->held_out >= 0 && o->held_out < 1))
        return xlm_error_set(error, EX_USAGE, "--held-out=%g: the share is at least 0 and less than 1", o->held_out);
    if (o->min_count < 1)
        return xlm_error_set(error, EX_USAGE, "--min-count=%" G_GINT64_FORMAT ": the count is at least 1", o->min_count);
    if (o->max_vocabulary < 0)
        return xlm_error_set(error, EX_USAGE, "--max-vocab=%" G_GINT64_FORMAT ": the number of subwords is at least 1",
                             o->max_vocabulary);
    if (!(o->shared >= 0 && o->shared <= 1))
        return xlm_error_set(error, EX_USAGE, "--shared=%g: the share is 0 (every subword has a twin) to 1 (none has)",
                             o->shared);
    if (o->add_subwords < 0 || o->add_subwords > 10000000)
        return xlm_error_set(error, EX_USAGE, "--add-subwords=%" G_GINT64_FORMAT ": the number of subwords is 1 to 10000000",
                             o->add_subwords);
    if (o->seed < 0)
        return xlm_error_set(error, EX_USAGE, "--seed=%" G_GINT64_FORMAT ": the seed is at least 0", o->seed);
    return true;
}

static bool check_segment_mode(const xlm_prepare_options *o, GError **error)
{
    const xlm_segmenter_class *cls;
    const xlm_segmenter_options *asked = xlm_prepare_segmenter(o, &cls);
    if (asked->file == NULL) {
        char *options = xlm_prepare_file_options();
        xlm_error_set(error, EX_USAGE, "--segment needs %s", options);
        g_free(options);
        return false;
    }
    if (o->like != NULL)
        return xlm_error_set(error, EX_USAGE, "--like is for a corpus; it does not go with --segment");
    if (o->sources->len > 0 || o->output != NULL || asked->amount > 0 || o->write_segmenter != NULL ||
        o->write_vocabulary != NULL || o->made->len > 0 || o->write_twins != NULL || o->min_count != 1 ||
        o->max_vocabulary != 0 || o->seed != 0)
        return xlm_error_set(error, EX_USAGE, "--segment goes with --%s and --vocab alone; it reads tokenised text "
                             "and writes text", xlm_segmenter_option_name(cls, offsetof(xlm_segmenter_options, file)));
    return xlm_prepare_check_segmenter(o, error) && xlm_segmenter_class_takes_words(cls, "--segment", error);
}

static bool check_made(const xlm_prepare_options *o, GError **error)
{
    bool transliterates = false;
    for (guint i = 0; i < o->made->len; i++) {
        const xlm_synthetic *made = o->made->pdata[i];
        const char *name = o->languages->pdata[made->language], *base = o->languages->pdata[made->base];
        if (!has_text(o, made->base, true))
            return xlm_error_set(error, EX_USAGE, "--derive=%s=%s:%s: there is no text of %s to make it of; give it with --mono "
                                 "%s=FILE", name, base, made->steps, base, base);
        transliterates = transliterates || made->transliterates;
    }
    if (o->made->len > 0 && o->output == NULL)
        return xlm_error_set(error, EX_USAGE, "--derive makes text for a corpus; name it with -o");
    const xlm_segmenter_class *cls;
    xlm_prepare_segmenter(o, &cls);
    if (o->made->len > 0 && !xlm_segmenter_class_takes_words(cls, "--derive", error))
        return false;
    if (!transliterates && (o->shared != 0 || o->write_twins != NULL))
        return xlm_error_set(error, EX_USAGE, "--shared and --write-twins go with --derive NAME=BASE:transliterate");
    return true;
}

static bool check_derive_mode(const xlm_prepare_options *o, GError **error)
{
    if (o->made->len != 1)
        return xlm_error_set(error, EX_USAGE, "--derive-conllu needs one --derive, which says what to make");
    if (o->like != NULL)
        return xlm_error_set(error, EX_USAGE, "--like is for a corpus; it does not go with --derive-conllu");
    char *segmenter = xlm_prepare_given_segmenter(o);
    const bool segments = segmenter != NULL;
    g_free(segmenter);
    if (segments || o->sources->len > 0 || o->output != NULL || o->vocabulary != NULL ||
        o->write_segmenter != NULL || o->write_vocabulary != NULL || o->write_twins != NULL || o->min_count != 1 ||
        o->max_vocabulary != 0 || o->shared != 0 || o->lower)
        return xlm_error_set(error, EX_USAGE, "--derive-conllu goes with --derive and --seed alone; it reads and writes CoNLL-U");
    return true;
}

/* What would make another vocabulary. */
static bool check_like(const xlm_prepare_options *o, GError **error)
{
    if (o->like == NULL)
        return o->add_subwords == 0 ||
               xlm_error_set(error, EX_USAGE, "--add-subwords adds to the vocabulary of --like=FILE, which is not given");
    char *segmenter = xlm_prepare_given_segmenter(o);
    const struct {
        const char *option;
        bool given;
    } others[] = {{segmenter, segmenter != NULL}, {"--vocab", o->vocabulary != NULL}, {"--min-count", o->min_count != 1},
                  {"--max-vocab", o->max_vocabulary != 0}, {"--shared", o->shared != 0}};
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        if (others[i].given) {
            xlm_error_set(error, EX_USAGE, "%s does not go with --like, which gives the vocabulary of %s; leave it out",
                          others[i].option, o->like_path);
            g_free(segmenter);
            return false;
        }
    g_free(segmenter);
    const xlm_segmenter_class *cls = xlm_segmenter_class_of(xlm_vocabulary_segmenter(o->like));
    if (o->add_subwords > 0 && cls->learn_more == NULL)
        return xlm_error_set(error, EX_USAGE, "--add-subwords: the segmenter of %s is %s, which cannot go on learning; leave it "
                             "out", o->like_path, cls->name);
    return xlm_prepare_check_like(o, error);
}

/* Subwords come from somewhere. */
static bool check_subwords(const xlm_prepare_options *o, GError **error)
{
    const xlm_segmenter_class *cls;
    const xlm_segmenter_options *asked = xlm_prepare_segmenter(o, &cls);
    char *learn = xlm_prepare_learn_options(), *read = xlm_prepare_file_options();
    bool good = true;
    if (asked->amount == 0 && asked->file == NULL && o->like == NULL)
        good = xlm_error_set(error, EX_USAGE, "no subwords; learn them with %s or give them with %s or --like=FILE", learn, read);
    else if (o->vocabulary != NULL && asked->file == NULL)
        good = xlm_error_set(error, EX_USAGE, "--vocab needs the segmenter it was made with; use %s", read);
    g_free(learn);
    g_free(read);
    return good;
}

static bool check_combination(const xlm_prepare_options *o, GError **error)
{
    const xlm_segmenter_class *cls;
    const xlm_segmenter_options *asked = xlm_prepare_segmenter(o, &cls);
    if (o->sources->len == 0)
        return xlm_error_set(error, EX_USAGE, "no text given; use --mono=LANG=FILE or --para=A-B=FILE_A,FILE_B");
    if (!xlm_prepare_check_segmenter(o, error) || !check_like(o, error) || !check_subwords(o, error))
        return false;
    if (o->vocabulary != NULL && (o->min_count != 1 || o->max_vocabulary != 0))
        return xlm_error_set(error, EX_USAGE, "--vocab gives the vocabulary; --min-count and --max-vocab choose one");
    if (o->output == NULL && o->write_segmenter == NULL && o->write_vocabulary == NULL)
        return xlm_error_set(error, EX_USAGE, "nothing to do; name an output with -o, --write-codes or --write-vocab");
    if (o->output == NULL && o->write_vocabulary == NULL && asked->file != NULL)
        return xlm_error_set(error, EX_USAGE, "%s: --write-codes alone would only copy the file", asked->file);
    return check_made(o, error) && xlm_segmenter_class_takes_words(cls, "xlm_prep", error);
}

/* True when both names lead to the same file; one or both need not exist. */
static bool same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    if (stat(a, &of_a) == 0 && stat(b, &of_b) == 0)
        return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
    char *whole_a = g_canonicalize_filename(a, NULL), *whole_b = g_canonicalize_filename(b, NULL);
    const bool same = strcmp(whole_a, whole_b) == 0;
    g_free(whole_a);
    g_free(whole_b);
    return same;
}

static bool check_output(const char *path, GError **error)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return xlm_error_set(error, EX_CANTCREAT, "%s: is not a regular file; choose another name", path);
    char *directory = g_path_get_dirname(path);
    bool good = true;
    if (stat(directory, &status) != 0)
        good = xlm_error_set(error, EX_CANTCREAT, "%s: cannot be made: %s: %s", path, directory, g_strerror(errno));
    else if (!S_ISDIR(status.st_mode) || access(directory, W_OK | X_OK) != 0)
        good = xlm_error_set(error, EX_CANTCREAT, "%s: cannot be made: %s: %s", path, directory,
                             g_strerror(S_ISDIR(status.st_mode) ? errno : ENOTDIR));
    g_free(directory);
    return good;
}

/* A file that can be opened. */
static bool check_input(const char *path, GError **error)
{
    xlm_lines *lines = xlm_lines_open(path, error);
    xlm_lines_close(lines);
    return lines != NULL;
}

/* Has the file a line with text? Reads it up to that line. comments: lines that begin with # are none. */
static bool find_text(xlm_lines *lines, xlm_normaliser *normaliser, bool comments, GError **error)
{
    const char *line, *normal;
    size_t size, normal_size;
    int got;
    while ((got = xlm_lines_next(lines, &line, &size, error)) == 1) {
        if (comments && size > 0 && *line == '#')
            continue;
        if (!xlm_normaliser_run(normaliser, line, size, &normal, &normal_size, error)) {
            g_prefix_error(error, "%s:%" G_GINT64_FORMAT ": ", xlm_lines_path(lines), xlm_lines_number(lines));
            return false;
        }
        if (normal_size > 0)
            return true;
    }
    if (got == 0)
        xlm_error_set(error, EX_DATAERR, "%s: empty, no line has text; take it away or give another file",
                      xlm_lines_path(lines));
    return false;
}

static bool check_text(const char *path, xlm_normaliser *normaliser, bool comments, GError **error)
{
    xlm_lines *lines = xlm_lines_open(path, error);
    const bool good = lines != NULL && find_text(lines, normaliser, comments, error);
    xlm_lines_close(lines);
    return good;
}

static bool check_texts(const xlm_prepare_options *o, GError **error)
{
    xlm_normaliser *normaliser = xlm_normaliser_new(o->lower, error);
    bool good = normaliser != NULL;
    for (guint i = 0; i < o->sources->len && good; i++)
        for (int side = 0; side < source_at(o, i)->sides && good; side++)
            good = check_text(source_at(o, i)->path[side], normaliser, source_at(o, i)->conllu, error);
    if (good && o->derive_input != NULL)
        good = check_text(o->derive_input, normaliser, true, error);
    xlm_normaliser_free(normaliser);
    return good;
}

static bool check_outputs(const xlm_prepare_options *o, const GPtrArray *inputs, GError **error)
{
    const char *outputs[] = {o->output, o->write_segmenter, o->write_vocabulary, o->write_twins, o->segment_output,
                             o->derive_output};
    for (size_t i = 0; i < G_N_ELEMENTS(outputs); i++) {
        if (outputs[i] == NULL)
            continue;
        for (guint k = 0; k < inputs->len; k++)
            if (same_file(outputs[i], inputs->pdata[k]))
                return xlm_error_set(error, EX_USAGE, "%s: is both input and output", outputs[i]);
        for (size_t k = 0; k < i; k++)
            if (outputs[k] != NULL && same_file(outputs[i], outputs[k]))
                return xlm_error_set(error, EX_USAGE, "%s: two outputs have this name", outputs[i]);
        if (!check_output(outputs[i], error))
            return false;
    }
    return true;
}

static bool check_files(const xlm_prepare_options *o, GError **error)
{
    GPtrArray *inputs = g_ptr_array_new();
    for (guint i = 0; i < o->sources->len; i++)
        for (int side = 0; side < source_at(o, i)->sides; side++)
            g_ptr_array_add(inputs, source_at(o, i)->path[side]);
    const xlm_segmenter_class *cls;
    const xlm_segmenter_options *asked = xlm_prepare_segmenter(o, &cls);
    char *others[] = {asked->file, o->vocabulary, o->segment_input, o->derive_input, o->like_path};
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        if (others[i] != NULL)
            g_ptr_array_add(inputs, others[i]);
    for (guint i = 0; i < o->made->len; i++)
        for (int k = 0; k < 2; k++)
            if (((const xlm_synthetic *)o->made->pdata[i])->weights[k] != NULL)
                g_ptr_array_add(inputs, ((const xlm_synthetic *)o->made->pdata[i])->weights[k]);
    bool good = true;
    for (guint i = 0; i < inputs->len && good; i++)
        good = check_input(inputs->pdata[i], error);
    good = good && check_outputs(o, inputs, error);
    g_ptr_array_free(inputs, TRUE);
    return good && check_texts(o, error);
}

bool xlm_prepare_options_check(const xlm_prepare_options *options, GError **error)
{
    return check_numbers(options, error) &&
           (options->segment_input != NULL  ? check_segment_mode(options, error)
            : options->derive_input != NULL ? check_derive_mode(options, error)
                                            : check_combination(options, error)) &&
           check_files(options, error);
}
