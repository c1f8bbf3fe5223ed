/* xlm-mpi: signals that ask a run to stop. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/error.h"
#include "base/unfinished.h"

enum { TICK = 100 }; /* milliseconds */

static volatile sig_atomic_t noted;
static pthread_t main_thread;

static struct {
    const xlm_signals_listener *listener;
    GThread *thread;
    int pipe[2]; /* from the handler, which may run in any thread, to the listening thread; -1: not listening yet */
    int poll;
} listening = {.pipe = {-1, -1}};

void xlm_signals_note(int number)
{
    if (noted == 0)
        noted = number;
}

/* Calls only what is allowed in a handler. If the pipe is full, there are enough notices in it already. */
static void handle(int number, siginfo_t *info, void *context)
{
    (void)context;
    const int error = errno;
    const xlm_signal signal = {.number = number, .sender = info->si_pid};
    if (number != SIGCONT)
        xlm_signals_note(number);
    if (listening.pipe[1] >= 0 && write(listening.pipe[1], &signal, sizeof signal) < 0)
        errno = 0;
    errno = error;
}

static void install(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(number, &action, NULL) != 0)
        g_error("no handler for signal %d: %s", number, g_strerror(errno));
}

static bool is_ignored(int number)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN;
}

/* The main thread notes the files, so only the main thread may look at the list. The signal is blocked in its own handler; once
 * it is unblocked, its default action ends the process. */
static void end(int number, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    const int error = errno;
    sigset_t this;
    if (!pthread_equal(pthread_self(), main_thread)) {
        pthread_kill(main_thread, number);
        errno = error;
        return;
    }
    xlm_unfinished_remove_all();
    signal(number, SIG_DFL);
    raise(number);
    sigemptyset(&this);
    sigaddset(&this, number);
    pthread_sigmask(SIG_UNBLOCK, &this, NULL);
}

void xlm_signals_end_cleanly(void)
{
    static const int ending[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGUSR1, SIGXCPU};
    main_thread = pthread_self();
    for (size_t i = 0; i < G_N_ELEMENTS(ending); i++)
        if (!is_ignored(ending[i]))
            install(ending[i], end);
}

/* A second Ctrl-C does not wait. */
static void handle_interrupt(int number, siginfo_t *info, void *context)
{
    static volatile sig_atomic_t before;
    if (before)
        end(number, info, context);
    before = 1;
    handle(number, info, context);
}

void xlm_signals_watch(void)
{
    main_thread = pthread_self();
    install(SIGTERM, handle);
    install(SIGUSR1, handle);
    install(SIGINT, handle_interrupt);
    if (!is_ignored(SIGHUP))
        install(SIGHUP, handle);
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is reported as an error of writing */
    signal(SIGPIPE, SIG_IGN); /* work continues, or ends cleanly, even if nobody reads the messages any longer */
}

int xlm_signals_noted(void) { return noted; }

bool xlm_signals_none(GError **error)
{
    return noted == 0 ||
           xlm_error_set(error, EX_TEMPFAIL, "stopped by a signal (%s); nothing was written", g_strsignal(noted));
}

/* All signals are blocked in this thread, so only stopping the whole process can interrupt its wait: when the process continues,
 * epoll_wait() fails with EINTR, and the SIGCONT that made it continue is read after that. */
static void *listen_to_signals(void *nothing)
{
    (void)nothing;
    int stopped = 0; /* ticks during which a SIGCONT is taken to be that of the last stop; debuggers stop and continue without
                      * one */
    for (;;) {
        struct epoll_event event;
        const int n = epoll_wait(listening.poll, &event, 1, TICK);
        xlm_signal signal;
        stopped = n < 0 && errno == EINTR ? 1000 / TICK : MAX(stopped - 1, 0);
        while (n > 0 && read(listening.pipe[0], &signal, sizeof signal) == (ssize_t)sizeof signal) {
            if (signal.number == 0)
                return NULL;
            signal.resumed = signal.number == SIGCONT && stopped > 0;
            if (signal.number == SIGCONT)
                stopped = 0;
            listening.listener->on_signal(listening.listener->data, &signal);
        }
        listening.listener->on_tick(listening.listener->data);
    }
}

/* Opened once and never closed: a handler may be about to write when listening ends. */
static void open_pipe(void)
{
    if (listening.pipe[1] >= 0)
        return;
    if (!g_unix_open_pipe(listening.pipe, FD_CLOEXEC, NULL))
        g_error("no pipe for signals: %s", g_strerror(errno));
    for (int end = 0; end < 2; end++)
        g_unix_set_fd_nonblocking(listening.pipe[end], TRUE, NULL);
    listening.poll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    if (listening.poll < 0 || epoll_ctl(listening.poll, EPOLL_CTL_ADD, listening.pipe[0], &event) != 0)
        g_error("signals cannot be waited for: %s", g_strerror(errno));
}

void xlm_signals_listen(const xlm_signals_listener *listener)
{
    sigset_t all, before;
    open_pipe();
    listening.listener = listener;
    install(SIGCONT, handle);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    listening.thread = g_thread_new("signals", listen_to_signals, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void xlm_signals_unlisten(void)
{
    if (listening.thread == NULL)
        return;
    const xlm_signal end = {0};
    signal(SIGCONT, SIG_DFL);
    /* The pipe may be full for a moment. */
    while (write(listening.pipe[1], &end, sizeof end) < 0 && (errno == EAGAIN || errno == EINTR))
        g_usleep(1000);
    g_thread_join(listening.thread);
    listening.thread = NULL;
}
