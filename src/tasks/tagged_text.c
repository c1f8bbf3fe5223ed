/* xlm-mpi: words with tags, from CoNLL-U and other files with columns. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/tagged_text.h"

#include <string.h>

#include "formats/conllu.h"

xlm_tagged_text *xlm_tagged_text_new(void)
{
    xlm_tagged_text *t = g_new0(xlm_tagged_text, 1);
    t->words = g_array_new(FALSE, FALSE, sizeof(xlm_tagged_word));
    t->ends = g_array_new(FALSE, FALSE, sizeof(guint));
    t->strings = g_string_chunk_new(1 << 16);
    return t;
}

void xlm_tagged_text_free(xlm_tagged_text *text)
{
    if (text == NULL)
        return;
    g_array_unref(text->words);
    g_array_unref(text->ends);
    g_string_chunk_free(text->strings);
    g_free(text);
}

/* A file that is being read. */
typedef struct reader {
    xlm_tagged_text *text;
    const char *path;   /* kept with the text */
    int language;       /* of the file */
    const char *column;
    int64_t line;       /* the one being read */
    bool conllu, key;   /* the file is CoNLL-U; the tag is the value of a key in FEATS or MISC, */
    bool found;         /* which some word has */
    bool begun, blanks; /* not CoNLL-U: the first line has been read; columns are separated by blanks */
    bool like_conllu;   /* but a line that only CoNLL-U would have was among those read */
    guint columns;      /* the number of these columns, */
    guint tag;          /* and which of them is the tag, from 0 */
} reader;

#define refuse(r, error, ...) xlm_error_at(error, (r)->path, (r)->line, __VA_ARGS__)

/* tag: NULL if the word has none. */
static void add_word(reader *r, const char *word, const char *tag)
{
    const xlm_tagged_word w = {
        .word = g_string_chunk_insert(r->text->strings, word),
        .tag = tag != NULL ? g_string_chunk_insert_const(r->text->strings, tag) : NULL,
        .language = r->language,
        .path = r->path,
        .line = r->line,
    };
    g_array_append_val(r->text->words, w);
}

/* Does a tag say that there is none, in text in which that is allowed? */
static bool is_no_tag(const reader *r, const char *tag)
{
    return r->text->untagged && (tag == NULL || *tag == '\0' || (strcmp(tag, "_") == 0 && !r->text->underscore));
}

static void end_sentence(reader *r)
{
    const GArray *ends = r->text->ends;
    const guint begun = ends->len > 0 ? g_array_index(ends, guint, ends->len - 1) : 0;
    if (r->text->words->len > begun)
        g_array_append_val(r->text->ends, r->text->words->len);
}

/* ---- CoNLL-U of another name ---- */

enum { CONLLU_COLUMNS = 10 };

static bool is_like_conllu(const char *line)
{
    int tabs = 0;
    for (const char *at = line; *at != '\0'; at++)
        tabs += *at == '\t';
    return tabs == CONLLU_COLUMNS - 1 || g_str_has_prefix(line, "# sent_id") || g_str_has_prefix(line, "# text");
}

/* For the end of a message. */
static const char *conllu_hint(const reader *r)
{
    return r->like_conllu ? "; it looks like CoNLL-U, which is known by its name: it ends in .conllu, plain or compressed "
                            "(.conllu.gz)" : "";
}

/* ---- token<tab>tag ---- */

static bool read_pair(reader *r, const char *line, GError **error)
{
    g_auto(GStrv) fields = g_strsplit(line, "\t", -1);
    const guint n = g_strv_length(fields);
    const char *tag = n > 1 ? fields[1] : NULL;
    const bool none = n <= 2 && is_no_tag(r, tag);
    const bool good = (n > 0 && *fields[0] != '\0' && ((n == 2 && *tag != '\0') || none)) ||
                      refuse(r, error, "a line must have the form `token<tab>tag`, or be empty after a sentence%s",
                             conllu_hint(r));
    if (good)
        add_word(r, fields[0], none ? NULL : tag);
    return good;
}

/* ---- columns between blanks ---- */

/* Choose the column of the tag, when the first line has given the number of columns. */
static bool choose_column(reader *r, GError **error)
{
    guint64 number;
    r->tag = r->columns - 1;
    if (r->text->untagged && r->columns == 1)
        r->tag = r->columns;
    if (strcmp(r->column, "upos") == 0 || r->tag == r->columns)
        return true;
    const guint64 last = r->columns + r->text->untagged;
    if (!g_ascii_string_to_unsigned(r->column, 10, 2, last, &number, NULL))
        return xlm_error_set(error, EX_CONFIG, "%s: column = %s, but of its %u columns between blanks the tag is chosen by a "
                             "number, 2 to %u (by default the last)", r->path, r->column, r->columns, r->columns);
    r->tag = (guint)number - 1;
    return true;
}

static bool read_columns(reader *r, const char *line, GError **error)
{
    g_auto(GStrv) all = g_strsplit(line, " ", -1);
    g_autoptr(GPtrArray) fields = g_ptr_array_new();
    for (char **at = all; *at != NULL; at++)
        if (**at != '\0')
            g_ptr_array_add(fields, *at);
    const bool first = r->columns == 0;
    if (first)
        r->columns = fields->len;
    bool good = true;
    if (fields->len < 2 && !r->text->untagged)
        good = refuse(r, error, "a line must have the form `token<tab>tag`, or columns between blanks as `token POS chunk tag`, "
                      "or be empty after a sentence%s", conllu_hint(r));
    else if (fields->len != r->columns)
        good = refuse(r, error, "%u columns between blanks, where the lines before have %u%s", fields->len, r->columns,
                      conllu_hint(r));
    else if (first)
        good = choose_column(r, error);
    const char *tag = good && r->tag < r->columns ? fields->pdata[r->tag] : NULL;
    if (good)
        add_word(r, fields->pdata[0], is_no_tag(r, tag) ? NULL : tag);
    return good;
}

static bool is_document(const char *line)
{
    static const char word[] = "-DOCSTART-";
    const size_t size = sizeof word - 1;
    return strncmp(line, word, size) == 0 && (line[size] == '\0' || line[size] == ' ' || line[size] == '\t');
}

static bool read_plain(reader *r, const char *line, GError **error)
{
    if (is_document(line)) {
        end_sentence(r);
        r->text->document_lines++;
        return true;
    }
    r->like_conllu |= is_like_conllu(line);
    if (!r->begun) {
        r->begun = true;
        r->blanks = strchr(line, '\t') == NULL;
    }
    if (r->columns == 1) /* so far there were tokens alone */
        r->blanks = strchr(line, '\t') == NULL;
    return r->blanks ? read_columns(r, line, error) : read_pair(r, line, error);
}

static bool read_line(void *data, const xlm_lines *lines, char *line, GError **error)
{
    reader *r = data;
    r->line = xlm_lines_number(lines);
    if (line[strspn(line, " \t\r\n\v\f")] != '\0')
        return read_plain(r, line, error);
    end_sentence(r);
    return true;
}

/* ---- CoNLL-U ---- */

/* The value of a key in "Key=Value|Key=Value"; g_free, or NULL. */
static char *value_of(const char *pairs, const char *key)
{
    const size_t size = strlen(key);
    for (const char *at = pairs; at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, key, size) == 0 && at[size] == '=')
            return g_strndup(at + size + 1, strcspn(at + size + 1, "|"));
    }
    return NULL;
}

static bool read_key(reader *r, char *const *column, GError **error)
{
    g_autofree char *value = value_of(column[XLM_CONLLU_FEATS], r->column);
    if (value == NULL)
        value = value_of(column[XLM_CONLLU_MISC], r->column);
    const bool good = value == NULL || *value != '\0' || refuse(r, error, "%s has no value", r->column);
    r->found |= value != NULL;
    if (good)
        add_word(r, column[XLM_CONLLU_FORM], value == NULL ? "O" : is_no_tag(r, value) ? NULL : value);
    return good;
}

static bool read_conllu_word(reader *r, const xlm_conllu_word *word, GError **error)
{
    r->line = word->line;
    if (r->key)
        return read_key(r, word->column, error);
    const char *tag = word->column[strcmp(r->column, "upos") == 0 ? XLM_CONLLU_UPOS : XLM_CONLLU_XPOS];
    const bool none = is_no_tag(r, tag);
    if (strcmp(tag, "_") == 0 && !none)
        return refuse(r, error, "\"%s\" has no %s; column = NAME names another column, and xlm_eval --predictions takes words "
                      "without a tag",
                      word->column[XLM_CONLLU_FORM], r->column);
    add_word(r, word->column[XLM_CONLLU_FORM], none ? NULL : tag);
    return true;
}

static bool read_sentences(reader *r, GError **error)
{
    g_autoptr(xlm_lines) lines = xlm_lines_open(r->path, error);
    if (lines == NULL)
        return false;
    xlm_conllu *sentence = xlm_conllu_new();
    bool good = true;
    int got = 0;
    while (good && (got = xlm_conllu_next(lines, sentence, XLM_CONLLU_TREES_PASSED_OVER, error)) == 1) {
        for (guint i = 0; i < sentence->words->len && good; i++)
            good = read_conllu_word(r, xlm_conllu_word_at(sentence, i), error);
        end_sentence(r);
    }
    xlm_conllu_free(sentence);
    return good && got == 0;
}

/* ---- IOB1 ---- */

/* The type of the span of a tag: "" for O and no tag, NULL if the tag is not one of spans. */
static const char *type_of(const char *tag)
{
    if (tag == NULL || strcmp(tag, "O") == 0)
        return "";
    return (*tag == 'B' || *tag == 'I') && tag[1] == '-' ? tag + 2 : NULL;
}

/* Rewrite the tags of the words from `word` on, which are the sentences from `sentence` on, if they are IOB1. */
static void rewrite_tags(xlm_tagged_text *text, guint word, guint sentence)
{
    g_autoptr(GArray) wrong = g_array_new(FALSE, FALSE, sizeof(guint)); /* words whose I- begins a span */
    bool bio = false; /* there is a B- where IOB1 would have I-, or a tag that is not one of spans */
    const char *before = "";
    for (guint i = word; i < text->words->len && !bio; i++) {
        const char *tag = g_array_index(text->words, xlm_tagged_word, i).tag, *type = type_of(tag);
        const guint end = g_array_index(text->ends, guint, sentence);
        const bool goes_on = type != NULL && strcmp(type, before) == 0;
        bio = type == NULL || (tag != NULL && *tag == 'B' && !goes_on);
        if (tag != NULL && *tag == 'I' && !goes_on)
            g_array_append_val(wrong, i);
        before = bio || i + 1 == end ? "" : type;
        sentence += i + 1 == end;
    }
    for (guint k = 0; k < wrong->len && !bio; k++) {
        xlm_tagged_word *w = &g_array_index(text->words, xlm_tagged_word, g_array_index(wrong, guint, k));
        g_autofree char *tag = g_strconcat("B-", w->tag + 2, NULL);
        w->tag = g_string_chunk_insert_const(text->strings, tag);
    }
    text->rewritten += wrong->len > 0 && !bio;
}

/* ---- all ---- */

/* Take the tags from all words after the first n. */
static void take_tags(xlm_tagged_text *text, guint n)
{
    for (guint i = n; i < text->words->len; i++)
        g_array_index(text->words, xlm_tagged_word, i).tag = NULL;
}

static bool read_all(reader *r, GError **error)
{
    const guint before = r->text->words->len, sentences = r->text->ends->len;
    if (!(r->conllu ? read_sentences(r, error) : xlm_lines_each(r->path, read_line, r, error)))
        return false;
    end_sentence(r);
    if (r->text->words->len == before)
        return xlm_error_set(error, EX_DATAERR, "%s: there is no word in it", r->path);
    const bool keyless = r->conllu && r->key && !r->found;
    if (keyless && r->text->untagged)
        take_tags(r->text, before);
    else if (keyless)
        return xlm_error_set(error, EX_DATAERR, "%s: no word has %s=... in FEATS or MISC; column is upos, xpos or such a key",
                             r->path, r->column);
    rewrite_tags(r->text, before, sentences);
    return true;
}

bool xlm_tagged_text_read(xlm_tagged_text *text, const char *path, int language, const char *column, GError **error)
{
    reader r = {.text = text, .path = g_string_chunk_insert_const(text->strings, path), .language = language, .column = column,
                .conllu = xlm_conllu_is_named(path), .key = strcmp(column, "upos") != 0 && strcmp(column, "xpos") != 0};
    return read_all(&r, error);
}
