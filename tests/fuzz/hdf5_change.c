/* xlm-mpi: a good HDF5 file changed as the fuzz input says. SPDX-License-Identifier: GPL-3.0-or-later */
#include "hdf5_change.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/hostile.h"

enum { MAX_CHANGES = 8, MAX_ELEMENTS = 4096 };

struct fuzz_original {
    char *name, *bytes;
    gsize size;
};

static GPtrArray *structures; /* of all originals, for the mutator */

fuzz_original *fuzz_original_read(const char *path)
{
    fuzz_original *original = g_new0(fuzz_original, 1);
    original->name = g_path_get_basename(path);
    fuzz_require(g_file_get_contents(path, &original->bytes, &original->size, NULL), "the good file can be read");
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    fuzz_require(file >= 0, "the good file is HDF5");
    if (structures == NULL)
        structures = g_ptr_array_new();
    g_ptr_array_add(structures, fuzz_structure_read(file));
    H5Fclose(file);
    return original;
}

/* ---- a line ---- */

typedef enum { INTEGER, REAL, TEXT, SHAPE, NOTHING, ELEMENT, COPY, BYTE, UNSEALED, CHOOSE } form;

static const struct word {
    const char *name;
    change_kind kind;
    form form;
} words[] = {
    {"int", SET_INT, INTEGER}, {"unsigned", SET_UNSIGNED, INTEGER}, {"two", SET_TWO, INTEGER}, {"real", SET_REAL, REAL},
    {"text", SET_TEXT, TEXT}, {"remove", REMOVE, NOTHING}, {"reshape", RESHAPE, SHAPE}, {"missing", UNALLOCATED, SHAPE},
    {"outside", EXTERNAL, NOTHING}, {"ints", RETYPE_INT, INTEGER}, {"reals", RETYPE_REAL, REAL}, {"texts", RETYPE_TEXT, NOTHING},
    {"link", SOFT_LINK, TEXT}, {"outer", OUTER_LINK, TEXT}, {"second", SECOND_NAME, TEXT}, {"element", ELEMENT_INT, ELEMENT},
    {"copy", REMOVE, COPY}, {"byte", REMOVE, BYTE}, {"unsealed", REMOVE, UNSEALED}, {"choose", REMOVE, CHOOSE}};

typedef struct line {
    const struct word *word;
    char *place, *rest; /* rest: what follows the place, "" when nothing does */
} line;

/* Splits a line, without its end, into its parts. */
static bool parse_line(char *text, line *l)
{
    *l = (line){.place = strchr(text, ' '), .rest = text + strlen(text)};
    if (l->place == NULL)
        return false;
    *l->place++ = '\0';
    char *end = strchr(l->place, ' ');
    if (end != NULL) {
        *end = '\0';
        l->rest = end + 1;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (strcmp(text, words[i].name) == 0)
            l->word = &words[i];
    return l->word != NULL;
}

static bool parse_integer(char **text, int64_t *number)
{
    char *end;
    errno = 0;
    *number = g_ascii_strtoll(*text, &end, 10);
    const bool good = end != *text && errno == 0;
    *text = end;
    return good;
}

static bool parse_real(char *text, double *number)
{
    char *end;
    *number = g_ascii_strtod(text, &end);
    return end != text;
}

static char **split_lines(const uint8_t *data, size_t size)
{
    char *text = g_strndup((const char *)data, size), **lines = g_strsplit(text, "\n", MAX_CHANGES + 1);
    if (g_strv_length(lines) > MAX_CHANGES)
        g_clear_pointer(&lines[MAX_CHANGES], g_free);
    g_free(text);
    return lines;
}

int fuzz_choose(const uint8_t *data, size_t size, int n)
{
    char **lines = split_lines(data, size);
    int64_t number = 0;
    for (char **text = lines; *text != NULL; text++) {
        line l;
        if (parse_line(*text, &l) && l.word->form == CHOOSE && !parse_integer(&l.place, &number))
            number = 0;
    }
    g_strfreev(lines);
    return (int)((uint64_t)number % (uint64_t)n);
}

/* ---- changes ---- */

static int64_t dataset_class(hid_t file, const char *path)
{
    const hid_t d = H5Dopen2(file, path, H5P_DEFAULT), type = d >= 0 ? H5Dget_type(d) : H5I_INVALID_HID;
    const H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    if (type >= 0)
        H5Tclose(type);
    if (d >= 0)
        H5Dclose(d);
    return class;
}

static bool parse_element(hid_t file, line *l, change *c)
{
    int64_t place;
    if (!parse_integer(&l->rest, &place) || place < 0)
        return false;
    char *value = l->rest + (*l->rest == ' ');
    switch (dataset_class(file, c->object)) {
    case H5T_INTEGER:
        c->r = (double)place; /* as ELEMENT_INT has it */
        return parse_integer(&value, &c->i);
    case H5T_FLOAT:
        c->kind = ELEMENT_REAL;
        c->i = place;
        return parse_real(value, &c->r);
    case H5T_STRING:
        c->kind = ELEMENT_TEXT;
        c->i = place;
        c->text = value;
        return true;
    default:
        return false;
    }
}

static bool parse_shape(char *text, change *c)
{
    c->j = 0;
    if (!parse_integer(&text, &c->i) || (*text != '\0' && !parse_integer(&text, &c->j)))
        return false;
    if (c->kind == RESHAPE)
        return c->i >= 0 && c->i <= MAX_ELEMENTS && c->j >= 0 && c->i * MAX(c->j, 1) <= MAX_ELEMENTS;
    return c->i >= 0 && c->j >= 0;
}

static bool copy_object(hid_t file, const char *from, const char *to)
{
    const bool good = H5Lexists(file, to, H5P_DEFAULT) <= 0 || H5Ldelete(file, to, H5P_DEFAULT) >= 0;
    return good && H5Ocopy(file, from, file, to, H5P_DEFAULT, H5P_DEFAULT) >= 0;
}

static bool apply_line(hid_t file, line *l)
{
    change c = {.object = l->place, .kind = l->word->kind, .text = l->rest};
    char *at = strchr(l->place, '@');
    if (at != NULL) {
        *at = '\0';
        c.name = at + 1;
    }
    if ((c.kind <= SET_TWO && c.name == NULL) || (c.kind > REMOVE && c.name != NULL) || c.object[0] != '/')
        return false;
    if ((c.kind == REMOVE || c.kind >= SOFT_LINK) && c.name == NULL && c.object[1] == '\0')
        return false;
    bool good = true;
    switch (l->word->form) {
    case INTEGER: good = parse_integer(&l->rest, &c.i); break;
    case REAL: good = parse_real(l->rest, &c.r); break;
    case SHAPE: good = parse_shape(l->rest, &c); break;
    case ELEMENT: good = parse_element(file, l, &c); break;
    case COPY: return copy_object(file, c.object, l->rest);
    default: break;
    }
    return good && apply_change(file, &c);
}

/* A copy of the good file. */
static hid_t open_copy(const char *path)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, access);
    H5Pclose(access);
    fuzz_require(file >= 0, "the good file can be opened");
    return file;
}

static void note(const char *text, bool made)
{
    if (!made)
        fuzz_note("not possible", text);
    if (g_getenv("XLM_FUZZ_SHOW") != NULL)
        fprintf(stderr, "%s%s\n", text, made ? "" : " (not possible)");
}

static void change_file(hid_t file, char **lines, GString *bytes, bool after)
{
    for (char **text = lines; *text != NULL; text++) {
        char *copy = g_strcompress(*text);
        line l;
        const bool known = parse_line(copy, &l), is_byte = known && l.word->form == BYTE;
        if (!known && !after && *copy != '\0') {
            note(*text, false);
        } else if (known && l.word->form < UNSEALED && is_byte == after) {
            int64_t place, value;
            const bool made = !is_byte ? apply_line(file, &l)
                                       : parse_integer(&l.place, &place) && parse_integer(&l.rest, &value) && place >= 0 &&
                                         (gsize)place < bytes->len;
            if (made && is_byte)
                bytes->str[place] = (char)value;
            note(*text, made);
        }
        g_free(copy);
    }
}

static bool has_line(char **lines, const char *begin)
{
    for (; *lines != NULL; lines++)
        if (g_str_has_prefix(*lines, begin))
            return true;
    return false;
}

const char *fuzz_original_change(const fuzz_original *original, const uint8_t *data, size_t size)
{
    char **lines = split_lines(data, size);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const char *path = fuzz_write(original->name, original->bytes, original->size);
    const hid_t file = open_copy(path);
    change_file(file, lines, NULL, false);
    H5Fclose(file);
    if (!has_line(lines, "unsealed "))
        xlm_store_reseal(path, NULL); /* what cannot be sealed is refused for it */
    if (has_line(lines, "byte ")) {
        char *bytes;
        gsize sealed;
        fuzz_require(g_file_get_contents(path, &bytes, &sealed, NULL), "the changed file can be read");
        GString *whole = g_string_new_len(bytes, (gssize)sealed);
        change_file(-1, lines, whole, true);
        fuzz_write(original->name, whole->str, whole->len);
        g_string_free(whole, TRUE);
        g_free(bytes);
    }
    g_strfreev(lines);
    return path;
}

/* Called by libFuzzer where there is one; replay.c does not. Targets of text have no structure: their bytes are mutated. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    if (structures == NULL)
        return fuzz_fields_mutate(data, size, room, seed);
    return fuzz_structure_mutate((fuzz_structure *const *)structures->pdata, (int)structures->len, data, size, room, seed);
}
