/* xlm-mpi: paragraphs of web pages, each known by the id of its element. SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/html.h"

#include <libxml/HTMLparser.h>
#include <libxml/parserInternals.h>
#include <libxml/SAX2.h>
#include <string.h>

#include "files/files.h"
#include "text/lines.h"
#include "text/normalise.h"

struct xlm_html_reader {
    xlm_normaliser *normaliser;
    GHashTable *entities; /* name -> xmlEntity: named characters of HTML, for the XML parser */
    bool damaged;         /* the parser has found errors on this page */
};

/* A paragraph whose element is open. */
typedef struct paragraph_draft {
    const xmlNode *element;
    guint index; /* in the page's array */
    GString *content;
} paragraph_draft;

/* ---- one page as a tree ---- */

#if LIBXML_VERSION >= 21200
typedef const xmlError parser_error;
#else
typedef xmlError parser_error;
#endif

/* The parser knows the elements of HTML 4, so an unknown one is not a mistake; nor is text lost if an id occurs twice. */
static void note_error(void *data, parser_error *fault)
{
    xlm_html_reader *reader = data;
    if (fault->level >= XML_ERR_ERROR && fault->code != XML_HTML_UNKNOWN_TAG && fault->code != XML_DTD_ID_REDEFINED)
        reader->damaged = true;
}

/* XHTML uses HTML's named characters (&nbsp;), which are declared in a file on the web that is not fetched. */
static xmlEntity *find_entity(void *data, const xmlChar *name)
{
    xmlParserCtxt *parser = data;
    xmlEntity *entity = xmlSAX2GetEntity(parser, name);
    const htmlEntityDesc *character = entity == NULL ? htmlEntityLookup(name) : NULL;
    if (character == NULL)
        return entity;
    xlm_html_reader *reader = parser->_private;
    entity = g_hash_table_lookup(reader->entities, character->name);
    if (entity == NULL) {
        char text[8] = "";
        entity = g_new0(xmlEntity, 1);
        entity->type = XML_ENTITY_DECL;
        entity->etype = XML_INTERNAL_PREDEFINED_ENTITY;
        entity->name = (const xmlChar *)character->name;
        entity->length = g_unichar_to_utf8(character->value, text);
        entity->content = entity->orig = (xmlChar *)g_strdup(text);
        g_hash_table_insert(reader->entities, (gpointer)character->name, entity);
    }
    return entity;
}

static void free_entity(gpointer data)
{
    xmlEntity *entity = data;
    g_free(entity->content);
    g_free(entity);
}

/* NULL if the page is not well-formed. */
static xmlDoc *parse_xml(xlm_html_reader *reader, const char *bytes, int size)
{
    xmlParserCtxt *parser = xmlNewParserCtxt();
    if (parser == NULL)
        return NULL;
    parser->_private = reader;
    parser->sax->getEntity = find_entity;
    xmlDoc *document = xmlCtxtReadMemory(parser, bytes, size, NULL, NULL,
                                         XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NONET);
    xmlFreeParserCtxt(parser);
    return document;
}

/* By itself, the parser reads a page that declares no encoding as Latin-1, and tools that convert a page to UTF-8 may leave the
 * old declaration in it. Text in another encoding is hardly ever valid UTF-8 (ISO-2022 has no byte above 127). */
static const char *find_encoding(const char *bytes, size_t size)
{
    bool ascii = true;
    for (size_t i = 0; i < size && ascii; i++)
        ascii = (bytes[i] & 0x80) == 0;
    return !ascii && xlm_utf8_check(bytes, size) == size ? "UTF-8" : NULL;
}

static xmlDoc *parse_html(const char *bytes, int size)
{
    htmlParserCtxt *parser = htmlNewParserCtxt();
    if (parser == NULL)
        return NULL;
    xmlDoc *document =
        htmlCtxtReadMemory(parser, bytes, size, NULL, find_encoding(bytes, (size_t)size),
                           HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET);
    htmlFreeParserCtxt(parser);
    return document;
}

static bool begins_as_xml(const char *bytes, size_t size)
{
    static const char declaration[] = "<?xml";
    const size_t skip = xlm_lines_mark(bytes, size);
    return size - skip >= strlen(declaration) && memcmp(bytes + skip, declaration, strlen(declaration)) == 0;
}

static xmlDoc *parse(xlm_html_reader *reader, const char *bytes, int size)
{
    xmlDoc *document = NULL;
    reader->damaged = false;
    xmlSetStructuredErrorFunc(reader, note_error);
    if (begins_as_xml(bytes, (size_t)size))
        document = parse_xml(reader, bytes, size);
    if (document == NULL)
        document = parse_html(bytes, size);
    xmlSetStructuredErrorFunc(NULL, NULL);
    return document;
}

/* ---- from the tree to paragraphs ---- */

static bool is_paragraph(const xmlNode *element)
{
    static const char *const names[] = {"p",  "h1", "h2", "h3", "h4",      "h5",         "h6",         "li",
                                        "dt", "dd", "td", "th", "caption", "figcaption", "blockquote", NULL};
    return g_strv_contains(names, (const char *)element->name);
}

/* Elements that separate the words before and after them. */
static bool is_break(const xmlNode *element)
{
    static const char *const names[] = {"br",      "div",   "ul",    "ol",    "dl",     "table",   "thead",   "tbody",
                                        "tfoot",   "tr",    "pre",   "hr",    "form",   "section", "article", "aside",
                                        "header",  "footer", "nav",  "main",  "figure", "address", "details", "summary",
                                        NULL};
    return is_paragraph(element) || g_strv_contains(names, (const char *)element->name);
}

static bool is_unseen(const xmlNode *element)
{
    static const char *const names[] = {"head", "script", "style", "template", "noscript", NULL};
    return g_strv_contains(names, (const char *)element->name);
}

static bool is_hidden(const xmlNode *element) { return xmlHasProp(element, (const xmlChar *)"hidden") != NULL; }

/* Is a hidden element the last of hidden alternatives: does its parent have only white space besides? */
static bool is_last_alternative(const xmlNode *element)
{
    for (const xmlNode *node = element->next; node != NULL; node = node->next)
        if (node->type == XML_ELEMENT_NODE || !xmlIsBlankNode(node))
            return false;
    for (const xmlNode *node = element->prev; node != NULL; node = node->prev)
        if (node->type == XML_ELEMENT_NODE ? !is_hidden(node) : !xmlIsBlankNode(node))
            return false;
    return true;
}

/* The state while a page's tree is walked. */
typedef struct page_walk {
    xlm_html_reader *reader;
    xlm_html_page *page;
    GArray *open;            /* paragraph_draft, the innermost last */
    GHashTable *occurrences; /* id -> number of elements so far */
} page_walk;

static void append(const page_walk *walk, const char *text)
{
    if (walk->open->len > 0)
        g_string_append(g_array_index(walk->open, paragraph_draft, walk->open->len - 1).content, text);
}

static void begin_paragraph(page_walk *walk, const xmlNode *element, const char *id)
{
    xlm_html_paragraph paragraph = {.id = g_strdup(id)};
    paragraph.occurrence = GPOINTER_TO_UINT(g_hash_table_lookup(walk->occurrences, id));
    g_hash_table_insert(walk->occurrences, g_strdup(id), GUINT_TO_POINTER(paragraph.occurrence + 1));
    const paragraph_draft draft = {element, walk->page->paragraphs->len, g_string_new(NULL)};
    g_array_append_val(walk->page->paragraphs, paragraph);
    g_array_append_val(walk->open, draft);
}

static void end_paragraph(page_walk *walk)
{
    const paragraph_draft draft = g_array_index(walk->open, paragraph_draft, walk->open->len - 1);
    g_array_set_size(walk->open, walk->open->len - 1);
    const char *text;
    size_t size;
    if (!xlm_normaliser_run(walk->reader->normaliser, draft.content->str, draft.content->len, &text, &size, NULL))
        walk->page->damaged = true;
    else if (size > 0)
        g_array_index(walk->page->paragraphs, xlm_html_paragraph, draft.index).text = g_strdup(text);
    g_string_free(draft.content, TRUE);
}

/* Returns true if the contents of the element are to be read. */
static bool enter_element(page_walk *walk, const xmlNode *element)
{
    if (is_unseen(element) || (walk->open->len > 0 && is_hidden(element) && !is_last_alternative(element)))
        return false;
    if (is_break(element))
        append(walk, " ");
    if (is_paragraph(element)) {
        xmlChar *id = xmlGetNoNsProp(element, (const xmlChar *)"id");
        if (id != NULL && id[0] != '\0')
            begin_paragraph(walk, element, (const char *)id);
        xmlFree(id);
    }
    return true;
}

static void leave_element(page_walk *walk, const xmlNode *element)
{
    if (walk->open->len > 0 && g_array_index(walk->open, paragraph_draft, walk->open->len - 1).element == element)
        end_paragraph(walk);
    if (is_break(element))
        append(walk, " ");
}

/* Returns true if the contents of the node are to be read. */
static bool enter(page_walk *walk, const xmlNode *node)
{
    switch (node->type) {
    case XML_ELEMENT_NODE: return enter_element(walk, node);
    case XML_TEXT_NODE:
    case XML_CDATA_SECTION_NODE: append(walk, (const char *)node->content); return false;
    case XML_ENTITY_REF_NODE: walk->page->damaged = true; return false; /* declared by the page itself: not expanded */
    default: return false;
    }
}

/* Without recursion, since a damaged page may nest elements without limit. */
static void walk_tree(page_walk *walk, const xmlNode *root)
{
    const xmlNode *node = root;
    while (node != NULL) {
        if (enter(walk, node)) {
            if (node->children != NULL) {
                node = node->children;
                continue;
            }
            leave_element(walk, node);
        }
        while (node != root && node->next == NULL) {
            node = node->parent;
            leave_element(walk, node);
        }
        node = node == root ? NULL : node->next;
    }
}

static void clear_paragraph(gpointer data)
{
    xlm_html_paragraph *paragraph = data;
    g_free(paragraph->id);
    g_free(paragraph->text);
}

/* Remove paragraphs without text, and set `occurrences`, which is known only at the end. */
static void finish_paragraphs(const page_walk *walk)
{
    xlm_html_page *page = walk->page;
    GArray *with_text = g_array_new(FALSE, FALSE, sizeof(xlm_html_paragraph));
    for (guint i = 0; i < page->paragraphs->len; i++) {
        xlm_html_paragraph *paragraph = &g_array_index(page->paragraphs, xlm_html_paragraph, i);
        paragraph->occurrences = GPOINTER_TO_UINT(g_hash_table_lookup(walk->occurrences, paragraph->id));
        if (paragraph->text != NULL)
            g_array_append_val(with_text, *paragraph);
        else
            clear_paragraph(paragraph);
    }
    g_array_free(page->paragraphs, TRUE);
    page->paragraphs = with_text;
    g_array_set_clear_func(with_text, clear_paragraph);
}

xlm_html_page *xlm_html_read(xlm_html_reader *reader, const char *name, const char *bytes, size_t size, GError **error)
{
    if (size > XLM_LINE_MAX) {
        xlm_error_set(error, EX_DATAERR, "%s: has %zu bytes, and a page may have %d; is this a page of text?", name, size,
                      XLM_LINE_MAX);
        return NULL;
    }
    xlm_html_page *page = g_new0(xlm_html_page, 1);
    page->paragraphs = g_array_new(FALSE, FALSE, sizeof(xlm_html_paragraph));
    page_walk walk = {reader, page, g_array_new(FALSE, FALSE, sizeof(paragraph_draft)),
                      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    xmlDoc *document = parse(reader, bytes, (int)size);
    if (document != NULL)
        walk_tree(&walk, xmlDocGetRootElement(document));
    page->damaged = page->damaged || reader->damaged || document == NULL;
    finish_paragraphs(&walk);
    xmlFreeDoc(document);
    g_hash_table_destroy(walk.occurrences);
    g_array_free(walk.open, TRUE);
    return page;
}

void xlm_html_page_free(xlm_html_page *page)
{
    if (page == NULL)
        return;
    g_array_free(page->paragraphs, TRUE);
    g_free(page);
}

xlm_html_reader *xlm_html_reader_new(GError **error)
{
    xmlInitParser();
    xlm_normaliser *normaliser = xlm_normaliser_new(false, error);
    if (normaliser == NULL)
        return NULL;
    xlm_html_reader *reader = g_new0(xlm_html_reader, 1);
    reader->normaliser = normaliser;
    reader->entities = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_entity);
    return reader;
}

void xlm_html_reader_free(xlm_html_reader *reader)
{
    if (reader == NULL)
        return;
    xlm_normaliser_free(reader->normaliser);
    g_hash_table_destroy(reader->entities);
    g_free(reader);
}

/* ---- files ---- */

xlm_html_page *xlm_html_load(xlm_html_reader *reader, const char *path, GError **error)
{
    g_autofree char *bytes = NULL;
    gsize size;
    g_autoptr(GError) cause = NULL;
    if (xlm_files_load(path, &bytes, &size, &cause))
        return xlm_html_read(reader, path, bytes, size, error);
    xlm_error_set(error, EX_NOINPUT, "%s: cannot be read: %s", path, cause->message);
    return NULL;
}

static bool is_page(const char *name)
{
    static const char *const endings[] = {".html", ".htm", ".xhtml", ".xht"};
    const char *ending = strrchr(name, '.');
    for (size_t i = 0; i < G_N_ELEMENTS(endings) && ending != NULL; i++)
        if (g_ascii_strcasecmp(ending, endings[i]) == 0)
            return true;
    return false;
}

/* Add the pages of root/folder and of the folders in it; folder "" is root itself. */
static bool list_folder(const char *root, const char *folder, GPtrArray *pages, GError **error)
{
    g_autofree char *path = g_build_filename(root, folder, NULL);
    g_autoptr(GError) cause = NULL;
    g_autoptr(GDir) entries = g_dir_open(path, 0, &cause);
    if (entries == NULL)
        xlm_error_set(error, EX_NOINPUT, "%s: cannot be read: %s", path, cause->message);
    bool good = entries != NULL;
    for (const char *name; good && (name = g_dir_read_name(entries)) != NULL;) {
        g_autofree char *relative = g_build_filename(folder, name, NULL), *full = g_build_filename(path, name, NULL);
        if (g_file_test(full, G_FILE_TEST_IS_DIR))
            good = g_file_test(full, G_FILE_TEST_IS_SYMLINK) || list_folder(root, relative, pages, error);
        else if (is_page(name))
            g_ptr_array_add(pages, g_strdup(relative));
    }
    return good;
}

static gint compare_paths(gconstpointer a, gconstpointer b) { return strcmp(*(char *const *)a, *(char *const *)b); }

GPtrArray *xlm_html_list_pages(const char *root, GError **error)
{
    g_autoptr(GPtrArray) pages = g_ptr_array_new_with_free_func(g_free);
    bool good = list_folder(root, "", pages, error);
    if (good && pages->len == 0)
        good = xlm_error_set(error, EX_DATAERR, "%s: no page (.html, .htm, .xhtml, .xht) in it; name the directory of the pages",
                             root);
    if (!good)
        return NULL;
    g_ptr_array_sort(pages, compare_paths);
    return g_steal_pointer(&pages);
}
