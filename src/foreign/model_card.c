/* xlm-mpi: the card of a model, which people read first. SPDX-License-Identifier: GPL-3.0-or-later */
#include "foreign/model_card.h"

#include <string.h>

/* Metadata have codes of languages: two or three letters (ISO 639), perhaps followed by a region or script. */
static bool is_code(const char *name)
{
    const size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz");
    return (n == 2 || n == 3) && (name[n] == '\0' || (name[n] == '-' && g_ascii_isalpha(name[n + 1]))) &&
           strcmp(name, "und") != 0;
}

static void print_metadata(const xlm_loaded_model *m, const char *class_name, GString *out)
{
    const char *const *names = xlm_vocabulary_language_names(m->vocabulary);
    g_string_append(out, "---\nlibrary_name: transformers\n");
    bool first = true;
    for (int i = 0; i < xlm_vocabulary_languages(m->vocabulary); i++) {
        if (!is_code(names[i]))
            continue;
        g_string_append_printf(out, "%s- \"%s\"\n", first ? "language:\n" : "", names[i]);
        first = false;
    }
    static const struct {
        const char *part, *tag; /* of the class's name */
    } tags[] = {{"ForTokenClassification", "token-classification"}, {"ForSequenceClassification", "text-classification"},
                {"ForQuestionAnswering", "question-answering"},     {"MaskedLM", "fill-mask"}, {"WithLMHead", "fill-mask"}};
    for (size_t i = 0; i < G_N_ELEMENTS(tags); i++)
        if (strstr(class_name, tags[i].part) != NULL)
            g_string_append_printf(out, "pipeline_tag: %s\n", tags[i].tag);
    g_string_append(out, "tags:\n- xlm-mpi\n---\n\n");
}

static void print_model(const xlm_loaded_model *m, const char *class_name, GString *out)
{
    const xlm_model_config *c = &m->config;
    g_autofree char *languages = g_strjoinv(", ", (char **)xlm_vocabulary_language_names(m->vocabulary));
    g_string_append_printf(out, "# A %s\n\nA transformer %s trained with xlm-mpi %s and written by its "
                           "program `xlm_convert`.\n\n| | |\n|---|---|\n",
                           c->decoder_layers > 0 ? "model that translates" : "cross-lingual encoder",
                           c->decoder_layers > 0 ? "encoder and decoder" : "encoder", PACKAGE_VERSION);
    g_string_append_printf(out, "| class | `%s` |\n| languages | %s |\n| subwords | %" G_GINT64_FORMAT " |\n", class_name,
                           languages, c->vocabulary);
    g_string_append_printf(out, "| layers x hidden size | %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT "%s |\n", c->layers,
                           c->hidden_size, c->share_layers ? ", one set of weights" : "");
    g_string_append_printf(out, "| attention heads | %" G_GINT64_FORMAT " |\n| feed-forward size | %" G_GINT64_FORMAT " |\n"
                           "| longest sequence | %" G_GINT64_FORMAT " |\n| parameters | %" G_GINT64_FORMAT " |\n",
                           c->attention_heads, c->feed_forward_size, c->positions, xlm_parameters_elements(m->parameters));
    if (m->step > 0)
        g_string_append_printf(out, "| trained for | %" G_GINT64_FORMAT " steps |\n", m->step);
    if (m->task != NULL)
        g_string_append_printf(out, "| fine-tuned for | %s |\n", m->task->name);
}

/* How a model with a decoder translates its first language into its last. */
static void print_translation(const xlm_loaded_model *m, const char *class_name, bool tokenizer, GString *out)
{
    const xlm_special_tokens *specials = xlm_vocabulary_specials(m->vocabulary);
    const int n = xlm_vocabulary_languages(m->vocabulary);
    const char *const *names = xlm_vocabulary_language_names(m->vocabulary);
    const char *form = xlm_vocabulary_language_form(m->vocabulary);
    g_string_append_printf(out, "\n## Use\n\n```python\nfrom transformers import %s%s\n", tokenizer ? "AutoTokenizer, " : "",
                           class_name);
    if (tokenizer && form != NULL)
        g_string_append_printf(out, "tokenizer = AutoTokenizer.from_pretrained(\".\", src_lang=\"%s\")\n", names[0]);
    else if (tokenizer)
        g_string_append(out, "tokenizer = AutoTokenizer.from_pretrained(\".\")\n");
    g_string_append_printf(out, "model = %s.from_pretrained(\".\")\n", class_name);
    if (tokenizer)
        g_string_append(out, "inputs = tokenizer(\"A sentence .\", return_tensors=\"pt\")\n");
    if (tokenizer && form != NULL) /* of the last language */
        g_string_append_printf(out, "ids = model.generate(**inputs, forced_bos_token_id=%d)\n", specials->language[n - 1]);
    else if (tokenizer)
        g_string_append(out, "ids = model.generate(**inputs)\n");
    g_string_append_printf(out, "%s```\n", tokenizer ? "print(tokenizer.batch_decode(ids, skip_special_tokens=True))\n" : "");
}

static void print_use(const xlm_loaded_model *m, const char *class_name, bool tokenizer, GString *out)
{
    const char *mask = xlm_vocabulary_words(m->vocabulary)[xlm_vocabulary_special(m->vocabulary, XLM_MASK)];
    g_string_append(out, "\n## Use\n\n```python\n");
    g_string_append_printf(out, "from transformers import %s%s\n", tokenizer ? "AutoTokenizer, " : "", class_name);
    if (tokenizer)
        g_string_append(out, "tokenizer = AutoTokenizer.from_pretrained(\".\")\n");
    g_string_append_printf(out, "model = %s.from_pretrained(\".\")\n", class_name);
    if (tokenizer)
        g_string_append_printf(out, "inputs = tokenizer(\"A sentence%s%s .\", return_tensors=\"pt\")\n",
                               m->config.head != XLM_HEAD_NONE ? " with a " : "", m->config.head != XLM_HEAD_NONE ? mask : "");
    if (tokenizer && m->config.language_embeddings)
        g_string_append_printf(out, "inputs[\"langs\"] = inputs[\"input_ids\"] * 0 + model.config.lang2id[\"%s\"]\n",
                               xlm_vocabulary_language_names(m->vocabulary)[0]);
    g_string_append_printf(out, "%s```\n", tokenizer ? "outputs = model(**inputs)\n" : "");
}

char *xlm_foreign_model_card(const xlm_loaded_model *model, const char *class_name, bool tokenizer, const char *notes)
{
    GString *out = g_string_new(NULL);
    print_metadata(model, class_name, out);
    print_model(model, class_name, out);
    (model->config.decoder_layers > 0 ? print_translation : print_use)(model, class_name, tokenizer, out);
    if (*notes != '\0')
        g_string_append_printf(out, "\n## What to know\n\n%s", notes);
    g_string_append(out, "\n`xlm_vocabulary.h5` has the vocabulary as xlm-mpi keeps it, for `xlm_convert DIR -o model.h5`; "
                    "transformers do not read it.\n");
    return g_string_free(out, FALSE);
}
