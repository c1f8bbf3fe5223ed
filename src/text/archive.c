/* xlm-mpi: compressed files and files in archives, by libarchive. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "text/gzip.h"

struct xlm_archive {
    char *path, *name, *member;
    struct archive *from;
    xlm_gzip *gzip; /* what `from` reads, and closes; NULL: a file */
    int64_t told;
    bool ended;
};

enum { BLOCK = 1 << 17, MAX_SHOWN = 5 };

/* ---- kinds ---- */

struct beginning {
    xlm_archive_kind kind;
    size_t place, size;
    const char *bytes;
};

/* The bytes of bzip2 are those of a block, or of the end of a stream without any: a text could begin with "BZh". Those of zstd
 * are of a frame with data, or, after a byte 5x, of one that is skipped, such as pzstd writes. */
static const struct beginning beginnings[] = {
    {{"xz", ".xz", "xz -dc"}, 0, 6, "\xfd" "7zXZ\0"},
    {{"bzip2", ".bz2", "bzip2 -dc"}, 4, 6, "1AY&SY"},
    {{"bzip2", ".bz2", "bzip2 -dc"}, 4, 6, "\x17\x72\x45\x38\x50\x90"},
    {{"zstd", ".zst", "zstd -dc"}, 0, 4, "\x28\xb5\x2f\xfd"},
    {{"zstd", ".zst", "zstd -dc"}, 1, 3, "\x2a\x4d\x18"},
    {{"lz4", ".lz4", "lz4 -dc"}, 0, 4, "\x04\x22\x4d\x18"},
    {{"lzip", ".lz", "lzip -dc"}, 0, 5, "LZIP\1"},
    {{"compress", ".Z", "uncompress -c"}, 0, 2, "\x1f\x9d"},
    {{"zip", ".zip", NULL}, 0, 4, "PK\3\4"},
    {{"zip", ".zip", NULL}, 0, 4, "PK\5\6"},
    {{"7-Zip", ".7z", NULL}, 0, 6, "7z\xbc\xaf\x27\x1c"},
    {{"tar", ".tar", NULL}, 257, 5, "ustar"},
};

/* Are the bytes before those of the beginning right? */
static bool begins_so(const struct beginning *b, const char *bytes)
{
    if (strcmp(b->kind.name, "bzip2") == 0)
        return memcmp(bytes, "BZh", 3) == 0;
    return strcmp(b->kind.name, "zstd") != 0 || b->place == 0 || ((unsigned char)bytes[0] & 0xf0) == 0x50;
}

const xlm_archive_kind *xlm_archive_kind_of(const char *bytes, size_t n)
{
    for (size_t i = 0; i < G_N_ELEMENTS(beginnings); i++) {
        const struct beginning *b = &beginnings[i];
        if (n >= b->place + b->size && memcmp(bytes + b->place, b->bytes, b->size) == 0 && begins_so(b, bytes))
            return &b->kind;
    }
    return NULL;
}

const xlm_archive_kind *xlm_archive_kind_claimed(const char *path)
{
    for (size_t i = 0; i < G_N_ELEMENTS(beginnings); i++)
        if (g_str_has_suffix(path, beginnings[i].kind.suffix))
            return &beginnings[i].kind;
    return NULL;
}

char *xlm_archive_plain_name(const char *path)
{
    const xlm_archive_kind *kind = xlm_archive_kind_claimed(path);
    const char *compressed = kind != NULL ? kind->suffix : ".gz";
    return g_strndup(path, strlen(path) - (g_str_has_suffix(path, compressed) ? strlen(compressed) : 0));
}

/* ---- opening ---- */

/* Not all that libarchive supports: for some it would start other programs. */
static bool support(struct archive *from, bool archive)
{
    bool good = archive_read_support_filter_gzip(from) == ARCHIVE_OK && archive_read_support_filter_xz(from) == ARCHIVE_OK &&
                archive_read_support_filter_bzip2(from) == ARCHIVE_OK && archive_read_support_filter_zstd(from) == ARCHIVE_OK &&
                archive_read_support_filter_lz4(from) == ARCHIVE_OK && archive_read_support_filter_lzip(from) == ARCHIVE_OK &&
                archive_read_support_filter_compress(from) == ARCHIVE_OK;
    if (archive)
        return good && archive_read_support_format_zip(from) == ARCHIVE_OK &&
               archive_read_support_format_tar(from) == ARCHIVE_OK && archive_read_support_format_7zip(from) == ARCHIVE_OK;
    return good && archive_read_support_format_raw(from) == ARCHIVE_OK && archive_read_support_format_empty(from) == ARCHIVE_OK;
}

static bool failed(const char *path, struct archive *from, const char *what, GError **error)
{
    const int number = archive_errno(from);
    const char *text = archive_error_string(from);
    const int code = number == EIO ? EX_IOERR : number == EACCES || number == ENOENT ? EX_NOINPUT : EX_DATAERR;
    return xlm_error_set(error, code, "%s: %s: %s; get or make the file again", path, what,
                         text != NULL ? text : "unknown error");
}

/* ---- archives in gzip, whose checksum libarchive does not compare ---- */

struct unpacked {
    xlm_gzip *gzip;
    char block[BLOCK];
};

static la_ssize_t read_unpacked(struct archive *from, void *data, const void **block)
{
    struct unpacked *u = data;
    xlm_gzip_state state;
    const size_t got = xlm_gzip_read(u->gzip, u->block, sizeof u->block, &state);
    *block = u->block;
    if (state == XLM_GZIP_GOOD)
        return (la_ssize_t)got;
    archive_set_error(from, state == XLM_GZIP_UNREADABLE ? EIO : EILSEQ, "%s",
                      state == XLM_GZIP_UNREADABLE ? g_strerror(errno) : "gzip data");
    return -1;
}

static int close_unpacked(struct archive *from, void *data)
{
    struct unpacked *u = data;
    (void)from;
    xlm_gzip_close(u->gzip);
    g_free(u);
    return ARCHIVE_OK;
}

/* [out] gzip: NULL where the file is not gzip. */
static int open_file(struct archive *from, const char *path, xlm_gzip **gzip)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    *gzip = descriptor >= 0 ? xlm_gzip_new(descriptor) : NULL;
    if (*gzip == NULL || xlm_gzip_is_plain(*gzip)) {
        xlm_gzip_close(*gzip);
        *gzip = NULL;
        return archive_read_open_filename(from, path, BLOCK);
    }
    struct unpacked *u = g_new(struct unpacked, 1);
    u->gzip = *gzip;
    return archive_read_open(from, u, NULL, read_unpacked, close_unpacked);
}

/* Read on to the end of the file, where gzip has its checksum. */
static bool check_rest(const xlm_archive *a, GError **error)
{
    g_autofree char *rest = g_malloc(BLOCK);
    xlm_gzip_state state = XLM_GZIP_GOOD;
    while (a->gzip != NULL && xlm_gzip_read(a->gzip, rest, BLOCK, &state) > 0)
        continue;
    return state == XLM_GZIP_GOOD || xlm_error_set(error, EX_DATAERR, "%s: damaged or cut short; get or make the file again",
                                                   a->name);
}

/* [out] gzip: what the archive reads, and closes; NULL where the file is not gzip. */
static struct archive *begin(const char *path, const char *name, bool archive, xlm_gzip **gzip, GError **error)
{
    struct archive *from = archive_read_new();
    struct stat status;
    if (from == NULL || stat(path, &status) != 0)
        xlm_error_set(error, EX_NOINPUT, "%s: %s", name, from == NULL ? g_strerror(ENOMEM) : g_strerror(errno));
    else if (!support(from, archive))
        xlm_error_set(error, EX_SOFTWARE, "%s: the installed libarchive cannot read this: %s", name, archive_error_string(from));
    else if (open_file(from, path, gzip) != ARCHIVE_OK)
        failed(name, from, "damaged or cut short", error);
    else
        return from;
    if (from != NULL)
        archive_read_free(from);
    *gzip = NULL;
    return NULL;
}

static const char *name_of(struct archive_entry *entry)
{
    const char *name = archive_entry_pathname_utf8(entry);
    name = name != NULL ? name : archive_entry_pathname(entry);
    return name == NULL ? "" : g_str_has_prefix(name, "./") ? name + 2 : name;
}

/* Go to the member, or, if none is wanted, to the end. Adds the names of the files passed. 1: found, 0: not there, -1 with
 * *error. */
static int find_member(const char *path, struct archive *from, const char *member, GPtrArray *names, GError **error)
{
    struct archive_entry *entry;
    int got;
    while ((got = archive_read_next_header(from, &entry)) == ARCHIVE_OK || got == ARCHIVE_WARN) {
        if (archive_entry_filetype(entry) != AE_IFREG)
            continue;
        if (member != NULL && strcmp(name_of(entry), member) == 0)
            return 1;
        g_ptr_array_add(names, g_strdup(name_of(entry)));
    }
    return got == ARCHIVE_EOF ? 0 : (failed(path, from, "damaged or cut short", error), -1);
}

static char *list(const GPtrArray *names)
{
    g_autoptr(GString) text = g_string_new(names->len == 0 ? "no files" : NULL);
    for (guint i = 0; i < MIN(names->len, MAX_SHOWN); i++)
        g_string_append_printf(text, "%s%s", i > 0 ? ", " : "", (const char *)names->pdata[i]);
    if (names->len > MAX_SHOWN)
        g_string_append_printf(text, " and %u more", names->len - MAX_SHOWN);
    return g_strdup(text->str);
}

static bool open_member(xlm_archive *a, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    const int found = find_member(a->name, a->from, a->member, names, error);
    if (found != 0)
        return found > 0;
    g_autofree char *all = list(names);
    return xlm_error_set(error, EX_NOINPUT, "%s: there is no file %s in this archive; it has %s", a->name, a->member, all);
}

bool xlm_archive_refuse(const char *path, const xlm_archive_kind *kind, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    xlm_gzip *gzip;
    struct archive *from = begin(path, path, true, &gzip, error);
    if (from == NULL)
        return false;
    const int found = find_member(path, from, NULL, names, error);
    archive_read_free(from);
    if (found < 0)
        return false;
    g_autofree char *all = list(names);
    return xlm_error_set(error, EX_DATAERR, "%s: is an archive (%s), not a text; say which of its files, as %s/NAME: %s", path,
                         kind->name, path, all);
}

static bool open_compressed(xlm_archive *a, GError **error)
{
    struct archive_entry *entry;
    const int got = archive_read_next_header(a->from, &entry);
    a->ended = got == ARCHIVE_EOF; /* compressed from nothing */
    return got == ARCHIVE_OK || got == ARCHIVE_WARN || got == ARCHIVE_EOF ||
           failed(a->name, a->from, "damaged or cut short", error);
}

static bool open_again(xlm_archive *a, GError **error)
{
    if (a->from != NULL)
        archive_read_free(a->from);
    a->told = 0;
    a->ended = false;
    a->from = begin(a->path, a->name, a->member != NULL, &a->gzip, error);
    return a->from != NULL && (a->member != NULL ? open_member : open_compressed)(a, error);
}

xlm_archive *xlm_archive_open(const char *path, const char *name, const char *member, GError **error)
{
    xlm_archive *a = g_new0(xlm_archive, 1);
    *a = (xlm_archive){.path = g_strdup(path), .name = g_strdup(name), .member = g_strdup(member)};
    if (open_again(a, error))
        return a;
    xlm_archive_close(a);
    return NULL;
}

bool xlm_archive_decompresses(const xlm_archive *archive)
{
    return archive_filter_code(archive->from, 0) != ARCHIVE_FILTER_NONE;
}

void xlm_archive_close(xlm_archive *archive)
{
    if (archive == NULL)
        return;
    if (archive->from != NULL)
        archive_read_free(archive->from);
    g_free(archive->path);
    g_free(archive->name);
    g_free(archive->member);
    g_free(archive);
}

/* ---- reading ---- */

/* The end of a member, or of a compressed file: libarchive takes it to be before the first bytes that are not compressed in the
 * same way. */
static bool check_end(const xlm_archive *a, GError **error)
{
    struct stat status;
    if (a->member != NULL)
        return check_rest(a, error);
    return stat(a->path, &status) != 0 || xlm_archive_position(a) >= status.st_size ||
           xlm_error_set(error, EX_DATAERR, "%s: what follows the compressed data after %" G_GINT64_FORMAT " bytes of text is "
                         "not compressed in the same way; get or make the file again", a->name, a->told);
}

int64_t xlm_archive_read(xlm_archive *archive, char *bytes, size_t n, GError **error)
{
    if (archive->ended || archive->from == NULL) /* NULL: it could not be opened again */
        return 0;
    la_ssize_t got;
    do
        got = archive_read_data(archive->from, bytes, n);
    while (got == ARCHIVE_RETRY);
    if (got < 0) {
        g_autofree char *what = g_strdup_printf("damaged or cut short after %" G_GINT64_FORMAT " bytes of text", archive->told);
        failed(archive->name, archive->from, what, error);
        return -1;
    }
    archive->told += got;
    return got > 0 || n == 0 || check_end(archive, error) ? got : -1;
}

int64_t xlm_archive_told(const xlm_archive *archive) { return archive->told; }

bool xlm_archive_seek(xlm_archive *archive, int64_t place, GError **error)
{
    if (place < archive->told && !open_again(archive, error))
        return false;
    g_autofree char *skipped = g_malloc(BLOCK);
    int64_t got = 1;
    while (archive->told < place && got > 0)
        got = xlm_archive_read(archive, skipped, (size_t)MIN(BLOCK, place - archive->told), error);
    return got >= 0;
}

int64_t xlm_archive_position(const xlm_archive *archive)
{
    if (archive->gzip != NULL)
        return xlm_gzip_position(archive->gzip);
    return archive->from != NULL ? archive_filter_bytes(archive->from, -1) : 0;
}
