/* xlm-mpi: how much memory a run will need, and whether its node has it. SPDX-License-Identifier: GPL-3.0-or-later */
#include <omp.h>
#include <sys/resource.h>

#include "base/exhaustion.h"
#include "comm/shards.h"
#include "job/rates.h"
#include "train/averages.h"
#include "train/cost.h"
#include "train/memory.h"
#include "train/micro_batches.h"

/* Address space of the threads that a rank will have, most of which is never touched: stacks, and what malloc sets aside for
 * those that allocate. */
static uint64_t thread_space(void)
{
    enum { ARENA = 64 << 20, ALLOCATING = 3 }; /* our own threads: signals, and two of Open MPI */
    struct rlimit stack;
    const bool limited = getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY;
    return ((uint64_t)omp_get_max_threads() + ALLOCATING) * (limited ? stack.rlim_cur : (rlim_t)2 << 20) +
           (uint64_t)ALLOCATING * ARENA;
}

/* Elements of parameters that are packed in both directions. Long tables of words that are frozen are packed in one alone
 * (xlm_product_parameter_by_parts), which is as much as half of them in both. */
static int64_t packed_elements(const xlm_run_size *size)
{
    int64_t elements = xlm_parameters_size(size->parameters);
    for (int i = 0; i < xlm_parameters_count(size->parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(size->parameters, i);
        if (p->rate == 0 && g_str_has_suffix(p->name, "embeddings/word/weight") &&
            xlm_packed_leaves(size->arithmetic.precision, p->rows))
            elements -= p->rows * p->cols / 2;
    }
    return elements;
}

/* Averages that make labels are packed as well, in the one direction that has no backward pass, and stay so until the next step. A
 * rank that has all of them has each at an address of its own; else they are gathered in the same place. Tables of words are never
 * multiplied: no label has predictions of an average. */
static uint64_t packed_averages(const xlm_run_size *size, int ranks)
{
    int64_t elements = xlm_parameters_size(size->parameters), copies = 0;
    for (int i = 0; i < xlm_parameters_count(size->parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(size->parameters, i);
        if (g_str_has_suffix(p->name, "embeddings/word/weight"))
            elements -= p->rows * p->cols;
    }
    for (int a = 0; a < xlm_host_averages(size->host) && size->arithmetic.packs; a++)
        copies += xlm_host_has_labels(size->host, a);
    if (ranks > 1 || xlm_parameters_learning(size->parameters) > 0)
        copies = MIN(copies, 1);
    return (uint64_t)copies * xlm_packed_bytes(size->arithmetic.precision, elements, 1);
}

/* Parameters, averages, and the activations of one linear layer at a time. */
static uint64_t packed_bytes(const xlm_run_size *size, int64_t micro_batches, int ranks)
{
    int64_t tokens = 0;
    g_autofree int64_t *most = xlm_micro_batches_most_of_job(micro_batches, size->job, size->streams);
    for (int s = 0; s < size->streams->n && size->arithmetic.packs; s++)
        tokens = MAX(tokens, most[s] * xlm_stream_longest(size->streams->training[s]));
    return xlm_arithmetic_bytes(size->arithmetic, packed_elements(size)) + packed_averages(size, ranks) +
           xlm_packed_bytes(size->arithmetic.precision, tokens, size->job->model.feed_forward_size);
}

static uint64_t index_bytes(const xlm_job_streams *streams)
{
    uint64_t bytes = 0;
    for (int s = 0; s < streams->n; s++)
        bytes += xlm_stream_index_bytes(streams->training[s]) +
                 (streams->held_out[s] != NULL ? xlm_stream_index_bytes(streams->held_out[s]) : 0);
    return bytes;
}

/* The estimate itself takes a copy of the declared states, and writes to both. Looked at before: a state may be much of a node's
 * memory, of which nothing has been used yet. ranks: those of this node that estimate at the same time. */
static bool check_states(uint64_t states, int ranks, GError **error)
{
    const uint64_t left = xlm_memory_left(), space = xlm_address_space_left(), all = (uint64_t)ranks * states;
    return ((left == UINT64_MAX || 2 * all <= left + (uint64_t)ranks * xlm_memory_resident()) && states <= space) ||
           xlm_error_set(error, EX_UNAVAILABLE, "%s about %.2f GiB for states of objectives, such as the queue of moco, and a copy "
                         "of them for snapshots, and there are %.2f GiB left on %s; make them smaller",
                         ranks > 1 ? "the job's ranks on one node need" : "a rank of the job needs",
                         2 * (double)all / (1 << 30), (double)MIN(left, space) / (1 << 30), g_get_host_name());
}

bool xlm_memory_of_rank(const xlm_run_size *size, int ranks, xlm_memory_estimate *estimate, GError **error)
{
    const xlm_train_config *c = &size->job->train;
    const int64_t micro_batches = xlm_micro_batches_on(c->micro_batches, ranks);
    const int64_t parameters = xlm_parameters_size(size->parameters),
                  learning = parameters - xlm_parameters_learning(size->parameters);
    /* Gradients of frozen parameters take memory only where an average is gathered there, or a dump of the step has them. */
    const bool whole = xlm_host_averages(size->host) > 0 || size->step_dump;
    const bool masters = c->exchange_parameters == XLM_BFLOAT16;
    const uint64_t flat = sizeof(float) * (uint64_t)parameters;
    const uint64_t program = (uint64_t)64 << 20; /* libraries, MPI, BLIS's packing buffers, vocabulary */
    const uint64_t states = xlm_host_states_bytes(size->host);
    xlm_run_cost cost;
    if (!check_states(states, 1, error) || !xlm_run_cost_of(size, micro_batches, c->recompute, &cost, error))
        return false;
    xlm_memory_estimate e = {
        .parameters = flat,
        .packed = packed_bytes(size, micro_batches, ranks),
        .gradients = sizeof(float) * ((uint64_t)learning * (uint64_t)xlm_gradient_buffers(c->reproducible, micro_batches, ranks) +
                                      (uint64_t)(whole ? parameters - learning : 0)),
        .moments = (masters ? 3 : 2) * sizeof(float) * (uint64_t)xlm_shards_max_own(learning, ranks),
        .averages = xlm_averages_bytes(size->host, learning, ranks),
        .states = 2 * states, /* another copy is for snapshots (checkpoint/snapshot.h) */
        .index = index_bytes(size->streams),
        .resources = xlm_host_resource_bytes(size->host),
        .results = size->validation.results,
        .exchange = xlm_reduce_scatter_bytes(learning, ranks, c->exchange == XLM_BFLOAT16) +
                    xlm_all_gather_bytes(learning, ranks, masters),
        .kept = cost.kept * (uint64_t)(micro_batches / ranks),
        .pass = cost.pass,
    };
    e.total = e.parameters + e.packed + e.moments + e.averages + e.states + e.index + e.resources + e.results + e.gradients +
              e.exchange + e.kept + e.pass + program;
    *estimate = e;
    return true;
}

/* With recomputation the other way. */
static void add_other_pass(const xlm_run_size *size, int ranks, xlm_memory_estimate *estimate, GError **error)
{
    const xlm_train_config *c = &size->job->train;
    xlm_run_cost cost;
    if (xlm_run_cost_of(size, xlm_micro_batches_on(c->micro_batches, ranks), !c->recompute, &cost, error))
        estimate->other_pass = cost.pass;
}

static bool check_address_space(uint64_t space, uint64_t left, GError **error)
{
    return space <= left ||
           xlm_error_set(error, EX_UNAVAILABLE, "a rank of the job needs about %.2f GiB more of address space, and its limit "
                         "on %s leaves %.2f GiB; raise the limit (ulimit -v), lower the batch or the model, or use more ranks",
                         (double)space / (1 << 30), g_get_host_name(), (double)left / (1 << 30));
}

bool xlm_memory_check(const xlm_comm *comm, const xlm_run_size *size, xlm_memory_estimate *estimate, GError **error)
{
    const uint64_t left = xlm_address_space_left(), threads = thread_space();
    xlm_memory_estimate e = {0};
    GError *failure = NULL;
    /* Passes on shapes start threads. */
    if (check_address_space(threads, left, &failure) &&
        check_states(xlm_host_states_bytes(size->host), comm->local_ranks, &failure) &&
        xlm_memory_of_rank(size, comm->ranks, &e, &failure))
        add_other_pass(size, comm->ranks, &e, &failure);
    if (!xlm_comm_agree_on(comm, failure, error))
        return false;
    failure = NULL;
    e.node_needed = (uint64_t)xlm_comm_sum_node(comm, (int64_t)e.total);
    const uint64_t allocated = e.index + e.resources + e.states / 2; /* streams, and all that objectives have read and declared */
    const uint64_t memory_left = xlm_memory_left(), of_node = (uint64_t)xlm_comm_sum_node(comm, (int64_t)allocated);
    e.node_available = memory_left < UINT64_MAX ? memory_left + of_node : UINT64_MAX;
    *estimate = e;
    if (e.node_needed > e.node_available)
        xlm_error_set(&failure, EX_UNAVAILABLE, "the job needs about %.1f GiB on the node %s (%d ranks of %.1f GiB), which "
                      "has %.1f GiB free; lower the batch or the model, raise micro_batches%s%s, or use more nodes",
                      (double)e.node_needed / (1 << 30), g_get_host_name(), comm->local_ranks, (double)e.total / (1 << 30),
                      (double)e.node_available / (1 << 30), size->job->train.recompute ? "" : ", set recompute = true",
                      size->arithmetic.packs && size->arithmetic.precision == XLM_FLOAT32 ? ", set gemm = blis" : "");
    if (failure == NULL)
        check_address_space(e.total - allocated - e.results + threads, left, &failure);
    return xlm_comm_agree_on(comm, failure, error);
}
