/* xlm-mpi: BPE alone, with fastBPE's command line, for its benchmark. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   bpe_run learnbpe N TEXT          codes to standard output
 *   bpe_run applybpe OUT TEXT CODES  segmented text to OUT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "subwords/bpe_class.h"

enum { BLOCK = 1 << 20 }; /* bytes read at once; longer when a line is */

static _Noreturn void stop(const char *what)
{
    fprintf(stderr, "bpe_run: %s\n", what);
    exit(EX_IOERR);
}

/* Give every block of a file, cut at line ends, to `take`. */
static void read_pieces(const char *path, void (*take)(const char *, size_t, void *), void *user)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        stop(path);
    size_t room = BLOCK, rest = 0, n;
    char *block = g_malloc(room);
    while ((n = fread(block + rest, 1, room - rest, file)) > 0) {
        const size_t size = rest + n;
        size_t whole = size;
        while (whole > rest && block[whole - 1] != '\n')
            whole--;
        if (whole > rest)
            take(block, whole, user);
        else
            whole = 0;
        rest = size - whole;
        memmove(block, block + whole, rest);
        if (rest > room / 2)
            block = g_realloc(block, room *= 2);
    }
    take(block, rest, user);
    g_free(block);
    fclose(file);
}

static void count(const char *text, size_t size, void *counts) { xlm_word_counts_add_text(counts, text, size, 1); }

static void learn(uint32_t merges, const char *path)
{
    xlm_word_counts *counts = xlm_word_counts_new();
    read_pieces(path, count, counts);
    xlm_bpe *bpe = xlm_bpe_learn(counts, merges);
    GString *codes = xlm_bpe_print(bpe);
    fwrite(codes->str, 1, codes->len, stdout);
    g_string_free(codes, TRUE);
    xlm_bpe_free(bpe);
    xlm_word_counts_free(counts);
}

typedef struct job {
    xlm_cutter *cutter;
    GString *segmented;
    FILE *out;
} job;

static void segment(const char *text, size_t size, void *user)
{
    job *j = user;
    g_string_truncate(j->segmented, 0);
    xlm_cutter_text(j->cutter, text, size, j->segmented);
    if (fwrite(j->segmented->str, 1, j->segmented->len, j->out) != j->segmented->len)
        stop("cannot write");
}

static void apply(const char *out, const char *text, const char *codes)
{
    GError *error = NULL;
    xlm_segmenter *segmenter = xlm_segmenter_read(&xlm_segmenter_bpe, codes, &error);
    if (segmenter == NULL)
        stop(error->message);
    job j = {xlm_cutter_new(segmenter, NULL), g_string_new(NULL), fopen(out, "wb")};
    if (j.out == NULL)
        stop(out);
    read_pieces(text, segment, &j);
    if (fclose(j.out) != 0)
        stop(out);
    g_string_free(j.segmented, TRUE);
    xlm_cutter_free(j.cutter);
    xlm_segmenter_unref(segmenter);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "learnbpe") == 0)
        learn((uint32_t)atoi(argv[2]), argv[3]);
    else if (argc == 5 && strcmp(argv[1], "applybpe") == 0)
        apply(argv[2], argv[3], argv[4]);
    else
        stop("learnbpe N TEXT | applybpe OUT TEXT CODES");
    return EX_OK;
}
