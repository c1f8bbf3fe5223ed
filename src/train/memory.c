/* xlm-mpi: how much memory a run will need, and whether its node has it. SPDX-License-Identifier: GPL-3.0-or-later */
#include <omp.h>
#include <string.h>
#include <sys/resource.h>

#include "base/exhaustion.h"
#include "comm/shards.h"
#include "job/rates.h"
#include "train/averages.h"
#include "train/evaluate.h"
#include "train/memory.h"
#include "train/micro_batches.h"

/* "MemAvailable: 123 kB" of /proc/meminfo in bytes; 0 when there is no such line. */
static uint64_t node_memory(void)
{
    char *text = NULL;
    uint64_t kib = 0;
    if (g_file_get_contents("/proc/meminfo", &text, NULL, NULL)) {
        const char *line = strstr(text, "MemAvailable:");
        if (line != NULL)
            kib = g_ascii_strtoull(line + strlen("MemAvailable:"), NULL, 10);
    }
    g_free(text);
    return kib * 1024;
}

/* A number in a file of the control group; UINT64_MAX when there is none or it says "max". */
static uint64_t group_number(const char *group, const char *name)
{
    char *path = g_strconcat("/sys/fs/cgroup", group, "/", name, NULL), *text = NULL;
    uint64_t number = UINT64_MAX;
    if (g_file_get_contents(path, &text, NULL, NULL) && g_ascii_isdigit(*text))
        number = g_ascii_strtoull(text, NULL, 10);
    g_free(text);
    g_free(path);
    return number;
}

/* What the control group (a Slurm step, a container) still lets its processes have; UINT64_MAX without a limit. Version 2
 * of control groups; each level up to the root may set a limit. */
static uint64_t group_memory(void)
{
    char *text = NULL;
    uint64_t least = UINT64_MAX;
    if (!g_file_get_contents("/proc/self/cgroup", &text, NULL, NULL))
        return least;
    char *line = g_strstr_len(text, -1, "0::/");
    if (line != NULL) {
        char *group = g_strndup(line + 3, strcspn(line + 3, "\n"));
        for (;;) {
            const uint64_t limit = group_number(group, "memory.max"), used = group_number(group, "memory.current");
            if (limit != UINT64_MAX && used != UINT64_MAX)
                least = MIN(least, limit > used ? limit - used : 0);
            char *slash = strrchr(group, '/');
            if (slash == NULL)
                break;
            *slash = '\0';
        }
        g_free(group);
    }
    g_free(text);
    return least;
}

/* Address space of a rank's threads (wanted: [train] threads), most of which is never touched: stacks, and what malloc sets aside
 * for those that allocate. */
static uint64_t thread_space(const xlm_comm *comm, int64_t wanted)
{
    enum { ARENA = 64 << 20, ALLOCATING = 3 }; /* our own threads: signals, and two of Open MPI */
    const int shared_by = g_getenv("OMP_NUM_THREADS") != NULL ? 1 : comm->local_ranks;
    const uint64_t threads = (uint64_t)(wanted > 0 ? wanted : MAX(omp_get_max_threads() / shared_by, 1));
    struct rlimit stack;
    const bool limited = getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY;
    return (threads + ALLOCATING) * (limited ? stack.rlim_cur : (rlim_t)2 << 20) + (uint64_t)ALLOCATING * ARENA;
}

/* The lowest layers that the job freezes. */
static int64_t frozen_layers(const xlm_job *job)
{
    int64_t frozen;
    if (!xlm_rates_read_freeze(job->train.optimiser.freeze, xlm_model_weight_layers(&job->model), &frozen, NULL) || frozen < 1)
        return 0;
    return job->model.share_layers ? job->model.layers : frozen;
}

/* A micro-batch of `instances` that are as long as they may be. */
static xlm_input_size full_size(const xlm_stream *stream, int64_t instances)
{
    const int64_t length = xlm_stream_longest(stream), tokens = instances * length;
    return (xlm_input_size){.tokens = tokens, .sequences = instances, .length = length,
                            .predicted = (int64_t)(xlm_stream_predicted_share(stream) * (double)tokens)};
}

double xlm_step_flops(const xlm_run_size *size)
{
    double flops = 0;
    for (int s = 0; s < size->streams->n; s++) {
        xlm_input_size input = full_size(size->streams->training[s], size->job->stream[s].config.batch);
        input.frozen = frozen_layers(size->job);
        flops += xlm_host_pass_flops(size->host, s, &input, size->job->train.recompute);
    }
    return flops;
}

/* As the run multiplies. */
static xlm_input_size multiplied(const xlm_run_size *size, xlm_input_size input)
{
    input.packed = size->arithmetic.packs;
    input.rounded = input.packed && size->arithmetic.precision == XLM_BFLOAT16;
    return input;
}

/* The largest micro-batch of stream s, more of which may be predicted than on average. */
static xlm_input_size largest_micro_batch(const xlm_run_size *size, int s, int64_t micro_batches)
{
    const xlm_stream *stream = size->streams->training[s];
    const int64_t instances = (size->job->stream[s].config.batch + micro_batches - 1) / micro_batches;
    xlm_input_size input = full_size(stream, instances);
    input.predicted = xlm_stream_most_predicted(stream, instances);
    input.frozen = frozen_layers(size->job);
    return multiplied(size, input);
}

/* The largest pass of an evaluation on held-out text. */
static xlm_input_size evaluation_block(const xlm_run_size *size, int s)
{
    const xlm_stream *stream = size->streams->held_out[s];
    const int64_t instances = xlm_evaluation_block(size->job, s);
    xlm_input_size input = full_size(stream, instances);
    input.predicted = xlm_stream_most_predicted(stream, instances);
    input.forward = true;
    return multiplied(size, input);
}

/* Training, evaluation and step dump, whichever takes most. */
static uint64_t largest_pass(const xlm_run_size *size, int64_t micro_batches, bool recompute)
{
    xlm_pass_memory most = {0};
    for (int s = 0; s < size->streams->n; s++) {
        xlm_input_size input = largest_micro_batch(size, s, size->step_dump ? 1 : micro_batches);
        input.whole = size->step_dump;
        most = xlm_pass_memory_larger(most, xlm_host_pass_memory(size->host, s, &input, recompute));
        if (size->streams->held_out[s] != NULL) {
            input = evaluation_block(size, s);
            most = xlm_pass_memory_larger(most, xlm_host_pass_memory(size->host, s, &input, recompute));
        }
    }
    const xlm_input_size validation = multiplied(size, size->validation);
    if (validation.tokens > 0)
        most = xlm_pass_memory_larger(most, xlm_host_pass_memory(size->host, 0, &validation, recompute));
    return most.pass + most.layer;
}

/* Of all micro-batches of a rank together. */
static uint64_t shared_views(const xlm_run_size *size, int64_t micro_batches, int ranks)
{
    uint64_t bytes = 0;
    for (int s = 0; s < size->streams->n; s++) {
        const xlm_input_size input = largest_micro_batch(size, s, micro_batches);
        bytes += xlm_host_shared_bytes(size->host, s, &input);
    }
    return bytes * (uint64_t)((micro_batches + ranks - 1) / ranks);
}

/* Parameters, and the activations of one linear layer at a time. */
static uint64_t packed_bytes(const xlm_run_size *size, int64_t micro_batches)
{
    int64_t tokens = 0;
    for (int s = 0; s < size->streams->n && size->arithmetic.packs; s++)
        tokens = MAX(tokens, largest_micro_batch(size, s, micro_batches).tokens);
    return xlm_arithmetic_bytes(size->arithmetic, size->parameters) +
           xlm_packed_bytes(size->arithmetic.precision, tokens, size->job->model.feed_forward_size);
}

xlm_memory_estimate xlm_memory_of_rank(const xlm_run_size *size, int ranks)
{
    const xlm_train_config *c = &size->job->train;
    const int64_t micro_batches = xlm_micro_batches_on(c->micro_batches, ranks);
    const uint64_t flat = sizeof(float) * (uint64_t)size->parameters;
    const uint64_t program = (uint64_t)64 << 20; /* libraries, MPI, BLIS's packing buffers, vocabulary */
    xlm_memory_estimate e = {
        .parameters = flat,
        .packed = packed_bytes(size, micro_batches),
        .gradients = flat * (uint64_t)xlm_gradient_buffers(c->reproducible, micro_batches, ranks),
        .moments = 2 * sizeof(float) * (uint64_t)xlm_shards_most(size->parameters, ranks),
        .averages = xlm_averages_bytes(size->host, size->parameters, ranks),
        .states = 2 * (uint64_t)xlm_host_states_bytes(size->host), /* once more for snapshots (checkpoint/snapshot.h) */
        .resources = xlm_host_resource_bytes(size->host),
        .reduce_scatter = xlm_reduce_scatter_bytes(size->parameters, ranks, c->exchange == XLM_BFLOAT16),
        .shared = shared_views(size, micro_batches, ranks),
        .pass = largest_pass(size, micro_batches, c->recompute),
        .other_pass = largest_pass(size, micro_batches, !c->recompute),
    };
    e.total = e.parameters + e.packed + e.moments + e.averages + e.states + e.resources + e.gradients + e.reduce_scatter +
              e.shared + e.pass + program;
    return e;
}

bool xlm_memory_check(const xlm_comm *comm, const xlm_run_size *size, xlm_memory_estimate *estimate, GError **error)
{
    const xlm_train_config *c = &size->job->train;
    xlm_memory_estimate e = xlm_memory_of_rank(size, comm->ranks);
    e.node_needed = (uint64_t)xlm_comm_sum_node(comm, (int64_t)e.total);
    e.node_available = MIN(node_memory(), group_memory());
    if (e.node_available > 0)
        e.node_available += (uint64_t)xlm_comm_sum_node(comm, (int64_t)e.resources);
    *estimate = e;
    GError *failure = NULL;
    if (e.node_available > 0 && e.node_needed > e.node_available)
        xlm_error_set(&failure, EX_UNAVAILABLE, "the job needs about %.1f GiB on this node (%d ranks of %.1f GiB), which has "
                      "%.1f GiB free; lower the batch or the model, raise micro_batches%s%s, or use more nodes",
                      (double)e.node_needed / (1 << 30), comm->local_ranks, (double)e.total / (1 << 30),
                      (double)e.node_available / (1 << 30), c->recompute ? "" : ", set recompute = true",
                      size->arithmetic.packs && size->arithmetic.precision == XLM_FLOAT32 ? ", set gemm = blis" : "");
    const uint64_t space = e.total - e.resources + thread_space(comm, c->threads), left = xlm_address_space_left();
    if (failure == NULL && space > left)
        xlm_error_set(&failure, EX_UNAVAILABLE, "a rank of the job needs about %.2f GiB more of address space, and its limit "
                      "leaves %.2f GiB; raise the limit (ulimit -v), lower the batch or the model, or use more ranks",
                      (double)space / (1 << 30), (double)left / (1 << 30));
    return xlm_comm_agree_on(comm, failure, error);
}
