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

/* ---- keys ---- */

/* The key by which an item is found, if it were in this language: the language, and the id or else the place, which is the number
 * of the file among those of its language and the row. g_free. */
static char *key_of(const pairing *p, const xlm_parallel_item *item, const char *language, bool by_id)
{
    if (language == NULL)
        language = "";
    return by_id ? g_strdup_printf("%s\t%s", language, item->id)
                 : g_strdup_printf("%s\t%d\t%" G_GINT64_FORMAT, language, p->number[item->file], item->row);
}

/* Items by language and id; NULL, with an error, when one has no id or another of its language has the same. */
static GHashTable *index_ids(const pairing *p, GError **error)
{
    g_autoptr(GHashTable) index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (int64_t i = 0; i < p->items; i++) {
        const xlm_parallel_item *item = &p->item[i];
        const xlm_parallel_file *file = &p->file[item->file];
        if (item->id == NULL) {
            xlm_error_at(error, file->path, item->line, "there is no id to find its translation by");
            return NULL;
        }
        char *key = key_of(p, item, file->language, true);
        const xlm_parallel_item *other = g_hash_table_lookup(index, key);
        g_hash_table_insert(index, key, (gpointer)item);
        if (other != NULL) {
            xlm_error_at(error, file->path, item->line, "id \"%s\" is on %s:%" G_GINT64_FORMAT ", too, so translations cannot be "
                         "found by ids", item->id, p->file[other->file].path, other->line);
            return NULL;
        }
    }
    return g_steal_pointer(&index);
}

/* Do all items have ids? Files without ids are meant to be paired by lines, but ids that occur twice may be a mistake. */
static bool all_have_ids(const pairing *p)
{
    for (int64_t i = 0; i < p->items; i++)
        if (p->item[i].id == NULL)
            return false;
    return true;
}

/* Items of the pivot language by their places. */
static GHashTable *index_places(const pairing *p)
{
    GHashTable *index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (int64_t i = 0; i < p->items; i++)
        if (is_pivot(p, p->item[i].file))
            g_hash_table_insert(index, key_of(p, &p->item[i], p->pivot, false), (gpointer)&p->item[i]);
    return index;
}

static void find_partners(const pairing *p, GHashTable *index, bool by_id, int64_t *partner)
{
    for (int64_t i = 0; i < p->items; i++) {
        if (is_pivot(p, p->item[i].file))
            continue;
        g_autofree char *key = key_of(p, &p->item[i], p->pivot, by_id);
        const xlm_parallel_item *found = g_hash_table_lookup(index, key);
        partner[i] = found != NULL ? found - p->item : -1;
    }
}

/* ---- all ---- */

bool xlm_parallel_items_find(xlm_parallel_items *parallel, const xlm_parallel_item *item, int64_t items,
                             const xlm_parallel_file *file, int32_t files, const char *pivot, xlm_pairing how, GError **error)
{
    pairing p = {.item = item, .items = items, .file = file, .files = files, .pivot = pivot, .number = g_new0(int32_t, files)};
    *parallel = (xlm_parallel_items){.partner = NULL};
    parallel->partner = g_new(int64_t, items);
    for (int64_t i = 0; i < items; i++)
        parallel->partner[i] = -1;
    number_files(&p);
    bool good = check_languages(&p, error);
    g_autoptr(GError) why = NULL;
    g_autoptr(GHashTable) index = good && how != XLM_PAIRED_BY_LINE ? index_ids(&p, &why) : NULL;
    if (why != NULL && how == XLM_PAIRED_BY_ID) {
        g_propagate_error(error, g_steal_pointer(&why));
        good = false;
    } else if (why != NULL && all_have_ids(&p)) {
        xlm_log_warn("%s; they are looked for by lines (pair_by = line)", why->message);
    }
    parallel->by_id = index != NULL;
    if (good && index == NULL)
        index = index_places(&p);
    if (good)
        find_partners(&p, index, parallel->by_id, parallel->partner);
    g_free(p.number);
    if (!good)
        xlm_parallel_items_clear(parallel);
    return good;
}

void xlm_parallel_items_clear(xlm_parallel_items *parallel)
{
    g_clear_pointer(&parallel->partner, g_free);
}
