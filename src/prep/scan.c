/* xlm-mpi: ranks share the lines of a source, block by block. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/scan.h"

#include <string.h>

#include "prep/report.h"
#include "prep/texts.h"
#include "text/lines.h"

enum { MIN_UNITS = 512, MAX_BYTES = 16 << 20, BLOCKS_A_RANK = 8 }; /* the smallest block, and the largest of the longer side */

struct xlm_scan {
    xlm_lines *file[2];
    const xlm_line_index *index[2];
    int sides, language[2];
    const xlm_prep_source *source;
    int64_t kept; /* for the filter (prep/filter.h) */
    const xlm_line_form *line_form; /* [sides] */
    GString *storage[2];
    const char *rest; /* of a record with several lines of text, those that were not returned yet; NULL: none */
    size_t rest_size;
    char *repaired[2];
    bool needs_trees;
    xlm_conllu *tree; /* NULL when the source is not CoNLL-U */
    GString *line;    /* the words of the tree, normalised */
    GString *form;    /* one of them, as it would be in a text */
    GArray *units;    /* xlm_word: where they are in it */
    int64_t blocks, rank, ranks; /* blocks: of all ranks, as many for each */
    int64_t block;   /* index of the present block, negative before the first */
    int64_t left;    /* number of lines of the block that were not returned yet */
    int64_t next;    /* number of the next line of the file */
    bool ended;
    GError *failure;
};

/* How many blocks each rank has. Ranks wait for each other after each block that they encode, so there are few. */
static int64_t count_blocks(const xlm_scan *scan)
{
    int64_t bytes = 0;
    for (int side = 0; side < scan->sides; side++)
        bytes = MAX(bytes, scan->index[side]->bytes);
    const int64_t needed = bytes / MAX_BYTES / scan->ranks + 1;
    return MAX(needed, CLAMP(scan->index[0]->units / MIN_UNITS / scan->ranks, 1, BLOCKS_A_RANK));
}

xlm_scan *xlm_scan_open(const xlm_comm *comm, const xlm_prep_source *source)
{
    xlm_scan *scan = g_new0(xlm_scan, 1);
    scan->sides = source->sides;
    scan->source = source;
    memcpy(scan->language, source->language, sizeof scan->language);
    scan->line_form = source->form;
    for (int side = 0; side < scan->sides; side++) {
        scan->storage[side] = g_string_new(NULL);
        scan->index[side] = source->text[side]->index;
    }
    scan->rank = comm->rank;
    scan->ranks = comm->ranks;
    scan->blocks = count_blocks(scan) * scan->ranks;
    scan->block = scan->rank - scan->ranks;
    if (source->conllu) {
        scan->needs_trees = source->needs_trees;
        scan->tree = xlm_conllu_new();
        scan->line = g_string_new(NULL);
        scan->form = g_string_new(NULL);
        scan->units = g_array_new(FALSE, FALSE, sizeof(xlm_word));
    }
    for (int side = 0; side < scan->sides && !scan->ended; side++) {
        scan->file[side] = xlm_lines_open_plain(source->text[side]->path, source->text[side]->name, &scan->failure);
        scan->ended = scan->file[side] == NULL;
        if (source->as_is && !scan->ended)
            xlm_lines_keep_bytes(scan->file[side]);
    }
    return scan;
}

void xlm_scan_close(xlm_scan *scan)
{
    if (scan == NULL)
        return;
    for (int side = 0; side < scan->sides; side++) {
        xlm_lines_close(scan->file[side]);
        g_string_free(scan->storage[side], TRUE);
        g_free(scan->repaired[side]);
    }
    if (scan->tree != NULL) {
        xlm_conllu_free(scan->tree);
        g_string_free(scan->line, TRUE);
        g_string_free(scan->form, TRUE);
        g_array_free(scan->units, TRUE);
    }
    g_clear_error(&scan->failure);
    g_free(scan);
}

/* A file had more lines when its index was made. */
static bool refuse_shorter(xlm_scan *scan, int side)
{
    return xlm_error_set(&scan->failure, EX_DATAERR, "%s: has become shorter while it was read; leave it as it is until the "
                         "program ends", xlm_lines_path(scan->file[side]));
}

/* Go to line n of a side, or to sentence n. */
static bool go_to(xlm_scan *scan, int side, int64_t n)
{
    xlm_lines *file = scan->file[side];
    xlm_line_place from = xlm_line_index_find(scan->index[side], n);
    if (xlm_lines_offset(file) >= from.offset) /* it is ahead, and nearer */
        from.units = scan->next;
    else if (!xlm_lines_seek(file, from.offset, from.lines, &scan->failure))
        return false;
    const int64_t passed = scan->tree != NULL ? xlm_conllu_skip(file, n - from.units, &scan->failure)
                                              : xlm_lines_skip(file, n - from.units, &scan->failure);
    return passed == n - from.units || (passed >= 0 && refuse_shorter(scan, side));
}

bool xlm_scan_block(xlm_scan *scan)
{
    const int64_t block = scan->block + scan->ranks;
    scan->ended = scan->ended || block >= scan->blocks;
    if (scan->ended)
        return false;
    const int64_t first = xlm_line_index_divide(scan->index[0], block, scan->blocks);
    const int64_t end = xlm_line_index_divide(scan->index[0], block + 1, scan->blocks);
    for (int side = 0; side < scan->sides && !scan->ended; side++)
        scan->ended = !go_to(scan, side, first);
    if (scan->ended)
        return false;
    scan->block = block;
    scan->next = first;
    scan->left = end - first;
    return true;
}

bool xlm_scan_line(xlm_scan *scan, xlm_scan_text *line)
{
    if (scan->ended || scan->left == 0)
        return false;
    for (int side = 0; side < scan->sides && !scan->ended; side++) {
        const int got = xlm_lines_next(scan->file[side], &line->text[side], &line->size[side], &scan->failure);
        scan->ended = got < 0 || (got == 0 && !refuse_shorter(scan, side));
    }
    scan->left--;
    scan->next++;
    return !scan->ended;
}

const xlm_conllu *xlm_scan_tree(xlm_scan *scan)
{
    if (scan->ended || scan->left == 0)
        return NULL;
    const int got = xlm_conllu_next(scan->file[0], scan->tree,
                                    scan->needs_trees ? XLM_CONLLU_TREES_NEEDED : XLM_CONLLU_TREES_READ, &scan->failure);
    scan->ended = got < 0 || (got == 0 && !refuse_shorter(scan, 0));
    scan->left--;
    scan->next++;
    return scan->ended ? NULL : scan->tree;
}

int64_t xlm_scan_number(const xlm_scan *scan) { return scan->next - 1; }

bool xlm_scan_terminated(const xlm_scan *scan) { return xlm_lines_terminated(scan->file[0]); }

/* Normalise a text from line `number` of the file. On failure the scan has ended. */
static bool normalise(xlm_scan *scan, const xlm_sentence_reader *reader, int side, int64_t number, const char *text, size_t size,
                      const char **normal, size_t *normal_size)
{
    xlm_normaliser *normaliser = reader->normaliser[side];
    if (xlm_normaliser_set_language(normaliser, reader->languages[scan->language[side]], &scan->failure) &&
        xlm_normaliser_run(normaliser, text, size, normal, normal_size, &scan->failure))
        return true;
    g_prefix_error(&scan->failure, "%s:%" G_GINT64_FORMAT ": ", xlm_lines_path(scan->file[side]), number);
    scan->ended = true;
    return false;
}

/* Makes a bad text UTF-8. */
static void repair(xlm_scan *scan, int side, xlm_scan_text *line, xlm_sentence *sentence)
{
    char *repaired = g_utf8_make_valid(line->text[side], (gssize)line->size[side]);
    g_free(scan->repaired[side]);
    scan->repaired[side] = repaired;
    line->text[side] = repaired;
    line->size[side] = strlen(repaired);
    sentence->repaired = true;
}

/* The text of a line as the form of its file says. */
static bool take_text(xlm_scan *scan, int side, xlm_scan_text *line)
{
    return xlm_line_form_text(&scan->line_form[side], scan->file[side], line->text[side], line->size[side], scan->storage[side],
                              &line->text[side], &line->size[side], &scan->failure);
}

/* The texts of a line of each side. */
static bool read_text(xlm_scan *scan, const xlm_sentence_reader *reader, xlm_scan_text *line, xlm_sentence *sentence)
{
    if (!xlm_scan_line(scan, line))
        return false;
    for (int side = 0; side < scan->sides; side++) {
        if (take_text(scan, side, line))
            continue;
        scan->ended = reader->bad_lines == XLM_BAD_STOP;
        if (scan->ended)
            return false;
        g_clear_error(&scan->failure);
        if (reader->bad_lines == XLM_BAD_REPAIR)
            repair(scan, side, line, sentence);
        sentence->skipped = sentence->skipped || reader->bad_lines == XLM_BAD_SKIP || !take_text(scan, side, line);
        g_clear_error(&scan->failure);
    }
    return true;
}

/* Normalises the text of a side, if it is text. */
static bool clean(xlm_scan *scan, const xlm_sentence_reader *reader, int side, xlm_scan_text *line, xlm_sentence *sentence)
{
    const bool stops = reader->bad_lines == XLM_BAD_STOP;
    if (!stops && xlm_utf8_check(line->text[side], line->size[side]) < line->size[side]) {
        if (reader->bad_lines == XLM_BAD_REPAIR)
            repair(scan, side, line, sentence);
        else
            sentence->skipped = true;
    }
    sentence->raw.text[side] = line->text[side];
    sentence->raw.size[side] = line->size[side];
    return (sentence->skipped && !stops) ||
           normalise(scan, reader, side, sentence->line, line->text[side], line->size[side], &sentence->text[side],
                     &sentence->size[side]);
}

/* The next line of the text of a record: a member of JSON may have several. */
static void divide(xlm_scan *scan, xlm_scan_text *line)
{
    const char *end = memchr(line->text[0], '\n', line->size[0]);
    scan->rest = end != NULL ? end + 1 : NULL;
    scan->rest_size = end != NULL ? line->size[0] - (size_t)(end + 1 - line->text[0]) : 0;
    line->size[0] -= end != NULL ? scan->rest_size + 1 : 0;
}

static bool read_lines(xlm_scan *scan, const xlm_sentence_reader *reader, xlm_sentence *sentence)
{
    xlm_scan_text line = {.text = {scan->rest}, .size = {scan->rest_size}};
    if (scan->rest == NULL && !read_text(scan, reader, &line, sentence))
        return false;
    if (scan->sides == 1 && !sentence->skipped)
        divide(scan, &line);
    sentence->line = xlm_lines_number(scan->file[0]);
    for (int side = 0; side < scan->sides; side++)
        if (!clean(scan, reader, side, &line, sentence))
            return false;
    for (int side = 0; side < scan->sides && sentence->skipped; side++)
        sentence->size[side] = 0;
    return true;
}

/* The words of a tree as a line. */
static bool read_tree(xlm_scan *scan, const xlm_sentence_reader *reader, xlm_sentence *sentence)
{
    const xlm_conllu *tree = xlm_scan_tree(scan);
    if (tree == NULL)
        return false;
    g_string_truncate(scan->line, 0);
    g_array_set_size(scan->units, tree->words->len);
    for (guint i = 0; i < tree->words->len; i++) {
        const xlm_conllu_word *word = xlm_conllu_word_at(tree, i);
        const char *form = word->column[XLM_CONLLU_FORM], *normal;
        size_t size;
        g_string_assign(scan->form, i > 0 && xlm_normaliser_keeps_space(reader->normaliser[0]) ? " " : "");
        g_string_append(scan->form, form);
        if (!normalise(scan, reader, 0, word->line, scan->form->str, scan->form->len, &normal, &size))
            return false;
        if (size > 0 && scan->line->len > 0)
            g_string_append_c(scan->line, ' ');
        g_array_index(scan->units, xlm_word, i) = (xlm_word){(uint32_t)scan->line->len, (uint32_t)size};
        g_string_append_len(scan->line, normal, (gssize)size);
    }
    sentence->tree = tree;
    sentence->units = (const xlm_word *)(void *)scan->units->data;
    sentence->text[0] = scan->line->str;
    sentence->size[0] = scan->line->len;
    return true;
}

/* Apply the rules to a sentence that has text. On failure the scan has ended. */
static bool filter(xlm_scan *scan, const xlm_sentence_reader *reader, xlm_sentence *sentence)
{
    const xlm_filter_text text = {.raw = {sentence->raw.text[0], sentence->raw.text[1]},
                                  .raw_size = {sentence->raw.size[0], sentence->raw.size[1]},
                                  .tree = sentence->tree, .text = sentence->text, .size = sentence->size,
                                  .digest = sentence->digest, .place = xlm_lines_offset(scan->file[0])};
    scan->ended = !xlm_filter_apply(reader->filter, scan->source, &text, &scan->kept, &sentence->rule, &scan->failure);
    sentence->empty = sentence->rule != XLM_RULES;
    return !scan->ended;
}

bool xlm_scan_sentence(xlm_scan *scan, const xlm_sentence_reader *reader, xlm_sentence *sentence)
{
    sentence->tree = NULL;
    sentence->units = NULL;
    sentence->skipped = sentence->repaired = false;
    sentence->line = 0;
    sentence->rule = XLM_RULES;
    if (scan->tree != NULL ? !read_tree(scan, reader, sentence) : !read_lines(scan, reader, sentence))
        return false;
    sentence->number = xlm_scan_number(scan);
    sentence->empty = false;
    for (int side = 0; side < scan->sides; side++)
        sentence->empty = sentence->empty || sentence->size[side] == 0;
    if (sentence->empty)
        return true;
    for (int side = 0; side < scan->sides; side++)
        sentence->digest[side] = xlm_assignments_digest(reader->assignments, sentence->text[side], sentence->size[side]);
    if (reader->filter != NULL && (!filter(scan, reader, sentence) || sentence->empty))
        return !scan->ended;
    sentence->assignment = scan->sides == 1 ? xlm_assignments_of_sentence(reader->assignments, sentence->digest[0])
                                      : xlm_assignments_of_pair(reader->assignments, sentence->digest[0], sentence->digest[1]);
    return true;
}

bool xlm_scan_ended(const xlm_scan *scan)
{
    return scan->ended || (scan->left == 0 && scan->block + scan->ranks >= scan->blocks);
}

int64_t xlm_scan_position(const xlm_scan *scan)
{
    int64_t bytes = 0;
    for (int side = 0; side < scan->sides; side++)
        bytes += scan->file[side] == NULL ? 0 : xlm_lines_position(scan->file[side]);
    return bytes;
}

static int64_t lines_read(const xlm_scan *scan, int side)
{
    return scan->file[side] == NULL ? 0 : xlm_lines_number(scan->file[side]);
}

/* The line of this rank's error, INT64_MAX for none: of two files, that of the side that has read fewer lines. */
static int64_t failed_line(const xlm_scan *scan)
{
    if (scan->failure == NULL)
        return INT64_MAX;
    return scan->sides == 2 ? MIN(lines_read(scan, 0), lines_read(scan, 1)) : lines_read(scan, 0);
}

bool xlm_scan_finish(xlm_scan *scan, const xlm_comm *comm, int64_t *lines, GError **error)
{
    if (lines != NULL)
        *lines = scan->index[0]->lines;
    /* The earliest error wins, so that the message does not depend on the number of ranks. */
    int64_t earliest = -failed_line(scan);
    xlm_comm_max_int64(comm, &earliest, 1);
    if (scan->failure != NULL && failed_line(scan) == -earliest)
        g_propagate_error(error, g_steal_pointer(&scan->failure));
    xlm_scan_close(scan);
    return xlm_comm_agree(comm, error);
}

static bool has_language(const xlm_prep_source *source, int language)
{
    return language < 0 || source->language[0] == language || (source->sides == 2 && source->language[1] == language);
}

bool xlm_scan_sources(const xlm_comm *comm, const xlm_prep_options *options, guint first, int language, const char *what,
                      const xlm_sentence_reader *reader, xlm_sentence_visit *visit, void *data, GError **error)
{
    xlm_prep_progress progress = xlm_prep_progress_begin(options, first, what);
    for (guint i = first; i < options->sources->len; i++) {
        const xlm_prep_source *source = options->sources->pdata[i];
        xlm_scan *scan = has_language(source, language) ? xlm_scan_open(comm, source) : NULL;
        while (scan != NULL && xlm_scan_block(scan)) {
            for (xlm_sentence sentence; xlm_scan_sentence(scan, reader, &sentence);)
                if (!sentence.empty)
                    visit(data, source, &sentence);
            xlm_prep_progress_show(&progress, xlm_scan_position(scan));
        }
        if (scan != NULL && !xlm_scan_finish(scan, comm, NULL, error))
            return false;
        xlm_prep_progress_next(&progress, source);
    }
    return true;
}
