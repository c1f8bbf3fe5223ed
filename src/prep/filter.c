/* xlm-mpi: sentences and pairs that rules leave out. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/filter.h"

#include "base/rng.h"
#include "prep/duplicates.h"
#include "prep/segmenter_options.h"
#include "text/normalise.h"
#include "text/scripts.h"
#include "text/words.h"

struct xlm_filter {
    const xlm_prep_options *options;
    xlm_normaliser *normaliser[2]; /* NULL: the text that the segmenter gets is normalised as here */
    xlm_splitter **splitter;       /* [languages] NULL for those without text */
    xlm_scripts **scripts;         /* [languages] likewise; given scripts are those of the options */
    GString *line;                 /* the words of a tree */
    xlm_duplicates *duplicates;    /* NULL: they are kept */
    bool finished;
    const xlm_prep_source *source; /* the last one, and its number */
    int source_number;
};

/* The text that rules look at, and how many words it has. */
typedef struct seen {
    int sides;
    const int *language;
    size_t raw_size[2], size[2];
    const char *text[2];
    const uint64_t *digest;
    bool split; /* are the words known? */
    int64_t words[2], longest[2]; /* longest: characters of the longest word */
} seen;

/* ---- making ---- */

static bool add_language(xlm_filter *f, int language, xlm_word_mode mode, GError **error)
{
    const xlm_filter_options *rules = &f->options->filter;
    const char *name = f->options->languages->pdata[language];
    if (f->splitter[language] != NULL)
        return true;
    if (rules->script_share > 0 && !g_hash_table_contains(rules->scripts, name))
        f->scripts[language] = xlm_scripts_of_language(name);
    f->splitter[language] = xlm_splitter_new(mode, name, error);
    return f->splitter[language] != NULL;
}

xlm_filter *xlm_filter_new(const xlm_prep_options *options, GError **error)
{
    xlm_filter *f = g_new0(xlm_filter, 1);
    const xlm_segmenter_class *cls;
    xlm_prep_segmenter(options, &cls);
    const xlm_word_mode mode = cls->normaliser == NULL ? options->words : XLM_WORDS_ICU;
    f->options = options;
    f->line = g_string_new(NULL);
    f->splitter = g_new0(xlm_splitter *, options->languages->len);
    f->scripts = g_new0(xlm_scripts *, options->languages->len);
    if (options->filter.duplicates)
        f->duplicates = xlm_duplicates_new((int)options->sources->len);
    bool good = true;
    for (int side = 0; side < 2 && good && cls->normaliser != NULL; side++)
        good = (f->normaliser[side] = xlm_normaliser_new(false, error)) != NULL;
    for (guint i = 0; i < options->sources->len; i++) {
        const xlm_prep_source *source = options->sources->pdata[i];
        for (int side = 0; side < source->sides && good; side++)
            good = add_language(f, source->language[side], mode, error);
    }
    if (!good)
        g_clear_pointer(&f, xlm_filter_free);
    return f;
}

void xlm_filter_free(xlm_filter *f)
{
    if (f == NULL)
        return;
    for (guint i = 0; i < f->options->languages->len; i++) {
        xlm_splitter_free(f->splitter[i]);
        xlm_scripts_free(f->scripts[i]);
    }
    for (int side = 0; side < 2; side++)
        xlm_normaliser_free(f->normaliser[side]);
    xlm_duplicates_free(f->duplicates);
    g_string_free(f->line, TRUE);
    g_free(f->splitter);
    g_free(f->scripts);
    g_free(f);
}

static const xlm_scripts *scripts_of(const xlm_filter *f, int language)
{
    const xlm_scripts *given = g_hash_table_lookup(f->options->filter.scripts, f->options->languages->pdata[language]);
    return given != NULL ? given : f->scripts[language];
}

const char *xlm_filter_scripts(const xlm_filter *f, int language)
{
    return f->splitter[language] != NULL ? xlm_scripts_codes(scripts_of(f, language)) : NULL;
}

/* ---- rules ---- */

static int64_t count_characters(const char *text, size_t size)
{
    int64_t n = 0;
    for (size_t i = 0; i < size; i++)
        n += ((unsigned char)text[i] & 0xC0) != 0x80; /* not a byte that continues a character */
    return n;
}

static void split(const xlm_filter *f, seen *s)
{
    for (int side = 0; side < s->sides && !s->split; side++) {
        size_t n;
        const xlm_word *word = xlm_splitter_split(f->splitter[s->language[side]], s->text[side], s->size[side], &n);
        s->words[side] = (int64_t)n;
        s->longest[side] = 0;
        for (size_t i = 0; i < n && f->options->filter.max_word_characters > 0; i++)
            s->longest[side] = MAX(s->longest[side], count_characters(s->text[side] + word[i].start, word[i].size));
    }
    s->split = true;
}

/* A rule for the text of one language: does a side break it? */
typedef bool of_side(const xlm_filter *f, const xlm_filter_options *rules, seen *s, int side);

static bool has_bytes(const xlm_filter *f G_GNUC_UNUSED, const xlm_filter_options *rules, seen *s, int side)
{
    return s->raw_size[side] > (uint64_t)rules->max_line_bytes;
}

static bool has_characters(const xlm_filter *f G_GNUC_UNUSED, const xlm_filter_options *rules, seen *s, int side)
{
    return count_characters(s->text[side], s->size[side]) > rules->max_characters;
}

static bool has_few_words(const xlm_filter *f, const xlm_filter_options *rules, seen *s, int side)
{
    split(f, s);
    return s->words[side] < rules->min_words;
}

static bool has_many_words(const xlm_filter *f, const xlm_filter_options *rules, seen *s, int side)
{
    split(f, s);
    return s->words[side] > rules->max_words;
}

static bool has_long_word(const xlm_filter *f, const xlm_filter_options *rules, seen *s, int side)
{
    split(f, s);
    return s->longest[side] > rules->max_word_characters;
}

static bool has_ratio(const xlm_filter *f, const xlm_filter_options *rules, seen *s, int side)
{
    if (s->sides == 1)
        return false;
    split(f, s);
    return (double)s->words[side] > rules->max_ratio * (double)s->words[!side];
}

static bool has_other_letters(const xlm_filter *f, const xlm_filter_options *rules, seen *s, int side)
{
    int64_t letters, theirs;
    xlm_scripts_count(scripts_of(f, s->language[side]), s->text[side], s->size[side], &letters, &theirs);
    return (double)theirs < rules->script_share * (double)letters;
}

static bool is_untranslated(const xlm_filter *f G_GNUC_UNUSED, const xlm_filter_options *rules G_GNUC_UNUSED, seen *s,
                            int side G_GNUC_UNUSED)
{
    return s->sides == 2 && s->digest[0] == s->digest[1];
}

/* All rules except the last one, which depends on other sentences. */
static of_side *const breaks[XLM_RULE_DUPLICATES] = {
    [XLM_RULE_LINE_BYTES] = has_bytes,
    [XLM_RULE_CHARACTERS] = has_characters,
    [XLM_RULE_MIN_WORDS] = has_few_words,
    [XLM_RULE_MAX_WORDS] = has_many_words,
    [XLM_RULE_WORD_CHARACTERS] = has_long_word,
    [XLM_RULE_RATIO] = has_ratio,
    [XLM_RULE_SCRIPT] = has_other_letters,
    [XLM_RULE_UNTRANSLATED] = is_untranslated,
};

/* ---- duplicates ---- */

static int number_of(xlm_filter *f, const xlm_prep_source *source)
{
    for (guint i = 0; f->source != source; i++)
        if (f->options->sources->pdata[i] == source) {
            f->source = source;
            f->source_number = (int)i;
        }
    return f->source_number;
}

/* Is the sentence a duplicate? Before xlm_filter_finish: add it. */
static bool find_duplicate(xlm_filter *f, const xlm_prep_source *source, const xlm_filter_text *text, int64_t *kept,
                           bool *duplicate, GError **error)
{
    const int number = number_of(f, source);
    if (f->finished)
        return xlm_duplicates_is(f->duplicates, number, (*kept)++, duplicate) ||
               xlm_error_set(error, EX_DATAERR, "%s: has changed while it was read", source->path[0]);
    /* Equal texts of different languages are not duplicates. */
    const bool pair = source->sides == 2;
    const uint64_t key[4] = {(uint64_t)source->language[0], pair ? (uint64_t)source->language[1] + 1 : 0, text->digest[0],
                             pair ? text->digest[1] : 0};
    xlm_duplicates_add(f->duplicates, number, xlm_digest(key, sizeof key, 0), text->place);
    *duplicate = false;
    return true;
}

bool xlm_filter_is_unfinished(const xlm_filter *f) { return f->duplicates != NULL && !f->finished; }

void xlm_filter_finish(xlm_filter *f, const xlm_comm *comm)
{
    xlm_duplicates_find(f->duplicates, comm);
    f->finished = true;
}

/* ---- applying ---- */

/* What rules look at: the words of a tree with a space between them, or a line, each normalised as here. */
static bool look_at(xlm_filter *f, const xlm_prep_source *source, const xlm_filter_text *text, seen *s, GError **error)
{
    *s = (seen){.sides = source->sides, .language = source->language, .digest = text->digest};
    g_string_truncate(f->line, 0);
    for (guint i = 0; text->tree != NULL && i < text->tree->words->len; i++)
        g_string_append_printf(f->line, "%s%s", i > 0 ? " " : "", xlm_conllu_word_at(text->tree, i)->column[XLM_CONLLU_FORM]);
    for (int side = 0; side < source->sides; side++) {
        const char *raw = text->tree != NULL ? f->line->str : text->raw[side];
        s->raw_size[side] = text->tree != NULL ? f->line->len : text->raw_size[side];
        s->text[side] = text->text[side];
        s->size[side] = text->size[side];
        if (f->normaliser[side] != NULL &&
            !xlm_normaliser_run(f->normaliser[side], raw, s->raw_size[side], &s->text[side], &s->size[side], error))
            return false;
    }
    return true;
}

bool xlm_filter_apply(xlm_filter *f, const xlm_prep_source *source, const xlm_filter_text *text, int64_t *kept, int *rule,
                      GError **error)
{
    const xlm_filter_options *rules = &f->options->filter;
    seen s;
    bool broken = false;
    if (!look_at(f, source, text, &s, error))
        return false;
    for (*rule = 0; *rule < XLM_RULE_DUPLICATES; ++*rule)
        for (int side = 0; side < source->sides && xlm_filter_has(rules, *rule); side++)
            if (breaks[*rule](f, rules, &s, side))
                return true;
    if (f->duplicates != NULL && !find_duplicate(f, source, text, kept, &broken, error))
        return false;
    *rule = broken ? XLM_RULE_DUPLICATES : XLM_RULES;
    return true;
}
