/* xlm-mpi: links of all ranks as text in one file. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/link_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "files/new_file.h"

/* ---- lines ---- */

/* For millions of numbers printf would take longer than the alignment itself. */
static char *put_number(char *end, int32_t number)
{
    do
        *--end = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    return end;
}

void xlm_link_file_append(GString *lines, const xlm_link *links, int64_t n)
{
    char text[32], *const end = text + sizeof text;
    for (int64_t i = 0; i < n; i++) {
        char *begin = put_number(end, links[i].target);
        *--begin = '-';
        begin = put_number(begin, links[i].source);
        if (i > 0)
            *--begin = ' ';
        g_string_append_len(lines, begin, end - begin);
    }
    g_string_append_c(lines, '\n');
}

void xlm_link_file_append_scores(GString *lines, const float *scores, int64_t n)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    for (int64_t i = 0; i < n; i++) {
        if (i > 0)
            g_string_append_c(lines, ' ');
        g_string_append(lines, g_ascii_formatd(text, sizeof text, "%.4g", (double)scores[i]));
    }
    g_string_append_c(lines, '\n');
}

/* ---- the file ---- */

/* 0, or the errno of a failure. */
static int write_at(int descriptor, const char *bytes, size_t size, int64_t at)
{
    while (size > 0) {
        const ssize_t put = pwrite(descriptor, bytes, MIN(size, (size_t)1 << 30), at);
        if (put < 0 && errno != EINTR)
            return errno;
        if (put > 0) {
            bytes += put;
            size -= (size_t)put;
            at += put;
        }
    }
    return 0;
}

/* On a rank that did not create the file. */
static void write_part(const char *path, const char *unfinished, const char *own, size_t size, int64_t at, GError **error)
{
    xlm_new_file_heed_limit();
    const int descriptor = open(unfinished, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) {
        xlm_new_file_unseen(path, errno, error);
        return;
    }
    int number = write_at(descriptor, own, size, at);
    if (number == 0)
        number = xlm_new_file_sync(descriptor);
    if (close(descriptor) != 0 && number == 0)
        number = errno;
    if (number != 0)
        xlm_new_file_failed(path, "cannot be written", number, error);
}

static bool write_file(const xlm_comm *comm, const char *path, const char *own, size_t size, GError **error)
{
    const bool first = comm->rank == 0;
    const int64_t at = xlm_comm_sum_below(comm, (int64_t)size);
    xlm_new_file file = {0};
    GError *failure = NULL;
    if (first)
        xlm_new_file_create(&file, path, &failure);
    if (!xlm_comm_agree_on(comm, failure, error))
        return false;
    void *unfinished = file.unfinished;
    size_t length = first ? strlen(file.unfinished) + 1 : 0;
    xlm_comm_broadcast_bytes(comm, 0, &unfinished, &length);
    failure = NULL;
    if (first) {
        const int number = write_at(fileno(file.stream), own, size, 0);
        if (number != 0)
            xlm_new_file_failed(path, "cannot be written", number, &failure);
    } else if (size > 0)
        write_part(path, unfinished, own, size, at, &failure);
    bool good = xlm_comm_agree_on(comm, failure, error);
    failure = NULL;
    if (first && good)
        xlm_new_file_commit(&file, &failure);
    else if (first)
        xlm_new_file_discard(&file);
    else
        g_free(unfinished);
    /* Also on failure, so that no rank continues before the file is gone. */
    return xlm_comm_agree_on(comm, failure, good ? error : NULL) && good;
}

/* ---- standard output ---- */

static bool print_all(const xlm_comm *comm, const char *own, size_t size, GError **error)
{
    GError *failure = NULL;
    for (int rank = 0; rank < comm->ranks; rank++) {
        void *bytes = (void *)own;
        size_t length = size;
        xlm_comm_bytes_to_first(comm, rank, &bytes, &length);
        if (comm->rank == 0 && failure == NULL && (fwrite(bytes, 1, length, stdout) != length || fflush(stdout) != 0))
            xlm_new_file_failed("standard output", "cannot be written", errno, &failure);
        if (bytes != own)
            g_free(bytes);
    }
    return xlm_comm_agree_on(comm, failure, error);
}

bool xlm_link_file_write(const xlm_comm *comm, const char *path, const char *own, size_t size, GError **error)
{
    return path != NULL ? write_file(comm, path, own, size, error) : print_all(comm, own, size, error);
}
