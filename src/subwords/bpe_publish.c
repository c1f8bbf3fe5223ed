/* xlm-mpi: our BPE as tokenizer.json, of the library tokenizers of Hugging Face. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Both tokenizers merge symbols by rank, with </w> after the last symbol of a word. So a vocabulary fits theirs when `lo@@` is
 * written "lo" and `west` "west</w>". In theirs every merge must make a token, and no token is split again. So merges that are
 * not on the way to a subword are left out, and the results of the others become additional tokens if the vocabulary does not
 * have them (xlm_bpe_publish_needs). The tokenizers differ where such a token is left in a word. */
#include <string.h>
#include <unicode/uscript.h>

#include "base/log.h"
#include "bpe/codes.h"
#include "subwords/bpe_class.h"
#include "subwords/tokenizer_print.h"
#include "subwords/vocabulary.h"
#include "text/patterns.h"
#include "text/scripts.h"

/* ---- merges ---- */

/* A subword with their marks. g_free. */
static char *spell(const char *subword)
{
    const size_t size = strlen(subword);
    return g_str_has_suffix(subword, BPE_CONTINUED) && size > BPE_CONTINUED_SIZE ? g_strndup(subword, size - BPE_CONTINUED_SIZE)
                                                                                 : g_strconcat(subword, BPE_END, NULL);
}

/* A symbol as our subword. */
static GString *as_subword(const xlm_bpe *bpe, uint32_t symbol)
{
    size_t size;
    const char *text = xlm_strings_get(bpe->symbols, symbol, &size);
    const bool ends = bpe_ends_word(text, size);
    GString *subword = g_string_new_len(text, (gssize)(ends ? size - BPE_END_SIZE : size));
    return ends ? subword : g_string_append(subword, BPE_CONTINUED);
}

static bool has(const xlm_word_counts *subwords, const xlm_bpe *bpe, uint32_t symbol)
{
    g_autoptr(GString) subword = as_subword(bpe, symbol);
    return xlm_word_counts_index(subwords, subword->str, subword->len) != UINT32_MAX;
}

/* [codes] 1 for those that make a subword, and for those that make its parts. Each symbol is made by only one code. */
static uint8_t *find_used(const xlm_bpe *bpe, const xlm_word_counts *subwords)
{
    const uint32_t n = xlm_bpe_size(bpe);
    uint8_t *used = g_new0(uint8_t, MAX(n, 1));
    g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(uint32_t)); /* codes whose parts have not been visited yet */
    for (uint32_t i = 0; i < n; i++)
        if ((used[i] = has(subwords, bpe, bpe_get(bpe, i)->result)))
            g_array_append_val(open, i);
    while (open->len > 0) {
        const bpe_code *code = bpe_get(bpe, g_array_index(open, uint32_t, open->len - 1));
        const uint32_t parts[] = {code->left, code->right};
        g_array_set_size(open, open->len - 1);
        for (size_t k = 0; k < G_N_ELEMENTS(parts); k++) {
            const uint32_t maker = g_array_index(bpe->made_by, uint32_t, parts[k]);
            if (maker == BPE_NONE || used[maker])
                continue;
            used[maker] = 1;
            g_array_append_val(open, maker);
        }
    }
    return used;
}

void xlm_bpe_publish_needs(const xlm_vocabulary *v, xlm_word_counts *added)
{
    const xlm_bpe *bpe = xlm_segmenter_model(xlm_vocabulary_segmenter(v));
    const xlm_word_counts *subwords = xlm_vocabulary_subwords(v);
    g_autofree uint8_t *used = find_used(bpe, subwords);
    for (uint32_t i = 0; i < xlm_bpe_size(bpe); i++) {
        const bpe_code *code = bpe_get(bpe, i);
        const uint32_t symbols[] = {code->left, code->right, code->result};
        for (size_t k = 0; k < G_N_ELEMENTS(symbols) && used[i]; k++) {
            g_autoptr(GString) subword = as_subword(bpe, symbols[k]);
            if (!has(subwords, bpe, symbols[k]))
                xlm_word_counts_add(added, subword->str, subword->len, 0);
        }
    }
}

/* The merges on the way to a subword. */
static json_t *print_merges(const xlm_vocabulary *v)
{
    const xlm_bpe *bpe = xlm_segmenter_model(xlm_vocabulary_segmenter(v));
    g_autofree uint8_t *used = find_used(bpe, xlm_vocabulary_subwords(v));
    json_t *merges = json_array();
    for (uint32_t i = 0; i < xlm_bpe_size(bpe); i++) {
        const char *left, *right;
        xlm_bpe_code(bpe, i, &left, &right, NULL);
        if (used[i])
            json_array_append_new(merges, json_sprintf("%s %s", left, right));
    }
    return merges;
}

/* ---- other parts ---- */

static json_t *print_vocabulary(const xlm_vocabulary *v)
{
    const char *const *words = xlm_vocabulary_words(v);
    json_t *vocabulary = json_object();
    for (int64_t id = 0; id < xlm_vocabulary_size(v); id++) {
        g_autofree char *text = xlm_vocabulary_is_special(v, (int32_t)id) ? g_strdup(words[id]) : spell(words[id]);
        if (json_object_get(vocabulary, text) == NULL) /* a subword may be spelled like a special token, which is first */
            json_object_set_new(vocabulary, text, json_integer(id));
        else
            xlm_log_warn("the subword `%s` is left out of the tokenizer, where it would be spelled like another", words[id]);
    }
    return vocabulary;
}

static json_t *replace(const char *pattern, const char *by)
{
    return json_pack("{s:s, s:{s:s}, s:s}", "type", "Replace", "pattern", "Regex", pattern, "content", by);
}

/* Expressions that are the same for all vocabularies. They are made once, because each takes a pass over all characters. */
enum { REMOVED, BLANK, WORDS, EXPRESSIONS };

static gpointer make_expression(gpointer which)
{
    static bool (*const holds[WORDS])(uint32_t) = {xlm_normalise_removes, xlm_normalise_blanks};
    const int i = GPOINTER_TO_INT(which);
    return i < WORDS ? xlm_pattern_characters(holds[i]) : xlm_pattern_words("", NULL);
}

static const char *expression(int i)
{
    static GOnce made[EXPRESSIONS] = {G_ONCE_INIT, G_ONCE_INIT, G_ONCE_INIT};
    return g_once(&made[i], make_expression, GINT_TO_POINTER(i));
}

/* As in text/normalise.h; words are split at white space. */
static json_t *print_normaliser(const xlm_vocabulary *v)
{
    /* Their tokenizer lower-cases character by character. */
    static const char FINAL_SIGMA[] = "(?<=[\\p{L}\\p{M}])\xCE\xA3(?![\\p{M}'.:\xC2\xB7\xE2\x80\x98\xE2\x80\x99]*\\p{L})";
    json_t *steps = json_array();
    json_array_append_new(steps, replace(expression(REMOVED), ""));
    json_array_append_new(steps, replace(expression(BLANK), " "));
    json_array_append_new(steps, json_pack("{s:s}", "type", "NFC"));
    if (xlm_vocabulary_lowercase(v)) {
        json_array_append_new(steps, replace(FINAL_SIGMA, "\xCF\x82"));
        json_array_append_new(steps, json_pack("{s:s}", "type", "Lowercase"));
        json_array_append_new(steps, json_pack("{s:s}", "type", "NFC"));
    }
    return json_pack("{s:s, s:o}", "type", "Sequence", "normalizers", steps);
}

/* The expression of the languages if all have the same, else the general one. g_free. */
static char *find_pattern(const xlm_vocabulary *v, bool *same)
{
    char *pattern = NULL;
    *same = true;
    for (int i = 0; i < xlm_vocabulary_languages(v) && *same; i++) {
        const int base = xlm_vocabulary_base_language(v, i);
        char *own = xlm_pattern_words(xlm_vocabulary_language_names(v)[base], NULL);
        *same = pattern == NULL || g_strcmp0(pattern, own) == 0;
        g_free(pattern);
        pattern = own;
    }
    if (!*same || pattern == NULL) {
        g_free(pattern);
        pattern = g_strdup(expression(WORDS));
    }
    if (pattern == NULL)
        g_error("ICU has no word breaks; is its data installed?"); /* it had them when the vocabulary was made */
    return pattern;
}

static json_t *print_splitter(const xlm_vocabulary *v, GString *notes)
{
    json_t *spaces = json_pack("{s:s}", "type", "WhitespaceSplit");
    if (xlm_vocabulary_word_mode(v) == XLM_WORDS_SPACE)
        return spaces;
    bool same;
    g_autofree char *pattern = find_pattern(v, &same);
    if (!same)
        g_string_append(notes, "Words are found by the rules of no language in particular; in some of the model's languages "
                        "others hold, as in Swedish and Finnish, where a colon joins letters.\n");
    json_t *splitter = json_pack("{s:s, s:[o, {s:s, s:{s:s}, s:s, s:b}]}", "type", "Sequence", "pretokenizers", spaces, "type",
                                 "Split", "pattern", "Regex", pattern, "behavior", "Removed", "invert", 1);
    return splitter;
}

/* Does a subword have a letter of a script in which ICU finds words with a dictionary? */
static bool needs_dictionary(const xlm_word_counts *subwords)
{
    static const UScriptCode scripts[] = {USCRIPT_HAN, USCRIPT_HIRAGANA, USCRIPT_KATAKANA, USCRIPT_THAI, USCRIPT_LAO,
                                          USCRIPT_KHMER, USCRIPT_MYANMAR};
    for (uint32_t i = 0; i < xlm_word_counts_size(subwords); i++) {
        size_t size;
        const char *at = xlm_word_counts_word(subwords, i, &size);
        for (; *at != '\0'; at = g_utf8_next_char(at)) {
            UErrorCode status = U_ZERO_ERROR;
            const UScriptCode script = uscript_getScript((UChar32)g_utf8_get_char(at), &status);
            for (size_t k = 0; k < G_N_ELEMENTS(scripts); k++)
                if (script == scripts[k])
                    return true;
        }
    }
    return false;
}

/* Is a language of the model written in one of these scripts? One of which ICU does not know the scripts may be. Text in other
 * languages quotes them, which is too little to tell of. */
static bool has_dictionary_language(const xlm_vocabulary *v)
{
    static const char letters[] = "一あアกກកက";
    int64_t all, theirs = 0;
    for (int i = 0; i < xlm_vocabulary_languages(v) && theirs == 0; i++) {
        const char *name = xlm_vocabulary_language_names(v)[xlm_vocabulary_base_language(v, i)];
        xlm_scripts *scripts = xlm_scripts_of_language(name);
        if (scripts != NULL)
            xlm_scripts_count(scripts, letters, sizeof letters - 1, &all, &theirs);
        else
            theirs = 1;
        xlm_scripts_free(scripts);
    }
    return theirs > 0;
}

static void note_differences(const xlm_vocabulary *v, GString *notes)
{
    const xlm_word_counts *subwords = xlm_vocabulary_subwords(v);
    if (xlm_vocabulary_word_mode(v) == XLM_WORDS_ICU && needs_dictionary(subwords) && has_dictionary_language(v))
        g_string_append(notes, "In Chinese, Japanese, Thai, Lao, Khmer and Burmese xlm-mpi finds words by ICU's dictionaries, "
                        "which tokenizer.json cannot hold: ideographs are words one by one there, and other letters in runs. "
                        "For the same subwords as in training, split text of these languages with xlm-mpi.\n");
}

void xlm_bpe_publish(const xlm_vocabulary *v, json_t *files, json_t *settings, GString *notes)
{
    json_t *model = json_pack("{s:s, s:n, s:s, s:n, s:s, s:b, s:b, s:o, s:o}", "type", "BPE", "dropout", "unk_token",
                              xlm_vocabulary_words(v)[xlm_vocabulary_special(v, XLM_UNK)], "continuing_subword_prefix",
                              "end_of_word_suffix", BPE_END, "fuse_unk", 0, "byte_fallback", 0, "vocab", print_vocabulary(v),
                              "merges", print_merges(v));
    json_t *tokenizer =
        json_pack("{s:s, s:n, s:n, s:o, s:o, s:o, s:o, s:{s:s, s:s}, s:o}", "version", "1.0", "truncation", "padding",
                  "added_tokens", xlm_tokenizer_print_specials(v), "normalizer", print_normaliser(v), "pre_tokenizer",
                  print_splitter(v, notes), "post_processor", xlm_tokenizer_print_template(v), "decoder", "type", "BPEDecoder",
                  "suffix", BPE_END, "model", model);
    json_object_set_new(files, "tokenizer.json", tokenizer);
    json_object_set_new(settings, "tokenizer_class", json_string("PreTrainedTokenizerFast"));
    note_differences(v, notes);
}
