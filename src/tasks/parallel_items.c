/* xlm-mpi: finding items of files that are translations of each other. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/parallel_items.h"

#include <string.h>

#include "base/log.h"

/* The items to be paired, and their files. */
typedef struct pairing {
    const xlm_parallel_item *item;
    int64_t items;
    const xlm_parallel_file *file;
    int32_t files;
    const char *pivot;
    int32_t *number; /* [files] number of each file among those of its language */
} pairing;

static bool is_pivot(const pairing *p, int32_t file) { return g_strcmp0(p->file[file].language, p->pivot) == 0; }

static bool check_languages(const pairing *p, GError **error)
{
    int32_t pivots = 0;
    for (int32_t f = 0; f < p->files; f++)
        pivots += is_pivot(p, f);
    if (pivots > 0 && pivots < p->files)
        return true;
    return xlm_error_set(error, EX_CONFIG, "code_switching = %s: %s of the training files is in this language, and it takes "
                         "translations, as train = %s:FILE, xx:FILE", p->pivot, pivots > 0 ? "every one" : "none", p->pivot);
}

static void number_files(pairing *p)
{
    for (int32_t f = 0; f < p->files; f++)
        for (int32_t before = 0; before < f; before++)
            p->number[f] += g_strcmp0(p->file[before].language, p->file[f].language) == 0;
}

/* ---- by id ---- */

/* The key of an item: its language and id. g_free. */
static char *id_of(const pairing *p, const xlm_parallel_item *item)
{
    const char *language = p->file[item->file].language;
    return g_strdup_printf("%s\t%s", language != NULL ? language : "", item->id);
}

/* Items by language and id; NULL, with an error, when one has no id or another of its language has the same. */
static GHashTable *index_ids(const pairing *p, GError **error)
{
    GHashTable *index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (int64_t i = 0; i < p->items; i++) {
        const xlm_parallel_item *item = &p->item[i];
        const char *path = p->file[item->file].path;
        const xlm_parallel_item *other = NULL;
        if (item->id != NULL) {
            char *id = id_of(p, item);
            other = g_hash_table_lookup(index, id);
            if (other == NULL) {
                g_hash_table_insert(index, id, (gpointer)item);
                continue;
            }
            g_free(id);
        }
        if (item->id == NULL)
            xlm_error_at(error, path, item->line, "there is no id to find its translation by");
        else
            xlm_error_at(error, path, item->line, "id \"%s\" is on %s:%" G_GINT64_FORMAT ", too, so translations cannot be found "
                         "by ids", item->id, p->file[other->file].path, other->line);
        g_hash_table_unref(index);
        return NULL;
    }
    return index;
}

/* Do all items have ids? Files without ids are meant to be paired by lines, but ids that occur twice may be a mistake. */
static bool all_have_ids(const pairing *p)
{
    for (int64_t i = 0; i < p->items; i++)
        if (p->item[i].id == NULL)
            return false;
    return true;
}

static void pair_by_id(const pairing *p, GHashTable *index, int64_t *partner)
{
    for (int64_t i = 0; i < p->items; i++) {
        if (is_pivot(p, p->item[i].file))
            continue;
        g_autofree char *id = g_strdup_printf("%s\t%s", p->pivot, p->item[i].id);
        const xlm_parallel_item *found = g_hash_table_lookup(index, id);
        partner[i] = found != NULL ? found - p->item : -1;
    }
}

/* ---- by place ---- */

typedef struct place {
    int64_t file, row; /* file: its number among those of its language */
} place;

static guint place_hash(gconstpointer key)
{
    const place *p = key;
    const gint64 mixed = p->row * 1000003 + p->file;
    return g_int64_hash(&mixed);
}

static gboolean place_equal(gconstpointer a, gconstpointer b) { return memcmp(a, b, sizeof(place)) == 0; }

static void pair_by_place(const pairing *p, int64_t *partner)
{
    g_autoptr(GHashTable) index = g_hash_table_new_full(place_hash, place_equal, g_free, NULL);
    for (int64_t i = 0; i < p->items; i++)
        if (is_pivot(p, p->item[i].file)) {
            const place at = {p->number[p->item[i].file], p->item[i].row};
            g_hash_table_insert(index, g_memdup2(&at, sizeof at), (gpointer)&p->item[i]);
        }
    for (int64_t i = 0; i < p->items; i++) {
        const place at = {p->number[p->item[i].file], p->item[i].row};
        const xlm_parallel_item *found = is_pivot(p, p->item[i].file) ? NULL : g_hash_table_lookup(index, &at);
        partner[i] = found != NULL ? found - p->item : -1;
    }
}

/* ---- all ---- */

bool xlm_parallel_items_find(xlm_parallel_items *parallel, const xlm_parallel_item *item, int64_t items,
                             const xlm_parallel_file *file, int32_t files, const char *pivot, xlm_pairing how, GError **error)
{
    pairing p = {.item = item, .items = items, .file = file, .files = files, .pivot = pivot, .number = g_new0(int32_t, files)};
    *parallel = (xlm_parallel_items){.partner = g_new(int64_t, items)};
    for (int64_t i = 0; i < items; i++)
        parallel->partner[i] = -1;
    number_files(&p);
    bool good = check_languages(&p, error);
    g_autoptr(GError) why = NULL;
    GHashTable *ids = good && how != XLM_PAIRED_BY_LINE ? index_ids(&p, &why) : NULL;
    if (why != NULL && how == XLM_PAIRED_BY_ID) {
        g_propagate_error(error, g_steal_pointer(&why));
        good = false;
    } else if (why != NULL && all_have_ids(&p)) {
        xlm_log_warn("%s; they are looked for by lines (pair_by = line)", why->message);
    }
    parallel->by_id = ids != NULL;
    if (ids != NULL)
        pair_by_id(&p, ids, parallel->partner);
    else if (good)
        pair_by_place(&p, parallel->partner);
    if (ids != NULL)
        g_hash_table_unref(ids);
    g_free(p.number);
    if (!good)
        xlm_parallel_items_clear(parallel);
    return good;
}

void xlm_parallel_items_clear(xlm_parallel_items *parallel)
{
    g_free(parallel->partner);
    parallel->partner = NULL;
}
