/* xlm-mpi: the terminal that a live line can be drawn on. SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* major, minor */
#include "base/terminal.h"

#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/process.h"

/* The process on this node that shows what this rank writes, such as mpiexec; 0: this process was not started as a rank. */
static pid_t find_launcher(xlm_process *found)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    bool launched = false;
    for (size_t i = 0; i < G_N_ELEMENTS(variables); i++)
        launched |= g_getenv(variables[i]) != NULL;
    pid_t launcher = launched ? getppid() : 0;
    bool known = launched && xlm_process_look_up(launcher, found);
    /* MPICH has proxies between mpiexec and the ranks; they have no terminal. */
    while (known && g_str_has_prefix(found->name, "hydra_")) {
        launcher = found->parent;
        known = xlm_process_look_up(launcher, found);
    }
    return known ? launcher : 0;
}

/* Opens a standard file of the launcher that is the launcher's terminal; -1 if there is none. */
static int open_of_launcher(pid_t process, const xlm_process *launcher, int file)
{
    char path[64];
    struct stat status;
    const unsigned number = launcher->terminal; /* in the form of proc(5) */
    g_snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)process, file);
    if (number == 0 || stat(path, &status) != 0 || !S_ISCHR(status.st_mode) || major(status.st_rdev) != (number >> 8 & 0xfff) ||
        minor(status.st_rdev) != ((number & 0xff) | (number >> 12 & 0xfff00)))
        return -1;
    return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
}

static bool is_pipe(int file)
{
    struct stat status;
    return fstat(file, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

xlm_terminal xlm_terminal_find(bool anywhere)
{
    if (isatty(STDERR_FILENO))
        return (xlm_terminal){.fd = STDERR_FILENO, .messages = true};
    xlm_process launcher;
    xlm_terminal found = {.fd = -1, .launched = true, .launcher = find_launcher(&launcher)};
    if (found.launcher != 0 && is_pipe(STDERR_FILENO))
        found.fd = open_of_launcher(found.launcher, &launcher, STDERR_FILENO);
    found.messages = found.fd >= 0;
    for (int file = STDIN_FILENO; anywhere && found.launcher != 0 && found.fd < 0 && file <= STDERR_FILENO; file++)
        found.fd = open_of_launcher(found.launcher, &launcher, file);
    if (found.fd < 0 && anywhere)
        found.fd = open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY);
    /* A rank is in the background of its launcher's terminal, which may stop background processes that write to it. */
    if (found.fd >= 0)
        signal(SIGTTOU, SIG_IGN);
    return found;
}

bool xlm_terminal_in_foreground(const xlm_terminal *terminal)
{
    xlm_process launcher;
    if (terminal->launcher != 0)
        return xlm_process_look_up(terminal->launcher, &launcher) && launcher.group == launcher.foreground;
    const pid_t foreground = tcgetpgrp(terminal->fd);
    if (foreground < 0)
        return !terminal->launched; /* a terminal without jobs to switch between */
    return foreground == getpgrp();
}

int xlm_terminal_width(const xlm_terminal *terminal)
{
    struct winsize size;
    return ioctl(terminal->fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void xlm_terminal_write(const xlm_terminal *terminal, const char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        const ssize_t written = write(terminal->fd, text, left);
        if (written <= 0)
            return;
        text += written;
        left -= (size_t)written;
    }
}

int xlm_terminal_columns(const char *text, size_t size)
{
    int columns = 0;
    for (const char *at = text; at < text + size;) {
        const gunichar c = g_utf8_get_char_validated(at, text + size - at);
        const bool valid = c != (gunichar)-1 && c != (gunichar)-2;
        at = valid ? g_utf8_next_char(at) : at + 1;
        columns += !valid ? 1 : g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;
    }
    return columns;
}

char *xlm_terminal_cut(const char *line, int width)
{
    if (g_utf8_strlen(line, -1) <= width)
        return g_strdup(line);
    const char *end = g_utf8_offset_to_pointer(line, MAX(width, 0)), *fits = NULL;
    for (const char *gap = strstr(line, "  "); gap != NULL && gap <= end; gap = strstr(gap + 2, "  "))
        fits = gap;
    return g_strndup(line, (gsize)((fits != NULL ? fits : end) - line));
}

/* Not shown on a terminal: it would obey them. */
static bool is_control(gunichar c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

char *xlm_terminal_escape(const char *text)
{
    GString *shown = g_string_sized_new(strlen(text));
    while (*text != '\0') {
        const gunichar c = g_utf8_get_char_validated(text, -1);
        if (c == (gunichar)-1 || c == (gunichar)-2) {
            g_string_append_printf(shown, "\\x%02x", (unsigned char)*text++);
            continue;
        }
        if (c == '\n' || c == '\r' || c == '\t')
            g_string_append(shown, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
        else if (is_control(c))
            g_string_append_printf(shown, c < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)c);
        else
            g_string_append_unichar(shown, c);
        text = g_utf8_next_char(text);
    }
    return g_string_free(shown, FALSE);
}
