/* xlm-mpi: tests of paragraphs read from web pages. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "formats/html.h"

/* The page's paragraphs as "id.occurrence/occurrences=text|...", and at the end "!" when it was damaged. */
static char *describe(const char *bytes, size_t size)
{
    GError *error = NULL;
    xlm_html_reader *reader = xlm_html_reader_new(&error);
    assert_non_null(reader);
    xlm_html_page *page = xlm_html_read(reader, "page.html", bytes, size, &error);
    assert_null(error);
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < page->paragraphs->len; i++) {
        const xlm_html_paragraph *p = &g_array_index(page->paragraphs, xlm_html_paragraph, i);
        g_string_append_printf(text, "%s%s.%u/%u=%s", i > 0 ? "|" : "", p->id, p->occurrence, p->occurrences, p->text);
    }
    if (page->damaged)
        g_string_append_c(text, '!');
    xlm_html_page_free(page);
    xlm_html_reader_free(reader);
    return g_string_free(text, FALSE);
}

static void expect_bytes(const char *bytes, size_t size, const char *expected)
{
    char *found = describe(bytes, size);
    assert_string_equal(found, expected);
    g_free(found);
}

static void expect(const char *page, const char *expected) { expect_bytes(page, strlen(page), expected); }

/* The same inside a page of HTML without faults. */
static void expect_body(const char *body, const char *expected)
{
    char *page = g_strconcat("<!DOCTYPE html><html><head><title>t</title></head><body>", body, "</body></html>", NULL);
    expect(page, expected);
    g_free(page);
}

static void elements(void **state)
{
    (void)state;
    expect_body("<h1 id=a>One</h1><p id='b'>Two</p><p>none</p><div id=c>no</div><span id=d>no</span>", "a.0/1=One|b.0/1=Two");
    expect_body("<ul><li id=a>One</li></ul><table><tr><th id=b>Two</th><td id=c>Three</td></tr></table>",
                "a.0/1=One|b.0/1=Two|c.0/1=Three");
    expect_body("<p id=''>no</p><p id=a></p><p id=b> \n </p><p id=c><img alt=x></p>", "");
    expect_body("<P ID=A>One</P>", "A.0/1=One");
}

static void white_space(void **state)
{
    (void)state;
    expect_body("<p id=a>\n One\ttwo&nbsp; &#160;three\n</p>", "a.0/1=One two three");
    expect_body("<p id=a>One<br>two</p>", "a.0/1=One two");
    expect_body("<p id=a>C<b>trl</b>+<i>A</i></p>", "a.0/1=Ctrl+A");
    expect_body("<table><tr><td id=a><p>One</p><p>two</p></td></tr></table>", "a.0/1=One two");
}

static void characters(void **state)
{
    (void)state;
    expect_body("<p id=a>a &amp; b &lt;c&gt; &auml;&#x20AC;&#8364;&quot;</p>",
                "a.0/1=a & b <c> \xc3\xa4\xe2\x82\xac\xe2\x82\xac\"");
    expect_body("<p id=a>soft&shy;hyphen a&#x308;</p>", "a.0/1=softhyphen \xc3\xa4");
}

static void nested(void **state)
{
    (void)state;
    expect_body("<table><tr><td id=a>One <p id=b>two <b>three</b></p> four</td></tr></table>", "a.0/1=One four|b.0/1=two three");
    expect_body("<p id=a>One<script>var x = '<p id=b>no';</script><style>p {}</style> two</p>", "a.0/1=One two");
    expect_body("<ul><li id=a>One<ul><li id=b>two</li><li>three</li></ul></li></ul>", "a.0/1=One three|b.0/1=two");
}

static void same_id_twice(void **state)
{
    (void)state;
    expect_body("<p id=a>One</p><p id=b>two</p><p id=a>three</p>", "a.0/2=One|b.0/1=two|a.1/2=three");
    /* One without text keeps its place. */
    expect_body("<p id=a></p><p id=a>three</p>", "a.1/2=three");
}

static void hidden(void **state)
{
    (void)state;
    expect_body("<p id=a>Press <span><span hidden>Command</span>\n<span hidden>Option</span><span "
                "hidden>Ctrl</span></span>+A</p>", "a.0/1=Press Ctrl+A");
    expect_body("<p id=a>Seen <span hidden>unseen</span></p>", "a.0/1=Seen");
    expect_body("<p id=a><b>Seen</b><span hidden>unseen</span></p>", "a.0/1=Seen");
    expect_body("<p id=a><span hidden>unseen</span><b>Seen</b></p>", "a.0/1=Seen");
    /* Paragraphs as a whole are there to be shown at some time. */
    expect_body("<div><div hidden><p id=a>One</p></div><div hidden><p id=b>two</p></div></div>", "a.0/1=One|b.0/1=two");
}

static void encodings(void **state)
{
    (void)state;
    const char *utf8 = "\xd0\x94\xd0\xb0 \xc3\xbc";
    char *expected = g_strconcat("a.0/1=", utf8, NULL);
    char *page = g_strconcat("<html><body><p id=a>", utf8, "</p></body></html>", NULL);
    expect(page, expected);
    g_free(page);
    /* Converted by a tool that left the declaration as it was. */
    page = g_strconcat("<html><head><meta charset=iso-8859-5></head><body><p id=a>", utf8, "</p></body></html>", NULL);
    expect(page, expected);
    g_free(page);
    g_free(expected);
    expect("<html><head><meta http-equiv=Content-Type content='text/html; charset=iso-8859-1'></head>"
           "<body><p id=a>gr\xfc\xdf" "e</p></body></html>", "a.0/1=gr\xc3\xbc\xc3\x9f" "e");
    expect("<html><head><meta charset='koi8-r'></head><body><p id=a>\xe4\xc1</p></body></html>", "a.0/1=\xd0\x94\xd0\xb0");
    expect("<html><head><meta charset='shift_jis'></head><body><p id=a>\x93\xfa\x96\x7b</p></body></html>",
           "a.0/1=\xe6\x97\xa5\xe6\x9c\xac");
    expect("<html><head><meta charset='iso-2022-jp'></head><body><p id=a>\x1b$BF|K\\\x1b(B</p></body></html>",
           "a.0/1=\xe6\x97\xa5\xe6\x9c\xac");
    expect("<?xml version='1.0' encoding='iso-8859-1'?><html><body><p id='a'>\xfc</p></body></html>", "a.0/1=\xc3\xbc");
    static const char utf16[] = "\xff\xfe<\0p\0 \0i\0d\0=\0a\0>\0\x14\x04<\0/\0p\0>";
    expect_bytes(utf16, sizeof utf16, "a.0/1=\xd0\x94");
}

static void xhtml(void **state)
{
    (void)state;
    static const char doctype[] = "<?xml version='1.0' encoding='UTF-8'?>\n<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 "
                                  "Strict//EN' 'http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd'>\n";
    char *page = g_strconcat(doctype, "<html xmlns='http://www.w3.org/1999/xhtml'><body><p id='a'>a&nbsp;&amp;&nbsp;&auml;&lt;"
                             "<script/><![CDATA[<b>]]></p><p id='b'/><p id='c'>x</p></body></html>", NULL);
    expect(page, "a.0/1=a & \xc3\xa4<<b>|c.0/1=x");
    g_free(page);
    /* The parser may not read files that a page names. */
    expect("<?xml version='1.0'?><!DOCTYPE html [<!ENTITY f SYSTEM 'file:///etc/passwd'>]><html><body><p "
           "id='a'>x&f;</p></body></html>", "a.0/1=x!");
    /* Not well-formed: as HTML, which knows what a missing end tag means. */
    expect("<?xml version='1.0'?><html><body><p id='a'>One<p id='b'>two</p></body></html>", "a.0/1=One|b.0/1=two!");
}

static void faults(void **state)
{
    (void)state;
    expect_body("<nav><p id=a>Tags that are newer than the parser</p></nav>", "a.0/1=Tags that are newer than the parser");
    expect_body("<p id=a>One<p id=b>two", "a.0/1=One|b.0/1=two");
    expect_body("<p id=a>R&D</p>", "a.0/1=R&D!");
    expect_body("<p id=a>One</b></p><p id=b>two</p>", "a.0/1=One|b.0/1=two!");
    expect("", "!");
    expect("<html><body><p id=a>cut sho", "a.0/1=cut sho");
}

/* Neither the stack nor patience may end. */
static void deep(void **state)
{
    (void)state;
    GString *page = g_string_new("<p id=a>");
    for (int i = 0; i < 20000; i++)
        g_string_append(page, "<b>");
    g_string_append(page, "x");
    char *found = describe(page->str, page->len);
    assert_true(g_str_has_prefix(found, "a.0/1=x") || strcmp(found, "!") == 0);
    g_free(found);
    g_string_free(page, TRUE);
}

static void too_large(void **state)
{
    (void)state;
    GError *error = NULL;
    xlm_html_reader *reader = xlm_html_reader_new(&error);
    assert_null(xlm_html_read(reader, "page.html", "", (size_t)1 << 32, &error));
    assert_int_equal(xlm_error_exit_code(error), EX_DATAERR);
    g_error_free(error);
    xlm_html_reader_free(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements), cmocka_unit_test(white_space),   cmocka_unit_test(characters), cmocka_unit_test(nested),
        cmocka_unit_test(hidden),   cmocka_unit_test(same_id_twice), cmocka_unit_test(encodings),  cmocka_unit_test(xhtml),
        cmocka_unit_test(faults),   cmocka_unit_test(deep),          cmocka_unit_test(too_large)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
