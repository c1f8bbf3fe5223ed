/* xlm-mpi: what the ranks of a run left when they were killed. SPDX-License-Identifier: GPL-3.0-or-later */
#include "checkpoint/rank_files.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/log.h"
#include "checkpoint/checkpoint_check.h"
#include "files/files.h"
#include "files/path.h"
#include "job/job_record.h"
#include "model/model_attributes.h"

enum { BUFFER = 1 << 20 }; /* bytes read at a time to be checked */

int64_t xlm_rank_files_states(const xlm_run_state *state)
{
    size_t bytes = 0;
    for (int k = 0; k < state->saved_states; k++)
        bytes += xlm_state_bytes(&state->saved_state[k]);
    return (int64_t)bytes;
}

uint64_t xlm_rank_files_fingerprint(const xlm_run_state *state)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text, "%s %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT "\n", state->optimiser,
                           state->seed, state->corpus_digest, state->text_digest);
    for (int i = 0; i < xlm_parameters_count(state->parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(state->parameters, i);
        g_string_append_printf(text, "%s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n", p->name, p->start,
                               p->rows, p->cols);
    }
    for (int k = 0; k < state->saved_states; k++) {
        const xlm_saved_state *saved = &state->saved_state[k];
        g_string_append_printf(text, "%s %d %" G_GINT64_FORMAT "\n", saved->path, (int)saved->type, saved->n);
    }
    if (state->members_best)
        g_string_append(text, "average_of best\n");
    for (int a = 0; a < state->averages; a++)
        g_string_append_printf(text, "average %s\n", state->average[a].objective);
    for (char **label = state->task != NULL ? state->task->labels : NULL; label != NULL && *label != NULL; label++)
        g_string_append_printf(text, "%s\n", *label);
    g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text->str, (gssize)text->len);
    sum[16] = '\0';
    return g_ascii_strtoull(sum, NULL, 16);
}

void xlm_rank_file_note_start(xlm_rank_file_header *header, const xlm_start_record *start)
{
    const bool has = start != NULL && start->sha256 != NULL;
    header->start_step = has ? start->step : 0;
    memset(header->start_sha256, 0, sizeof header->start_sha256);
    if (has)
        memcpy(header->start_sha256, start->sha256, MIN(strlen(start->sha256), sizeof header->start_sha256));
}

char *xlm_rank_file_path(const char *directory, int64_t step, int rank)
{
    return g_strdup_printf("%s/stopped-%08" G_GINT64_FORMAT ".%d.part", directory, step, rank);
}

/* ---- the parts of a directory ---- */

static bool is_part(const char *name)
{
    return g_str_has_prefix(name, "stopped-") && (g_str_has_suffix(name, ".part") ||
                                                  g_str_has_suffix(name, ".part" XLM_RANK_FILE_WRITING));
}

int xlm_rank_files_remove(const char *directory)
{
    int removed = 0;
    g_auto(GStrv) names = xlm_path_list(directory, NULL);
    for (char **name = names; name != NULL && *name != NULL; name++) {
        g_autofree char *path = g_build_filename(directory, *name, NULL);
        removed += is_part(*name) && g_unlink(path) == 0;
    }
    return removed;
}

/* *highest: the step of which rank 0 has left a part; 0: none. *any: there are parts at all, whole or not. */
static bool find_step(const char *directory, int64_t *highest, bool *any, GError **error)
{
    g_auto(GStrv) names = xlm_path_list(directory, error);
    *highest = 0;
    *any = false;
    for (char **name = names; name != NULL && *name != NULL; name++) {
        if (!is_part(*name))
            continue;
        *any = true;
        if (g_str_has_suffix(*name, ".0.part"))
            *highest = MAX(*highest, g_ascii_strtoll(*name + strlen("stopped-"), NULL, 10));
    }
    return names != NULL;
}

/* Elements of each array in a part. */
static int64_t elements_of(const xlm_rank_file_header *h)
{
    const int64_t shares = (h->size + h->share - 1) / h->share, own = shares / h->ranks + (h->rank < shares % h->ranks);
    const bool has_last = shares > 0 && (shares - 1) % h->ranks == h->rank;
    return own * h->share - (has_last ? shares * h->share - h->size : 0);
}

/* NULL with an error: EX_DATAERR if the part is lacking, so that nothing can be made of the others. */
static FILE *open_part(const char *path, GError **error)
{
    if (!xlm_files_check_input(path, error))
        return NULL;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        xlm_error_set(error, errno == ENOENT ? EX_DATAERR : errno == EACCES ? EX_NOPERM : EX_NOINPUT, "%s: %s", path,
                      g_strerror(errno));
    return file;
}

static bool read_header(FILE *file, const char *path, xlm_rank_file_header *h, GError **error)
{
    const size_t name = sizeof XLM_RANK_FILE_FORMAT - 2; /* the rest is the version, a digit, and the end */
    const bool whole = fread(h, sizeof *h, 1, file) == 1;
    /* Parts of another version must not be taken for damaged ones, which are removed. */
    if (whole && memcmp(h->format, XLM_RANK_FILE_FORMAT, name) == 0 &&
        memcmp(h->format, XLM_RANK_FILE_FORMAT, sizeof XLM_RANK_FILE_FORMAT) != 0)
        return xlm_error_set(error, EX_CONFIG, "%s: was left by another version of xlm-mpi (\"%.*s\"); start the run with that one, "
                             "or remove the parts to go on from the newest checkpoint", path, (int)name + 1, h->format);
    if (!whole || memcmp(h->format, XLM_RANK_FILE_FORMAT, sizeof XLM_RANK_FILE_FORMAT) != 0 ||
        h->byte_order != XLM_RANK_FILE_ORDER || h->size < 1 || h->share < 1 || h->ranks < 1 || h->rank < 0 ||
        h->rank >= h->ranks ||
        h->size > INT64_MAX / 16 || h->ranks > 1 << 24 || h->share > INT64_MAX / 16 / h->ranks || h->states < 0 ||
        h->states > INT64_MAX / 16 ||
        h->arrays < CHECKPOINT_AVERAGES || h->arrays > XLM_RANK_FILE_MAX_ARRAYS || h->size > INT64_MAX / 16 / h->arrays)
        return xlm_error_set(error, EX_DATAERR, "%s: is damaged, or of another kind of processor", path);
    return true;
}

/* Header and checksum. */
static bool check_part(const char *path, xlm_rank_file_header *h, GError **error)
{
    FILE *file = open_part(path, error);
    if (file == NULL)
        return false;
    bool good = read_header(file, path, h, error);
    g_autofree unsigned char *buffer = g_malloc(BUFFER);
    uLong sum = crc32(0, (const unsigned char *)h, sizeof *h);
    uint64_t left = good ? (uint64_t)elements_of(h) * (uint64_t)h->arrays * sizeof(float) + (uint64_t)h->states : 0;
    while (good && left > 0) {
        const size_t n = fread(buffer, 1, (size_t)MIN(left, BUFFER), file);
        sum = crc32(sum, buffer, (uInt)n);
        left -= n;
        good = n > 0;
    }
    uint32_t expected = 0;
    if (good && (fread(&expected, sizeof expected, 1, file) != 1 || expected != (uint32_t)sum || fgetc(file) != EOF))
        good = false;
    if (!good && ferror(file)) {
        g_clear_error(error);
        xlm_error_set(error, EX_IOERR, "%s: cannot be read: %s", path, g_strerror(errno));
    }
    if (!good && *error == NULL)
        xlm_error_set(error, EX_DATAERR, "%s: is damaged", path);
    fclose(file);
    return good;
}

/* Rank 0's header; all parts of that step are there, whole, and of one start of one run. */
static bool check_parts(const char *directory, int64_t step, xlm_rank_file_header *first, GError **error)
{
    bool good = true;
    for (int64_t rank = 0; good && (rank == 0 || rank < first->ranks); rank++) {
        xlm_rank_file_header h;
        g_autofree char *path = xlm_rank_file_path(directory, step, (int)rank);
        good = check_part(path, &h, error);
        if (good && rank == 0)
            *first = h;
        if (good && (h.rank != rank || h.step != step || h.run != first->run || h.ranks != first->ranks ||
                     h.size != first->size ||
                     h.share != first->share || h.arrays != first->arrays || h.fingerprint != first->fingerprint))
            good = xlm_error_set(error, EX_DATAERR, "%s: is not of the same run as the part of rank 0", path);
    }
    return good;
}

/* Parts do not say what model they are of; the record of the run that left them does, where it has one. */
static bool check_model(const char *directory, const xlm_run_state *state, GError **error)
{
    xlm_model_config then;
    g_autoptr(GError) why = NULL;
    if (!xlm_job_record_model(directory, &then))
        return true;
    then.vocabulary = state->model->vocabulary;
    then.languages = state->model->languages;
    if (!xlm_model_check(&then, NULL) || xlm_model_same_function(&then, state->model, "the job's", &why))
        return true;
    xlm_error_set(error, EX_DATAERR, "%s: a stopped run left parts there, which do not fit the job: %s; start the job they are "
                  "of, take another output directory, or --resume never", directory, why->message);
    return false;
}

/* By rank 0. first->ranks is 0 when there is nothing to take. */
static bool find(const char *directory, int64_t newest, const xlm_run_state *state, xlm_rank_file_header *first, GError **error)
{
    bool any;
    int64_t step;
    g_autoptr(GError) why = NULL;
    *first = (xlm_rank_file_header){0};
    if (!find_step(directory, &step, &any, error))
        return false;
    if (step > newest && check_parts(directory, step, first, &why)) {
        return check_model(directory, state, error) &&
               ((first->fingerprint == xlm_rank_files_fingerprint(state) &&
                 first->size == state->shards->size - state->shards->first &&
                 first->states == xlm_rank_files_states(state) && first->arrays == xlm_checkpoint_arrays(state)) ||
                xlm_error_set(error, EX_DATAERR, "%s: a stopped run left the parts of step %" G_GINT64_FORMAT " there, which do "
                              "not fit the job; start the job they are of, take another output directory, or --resume never",
                              directory, step));
    }
    *first = (xlm_rank_file_header){0};
    if (why != NULL && xlm_error_exit_code(why) != EX_DATAERR) {
        g_propagate_error(error, g_steal_pointer(&why));
        return false;
    }
    if (why != NULL)
        xlm_log_warn("%s: what a stopped run left of step %" G_GINT64_FORMAT " cannot be put together (%s) and is removed",
                     directory, step, why->message);
    if (any)
        xlm_rank_files_remove(directory);
    return true;
}

/* ---- reading ---- */

/* Close a part; good: all that was wanted from it has been read. */
static bool close_part(FILE *file, bool good, const char *path, GError **error)
{
    if (!good && *error == NULL)
        xlm_error_set(error, EX_IOERR, "%s: cannot be read: %s", path, feof(file) ? "it is cut short" : g_strerror(errno));
    fclose(file);
    return good;
}

/* Array number `array` of one part, to where it belongs in whole, whose first element is the first that ranks share. */
static bool read_array(const char *directory, const xlm_rank_file_header *first, int rank, int array, float *whole,
                       GError **error)
{
    xlm_rank_file_header h;
    g_autofree char *path = xlm_rank_file_path(directory, first->step, rank);
    FILE *file = open_part(path, error);
    if (file == NULL)
        return false;
    bool good = read_header(file, path, &h, error) &&
                fseeko(file, (off_t)((int64_t)sizeof(float) * array * elements_of(&h)), SEEK_CUR) == 0;
    for (int64_t start = rank * first->share; good && start < first->size; start += first->ranks * first->share) {
        const size_t n = (size_t)MIN(first->share, first->size - start);
        good = fread(whole + start, sizeof(float), n, file) == n;
    }
    return close_part(file, good, path, error);
}

static bool read_states(const char *directory, const xlm_rank_file_header *first, xlm_run_state *state, GError **error)
{
    g_autofree char *path = xlm_rank_file_path(directory, first->step, 0);
    FILE *file = open_part(path, error);
    if (file == NULL)
        return false;
    bool good = fseeko(file, (off_t)((int64_t)sizeof *first + (int64_t)sizeof(float) * first->arrays * elements_of(first)),
                       SEEK_SET) == 0;
    for (int k = 0; good && k < state->saved_states; k++) {
        const size_t bytes = xlm_state_bytes(&state->saved_state[k]);
        good = fread(state->saved_state[k].values, 1, bytes, file) == bytes;
    }
    return close_part(file, good, path, error);
}

static bool take(const xlm_comm *comm, const char *directory, const xlm_rank_file_header *first, xlm_run_state *state,
                 GError **error)
{
    GError *failure = NULL;
    for (int array = 0; array < first->arrays; array++) {
        for (int rank = 0; comm->rank == 0 && rank < first->ranks && failure == NULL; rank++)
            read_array(directory, first, rank, array, checkpoint_whole(state, array) + state->shards->first, &failure);
        if (!xlm_comm_agree_on(comm, failure, error))
            return false;
        checkpoint_share_array(comm, state, array, state->shards->first);
    }
    if (comm->rank == 0)
        read_states(directory, first, state, &failure);
    if (!xlm_comm_agree_on(comm, failure, error))
        return false;
    checkpoint_share_states(comm, state);
    state->step = first->step;
    return true;
}

bool xlm_rank_files_take(const xlm_comm *comm, const char *directory, int64_t newest, xlm_run_state *state,
                         xlm_rank_file_header *first, GError **error)
{
    GError *failure = NULL;
    *first = (xlm_rank_file_header){0};
    if (comm->rank == 0)
        find(directory, newest, state, first, &failure);
    if (!xlm_comm_agree_on(comm, failure, error))
        return false;
    xlm_comm_broadcast(comm, 0, first, sizeof *first);
    return first->ranks == 0 || take(comm, directory, first, state, error);
}
