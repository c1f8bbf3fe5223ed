/* xlm-mpi: fuzz target: published tokenizers, then a line that they cut. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "fuzz.h"
#include "subwords/published.h"
#include "subwords/tokenizer.h"

static void encode(const xlm_vocabulary *v, int language, const uint8_t *line, size_t size)
{
    GError *error = NULL;
    xlm_tokenizer *t = xlm_tokenizer_new(v, &error);
    fuzz_check(t != NULL, error);
    GArray *ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
    GString *out = g_string_new(NULL);
    size_t words = 0;
    error = NULL;
    if (xlm_tokenizer_encode(t, language, (const char *)line, size, ids, &words, &error)) {
        for (guint i = 0; i < ids->len; i++) {
            const int32_t id = g_array_index(ids, int32_t, i);
            fuzz_require(id >= 0 && id < xlm_vocabulary_size(v), "ids are those of the vocabulary");
        }
        xlm_vocabulary_decode(v, (const int32_t *)(void *)ids->data, ids->len, out);
    } else {
        fuzz_check(false, error);
    }
    g_string_free(out, TRUE);
    g_array_free(ids, TRUE);
    xlm_tokenizer_free(t);
}

/* The words of a line of a language, and where they come from. */
static void normalise(const xlm_vocabulary *v, const char *language, const uint8_t *line, size_t size)
{
    GError *error = NULL;
    xlm_normaliser *n = xlm_segmenter_normaliser(xlm_vocabulary_segmenter(v), false, &error);
    fuzz_check(n != NULL, error);
    const char *normal;
    size_t normal_size;
    const xlm_origin *origins;
    error = NULL;
    const bool good = xlm_normaliser_set_language(n, language, &error) &&
                      xlm_normaliser_run_origins(n, (const char *)line, size, &normal, &normal_size, &origins, &error);
    for (size_t i = 0; good && i < normal_size; i++)
        fuzz_require(origins[i].start <= origins[i].end && origins[i].end <= size, "origins are parts of the line");
    if (!good)
        fuzz_check(false, error);
    xlm_normaliser_free(n);
}

/* A segmenter is printed, for other ranks, and read again. */
static void print_again(const xlm_vocabulary *v)
{
    const xlm_segmenter *segmenter = xlm_vocabulary_segmenter(v);
    GString *text = xlm_segmenter_print(segmenter);
    xlm_segmenter *again = xlm_segmenter_parse(xlm_segmenter_class_of(segmenter), "again", text->str, text->len, NULL);
    fuzz_require(again != NULL && xlm_segmenter_digest(again, 0) == xlm_segmenter_digest(segmenter, 0), "it is the same again");
    xlm_segmenter_unref(again);
    g_string_free(text, TRUE);
}

/* As files of transformers. */
static void publish(const xlm_vocabulary *v)
{
    const xlm_segmenter_class *cls = xlm_segmenter_class_of(xlm_vocabulary_segmenter(v));
    json_t *files = json_object(), *settings = json_object();
    GString *notes = g_string_new(NULL);
    xlm_word_counts *added = xlm_word_counts_new();
    if (cls->exchange->publish_needs != NULL)
        cls->exchange->publish_needs(v, added);
    cls->exchange->publish(v, files, settings, notes);
    const char *name;
    json_t *content;
    json_object_foreach(files, name, content)
        fuzz_require(content != NULL, "files have contents");
    json_decref(files);
    json_decref(settings);
    xlm_word_counts_free(added);
    g_string_free(notes, TRUE);
}

/* The first byte says which files there are; the last part is a line of text, of a model itself. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    static const char *const kinds[][2] = {
        {"tokenizer.json", NULL}, {"vocab.txt", "tokenizer_config.json"}, {"vocab.json", "merges.txt"},
        {"tokenizer.json", "config.json"}};
    static const char *const languages[8] = {"", "de", "fr", "ko", "ro", "zh", "th", "xx"};
    const uint8_t first = fuzz_take(&data, &size);
    const bool lists = (first & 11) == 10; /* of abbreviations, for the tokenizer of XLM */
    const char *const *kind = kinds[first & 3];
    const char *names[4], *bytes[4];
    size_t sizes[4], n = 0;
    for (; (first & 4) == 0 && n < 2 && kind[n] != NULL; n++) {
        names[n] = kind[n];
        bytes[n] = fuzz_cut(&data, &size, &sizes[n]);
    }
    if (lists && (first & 4) == 0) {
        names[n] = "nonbreaking_prefix.en";
        bytes[n] = fuzz_cut(&data, &size, &sizes[n]);
        n++;
    }
    static const char model[] = "x.model";
    if (first & 4) { /* which has bytes 0: all that there is */
        n = 1;
        names[0] = model;
        bytes[0] = (const char *)data;
        sizes[0] = size;
    }
    if ((first & 12) == 12) { /* with ALBERT's rules */
        n = 2;
        names[1] = "config.json";
        bytes[1] = "{\"model_type\": \"albert\"}";
        sizes[1] = strlen(bytes[1]);
    }
    if ((first & 0x84) == 0x84) { /* of models that translate: by the first bit, with a model for each side, or NLLB's */
        static const char *const marian[][2] = {
            {"vocab.json", "{\"</s>\": 0, \"<unk>\": 1, \"ab\": 2, \"<pad>\": 3}"},
            {"tokenizer_config.json", "{\"source_lang\": \"de\"}"}};
        static const char *const nllb[][2] = {
            {"config.json", "{\"model_type\": \"m2m_100\"}"},
            {"special_tokens_map.json", "{\"additional_special_tokens\": [\"deu_Latn\", \"eng_Latn\"]}"}};
        n = 1 + (first & 1);
        for (size_t i = 0; i < n; i++) {
            names[i] = n == 1 ? "sentencepiece.bpe.model" : i == 0 ? "source.spm" : "target.spm";
            bytes[i] = (const char *)data;
            sizes[i] = size;
        }
        for (size_t i = 0; i < 2; i++, n++) {
            names[n] = first & 1 ? marian[i][0] : nllb[i][0];
            bytes[n] = first & 1 ? marian[i][1] : nllb[i][1];
            sizes[n] = strlen(bytes[n]);
        }
    }
    GError *error = NULL;
    xlm_tokenizer_files *files = xlm_tokenizer_files_new("dir", n, names, bytes, sizes, &error);
    xlm_vocabulary *v = files != NULL ? xlm_published_vocabulary(files, NULL, &error) : NULL;
    fuzz_check(v != NULL, error);
    if (v != NULL) {
        print_again(v);
        publish(v);
        for (int language = -1; language < MIN(xlm_vocabulary_languages(v), 2); language++)
            encode(v, language, data, size);
        normalise(v, languages[first >> 4 & 7], data, size);
    }
    xlm_vocabulary_free(v);
    xlm_tokenizer_files_free(files);
    return 0;
}
