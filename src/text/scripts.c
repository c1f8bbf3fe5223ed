/* xlm-mpi: letters of a text by their scripts. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text/scripts.h"

#include <string.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/uset.h>
#include <unicode/utf8.h>

#include "text/icu.h"

enum { BMP = 0x10000, MOST_SCRIPTS = 16 };
enum { LETTER = 1, THEIRS = 2 };

struct xlm_scripts {
    char *codes;
    USet *letters, *theirs; /* theirs: those of the scripts, a subset of the letters */
    uint8_t sort[BMP];      /* the same for most characters: 0, LETTER, or LETTER | THEIRS */
};

/* The characters with this value of a property. uset_close. */
static USet *characters_with(UProperty property, int32_t value)
{
    UErrorCode status = U_ZERO_ERROR;
    USet *set = uset_openEmpty();
    uset_applyIntPropertyValue(set, property, value, &status);
    xlm_icu_demand(status);
    return set;
}

static void remove_script(USet *set, UScriptCode script)
{
    USet *its = characters_with(UCHAR_SCRIPT_EXTENSIONS, script);
    uset_removeAll(set, its);
    uset_close(its);
}

static void mark(xlm_scripts *scripts, const USet *set, uint8_t sort)
{
    for (int32_t i = 0, n = uset_getItemCount(set); i < n; i++) {
        UChar32 start, end;
        UErrorCode status = U_ZERO_ERROR;
        if (uset_getItem(set, i, &start, &end, NULL, 0, &status) == 0) /* a range, not a string */
            for (UChar32 c = start; c <= end && c < BMP; c++)
                scripts->sort[c] |= sort;
        xlm_icu_demand(status);
    }
}

/* The letters of script[n]; NULL when one of them has none, whose number is *without. */
static xlm_scripts *of_scripts(const UScriptCode *script, int n, int *without)
{
    xlm_scripts *scripts = g_new0(xlm_scripts, 1);
    GString *codes = g_string_new(NULL);
    scripts->letters = characters_with(UCHAR_GENERAL_CATEGORY_MASK, U_GC_L_MASK);
    scripts->theirs = uset_openEmpty();
    remove_script(scripts->letters, USCRIPT_COMMON);
    remove_script(scripts->letters, USCRIPT_INHERITED);
    *without = -1;
    for (int i = 0; i < n; i++) {
        USet *its = characters_with(UCHAR_SCRIPT_EXTENSIONS, script[i]);
        uset_retainAll(its, scripts->letters);
        if (uset_isEmpty(its))
            *without = i;
        uset_addAll(scripts->theirs, its);
        uset_close(its);
        g_string_append_printf(codes, "%s%s", i > 0 ? "," : "", uscript_getShortName(script[i]));
    }
    scripts->codes = g_string_free(codes, FALSE);
    uset_freeze(scripts->letters);
    uset_freeze(scripts->theirs);
    mark(scripts, scripts->letters, LETTER);
    mark(scripts, scripts->theirs, THEIRS);
    if (*without >= 0)
        g_clear_pointer(&scripts, xlm_scripts_free);
    return scripts;
}

void xlm_scripts_free(xlm_scripts *scripts)
{
    if (scripts == NULL)
        return;
    uset_close(scripts->letters);
    uset_close(scripts->theirs);
    g_free(scripts->codes);
    g_free(scripts);
}

const char *xlm_scripts_codes(const xlm_scripts *scripts) { return scripts->codes; }

xlm_scripts *xlm_scripts_of_language(const char *language)
{
    UScriptCode script[MOST_SCRIPTS];
    UErrorCode status = U_ZERO_ERROR;
    int without;
    if (*language == '\0' || strcmp(language, "und") == 0) /* ICU takes these for English */
        return NULL;
    const int n = uscript_getCode(language, script, MOST_SCRIPTS, &status);
    return U_SUCCESS(status) && n > 0 ? of_scripts(script, n, &without) : NULL;
}

xlm_scripts *xlm_scripts_parse(const char *codes, GError **error)
{
    g_auto(GStrv) items = g_strsplit(codes, ",", -1);
    const int n = (int)g_strv_length(items);
    g_autofree UScriptCode *script = g_new(UScriptCode, n + 1);
    int wrong = -1;
    for (int i = 0; i < n && wrong < 0; i++) {
        script[i] = (UScriptCode)u_getPropertyValueEnum(UCHAR_SCRIPT, items[i]);
        wrong = (int)script[i] == UCHAR_INVALID_CODE ? i : -1;
    }
    xlm_scripts *scripts = wrong < 0 && n > 0 ? of_scripts(script, n, &wrong) : NULL;
    if (scripts == NULL)
        xlm_error_set(error, EX_USAGE, "\"%s\" is not a script with letters; give codes of ISO 15924, such as Latn, or "
                      "Hani,Hira,Kana for Japanese", n > 0 ? items[wrong] : codes);
    return scripts;
}

void xlm_scripts_count(const xlm_scripts *scripts, const char *text, size_t size, int64_t *letters, int64_t *theirs)
{
    *letters = *theirs = 0;
    for (size_t i = 0; i < size;) {
        UChar32 c;
        U8_NEXT_UNSAFE(text, i, c);
        const uint8_t sort = c < BMP ? scripts->sort[c]
                                     : (uset_contains(scripts->letters, c) ? LETTER : 0) |
                                           (uset_contains(scripts->theirs, c) ? THEIRS : 0);
        *letters += (sort & LETTER) != 0;
        *theirs += (sort & THEIRS) != 0;
    }
}
