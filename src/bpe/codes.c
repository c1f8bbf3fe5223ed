/* xlm-mpi: BPE codes and their files. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "bpe/codes.h"
#include "text/fields.h"

static void put_pair(xlm_bpe *bpe, uint32_t rank)
{
    const bpe_code *code = bpe_get(bpe, rank);
    const uint64_t key = bpe_key(code->left, code->right), hash = bpe_hash(key), bit = bpe_filter_bit(bpe, hash);
    uint64_t at = hash & bpe->mask;
    while (bpe->pairs[at].rank != BPE_NONE)
        at = (at + 1) & bpe->mask;
    bpe->pairs[at] = (bpe_pair){key, rank};
    bpe->filter[bit / 64] |= UINT64_C(1) << bit % 64;
}

static void make_pairs(xlm_bpe *bpe, uint64_t size)
{
    g_free(bpe->pairs);
    g_free(bpe->filter);
    bpe->pairs = g_new(bpe_pair, size);
    bpe->filter = g_new0(uint64_t, size * BPE_FILTER_BITS / 64);
    bpe->mask = size - 1;
    memset(bpe->pairs, 0xff, size * sizeof(bpe_pair));
    for (uint32_t rank = 0; rank < bpe->codes->len; rank++)
        put_pair(bpe, rank);
}

xlm_bpe *bpe_new(void)
{
    xlm_bpe *bpe = g_new0(xlm_bpe, 1);
    bpe->symbols = xlm_strings_new();
    bpe->codes = g_array_new(FALSE, FALSE, sizeof(bpe_code));
    bpe->made_by = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    make_pairs(bpe, 1024);
    return bpe;
}

void xlm_bpe_free(xlm_bpe *bpe)
{
    if (bpe == NULL)
        return;
    xlm_strings_free(bpe->symbols);
    g_array_free(bpe->codes, TRUE);
    g_array_free(bpe->made_by, TRUE);
    g_free(bpe->pairs);
    g_free(bpe->filter);
    g_free(bpe);
}

static uint32_t add_symbol(xlm_bpe *bpe, const char *text, size_t size)
{
    const uint32_t symbol = xlm_strings_add(bpe->symbols, text, size), none = BPE_NONE;
    if (symbol == bpe->made_by->len)
        g_array_append_val(bpe->made_by, none);
    return symbol;
}

static bpe_code make_code(xlm_bpe *bpe, const char *left, size_t left_size, const char *right, size_t right_size, int64_t count)
{
    g_autoptr(GString) both = g_string_sized_new(left_size + right_size);
    g_string_append_len(both, left, (gssize)left_size);
    g_string_append_len(both, right, (gssize)right_size);
    bpe_code code = {add_symbol(bpe, left, left_size), add_symbol(bpe, right, right_size),
                     add_symbol(bpe, both->str, both->len), count};
    return code;
}

static void append_code(xlm_bpe *bpe, bpe_code code)
{
    const uint32_t rank = bpe->codes->len;
    uint32_t *made_by = &g_array_index(bpe->made_by, uint32_t, code.result);
    if (*made_by == BPE_NONE)
        *made_by = rank;
    g_array_append_val(bpe->codes, code);
    if (2 * (uint64_t)bpe->codes->len > bpe->mask)
        make_pairs(bpe, 4 * (bpe->mask + 1));
    else
        put_pair(bpe, rank);
}

bool bpe_add(xlm_bpe *bpe, const char *left, size_t left_size, const char *right, size_t right_size, int64_t count)
{
    /* Equal pairs have equal results, so a code with a new result has a new pair. */
    const bpe_code code = make_code(bpe, left, left_size, right, right_size, count);
    const bool is_new = g_array_index(bpe->made_by, uint32_t, code.result) == BPE_NONE;
    if (is_new)
        append_code(bpe, code);
    return is_new;
}

bool bpe_add_pair(xlm_bpe *bpe, const char *left, size_t left_size, const char *right, size_t right_size, int64_t count)
{
    const bpe_code code = make_code(bpe, left, left_size, right, right_size, count);
    const bool is_new = bpe_rank(bpe, code.left, code.right) == BPE_NONE;
    if (is_new)
        append_code(bpe, code);
    return is_new;
}

xlm_bpe *bpe_copy(const xlm_bpe *bpe, const uint8_t *keep)
{
    xlm_bpe *same = bpe_new();
    for (uint32_t i = 0; i < xlm_bpe_size(bpe); i++) {
        const char *left, *right;
        int64_t count;
        xlm_bpe_code(bpe, i, &left, &right, &count);
        if (keep == NULL || keep[i])
            bpe_add_pair(same, left, strlen(left), right, strlen(right), count);
    }
    return same;
}

uint32_t xlm_bpe_size(const xlm_bpe *bpe) { return bpe->codes->len; }

void xlm_bpe_code(const xlm_bpe *bpe, uint32_t i, const char **left, const char **right, int64_t *count)
{
    const bpe_code *code = bpe_get(bpe, i);
    if (left != NULL)
        *left = xlm_strings_get(bpe->symbols, code->left, NULL);
    if (right != NULL)
        *right = xlm_strings_get(bpe->symbols, code->right, NULL);
    if (count != NULL)
        *count = code->count;
}

char **bpe_strings(const xlm_bpe *bpe, int64_t **counts)
{
    const uint32_t n = xlm_bpe_size(bpe);
    char **strings = g_new0(char *, (size_t)n + 1);
    *counts = g_new(int64_t, (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const char *left, *right;
        xlm_bpe_code(bpe, i, &left, &right, &(*counts)[i]);
        strings[i] = g_strconcat(left, " ", right, NULL);
    }
    return strings;
}

/* ---- files ---- */

xlm_bpe *xlm_bpe_parse(const char *name, const char *text, size_t size, GError **error)
{
    xlm_bpe *bpe = bpe_new();
    xlm_fields fields = xlm_fields_begin(name, text, size);
    xlm_field field[3];
    int64_t count;
    int state;
    while ((state = xlm_fields_next(&fields, 3, "left right count", field, &count, error)) > 0)
        if (!bpe_add(bpe, field[0].text, field[0].size, field[1].text, field[1].size, count)) {
            xlm_error_set(error, EX_DATAERR,
                          "%s:%" G_GINT64_FORMAT ": `%.*s%.*s` is made by an earlier code too; codes must be those "
                          "of one learning",
                          name, fields.line, (int)field[0].size, field[0].text, (int)field[1].size, field[1].text);
            break;
        }
    if (state == 0)
        return bpe;
    xlm_bpe_free(bpe);
    return NULL;
}

GString *xlm_bpe_print(const xlm_bpe *bpe)
{
    GString *text = g_string_new(NULL);
    for (uint32_t i = 0; i < xlm_bpe_size(bpe); i++) {
        const char *left, *right;
        int64_t count;
        xlm_bpe_code(bpe, i, &left, &right, &count);
        g_string_append_printf(text, "%s %s %" G_GINT64_FORMAT "\n", left, right, count);
    }
    return text;
}
