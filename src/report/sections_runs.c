/* xlm-mpi: the sections of a report on runs: what they are, and their jobs. SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/sections.h"

#include <string.h>

#include "job/job_changes.h"

static const char *find_fact(const xlm_run *run, const char *name)
{
    for (guint i = 0; i + 1 < run->facts->len; i += 2)
        if (strcmp(run->facts->pdata[i], name) == 0)
            return run->facts->pdata[i + 1];
    return NULL;
}

/* A row for what any run knows, in the order of the first that knows it. */
bool xlm_section_runs(const xlm_sections *s, GError **error G_GNUC_UNUSED)
{
    const xlm_runs *runs = s->runs;
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    g_autofree const char **cells = g_new(const char *, runs->n);
    xlm_page_section(s->page, "runs", runs->n > 1 ? "Runs" : "Run");
    xlm_page_table(s->page, "What was run, and its result", NULL, runs->n, runs->columns);
    for (int i = 0; i < runs->n; i++)
        for (guint f = 0; f < runs->run[i].facts->len; f += 2) {
            const char *name = runs->run[i].facts->pdata[f];
            for (int k = 0; k < runs->n; k++)
                cells[k] = find_fact(&runs->run[k], name);
            if (g_hash_table_add(seen, (gpointer)name))
                xlm_page_row(s->page, name, runs->n, cells, false);
        }
    xlm_page_table_end(s->page);
    return true;
}

static void write_differences(const xlm_sections *s, GPtrArray *differences, int jobs, const int *place)
{
    g_autofree const char **cells = g_new(const char *, jobs);
    g_autofree xlm_page_column *columns = g_new(xlm_page_column, jobs);
    for (int i = 0; i < s->runs->n; i++)
        if (place[i] >= 0)
            columns[place[i]] = s->runs->columns[i];
    xlm_page_table(s->page, "Keys of the jobs that differ", "Key", jobs, columns);
    for (guint d = 0; d < differences->len; d++) {
        const xlm_job_difference *difference = differences->pdata[d];
        g_autofree char *key = g_strdup_printf("[%s]%s%s", difference->section, difference->key != NULL ? " " : "",
                                               difference->key != NULL ? difference->key : "");
        for (int i = 0; i < jobs; i++)
            cells[i] = *difference->value[i] != '\0' ? difference->value[i] : "(empty)";
        xlm_page_row(s->page, key, jobs, cells, false);
    }
    xlm_page_table_end(s->page);
}

/* The files of the jobs by their digests, where these differ. Returns whether they do. */
static bool write_inputs(const xlm_sections *s, const xlm_run_inputs *inputs)
{
    const int n = s->runs->n;
    g_autofree const char **cells = g_new(const char *, n);
    bool any = false;
    for (int which = 0; which < XLM_RUN_INPUTS; which++) {
        if (!xlm_run_inputs_differ(inputs, n, which))
            continue;
        if (!any)
            xlm_page_table(s->page, "What the runs began with, where it differs", NULL, n, s->runs->columns);
        any = true;
        for (int i = 0; i < n; i++)
            cells[i] = inputs[i].value[which] != NULL ? inputs[i].value[which] : "?";
        xlm_page_row(s->page, xlm_run_input_names[which], n, cells, false);
    }
    if (any)
        xlm_page_table_end(s->page);
    return any;
}

/* What differs among several jobs: their keys, and the files that these name. */
static void compare_jobs(const xlm_sections *s, const char *const *text, int jobs, const int *place)
{
    const int n = s->runs->n;
    g_autofree xlm_run_inputs *inputs = g_new(xlm_run_inputs, n);
    for (int i = 0; i < n; i++)
        inputs[i] = s->runs->run[i].inputs;
    g_autoptr(GPtrArray) differences = xlm_job_differences(text, jobs);
    if (differences == NULL)
        xlm_page_note(s->page, "the jobs are not compared: one of them is damaged");
    else if (differences->len > 0)
        write_differences(s, differences, jobs, place);
    const bool others = write_inputs(s, inputs);
    if (differences == NULL || differences->len > 0)
        return;
    if (others)
        xlm_page_paragraph(s->page, "The keys of the jobs are the same, but not the files that they name.");
    else if (xlm_run_inputs_known(inputs, n))
        xlm_page_paragraph(s->page, "The jobs are the same.");
    else
        xlm_page_paragraph(s->page, "The keys of the jobs are the same; the files that they name are not compared, since not "
                           "every run has a checkpoint.");
}

bool xlm_section_job(const xlm_sections *s, GError **error G_GNUC_UNUSED)
{
    g_autofree const char **text = g_new(const char *, s->runs->n);
    g_autofree int *place = g_new(int, s->runs->n);
    int jobs = 0;
    for (int i = 0; i < s->runs->n; i++) {
        place[i] = s->runs->run[i].job != NULL ? jobs : -1;
        if (place[i] >= 0)
            text[jobs++] = s->runs->run[i].job;
    }
    if (jobs > 0) {
        xlm_page_section(s->page, "job", jobs > 1 ? "Jobs" : "Job");
        if (jobs > 1)
            compare_jobs(s, text, jobs, place);
    }
    if (jobs > 1)
        g_string_append(s->page->body, "<details><summary>Every key of each job</summary>\n");
    for (int i = 0; i < s->runs->n; i++)
        if (place[i] >= 0) {
            g_autofree char *summary = g_strdup_printf("Every key of the job of %s", s->runs->run[i].label);
            xlm_page_details(s->page, summary, s->runs->run[i].job);
        }
    if (jobs > 1)
        g_string_append(s->page->body, "</details>\n");
    return true;
}

void xlm_sections_open_figures(const xlm_sections *s, bool legend)
{
    if (legend)
        xlm_page_legend(s->page, s->runs->n, s->runs->columns);
    g_string_append(s->page->body, "<div class=\"figures\">\n");
}

void xlm_sections_close_figures(const xlm_sections *s) { g_string_append(s->page->body, "</div>\n"); }
