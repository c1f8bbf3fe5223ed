/* xlm-mpi: progress of long work. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/progress.h"

#include <glib.h>
#include <string.h>

#include "base/log.h"

/* Seconds between two live lines, and between two lines in a log. */
static const double LIVE_INTERVAL = 0.2, LOG_INTERVAL = 30;

xlm_progress xlm_progress_begin(const char *what, double total, const char *unit)
{
    const double now = xlm_clock();
    return (xlm_progress){.what = what, .unit = unit, .total = total, .begin = now, .shown = now};
}

/* The field of the other count; g_free. */
static char *other_rate(const xlm_progress *p, double seconds)
{
    char speed[16];
    if (p->other_unit == NULL)
        return g_strdup("");
    return g_strdup_printf("  %s %s/s", xlm_log_count(seconds > 0 ? p->other / seconds : 0, speed), p->other_unit);
}

char *xlm_progress_line(const xlm_progress *progress, double done, double seconds)
{
    const xlm_progress *p = progress;
    const double rate = seconds > 0 ? done / seconds : 0, total = MAX(p->total, done);
    const char *gap = strcmp(p->unit, "B") == 0 ? "" : " ";
    char amount[16], speed[16], left[16];
    g_autofree char *other = other_rate(p, seconds);
    xlm_log_count(done, amount);
    xlm_log_count(rate, speed);
    if (p->total <= 0)
        return g_strdup_printf("%s: %s%s%s  %s%s%s/s%s", p->what, amount, gap, p->unit, speed, gap, p->unit, other);
    return g_strdup_printf("%s: %.0f %%  %s%s%s/s%s  %s left", p->what, 100 * done / total, speed, gap, p->unit, other,
                           rate > 0 ? xlm_log_duration((total - done) / rate, left) : "?");
}

void xlm_progress_show(xlm_progress *progress, double done)
{
    const double now = xlm_clock(), since = now - progress->shown;
    if (since < LIVE_INTERVAL)
        return;
    const bool live = xlm_log_is_live();
    if (!live && (since < LOG_INTERVAL || !xlm_log_wants_lines()))
        return;
    progress->shown = now;
    g_autofree char *line = xlm_progress_line(progress, done, now - progress->begin);
    if (live)
        xlm_log_live("%s", line);
    else
        xlm_log_info("%s", line);
}

void xlm_progress_end(xlm_progress *progress)
{
    progress->shown = xlm_clock();
    xlm_log_end_live();
}
