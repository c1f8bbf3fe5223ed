/* xlm-mpi: messages to the user, from one rank. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/log.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static struct {
    const char *program;
    bool speaks;
    bool line_open; /* a live line is on the screen */
} log_state = {"xlm", true, false};

void xlm_log_open(const char *program, bool speaks)
{
    log_state.program = program;
    log_state.speaks = speaks;
}

static void print(const char *kind, const char *format, va_list arguments)
{
    if (!log_state.speaks)
        return;
    flockfile(stderr); /* lines of several threads stay whole */
    if (log_state.line_open) {
        fputs("\r\033[K", stderr);
        log_state.line_open = false;
    }
    if (kind != NULL)
        fprintf(stderr, "%s: %s", log_state.program, kind);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
}

#define PRINT_AS(kind)                                                                                                \
    do {                                                                                                              \
        va_list arguments;                                                                                            \
        va_start(arguments, format);                                                                                  \
        print(kind, format, arguments);                                                                               \
        va_end(arguments);                                                                                            \
    } while (0)

void xlm_log_info(const char *format, ...) { PRINT_AS(NULL); }
void xlm_log_warn(const char *format, ...) { PRINT_AS("warning: "); }
void xlm_log_error(const char *format, ...) { PRINT_AS(""); }

bool xlm_log_is_live(void) { return log_state.speaks && isatty(STDERR_FILENO); }

void xlm_log_live(const char *format, ...)
{
    if (!xlm_log_is_live())
        return;
    va_list arguments;
    va_start(arguments, format);
    flockfile(stderr);
    fputs("\r\033[K", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fflush(stderr);
    log_state.line_open = true;
    funlockfile(stderr);
}

const char *xlm_log_count(double value, char text[16])
{
    static const char unit[] = " kMGTP";
    int u = 0;
    while (fabs(value) >= 1000 && u < 5) {
        value /= 1000;
        u++;
    }
    if (u == 0)
        g_snprintf(text, 16, "%.0f", value);
    else
        g_snprintf(text, 16, "%.*f%c", fabs(value) < 100 ? 1 : 0, value, unit[u]);
    return text;
}

const char *xlm_log_duration(double seconds, char text[16])
{
    const long s = seconds < 0 ? 0 : lround(seconds);
    if (s >= 86400)
        g_snprintf(text, 16, "%ldd%02ld:%02ld", s / 86400, s / 3600 % 24, s / 60 % 60);
    else if (s >= 3600)
        g_snprintf(text, 16, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        g_snprintf(text, 16, "%ld:%02ld", s / 60, s % 60);
    return text;
}

double xlm_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}
