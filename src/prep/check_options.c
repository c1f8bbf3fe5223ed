/* xlm-mpi: options of a preparation, checked before any work. SPDX-License-Identifier: GPL-3.0-or-later */

#include <string.h>

#include "files/files.h"
#include "files/path.h"
#include "prep/filter_options.h"
#include "prep/like.h"
#include "prep/options.h"
#include "prep/segmenter_options.h"
#include "prep/texts.h"
#include "text/lines.h"
#include "text/normalise.h"

static const xlm_prep_source *source_at(const xlm_prep_options *options, guint i)
{
    return options->sources->pdata[i];
}

/* ---- what is asked for ---- */

static bool check_numbers(const xlm_prep_options *o, GError **error)
{
    if (!(o->alpha >= 0 && o->alpha <= 1))
        return xlm_error_set(error, EX_USAGE, "--alpha=%g: the exponent is 0 (all languages alike) to 1 (as the text "
                             "is)", o->alpha);
    if (!(o->sample > 0 && o->sample <= 1))
        return xlm_error_set(error, EX_USAGE, "--sample=%g: the share is above 0 and at most 1", o->sample);
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

static bool check_segment_mode(const xlm_prep_options *o, GError **error)
{
    const xlm_segmenter_class *cls;
    const xlm_segmenter_options *asked = xlm_prep_segmenter(o, &cls);
    if (asked->file == NULL) {
        g_autofree char *options = xlm_prep_file_options();
        return xlm_error_set(error, EX_USAGE, "--segment needs %s", options);
    }
    if (o->like != NULL)
        return xlm_error_set(error, EX_USAGE, "%s is for a corpus; it cannot be combined with --segment", o->like_option);
    if (o->sources->len > 0 || o->output != NULL || asked->amount > 0 || o->write_segmenter != NULL ||
        o->write_vocabulary != NULL || o->synthetic->len > 0 || o->write_twins != NULL || o->min_count != 1 ||
        o->max_vocabulary != 0 || o->add_subwords != 0 || o->shared != 0 || o->seed != 0)
        return xlm_error_set(error, EX_USAGE, "--segment goes with --%s and --vocab alone; it reads tokenised text "
                             "and writes text", xlm_segmenter_option_name(cls, offsetof(xlm_segmenter_options, file)));
    return xlm_prep_check_segmenter(o, error) && xlm_segmenter_class_takes_words(cls, "--segment", error);
}

static bool check_made(const xlm_prep_options *o, GError **error)
{
    bool transliterates = false;
    for (guint i = 0; i < o->synthetic->len; i++) {
        const xlm_synthetic *made = o->synthetic->pdata[i];
        const char *name = o->languages->pdata[made->language], *base = o->languages->pdata[made->base];
        if (!xlm_prep_has_text(o, made->base, true))
            return xlm_error_set(error, EX_USAGE, "--derive=%s=%s:%s: there is no text of %s to make it of; give it with --mono "
                                 "%s=FILE", name, base, made->steps, base, base);
        transliterates = transliterates || made->transliterates;
    }
    if (o->synthetic->len > 0 && o->output == NULL)
        return xlm_error_set(error, EX_USAGE, "--derive makes text for a corpus; name it with -o");
    const xlm_segmenter_class *cls;
    xlm_prep_segmenter(o, &cls);
    if (o->synthetic->len > 0 && !xlm_segmenter_class_takes_words(cls, "--derive", error))
        return false;
    if (!transliterates && (o->shared != 0 || o->write_twins != NULL))
        return xlm_error_set(error, EX_USAGE, "--shared and --write-twins go with --derive NAME=BASE:transliterate");
    return true;
}

static bool check_derive_mode(const xlm_prep_options *o, GError **error)
{
    if (o->synthetic->len != 1)
        return xlm_error_set(error, EX_USAGE, "--derive-conllu needs one --derive, which says what to make");
    if (o->like != NULL)
        return xlm_error_set(error, EX_USAGE, "%s is for a corpus; it cannot be combined with --derive-conllu", o->like_option);
    g_autofree char *segmenter = xlm_prep_given_segmenter(o);
    const bool segments = segmenter != NULL;
    if (segments || o->sources->len > 0 || o->output != NULL || o->vocabulary != NULL ||
        o->write_segmenter != NULL || o->write_vocabulary != NULL || o->write_twins != NULL || o->min_count != 1 ||
        o->max_vocabulary != 0 || o->add_subwords != 0 || o->shared != 0 || o->lower)
        return xlm_error_set(error, EX_USAGE, "--derive-conllu goes with --derive and --seed alone; it reads and writes CoNLL-U");
    return true;
}

/* Refuse to write a segmenter that is not all in a file of codes or a model. */
static bool check_written(const xlm_prep_options *o, GError **error)
{
    int language;
    const xlm_segmenter *segmenter = xlm_vocabulary_segmenter(o->like);
    if (o->write_segmenter == NULL)
        return true;
    if (xlm_vocabulary_second_segmenter(o->like, &language) != NULL)
        return xlm_error_set(error, EX_USAGE, "--write-codes: text of %s is segmented by a model of its own in %s, and one file "
                             "cannot have both; leave it out", xlm_vocabulary_language_names(o->like)[language], o->like_path);
    return xlm_segmenter_has_file(segmenter) ||
           xlm_error_set(error, EX_USAGE, "--write-codes: the segmenter of %s, %s, has rules that a file of codes, or of a model, "
                         "cannot have; leave it out", o->like_path, xlm_segmenter_class_of(segmenter)->name);
}

/* Refuse options that would make another vocabulary than that of --like or --tokenizer. */
static bool check_like(const xlm_prep_options *o, GError **error)
{
    if (o->like == NULL)
        return o->add_subwords == 0 ||
               xlm_error_set(error, EX_USAGE, "--add-subwords adds to the vocabulary of --like=FILE, which is not given");
    g_autofree char *segmenter = xlm_prep_given_segmenter(o);
    const struct {
        const char *option;
        bool given;
    } others[] = {{segmenter, segmenter != NULL}, {"--vocab", o->vocabulary != NULL}, {"--min-count", o->min_count != 1},
                  {"--max-vocab", o->max_vocabulary != 0}, {"--shared", o->shared != 0},
                  {"--add-subwords", o->append != NULL && o->add_subwords != 0}};
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        if (others[i].given)
            return xlm_error_set(error, EX_USAGE, "%s cannot be combined with %s, which sets the vocabulary of %s; leave it out",
                                 others[i].option, o->like_option, o->like_path);
    if (!check_written(o, error))
        return false;
    if (o->append != NULL && o->output == NULL)
        return xlm_error_set(error, EX_USAGE, "--append makes a new corpus of %s and the text; name it with -o", o->like_path);
    const xlm_segmenter_class *cls = xlm_segmenter_class_of(xlm_vocabulary_segmenter(o->like));
    const bool has_pairs = o->monolingual_sources < (int)o->sources->len;
    if (o->append != NULL && o->held_out > 0 && has_pairs && cls->input == XLM_SEGMENTS_LINES)
        return xlm_error_set(error, EX_USAGE, "--append: the sentences of %s cannot be compared with new pairs, since its segmenter, "
                             "%s, changes text; prepare pairs with --like", o->like_path, cls->name);
    if (o->add_subwords > 0 && !xlm_segmenter_class_learns_more(cls))
        return xlm_error_set(error, EX_USAGE, "--add-subwords: the segmenter of %s is %s, which cannot continue learning; "
                             "leave it out", o->like_path, cls->name);
    return xlm_prep_check_like(o, error);
}

/* Check that there is one source of subwords. */
static bool check_subwords(const xlm_prep_options *o, GError **error)
{
    const xlm_segmenter_class *cls;
    const xlm_segmenter_options *asked = xlm_prep_segmenter(o, &cls);
    g_autofree char *learn = xlm_prep_learn_options(), *read = xlm_prep_file_options();
    bool good = true;
    if (asked->amount == 0 && asked->file == NULL && o->like == NULL)
        good = xlm_error_set(error, EX_USAGE, "no subwords; learn them with %s or give them with %s, --like=FILE or "
                             "--tokenizer=DIR", learn, read);
    else if (asked->amount > 0 && xlm_segmenter_class_lists(cls) && (o->min_count != 1 || o->max_vocabulary != 0))
        good = xlm_error_set(error, EX_USAGE, "--min-count and --max-vocab choose subwords of a text; --%s says how many there "
                             "are", xlm_segmenter_option_name(cls, offsetof(xlm_segmenter_options, amount)));
    else if (o->vocabulary != NULL && asked->file == NULL)
        good = xlm_error_set(error, EX_USAGE, "--vocab needs the segmenter it was made with; use %s", read);
    return good;
}

static bool check_combination(const xlm_prep_options *o, GError **error)
{
    const xlm_segmenter_class *cls;
    const xlm_segmenter_options *asked = xlm_prep_segmenter(o, &cls);
    if (o->sources->len == 0)
        return xlm_error_set(error, EX_USAGE, "no text given; use --mono=LANG=FILE or --para=A-B=FILE_A,FILE_B");
    if (!xlm_prep_check_segmenter(o, error) || !check_like(o, error) || !check_subwords(o, error))
        return false;
    if (o->vocabulary != NULL && (o->min_count != 1 || o->max_vocabulary != 0))
        return xlm_error_set(error, EX_USAGE, "--vocab gives the vocabulary; --min-count and --max-vocab choose one");
    if (o->output == NULL && o->write_segmenter == NULL && o->write_vocabulary == NULL)
        return xlm_error_set(error, EX_USAGE, "nothing to do; name an output with -o, --write-codes or --write-vocab");
    if (o->output == NULL && o->write_vocabulary == NULL && asked->file != NULL)
        return xlm_error_set(error, EX_USAGE, "%s: --write-codes alone would only copy the file", asked->file);
    return check_made(o, error) && xlm_prep_check_rules(o, error);
}

/* ---- files ---- */

/* Standard input comes once, and a member is found by reading its archive: neither is read before it is unpacked. */
static bool comes_once(const char *path)
{
    g_autofree char *file = NULL;
    return strcmp(path, "-") == 0 || xlm_path_member(path, &file) != NULL;
}

static bool is_read_later(const xlm_prep_source *source, int side)
{
    return comes_once(source->path[side]) || source->form[side].kind == XLM_FORM_TMX || source->form[side].kind == XLM_FORM_WET;
}

/* Can the file be opened and read as text? */
static bool check_input(const char *path, GError **error)
{
    if (comes_once(path)) {
        g_autofree char *file = NULL;
        xlm_path_member(path, &file);
        return xlm_files_check_input(file, error);
    }
    g_autoptr(xlm_lines) lines = xlm_lines_open(path, error);
    return lines != NULL;
}

/* Does the file have a line with text? Reads it up to that line. comments: lines that begin with # do not count. */
static bool find_text(xlm_lines *lines, const xlm_line_form *form, xlm_normaliser *normaliser, bool comments, bool stops,
                      GError **error)
{
    g_autoptr(GString) storage = g_string_new(NULL);
    const char *line, *normal;
    size_t size, normal_size;
    int got;
    while ((got = xlm_lines_next(lines, &line, &size, error)) == 1) {
        if (comments && size > 0 && *line == '#')
            continue;
        if (!comments && xlm_lines_number(lines) == 1 && !xlm_line_form_check(form, lines, line, size, error))
            return false;
        g_autoptr(GError) bad = NULL;
        const bool formed = xlm_line_form_text(form, lines, line, size, storage, &line, &size, &bad);
        if (formed && xlm_normaliser_run(normaliser, line, size, &normal, &normal_size, &bad)) {
            if (normal_size > 0)
                return true;
        } else if (stops) {
            if (formed)
                g_prefix_error(&bad, "%s:%" G_GINT64_FORMAT ": ", xlm_lines_path(lines), xlm_lines_number(lines));
            g_propagate_error(error, g_steal_pointer(&bad));
            return false;
        }
    }
    if (got == 0)
        xlm_error_set(error, EX_DATAERR, "%s: empty, no line has text; remove it or give another file",
                      xlm_lines_path(lines));
    return false;
}

/* lines: freed; NULL if they could not be opened, with *error. */
static bool check_text(xlm_lines *lines, const xlm_line_form *form, xlm_normaliser *normaliser, bool comments, bool stops,
                       GError **error)
{
    const bool good = lines != NULL && find_text(lines, form, normaliser, comments, stops, error);
    xlm_lines_close(lines);
    return good;
}

static bool check_side(const xlm_prep_options *o, const xlm_prep_source *source, int side, bool unpacked,
                       xlm_normaliser *normaliser, GError **error)
{
    if (is_read_later(source, side) != unpacked)
        return true;
    const xlm_prep_text *text = source->text[side];
    return check_text(unpacked ? xlm_lines_open_plain(text->path, text->name, error) : xlm_lines_open(source->path[side], error),
                      &source->form[side], normaliser, source->conllu, source->conllu || o->bad_lines == XLM_BAD_STOP, error);
}

/* unpacked: check the texts that are read later, which is now. */
static bool check_texts(const xlm_prep_options *o, bool unpacked, GError **error)
{
    static const xlm_line_form trees = {.kind = XLM_FORM_LINES};
    xlm_normaliser *normaliser = xlm_prep_normaliser(o, error);
    bool good = normaliser != NULL;
    for (guint i = 0; i < o->sources->len && good; i++)
        for (int side = 0; side < source_at(o, i)->sides && good; side++)
            good = check_side(o, source_at(o, i), side, unpacked, normaliser, error);
    if (good && o->derive_input != NULL && !comes_once(o->derive_input))
        good = check_text(xlm_lines_open(o->derive_input, error), &trees, normaliser, true, true, error);
    xlm_normaliser_free(normaliser);
    return good;
}

bool xlm_prep_check_unpacked(const xlm_prep_options *options, GError **error) { return check_texts(options, true, error); }

/* A list of corpora has commas between them, and blanks around its names do not matter (corpus/corpus.h). */
static bool check_corpus_name(const char *path, GError **error)
{
    const size_t size = path != NULL ? strlen(path) : 0;
    return size == 0 || (strchr(path, ',') == NULL && !g_ascii_isspace(path[0]) && !g_ascii_isspace(path[size - 1])) ||
           xlm_error_set(error, EX_USAGE, "--output=%s: names of corpora have no commas, which separate several that are read as "
                         "one, and no blanks at their ends; give it another name", path);
}

static bool check_outputs(const xlm_prep_options *o, const GPtrArray *inputs, GError **error)
{
    const char *const outputs[] = {o->output, o->write_segmenter, o->write_vocabulary, o->write_twins,
                                   o->segment_output, o->derive_output};
    return check_corpus_name(o->output, error) &&
           xlm_path_check_outputs(outputs, G_N_ELEMENTS(outputs), (const char *const *)inputs->pdata, inputs->len, error);
}

static bool check_files(const xlm_prep_options *o, GError **error)
{
    g_autoptr(GPtrArray) inputs = g_ptr_array_new();
    for (guint i = 0; i < o->sources->len; i++)
        for (int side = 0; side < source_at(o, i)->sides; side++)
            g_ptr_array_add(inputs, source_at(o, i)->path[side]);
    const xlm_segmenter_class *cls;
    const xlm_segmenter_options *asked = xlm_prep_segmenter(o, &cls);
    char *others[] = {asked->file, o->vocabulary, o->segment_input, o->derive_input};
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        if (others[i] != NULL)
            g_ptr_array_add(inputs, others[i]);
    for (guint i = 0; i < o->synthetic->len; i++)
        for (int k = 0; k < 2; k++)
            if (((const xlm_synthetic *)o->synthetic->pdata[i])->weights[k] != NULL)
                g_ptr_array_add(inputs, ((const xlm_synthetic *)o->synthetic->pdata[i])->weights[k]);
    bool good = true;
    for (guint i = 0; i < inputs->len && good; i++)
        good = check_input(inputs->pdata[i], error);
    for (guint i = 0; i < o->like_files->len; i++) /* these are not text, and have already been read */
        g_ptr_array_add(inputs, o->like_files->pdata[i]);
    good = good && check_outputs(o, inputs, error) &&
           (o->scratch == NULL || xlm_path_check_directory(o->scratch, "scratch files", error));
    return good && check_texts(o, false, error);
}

bool xlm_prep_options_check(const xlm_prep_options *options, GError **error)
{
    return check_numbers(options, error) &&
           (options->segment_input != NULL  ? check_segment_mode(options, error)
            : options->derive_input != NULL ? check_derive_mode(options, error)
                                            : check_combination(options, error)) &&
           check_files(options, error);
}
