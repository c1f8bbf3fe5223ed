/* xlm-mpi: a batch of pairs annotated with word alignments. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The file gives links by the numbers of pairs and of subwords. A batch gives them as pairs of its rows, whichever side comes
 * first, wherever the layout puts the sentences and however many pairs a sequence has. Only the links that a batch needs are read
 * from the file, after the batch has been laid out. */
#include <stddef.h>
#include <stdlib.h>

#include "aligners/alignment_file.h"
#include "stream/stage.h"

typedef struct options {
    char **alignments; /* files; NULL: none */
} options;

static const xlm_option alignment_options[] = {
    {"alignments", XLM_OPTION_LIST, "", 0, 0, NULL,
     "type parallel: files of xlm_align --alignment with the links between words of the pairs, one for each pair of languages "
     "(WEAM)",
     offsetof(options, alignments)},
    XLM_OPTION_END,
};

/* The pairs of two texts of the corpus and their links, with the same source and target (alignment_file.c ensures this). */
typedef struct linked_pairs {
    const xlm_corpus_pairs *pairs;
    const xlm_alignment_file *file;
    const xlm_alignment_pairs *links;
} linked_pairs;

typedef struct aligned {
    GPtrArray *files; /* xlm_alignment_file */
    GArray *pairs;    /* linked_pairs */
} aligned;

/* ---- opening ---- */

static void close_file(void *file) { xlm_alignment_file_close(file); }

static void close_alignments(void *stage)
{
    aligned *a = stage;
    g_ptr_array_unref(a->files);
    g_array_unref(a->pairs);
    g_free(a);
}

static bool refuse_absent(const xlm_opening *o, const aligned *a, const xlm_corpus_pairs *pairs, GError **error)
{
    g_autoptr(GString) list = g_string_new(NULL);
    for (guint f = 0; f < a->files->len; f++) {
        const xlm_alignment_file *file = a->files->pdata[f];
        g_string_append_printf(list, "%s%s (", f > 0 ? ", " : "", xlm_store_path(file->store));
        for (int i = 0; i < file->n; i++)
            g_string_append_printf(list, "%s%s of %s", i > 0 ? ", " : "", xlm_split_name(file->pairs[i].split), file->pairs[i].name);
        g_string_append_c(list, ')');
    }
    const char *const *language = xlm_vocabulary_language_names(o->vocabulary);
    return xlm_error_set(error, EX_CONFIG, "[stream %s]: alignments: no file has links of the %s pairs \"%s\"; there are %s; make "
                         "them by xlm_align --languages %s,%s --split all --alignment", o->stream, xlm_split_name(o->split),
                         pairs->name, list->str, language[pairs->source->language_id], language[pairs->target->language_id]);
}

static bool add_pairs(const xlm_opening *o, aligned *a, const char *name, GError **error)
{
    linked_pairs p = {.pairs = xlm_corpus_find_pairs(o->from, o->split, name, NULL)};
    if (p.pairs == NULL) /* so few pairs that none were held out: the source skips them */
        return true;
    for (guint f = 0; f < a->files->len; f++) {
        xlm_alignment_file *file = a->files->pdata[f];
        const xlm_alignment_pairs *links = xlm_alignment_file_find(file, o->split, p.pairs->name);
        if (links != NULL && p.links != NULL)
            return xlm_error_set(error, EX_CONFIG, "[stream %s]: alignments: both %s and %s have links of the %s pairs \"%s\"; "
                                 "leave one out", o->stream, xlm_store_path(p.file->store), xlm_store_path(file->store),
                                 xlm_split_name(o->split), p.pairs->name);
        if (links != NULL) {
            p.file = file;
            p.links = links;
        }
    }
    if (p.links == NULL)
        return refuse_absent(o, a, p.pairs, error);
    if (p.links->links == 0)
        return xlm_error_set(error, EX_CONFIG, "[stream %s]: alignments: %s has no link at all between the %" G_GINT64_FORMAT
                             " %s pairs \"%s\"; align them again", o->stream, xlm_store_path(p.file->store), p.links->pairs,
                             xlm_split_name(o->split), p.pairs->name);
    g_array_append_val(a->pairs, p);
    return true;
}

static bool add_all(const xlm_opening *o, aligned *a, GError **error)
{
    g_auto(GStrv) names = o->languages != NULL ? g_strdupv((char **)o->languages) : o->spans->spans.list(o->from, o->split);
    bool good = true;
    for (char **name = names; good && *name != NULL; name++)
        good = add_pairs(o, a, *name, error);
    return good;
}

static bool open_alignments(xlm_opening *opening, const void *pointer, void **stage, GError **error)
{
    const options *o = pointer;
    if (o->alignments == NULL)
        return true;
    if (!opening->spans->spans.pairs)
        return xlm_error_set(error, EX_CONFIG, "[stream %s]: alignments are of pairs; set type = parallel", opening->stream);
    if (opening->noise)
        return xlm_error_set(error, EX_CONFIG, "[stream %s]: alignments name tokens that noise moves and leaves out; leave "
                             "alignments out, or noise (noise_shuffle, noise_drop, noise_blank, or a stage)", opening->stream);
    aligned *a = g_new0(aligned, 1);
    *a = (aligned){g_ptr_array_new_with_free_func(close_file), g_array_new(FALSE, FALSE, sizeof(linked_pairs))};
    bool good = true;
    for (char *const *path = o->alignments; good && *path != NULL; path++) {
        xlm_alignment_file *file = xlm_alignment_file_open(*path, opening->from, error);
        good = file != NULL;
        if (good)
            g_ptr_array_add(a->files, file);
        else
            g_prefix_error(error, "[stream %s]: alignments: ", opening->stream);
    }
    good = good && add_all(opening, a, error);
    if (good)
        *stage = a;
    else
        close_alignments(a);
    return good;
}

/* ---- links of a batch ---- */

typedef struct row_link {
    int32_t row[2]; /* of the first side, of the second */
} row_link;

static int by_rows(const void *x, const void *y)
{
    const row_link *a = x, *b = y;
    return a->row[0] != b->row[0] ? (a->row[0] > b->row[0]) - (a->row[0] < b->row[0])
                                  : (a->row[1] > b->row[1]) - (a->row[1] < b->row[1]);
}

static const xlm_span *span_at(const xlm_sequences *sequences, guint i) { return &g_array_index(sequences->spans, xlm_span, i); }

/* The pairs of the languages of two spans; NULL if there are none. [out] source_first: the first span is in the source
 * language. */
static const linked_pairs *find_pairs(const aligned *a, const xlm_span *first, const xlm_span *second, bool *source_first)
{
    for (guint i = 0; i < a->pairs->len; i++) {
        const linked_pairs *p = &g_array_index(a->pairs, linked_pairs, i);
        *source_first = p->pairs->source == first->text && p->pairs->target == second->text;
        if (*source_first || (p->pairs->target == first->text && p->pairs->source == second->text))
            return p;
    }
    return NULL;
}

/* Append the links of n pairs with consecutive numbers. first, second: [n] the spans of their first and second sides. */
static bool add_links(const aligned *a, const xlm_span *first, const xlm_span *second, int64_t n, GArray *links, GError **error)
{
    bool source_first;
    const linked_pairs *p = find_pairs(a, first, second, &source_first);
    g_assert(p != NULL);
    g_autofree int64_t(*sizes)[2] = g_malloc(sizeof *sizes * (size_t)n);
    g_autofree uint64_t *offsets = g_new(uint64_t, n + 1);
    g_autofree xlm_link *found = NULL;
    for (int64_t i = 0; i < n; i++) {
        sizes[i][source_first ? 0 : 1] = first[i].tokens;
        sizes[i][source_first ? 1 : 0] = second[i].tokens;
    }
    const bool good = xlm_alignment_file_read(p->file, p->links, first->pair, n, (const int64_t(*)[2])sizes, offsets, &found, NULL,
                                              error);
    for (int64_t i = 0; i < n && good; i++)
        for (uint64_t l = offsets[i]; l < offsets[i + 1]; l++) {
            const int32_t source = found[l].source, target = found[l].target;
            const row_link link = {{first[i].row + (source_first ? source : target),
                                    second[i].row + (source_first ? target : source)}};
            g_array_append_val(links, link);
        }
    return good;
}

/* Append the links of one sequence, which has the spans [begin, end): those of its first side, then as many of its second
 * side. */
static bool add_sequence(const aligned *a, const xlm_sequences *sequences, guint begin, guint end, GArray *links, GError **error)
{
    const guint n = (end - begin) / 2;
    bool good = true;
    for (guint i = 0, next; i < n && good; i = next) {
        const xlm_span *first = span_at(sequences, begin + i), *second = span_at(sequences, begin + n + i);
        g_assert(first->pair == second->pair && first->side != second->side);
        for (next = i + 1; next < n && first[next - i].pair == first->pair + (next - i); next++)
            ;
        good = add_links(a, first, second, next - i, links, error);
    }
    return good;
}

static bool annotate(const void *stage, const xlm_draws *draws, const xlm_sequences *sequences, xlm_batch_layout *batch,
                     GError **error)
{
    (void)draws;
    const aligned *a = stage;
    g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(row_link));
    guint begin = 0;
    bool good = true;
    for (guint s = 0; s < sequences->ends->len && good; s++) {
        const guint end = g_array_index(sequences->ends, guint, s);
        good = add_sequence(a, sequences, begin, end, links, error);
        begin = end;
    }
    if (good) {
        if (links->len > 1)
            qsort(links->data, links->len, sizeof(row_link), by_rows);
        int32_t *values = xlm_batch_layout_annotate_own(batch, "links", (int32_t)links->len, 2);
        if (links->len > 0)
            memcpy(values, links->data, sizeof(row_link) * links->len);
    }
    return good;
}

const xlm_stage_class xlm_stage_alignments = {
    .kind = XLM_STAGE_ANNOTATE,
    .options = alignment_options,
    .options_size = sizeof(options),
    .open = open_alignments,
    .close = close_alignments,
    .annotate = {.names = (const char *const[]){"links", NULL}, .annotate = annotate},
};
