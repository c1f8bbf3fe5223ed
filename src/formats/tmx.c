/* xlm-mpi: translation memories in TMX. SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/tmx.h"

#include <libxml/xmlreader.h>
#include <string.h>

struct unit_reader {
    xlm_lines *lines;
    xmlTextReader *xml;
    GError *failure; /* of reading the file */
    char *fault;     /* the first thing that is wrong with the XML */
    int n;
    const char *const *languages;
    GString **segments; /* [n] of the present unit; not set where given is NULL */
    const GString **given; /* [n] */
    bool *matches;      /* [n] is the present variant in that language? */
    GString *text;      /* of the present segment */
    bool in_root, in_unit, in_segment;
    int codes; /* elements with codes that are open in the segment */
};

bool xlm_tmx_language_matches(const char *wanted, const char *given)
{
    const size_t size = strlen(wanted);
    for (size_t i = 0; i < size; i++) {
        const char a = wanted[i] == '_' ? '-' : g_ascii_tolower(wanted[i]), b = given[i] == '_' ? '-' : g_ascii_tolower(given[i]);
        if (a != b)
            return false;
    }
    return given[size] == '\0' || given[size] == '-' || given[size] == '_';
}

/* ---- the parser ---- */

static int read_bytes(void *data, char *buffer, int size)
{
    struct unit_reader *r = data;
    return size <= 0 || r->failure != NULL ? (r->failure != NULL ? -1 : 0)
                                           : (int)xlm_lines_bytes(r->lines, buffer, (size_t)size, &r->failure);
}

#if LIBXML_VERSION >= 21200
typedef const xmlError parser_error;
#else
typedef xmlError parser_error;
#endif

static void note_fault(void *data, parser_error *fault)
{
    struct unit_reader *r = data;
    if (fault->level >= XML_ERR_ERROR && r->fault == NULL && fault->message != NULL) {
        g_autofree char *valid = g_utf8_make_valid(fault->message, -1);
        r->fault = g_strdup(g_strdelimit(g_strchomp(valid), "\n", ' '));
    }
}

static bool refuse(struct unit_reader *r, const char *what, GError **error)
{
    /* Lines of the file; units are what other messages count as lines. */
    return xlm_error_set(error, EX_DATAERR, "%s: line %d of the file: %s", xlm_lines_path(r->lines),
                         xmlTextReaderGetParserLineNumber(r->xml), what);
}

/* The parser has failed, perhaps because the file could not be read. */
static bool refuse_fault(struct unit_reader *r, GError **error)
{
    if (r->failure != NULL) {
        g_propagate_error(error, g_steal_pointer(&r->failure));
        return false;
    }
    g_autofree char *what = g_strdup_printf("not well-formed XML: %s; get or make the file again",
                                            r->fault != NULL ? r->fault : "it ends too early");
    return refuse(r, what, error);
}

/* Where a DTD of its own may declare it, the parser passes over a name that it does not know. */
static bool refuse_reference(struct unit_reader *r, const char *name, GError **error)
{
    g_autofree char *what = g_strdup_printf("&%s; has no meaning in this file; write the character in its place", name);
    return refuse(r, what, error);
}

/* ---- elements ---- */

static bool begin_root(struct unit_reader *r, const char *name, GError **error)
{
    r->in_root = true;
    const xmlNode *node = xmlTextReaderCurrentNode(r->xml);
    const xmlDtd *declared = node != NULL && node->doc != NULL ? node->doc->intSubset : NULL;
    if (declared != NULL && (declared->entities != NULL || declared->pentities != NULL))
        return refuse(r, "the file declares entities, which may stand for any amount of text; write what they stand for in their "
                      "place", error);
    if (strcmp(name, "tmx") == 0)
        return true;
    g_autofree char *what = g_strdup_printf("its first element is <%s>, where TMX has <tmx>", name);
    return refuse(r, what, error);
}

static void begin_unit(struct unit_reader *r)
{
    r->in_unit = true;
    memset(r->given, 0, sizeof *r->given * (size_t)r->n);
    memset(r->matches, 0, sizeof *r->matches * (size_t)r->n);
}

static bool end_unit(struct unit_reader *r, xlm_tmx_take *take, void *data, GError **error)
{
    r->in_unit = false;
    return take(data, (const GString *const *)r->given, error);
}

static void begin_variant(struct unit_reader *r)
{
    xmlChar *language = xmlTextReaderGetAttribute(r->xml, (const xmlChar *)"xml:lang");
    if (language == NULL) /* TMX before 1.4 */
        language = xmlTextReaderGetAttribute(r->xml, (const xmlChar *)"lang");
    for (int i = 0; i < r->n; i++)
        r->matches[i] = language != NULL && xlm_tmx_language_matches(r->languages[i], (const char *)language);
    xmlFree(language);
}

static void end_segment(struct unit_reader *r)
{
    r->in_segment = false;
    for (int i = 0; i < r->n; i++)
        if (r->matches[i] && r->given[i] == NULL) {
            g_string_assign(r->segments[i], r->text->str);
            r->given[i] = r->segments[i];
        }
}

static bool holds_codes(const char *name)
{
    static const char *const names[] = {"bpt", "ept", "it", "ph", "ut", NULL};
    return g_strv_contains(names, name);
}

static void begin_element(struct unit_reader *r, const char *name)
{
    if (r->in_segment) {
        r->codes += holds_codes(name);
    } else if (strcmp(name, "tu") == 0 && !r->in_unit) {
        begin_unit(r);
    } else if (strcmp(name, "tuv") == 0 && r->in_unit) {
        begin_variant(r);
    } else if (strcmp(name, "seg") == 0 && r->in_unit) {
        r->in_segment = true;
        r->codes = 0;
        g_string_truncate(r->text, 0);
    }
}

static bool end_element(struct unit_reader *r, const char *name, xlm_tmx_take *take, void *data, GError **error)
{
    if (r->in_segment && strcmp(name, "seg") == 0)
        end_segment(r);
    else if (r->in_segment)
        r->codes -= holds_codes(name);
    else if (strcmp(name, "tuv") == 0)
        memset(r->matches, 0, sizeof *r->matches * (size_t)r->n);
    else if (strcmp(name, "tu") == 0 && r->in_unit)
        return end_unit(r, take, data, error);
    return true;
}

static bool add_text(struct unit_reader *r, const char *text, GError **error)
{
    if (!r->in_segment || r->codes > 0 || text == NULL)
        return true;
    const size_t from = r->text->len;
    g_string_append(r->text, text);
    for (char *at = r->text->str + from; *at != '\0'; at++)
        if (*at == '\n' || *at == '\r')
            *at = ' ';
    return r->text->len < XLM_LINES_LONGEST || refuse(r, "a segment of more than 16 MiB; it must be a sentence", error);
}

/* ---- the file ---- */

static bool take_node(struct unit_reader *r, xlm_tmx_take *take, void *data, GError **error)
{
    const char *name = (const char *)xmlTextReaderConstLocalName(r->xml);
    switch (xmlTextReaderNodeType(r->xml)) {
    case XML_READER_TYPE_ELEMENT:
        if (!r->in_root && !begin_root(r, name, error))
            return false;
        begin_element(r, name);
        return !xmlTextReaderIsEmptyElement(r->xml) || end_element(r, name, take, data, error);
    case XML_READER_TYPE_END_ELEMENT:
        return end_element(r, name, take, data, error);
    case XML_READER_TYPE_TEXT:
    case XML_READER_TYPE_CDATA:
    case XML_READER_TYPE_WHITESPACE:
    case XML_READER_TYPE_SIGNIFICANT_WHITESPACE:
        return add_text(r, (const char *)xmlTextReaderConstValue(r->xml), error);
    case XML_READER_TYPE_ENTITY_REFERENCE:
        return !r->in_segment || refuse_reference(r, name, error);
    default:
        return true;
    }
}

static bool read_units(struct unit_reader *r, xlm_tmx_take *take, void *data, GError **error)
{
    int got;
    while ((got = xmlTextReaderRead(r->xml)) == 1)
        if (!take_node(r, take, data, error))
            return false;
    return got == 0 || refuse_fault(r, error);
}

bool xlm_tmx_read(xlm_lines *lines, int n, const char *const *languages, xlm_tmx_take *take, void *data, GError **error)
{
    struct unit_reader r = {.lines = lines, .n = n, .languages = languages, .text = g_string_new(NULL)};
    r.given = g_new0(const GString *, n);
    r.matches = g_new0(bool, n);
    r.segments = g_new(GString *, n);
    for (int i = 0; i < n; i++)
        r.segments[i] = g_string_new(NULL);
    xlm_lines_keep_bytes(lines);
    xmlInitParser();
    /* Neither the declared DTD is read, nor anything from the network. */
    r.xml = xmlReaderForIO(read_bytes, NULL, &r, NULL, NULL, XML_PARSE_NONET | XML_PARSE_COMPACT);
    bool good = false;
    if (r.xml == NULL) {
        xlm_error_set(error, EX_OSERR, "%s: libxml2 has not enough memory", xlm_lines_path(lines));
    } else {
        xmlTextReaderSetStructuredErrorHandler(r.xml, note_fault, &r);
        good = read_units(&r, take, data, error);
        xmlFreeTextReader(r.xml);
    }
    for (int i = 0; i < n; i++)
        g_string_free(r.segments[i], TRUE);
    g_string_free(r.text, TRUE);
    g_free(r.segments);
    g_free(r.given);
    g_free(r.matches);
    g_free(r.fault);
    g_clear_error(&r.failure);
    return good;
}
