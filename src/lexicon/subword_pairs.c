/* xlm-mpi: from entries of dictionaries to pairs of subwords. SPDX-License-Identifier: GPL-3.0-or-later */
#include "lexicon/subword_pairs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/progress.h"
#include "base/rng.h"
#include "corpus/corpus.h"
#include "files/files.h"
#include "lexicon/dictd.h"
#include "lexicon/dictionary.h"
#include "lexicon/frequency.h"
#include "subwords/tokenizer.h"

typedef struct builder {
    const xlm_lexicon_options *options;
    xlm_corpus *corpus;
    const xlm_vocabulary *vocabulary;
    const xlm_corpus_text *text[2]; /* of the two languages, to train on */
    xlm_tokenizer *tokenizer;
    bool literal;                   /* entries of the current source are subwords of the vocabulary */
    GArray *ids;                    /* int32_t, scratch */
    GArray *pairs, *left_out;       /* xlm_dictionary_pair */
    guint sources, kept;            /* source subwords that have a translation, and those that are kept */
    xlm_progress progress;
    int64_t entries;                /* read so far */
    int32_t *made_language;         /* [vocabulary] the synthetic language in which a subword is a twin, -1: none */
    int64_t phrases, several, unknown, foreign, same;
} builder;

/* ---- entries to pairs ---- */

static bool refuse_specials(const builder *m, const xlm_entry *entry, GError **error)
{
    for (int side = 0; side < 2; side++)
        for (xlm_special i = 0; i < XLM_SPECIAL_TOKENS; i++) {
            const char *name = xlm_vocabulary_words(m->vocabulary)[xlm_vocabulary_special(m->vocabulary, i)];
            if (entry->size[side] == strlen(name) && memcmp(entry->word[side], name, entry->size[side]) == 0)
                return xlm_error_at(error, entry->path, entry->line, "%s is a special token, and has no translation; take the "
                                    "line out", name);
        }
    return true;
}

/* Is it more than a mark that a word begins? Text without blanks between words may give
 * such subwords. */
static bool has_text(const builder *m, int32_t id)
{
    g_autoptr(GString) text = g_string_new(NULL);
    xlm_segmenter_spell(xlm_vocabulary_segmenter(m->vocabulary), xlm_vocabulary_words(m->vocabulary)[id], text);
    return text->len > 0;
}

/* The subword for one side; if there is none, this is counted, and it is the unknown token. */
static bool find_word(builder *m, const xlm_entry *entry, int side, int32_t *id, GError **error)
{
    size_t words;
    *id = xlm_vocabulary_special(m->vocabulary, XLM_UNK);
    g_array_set_size(m->ids, 0);
    /* Like most words of a text, as if after another word. */
    if (!xlm_tokenizer_encode_word(m->tokenizer, m->text[side]->language_id, true, entry->word[side], entry->size[side], m->ids,
                                   &words, error)) {
        g_prefix_error(error, "%s:%" G_GINT64_FORMAT ": ", entry->path, entry->line);
        return false;
    }
    guint at = 0;
    while (at + 1 < m->ids->len && !has_text(m, g_array_index(m->ids, int32_t, at)))
        at++;
    const int32_t first = m->ids->len > 0 ? g_array_index(m->ids, int32_t, at) : *id;
    if (words != 1)
        m->phrases++;
    else if (m->ids->len - at > 1 && !m->options->first_subword)
        m->several++;
    else if (xlm_vocabulary_is_special(m->vocabulary, first) || !has_text(m, first))
        m->unknown++;
    else
        *id = first;
    return true;
}

static int32_t *find_made_languages(const xlm_vocabulary *vocabulary)
{
    const int64_t size = xlm_vocabulary_size(vocabulary);
    int32_t *language = g_new(int32_t, size);
    int n;
    const xlm_vocabulary_made *made = xlm_vocabulary_made_languages(vocabulary, &n);
    for (int64_t id = 0; id < size; id++)
        language[id] = -1;
    for (int i = 0; i < n; i++) {
        const int32_t *twins = xlm_vocabulary_twins(vocabulary, made[i].language);
        for (int32_t k = 0; k < made[i].twins; k++)
            language[twins[made[i].originals[k]]] = made[i].language;
    }
    return language;
}

/* Can a subword occur in text of the language? A twin occurs only in its own language, and a subword that has a twin in a
 * synthetic language does not occur there. */
static bool is_of_language(const builder *m, int32_t id, int language)
{
    const int32_t *twins = xlm_vocabulary_twins(m->vocabulary, language);
    return m->made_language[id] >= 0 ? m->made_language[id] == language : twins == NULL || twins[id] == id;
}

/* The subword that is spelled like this; if the language does not have it, this is counted, and it is the unknown token. */
static int32_t find_twin(builder *m, const xlm_entry *entry, int side)
{
    const int32_t id = xlm_vocabulary_find(m->vocabulary, entry->word[side], entry->size[side]);
    if (xlm_vocabulary_is_special(m->vocabulary, id))
        m->unknown++;
    else if (!is_of_language(m, id, m->text[side]->language_id))
        m->foreign++;
    else
        return id;
    return xlm_vocabulary_special(m->vocabulary, XLM_UNK);
}

static bool take_entry(void *data, const xlm_entry *entry, GError **error)
{
    builder *m = data;
    xlm_dictionary_pair pair;
    xlm_progress_show(&m->progress, (double)m->entries++);
    if (!refuse_specials(m, entry, error))
        return false;
    for (int side = 0; side < 2; side++) {
        if (m->literal)
            pair.token[side] = find_twin(m, entry, side);
        else if (!find_word(m, entry, side, &pair.token[side], error))
            return false;
        if (xlm_vocabulary_is_special(m->vocabulary, pair.token[side]))
            return true;
    }
    if (pair.token[0] == pair.token[1])
        m->same++;
    else
        g_array_append_val(m->pairs, pair);
    return true;
}

static gint by_ids(gconstpointer a, gconstpointer b)
{
    const xlm_dictionary_pair *x = a, *y = b;
    const int side = x->token[0] == y->token[0];
    return (x->token[side] > y->token[side]) - (x->token[side] < y->token[side]);
}

static void sort_once(GArray *pairs)
{
    guint n = 0;
    g_array_sort(pairs, by_ids);
    xlm_dictionary_pair *pair = (xlm_dictionary_pair *)(void *)pairs->data;
    for (guint i = 0; i < pairs->len; i++)
        if (n == 0 || by_ids(&pair[n - 1], &pair[i]) != 0)
            pair[n++] = pair[i];
    g_array_set_size(pairs, n);
}

/* If few entries were taken, say how to take more. */
static void advise(const builder *m, int64_t entries)
{
    const int64_t left_out = entries - (int64_t)m->pairs->len;
    if (m->pairs->len == 0 || (int64_t)m->pairs->len * 10 >= entries) /* 10 % is normal; if there are none, that is an error */
        return;
    const char *help = 2 * m->several >= left_out ? "give --subwords first, which lets the first subword stand for the word, or "
                                                    "prepare the corpus with more subwords, so that more words are one of them"
                       : 2 * m->phrases >= left_out ? "entries of several words are never taken; "
                                                      "take a dictionary of single words"
                       : 2 * m->foreign >= left_out ? "they have twins of other languages; see --source and --target"
                       : 2 * m->unknown >= left_out ? "their words are not in the text of the corpus; are the languages the "
                                                      "right way round, and the corpus in the same case?"
                       : m->several > 0 ? "give --subwords first or prepare the corpus with more subwords" : NULL;
    if (help != NULL)
        xlm_log_warn("only %u of %" G_GINT64_FORMAT " entries taken (%.1f %%): %s", m->pairs->len, entries,
                     100.0 * m->pairs->len / (double)entries, help);
}

static bool read_sources(builder *m, GError **error)
{
    xlm_entries entries = {.take = take_entry, .data = m, .first = m->options->first_translation};
    m->progress = xlm_progress_begin("reading entries", 0, "entries");
    for (guint i = 0; i < m->options->sources->len; i++) {
        const xlm_lexicon_source *source = &g_array_index(m->options->sources, xlm_lexicon_source, i);
        m->literal = source->form == XLM_ENTRIES_TWINS;
        if (!(source->form == XLM_ENTRIES_DICTD ? xlm_dictd_read(&entries, source->path, error)
                                                : xlm_entries_read(&entries, source->form, source->path, error)))
            return false;
    }
    xlm_log_info("read: %" G_GINT64_FORMAT " entries; %" G_GINT64_FORMAT " bad lines skipped", entries.read, entries.bad);
    xlm_log_info("left out: %" G_GINT64_FORMAT " entries with several words, %" G_GINT64_FORMAT
                 " with a word of several subwords, %" G_GINT64_FORMAT " with a word that is not in the vocabulary, %"
                 G_GINT64_FORMAT " with a twin of another language, %" G_GINT64_FORMAT " of a word with itself", m->phrases,
                 m->several, m->unknown, m->foreign, m->same);
    advise(m, entries.read);
    sort_once(m->pairs);
    return m->pairs->len > 0 ||
           xlm_error_set(error, EX_DATAERR, "none of %" G_GINT64_FORMAT " entries is in the vocabulary of %s on both sides; are "
                         "the languages the right way round, and the corpus in the same case?%s", entries.read,
                         m->options->corpus,
                         m->options->first_subword ? "" : " --subwords first takes words of several subwords too");
}

/* ---- a share of them ---- */

typedef struct drawn {
    uint64_t draw;
    int32_t id;
} drawn;

static gint by_draw(gconstpointer a, gconstpointer b)
{
    const drawn *x = a, *y = b;
    return x->draw != y->draw ? (x->draw > y->draw ? 1 : -1) : (x->id > y->id) - (x->id < y->id);
}

/* The source subwords, each once, by their draws. */
static GArray *draw_sources(const builder *m)
{
    const xlm_rng_key key = xlm_rng_make_key((uint64_t)m->options->seed, XLM_RNG_DICTIONARY, 0);
    GArray *sources = g_array_new(FALSE, FALSE, sizeof(drawn));
    for (guint i = 0; i < m->pairs->len; i++) {
        const int32_t id = g_array_index(m->pairs, xlm_dictionary_pair, i).token[0];
        if (i > 0 && g_array_index(m->pairs, xlm_dictionary_pair, i - 1).token[0] == id)
            continue;
        const xlm_rng_block block = xlm_rng_draw(key, (uint32_t)id, 0, 0, 0);
        const drawn d = {(uint64_t)block.v[0] << 32 | block.v[1], id};
        g_array_append_val(sources, d);
    }
    g_array_sort(sources, by_draw);
    return sources;
}

static void sample(builder *m)
{
    g_autoptr(GArray) sources = draw_sources(m);
    GArray *kept = g_array_new(FALSE, FALSE, sizeof(xlm_dictionary_pair));
    const guint all = m->pairs->len;
    m->sources = sources->len;
    m->kept = (guint)MAX(1, llround(m->options->share * sources->len));
    g_autofree bool *in = g_new0(bool, xlm_vocabulary_size(m->vocabulary));
    for (guint i = 0; i < m->kept; i++)
        in[g_array_index(sources, drawn, i).id] = true;
    for (guint i = 0; i < all; i++) {
        const xlm_dictionary_pair pair = g_array_index(m->pairs, xlm_dictionary_pair, i);
        g_array_append_val(in[pair.token[0]] ? kept : m->left_out, pair);
    }
    g_array_unref(m->pairs);
    m->pairs = kept;
}

/* ---- report ---- */

static double percent(int64_t part, int64_t all) { return all > 0 ? 100.0 * (double)part / (double)all : 0; }

/* all: of the source language. Its subwords are those of its text: the vocabulary has those of other languages too. */
static void report_pairs(const builder *m, const xlm_coverage *all)
{
    xlm_log_info("dictionary: %u of %u source subwords that have a translation (%.1f %% of the subwords of %s); %u pairs, %u "
                 "left out", m->kept, m->sources, percent(all->known, all->subwords), m->options->language[0], m->pairs->len,
                 m->left_out->len);
}

static bool report_coverage(const builder *m, int side, GError **error)
{
    xlm_coverage bands[XLM_FREQUENCY_BANDS];
    g_autofree bool *known = g_new0(bool, xlm_vocabulary_size(m->vocabulary));
    for (guint i = 0; i < m->pairs->len; i++)
        known[g_array_index(m->pairs, xlm_dictionary_pair, i).token[side]] = true;
    const bool good = xlm_coverage_measure(m->corpus, m->text[side], known, bands, error);
    if (good && side == 0)
        report_pairs(m, &bands[XLM_FREQUENCY_BANDS - 1]);
    for (int b = 0; b < XLM_FREQUENCY_BANDS && good; b++) {
        char name[32] = "all";
        if (xlm_frequency_bands[b] < 1)
            g_snprintf(name, sizeof name, "top %.0f %%", 100 * xlm_frequency_bands[b]);
        xlm_log_info("coverage of %s, %s: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                     " subwords (%.1f %%), %.1f %% of their tokens", m->options->language[side], name, bands[b].known,
                     bands[b].subwords, percent(bands[b].known, bands[b].subwords),
                     percent(bands[b].known_tokens, bands[b].tokens));
    }
    return good;
}

/* ---- writing ---- */

/* "dict.txt: 123 bytes, SHA-256 ..." */
static bool add_input(GPtrArray *inputs, const char *path, GError **error)
{
    char digest[XLM_SHA256_TEXT];
    int64_t bytes;
    if (!xlm_file_sha256(path, digest, &bytes, NULL, error))
        return false;
    g_ptr_array_add(inputs, g_strdup_printf("%s: %" G_GINT64_FORMAT " bytes, SHA-256 %s", path, bytes, digest));
    return true;
}

static bool add_inputs(GPtrArray *inputs, const xlm_lexicon_source *source, GError **error)
{
    if (source->form != XLM_ENTRIES_DICTD)
        return add_input(inputs, source->path, error);
    g_autofree char *index = NULL, *text = NULL;
    return xlm_dictd_find(source->path, &index, &text, error) && add_input(inputs, index, error) &&
           add_input(inputs, text, error);
}

static const char *subwords_of(const xlm_lexicon_options *o)
{
    for (guint i = 0; i < o->sources->len; i++)
        if (g_array_index(o->sources, xlm_lexicon_source, i).form != XLM_ENTRIES_TWINS)
            return o->first_subword ? "first" : "one";
    return "literal";
}

/* Print pairs in the form of twins. Errors of standard output are noticed when it is flushed. */
static void print_pairs(const builder *m)
{
    const char *const *words = (const char *const *)xlm_vocabulary_words(m->vocabulary);
    for (guint i = 0; i < m->pairs->len; i++) {
        const xlm_dictionary_pair *pair = &g_array_index(m->pairs, xlm_dictionary_pair, i);
        printf("%s\t%s\n", words[pair->token[0]], words[pair->token[1]]);
    }
}

static bool write_output(const builder *m, GError **error)
{
    const xlm_lexicon_options *o = m->options;
    if (o->output == NULL) {
        print_pairs(m);
        return true;
    }
    g_autoptr(GPtrArray) inputs = g_ptr_array_new_with_free_func(g_free);
    bool good = true;
    for (guint i = 0; i < o->sources->len && good; i++)
        good = add_inputs(inputs, &g_array_index(o->sources, xlm_lexicon_source, i), error);
    g_ptr_array_add(inputs, NULL);
    const xlm_dictionary_record record = {
        .pairs = m->pairs, .left_out = m->left_out, .language = {o->language[0], o->language[1]}, .subwords = subwords_of(o),
        .command = o->command, .share = o->share, .seed = o->seed, .corpus_digest = xlm_corpus_digest(m->corpus),
        .subwords_digest = xlm_corpus_subwords_digest_of(m->vocabulary), .vocabulary = xlm_vocabulary_size(m->vocabulary),
        .inputs = (char **)inputs->pdata,
    };
    good = good && xlm_dictionary_write(o->output, &record, error);
    if (good)
        xlm_log_info("%s written", o->output);
    return good;
}

/* ---- all ---- */

static bool find_texts(builder *m, GError **error)
{
    for (int side = 0; side < 2; side++) {
        const char *name = m->options->language[side];
        m->text[side] = xlm_corpus_find_text(m->corpus, XLM_TRAIN, name);
        if (m->text[side] != NULL)
            continue;
        g_autofree char *known = g_strjoinv(", ", (char **)xlm_vocabulary_language_names(m->vocabulary));
        xlm_error_set(error, EX_USAGE, "%s has no text of language \"%s\"; it has %s", m->options->corpus, name, known);
        return false;
    }
    return true;
}

bool xlm_lexicon_make(const xlm_lexicon_options *options, GError **error)
{
    builder m = {
        .options = options,
        .ids = g_array_new(FALSE, FALSE, sizeof(int32_t)),
        .pairs = g_array_new(FALSE, FALSE, sizeof(xlm_dictionary_pair)),
        .left_out = g_array_new(FALSE, FALSE, sizeof(xlm_dictionary_pair)),
    };
    bool good = (m.corpus = xlm_corpus_open(options->corpus, error)) != NULL;
    m.vocabulary = good ? xlm_corpus_vocabulary(m.corpus) : NULL;
    m.made_language = good ? find_made_languages(m.vocabulary) : NULL;
    good = good && find_texts(&m, error) && (m.tokenizer = xlm_tokenizer_new(m.vocabulary, error)) != NULL &&
           read_sources(&m, error);
    if (good)
        sample(&m);
    good = good && report_coverage(&m, 0, error) && report_coverage(&m, 1, error) && write_output(&m, error);
    xlm_tokenizer_free(m.tokenizer);
    xlm_corpus_close(m.corpus);
    g_array_unref(m.ids);
    g_free(m.made_language);
    g_array_unref(m.pairs);
    g_array_unref(m.left_out);
    return good;
}
