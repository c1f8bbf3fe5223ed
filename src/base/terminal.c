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

/* The controlling terminal's device number as proc(5) has it; 0: there is none. */
static unsigned controlling_terminal(void)
{
    char *text = NULL;
    unsigned number = 0;
    if (g_file_get_contents("/proc/self/stat", &text, NULL, NULL)) {
        /* Behind the name, which may have blanks: state, parent, group, session, terminal. */
        const char *end = strrchr(text, ')');
        int found = 0;
        if (end == NULL || sscanf(end + 1, " %*c %*d %*d %*d %d", &found) != 1)
            found = 0;
        number = (unsigned)found;
    }
    g_free(text);
    return number;
}

/* A rank whose standard error is a pipe to its launcher, which shows on this terminal what it reads from it. */
static bool launcher_shows_messages(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    bool launched = false;
    for (size_t i = 0; i < G_N_ELEMENTS(variables); i++)
        launched |= g_getenv(variables[i]) != NULL;
    struct stat status;
    if (!launched || fstat(STDERR_FILENO, &status) != 0 || !(S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)))
        return false;
    char path[64];
    g_snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getppid(), STDERR_FILENO);
    const unsigned number = controlling_terminal();
    return number != 0 && stat(path, &status) == 0 && S_ISCHR(status.st_mode) &&
           major(status.st_rdev) == (number >> 8 & 0xfff) &&
           minor(status.st_rdev) == ((number & 0xff) | (number >> 12 & 0xfff00));
}

xlm_terminal xlm_terminal_find(bool anywhere)
{
    if (isatty(STDERR_FILENO))
        return (xlm_terminal){.fd = STDERR_FILENO, .messages = true};
    const bool launched = launcher_shows_messages();
    const int fd = launched || anywhere ? open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY) : -1;
    /* A rank is in the background of its launcher's terminal, which may stop those who write from there. */
    if (fd >= 0)
        signal(SIGTTOU, SIG_IGN);
    return (xlm_terminal){.fd = fd, .messages = launched, .launched = true};
}

bool xlm_terminal_in_foreground(const xlm_terminal *terminal)
{
    const pid_t foreground = tcgetpgrp(terminal->fd);
    if (foreground < 0)
        return !terminal->launched; /* a terminal without jobs to switch between */
    return foreground == getpgrp() || (terminal->launched && foreground == getpgid(getppid()));
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

char *xlm_terminal_cut(const char *line, int width)
{
    if (g_utf8_strlen(line, -1) <= width)
        return g_strdup(line);
    const char *end = g_utf8_offset_to_pointer(line, MAX(width, 0)), *fits = NULL;
    for (const char *gap = strstr(line, "  "); gap != NULL && gap <= end; gap = strstr(gap + 2, "  "))
        fits = gap;
    return g_strndup(line, (gsize)((fits != NULL ? fits : end) - line));
}
