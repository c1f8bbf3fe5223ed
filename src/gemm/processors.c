/* xlm-mpi: the processors that a process may run on. SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* sched_getaffinity */
#include "gemm/processors.h"

#include <glib.h>
#include <omp.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

enum { MAX_PROCESSORS = 64 * XLM_PROCESSORS_WORDS };

static size_t bytes(void) { return CPU_ALLOC_SIZE(MAX_PROCESSORS); }

/* A set of MAX_PROCESSORS, empty if the system does not show it. */
static cpu_set_t *affinity_of(pid_t process)
{
    cpu_set_t *set = CPU_ALLOC(MAX_PROCESSORS);
    if (set == NULL)
        g_error("no memory for a set of %d processors", MAX_PROCESSORS);
    CPU_ZERO_S(bytes(), set);
    if (sched_getaffinity(process, bytes(), set) != 0)
        CPU_ZERO_S(bytes(), set);
    return set;
}

/* OpenMP's places are the processors that the process had when the library was loaded, or those of them that OMP_PLACES names. If
 * threads are not bound, there are no places. */
static void add_places(cpu_set_t *set)
{
    for (int place = 0; place < omp_get_num_places(); place++) {
        const int n = omp_get_place_num_procs(place);
        g_autofree int *id = g_new(int, n);
        omp_get_place_proc_ids(place, id);
        for (int i = 0; i < n; i++)
            if (id[i] >= 0 && id[i] < MAX_PROCESSORS)
                CPU_SET_S((size_t)id[i], bytes(), set);
    }
}

/* Frees the set. */
static xlm_processors count(cpu_set_t *set)
{
    /* Hardware threads of one core have the same list of siblings. */
    g_autoptr(GHashTable) siblings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (size_t cpu = 0; cpu < MAX_PROCESSORS; cpu++) {
        if (!CPU_ISSET_S(cpu, bytes(), set))
            continue;
        g_autofree char *path = g_strdup_printf("/sys/devices/system/cpu/cpu%zu/topology/thread_siblings_list", cpu);
        char *list = NULL;
        if (!g_file_get_contents(path, &list, NULL, NULL))
            list = g_strdup_printf("%zu", cpu);
        g_hash_table_add(siblings, list);
    }
    const int processors = CPU_COUNT_S(bytes(), set);
    CPU_FREE(set);
    return (xlm_processors){processors, (int)g_hash_table_size(siblings)};
}

xlm_processors xlm_processors_of(pid_t process) { return count(affinity_of(process)); }

/* The processors of this process; to be freed. */
static cpu_set_t *own_set(void)
{
    cpu_set_t *set = affinity_of(0);
    if (omp_get_proc_bind() != omp_proc_bind_false)
        add_places(set);
    return set;
}

xlm_processors xlm_processors_own(void) { return count(own_set()); }

void xlm_processors_with_parent(xlm_processor_set *all)
{
    cpu_set_t *own = own_set(), *parent = affinity_of(getppid());
    CPU_OR_S(bytes(), own, own, parent);
    memcpy(all->bits, own, sizeof all->bits);
    CPU_FREE(own);
    CPU_FREE(parent);
}

int xlm_processors_in(const xlm_processor_set *set)
{
    int n = 0;
    for (int i = 0; i < XLM_PROCESSORS_WORDS; i++)
        n += __builtin_popcountll(set->bits[i]);
    return n;
}
