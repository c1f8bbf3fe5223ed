/* xlm-mpi: ranks that wait sleep, for tests; loaded before other libraries. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tests run side by side, with more ranks than cores. A rank of Open MPI or MPICH that waits for a message asks for it again and
 * again, and yields in between (environment.sh), which takes as much of a processor as work does while no other process is ready
 * to run there, and much of it even then. Here it yields a few times, then sleeps before it asks again: for a part of the time
 * for which it has waited. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { YIELDS = 20, PART = 4 }; /* calls of a wait without sleep; the part of the wait that the next sleep is */
static const int64_t APART = 20000, SHORTEST = 20000, LONGEST = 2000000; /* nanoseconds */

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* In place of libc's. Calls that are further apart are not of one wait. */
int sched_yield(void)
{
    static __thread int64_t calls, begin, last;
    const int64_t time = now();
    if (time - last > APART) {
        calls = 0;
        begin = time;
    }
    if (++calls > YIELDS) {
        const int64_t part = (time - begin) / PART;
        nanosleep(&(struct timespec){.tv_nsec = part < SHORTEST ? SHORTEST : part > LONGEST ? LONGEST : part}, NULL);
    } else {
        syscall(SYS_sched_yield);
    }
    last = now();
    return 0;
}
