/* xlm-mpi: fuzz target: text a line at a time, plain or gzip, cut into words. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text/lines.h"
#include "fuzz.h"
#include "text/normalise.h"
#include "text/words.h"

/* As xlm_prep does. */
static void read_lines(xlm_lines *lines, xlm_normaliser *normaliser, xlm_splitter *splitter)
{
    const char *line, *normal;
    size_t size, n;
    int more;
    GError *error = NULL;
    while ((more = xlm_lines_next(lines, &line, &size, &error)) == 1) {
        if (!xlm_normaliser_run(normaliser, line, size, &normal, &size, &error)) {
            fuzz_check(false, error);
            error = NULL;
            continue;
        }
        const xlm_word *words = xlm_splitter_split(splitter, normal, size, &n);
        for (size_t i = 0; i < n; i++)
            fuzz_require(words[i].size > 0 && words[i].start + words[i].size <= size, "a word lies in its line");
    }
    fuzz_check(more == 0, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    /* The first byte chooses: named .gz or not; lower case; words by ICU or by spaces. */
    static xlm_normaliser *normaliser[2];
    static xlm_splitter *splitter[2];
    for (int i = 0; i < 2; i++)
        if (normaliser[i] == NULL) {
            normaliser[i] = xlm_normaliser_new(i == 1, NULL);
            splitter[i] = xlm_splitter_new(i == 1 ? XLM_WORDS_SPACE : XLM_WORDS_ICU, "th", NULL);
        }
    const uint8_t how = fuzz_take(&data, &size);
    const char *path = fuzz_write(how & 1 ? "text.gz" : "text", data, size);
    GError *error = NULL;
    xlm_lines *lines = xlm_lines_open(path, &error);
    fuzz_check(lines != NULL, error);
    if (lines != NULL)
        read_lines(lines, normaliser[how >> 1 & 1], splitter[how >> 2 & 1]);
    xlm_lines_close(lines);
    return 0;
}
