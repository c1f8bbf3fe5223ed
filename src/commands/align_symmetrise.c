/* xlm-mpi: xlm_align symmetrise, combining the links of two directions. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "aligners/link_file.h"
#include "aligners/symmetrise.h"
#include "commands/commands.h"

static struct {
    char *output, *how;
    gboolean turned;
} given;

static xlm_symmetrisation how = XLM_GROW_DIAG_FINAL_AND;

static const GOptionEntry options[] = {
    {"output", 'o', XLM_WRITES, G_OPTION_ARG_FILENAME, &given.output, "links to write (default: standard output)", "FILE"},
    {"symmetrise", 0, 0, G_OPTION_ARG_STRING, &given.how,
     "intersection, union, grow-diag, grow-diag-final, grow-diag-final-and (the default), or forward, reverse", "HOW"},
    {"reverse-turned", 0, 0, G_OPTION_ARG_NONE, &given.turned,
     "REVERSE has the target's word first, `j-i`, as from a program that was given the two texts in the other order", NULL},
    {.long_name = NULL}};

static bool check(GError **error)
{
    return given.how == NULL || xlm_symmetrisation_find(given.how, &how) ||
           xlm_error_set(error, EX_USAGE, "--symmetrise=%s: must be one of %s", given.how, xlm_symmetrisation_names());
}

/* ---- reading ---- */

/* Links of one direction. */
struct direction {
    const char *path;
    bool of_target; /* each target word has at most one link; else each source word */
    bool turned;
    xlm_links *links;
};

static bool read_direction(struct direction *d, GError **error)
{
    if ((d->links = xlm_links_read(d->path, XLM_COUNT_FROM_0, XLM_COUNT_FROM_0, error)) == NULL)
        return false;
    if (d->links->first_sentence != XLM_COUNT_FOUND)
        return xlm_error_set(error, EX_DATAERR, "%s: links need one line per sentence, `0-0 1-2`", d->path);
    for (int64_t i = 0; i < d->links->offsets[d->links->sentences] && d->turned; i++) {
        xlm_link *link = &d->links->links[i];
        *link = (xlm_link){link->target, link->source, link->possible};
    }
    return true;
}

/* The links of a sentence as function[words], -1 for no link. */
static bool make_function(const struct direction *d, int64_t sentence, int32_t *function, int64_t words, GError **error)
{
    memset(function, -1, sizeof *function * (size_t)words);
    for (int64_t i = d->links->offsets[sentence]; i < d->links->offsets[sentence + 1]; i++) {
        const xlm_link *link = &d->links->links[i];
        const int32_t word = d->of_target ? link->target : link->source;
        if (function[word] >= 0)
            return xlm_error_set(error, EX_DATAERR, "%s:%" G_GINT64_FORMAT ": %s word %d has more than one link; %s links have "
                                 "at most one for each %s word, as written by fast_align and others", d->path, sentence + 1,
                                 d->of_target ? "target" : "source", word, d->of_target ? "forward" : "reverse",
                                 d->of_target ? "target" : "source");
        function[word] = d->of_target ? link->source : link->target;
    }
    return true;
}

/* ---- joining ---- */

/* Number of words of a sentence, up to the last linked one. */
static void count_words(const struct direction *d, int64_t sentence, int64_t words[2])
{
    for (int64_t i = d->links->offsets[sentence]; i < d->links->offsets[sentence + 1]; i++) {
        words[0] = MAX(words[0], d->links->links[i].source + 1);
        words[1] = MAX(words[1], d->links->links[i].target + 1);
    }
}

static bool join_sentence(const struct direction direction[2], int64_t sentence, GString *lines, GError **error)
{
    int64_t words[2] = {0};
    for (int d = 0; d < 2; d++)
        count_words(&direction[d], sentence, words);
    g_autofree int32_t *forward = g_new(int32_t, words[0] + words[1] + 1);
    int32_t *reverse = forward + words[1];
    g_autofree xlm_link *links = g_new(xlm_link, words[0] + words[1] + 1);
    const bool good = make_function(&direction[0], sentence, forward, words[1], error) &&
                      make_function(&direction[1], sentence, reverse, words[0], error);
    if (good)
        xlm_link_file_append(lines, links, xlm_symmetrise(how, forward, words[1], reverse, words[0], links));
    return good;
}

static bool join(char *const *paths, GString *lines, GError **error)
{
    struct direction d[2] = {{.path = paths[0], .of_target = true}, {.path = paths[1], .turned = given.turned}};
    bool good = read_direction(&d[0], error) && read_direction(&d[1], error);
    if (good && d[0].links->sentences != d[1].links->sentences)
        good = xlm_error_set(error, EX_DATAERR, "%s has %" G_GINT64_FORMAT " lines, %s %" G_GINT64_FORMAT
                             "; give links of the same sentences", paths[0], d[0].links->sentences, paths[1],
                             d[1].links->sentences);
    for (int64_t s = 0; good && s < d[0].links->sentences; s++)
        good = join_sentence(d, s, lines, error);
    xlm_links_free(d[0].links);
    xlm_links_free(d[1].links);
    return good;
}

static void run(const xlm_comm *comm, char *const *arguments, GError **error)
{
    g_autoptr(GString) lines = g_string_new(NULL);
    GError *failure = NULL;
    if (comm->rank == 0)
        join(arguments, lines, &failure);
    if (xlm_comm_agree_on(comm, failure, error))
        xlm_link_file_write(comm, given.output, lines->str, lines->len, error);
}

const xlm_command xlm_align_symmetrise = {
    .name = "symmetrise",
    .arguments = "symmetrise FORWARD REVERSE -o LINKS",
    .purpose = "Combine the links of two directions",
    .notes =
        "symmetrise: combines the links of two directions, from this or other programs, like fast_align's atools. FORWARD has at "
        "most one link for each word of the target, REVERSE for each word of the source; both have `i-j`, the source's word "
        "first.\n\n",
    .examples =
        "  xlm_align symmetrise forward.txt reverse.txt --symmetrise grow-diag -o links.txt\n",
    .options = options,
    .takes = {"links of two directions", 2, 2},
    .check = check,
    .run = run,
};
