/* xlm-mpi: how much more often words occur together than by chance, over ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/association.h"

#include <math.h>
#include <string.h>

#include "base/progress.h"

enum {
    CHUNK = 1 << 20, /* entries of the table that a rank reads at a time; a longer row is read whole */
    COLUMNS = XLM_ASSOCIATION_COLUMNS,
    BLOCK = 4096     /* words of a block of columns: half a megabyte of x */
};

/* What is sent to the rank that keeps a row. */
typedef struct record {
    uint32_t row, column; /* index among the receiver's rows; position of the column */
    float values[2];      /* of M, of Mᵀ */
} record;

typedef struct reading {
    const xlm_comm *comm;
    const xlm_cooccurrence *table;
    xlm_association *a;
    uint64_t *ends;    /* [vocabulary + 1] of the table's rows */
    GArray *chunks;    /* int64_t: first rows, and the end */
    double *row_term, *column_term; /* [vocabulary] by word */
} reading;

static int64_t position_of(const xlm_association *a, int64_t word)
{
    return word % a->comm->ranks * a->rows + word / a->comm->ranks;
}

/* ---- reading ---- */

/* M_wc and M_cw; is one of them above 0? */
static bool find_values(const reading *r, int64_t w, int64_t c, double count, float values[2])
{
    const double log_count = log(count);
    values[0] = (float)fmax(0, log_count + r->row_term[w] + r->column_term[c]);
    values[1] = (float)fmax(0, log_count + r->row_term[c] + r->column_term[w]);
    return values[0] > 0 || values[1] > 0;
}

/* M_wc = max(0, log X_wc + row_term[w] + column_term[c]). Terms of words without counts are never used. */
static void make_terms(reading *r, const double *totals, double shift, double smoothing)
{
    const int64_t n = r->a->vocabulary;
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += totals[i] > 0 ? pow(totals[i], smoothing) : 0;
    r->row_term = g_new0(double, n);
    r->column_term = g_new0(double, n);
    for (int64_t i = 0; i < n; i++) {
        const double log_total = totals[i] > 0 ? log(totals[i]) : 0;
        r->row_term[i] = -log_total - log(shift);
        r->column_term[i] = log(sum) - smoothing * log_total;
    }
}

static bool open_reading(reading *r, double shift, double smoothing, GError **error)
{
    xlm_association *a = r->a;
    double *totals = xlm_cooccurrence_read_totals(r->table, error);
    if (totals == NULL || (r->ends = xlm_cooccurrence_read_offsets(r->table, error)) == NULL) {
        g_free(totals);
        return false;
    }
    make_terms(r, totals, shift, smoothing);
    g_free(totals);
    r->chunks = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (int64_t first = 0, last; first < a->vocabulary; first = last) {
        g_array_append_val(r->chunks, first);
        for (last = first + 1; last < a->vocabulary && r->ends[last + 1] - r->ends[first] <= CHUNK;)
            last++;
    }
    g_array_append_val(r->chunks, a->vocabulary);
    return true;
}

static void close_reading(reading *r)
{
    g_free(r->ends);
    g_free(r->row_term);
    g_free(r->column_term);
    if (r->chunks != NULL)
        g_array_unref(r->chunks);
}

/* The entries of a chunk of rows; there may be none. */
typedef struct chunk {
    int64_t first, last;
    uint64_t *offsets;
    uint32_t *columns;
    double *counts;
} chunk;

static bool read_chunk(const reading *r, int64_t number, chunk *c, GError **error)
{
    *c = (chunk){0};
    if (number + 1 >= r->chunks->len)
        return true;
    c->first = g_array_index(r->chunks, int64_t, number);
    c->last = g_array_index(r->chunks, int64_t, number + 1);
    c->offsets = g_new(uint64_t, c->last - c->first + 1);
    if (!xlm_cooccurrence_read(r->table, c->first, c->last, c->offsets, &c->columns, &c->counts, error)) {
        c->last = c->first;
        return false;
    }
    return true;
}

static void free_chunk(chunk *c)
{
    g_free(c->offsets);
    g_free(c->columns);
    g_free(c->counts);
}

/* Call visit(w, column, values, data) for the entries of a chunk that are kept, in their order. */
static void visit_chunk(const reading *r, const chunk *c,
                        void (*visit)(int64_t w, int64_t column, const float values[2], void *data), void *data)
{
    for (int64_t w = c->first; w < c->last; w++)
        for (uint64_t e = c->offsets[w - c->first]; e < c->offsets[w - c->first + 1]; e++) {
            float values[2];
            if (find_values(r, w, c->columns[e], c->counts[e], values))
                visit(w, c->columns[e], values, data);
        }
}

static void count_entry(int64_t w, int64_t c, const float values[2], void *data)
{
    int64_t *counts = data;
    (void)values;
    counts[w]++;
    if (c != w)
        counts[c]++;
}

static int64_t rounds_of(const reading *r) { return (r->chunks->len - 1 + r->comm->ranks - 1) / r->comm->ranks; }

/* counts[vocabulary]: entries of each word's row of M. */
static bool count_entries(const reading *r, int64_t *counts, GError **error)
{
    GError *failure = NULL;
    const int64_t rounds = rounds_of(r);
    xlm_progress progress = xlm_progress_begin("counting entries", (double)rounds, "parts");
    bool good = true;
    for (int64_t round = 0; round < rounds && good; round++) {
        chunk c;
        good = read_chunk(r, round * r->comm->ranks + r->comm->rank, &c, &failure);
        visit_chunk(r, &c, count_entry, counts);
        free_chunk(&c);
        xlm_progress_show(&progress, (double)(round + 1));
    }
    xlm_progress_end(&progress);
    if (!xlm_comm_agree_on(r->comm, failure, error))
        return false;
    xlm_comm_sum_int64(r->comm, counts, r->a->vocabulary);
    return true;
}

static void make_rows(const reading *r, const int64_t *counts)
{
    xlm_association *a = r->a;
    a->offsets = g_new0(uint64_t, a->rows + 1);
    for (int64_t i = 0; i < a->rows; i++) {
        const int64_t word = i * a->comm->ranks + a->comm->rank;
        a->offsets[i + 1] = a->offsets[i] + (word < a->vocabulary ? (uint64_t)counts[word] : 0);
    }
    for (int64_t i = 0; i < a->vocabulary; i++)
        a->entries += counts[i];
    a->columns = g_new(uint32_t, a->offsets[a->rows] + 1);
    for (int k = 0; k < 2; k++)
        a->values[k] = g_new(float, a->offsets[a->rows] + 1);
}

/* The records for each rank. */
typedef struct post {
    const xlm_association *a;
    GArray **to; /* [ranks] of record */
} post;

static void send_row(const post *p, int64_t w, int64_t c, float value, float transposed)
{
    const int ranks = p->a->comm->ranks;
    const record entry = {(uint32_t)(w / ranks), (uint32_t)position_of(p->a, c), {value, transposed}};
    g_array_append_val(p->to[w % ranks], entry);
}

static void send_entry(int64_t w, int64_t c, const float values[2], void *data)
{
    if (c != w)
        send_row(data, c, w, values[1], values[0]);
    send_row(data, w, c, values[0], values[1]);
}

/* Append received records to their rows. at: [rows] where the next entry of each row goes. */
static void take_entries(xlm_association *a, const record *in, int64_t n, uint64_t *at)
{
    for (int64_t e = 0; e < n; e++) {
        const uint64_t to = at[in[e].row]++;
        a->columns[to] = in[e].column;
        a->values[0][to] = in[e].values[0];
        a->values[1][to] = in[e].values[1];
    }
}

/* Ranks read chunks in turn, and records arrive in the order of the ranks. Row w first gets the part of column w above the
 * diagonal, row by row, and then row w itself, so its entries are in ascending order of the words. */
static bool fill_rows(const reading *r, GError **error)
{
    const int ranks = r->comm->ranks;
    xlm_association *a = r->a;
    GError *failure = NULL;
    g_autofree uint64_t *at = g_memdup2(a->offsets, sizeof *at * (size_t)(a->rows + 1));
    g_autofree int64_t *numbers = g_new(int64_t, ranks), *received = g_new(int64_t, ranks);
    post p = {.a = a, .to = g_new(GArray *, ranks)};
    for (int k = 0; k < ranks; k++)
        p.to[k] = g_array_new(FALSE, FALSE, sizeof(record));
    const int64_t rounds = rounds_of(r);
    xlm_progress progress = xlm_progress_begin("reading counts", (double)rounds, "parts");
    bool good = true;
    for (int64_t round = 0; round < rounds && good; round++) {
        chunk c;
        if (read_chunk(r, round * ranks + r->comm->rank, &c, &failure))
            visit_chunk(r, &c, send_entry, &p);
        free_chunk(&c);
        good = xlm_comm_agree_on(r->comm, g_steal_pointer(&failure), error);
        g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(record));
        for (int k = 0; k < ranks; k++) {
            numbers[k] = p.to[k]->len;
            g_array_append_vals(all, p.to[k]->data, p.to[k]->len);
            g_array_set_size(p.to[k], 0);
        }
        if (good) {
            g_autofree record *in = xlm_comm_exchange(r->comm, all->data, numbers, sizeof(record), received);
            int64_t n = 0;
            for (int k = 0; k < ranks; k++)
                n += received[k];
            take_entries(a, in, n, at);
        }
        xlm_progress_show(&progress, (double)(round + 1));
    }
    xlm_progress_end(&progress);
    for (int k = 0; k < ranks; k++)
        g_array_unref(p.to[k]);
    g_free(p.to);
    return good;
}

/* ---- blocks ---- */

static int64_t word_at(const xlm_association *a, uint32_t position)
{
    return (int64_t)position % a->rows * a->comm->ranks + (int64_t)position / a->rows;
}

/* Bring four bytes of each entry from the order of rows (`from`) into that of blocks (`to`). Frees `values`; g_free. */
static void *reorder(const xlm_association *a, const uint64_t *from, const uint64_t *to, void *values)
{
    uint32_t *out = g_new(uint32_t, from[a->rows] + 1);
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t row = 0; row < a->rows; row++) {
        uint64_t e = from[row];
        for (int64_t b = 0; b < a->blocks; b++) {
            const uint64_t first = to[b * a->rows + row], n = to[b * a->rows + row + 1] - first;
            memcpy(out + first, (const uint32_t *)values + e, sizeof *out * n);
            e += n;
        }
    }
    g_free(values);
    return out;
}

/* Divide the entries into blocks of columns. The entries of a row ascend by word, so those of one block are a run. */
static void make_blocks(xlm_association *a)
{
    const uint64_t *from = a->offsets;
    a->blocks = (a->vocabulary + BLOCK - 1) / BLOCK;
    uint64_t *to = g_new0(uint64_t, a->blocks * a->rows + 1);
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t row = 0; row < a->rows; row++)
        for (uint64_t e = from[row]; e < from[row + 1]; e++)
            to[word_at(a, a->columns[e]) / BLOCK * a->rows + row + 1]++;
    for (int64_t i = 0; i < a->blocks * a->rows; i++)
        to[i + 1] += to[i];
    a->columns = reorder(a, from, to, a->columns);
    for (int k = 0; k < 2; k++)
        a->values[k] = reorder(a, from, to, a->values[k]);
    g_free(a->offsets);
    a->offsets = to;
}

int64_t xlm_association_bytes(const xlm_comm *comm, const xlm_cooccurrence *table)
{
    const int64_t rows = (table->vocabulary + comm->ranks - 1) / comm->ranks;
    const int64_t entries = 2 * table->entries / comm->ranks;
    const int64_t blocks = (table->vocabulary + BLOCK - 1) / BLOCK;
    return entries * (int64_t)(2 * sizeof(uint32_t) + 2 * sizeof(float)) + 40 * table->vocabulary + 8 * rows * (blocks + 1) +
           CHUNK * (int64_t)(12 + 4 * sizeof(record) * 2);
}

bool xlm_association_read(const xlm_comm *comm, const xlm_cooccurrence *table, double shift, double smoothing,
                          xlm_association *association, GError **error)
{
    xlm_association *a = association;
    *a = (xlm_association){.comm = comm, .vocabulary = table->vocabulary,
                           .rows = (table->vocabulary + comm->ranks - 1) / comm->ranks};
    reading r = {.comm = comm, .table = table, .a = a};
    GError *failure = NULL;
    g_autofree int64_t *counts = g_new0(int64_t, a->vocabulary);
    open_reading(&r, shift, smoothing, &failure);
    bool good = xlm_comm_agree_on(comm, failure, error) && count_entries(&r, counts, error);
    if (good) {
        make_rows(&r, counts);
        good = a->entries > 0 || xlm_error_set(error, EX_DATAERR, "%s: no two words occur together more often than by chance "
                                               "and the shift; take a smaller one", xlm_store_path(table->store));
    }
    good = good && fill_rows(&r, error);
    if (good)
        make_blocks(a);
    close_reading(&r);
    if (!good)
        xlm_association_free(a);
    return good;
}

void xlm_association_free(xlm_association *association)
{
    g_free(association->offsets);
    g_free(association->columns);
    g_free(association->values[0]);
    g_free(association->values[1]);
    *association = (xlm_association){0};
}

/* ---- products ---- */

/* y[16] += Σ_e value[e] x[position[e]], x: [.. x 16]. Sums are written one by one so that they stay in registers. */
static void multiply_row(uint64_t n, const uint32_t *position, const float *value, const double *x, double *y)
{
    double s0 = y[0], s1 = y[1], s2 = y[2], s3 = y[3], s4 = y[4], s5 = y[5], s6 = y[6], s7 = y[7];
    double t0 = y[8], t1 = y[9], t2 = y[10], t3 = y[11], t4 = y[12], t5 = y[13], t6 = y[14], t7 = y[15];
    for (uint64_t e = 0; e < n; e++) {
        const double *row = x + (size_t)position[e] * COLUMNS, v = (double)value[e];
        s0 += v * row[0], s1 += v * row[1], s2 += v * row[2], s3 += v * row[3];
        s4 += v * row[4], s5 += v * row[5], s6 += v * row[6], s7 += v * row[7];
        t0 += v * row[8], t1 += v * row[9], t2 += v * row[10], t3 += v * row[11];
        t4 += v * row[12], t5 += v * row[13], t6 += v * row[14], t7 += v * row[15];
    }
    y[0] = s0, y[1] = s1, y[2] = s2, y[3] = s3, y[4] = s4, y[5] = s5, y[6] = s6, y[7] = s7;
    y[8] = t0, y[9] = t1, y[10] = t2, y[11] = t3, y[12] = t4, y[13] = t5, y[14] = t6, y[15] = t7;
}

/* Add the product of a block of columns with one panel to y, whose rows are `stride` apart. */
static void multiply_block(const xlm_association *a, bool transpose, int64_t block, const double *x, int64_t stride, double *y)
{
    const uint64_t *offsets = a->offsets + block * a->rows;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t row = 0; row < a->rows; row++)
        if (offsets[row + 1] > offsets[row])
            multiply_row(offsets[row + 1] - offsets[row], a->columns + offsets[row], a->values[transpose] + offsets[row], x,
                         y + row * stride);
}

void xlm_association_multiply(const xlm_association *association, bool transpose, int64_t n, const double *x, double *y)
{
    const xlm_association *a = association;
    const int64_t all = a->rows * a->comm->ranks;
    g_assert(n % COLUMNS == 0);
    memset(y, 0, sizeof *y * (size_t)(a->rows * n));
    for (int64_t panel = 0; panel < n / COLUMNS; panel++)
        for (int64_t block = 0; block < a->blocks; block++)
            multiply_block(a, transpose, block, x + panel * all * COLUMNS, n, y + panel * COLUMNS);
}
