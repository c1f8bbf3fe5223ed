/* xlm-mpi: fuzz target: checkpoints in HDF5, changed by hdf5_change.h; `choose` says the reader.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "../mpi/run_fixture.h"
#include "hdf5_change.h"
#include "job/job_record.h"
#include "tasks/task.h"
#include "tasks/tune_job.h"

static const xlm_comm *comm;
static run *resumed;
static fuzz_original *original;

/* A fine-tuned model's, which has all parts. */
static void begin(void)
{
    static char *labels[] = {(char *)"A", (char *)"B", (char *)"C", NULL};
    static const xlm_model_task task = {.name = (char *)"tagging", .language = (char *)"en", .length = 16,
                                             .options = (char *)"column = upos\n", .labels = labels};
    comm = fuzz_comm();
    resumed = make_run(comm, 16, true);
    resumed->state.task = &task;
    fill(resumed, 20);
    char *directory = make_directory(comm), *path = xlm_checkpoint_path(directory, 20);
    GOOD(xlm_checkpoint_write(comm, directory, &resumed->state, 1, &error));
    fuzz_require(failures == 0, "a checkpoint can be written");
    original = fuzz_original_read(path);
    g_free(path);
    remove_directory(comm, directory);
}

static void read_model(const char *path)
{
    GError *error = NULL;
    xlm_loaded_model *model = xlm_model_file_read(path, &error);
    fuzz_check(model != NULL, error);
    const xlm_task *task = model != NULL && model->task != NULL ? xlm_task_find(model->task->name, NULL) : NULL;
    if (task != NULL) {
        error = NULL;
        void *state = xlm_task_state_read(task, path, model->task->options, NULL, &error);
        fuzz_check(state != NULL, error);
        if (state != NULL)
            xlm_options_free(task->loss.options, state);
        g_free(state);
    }
    xlm_model_file_free(model);
}

static void read_records(const char *path)
{
    GError *error = NULL;
    char *text = xlm_job_record_of_checkpoint(path, &error);
    fuzz_check(text != NULL, error);
    g_free(text);
    error = NULL;
    xlm_store *store = xlm_store_open(path, &error);
    fuzz_check(store != NULL, error);
    xlm_start_record start = {0};
    error = NULL;
    const bool good = store == NULL || xlm_start_record_read(&start, store, &error);
    fuzz_check(good, error);
    xlm_start_record_clear(&start);
    xlm_store_close(store);
}

static void read_run(const char *path)
{
    GError *error = NULL;
    const bool good = xlm_checkpoint_read(comm, path, &resumed->state, &error);
    fuzz_check(good, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    if (original == NULL)
        begin();
    /* A walk through the file takes milliseconds: one reader an input. */
    const int reader = fuzz_choose(data, size, 3);
    const char *path = fuzz_original_change(original, data, size);
    if (reader == 0)
        read_model(path);
    else if (reader == 1)
        read_run(path);
    else
        read_records(path);
    return 0;
}
