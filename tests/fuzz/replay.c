/* xlm-mpi: run a fuzz target on files, where there is no libFuzzer. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   tests/fuzz/html FILE|DIRECTORY|ARCHIVE.tar.xz|TABLE.cases...
 *
 * Each file is one input, of a directory or an archive every file. A table has an input a line, and what must become of it:
 *
 *   refused: WORDS<tab>INPUT        WORDS are part of an error
 *   refused<tab>INPUT               any error
 *   read<tab>INPUT                  no error
 *
 * with the escapes of C in both; a line that begins with # is a comment, and a part "\{N TEXT}" is the text N times. An input
 * that takes more than a minute ends the program, as libFuzzer's does. What readers say is printed.
 *
 *   tests/fuzz/html -f N INPUTS...   N changes of these inputs: new errors, as lines for a table
 *   tests/fuzz/html -w DIRECTORY INPUTS...   write each input of tables and archives into a file of its own */
#include "fuzz.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 60, ROOM = 1 << 16, LARGEST_KEPT = 4096 };

static int failures;
static GPtrArray *inputs;       /* -f, -w: kept, and not run */

static void run(const char *bytes, size_t size)
{
    fflush(stdout);
    alarm(LONGEST);
    /* In memory of just this size, so that a byte too far is found. */
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL)
        exit(EX_OSERR);
    memcpy(copy, bytes, size);
    LLVMFuzzerTestOneInput(copy, size);
    alarm(0);
    free(copy);
}

static void get_contents(const char *path, char **bytes, gsize *size)
{
    GError *error = NULL;
    if (g_file_get_contents(path, bytes, size, &error))
        return;
    fprintf(stderr, "%s\n", error->message);
    exit(EX_NOINPUT);
}

static void take_input(const char *name, const char *bytes, gsize size)
{
    if (inputs != NULL) {
        g_ptr_array_add(inputs, g_string_new_len(bytes, (gssize)size));
        return;
    }
    printf("%s\n", name);
    run(bytes, size);
    printf("%s", fuzz_outcome());
}

static int run_file(const char *path)
{
    char *bytes;
    gsize size;
    get_contents(path, &bytes, &size);
    take_input(path, bytes, size);
    g_free(bytes);
    return 1;
}

static gint by_name(gconstpointer a, gconstpointer b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static int run_directory(const char *path, GDir *directory)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; (name = g_dir_read_name(directory)) != NULL;)
        g_ptr_array_add(names, g_build_filename(path, name, NULL));
    g_ptr_array_sort(names, by_name);
    int n = 0;
    for (guint i = 0; i < names->len; i++)
        n += run_file(names->pdata[i]);
    g_ptr_array_unref(names);
    return n;
}

/* ---- archives ---- */

static void require_read(bool good, const char *path, struct archive *from)
{
    if (good)
        return;
    fprintf(stderr, "%s: %s\n", path, archive_error_string(from));
    exit(EX_DATAERR);
}

/* What campaigns have kept (keep.sh). */
static int run_archive(const char *path)
{
    struct archive *from = archive_read_new();
    struct archive_entry *entry;
    require_read(archive_read_support_filter_xz(from) == ARCHIVE_OK && archive_read_support_format_tar(from) == ARCHIVE_OK &&
                     archive_read_open_filename(from, path, ROOM) == ARCHIVE_OK,
                 path, from);
    int n = 0, got;
    for (; (got = archive_read_next_header(from, &entry)) == ARCHIVE_OK; n++) {
        const gint64 size = archive_entry_size(entry);
        fuzz_require(size >= 0 && size <= LARGEST_KEPT, "an input in an archive has at most 4096 bytes");
        char bytes[LARGEST_KEPT], *name = g_build_filename(path, archive_entry_pathname(entry), NULL);
        require_read(archive_read_data(from, bytes, (size_t)size) == size, path, from);
        take_input(name, bytes, (gsize)size);
        g_free(name);
    }
    require_read(got == ARCHIVE_EOF, path, from);
    archive_read_free(from);
    return n;
}

/* ---- tables ---- */

/* Escapes of C, where \0 is a byte too, and repetitions. */
static GString *decode(const char *text)
{
    GString *out = g_string_new(NULL);
    while (*text != '\0') {
        char *rest;
        if (g_str_has_prefix(text, "\\{")) {
            long times = strtol(text + 2, &rest, 10);
            const char *end = strchr(rest, '}');
            fuzz_require(*rest == ' ' && end != NULL && times > 0, "a repetition is \\{N TEXT}");
            char *inner = g_strndup(rest + 1, (gsize)(end - rest - 1));
            GString *part = decode(inner);
            for (; times > 0; times--)
                g_string_append_len(out, part->str, (gssize)part->len);
            g_string_free(part, TRUE);
            g_free(inner);
            text = end + 1;
        } else if (g_str_has_prefix(text, "\\x")) {
            fuzz_require(g_ascii_isxdigit(text[2]) && g_ascii_isxdigit(text[3]), "\\x has two digits");
            g_string_append_c(out, (char)(g_ascii_xdigit_value(text[2]) << 4 | g_ascii_xdigit_value(text[3])));
            text += 4;
        } else if (*text == '\\') {
            static const char letters[] = "nrt0\\", bytes[] = "\n\r\t\0\\";
            const char *letter = text[1] != '\0' ? strchr(letters, text[1]) : NULL;
            fuzz_require(letter != NULL, "an escape is one of \\n \\r \\t \\0 \\\\ \\xNN \\{N TEXT}");
            g_string_append_c(out, bytes[letter - letters]);
            text += 2;
        } else {
            g_string_append_c(out, *text++);
        }
    }
    return out;
}

static void run_case(const char *table, int number, const char *line)
{
    static const char refused[] = "refused: ";
    const char *tab = strchr(line, '\t');
    const bool is_read = g_str_has_prefix(line, "read\t"), any = g_str_has_prefix(line, "refused\t");
    fuzz_require(tab != NULL && (is_read || any || g_str_has_prefix(line, refused)),
                 "a case is refused: WORDS<tab>INPUT, refused<tab>INPUT or read<tab>INPUT");
    char *expected = is_read ? NULL : any ? g_strdup("\n")
                                          : g_strndup(line + strlen(refused), (gsize)(tab - line) - strlen(refused));
    GString *input = decode(tab + 1), *words = decode(expected != NULL ? expected : "");
    if (inputs != NULL) {
        g_ptr_array_add(inputs, input);
        g_string_free(words, TRUE);
        g_free(expected);
        return;
    }
    printf("%s:%d\n", table, number);
    run(input->str, input->len);
    const char *outcome = fuzz_outcome();
    printf("%s", outcome);
    const bool good = expected == NULL ? *outcome == '\0' : strstr(outcome, words->str) != NULL;
    if (!good || strstr(outcome, "not possible: ") != NULL) {
        printf("FAILED: %s:%d: must be %s%s\n", table, number, expected != NULL ? refused : "read", words->str);
        failures++;
    }
    g_string_free(input, TRUE);
    g_string_free(words, TRUE);
    g_free(expected);
}

static int run_table(const char *path)
{
    char *text;
    gsize size;
    get_contents(path, &text, &size);
    char **lines = g_strsplit(text, "\n", -1);
    int n = 0;
    for (int i = 0; lines[i] != NULL; i++)
        if (*lines[i] != '\0' && *lines[i] != '#') {
            run_case(path, i + 1, lines[i]);
            n++;
        }
    g_strfreev(lines);
    g_free(text);
    return n;
}

/* ---- new errors ---- */

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

enum { WORDS = 48 };

/* The beginning of an error, without the file: enough to know it by. g_free. */
static char *known_words(const char *message)
{
    const char *begin = *message == '/' ? strstr(message, ":") : NULL;
    begin = begin != NULL ? begin + 1 : message;
    begin += *begin == ' ';
    size_t n = strcspn(begin, ";\n");
    if (n > WORDS)
        for (n = WORDS; n > 0 && begin[n] != ' '; n--)
            ;
    return g_strndup(begin, n > 0 ? n : strcspn(begin, "\n"));
}

static void print_escaped(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)bytes[i];
        if (c == '\n')
            printf("\\n");
        else if (c == '\t')
            printf("\\t");
        else if (c == '\\')
            printf("\\\\");
        else if (c < ' ' || c == 127 || c >= 128)
            printf("\\x%02x", c);
        else
            putchar(c);
    }
}

/* An error without its numbers and quotations. g_free. */
static char *kind_of(const char *words)
{
    static GRegex *numbers;
    if (numbers == NULL)
        numbers = g_regex_new("-?[0-9][0-9.e+-]*|nan|-?inf|\"[^\"]*\"|\\x60[^\\x60]*\\x60", G_REGEX_RAW, 0, NULL);
    return g_regex_replace_literal(numbers, words, -1, 0, "#", 0, NULL);
}

/* Does the input get such an error? *words: as it says it; g_free. */
static bool gets(const GString *input, const char *kind, char **words)
{
    run(input->str, input->len);
    char **lines = g_strsplit(fuzz_outcome(), "\n", -1);
    bool found = false;
    for (char **line = lines; *line != NULL && !g_str_has_prefix(*line, "not possible") && !found; line++) {
        char *known = known_words(*line), *other = kind_of(known);
        found = strcmp(kind, other) == 0;
        if (found) {
            g_free(*words);
            *words = known;
        } else {
            g_free(known);
        }
        g_free(other);
    }
    g_strfreev(lines);
    return found;
}

/* Without the lines that the error does not need. */
static void print_shortest(GString *input, const char *kind)
{
    char *words = NULL;
    for (gsize at = 0; at < input->len;) {
        const char *end = memchr(input->str + at, '\n', input->len - at);
        const gsize n = end != NULL ? (gsize)(end - input->str) + 1 - at : input->len - at;
        GString *shorter = g_string_new_len(input->str, (gssize)input->len);
        g_string_erase(shorter, (gssize)at, (gssize)n);
        if (gets(shorter, kind, &words))
            g_string_erase(input, (gssize)at, (gssize)n);
        else
            at += n;
        g_string_free(shorter, TRUE);
    }
    if (gets(input, kind, &words)) {
        printf("refused: ");
        print_escaped(words, strlen(words));
        putchar('\t');
        print_escaped(input->str, input->len);
        putchar('\n');
    }
    g_free(words);
}

/* Errors that differ in more than numbers. */
static void find_errors(long n)
{
    GHashTable *seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    uint8_t *bytes = g_malloc(ROOM);
    run("", 0); /* what mutators know is known then */
    for (long i = -(long)inputs->len; i < n; i++) {
        const GString *input = inputs->pdata[i < 0 ? i + (long)inputs->len : i % (long)inputs->len];
        size_t size = MIN(input->len, ROOM);
        memcpy(bytes, input->str, size);
        if (i >= 0)
            size = LLVMFuzzerCustomMutator(bytes, size, ROOM, (unsigned)i * 2 + 1);
        run((char *)bytes, size);
        char **lines = g_strsplit(fuzz_outcome(), "\n", -1);
        for (char **line = lines; *line != NULL && **line != '\0' && !g_str_has_prefix(*line, "not possible"); line++) {
            char *words = known_words(*line), *kind = kind_of(words);
            if (g_hash_table_add(seen, kind)) {
                GString *found = g_string_new_len((char *)bytes, (gssize)size);
                print_shortest(found, kind);
                g_string_free(found, TRUE);
            }
            g_free(words);
        }
        g_strfreev(lines);
    }
    g_free(bytes);
    g_hash_table_unref(seen);
}

static void write_inputs(const char *directory)
{
    for (guint i = 0; i < inputs->len; i++) {
        const GString *input = inputs->pdata[i];
        char *path = g_strdup_printf("%s/case-%u", directory, i + 1);
        fuzz_require(g_file_set_contents(path, input->str, (gssize)input->len, NULL), "an input can be written");
        g_free(path);
    }
}

/* Every file, those of directories and archives, and cases of tables. */
static int run_all(int argc, char **argv)
{
    int n = 0;
    for (int i = 0; i < argc; i++) {
        GDir *directory = g_dir_open(argv[i], 0, NULL);
        if (directory != NULL) {
            n += run_directory(argv[i], directory);
            g_dir_close(directory);
        } else {
            n += (g_str_has_suffix(argv[i], ".cases")    ? run_table
                  : g_str_has_suffix(argv[i], ".tar.xz") ? run_archive
                                                         : run_file)(argv[i]);
        }
    }
    return n;
}

int main(int argc, char **argv)
{
    const bool find = argc > 3 && strcmp(argv[1], "-f") == 0, write = argc > 3 && strcmp(argv[1], "-w") == 0;
    if (find || write) {
        inputs = g_ptr_array_new();
        const int n = run_all(argc - 3, argv + 3);
        if (find && n > 0)
            find_errors(strtol(argv[2], NULL, 10));
        else
            write_inputs(argv[2]);
        return n > 0 ? EX_OK : EX_NOINPUT;
    }
    const int n = run_all(argc - 1, argv + 1);
    printf("%d inputs, %d failed\n", n, failures);
    if (n == 0)
        return EX_NOINPUT;
    return failures > 0 ? EXIT_FAILURE : EX_OK;
}
