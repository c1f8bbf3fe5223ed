/* xlm-mpi: words as Moses finds them, for XLM's tokenizer. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include "text/moses.h"
#include "text/moses_line.h"

/* ---- step 8 ---- */

static bool is_ignored_by_case(UChar32 c) { return u_hasBinaryProperty(c, UCHAR_CASE_IGNORABLE); }

/* Is Unicode's condition Final_Sigma true at this character: is there a cased letter before it and none after it, not counting
 * characters that are ignored for case? */
static bool is_final(const moses *m, guint at)
{
    const moses_letter *text = moses_letters(m);
    guint before = at, after = at + 1;
    while (before > 0 && is_ignored_by_case(text[before - 1].c))
        before--;
    while (after < m->text->len && is_ignored_by_case(text[after].c))
        after++;
    return before > 0 && u_hasBinaryProperty(text[before - 1].c, UCHAR_CASED) &&
           !(after < m->text->len && u_hasBinaryProperty(text[after].c, UCHAR_CASED));
}

/* Step 8. Marks are removed, so their order in Form D and the dot that lower case puts on a Turkish i do not matter. */
static void fold(moses *m)
{
    static const UChar32 SIGMA = 0x3A3, FINAL_SIGMA = 0x3C2;
    const moses_letter *text = moses_letters(m);
    for (guint i = 0; i < m->text->len; i++) {
        const UChar32 small = text[i].c == SIGMA && is_final(m, i) ? FINAL_SIGMA : u_tolower(text[i].c);
        UChar parts[32];
        UErrorCode status = U_ZERO_ERROR;
        const int32_t n = small < 0x80 ? -1 : unorm2_getDecomposition(m->form_d, small, parts, G_N_ELEMENTS(parts), &status);
        if (n < 0 && (small < 0x80 || u_charType(small) != U_NON_SPACING_MARK))
            moses_put(m, small, &text[i], &text[i]);
        else if (n < 0)
            moses_widen(m, &text[i]);
        for (int32_t at = 0; at < n;) {
            UChar32 c;
            U16_NEXT_UNSAFE(parts, at, c);
            if (u_charType(c) != U_NON_SPACING_MARK)
                moses_put(m, u_tolower(c), &text[i], &text[i]);
        }
    }
    moses_take_other(m);
    moses_make_one_space(m); /* because nothing is left of a word that has only marks */
    moses_strip(m);
}

/* ---- the normaliser ---- */

static void append_words(void *state, const char *line, size_t size, GString *out, GArray *origins)
{
    moses *m = state;
    moses_read(m, line, size);
    moses_normalise_punctuation(m);
    if (m->splitter == NULL && moses_speaks(m, "ro"))
        moses_simplify_romanian(m);
    moses_part_words(m);
    if (m->lower)
        fold(m);
    moses_make_one_space(m);
    moses_strip(m);
    for (guint i = 0; i < m->text->len; i++) {
        const moses_letter *l = &moses_letters(m)[i];
        const UChar32 c = l->c == ONE_OF_FULL_STOPS ? '.' : l->c;
        g_string_append_unichar(out, (gunichar)c);
        xlm_origins_add(origins, U8_LENGTH(c), l->start, l->end);
    }
}

/* Words that are often written with a full stop in English, and single capital letters. */
static const char ENGLISH[] =
    "Adj Adm Adv Asst Bart Bldg Brig Bros Capt Cmdr Col Comdr Con Corp Cpl DR Dr Drs Ens Gen Gov Hon Hr Hosp Insp Lt MM MR MRS "
    "MS Maj Messrs Mlle Mme Mr Mrs Ms Msgr Op Ord Pfc Ph Prof Pvt Rep Reps Res Rev Rt Sen Sens Sfc Sgt Sr St Supt Surg v vs i.e "
    "rev e.g Rs Nos Nr Jan Feb Mar Apr Jun Jul Aug Sep Oct Nov Dec A B C D E F G H I J K L M N O P Q R S T U V W X Y Z";
static const char ENGLISH_NUMERIC[] = "No Art pp";

static void list_words(moses *m, const char *words, bool numeric)
{
    g_auto(GStrv) all = g_strsplit(words, " ", -1);
    for (char **word = all; *word != NULL; word++)
        g_hash_table_insert(m->listed, g_strdup(*word), GINT_TO_POINTER(numeric));
}

/* List the given abbreviations of a language. Returns false if there are none. */
static bool list_given(moses *m, const char *language)
{
    static const char NUMERIC[] = "#NUMERIC_ONLY#";
    const size_t n = strlen(language);
    bool any = false;
    for (guint i = 0; m->abbreviations != NULL && i < m->abbreviations->len; i++) {
        const char *line = m->abbreviations->pdata[i];
        if (strncmp(line, language, n) != 0 || line[n] != ' ')
            continue;
        any = true;
        const char *mark = strstr(line, NUMERIC);
        char *word = g_strndup(line + n + 1, mark != NULL ? (size_t)(mark - line) - n - 1 : strlen(line));
        g_strstrip(word);
        g_hash_table_insert(m->listed, word, GINT_TO_POINTER(mark != NULL));
    }
    return any;
}

static bool set_language(void *state, const char *language, GError **error)
{
    moses *m = state;
    if (strcmp(m->name, language) == 0)
        return true;
    const bool none = *language == '\0' || strcmp(language, "und") == 0;
    char *first = g_ascii_strdown(none ? "en" : language, none ? -1 : (gssize)strcspn(language, "-_"));
    g_strlcpy(m->language, first, sizeof m->language);
    g_free(first);
    m->korean = moses_speaks(m, "ko");
    g_hash_table_remove_all(m->listed);
    if (!list_given(m, m->language) && !list_given(m, "en")) {
        list_words(m, ENGLISH, false);
        list_words(m, ENGLISH_NUMERIC, true);
    }
    xlm_splitter_free(m->splitter);
    m->splitter = NULL;
    g_free(m->name);
    m->name = g_strdup(language);
    if (moses_speaks(m, "zh ja th"))
        return (m->splitter = xlm_splitter_new(XLM_WORDS_ICU, m->language, error)) != NULL;
    return true;
}

static void free_state(void *state)
{
    moses *m = state;
    g_free(m->name);
    g_hash_table_unref(m->listed);
    xlm_splitter_free(m->splitter);
    g_array_free(m->text, TRUE);
    g_array_free(m->other, TRUE);
    g_string_free(m->bytes, TRUE);
    g_free(m);
}

xlm_normaliser *xlm_moses_normaliser(bool lower, const GPtrArray *abbreviations)
{
    static const xlm_normaliser_form form = {.append = append_words, .set_language = set_language, .free = free_state};
    UErrorCode status = U_ZERO_ERROR;
    moses *m = g_new0(moses, 1);
    m->lower = lower;
    m->abbreviations = abbreviations;
    m->name = g_strdup("?");
    m->listed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    m->form_d = unorm2_getNFDInstance(&status);
    if (U_FAILURE(status))
        g_error("ICU cannot normalise text (%s); is its data installed?", u_errorName(status));
    m->text = g_array_new(FALSE, FALSE, sizeof(moses_letter));
    m->other = g_array_new(FALSE, FALSE, sizeof(moses_letter));
    m->bytes = g_string_new(NULL);
    set_language(m, "", NULL); /* which needs no rules of ICU */
    return xlm_normaliser_new_with(&form, m);
}
