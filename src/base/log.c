/* xlm-mpi: messages to the user, from one rank. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/log.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "base/terminal.h"

/* Seconds between two live lines, and seconds to wait after a message that the launcher has yet to pass on to the terminal. */
static const double LIVE_INTERVAL = 0.1, HANDED_ON = 0.3;

static struct {
    const char *program;
    bool speaks;
    bool line_open; /* a live line is on the screen */
    xlm_progress_mode mode;
    bool looked;    /* for a terminal */
    xlm_terminal terminal;
    double not_before; /* when the next live line may be drawn */
} log_state = {.program = "xlm", .speaks = true, .terminal.fd = -1};

void xlm_log_open(const char *program, bool speaks)
{
    log_state.program = program;
    log_state.speaks = speaks;
}

static void print(const char *kind, const char *format, va_list arguments)
{
    if (!log_state.speaks)
        return;
    g_autofree char *text = g_strdup_vprintf(format, arguments), *shown = xlm_terminal_escape(text);
    flockfile(stderr); /* keeps lines of several threads apart */
    xlm_log_end_live();
    if (kind != NULL)
        fprintf(stderr, "%s: %s", log_state.program, kind);
    fputs(shown, stderr);
    fputc('\n', stderr);
    if (log_state.terminal.launched)
        log_state.not_before = xlm_clock() + HANDED_ON;
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

void xlm_log_set_progress(xlm_progress_mode mode) { log_state.mode = mode; }

static void look_for_terminal(void)
{
    log_state.looked = true;
    if (!log_state.speaks || log_state.mode == XLM_PROGRESS_LOG || log_state.mode == XLM_PROGRESS_NONE)
        return;
    log_state.terminal = xlm_terminal_find(log_state.mode == XLM_PROGRESS_LINE);
    if (log_state.mode == XLM_PROGRESS_LINE && log_state.terminal.fd < 0)
        xlm_log_warn("--progress=line: there is no terminal to draw a line on; progress is a line an interval");
}

bool xlm_log_is_live(void)
{
    if (!log_state.looked)
        look_for_terminal();
    return log_state.terminal.fd >= 0 && xlm_terminal_in_foreground(&log_state.terminal);
}

bool xlm_log_wants_lines(void)
{
    return log_state.mode != XLM_PROGRESS_NONE && !(xlm_log_is_live() && log_state.terminal.messages);
}

void xlm_log_live(const char *format, ...)
{
    const double now = xlm_clock();
    if (now < log_state.not_before || !xlm_log_is_live())
        return;
    log_state.not_before = now + LIVE_INTERVAL;
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments), *line = xlm_terminal_escape(text);
    va_end(arguments);
    /* Leave the last column empty: some terminals wrap to the next line when it is filled. */
    g_autofree char *shown = xlm_terminal_cut(line, xlm_terminal_width(&log_state.terminal) - 1);
    g_autofree char *drawn = g_strconcat("\r\033[K", shown, NULL);
    flockfile(stderr);
    fflush(stderr);
    xlm_terminal_write(&log_state.terminal, drawn);
    log_state.line_open = true;
    funlockfile(stderr);
}

void xlm_log_end_live(void)
{
    flockfile(stderr);
    if (log_state.line_open)
        xlm_terminal_write(&log_state.terminal, "\r\033[K");
    log_state.line_open = false;
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

const char *xlm_log_time(double seconds, char text[16])
{
    static const struct {
        double seconds, from; /* seconds of one unit; number of seconds from which the unit is used */
        const char *name;
    } units[] = {{86400, 48 * 3600, "days"}, {3600, 90 * 60, "h"}, {60, 90, "min"}, {1, 0, "s"}};
    size_t u = 0;
    while (seconds < units[u].from && u < G_N_ELEMENTS(units) - 1)
        u++;
    const double value = seconds / units[u].seconds;
    g_snprintf(text, 16, "%.*f %s", value < 9.95 ? 1 : 0, value, units[u].name);
    return text;
}

double xlm_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}
