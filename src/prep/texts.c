/* xlm-mpi: the sources of a preparation as plain files of lines. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/texts.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/unfinished.h"
#include "prep/unpack.h"

/* Texts that are unpacked together, the languages of one TMX file, are a group, known by its first text. */
struct text {
    xlm_prep_text shown; /* first, so that a pointer to it is one to this */
    xlm_line_form_kind kind; /* XLM_FORM_TMX, XLM_FORM_WET, or XLM_FORM_LINES for all others */
    xlm_index_unit unit;
    char *given;    /* the file's name as it was given */
    char *language; /* of TMX, or NULL */
    guint group;
    int owner;       /* the rank that unpacks it */
    int64_t missing; /* units of TMX that lack the language */
};

struct xlm_prep_texts {
    int rank;
    GPtrArray *texts; /* struct text * */
    const char *scratch;
    char *input;      /* scratch file with standard input, or NULL */
};

static struct text *text_at(const xlm_prep_texts *texts, guint i) { return texts->texts->pdata[i]; }

static bool is_input(const struct text *text) { return strcmp(text->given, "-") == 0; }

static void free_text(void *pointer)
{
    struct text *text = pointer;
    xlm_line_index_free(text->shown.index);
    g_free(text->shown.path);
    g_free(text->given);
    g_free(text->language);
    g_free(text);
}

void xlm_prep_texts_close(xlm_prep_texts *texts)
{
    if (texts == NULL)
        return;
    for (guint i = 0; i < texts->texts->len; i++)
        if (text_at(texts, i)->shown.scratch && text_at(texts, i)->owner == texts->rank)
            xlm_unfinished_remove(text_at(texts, i)->shown.path);
    if (texts->input != NULL && texts->rank == 0)
        xlm_unfinished_remove(texts->input);
    g_ptr_array_free(texts->texts, TRUE);
    g_free(texts->input);
    g_free(texts);
}

/* ---- which texts there are ---- */

static bool is_same(const struct text *text, const struct text *other)
{
    return text->kind == other->kind && text->unit == other->unit && strcmp(text->given, other->given) == 0 &&
           g_strcmp0(text->language, other->language) == 0;
}

/* Number of the text that a side of a source reads, which is added if it is new. */
static guint find_text(xlm_prep_texts *texts, const xlm_prep_source *source, int side)
{
    const xlm_line_form *form = &source->form[side];
    const bool unpacks = form->kind == XLM_FORM_TMX || form->kind == XLM_FORM_WET;
    const struct text wanted = {.kind = unpacks ? form->kind : XLM_FORM_LINES, .given = source->path[side],
                                .unit = source->conllu ? XLM_INDEX_SENTENCES : XLM_INDEX_LINES,
                                .language = form->kind == XLM_FORM_TMX ? form->field : NULL};
    guint group = texts->texts->len;
    for (guint i = 0; i < texts->texts->len; i++) {
        const struct text *other = text_at(texts, i);
        if (is_same(&wanted, other))
            return i;
        if (wanted.kind == XLM_FORM_TMX && other->kind == XLM_FORM_TMX && strcmp(wanted.given, other->given) == 0)
            group = other->group;
    }
    struct text *text = g_new0(struct text, 1);
    *text = wanted;
    text->given = g_strdup(wanted.given);
    text->language = g_strdup(wanted.language);
    text->shown.name = is_input(text) ? XLM_LINES_INPUT : text->given;
    text->shown.file = text->given;
    text->group = group;
    g_ptr_array_add(texts->texts, text);
    return texts->texts->len - 1;
}

static void find_texts(xlm_prep_texts *texts, xlm_prep_source *const *sources, guint n)
{
    for (guint i = 0; i < n; i++)
        for (int side = 0; side < sources[i]->sides; side++)
            sources[i]->text[side] = &text_at(texts, find_text(texts, sources[i], side))->shown;
}

/* Groups go round the ranks; only rank 0 has standard input. */
static void give_owners(const xlm_prep_texts *texts, int ranks)
{
    int next = 0;
    for (guint i = 0; i < texts->texts->len; i++) {
        struct text *text = text_at(texts, i);
        text->owner = text->group < i ? text_at(texts, text->group)->owner : is_input(text) ? 0 : next++ % ranks;
    }
}

/* ---- standard input ---- */

static bool take_input(xlm_prep_texts *texts, const xlm_comm *comm, GError **error)
{
    bool wanted = false;
    for (guint i = 0; i < texts->texts->len; i++)
        wanted = wanted || is_input(text_at(texts, i));
    if (!wanted)
        return true;
    GError *failure = NULL;
    if (comm->rank == 0)
        xlm_unpack_input(texts->scratch, &texts->input, &failure);
    xlm_comm_broadcast_text(comm, &texts->input);
    for (guint i = 0; i < texts->texts->len; i++)
        if (is_input(text_at(texts, i)))
            text_at(texts, i)->shown.file = texts->input;
    return xlm_comm_agree_on(comm, failure, error);
}

/* ---- unpacking ---- */

static bool unpack_units(const xlm_prep_texts *texts, guint group, xlm_lines *lines, GError **error)
{
    const guint all = texts->texts->len;
    g_autofree const char **languages = g_new(const char *, all);
    g_autofree char **paths = g_new0(char *, all);
    g_autofree int64_t *missing = g_new(int64_t, all);
    int n = 0, k = 0;
    for (guint i = group; i < all; i++)
        if (text_at(texts, i)->group == group)
            languages[n++] = text_at(texts, i)->language;
    if (!xlm_unpack_tmx(lines, n, languages, texts->scratch, paths, missing, error))
        return false;
    for (guint i = group; i < all; i++)
        if (text_at(texts, i)->group == group) {
            text_at(texts, i)->shown.path = paths[k];
            text_at(texts, i)->missing = missing[k++];
        }
    return true;
}

/* A plain file of lines stays where it is. */
static bool unpack(const xlm_prep_texts *texts, guint group, GError **error)
{
    struct text *text = text_at(texts, group);
    g_autoptr(xlm_lines) lines = xlm_lines_open_as(text->shown.file, text->shown.name, error);
    if (lines == NULL)
        return false;
    if (text->kind == XLM_FORM_TMX)
        return unpack_units(texts, group, lines, error);
    if (text->kind == XLM_FORM_WET)
        return xlm_unpack_wet(lines, texts->scratch, &text->shown.path, error);
    const int plain = xlm_lines_is_plain(lines, error);
    return plain > 0 || (plain == 0 && xlm_unpack_lines(lines, texts->scratch, &text->shown.path, error));
}

/* Unpack this rank's groups. The error is that of the first file, on any number of ranks. */
static bool unpack_all(const xlm_prep_texts *texts, const xlm_comm *comm, GError **error)
{
    GError *failure = NULL;
    int64_t first = -G_MAXINT64;
    for (guint i = 0; i < texts->texts->len && failure == NULL; i++)
        if (text_at(texts, i)->group == i && text_at(texts, i)->owner == comm->rank && !unpack(texts, i, &failure))
            first = -(int64_t)i;
    const int64_t own = first;
    xlm_comm_max_int64(comm, &first, 1);
    if (own != first)
        g_clear_error(&failure);
    return xlm_comm_agree_on(comm, failure, error);
}

/* Tell all ranks where a text is. */
static void share_place(struct text *text, const xlm_comm *comm)
{
    void *bytes = text->shown.path;
    size_t size = text->shown.path != NULL ? strlen(text->shown.path) + 1 : 0;
    xlm_comm_broadcast_bytes(comm, text->owner, &bytes, &size);
    xlm_comm_broadcast(comm, text->owner, &text->missing, sizeof text->missing);
    text->shown.scratch = size > 0;
    if (comm->rank != text->owner && size > 0)
        text->shown.path = bytes;
    else if (comm->rank != text->owner)
        g_free(bytes);
    if (size == 0)
        text->shown.path = g_strdup(text->shown.file);
}

static bool make_index(struct text *text, const xlm_comm *comm, GError **error)
{
    xlm_prep_text *shown = &text->shown;
    GError *failure = NULL;
    if ((shown->scratch || is_input(text)) && access(shown->path, R_OK) != 0)
        xlm_error_set(&failure, EX_CANTCREAT, "%s: not all ranks see this scratch file; name a directory that they share with "
                      "--scratch", shown->path);
    if (!xlm_comm_agree_on(comm, failure, error))
        return false;
    shown->index = xlm_line_index_make(comm, shown->path, shown->name, text->unit, error);
    if (shown->index != NULL && text->kind == XLM_FORM_TMX)
        xlm_log_info("%s: %" G_GINT64_FORMAT " translation units, %" G_GINT64_FORMAT " of them without %s", shown->name,
                     shown->index->lines, text->missing, text->language);
    return shown->index != NULL;
}

/* Line i of one side belongs to line i of the other. */
static bool compare_sides(const xlm_prep_source *source, GError **error)
{
    const xlm_prep_text *const *text = source->text;
    return source->sides < 2 || text[0]->index->lines == text[1]->index->lines ||
           xlm_error_set(error, EX_DATAERR, "%s has %" G_GINT64_FORMAT " lines and %s has %" G_GINT64_FORMAT
                         "; line i of one must be the translation of line i of the other",
                         text[0]->name, text[0]->index->lines, text[1]->name, text[1]->index->lines);
}

xlm_prep_texts *xlm_prep_texts_open(const xlm_comm *comm, xlm_prep_source *const *sources, guint n, const char *scratch,
                                    GError **error)
{
    xlm_prep_texts *texts = g_new0(xlm_prep_texts, 1);
    texts->rank = comm->rank;
    texts->scratch = scratch;
    texts->texts = g_ptr_array_new_with_free_func(free_text);
    find_texts(texts, sources, n);
    give_owners(texts, comm->ranks);
    if (!take_input(texts, comm, error))
        g_clear_pointer(&texts, xlm_prep_texts_close);
    return texts;
}

bool xlm_prep_texts_read(xlm_prep_texts *texts, const xlm_comm *comm, xlm_prep_source *const *sources, guint n, GError **error)
{
    bool good = unpack_all(texts, comm, error);
    for (guint i = 0; i < texts->texts->len; i++) /* also those that are to be removed */
        share_place(text_at(texts, i), comm);
    for (guint i = 0; good && i < texts->texts->len; i++)
        good = make_index(text_at(texts, i), comm, error);
    for (guint i = 0; good && i < n; i++)
        good = compare_sides(sources[i], error);
    return good;
}
