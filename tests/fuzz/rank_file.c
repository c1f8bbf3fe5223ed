/* xlm-mpi: fuzz target: what the ranks of a run left when they were killed. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A good part of one rank, with changes: the place of a byte (two bytes, from the start of the file) and what it becomes. The
 * checksum is made anew unless the first byte is odd; the second cuts so many bytes off the end. */
#include <zlib.h>

#include "../mpi/run_fixture.h"
#include "checkpoint/checkpoint_check.h"
#include "checkpoint/rank_files.h"
#include "fuzz.h"

enum { STEP = 20, MAX_RANKS = 32 };

static const xlm_comm *comm;
static run *resumed;
static GByteArray *original; /* without its checksum */

static void begin(void)
{
    comm = fuzz_comm();
    resumed = make_run(comm, 16, true);
    fill(resumed, STEP);
    fuzz_require(failures == 0, "a run can be made");
    const xlm_rank_file_header header = {.format = XLM_RANK_FILE_FORMAT, .byte_order = XLM_RANK_FILE_ORDER, .run = 1,
                                    .fingerprint = xlm_rank_files_fingerprint(&resumed->state), .step = STEP, .ranks = 1,
                                    .size = resumed->shards.size, .share = 64,
                                    .arrays = xlm_checkpoint_arrays(&resumed->state),
                                    .states = xlm_rank_files_states(&resumed->state)};
    const guint bytes = (guint)(sizeof(float) * (size_t)header.size);
    original = g_byte_array_new();
    g_byte_array_append(original, (const guint8 *)&header, sizeof header);
    g_byte_array_append(original, (const guint8 *)xlm_parameters_values(resumed->state.parameters), bytes);
    g_byte_array_append(original, (const guint8 *)resumed->state.first_moment, bytes);
    g_byte_array_append(original, (const guint8 *)resumed->state.second_moment, bytes);
    for (int k = 0; k < resumed->state.saved_states; k++)
        g_byte_array_append(original, (const guint8 *)resumed->state.saved_state[k].values,
                            (guint)(sizeof(double) * (size_t)resumed->state.saved_state[k].n));
}

static void seal_part(GByteArray *part, bool good)
{
    const uint32_t sum = (uint32_t)crc32(0, part->data, part->len) + !good;
    g_byte_array_append(part, (const guint8 *)&sum, sizeof sum);
}

/* When the changed part says that all elements are rank 0's, the parts of the other ranks, so that it is read. */
static void write_others(const GByteArray *first)
{
    xlm_rank_file_header header;
    memcpy(&header, first->data, sizeof header);
    if (header.ranks > MAX_RANKS || header.share < header.size)
        return;
    header.states = 0;
    for (header.rank = 1; header.rank < header.ranks; header.rank++) {
        char *name = g_strdup_printf("stopped-%08d.%d.part", STEP, (int)header.rank);
        GByteArray *part = g_byte_array_new();
        g_byte_array_append(part, (const guint8 *)&header, sizeof header);
        seal_part(part, true);
        fuzz_write(name, part->data, part->len);
        g_byte_array_unref(part);
        g_free(name);
    }
}

static void take(const GByteArray *part, bool must, bool may)
{
    char *directory = g_path_get_dirname(fuzz_write("stopped-00000020.0.part", part->data, part->len));
    GError *error = NULL;
    xlm_rank_file_header first;
    const bool good = xlm_rank_files_take(comm, directory, 0, &resumed->state, &first, &error);
    const bool found = first.ranks > 0;
    fuzz_check(good, error);
    fuzz_require(found || !must, "a good part is taken");
    fuzz_require(!found || may, "a part with another checksum is not taken");
    g_free(directory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    if (original == NULL)
        begin();
    GByteArray *part = g_byte_array_new();
    g_byte_array_append(part, original->data, original->len);
    const bool seal = !(fuzz_take(&data, &size) & 1);
    const uint8_t cut = fuzz_take(&data, &size);
    g_byte_array_set_size(part, part->len - cut);
    const bool changed = !seal || cut > 0 || size >= 3;
    for (; size >= 3; data += 3, size -= 3)
        part->data[((guint)data[0] | (guint)data[1] << 8) % part->len] = data[2];
    seal_part(part, seal);
    write_others(part);
    take(part, !changed, seal);
    g_byte_array_unref(part);
    return 0;
}
