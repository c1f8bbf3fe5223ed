/* xlm-mpi: lines of text translated into lines of text. SPDX-License-Identifier: GPL-3.0-or-later */
#include "translation/lines.h"

#include <math.h>
#include <string.h>

#include "aligners/link_file.h"

static const char LOST[] = "\xef\xbf\xbd"; /* U+FFFD, in place of a control character in a subword, which could end a line */

/* ---- reading ---- */

size_t xlm_line_block_bytes(int ranks)
{
    enum { MIN_BYTES = 1 << 24, BYTES_OF_LINE = 256 };
    return MAX((size_t)MIN_BYTES, (size_t)ranks * XLM_LINE_BLOCK_LINES * BYTES_OF_LINE);
}

bool xlm_line_block_encode(xlm_line_translator *l, const xlm_line_block *block, GError **error)
{
    int64_t number = block->number;
    xlm_line_parts_reset(l->parts);
    for (size_t at = 0; at < block->size; number++) {
        const char *line = block->text + at, *end = memchr(line, '\n', block->size - at);
        const size_t size = (size_t)(end - line);
        GError *why = NULL;
        if (!xlm_line_parts_add(l->parts, &l->encoder, line, size, &why)) {
            xlm_error_set(error, xlm_error_exit_code(why), "%s:%" G_GINT64_FORMAT ": %s", block->name, number, why->message);
            g_error_free(why);
            return false;
        }
        at += size + 1;
    }
    return true;
}

static xlm_translation_set *translate_parts(const xlm_line_translator *l, int64_t before)
{
    const int64_t n = (int64_t)l->parts->offsets->len - 1;
    g_autofree int32_t *from = g_new(int32_t, MAX(n, 1)), *to = g_new(int32_t, MAX(n, 1));
    for (int64_t i = 0; i < n; i++) {
        from[i] = l->from;
        to[i] = l->to;
    }
    const xlm_translation_sources sources = {.sentences = n, .offsets = (const int64_t *)(const void *)l->parts->offsets->data,
                                             .ids = (const int32_t *)(const void *)l->parts->ids->data, .from = from, .to = to,
                                             .first = (uint64_t)before};
    return xlm_translate(&l->translator, &sources);
}

/* ---- writing ---- */

/* A translation of a line as it is written. */
struct writing {
    const xlm_line_translator *lines;
    GString *text;   /* its words so far */
    int32_t words;
    double log_probability, score;
    int64_t tokens, parts;
    GArray *links;   /* xlm_link of words */
};

/* Append the word of ids[n], which are joined; its number, -1 if there is nothing to see of it. */
static int32_t append_word(struct writing *w, const xlm_vocabulary *vocabulary, const int32_t *ids, int64_t n)
{
    g_autoptr(GString) word = g_string_new(NULL);
    xlm_vocabulary_decode(vocabulary, ids, (size_t)n, word);
    if (word->len == 0)
        return -1;
    if (w->words > 0)
        g_string_append_c(w->text, ' ');
    for (const char *c = word->str; *c != '\0'; c++)
        if (g_ascii_iscntrl(*c))
            g_string_append(w->text, LOST);
        else
            g_string_append_c(w->text, *c);
    return w->words++;
}

/* words: [tokens] the number of the word of each token. */
static void append_words(struct writing *w, const xlm_translation *t, int32_t *words)
{
    const xlm_vocabulary *vocabulary = xlm_tokenizer_vocabulary(w->lines->encoder.tokenizer);
    for (int32_t first = 0, end; first < t->tokens; first = end) {
        end = first + 1;
        while (end < t->tokens && xlm_vocabulary_joins(vocabulary, t->ids[end - 1], t->ids[end]))
            end++;
        const int32_t word = append_word(w, vocabulary, t->ids + first, end - first);
        for (int32_t i = first; i < end; i++)
            words[i] = word;
    }
}

static void append_links(struct writing *w, const xlm_translation *t, const int32_t *source_words, const int32_t *target_words)
{
    for (int32_t i = 0; i < t->links; i++) {
        const xlm_link link = {.source = source_words[t->link[i].source], .target = target_words[t->link[i].target]};
        if (link.target >= 0)
            g_array_append_val(w->links, link);
    }
}

static void append_part(struct writing *w, const xlm_translation *t, int64_t part)
{
    const xlm_line_parts *p = w->lines->parts;
    g_autofree int32_t *words = g_new(int32_t, MAX(t->tokens, 1));
    append_words(w, t, words);
    if (p->words != NULL)
        append_links(w, t, &g_array_index(p->words, int32_t, g_array_index(p->offsets, int64_t, part)), words);
    w->log_probability += t->log_probability;
    w->score = t->score;
    w->tokens += t->tokens + 1;
    w->parts++;
}

static void append_alignment(const struct writing *w, GString *alignment)
{
    xlm_link *links = (xlm_link *)(void *)w->links->data;
    int64_t n = 0;
    xlm_links_sort(links, w->links->len);
    for (guint i = 0; i < w->links->len; i++)
        if (n == 0 || links[i].source != links[n - 1].source || links[i].target != links[n - 1].target)
            links[n++] = links[i];
    xlm_link_file_append(alignment, links, n);
}

/* The line of a translation: of parts of a line, or of none. */
static void write_line(struct writing *w, int64_t number, GString *text, GString *alignment)
{
    const xlm_line_translator *l = w->lines;
    char score[G_ASCII_DTOSTR_BUF_SIZE];
    if (w->parts > 1)
        w->score = w->log_probability / pow((double)w->tokens, l->translator.options->search.length_penalty);
    if (l->form.numbers)
        g_string_append_printf(text, "%" G_GINT64_FORMAT "\t", number);
    if (l->form.scores)
        g_string_append_printf(text, "%s\t", g_ascii_formatd(score, sizeof score, "%.6f", w->score));
    g_string_append_len(text, w->text->str, (gssize)w->text->len);
    g_string_append_c(text, '\n');
    if (alignment != NULL)
        append_alignment(w, alignment);
}

/* Number of translations of a line: of the part that has the fewest; 1 for a line without parts. */
static int64_t count_translations(const xlm_translation_set *t, int64_t first, int64_t end)
{
    int64_t n = G_MAXINT64;
    for (int64_t part = first; part < end; part++)
        n = MIN(n, t->first[part + 1] - t->first[part]);
    return first < end ? n : 1;
}

static void write_translations(xlm_line_translator *l, const xlm_translation_set *t, int64_t line, int64_t number, GString *text,
                               GString *alignment)
{
    const int64_t first = g_array_index(l->parts->first, int64_t, line), end = g_array_index(l->parts->first, int64_t, line + 1);
    const int64_t n = count_translations(t, first, end);
    struct writing w = {.lines = l, .text = g_string_new(NULL), .links = g_array_new(FALSE, FALSE, sizeof(xlm_link))};
    for (int64_t k = 0; k < n; k++) {
        g_string_truncate(w.text, 0);
        g_array_set_size(w.links, 0);
        w.words = 0;
        w.log_probability = w.score = 0;
        w.tokens = w.parts = 0;
        for (int64_t part = first; part < end; part++)
            append_part(&w, &t->all[t->first[part] + k], part);
        l->counts.empty += end > first && w.words == 0;
        write_line(&w, number, text, alignment);
    }
    g_string_free(w.text, TRUE);
    g_array_unref(w.links);
}

static void count(xlm_line_translator *l, const xlm_translation_set *t)
{
    const int32_t unknown = l->translator.specials->id[XLM_UNK];
    xlm_line_counts *c = &l->counts;
    c->lines += (int64_t)l->parts->first->len - 1;
    c->parts += t->sentences;
    c->divided += l->parts->divided;
    c->ids += l->parts->ids->len;
    for (guint i = 0; i < l->parts->ids->len; i++)
        c->unknown += g_array_index(l->parts->ids, int32_t, i) == unknown;
    for (int64_t i = 0; i < t->first[t->sentences]; i++)
        c->written += t->all[i].tokens;
}

bool xlm_line_block_translate(xlm_line_translator *l, const xlm_line_block *block, GString *text, GString *alignment,
                              GError **error)
{
    if (!xlm_line_block_encode(l, block, error))
        return false;
    xlm_translation_set *t = translate_parts(l, l->counts.parts);
    for (int64_t line = 0; line + 1 < (int64_t)l->parts->first->len && text != NULL; line++)
        write_translations(l, t, line, block->before + line + 1, text, alignment);
    count(l, t);
    xlm_translation_set_free(t);
    return true;
}
