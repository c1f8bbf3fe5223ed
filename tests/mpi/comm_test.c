/* xlm-mpi: exchanges between ranks, and the index of a file that they read together; run on 1, 2, 3, 4 and more ranks.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

#include "base/bfloat16.h"
#include "base/rng.h"
#include "comm/shards.h"
#include "comm/turns.h"
#include "formats/conllu.h"
#include "text/line_index.h"
#include "train/hooks.h"

/* Numbers of 16 micro-batches or more ranks; their period has no factor in common with a bucket. */
enum { MICRO_BATCHES = 16, MAX_DRAWN = 64, PERIOD = 10007 };
static float table[MAX_DRAWN][PERIOD];

static void draw_numbers(void)
{
    for (uint32_t m = 0; m < MAX_DRAWN; m++)
        for (uint32_t i = 0; i < PERIOD; i++) {
            const xlm_rng_block b = xlm_rng_draw(xlm_rng_make_key(1, XLM_RNG_SAMPLE, 0), i, m, 0, 0);
            table[m][i] = (float)(xlm_rng_unit(b.v[0]) - 0.5) * (float)(1 << (b.v[1] % 12));
        }
}

static float drawn(int micro_batch, size_t i) { return table[micro_batch][i % PERIOD]; }

static bool half; /* bfloat16 is exchanged */

static float sum_of(float a, float b) { return half ? xlm_bfloat16_round(a) + xlm_bfloat16_round(b) : a + b; }

/* All micro-batches folded in half again and again: g with g + n/2, then n/4, ... */
static float fold(size_t i)
{
    float x[MICRO_BATCHES];
    for (int g = 0; g < MICRO_BATCHES; g++)
        x[g] = drawn(g, i);
    for (int apart = MICRO_BATCHES / 2; apart > 0; apart /= 2)
        for (int g = 0; g < apart; g++)
            x[g] = sum_of(x[g], x[g + apart]);
    return x[0];
}

static float folded[2][PERIOD]; /* [half]; of each element that differs from others */

static void fold_numbers(void)
{
    for (int as_half = 0; as_half < 2; as_half++) {
        half = as_half;
        for (size_t i = 0; i < PERIOD; i++)
            folded[as_half][i] = fold(i);
    }
    half = false;
}

/* What the library asks of MPI, through its profiling interface: bytes that this rank receives, and the number of broadcasts. */
static int64_t bytes_received;
static int broadcasts;

static int64_t from_each(int count, MPI_Datatype type, MPI_Comm mpi)
{
    int size, ranks;
    MPI_Type_size(type, &size);
    MPI_Comm_size(mpi, &ranks);
    return (int64_t)count * size * ranks;
}

int MPI_Allgather(const void *send, int count, MPI_Datatype type, void *all, int counts, MPI_Datatype types, MPI_Comm mpi)
{
    bytes_received += from_each(counts, types, mpi);
    return PMPI_Allgather(send, count, type, all, counts, types, mpi);
}

int MPI_Alltoall(const void *send, int count, MPI_Datatype type, void *all, int counts, MPI_Datatype types, MPI_Comm mpi)
{
    bytes_received += from_each(counts, types, mpi);
    return PMPI_Alltoall(send, count, type, all, counts, types, mpi);
}

int MPI_Bcast(void *bytes, int count, MPI_Datatype type, int root, MPI_Comm mpi)
{
    broadcasts++;
    return PMPI_Bcast(bytes, count, type, root, mpi);
}

static bool fixed = true; /* the order that is asked for */

static bool folds(const xlm_comm *comm)
{
    return fixed && (comm->ranks & (comm->ranks - 1)) == 0 && comm->ranks <= MICRO_BATCHES;
}

/* Element i of this rank's sum over its micro-batches. */
static float own_sum(const xlm_comm *comm, size_t i)
{
    const int own = folds(comm) ? MICRO_BATCHES / comm->ranks : 1;
    float x[MICRO_BATCHES] = {0};
    for (int j = 0; j < own; j++)
        x[j] = drawn(comm->place + j * comm->ranks, i);
    for (int apart = own / 2; apart > 0; apart /= 2)
        for (int j = 0; j < apart; j++)
            x[j] = sum_of(x[j], x[j + apart]);
    return x[0];
}

static void check_sum(const xlm_comm *comm, size_t i, float value)
{
    if (folds(comm)) {
        CHECK(value == folded[half][i % PERIOD]);
        return;
    }
    double sum = 0, size = 0;
    for (int r = 0; r < comm->ranks; r++) {
        sum += drawn(r, i);
        size += fabs(drawn(r, i));
    }
    CHECK(fabs(value - sum) <= 1e-6 * size);
}

static void check_gathered(const xlm_comm *comm, size_t i, float value)
{
    if (half)
        CHECK(value == xlm_bfloat16_round(folded[half][i % PERIOD]));
    else
        check_sum(comm, i, value);
}

/* Of two rounds: each value is sent once to each rank but one. */
static void check_report(const xlm_comm *comm, xlm_shards_report report, int64_t n)
{
    CHECK(report.waited >= 0 && report.seconds >= 0 && (comm->ranks > 1 || report.bytes == 0));
    double bytes = report.bytes;
    xlm_comm_sum_double(comm, &bytes, 1);
    CHECK(bytes == 2 * (half ? sizeof(uint16_t) : sizeof(float)) * (double)n * (comm->ranks - 1));
}

/* Parts are there when they are asked for, in any order, and then all. With bfloat16 the owners have rounded. */
static void values_are_gathered(const xlm_shards *shards, xlm_all_gather *gather, float *values)
{
    const xlm_comm *comm = shards->comm;
    const int64_t n = shards->size, parts = 5;
    for (int64_t i = 0; i < n && half; i++)
        values[i] = xlm_bfloat16_round(values[i]);
    xlm_all_gather_begin(gather, values);
    for (int64_t p = 0; p < parts; p++) {
        const int64_t part = (p * 2 + comm->rank) % parts, from = n * part / parts, end = n * (part + 1) / parts;
        xlm_all_gather_need(gather, from, end);
        for (int64_t i = from; i < end && failures == 0; i++)
            check_gathered(comm, (size_t)i, values[i]);
    }
    xlm_all_gather_end(gather);
    CHECK(values[n] == 42);
    for (int64_t i = 0; i < n && failures == 0; i++)
        check_gathered(comm, (size_t)i, values[i]);
}

/* Whatever becomes complete when, and along the tree to the bit when that is asked for; then all have all. Twice, as in two
 * steps. */
static void sums_arrive_at_owners(const xlm_comm *comm, int64_t n, int64_t stride)
{
    const xlm_shards shards = xlm_shards_of(comm, n);
    xlm_reduce_scatter *sum = xlm_reduce_scatter_new(&shards, fixed, half);
    xlm_all_gather *gather = xlm_all_gather_new(&shards, half);
    float *values = g_new0(float, n + 1);
    for (int round = 0; round < 2; round++) {
        values[n] = 42; /* must not be touched */
        xlm_reduce_scatter_begin(sum, values);
        for (int64_t from = n; from > 0;) {
            const int64_t next = MAX(0, from - stride * (1 + comm->rank));
            for (int64_t i = next; i < from; i++)
                values[i] = own_sum(comm, (size_t)i);
            from = next;
            xlm_reduce_scatter_ready(sum, from);
        }
        xlm_reduce_scatter_end(sum);
        for (int64_t i = 0; i < n && failures == 0; i++)
            if (xlm_shards_owner(&shards, i) == comm->rank)
                check_sum(comm, (size_t)i, values[i]);
        values_are_gathered(&shards, gather, values);
    }
    check_report(comm, xlm_reduce_scatter_get_report(sum), n);
    check_report(comm, xlm_all_gather_get_report(gather), n);
    xlm_reduce_scatter_free(sum);
    xlm_all_gather_free(gather);
    g_free(values);
}

static void buckets_are_owned_and_gathered(const xlm_comm *comm, int64_t n)
{
    const xlm_shards shards = xlm_shards_of(comm, n);
    float *whole = g_new0(float, n + 1), *own = g_new0(float, shards.own + 1);
    int64_t owned = 0, all;
    CHECK(shards.own <= xlm_shards_max_own(n, comm->ranks));
    for (int64_t i = 0; i < n; i++) {
        whole[i] = drawn(1, (size_t)i);
        CHECK(xlm_shards_owner(&shards, i) == xlm_shards_owner(&shards, i / XLM_SHARD_UNIT * XLM_SHARD_UNIT));
        owned += xlm_shards_owner(&shards, i) == comm->rank;
    }
    all = owned;
    xlm_comm_sum_int64(comm, &all, 1);
    CHECK(all == n && owned <= shards.own);
    own[shards.own] = 42;
    xlm_shards_take(&shards, whole, own);
    CHECK(own[shards.own] == 42);
    for (int64_t i = 0; i < n && failures == 0; i++)
        if (xlm_shards_owner(&shards, i) == comm->rank)
            CHECK(own[xlm_shards_place(&shards, i)] == whole[i]);
    memset(whole, 0, sizeof *whole * (size_t)n);
    xlm_shards_all_gather_from(&shards, own, whole);
    for (int64_t i = 0; i < n && failures == 0; i++)
        CHECK(whole[i] == drawn(1, (size_t)i));
    g_free(own);
    g_free(whole);
}

static void errors_become_everyone_s(const xlm_comm *comm)
{
    GError *error = NULL;
    CHECK(xlm_comm_agree(comm, &error) && error == NULL);
    if (comm->rank == comm->ranks - 1)
        xlm_error_set(&error, EX_DATAERR, "rank %d says so", comm->rank);
    CHECK(!xlm_comm_agree(comm, &error));
    char expected[64];
    g_snprintf(expected, sizeof expected, "rank %d says so", comm->ranks - 1);
    CHECK(error != NULL && strcmp(error->message, expected) == 0 && xlm_error_exit_code(error) == EX_DATAERR);
    g_clear_error(&error);
    /* The lowest rank's error is the one that stays. */
    xlm_error_set(&error, EX_USAGE, "rank %d", comm->rank);
    CHECK(!xlm_comm_agree(comm, &error));
    CHECK(strcmp(error->message, "rank 0") == 0);
    g_clear_error(&error);
}

static void bytes_reach_everyone(const xlm_comm *comm)
{
    char *mine = g_strdup_printf("%0*d", comm->rank * 3, 7);
    void *all;
    size_t *sizes = g_new(size_t, comm->ranks), total = 0;
    broadcasts = 0;
    xlm_comm_gather_all(comm, mine, comm->rank == 1 ? 0 : strlen(mine), &all, sizes);
    CHECK(broadcasts == 0); /* one for each rank, one after another, would take ranks x latency in each step of moco */
    for (int r = 0; r < comm->ranks; r++) {
        char *theirs = g_strdup_printf("%0*d", r * 3, 7);
        CHECK(sizes[r] == (r == 1 ? 0 : strlen(theirs)));
        CHECK(memcmp((char *)all + total, theirs, sizes[r]) == 0);
        total += sizes[r];
        g_free(theirs);
    }
    g_free(all);
    g_free(sizes);
    void *bytes = comm->rank == 0 ? mine : NULL;
    size_t size = comm->rank == 0 ? strlen(mine) + 1 : 0;
    xlm_comm_broadcast_bytes(comm, 0, &bytes, &size);
    CHECK(size == 2 && strcmp(bytes, "7") == 0);
    if (comm->rank != 0)
        g_free(bytes);
    for (int r = 0; r < comm->ranks; r++) {
        bytes = comm->rank == r ? mine : NULL;
        size = comm->rank == r ? strlen(mine) : 0;
        xlm_comm_bytes_to_first(comm, r, &bytes, &size);
        char *theirs = g_strdup_printf("%0*d", r * 3, 7);
        CHECK(comm->rank != 0 || (size == strlen(theirs) && memcmp(bytes, theirs, size) == 0));
        if (bytes != NULL && bytes != mine)
            g_free(bytes);
        g_free(theirs);
    }
    g_free(mine);
}

/* Rank a sends (a + b) % 3 records to rank b, each of two numbers; so some ranks get none of some. */
static void records_are_exchanged(const xlm_comm *comm)
{
    const int ranks = comm->ranks, rank = comm->rank;
    int64_t *numbers = g_new(int64_t, ranks), *received = g_new(int64_t, ranks);
    GArray *send = g_array_new(FALSE, FALSE, 2 * sizeof(int64_t));
    for (int to = 0; to < ranks; to++) {
        numbers[to] = (rank + to) % 3;
        for (int64_t i = 0; i < numbers[to]; i++)
            g_array_append_val(send, ((const int64_t[2]){rank * 1000 + to, i}));
    }
    int64_t *in = xlm_comm_exchange(comm, send->data, numbers, 2 * sizeof(int64_t), received), at = 0;
    for (int from = 0; from < ranks; from++) {
        CHECK(received[from] == (from + rank) % 3);
        for (int64_t i = 0; i < received[from]; i++, at++)
            CHECK(in[2 * at] == from * 1000 + rank && in[2 * at + 1] == i);
    }
    g_free(in);
    g_array_unref(send);
    g_free(numbers);
    g_free(received);
}

/* The bits are those of adding in the order of the ranks, and a rank receives each number twice, however many ranks there are. */
static void numbers_add_up_in_order(const xlm_comm *comm, int64_t n)
{
    double *sums = g_new(double, n);
    for (int64_t i = 0; i < n; i++)
        sums[i] = (double)drawn(comm->rank, (size_t)i) / 3;
    bytes_received = 0;
    xlm_comm_sum_double(comm, sums, n);
    CHECK(bytes_received <= (int64_t)sizeof *sums * 2 * (n + 2 * comm->ranks)); /* slices of two blocks are rounded up */
    for (int64_t i = 0; i < n && failures == 0; i++) {
        double expected = 0;
        for (int r = 0; r < comm->ranks; r++)
            expected += (double)drawn(r, (size_t)i) / 3;
        CHECK(memcmp(&sums[i], &expected, sizeof expected) == 0);
    }
    g_free(sums);
}

static void numbers_add_up(const xlm_comm *comm)
{
    int64_t counts[2] = {comm->rank, 1};
    xlm_comm_sum_int64(comm, counts, 2);
    CHECK(counts[0] == (int64_t)comm->ranks * (comm->ranks - 1) / 2 && counts[1] == comm->ranks);
    int64_t largest = -comm->rank;
    xlm_comm_max_int64(comm, &largest, 1);
    CHECK(largest == 0);
    double sums[2] = {0.1 * comm->rank, 1e16}, expected = 0;
    for (int r = 0; r < comm->ranks; r++)
        expected += 0.1 * r;
    xlm_comm_sum_double(comm, sums, 2);
    CHECK(sums[0] == expected && sums[1] == 1e16 * comm->ranks);
    enum { MANY = 10001 };
    double *many = g_new(double, MANY);
    for (int i = 0; i < MANY; i++)
        many[i] = i * (comm->rank + 1.0);
    xlm_comm_sum_double(comm, many, MANY);
    for (int i = 0; i < MANY; i++)
        CHECK(many[i] == i * (comm->ranks * (comm->ranks + 1.0) / 2));
    g_free(many);
    static const int64_t numbers[] = {1, 2, 3, 5, 1000, 10001, (1 << 20) + 3}; /* up to more than are added at a time */
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        numbers_add_up_in_order(comm, numbers[i]);
    xlm_comm_sum_double(comm, NULL, 0);
    CHECK(xlm_comm_sum_below(comm, comm->rank + 1) == (int64_t)comm->rank * (comm->rank + 1) / 2);
    CHECK(xlm_comm_sum_node(comm, 2) == 2 * comm->local_ranks);
    uint64_t bits[2] = {UINT64_C(1) << 63, UINT64_C(1) << comm->local_rank};
    xlm_comm_or_node(comm, bits, 2);
    CHECK(bits[0] == UINT64_C(1) << 63 && bits[1] == (UINT64_C(1) << comm->local_ranks) - 1);
}

/* The sums of passes, of which each rank makes some, become known with the bits that adding rank by rank gives. */
static void sums_keep_their_bits(const xlm_comm *comm)
{
    enum { MEANS = 7, METRICS = 1, PASSES = 9, NUMBERS = MEANS + 2 * METRICS };
    static const double values[MEANS] = {-0.0, 0.1, NAN, -INFINITY, 0x1p-1074, -1e300, 0};
    xlm_sums sums[PASSES];
    double expected[PASSES * NUMBERS], made[NUMBERS];
    for (int p = 0; p < PASSES; p++) {
        sums[p] = xlm_sums_new(MEANS, METRICS);
        if (p % comm->ranks == comm->rank) {
            for (int i = 0; i < MEANS; i++)
                sums[p].mean[i] = i == 2 ? -values[i] : values[i] * (1 + p);
            sums[p].metric[0] = (xlm_metric_sum){-0.0, p};
        }
        xlm_sums_write(&sums[p], expected + p * NUMBERS);
    }
    bool flags[2] = {comm->rank == comm->ranks - 1, false};
    xlm_comm_sum_double(comm, expected, PASSES * NUMBERS);
    xlm_exchange_sums(comm, sums, PASSES, flags, 2);
    for (int p = 0; p < PASSES; p++) {
        xlm_sums_write(&sums[p], made);
        CHECK(memcmp(made, expected + p * NUMBERS, sizeof made) == 0);
        xlm_sums_free(&sums[p]);
    }
    CHECK(flags[0] && !flags[1]);
}

/* Lines of all kinds that an index tells apart, some of them longer than its distances, over the shares of several ranks. */
static char *write_lines(const xlm_comm *comm, int seed)
{
    static const char *const kinds[] = {"1\tword", "2\tword\r", "", " \t\r", "# comment", "", " 3\tblank first", ""};
    g_autoptr(GString) text = g_string_new(seed % 2 != 0 ? "\xef\xbb\xbf" : NULL);
    char *path = NULL;
    for (uint32_t i = 0; text->len < 600000 && comm->rank == 0; i++) {
        const xlm_rng_block b = xlm_rng_draw(xlm_rng_make_key((uint64_t)seed, XLM_RNG_SAMPLE, 0), i, 0, 0, 0);
        const size_t size = b.v[0] % 2003 == 0 ? 150000 : b.v[1] % 200;
        g_string_append(text, kinds[b.v[2] % G_N_ELEMENTS(kinds)]);
        for (size_t k = 0; k < size && b.v[3] % 3 != 0; k++)
            g_string_append_c(text, b.v[3] % 3 == 1 ? ' ' : 'x');
        g_string_append_c(text, '\n');
    }
    if (comm->rank == 0) {
        close(g_file_open_tmp("xlm-lines-XXXXXX", &path, NULL));
        /* Without the last line's end, its last word, or with an empty line. */
        CHECK(g_file_set_contents(path, text->str, (gssize)text->len - seed, NULL));
    }
    xlm_comm_broadcast_text(comm, &path);
    return path;
}

static int64_t pass(xlm_lines *lines, xlm_index_unit unit, int64_t n)
{
    return unit == XLM_INDEX_LINES ? xlm_lines_skip(lines, n, NULL) : xlm_conllu_skip(lines, n, NULL);
}

/* From the place that the index names, unit n is where reading from the beginning comes to it. */
static void units_are_found(const xlm_comm *comm, const char *path, xlm_index_unit unit)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(xlm_line_index) index = xlm_line_index_make(comm, path, "name", unit, &error);
    g_autoptr(xlm_lines) in_order = xlm_lines_open(path, NULL), there = xlm_lines_open_plain(path, "name", NULL);
    CHECK(index != NULL && index->count >= 2);
    for (int64_t n = 0; n < index->units; n++) {
        const xlm_line_place place = xlm_line_index_find(index, n);
        CHECK(place.units <= n && place.lines <= xlm_lines_number(in_order));
        CHECK(xlm_lines_offset(in_order) - place.offset < 500000);
        if (n % 211 == 0 || n - place.units < 2) {
            CHECK(xlm_lines_seek(there, place.offset, place.lines, NULL));
            CHECK(pass(there, unit, n - place.units) == n - place.units);
            CHECK(xlm_lines_offset(there) == xlm_lines_offset(in_order) && xlm_lines_number(there) == xlm_lines_number(in_order));
        }
        CHECK(pass(in_order, unit, 1) == 1);
    }
    CHECK(pass(in_order, unit, 1) == 0 && xlm_lines_number(in_order) == index->lines);
}

/* Is a unit, from begin to end, between the same two places as this byte? Before its beginning, the sentence before has ended. */
static bool is_near(const xlm_line_index *index, int64_t begin, int64_t end, int64_t byte)
{
    int64_t n = 0;
    while (n < index->count && index->place[n].offset <= byte)
        n++;
    return end > (n > 0 ? index->place[n - 1].offset : 0) && begin <= (n < index->count ? index->place[n].offset : index->bytes);
}

/* Parts follow one another, have all units together, and begin about where equal numbers of bytes do. */
static void units_are_divided(const xlm_comm *comm, const char *path, xlm_index_unit unit)
{
    static const int64_t PARTS[] = {1, 2, 3, 64, 100000};
    g_autoptr(xlm_line_index) index = xlm_line_index_make(comm, path, "name", unit, NULL);
    g_autoptr(xlm_lines) lines = xlm_lines_open(path, NULL);
    CHECK(index != NULL);
    g_autofree int64_t *offset = g_new(int64_t, index->units + 1);
    for (int64_t n = 0; n <= index->units; n++) {
        offset[n] = xlm_lines_offset(lines);
        CHECK(pass(lines, unit, 1) == (n < index->units));
    }
    for (size_t i = 0; i < G_N_ELEMENTS(PARTS); i++) {
        const int64_t parts = PARTS[i];
        CHECK(xlm_line_index_divide(index, 0, parts) == 0 && xlm_line_index_divide(index, parts, parts) == index->units);
        for (int64_t part = 1; part < parts; part++) {
            const int64_t first = xlm_line_index_divide(index, part, parts);
            CHECK(first >= xlm_line_index_divide(index, part - 1, parts) && first <= index->units);
            const int64_t end = offset[MIN(first + 1, index->units)];
            CHECK(is_near(index, offset[first], end, index->bytes * part / parts));
        }
    }
}

static void lines_are_found(const xlm_comm *comm)
{
    for (int seed = 0; seed < 3; seed++) {
        g_autofree char *path = write_lines(comm, seed);
        units_are_found(comm, path, XLM_INDEX_LINES);
        units_are_found(comm, path, XLM_INDEX_SENTENCES);
        units_are_divided(comm, path, XLM_INDEX_LINES);
        units_are_divided(comm, path, XLM_INDEX_SENTENCES);
        xlm_comm_barrier(comm);
        if (comm->rank == 0)
            unlink(path);
    }
}

/* The ranks of a node, which follow one another, are apart by the number of nodes, in powers of two. */
static void nodes_have_places(const xlm_comm *comm)
{
    const bool places = comm->ranks == 4 || comm->ranks == 8;
    CHECK((comm->places != NULL) == places);
    CHECK(comm->place == (places ? comm->rank % 2 * (comm->ranks / 2) + comm->rank / 2 : comm->rank));
    for (int r = 0; r < comm->ranks; r++)
        CHECK(xlm_comm_rank_at(comm, xlm_comm_place_of(comm, r)) == r);
}

/* Ranks in nodes of `together` take each piece once, and no node has much more to do than another. */
static void pieces_are_taken_once(const xlm_comm *whole, int together)
{
    enum { PIECES = 100 };
    int64_t cost[PIECES], takers[PIECES] = {0}, last = -1, own = 0, all = 0;
    xlm_comm in_nodes = *whole, *comm = &in_nodes;
    MPI_Comm_split(comm->mpi, comm->rank / together, comm->rank, &comm->node);
    MPI_Comm_rank(comm->node, &comm->local_rank);
    MPI_Comm_size(comm->node, &comm->local_ranks);
    for (int64_t i = 0; i < PIECES; i++)
        all += cost[i] = 2 * PIECES - i;
    xlm_turns *turns = xlm_turns_open(comm, PIECES, cost);
    for (int64_t i; (i = xlm_turns_next(turns)) >= 0; last = i) {
        CHECK(i > last && i < PIECES);
        takers[i]++;
        own += cost[i];
    }
    CHECK(xlm_turns_next(turns) == -1);
    xlm_turns_close(turns);
    xlm_comm_sum_int64(comm, takers, PIECES);
    for (int64_t i = 0; i < PIECES; i++)
        CHECK(takers[i] == 1);
    const double share = (double)all * comm->local_ranks / comm->ranks, of_node = (double)xlm_comm_sum_node(comm, own);
    CHECK(fabs(of_node - share) <= 2 * PIECES * comm->local_ranks);
    xlm_turns *none = xlm_turns_open(comm, 0, NULL);
    CHECK(xlm_turns_next(none) == -1);
    xlm_turns_close(none);
    MPI_Comm_free(&comm->node);
}

int main(int argc, char **argv)
{
    xlm_comm opened, *comm = &opened;
    g_setenv("XLM_NODE_RANKS", "2", TRUE);
    xlm_comm_open(comm, "comm_test", &argc, &argv);
    draw_numbers();
    fold_numbers();
    nodes_have_places(comm);
    xlm_comm plain = *comm;
    plain.places = NULL;
    plain.place = plain.rank;
    static const int64_t sizes[] = {0, 1, 2, 3, 5, 1000, 40001, 655361};
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        sums_arrive_at_owners(comm, sizes[i], sizes[i] / 7 + 1);
        if (comm->places != NULL)
            sums_arrive_at_owners(&plain, sizes[i], sizes[i] / 7 + 1);
        buckets_are_owned_and_gathered(comm, sizes[i]);
        fixed = false;
        sums_arrive_at_owners(comm, sizes[i], sizes[i] / 7 + 1);
        fixed = true;
        half = folds(comm);
        sums_arrive_at_owners(comm, sizes[i], sizes[i] / 7 + 1);
        half = false;
    }
    errors_become_everyone_s(comm);
    bytes_reach_everyone(comm);
    records_are_exchanged(comm);
    numbers_add_up(comm);
    sums_keep_their_bits(comm);
    lines_are_found(comm);
    for (int together = 1; together <= 4; together++)
        pieces_are_taken_once(comm, together);
    int64_t failed = failures;
    xlm_comm_sum_int64(comm, &failed, 1);
    return xlm_comm_close(comm, NULL) != EX_OK || failed != 0;
}
