/* xlm-mpi: analogies: a is to b as c is to d. SPDX-License-Identifier: GPL-3.0-or-later */
#include "retrieval/analogies.h"

#include <math.h>
#include <string.h>

#include "text/fields.h"
#include "text/lines.h"
#include "vectors/alignment.h"
#include "vectors/cosines.h"

enum {
    QUESTIONS = 1 << 15, /* whose vectors are in memory at a time */
    MAX_PAIRS = 1000    /* lines of a section that are combined with one another */
};

/* ---- files ---- */

/* The reader of a file. Lines of two fields are kept until their section ends. */
typedef struct reader {
    xlm_analogies *to;
    GPtrArray *pairs; /* char ** of two */
} reader;

static void free_question(gpointer question)
{
    xlm_analogy *q = question;
    for (int i = 0; i < 3; i++)
        g_free(q->words[i]);
    g_strfreev(q->answers);
    g_free(q);
}

static void add_question(reader *r, const char *a, const char *b, const char *c, const char *answers)
{
    xlm_analogy *q = g_new0(xlm_analogy, 1);
    q->section = (int)r->to->sections->len - 1;
    q->words[0] = g_strdup(a), q->words[1] = g_strdup(b), q->words[2] = g_strdup(c);
    q->answers = g_strsplit(answers, "/", -1);
    g_ptr_array_add(r->to->questions, q);
}

static void begin_section(reader *r, const char *name)
{
    for (guint i = 0; i < r->pairs->len; i++)
        for (guint j = 0; j < r->pairs->len; j++) {
            char **one = r->pairs->pdata[i], **other = r->pairs->pdata[j];
            g_autofree char *first = i != j ? g_strndup(one[1], strcspn(one[1], "/")) : NULL;
            if (first != NULL)
                add_question(r, one[0], first, other[0], other[1]);
        }
    g_ptr_array_set_size(r->pairs, 0);
    if (name != NULL)
        g_ptr_array_add(r->to->sections, g_strdup(name));
}

static bool take_line(void *data, const xlm_lines *lines, char *line, GError **error)
{
    reader *r = data;
    g_strstrip(line);
    if (*line == '\0')
        return true;
    if (*line == ':') {
        begin_section(r, g_strstrip(line + 1));
        return true;
    }
    if (r->to->sections->len == 0) {
        g_autofree char *name = g_path_get_basename(xlm_lines_path(lines));
        begin_section(r, name);
    }
    g_auto(GStrv) fields = xlm_fields_split(line, false);
    const guint n = g_strv_length(fields);
    if (n == 4)
        add_question(r, fields[0], fields[1], fields[2], fields[3]);
    else if (n == 2 && fields[1][0] != '/')
        g_ptr_array_add(r->pairs, g_steal_pointer(&fields));
    if (r->pairs->len > MAX_PAIRS)
        return XLM_LINES_REFUSE(lines, error, "more than %d words with answers in one section, which are asked in pairs; is it a "
                                "dictionary?", MAX_PAIRS);
    return n == 4 || n == 2 ||
           XLM_LINES_REFUSE(lines, error, "has %u words; a line is \": section\", the four words of an analogy, or a word and "
                            "its answers", n);
}

xlm_analogies *xlm_analogies_read(const char *path, GError **error)
{
    xlm_analogies *a = g_new(xlm_analogies, 1);
    *a = (xlm_analogies){g_ptr_array_new_with_free_func(g_free), g_ptr_array_new_with_free_func(free_question)};
    reader r = {.to = a, .pairs = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev)};
    bool good = xlm_lines_each(path, take_line, &r, error);
    if (good)
        begin_section(&r, NULL);
    if (good && a->questions->len == 0)
        good = xlm_error_set(error, EX_DATAERR, "%s: there is no analogy", path);
    if (!good)
        g_clear_pointer(&a, xlm_analogies_free);
    g_ptr_array_unref(r.pairs);
    return a;
}

void xlm_analogies_free(xlm_analogies *analogies)
{
    if (analogies == NULL)
        return;
    g_ptr_array_unref(analogies->sections);
    g_ptr_array_unref(analogies->questions);
    g_free(analogies);
}

/* ---- questions in the spaces ---- */

/* A word: its side, −1 when it is not covered, and its number in that side's set. */
typedef struct place {
    int side;
    int64_t number;
} place;

typedef struct question {
    const xlm_analogy *text;
    place given[3];
    int side;               /* of d; −1: not covered */
    int64_t first, answers; /* in m->answers: numbers in the side's set */
} question;

typedef struct measure {
    const xlm_word_sides *sides;
    xlm_word_set set[2]; /* of each side: its candidates */
    float *vectors[2];   /* [candidates x width] */
    int64_t width;
    GArray *answers;     /* int64_t */
} measure;

/* The rest of a word after "LANG:", where LANG is the language of a side; NULL: it does not begin with that. */
static const char *after_language(const xlm_word_side *side, const char *word)
{
    const size_t size = side->name != NULL ? strlen(side->name) : 0;
    const bool named = size > 0 && strncmp(word, side->name, size) == 0 && word[size] == ':' && word[size + 1] != '\0';
    return named ? word + size + 1 : NULL;
}

static place find_place(measure *m, const char *word)
{
    for (int s = 0; s < m->sides->n; s++) {
        const char *rest = after_language(&m->sides->side[s], word);
        const int64_t number = rest != NULL ? xlm_word_set_add(&m->set[s], rest) : -1;
        if (number >= 0)
            return (place){s, number};
    }
    for (int s = 0; s < m->sides->n; s++) {
        const int64_t number = xlm_word_set_add(&m->set[s], word);
        if (number >= 0)
            return (place){s, number};
    }
    return (place){-1, -1};
}

static question find_question(measure *m, const xlm_analogy *text)
{
    question q = {.text = text, .side = -1, .first = m->answers->len};
    bool covered = true;
    for (int i = 0; i < 3; i++) {
        q.given[i] = find_place(m, text->words[i]);
        covered = covered && q.given[i].side >= 0;
    }
    for (int i = 0; covered && text->answers[i] != NULL; i++) {
        const place d = *text->answers[i] != '\0' ? find_place(m, text->answers[i]) : (place){-1, -1};
        if (d.side < 0 || (q.side >= 0 && d.side != q.side))
            continue;
        q.side = d.side;
        g_array_append_val(m->answers, d.number);
        q.answers++;
    }
    return q;
}

/* b/|b| − a/|a| + c/|c| */
static void make_target(const measure *m, const question *q, float *target)
{
    static const double signs[] = {-1, 1, 1};
    for (int64_t c = 0; c < m->width; c++)
        target[c] = 0;
    for (int i = 0; i < 3; i++) {
        const float *x = m->vectors[q->given[i].side] + q->given[i].number * m->width;
        const double length = xlm_vector_length(m->width, x);
        for (int64_t c = 0; c < m->width && length > 0; c++)
            target[c] += (float)(signs[i] * (double)x[c] / length);
    }
}

/* The candidates that are the given words: by their rows on their own side, by their text on another side of the same space. */
static void leave_out(const measure *m, const question *q, GArray *out)
{
    for (int i = 0; i < 3; i++) {
        const place *given = &q->given[i];
        int64_t number = given->number;
        if (given->side != q->side) {
            const char *rest = after_language(&m->sides->side[given->side], q->text->words[i]);
            number = m->set[given->side].space == m->set[q->side].space
                         ? xlm_word_set_find(&m->set[q->side], rest != NULL ? rest : q->text->words[i]) : -1;
        }
        const int32_t row = (int32_t)number;
        if (row >= 0)
            g_array_append_val(out, row);
    }
}

/* Questions of one side, n of them. */
static void answer(const xlm_comm *comm, const measure *m, int side, const question *const *questions, int64_t n,
                   xlm_analogy_score *scores)
{
    g_autofree float *targets = g_new(float, n * m->width), *score = g_new(float, n);
    g_autofree int64_t *first = g_new0(int64_t, n + 1);
    g_autofree int32_t *nearest = g_new(int32_t, n);
    g_autoptr(GArray) out = g_array_new(FALSE, FALSE, sizeof(int32_t));
    for (int64_t i = 0; i < n; i++) {
        make_target(m, questions[i], targets + i * m->width);
        leave_out(m, questions[i], out);
        first[i + 1] = out->len;
    }
    const xlm_alignment a = {
        .width = m->width, .source_vectors = targets, .candidate_vectors = m->vectors[side], .n = n,
        .candidates = xlm_word_set_count(&m->set[side]), .first = first,
        .translations = (const int32_t *)(const void *)out->data,
    };
    xlm_alignment_nearest(comm, &a, 1, nearest, score);
    for (int64_t i = 0; i < n; i++) {
        const int64_t *answers = &g_array_index(m->answers, int64_t, questions[i]->first);
        xlm_analogy_score *s = &scores[questions[i]->text->section];
        bool right = false;
        for (int64_t k = 0; k < questions[i]->answers && !right; k++)
            right = answers[k] == nearest[i];
        s->right += right;
        s->covered++;
        s->cosine += xlm_vector_cosine(m->width, targets + i * m->width, m->vectors[side] + answers[0] * m->width);
    }
}

static void open_measure(measure *m, const xlm_word_sides *sides, GArray *const rows[2])
{
    *m = (measure){.sides = sides, .width = xlm_word_space_width(sides->side[0].space),
                   .answers = g_array_new(FALSE, FALSE, sizeof(int64_t))};
    for (int s = 0; s < sides->n; s++) {
        const xlm_word_side *side = &sides->side[s];
        xlm_word_set_open(&m->set[s], side->space, side->language);
        for (int64_t i = 0; rows[s] == NULL && i < xlm_word_space_rows(side->space); i++)
            if (xlm_word_space_row_is_word(side->space, (int32_t)i))
                xlm_word_set_add_row(&m->set[s], (int32_t)i);
        for (guint i = 0; rows[s] != NULL && i < rows[s]->len; i++)
            xlm_word_set_add_row(&m->set[s], g_array_index(rows[s], int32_t, i));
    }
}

static void close_measure(measure *m)
{
    for (int s = 0; s < 2; s++) {
        xlm_word_set_close(&m->set[s]);
        g_free(m->vectors[s]);
    }
    g_array_unref(m->answers);
}

void xlm_analogies_measure(const xlm_comm *comm, const xlm_analogies *analogies, const xlm_word_sides *sides,
                           GArray *const rows[2], xlm_analogy_score *scores)
{
    const guint n = analogies->questions->len, sections = analogies->sections->len;
    measure m;
    open_measure(&m, sides, rows);
    g_autofree question *questions = g_new(question, n);
    g_autofree const question **block = g_new(const question *, QUESTIONS);
    memset(scores, 0, sizeof *scores * (sections + 1));
    for (guint i = 0; i < n; i++) {
        questions[i] = find_question(&m, analogies->questions->pdata[i]);
        scores[questions[i].text->section].questions++;
    }
    for (int s = 0; s < sides->n; s++)
        m.vectors[s] = xlm_word_set_vectors(&m.set[s], 0, xlm_word_set_count(&m.set[s]));
    for (int s = 0; s < sides->n; s++) {
        int64_t size = 0;
        for (guint i = 0; i < n; i++) {
            if (questions[i].side == s)
                block[size++] = &questions[i];
            if (size == QUESTIONS || (size > 0 && i + 1 == n)) {
                answer(comm, &m, s, block, size, scores);
                size = 0;
            }
        }
    }
    for (guint i = 0; i <= sections; i++) {
        xlm_analogy_score *s = &scores[i], *all = &scores[sections];
        if (i < sections)
            all->questions += s->questions, all->covered += s->covered, all->right += s->right, all->cosine += s->cosine;
        s->cosine = s->covered > 0 ? s->cosine / (double)s->covered : NAN;
    }
    close_measure(&m);
}
