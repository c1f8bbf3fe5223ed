/* xlm-mpi: fuzz target: matrices for heat maps in HDF5, changed by hdf5_change.h. SPDX-License-Identifier: GPL-3.0-or-later */
#include "hdf5_change.h"

#include <string.h>

#include "aligners/matrix_file.h"
#include "report/sections.h"

enum { PAIRS = 3, SHOWN = 3, VALUES = 10, WORDS = 4 };

/* As aligners/matrix_file.h says; the second pair was not encoded. */
static bool write_side(xlm_store *store, const char *group, const char *language, const uint64_t *offsets)
{
    static const int32_t subwords[] = {0, 1, 2, 3, 1, 2}, words[] = {0, 0, 1, 0, 1, 2};
    return xlm_store_write_array(store, group, "offsets", XLM_U64, PAIRS + 1, offsets, NULL) &&
           xlm_store_write_array(store, group, "subwords", XLM_I32, offsets[PAIRS], subwords, NULL) &&
           xlm_store_write_array(store, group, "words", XLM_I32, offsets[PAIRS], words, NULL) &&
           xlm_store_set_text(store, group, "language", language, NULL);
}

static fuzz_original *make_original(void)
{
    static const uint32_t rows[PAIRS] = {2, 0, 2}, columns[PAIRS] = {3, 0, 2};
    static const uint64_t offsets[PAIRS + 1] = {0, 6, 6, VALUES}, sources[] = {0, 2, 2, 4}, targets[] = {0, 3, 3, 5};
    static const float values[VALUES] = {0, 0.5f, 1, 0.25f, -1, 0.125f, 1, 0, 0, 1};
    static const char *const vocabulary[WORDS] = {"a", "b", "\xc3\xa9t\xc3\xa9", "<s>"};
    const char *path = fuzz_write("good.h5", "", 0);
    xlm_store *store = xlm_store_create(NULL, path, NULL);
    const bool good = store != NULL && xlm_store_set_text(store, "/", "format", XLM_MATRIX_FILE_FORMAT, NULL) &&
                      xlm_store_set_int(store, "/", "format_version", XLM_MATRIX_FILE_VERSION, NULL) &&
                      xlm_store_set_text(store, "/", "model", "run/checkpoint-00000020.h5", NULL) &&
                      xlm_store_set_text(store, "/", "values", "cosine", NULL) &&
                      xlm_store_set_int(store, "/", "step", 20, NULL) &&
                      xlm_store_write_array(store, "", "rows", XLM_U32, PAIRS, rows, NULL) &&
                      xlm_store_write_array(store, "", "columns", XLM_U32, PAIRS, columns, NULL) &&
                      xlm_store_write_array(store, "", "offsets", XLM_U64, PAIRS + 1, offsets, NULL) &&
                      xlm_store_write_array(store, "/layer.0", "values", XLM_F32, VALUES, values, NULL) &&
                      xlm_store_write_array(store, "/layer.1", "values", XLM_F32, VALUES, values, NULL) &&
                      xlm_store_write_strings(store, "/vocabulary/words", WORDS, vocabulary, NULL) &&
                      write_side(store, "/source", "en", sources) && write_side(store, "/target", "de", targets);
    fuzz_require(good && xlm_store_commit(store, NULL), "matrices can be written");
    return fuzz_original_read(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    static fuzz_original *original;
    if (original == NULL)
        original = make_original();
    const xlm_runs runs = {0};
    xlm_page *page = xlm_page_new();
    GPtrArray *files = g_ptr_array_new();
    g_ptr_array_add(files, (char *)fuzz_original_change(original, data, size));
    const xlm_sections sections = {.page = page, .runs = &runs, .matrices = files, .pairs = SHOWN};
    GError *error = NULL;
    const bool good = xlm_section_heat_maps(&sections, &error);
    fuzz_check(good, error);
    fuzz_require(!good || strstr(page->body->str, "Layers in the file") != NULL, "what was read is on the page");
    g_ptr_array_unref(files);
    xlm_page_free(page);
    return 0;
}
