/* xlm-mpi: ranks that wait sleep, for tests; loaded before other libraries. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tests run side by side, with more ranks than cores. A rank of Open MPI or MPICH that waits for a message asks for it again and
 * again, and yields in between (environment.sh), which takes as much of a processor as work does while no other process is ready
 * to run there, and much of it even then. Here it yields a few times, then sleeps for some microseconds before it asks again. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FIRST = 20, MANY = 100 };                                        /* calls without sleep; calls with the shorter sleep */
static const int64_t APART = 20000, SHORT_NAP = 20000, LONG_NAP = 200000; /* nanoseconds */

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* In place of libc's. Calls that are further apart are not of one wait. */
int sched_yield(void)
{
    static __thread int64_t calls, last;
    calls = now() - last > APART ? 1 : calls + 1;
    if (calls > FIRST)
        nanosleep(&(struct timespec){.tv_nsec = calls > MANY ? LONG_NAP : SHORT_NAP}, NULL);
    else
        syscall(SYS_sched_yield);
    last = now();
    return 0;
}
