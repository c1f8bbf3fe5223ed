/* xlm-mpi: files that are being written, which a signal removes. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

/* Newest first, so that files are removed before the directory that they are in. */
typedef struct noted {
    struct noted *older;
    bool directory;
    char name[];
} noted;

static noted *newest;
static pid_t owner; /* a child of this process has a copy of the list, but not the files */

/* The list changes only while no signal can read it: handlers read it in the main thread alone. */
static void hold_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, before);
}

static void let_signals(const sigset_t *before)
{
    const int number = errno;
    pthread_sigmask(SIG_SETMASK, before, NULL);
    errno = number;
}

static void note(const char *name, bool directory)
{
    noted *n = g_malloc(sizeof *n + strlen(name) + 1);
    n->older = newest;
    n->directory = directory;
    strcpy(n->name, name);
    newest = n;
    owner = getpid();
}

static noted **find(const char *name)
{
    noted **at = &newest;
    while (*at != NULL && strcmp((*at)->name, name) != 0)
        at = &(*at)->older;
    return at;
}

static void forget(noted **at)
{
    g_autofree noted *n = *at;
    if (n != NULL)
        *at = n->older;
}

/* Is the path in a directory that is not finished? */
static bool is_inside(const char *path)
{
    for (const noted *n = newest; n != NULL; n = n->older)
        if (n->directory && g_str_has_prefix(path, n->name) && path[strlen(n->name)] == G_DIR_SEPARATOR)
            return true;
    return false;
}

/* A file, or a directory, for which the result is 0. On failure -1 with errno. */
static int make(const char *path, int flags, bool directory, char **name)
{
    sigset_t before;
    int made = 0;
    *name = g_strconcat(path, XLM_UNFINISHED "XXXXXX", NULL);
    hold_signals(&before);
    if (!directory)
        made = g_mkstemp_full(*name, flags | O_CLOEXEC, 0666);
    else if (g_mkdtemp_full(*name, 0777) == NULL)
        made = -1;
    if (made >= 0)
        note(*name, directory);
    let_signals(&before);
    if (made < 0) {
        const int number = errno;
        g_clear_pointer(name, g_free);
        errno = number;
    }
    return made;
}

int xlm_unfinished_make(const char *path, int flags, char **name) { return make(path, flags, false, name); }

bool xlm_unfinished_make_directory(const char *path, char **name) { return make(path, 0, true, name) >= 0; }

/* Forget the files of a directory that now has its final name. */
static void forget_inside(const char *directory)
{
    const size_t size = strlen(directory);
    for (noted **at = &newest; *at != NULL;)
        if (strncmp((*at)->name, directory, size) == 0 && (*at)->name[size] == G_DIR_SEPARATOR)
            forget(at);
        else
            at = &(*at)->older;
}

bool xlm_unfinished_rename(const char *name, const char *path)
{
    sigset_t before;
    hold_signals(&before);
    const bool good = g_rename(name, path) == 0;
    if (good) {
        forget_inside(name);
        forget(find(name));
        if (is_inside(path))
            note(path, false);
    }
    let_signals(&before);
    return good;
}

void xlm_unfinished_remove(const char *name)
{
    sigset_t before;
    hold_signals(&before);
    remove(name);
    forget(find(name));
    let_signals(&before);
}

void xlm_unfinished_remove_all(void)
{
    if (owner != getpid())
        return;
    for (const noted *n = newest; n != NULL; n = n->older)
        if (n->directory)
            rmdir(n->name);
        else
            unlink(n->name);
}
