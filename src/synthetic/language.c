/* xlm-mpi: languages made of another one. SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic/language.h"

#include <math.h>
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "base/rng.h"
#include "files/files.h"

/* ---- what is asked for ---- */

static bool take_syntax(xlm_synthetic *made, const char *files, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(files, "+", -1);
    const bool good = g_strv_length(parts) == 2 && *parts[0] != '\0' && *parts[1] != '\0';
    if (good) {
        made->weights[0] = g_strdup(parts[0]);
        made->weights[1] = g_strdup(parts[1]);
    }
    return good || xlm_error_set(error, EX_USAGE, "`syntax=%s`: two files belong here, the weights for nouns and for verbs: "
                                 "syntax=NOUN_FILE+VERB_FILE", files);
}

static bool take_order(xlm_synthetic *made, xlm_synthetic_order order, GError **error)
{
    for (int i = 0; i < made->orders; i++)
        if (made->order[i] == order)
            return xlm_error_set(error, EX_USAGE, "`%s` is given twice", order == XLM_SYNTHETIC_INVERT ? "invert" : "syntax");
    made->order[made->orders++] = order;
    return true;
}

static bool take_step(xlm_synthetic *made, const char *step, GError **error)
{
    static const char syntax[] = "syntax=";
    if (strcmp(step, "invert") == 0)
        return take_order(made, XLM_SYNTHETIC_INVERT, error);
    if (g_str_has_prefix(step, syntax))
        return take_order(made, XLM_SYNTHETIC_SYNTAX, error) && take_syntax(made, step + strlen(syntax), error);
    if (strcmp(step, "transliterate") != 0)
        return xlm_error_set(error, EX_USAGE, "`%s` is not a step; steps are transliterate, invert and "
                             "syntax=NOUN_FILE+VERB_FILE", step);
    if (made->transliterates)
        return xlm_error_set(error, EX_USAGE, "`transliterate` is given twice");
    made->transliterates = true;
    return true;
}

xlm_synthetic *xlm_synthetic_parse(const char *steps, GError **error)
{
    xlm_synthetic *made = g_new0(xlm_synthetic, 1);
    made->steps = g_strdup(steps);
    g_auto(GStrv) parts = g_strsplit(steps, ",", -1);
    bool good = *parts != NULL || xlm_error_set(error, EX_USAGE, "no step is given");
    for (char **step = parts; good && *step != NULL; step++)
        good = take_step(made, *step, error);
    if (!good)
        g_clear_pointer(&made, xlm_synthetic_free);
    return made;
}

void xlm_synthetic_free(xlm_synthetic *made)
{
    if (made == NULL)
        return;
    g_free(made->steps);
    g_free(made->weights[0]);
    g_free(made->weights[1]);
    g_free(made);
}

char *xlm_synthetic_weights(const xlm_synthetic *made, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (int i = 0; i < 2 && made->weights[0] != NULL; i++) {
        char digest[XLM_SHA256_TEXT];
        if (!xlm_file_sha256(made->weights[i], digest, NULL, NULL, error))
            return NULL;
        g_string_append_printf(text, "%s%s: SHA-256 %s", i > 0 ? "; " : "", made->weights[i], digest);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* ---- inversion ---- */

bool xlm_synthetic_is_stop(const char *word, size_t size)
{
    UErrorCode status = U_ZERO_ERROR;
    char name[128];
    UChar32 c;
    int32_t read = 0;
    if (size == 0 || size > 4) /* one character */
        return false;
    U8_NEXT(word, read, (int32_t)size, c);
    if (c < 0 || (size_t)read != size)
        return false;
    if (c == 0x17D4 || c == 0x17D5) /* Khmer; Unicode gave them the property later than the ICU of Debian 12 knows */
        return true;
    if (!u_hasBinaryProperty(c, UCHAR_S_TERM))
        return false;
    u_charName(c, U_UNICODE_CHAR_NAME, name, sizeof name, &status);
    return U_SUCCESS(status) && strstr(name, "QUESTION") == NULL && strstr(name, "EXCLAMATION") == NULL &&
           strstr(name, "INTERROBANG") == NULL;
}

void xlm_synthetic_invert(const bool *stop, uint32_t *order, size_t n)
{
    for (size_t start = 0, end = 0; start < n; start = end = end + 1) {
        while (end < n && !stop[order[end]])
            end++;
        for (size_t i = start, k = end; i + 1 < k; i++) {
            const uint32_t word = order[i];
            order[i] = order[--k];
            order[k] = word;
        }
    }
}

/* ---- transliteration ---- */

int32_t *xlm_synthetic_twins(const int32_t *used, uint32_t n, double shared, uint64_t seed, int32_t *twins)
{
    const xlm_rng_key key = xlm_rng_make_key(seed, XLM_RNG_TWINS, 0);
    const uint64_t without_twin = (uint64_t)llround(shared * n);
    int32_t *ids = g_new(int32_t, (size_t)n + 1);
    *twins = 0;
    for (uint32_t i = 0; i < n; i++)
        if (xlm_rng_permute(key, i, n) >= without_twin)
            ids[(*twins)++] = used[i];
    return ids;
}
