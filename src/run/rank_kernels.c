/* xlm-mpi: do all ranks round alike? SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/rank_kernels.h"

#include <glib.h>
#include <string.h>

#include "base/log.h"
#include "gemm/packed_kernels.h"
#include "kernels/kernels.h"

void xlm_rank_kernels_compare(const xlm_comm *comm, const xlm_hardware *hardware, bool packs, xlm_precision precision)
{
    if (comm->ranks == 1)
        return;
    g_autofree char *own = g_strdup_printf("XLM_KERNELS=%s and BLIS's kernels %s%s%s%s%s", xlm_kernels_get()->name, hardware->blis,
                                           packs ? ", in " : "", packs ? xlm_precision_names[precision] : "", packs ? " " : "",
                                           packs ? xlm_packed_kernels(precision) : "");
    g_autofree char *first = g_strdup(own), *place = g_strdup_printf("rank %d, on %s,", comm->rank, g_get_host_name());
    xlm_comm_broadcast_text(comm, &first);
    /* The lowest rank that differs is the one that is named. */
    int64_t differs = strcmp(first, own) != 0 ? comm->ranks - comm->rank : 0;
    xlm_comm_max_int64(comm, &differs, 1);
    if (differs == 0)
        return;
    g_autofree char *text = g_strdup_printf("%s uses %s", place, own);
    void *other = text;
    size_t size = strlen(text) + 1;
    xlm_comm_bytes_to_first(comm, comm->ranks - (int)differs, &other, &size);
    if (comm->rank != 0)
        return;
    xlm_log_warn("%s, but %s %s: processors of several kinds round in several ways, so the bits of the results depend on which "
                 "ranks are on which nodes; take nodes of one kind, or set %s, on all of them, to kernels that every node has",
                 (const char *)other, place, own,
                 packs ? "XLM_KERNELS, BLIS_ARCH_TYPE and ONEDNN_MAX_CPU_ISA" : "XLM_KERNELS and BLIS_ARCH_TYPE");
    g_free(other);
}
