/* xlm-mpi: the processors that a process may run on. SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* sched_getaffinity */
#include "gemm/processors.h"

#include <glib.h>
#include <omp.h>
#include <sched.h>

enum { MAX_PROCESSORS = 1 << 14 };

struct xlm_processors {
    cpu_set_t *set; /* of MAX_PROCESSORS */
};

static size_t bytes(void) { return CPU_ALLOC_SIZE(MAX_PROCESSORS); }

xlm_processors *xlm_processors_of(pid_t process)
{
    xlm_processors *p = g_new(xlm_processors, 1);
    p->set = CPU_ALLOC(MAX_PROCESSORS);
    if (p->set == NULL)
        g_error("no memory for a set of %d processors", MAX_PROCESSORS);
    CPU_ZERO_S(bytes(), p->set);
    if (sched_getaffinity(process, bytes(), p->set) != 0)
        CPU_ZERO_S(bytes(), p->set);
    return p;
}

/* OpenMP's places are the processors that the process had when the library was loaded, or those of them that OMP_PLACES names. If
 * threads are not bound, there are no places. */
static void add_places(xlm_processors *p)
{
    for (int place = 0; place < omp_get_num_places(); place++) {
        const int n = omp_get_place_num_procs(place);
        int *id = g_new(int, n);
        omp_get_place_proc_ids(place, id);
        for (int i = 0; i < n; i++)
            if (id[i] >= 0 && id[i] < MAX_PROCESSORS)
                CPU_SET_S((size_t)id[i], bytes(), p->set);
        g_free(id);
    }
}

xlm_processors *xlm_processors_own(void)
{
    xlm_processors *p = xlm_processors_of(0);
    if (omp_get_proc_bind() != omp_proc_bind_false)
        add_places(p);
    return p;
}

void xlm_processors_free(xlm_processors *processors)
{
    CPU_FREE(processors->set);
    g_free(processors);
}

int xlm_processors_count(const xlm_processors *processors) { return CPU_COUNT_S(bytes(), processors->set); }

int xlm_processors_cores(const xlm_processors *processors)
{
    /* Hardware threads of one core have the same list of siblings. */
    GHashTable *siblings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (size_t cpu = 0; cpu < MAX_PROCESSORS; cpu++) {
        if (!CPU_ISSET_S(cpu, bytes(), processors->set))
            continue;
        char *path = g_strdup_printf("/sys/devices/system/cpu/cpu%zu/topology/thread_siblings_list", cpu), *list = NULL;
        if (!g_file_get_contents(path, &list, NULL, NULL))
            list = g_strdup_printf("%zu", cpu);
        g_hash_table_add(siblings, list);
        g_free(path);
    }
    const int cores = (int)g_hash_table_size(siblings);
    g_hash_table_destroy(siblings);
    return cores;
}
