/* xlm-mpi: a page of HTML that needs nothing else. SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/page.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/log.h"
#include "base/markup.h"

/* Colours of lines, on a white and on a dark background, with contrasts of at least 3.2 and 5. Any two are 25 apart in CIELAB,
 * also as people with protanopia, deuteranopia or tritanopia see them (simulated after Machado et al. 2009). */
enum { COLOURS = 6, DASHES = 5 };
static const char *const colours[COLOURS][2] = {{"#094ef0", "#4a8cf5"}, {"#c37a0a", "#f2c218"}, {"#cd1ca7", "#dd63a6"},
                                                {"#20a06e", "#3ddc97"}, {"#1b1f24", "#f2f4f7"}, {"#722b0a", "#f4502f"}};
static const char *const dashes[DASHES] = {"none", "7 3", "2 2.5", "9 3 2 3", "12 4"};

static const char style[] =
    ":root{color-scheme:light dark;--ground:#fff;--text:#1b1f24;--quiet:#57606a;--line:#d5dae0;--panel:#f5f7f9;--link:#005a9c;"
    "--heat:0,114,178;--shadow:rgba(0,0,0,.35)}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--ground:#15181c;--text:#e4e7eb;--quiet:#a3acb6;--line:#3a4149;"
    "--panel:#1e2227;--link:#7cc4ff;--heat:86,180,240;--shadow:rgba(255,255,255,.45)}"
    "img.map{filter:invert(1) hue-rotate(180deg)}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:82rem;padding:1rem;background:var(--ground);color:var(--text);"
    "font:1rem/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif;overflow-wrap:anywhere}\n"
    "h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0}\n"
    "h2{font-size:1.25rem;margin:2.5rem 0 .5rem;padding-top:.5rem;border-top:1px solid var(--line)}\n"
    "h3{font-size:1.05rem;margin:1.5rem 0 .5rem}\n"
    "p{max-width:48rem;margin:.5rem 0}\n"
    "a{color:var(--link)}\n"
    "nav ul,ul.legend{list-style:none;margin:.5rem 0;padding:0;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}\n"
    "ul.legend{font-size:.875rem;gap:.125rem 1rem}\n"
    "ul.legend li{display:inline-flex;align-items:center;gap:.4rem}\n"
    "th svg.key{display:block;margin-bottom:.25rem}\n"
    "svg.key{flex:none;width:2.25rem;height:.5rem}\n"
    ".figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,21.5rem),1fr));gap:1rem 1.5rem}\n"
    "figure{margin:0;min-width:0;break-inside:avoid}\n"
    "figure.wide{margin:1rem 0}\n"
    "figcaption{font-size:.875rem;margin:.25rem 0}figure p.note{margin:0 0 .5rem}\n"
    "figcaption b{font-weight:600}\n"
    ".note,footer,.note p{color:var(--quiet);font-size:.875rem}\n"
    "figure svg.plot{display:block;width:100%;max-width:33rem;height:auto}\n"
    "svg .axis{stroke:var(--quiet)}svg .gridline{stroke:var(--line)}svg .label{fill:var(--text)}\n"
    "svg.plot circle{fill:currentColor;stroke:none}\n"
    /* Shadows at both ends of a table that is wider than the window. Covers in the background's colour, which move with the
     * table, hide the shadow at an end that has been reached. */
    ".scroll{overflow-x:auto;margin:.75rem 0;background:linear-gradient(90deg,var(--ground) 30%,transparent) local 0 0/3rem 100%,"
    "linear-gradient(270deg,var(--ground) 30%,transparent) local 100% 0/3rem 100%,"
    "linear-gradient(90deg,var(--shadow),transparent) scroll 0 0/1.25rem 100%,"
    "linear-gradient(270deg,var(--shadow),transparent) scroll 100% 0/1.25rem 100%;background-repeat:no-repeat}\n"
    "p.more{display:none;margin:.5rem 0 -.5rem}@media screen and (max-width:40rem){p.more{display:block}}\n"
    ".scroll:focus-visible,summary:focus-visible,a:focus-visible{outline:2px solid var(--link);outline-offset:2px}\n"
    "table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;font-weight:600;padding:.25rem 0;position:sticky;left:0;max-width:calc(100vw - 2rem)}\n"
    "th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;font-weight:400;"
    "min-width:6.25rem;max-width:18rem}\n"
    "thead th{vertical-align:bottom;font-weight:600}\n"
    "tbody th{position:sticky;left:0;background:var(--ground);min-width:min(11rem,38vw);"
    "max-width:min(26rem,45vw);color:var(--quiet)}\n"
    "td.number{text-align:right}table:has(td.number) thead th{text-align:right}table:has(td.number) svg.key{margin-left:auto}\n"
    "table.texts{margin:.75rem 0;width:100%;max-width:60rem}\n"
    "table.texts td{max-width:none;width:100%}table.texts tbody th{position:static;min-width:5.5rem;max-width:12rem}\n"
    "table.texts th[scope=rowgroup]{max-width:none;padding-top:1rem;font-weight:600;color:var(--text)}\n"
    "details{margin:.5rem 0}details details{margin-left:1.25rem}summary{cursor:pointer}\n"
    "pre{background:var(--panel);padding:.75rem;overflow-x:auto;font-size:.8125rem;line-height:1.4;overflow-wrap:normal}\n"
    "table.heat{border-collapse:separate;border-spacing:1px;print-color-adjust:exact;-webkit-print-color-adjust:exact}\n"
    "table.heat th,table.heat td{min-width:0;border:0;padding:.125rem .3rem}\n"
    "table.heat thead th{writing-mode:vertical-rl;text-align:right;transform:rotate(180deg);vertical-align:top;"
    "max-height:12rem;font-weight:400;text-align:left;white-space:nowrap}\n"
    "table.heat tbody th{text-align:right;white-space:nowrap;color:var(--text)}\n"
    "table.heat td.high{color:var(--ground)}\n"
    "table.heat td{width:1.6rem;height:1.5rem;text-align:center;font-size:.6875rem;vertical-align:middle}\n"
    "@media (max-width:40rem){table.heat{font-size:.75rem}table.heat th,table.heat td{padding:.0625rem}"
    "table.heat td{width:1.15rem;height:1.15rem;font-size:.5625rem}}\n"
    ".maps{grid-template-columns:repeat(auto-fill,minmax(min(100%,26rem),1fr))}\n"
    "img.map{display:block;max-width:100%;height:auto}\n"
    "@media print{body{max-width:none;padding:0;font-size:10pt}nav,details:not([open]){display:none}.scroll{overflow:visible}"
    "h2,h3,h2+p,caption,ul.legend{break-after:avoid}tr,figure{break-inside:avoid}"
    ".figures{grid-template-columns:repeat(2,1fr)}}\n";

xlm_page *xlm_page_new(void)
{
    xlm_page *page = g_new0(xlm_page, 1);
    page->body = g_string_new("");
    page->contents = g_string_new("");
    page->notes = g_ptr_array_new_with_free_func(g_free);
    return page;
}

void xlm_page_free(xlm_page *page)
{
    g_string_free(page->body, TRUE);
    g_string_free(page->contents, TRUE);
    g_ptr_array_unref(page->notes);
    g_free(page);
}

/* ---- the whole ---- */

static void append_styles(GString *out)
{
    g_string_append(out, style);
    for (int dark = 0; dark < 2; dark++) {
        g_string_append(out, dark ? "@media screen and (prefers-color-scheme:dark){" : "");
        for (int i = 0; i < COLOURS; i++)
            g_string_append_printf(out, ":root{--c%d:%s}", i, colours[i][dark]);
        g_string_append(out, dark ? "}\n" : "\n");
    }
    for (int i = 0; i < XLM_PAGE_STYLES; i++)
        g_string_append_printf(out, ".s%d{stroke:var(--c%d);color:var(--c%d);stroke-dasharray:%s}", i, i % COLOURS, i % COLOURS,
                               dashes[i % DASHES]);
    g_string_append(out, "\n");
}

GString *xlm_page_end(xlm_page *page, const char *title, const char *command)
{
    GString *out = g_string_new("<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
                                "<meta charset=\"utf-8\"/>\n"
                                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                                "style-src 'unsafe-inline'; img-src data:\"/>\n<title>");
    xlm_markup_wrap(out, "", title, "</title>\n<style>\n");
    append_styles(out);
    xlm_markup_wrap(out, "</style>\n</head>\n<body>\n<header>\n<h1>", title, "</h1>\n");
    g_string_append_printf(out, "<nav aria-label=\"Sections\"><ul>%s</ul></nav>\n</header>\n<main>\n",
                           page->contents->str);
    g_string_append_len(out, page->body->str, (gssize)page->body->len);
    g_string_append(out, page->contents->len > 0 ? "</section>\n" : "");
    if (page->notes->len > 0) {
        g_string_append(out, "<section id=\"notes\">\n<h2>Not shown</h2>\n<ul class=\"note\">\n");
        for (guint i = 0; i < page->notes->len; i++)
            xlm_markup_wrap(out, "<li>", page->notes->pdata[i], "</li>\n");
        g_string_append(out, "</ul>\n</section>\n");
    }
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_autofree char *when = g_date_time_format(now, "%Y-%m-%d %H:%M");
    g_string_append_printf(out, "</main>\n<footer>\n<p>Written by xlm-mpi %s on <time>%s</time>: <code>", PACKAGE_VERSION, when);
    xlm_markup_wrap(out, "", command, "</code></p>\n</footer>\n</body>\n</html>\n");
    return out;
}

/* ---- parts ---- */

void xlm_page_section(xlm_page *page, const char *id, const char *title)
{
    g_string_append_printf(page->body, "%s<section id=\"%s\">\n<h2>", page->contents->len > 0 ? "</section>\n" : "", id);
    g_string_append_printf(page->contents, "<li><a href=\"#%s\">", id);
    xlm_markup_wrap(page->body, "", title, "</h2>\n");
    xlm_markup_wrap(page->contents, "", title, "</a></li>");
}

void xlm_page_heading(xlm_page *page, const char *title) { xlm_markup_wrap(page->body, "<h3>", title, "</h3>\n"); }

void xlm_page_paragraph(xlm_page *page, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    g_autofree char *text = g_strdup_vprintf(format, values);
    va_end(values);
    xlm_markup_wrap(page->body, "<p>", text, "</p>\n");
}

void xlm_page_note(xlm_page *page, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *text = g_strdup_vprintf(format, values);
    va_end(values);
    xlm_log_warn("%s", text);
    g_ptr_array_add(page->notes, text);
}

void xlm_page_scroll(xlm_page *page, const char *label)
{
    xlm_markup_wrap(page->body, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"", label, "\">\n");
}

/* A picture of a style's line. */
static void append_key(GString *out, int number)
{
    g_string_append_printf(out, "<svg class=\"key\" viewBox=\"0 0 36 8\" aria-hidden=\"true\"><path class=\"s%d\" "
                           "stroke-width=\"2.5\" d=\"M0 4H36\"/></svg>", number % XLM_PAGE_STYLES);
}

void xlm_page_table(xlm_page *page, const char *caption, const char *corner, int n, const xlm_page_column *columns)
{
    if (n > 2) /* more than a narrow window has room for */
        g_string_append_printf(page->body, "<p class=\"note more\">%d columns: scroll the table sideways to see all →</p>\n", n);
    xlm_page_scroll(page, caption);
    xlm_markup_wrap(page->body, "<table>\n<caption>", caption, "</caption>\n");
    xlm_markup_wrap(page->body, corner != NULL ? "<thead><tr><th scope=\"col\">" : "<thead><tr><td>",
                    corner != NULL ? corner : "", corner != NULL ? "</th>" : "</td>");
    for (int i = 0; i < n; i++) {
        g_string_append(page->body, "<th scope=\"col\">");
        append_key(page->body, columns[i].style);
        xlm_markup_wrap(page->body, "", columns[i].label, "</th>");
    }
    g_string_append(page->body, "</tr></thead>\n<tbody>\n");
}

void xlm_page_row(xlm_page *page, const char *heading, int columns, const char *const *cells, bool numbers)
{
    xlm_markup_wrap(page->body, "<tr><th scope=\"row\">", heading, "</th>");
    bool same = !numbers && columns > 1 && cells[0] != NULL;
    for (int i = 1; i < columns && same; i++)
        same = g_strcmp0(cells[0], cells[i]) == 0;
    for (int i = 0; i < (same ? 1 : columns); i++) {
        g_autofree char *begin = same ? g_strdup_printf("<td colspan=\"%d\">", columns) : NULL;
        xlm_markup_wrap(page->body, same ? begin : numbers ? "<td class=\"number\">" : "<td>", cells[i] != NULL ? cells[i] : "–",
                        "</td>");
    }
    g_string_append(page->body, "</tr>\n");
}

void xlm_page_table_end(xlm_page *page) { g_string_append(page->body, "</tbody>\n</table>\n</div>\n"); }

/* ---- texts ---- */

/* Maximum number of characters of a text that are shown. */
enum { LONGEST_TEXT = 2000 };

/* The BCP 47 tag of a language with a name such as "de" or "zh_Hant"; NULL if the name does not give one. g_free. */
static char *language_tag(const char *name)
{
    g_auto(GStrv) part = g_strsplit(name != NULL ? name : "", "_", -1);
    for (char **at = part; *at != NULL; at++) {
        const size_t length = strlen(*at);
        bool good = at == part ? length == 2 || length == 3 : length >= 2 && length <= 8;
        for (const char *c = *at; *c != '\0' && good; c++)
            good = at == part ? g_ascii_islower(*c) : g_ascii_isalnum(*c);
        if (!good)
            return NULL;
    }
    return part[0] != NULL ? g_strjoinv("-", part) : NULL;
}

void xlm_page_texts(xlm_page *page, const char *caption)
{
    xlm_markup_wrap(page->body, "<table class=\"texts\">\n<caption>", caption, "</caption>\n");
}

void xlm_page_text_group(xlm_page *page, const char *heading, int n, const xlm_page_text *texts)
{
    GString *out = page->body;
    xlm_markup_wrap(out, "<tbody>\n<tr><th scope=\"rowgroup\" colspan=\"2\">", heading, "</th></tr>\n");
    for (int i = 0; i < n; i++) {
        const xlm_page_text *t = &texts[i];
        g_string_append(out, "<tr><th scope=\"row\">");
        if (t->style >= 0)
            append_key(out, t->style);
        xlm_markup_wrap(out, "", t->heading, "</th>");
        if (t->text == NULL || *t->text == '\0') {
            g_string_append(out, t->text == NULL ? "<td>–</td></tr>\n" : "<td class=\"note\">(empty)</td></tr>\n");
            continue;
        }
        g_autofree char *valid = g_utf8_make_valid(t->text, -1), *tag = language_tag(t->language);
        const bool whole = g_utf8_strlen(valid, -1) <= LONGEST_TEXT;
        g_autofree char *shown = whole ? g_strdup(valid) : g_utf8_substring(valid, 0, LONGEST_TEXT);
        g_string_append(out, "<td dir=\"auto\"");
        if (tag != NULL)
            g_string_append_printf(out, " lang=\"%s\"", tag);
        xlm_markup_wrap(out, ">", shown, whole ? "</td></tr>\n" : "…</td></tr>\n");
    }
    g_string_append(out, "</tbody>\n");
}

void xlm_page_texts_end(xlm_page *page) { g_string_append(page->body, "</table>\n"); }

void xlm_page_legend(xlm_page *page, int n, const xlm_page_column *entries)
{
    g_string_append(page->body, "<ul class=\"legend\">");
    for (int i = 0; i < n; i++) {
        g_string_append(page->body, "<li>");
        append_key(page->body, entries[i].style);
        xlm_markup_wrap(page->body, "<span>", entries[i].label, "</span></li>");
    }
    g_string_append(page->body, "</ul>\n");
}

void xlm_page_details(xlm_page *page, const char *summary, const char *text)
{
    xlm_markup_wrap(page->body, "<details><summary>", summary, "</summary>\n<pre tabindex=\"0\">");
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    for (char **at = line; *at != NULL; at++)
        xlm_markup_wrap(page->body, "", *at, at[1] != NULL ? "\n" : "");
    g_string_append(page->body, "</pre></details>\n");
}

const char *xlm_page_number(double value, char text[32])
{
    const double size = fabs(value);
    const bool far = size >= 1e7 || (size > 0 && size < 1e-4);
    g_snprintf(text, 32, far ? "%.3e" : size >= 1000 ? "%.0f" : size >= 10 ? "%.2f" : size >= 1 ? "%.3f" : "%.4g", value);
    return text;
}
