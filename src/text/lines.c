/* xlm-mpi: text files a line at a time, plain or compressed. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/files.h"
#include "files/path.h"
#include "text/archive.h"
#include "text/gzip.h"
#include "text/normalise.h"

/* zlib reads plain files and gzip, libarchive what else there is; a file that is known to be plain is read directly. */
struct xlm_lines {
    char *path; /* for messages */
    char *copy; /* what is read in place of the file of that name, or NULL */
    xlm_gzip *file;       /* or NULL */
    xlm_archive *archive; /* or NULL */
    int plain;            /* else a descriptor */
    int64_t told;         /* bytes read with it */
    bool known;           /* it was looked at what the file is */
    bool is_input;        /* standard input */
    char *buffer; /* bytes [begin, end) are read and not yet returned */
    size_t capacity, begin, end;
    bool ended; /* the file has no more bytes than those in the buffer */
    bool terminated;
    bool keeps_bytes;
    int64_t number;
};

/* Lines are often read from places in the middle of a file, so what is read ahead of them is not much. */
enum { FIRST_CAPACITY = 1 << 17 };

/* path: a file on disk. */
static bool check_kind(const char *path, GError **error)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return xlm_error_set(error, EX_NOINPUT, "%s: %s", path, g_strerror(errno));
    if (S_ISDIR(status.st_mode))
        return xlm_error_set(error, EX_NOINPUT, "%s: is a directory; give a text file", path);
    if (!S_ISREG(status.st_mode))
        return xlm_error_set(error, EX_NOINPUT, "%s: not a regular file; text is read more than once, so pipes and "
                             "devices will not do", path);
    return xlm_files_check_input(path, error) &&
           (!xlm_files_is_hdf5(path) ||
            xlm_error_set(error, EX_DATAERR, "%s: is an HDF5 file, where text is read; give a file of text", path));
}

static xlm_lines *new_lines(const char *path, xlm_gzip *file)
{
    xlm_lines *lines = g_new0(xlm_lines, 1);
    lines->path = g_strdup(path);
    lines->file = file;
    lines->plain = -1;
    lines->capacity = FIRST_CAPACITY;
    lines->buffer = g_malloc(lines->capacity);
    return lines;
}

static xlm_lines *open_member(const char *path, const char *file, const char *member, GError **error)
{
    xlm_archive *archive = xlm_archive_open(file, file, member, error);
    if (archive == NULL)
        return NULL;
    xlm_lines *lines = new_lines(path, NULL);
    lines->archive = archive;
    lines->known = true;
    return lines;
}

xlm_lines *xlm_lines_open(const char *path, GError **error)
{
    g_autofree char *on_disk = NULL;
    const char *member = xlm_path_member(path, &on_disk);
    if (!check_kind(on_disk, error))
        return NULL;
    if (member != NULL)
        return open_member(path, on_disk, member, error);
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        xlm_error_set(error, EX_NOINPUT, "%s: %s", path, g_strerror(errno));
        return NULL;
    }
    xlm_gzip *file = xlm_gzip_new(descriptor);
    if (g_str_has_suffix(path, ".gz") && xlm_gzip_is_plain(file)) {
        xlm_gzip_close(file);
        xlm_error_set(error, EX_DATAERR, "%s: named .gz, but this is not gzip data; compress it again or rename it", path);
        return NULL;
    }
    return new_lines(path, file);
}

xlm_lines *xlm_lines_open_as(const char *path, const char *name, GError **error)
{
    xlm_lines *lines = xlm_lines_open(path, error);
    if (lines != NULL && strcmp(path, name) != 0) {
        lines->copy = lines->path;
        lines->path = g_strdup(name);
    }
    return lines;
}

xlm_lines *xlm_lines_open_plain(const char *path, const char *name, GError **error)
{
    if (!xlm_files_check_input(path, error))
        return NULL;
    const int plain = open(path, O_RDONLY | O_CLOEXEC);
    if (plain < 0) {
        xlm_error_set(error, EX_NOINPUT, "%s: %s", name, g_strerror(errno));
        return NULL;
    }
    xlm_lines *lines = new_lines(name, NULL);
    lines->plain = plain;
    lines->known = true;
    return lines;
}

xlm_lines *xlm_lines_open_input(GError **error)
{
    const int descriptor = dup(STDIN_FILENO);
    if (descriptor < 0) {
        xlm_error_set(error, EX_NOINPUT, "standard input: %s", g_strerror(errno));
        return NULL;
    }
    xlm_lines *lines = new_lines(XLM_LINES_INPUT, xlm_gzip_new(descriptor));
    lines->is_input = true;
    return lines;
}

void xlm_lines_close(xlm_lines *lines)
{
    if (lines == NULL)
        return;
    xlm_gzip_close(lines->file);
    if (lines->plain >= 0)
        close(lines->plain);
    xlm_archive_close(lines->archive);
    g_free(lines->buffer);
    g_free(lines->path);
    g_free(lines->copy);
    g_free(lines);
}

static bool read_archive(xlm_lines *lines, GError **error)
{
    const int64_t got = xlm_archive_read(lines->archive, lines->buffer + lines->end, lines->capacity - lines->end, error);
    lines->end += (size_t)MAX(got, 0);
    lines->ended = got <= 0;
    return got >= 0;
}

static bool read_gzip(xlm_lines *lines, GError **error)
{
    xlm_gzip_state state;
    const size_t got = xlm_gzip_read(lines->file, lines->buffer + lines->end, lines->capacity - lines->end, &state);
    lines->end += got;
    lines->ended = got == 0;
    if (state == XLM_GZIP_GOOD)
        return true;
    if (state == XLM_GZIP_UNREADABLE)
        return xlm_error_set(error, EX_IOERR, "%s: cannot be read after line %" G_GINT64_FORMAT ": %s", lines->path,
                             lines->number, g_strerror(errno));
    if (state == XLM_GZIP_CUT_SHORT)
        return xlm_error_set(error, EX_DATAERR, "%s: gzip data cut short after line %" G_GINT64_FORMAT
                             "; get or make the file again", lines->path, lines->number);
    if (state == XLM_GZIP_FOLLOWED)
        return xlm_error_set(error, EX_DATAERR, "%s: what follows the gzip data after line %" G_GINT64_FORMAT " is not gzip "
                             "data; get or make the file again", lines->path, lines->number);
    return xlm_error_set(error, EX_DATAERR, "%s: damaged gzip data after line %" G_GINT64_FORMAT
                         "; get or make the file again", lines->path, lines->number);
}

static bool read_plain(xlm_lines *lines, GError **error)
{
    ssize_t got;
    do
        got = pread(lines->plain, lines->buffer + lines->end, lines->capacity - lines->end, (off_t)lines->told);
    while (got < 0 && errno == EINTR);
    lines->ended = got <= 0;
    if (got < 0)
        return xlm_error_set(error, EX_IOERR, "%s: cannot be read after line %" G_GINT64_FORMAT ": %s", lines->path,
                             lines->number, g_strerror(errno));
    lines->end += (size_t)got;
    lines->told += got;
    return true;
}

static bool read_block(xlm_lines *lines, GError **error)
{
    return (lines->file != NULL ? read_gzip : lines->archive != NULL ? read_archive : read_plain)(lines, error);
}

/* The beginning of the text, as it is now read. */
static bool read_beginning(xlm_lines *lines, GError **error)
{
    bool good = true;
    while (good && !lines->ended && lines->end < XLM_ARCHIVE_SEEN)
        good = read_block(lines, error);
    return good;
}

/* Looks at the first bytes: a compressed file is from now on decompressed, an archive refused. */
static bool know_kind(xlm_lines *lines, GError **error)
{
    if (lines->known)
        return true;
    lines->known = true;
    if (!read_beginning(lines, error))
        return false;
    const xlm_archive_kind *kind = xlm_archive_kind_of(lines->buffer, lines->end);
    const xlm_archive_kind *claimed = xlm_archive_kind_claimed(lines->path);
    if (kind == NULL)
        return claimed == NULL || lines->is_input || lines->copy != NULL || !xlm_gzip_is_plain(lines->file) ||
               xlm_error_set(error, EX_DATAERR, "%s: named %s, but this is not %s data; compress it again or rename it",
                             lines->path, claimed->suffix, claimed->name);
    if (lines->is_input)
        return kind->reader != NULL
                   ? xlm_error_set(error, EX_DATAERR, "standard input: %s data; decompress it first, with %s", kind->name,
                                   kind->reader)
                   : xlm_error_set(error, EX_DATAERR, "standard input: an archive (%s), not a text", kind->name);
    if (kind->reader != NULL) {
        xlm_gzip_close(lines->file);
        lines->file = NULL;
        lines->end = 0;
        lines->ended = false;
        const char *path = lines->copy != NULL ? lines->copy : lines->path;
        if ((lines->archive = xlm_archive_open(path, lines->path, NULL, error)) == NULL)
            return false;
        if (!xlm_archive_decompresses(lines->archive))
            return xlm_error_set(error, EX_DATAERR, "%s: %s data of a form that the installed libarchive cannot read; decompress "
                                 "it first, with %s", lines->path, kind->name, kind->reader);
        if (!read_beginning(lines, error))
            return false;
        kind = xlm_archive_kind_of(lines->buffer, lines->end);
    }
    if (kind == NULL || kind->reader != NULL)
        return true;
    return lines->copy != NULL ? xlm_error_set(error, EX_DATAERR, "%s: an archive (%s), not a text", lines->path, kind->name)
                               : xlm_archive_refuse(lines->path, kind, error);
}

static bool read_more(xlm_lines *lines, GError **error)
{
    if (!lines->known)
        return know_kind(lines, error);
    if (lines->begin > 0) {
        memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
        lines->end -= lines->begin;
        lines->begin = 0;
    }
    if (lines->end == lines->capacity) {
        if (lines->capacity >= XLM_LINES_LONGEST)
            return xlm_error_set(error, EX_DATAERR, "%s:%" G_GINT64_FORMAT ": line of more than %d MiB; the text must "
                                 "have one sentence a line", lines->path, lines->number + 1, XLM_LINES_LONGEST >> 20);
        lines->capacity *= 2;
        lines->buffer = g_realloc(lines->buffer, lines->capacity);
    }
    return read_block(lines, error);
}

int xlm_lines_is_plain(xlm_lines *lines, GError **error)
{
    if (!know_kind(lines, error))
        return -1;
    return lines->plain >= 0 || (lines->file != NULL && !lines->is_input && xlm_gzip_is_plain(lines->file));
}

void xlm_lines_keep_bytes(xlm_lines *lines) { lines->keeps_bytes = true; }

size_t xlm_lines_mark(const char *text, size_t size)
{
    static const char mark[] = "\xef\xbb\xbf";
    return size >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0 ? sizeof mark - 1 : 0;
}

size_t xlm_lines_end(const char *line, size_t size) { return size > 0 && line[size - 1] == '\r' ? size - 1 : size; }

bool xlm_lines_check_text(const xlm_lines *lines, const char *text, size_t length, GError **error)
{
    const size_t valid = xlm_utf8_check(text, length);
    if (memchr(text, '\0', length) != NULL)
        return xlm_error_set(error, EX_DATAERR, "%s:%" G_GINT64_FORMAT ": a byte 0; is this a text file?", lines->path,
                             lines->number);
    return valid == length ||
           xlm_error_set(error, EX_DATAERR, "%s:%" G_GINT64_FORMAT ": byte %zu: not UTF-8 (0x%02x); convert the file, for "
                         "example with iconv", lines->path, lines->number, valid + 1, (unsigned char)text[valid]);
}

/* The line without the byte order mark of its file and without CR. */
static void strip(const xlm_lines *lines, const char **text, size_t *length)
{
    const size_t mark = lines->number == 1 ? xlm_lines_mark(*text, *length) : 0;
    *text += mark;
    *length = xlm_lines_end(*text, *length - mark);
}

int xlm_lines_next(xlm_lines *lines, const char **text, size_t *length, GError **error)
{
    size_t searched = 0; /* bytes of this line known to hold no LF */
    for (;;) {
        const char *from = lines->buffer + lines->begin;
        const size_t available = lines->end - lines->begin;
        const char *stop = memchr(from + searched, '\n', available - searched);
        if (stop != NULL || (lines->ended && available > 0)) {
            *text = from;
            *length = stop != NULL ? (size_t)(stop - from) : available;
            lines->terminated = stop != NULL;
            lines->begin += *length + lines->terminated;
            lines->number++;
            if (!lines->keeps_bytes)
                strip(lines, text, length);
            return 1;
        }
        if (lines->ended)
            return 0;
        searched = available;
        if (!read_more(lines, error))
            return -1;
    }
}

int64_t xlm_lines_bytes(xlm_lines *lines, char *bytes, size_t n, GError **error)
{
    const bool first = lines->begin == 0 && lines->end == 0;
    if (lines->begin == lines->end && !lines->ended && !read_more(lines, error))
        return -1;
    while (first && lines->end < 3 && !lines->ended)
        if (!read_more(lines, error))
            return -1;
    if (first && !lines->keeps_bytes)
        lines->begin += xlm_lines_mark(lines->buffer, lines->end);
    const size_t got = MIN(n, lines->end - lines->begin);
    memcpy(bytes, lines->buffer + lines->begin, got);
    lines->begin += got;
    return (int64_t)got;
}

int64_t xlm_lines_skip(xlm_lines *lines, int64_t n, GError **error)
{
    const char *text;
    size_t length;
    for (int64_t i = 0; i < n; i++) {
        const int got = xlm_lines_next(lines, &text, &length, error);
        if (got != 1)
            return got < 0 ? -1 : i;
    }
    return n;
}

int64_t xlm_lines_offset(const xlm_lines *lines)
{
    const int64_t told = lines->file != NULL      ? xlm_gzip_told(lines->file)
                         : lines->archive != NULL ? xlm_archive_told(lines->archive)
                                                  : lines->told;
    return told - (int64_t)(lines->end - lines->begin);
}

bool xlm_lines_seek(xlm_lines *lines, int64_t offset, int64_t number, GError **error)
{
    if (!know_kind(lines, error) || (lines->archive != NULL && !xlm_archive_seek(lines->archive, offset, error)))
        return false;
    errno = 0;
    xlm_gzip_state state;
    if (lines->file != NULL && !xlm_gzip_seek(lines->file, offset, &state))
        return xlm_error_set(error, EX_IOERR, "%s: cannot be read from line %" G_GINT64_FORMAT ": %s", lines->path, number + 1,
                             errno != 0 ? g_strerror(errno) : "no such place");
    lines->begin = lines->end = 0;
    lines->told = offset;
    lines->ended = lines->terminated = false;
    lines->number = number;
    return true;
}

bool xlm_lines_terminated(const xlm_lines *lines) { return lines->terminated; }
const char *xlm_lines_path(const xlm_lines *lines) { return lines->path; }
int64_t xlm_lines_number(const xlm_lines *lines) { return lines->number; }

int64_t xlm_lines_position(const xlm_lines *lines)
{
    return lines->file != NULL      ? xlm_gzip_position(lines->file)
           : lines->archive != NULL ? xlm_archive_position(lines->archive)
                                    : lines->told;
}

bool xlm_lines_each(const char *path, xlm_lines_take *take, void *data, GError **error)
{
    g_autoptr(xlm_lines) lines = xlm_lines_open(path, error);
    if (lines == NULL)
        return false;
    const char *text;
    size_t length;
    int more = 0;
    bool good = true;
    while (good && (more = xlm_lines_next(lines, &text, &length, error)) > 0) {
        g_autofree char *line = g_strndup(text, length);
        good = xlm_lines_check_text(lines, text, length, error) && take(data, lines, line, error);
    }
    return good && more == 0;
}
