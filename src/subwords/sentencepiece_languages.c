/* xlm-mpi: tokenizers of SentencePiece whose languages have tokens. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   M2M100Tokenizer  ids of vocab.json; then the tokens of languages, __af__ and so on
 *   NllbTokenizer    fairseq's ids; then the tokens of languages, ace_Arab and so on; then <mask>
 *
 * The tokens of languages are those that special_tokens_map.json or tokenizer_config.json has in addition to tokens with a role, in
 * their order. The decoder begins with the token that config.json names, </s> if there is none; it is <s> here. */
#include <string.h>

#include <xlm/model.h> /* XLM_MAX_LANGUAGES */

#include "subwords/sentencepiece.h"
#include "subwords/vocabulary.h"

static const char VOCABULARY[] = "vocab.json", M2M100[] = "__*__", NLLB[] = "*";

const char *xlm_sentencepiece_language_form(const xlm_tokenizer_files *files)
{
    const char *kind = xlm_tokenizer_class_with_rules(files, NULL);
    const char *model = json_string_value(xlm_tokenizer_value(files, "config.json", "model_type", NULL));
    if (kind != NULL && (g_str_has_prefix(kind, "M2M100") || g_str_has_prefix(kind, "Nllb")))
        return g_str_has_prefix(kind, "M2M100") ? M2M100 : NLLB;
    if (kind != NULL || g_strcmp0(model, "m2m_100") != 0)
        return NULL;
    return xlm_tokenizer_json(files, VOCABULARY) != NULL ? M2M100 : NLLB;
}

/* "__de__" with the form "__*__": "de"; NULL: it has another form. g_free. */
static char *name_of_language(const char *form, const char *token)
{
    const size_t before = strcspn(form, "*"), after = strlen(form) - before - 1, size = strlen(token);
    if (size <= before + after || strncmp(token, form, before) != 0 || strcmp(token + size - after, form + before + 1) != 0)
        return NULL;
    return g_strndup(token + before, size - before - after);
}

static bool add_languages(const xlm_tokenizer_files *files, const char *form, xlm_published_tokens *tokens, GError **error)
{
    const char *file;
    const json_t *all = xlm_tokenizer_additional(files, &file), *token;
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    size_t i;
    json_array_foreach(all, i, token) {
        const char *text = xlm_tokenizer_token_text(token);
        char *name = text != NULL ? name_of_language(form, text) : NULL;
        const bool twice = name != NULL && g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL);
        if (name == NULL || !xlm_is_language_name(name) || twice) {
            g_free(name);
            return xlm_tokenizer_refuse(files, file, 0, error, twice ? "additional token %zu, `%s`, is there twice"
                                        : "additional token %zu, `%s`, is not the name of a language in the form %s", i + 1,
                                        text != NULL ? text : "(no text)", form);
        }
        g_ptr_array_add(names, name);
        if (!xlm_published_tokens_set(tokens, files, file, (int64_t)tokens->text->len, text, error))
            return false;
    }
    if (names->len == 0)
        return xlm_tokenizer_refuse(files, file, 0, error, "names no tokens of languages (additional_special_tokens), which a "
                                    "tokenizer of this kind has; nor does special_tokens_map.json");
    if (names->len > XLM_MAX_LANGUAGES)
        return xlm_tokenizer_refuse(files, file, 0, error, "names %u languages; at most %d are possible", names->len,
                                    XLM_MAX_LANGUAGES);
    g_ptr_array_add(names, NULL);
    tokens->languages = g_strdupv((char **)names->pdata);
    tokens->language_form = form;
    return true;
}

bool xlm_sentencepiece_number_languages(const GArray *pieces, const xlm_tokenizer_files *files, const char *name,
                                        xlm_published_tokens *tokens, GError **error)
{
    const char *form = xlm_sentencepiece_language_form(files);
    if (form == M2M100)
        return xlm_published_tokens_add_object(tokens, files, VOCABULARY, xlm_tokenizer_json(files, VOCABULARY), error) &&
               add_languages(files, form, tokens, error);
    return xlm_sentencepiece_number_as_fairseq(pieces, files, name, tokens, error) && add_languages(files, form, tokens, error) &&
           xlm_published_tokens_set(tokens, files, name, (int64_t)tokens->text->len, "<mask>", error);
}

void xlm_sentencepiece_find_begin(const xlm_tokenizer_files *files, xlm_special usual, xlm_published_tokens *tokens)
{
    const json_t *start = xlm_tokenizer_value(files, "config.json", "decoder_start_token_id", NULL);
    const json_int_t id = json_is_integer(start) ? json_integer_value(start) : -1;
    const char *named = id >= 0 && id < (json_int_t)tokens->text->len ? tokens->text->pdata[id] : NULL;
    const bool special = named != NULL && (g_strcmp0(named, tokens->special[XLM_BOS]) == 0 ||
                                           g_strcmp0(named, tokens->special[XLM_PAD]) == 0 ||
                                           g_strcmp0(named, tokens->special[XLM_EOS]) == 0);
    const char *begin = special ? named : tokens->special[usual];
    g_autofree char *text = g_strdup(begin);
    g_free(tokens->special[XLM_BOS]);
    tokens->special[XLM_BOS] = g_steal_pointer(&text);
}

/* ---- the opposite direction ---- */

/* The languages of transformers' M2M100Tokenizer, which gives ids to their tokens in this order, whatever other files say. */
static const char M2M100_LANGUAGES[] =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr ht hu hy id ig ilo is it "
    "ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa pl ps pt ro ru sd si sk sl so sq sr ss su sv "
    "sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu";

/* Are the tokens of languages next to one another, in their order, with no subwords after them but rows that have no token? */
static bool are_last(const xlm_vocabulary *v)
{
    const xlm_special_tokens *specials = xlm_vocabulary_specials(v);
    for (int32_t i = 0; i < specials->languages; i++)
        if (specials->language[i] != specials->first_language + i)
            return false;
    for (int32_t id = specials->last_language + 1; id < xlm_vocabulary_size(v); id++)
        if (!xlm_is_special(specials, id) && !xlm_is_row_name(xlm_vocabulary_words(v)[id]))
            return false;
    return specials->languages > 0;
}

/* {token: id} of all ids before those of languages. */
static json_t *print_ids(const xlm_vocabulary *v)
{
    json_t *ids = json_object();
    for (int32_t id = 0; id < xlm_vocabulary_specials(v)->first_language; id++)
        json_object_set_new(ids, xlm_vocabulary_words(v)[id], json_integer(id));
    return ids;
}

/* Special tokens that the tokenizer needs, but for <s>, are before those of languages. */
static bool has_specials_first(const xlm_special_tokens *specials)
{
    return specials->id[XLM_PAD] < specials->first_language && specials->id[XLM_EOS] < specials->first_language &&
           specials->id[XLM_UNK] < specials->first_language;
}

/* fairseq's ids, then languages, then <mask>. */
static bool is_nllb(const xlm_vocabulary *v, const xlm_pieces *m)
{
    const xlm_special_tokens *specials = xlm_vocabulary_specials(v);
    return specials->id[XLM_PAD] == 1 && specials->id[XLM_EOS] == 2 && specials->id[XLM_UNK] == 3 &&
           specials->first_language == (int32_t)m->pieces->len + 1 &&
           specials->id[XLM_MASK] == specials->first_language + specials->languages &&
           xlm_sentencepiece_has_pieces(v, m, 3, 1);
}

/* {id: token} of the tokens that are not pieces, without which some versions of NllbTokenizer give them other ids. */
static json_t *print_added(const xlm_vocabulary *v)
{
    const xlm_special_tokens *specials = xlm_vocabulary_specials(v);
    json_t *added = json_object();
    for (int32_t id = 0; id < xlm_vocabulary_size(v); id++) {
        if (id != 0 && xlm_is_text(specials, id))
            continue;
        g_autofree char *number = g_strdup_printf("%d", id);
        json_object_set_new(added, number,
                            json_pack("{s:s, s:b, s:b, s:b, s:b, s:b}", "content", xlm_vocabulary_words(v)[id], "lstrip",
                                      id == specials->id[XLM_MASK], "normalized", 0, "rstrip", 0, "single_word", 0, "special", 1));
    }
    return added;
}

static void note_languages(const xlm_vocabulary *v, GString *notes)
{
    g_autofree char *names = g_strjoinv(" ", (char **)(uintptr_t)xlm_vocabulary_language_names(v));
    if (strcmp(names, M2M100_LANGUAGES) != 0)
        g_string_append(notes, "The languages are not the hundred of transformers' M2M100Tokenizer, which gives their tokens ids of "
                        "its own list: take the ids of languages from xlm-mpi.\n");
}

bool xlm_sentencepiece_publish_languages(const xlm_vocabulary *v, const xlm_pieces *m, json_t *files, json_t *settings,
                                         GString *notes)
{
    const char *form = xlm_vocabulary_language_form(v);
    const xlm_special_tokens *specials = xlm_vocabulary_specials(v);
    if (form == NULL)
        return false;
    const bool nllb = strcmp(form, NLLB) == 0;
    if (!are_last(v) || !(nllb ? is_nllb(v, m) : has_specials_first(specials))) {
        g_string_append(notes, "Transformers have no tokenizer whose tokens of languages are where this vocabulary has them: tokenise "
                        "with xlm-mpi, and give them the ids.\n");
        return true;
    }
    json_t *tokens = json_array();
    for (int32_t i = 0; i < specials->languages; i++)
        json_array_append_new(tokens, json_string(xlm_vocabulary_words(v)[specials->language[i]]));
    json_object_set_new(settings, "additional_special_tokens", tokens);
    json_object_set_new(settings, "tokenizer_class", json_string(nllb ? "NllbTokenizer" : "M2M100Tokenizer"));
    json_object_set_new(files, "sentencepiece.bpe.model", json_stringn_nocheck(m->bytes->str, m->bytes->len));
    if (nllb) {
        json_object_set_new(settings, "added_tokens_decoder", print_added(v));
        json_object_set_new(settings, "bos_token", json_string(xlm_vocabulary_words(v)[0]));
        json_object_set_new(settings, "cls_token", json_string(xlm_vocabulary_words(v)[0]));
    } else {
        json_object_set_new(files, VOCABULARY, print_ids(v));
        json_object_set_new(settings, "mask_token", json_null()); /* it would get an id of a language */
        note_languages(v, notes);
    }
    return true;
}
