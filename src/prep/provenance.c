/* xlm-mpi: what a corpus was made from, for its attributes. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/steps.h"

#include <sys/stat.h>

#include "base/log.h"
#include "base/progress.h"
#include "comm/comm.h"
#include "corpus/corpus.h"
#include "files/files.h"
#include "files/path.h"
#include "prep/segmenter_options.h"
#include "prep/texts.h"

struct input {
    char *path, *name; /* name: what it was given as */
    const char *unit;  /* what its lines are */
    int64_t lines; /* -1: not text */
    int64_t bytes;
    char digest[XLM_SHA256_TEXT];
};

struct xlm_provenance {
    GArray *inputs; /* struct input */
    int rank, ranks;
    double begin;    /* seconds (xlm_clock) */
    int64_t bytes;   /* of the files that this rank reads */
    xlm_file_reading reading;
    GThread *thread;
    gint running;
    GError *failure; /* of the thread */
};

static void *digest_inputs(void *pointer)
{
    xlm_provenance *provenance = pointer;
    bool good = true;
    for (guint i = (guint)provenance->rank; good && i < provenance->inputs->len; i += (guint)provenance->ranks) {
        struct input *input = &g_array_index(provenance->inputs, struct input, i);
        good = xlm_file_sha256(input->path, input->digest, &input->bytes, &provenance->reading, &provenance->failure);
    }
    g_atomic_int_set(&provenance->running, 0);
    return NULL;
}

static void add_named_input(GArray *inputs, const char *path, const char *name, const char *unit)
{
    const struct input input = {.path = g_strdup(path), .name = g_strdup(name), .unit = unit, .lines = -1};
    g_array_append_val(inputs, input);
}

static void add_input(GArray *inputs, const char *path)
{
    if (path != NULL)
        add_named_input(inputs, path, path, "lines");
}

/* Of the file that is read; 0 if there is none, which reading it reports. */
static int64_t size_of(const char *path)
{
    g_autofree char *whole = NULL;
    struct stat is;
    xlm_path_member(path, &whole);
    return stat(whole, &is) == 0 ? is.st_size : 0;
}

xlm_provenance *xlm_provenance_begin(const xlm_comm *comm, const xlm_prep_options *options)
{
    xlm_provenance *provenance = g_new0(xlm_provenance, 1);
    provenance->inputs = g_array_new(FALSE, FALSE, sizeof(struct input));
    for (guint i = 0; i < options->sources->len; i++) {
        const xlm_prep_source *source = options->sources->pdata[i];
        for (int side = 0; side < source->sides; side++)
            add_named_input(provenance->inputs, source->text[side]->file, source->text[side]->name,
                            source->form[side].kind == XLM_FORM_TMX ? "translation units" : "lines");
    }
    const xlm_segmenter_class *cls;
    add_input(provenance->inputs, xlm_prep_segmenter(options, &cls)->file);
    add_input(provenance->inputs, options->vocabulary);
    for (guint i = 0; i < options->like_files->len; i++)
        add_input(provenance->inputs, options->like_files->pdata[i]);
    for (guint i = 0; i < options->synthetic->len; i++)
        for (int k = 0; k < 2; k++)
            add_input(provenance->inputs, ((const xlm_synthetic *)options->synthetic->pdata[i])->weights[k]);
    provenance->rank = comm->rank;
    provenance->ranks = comm->ranks;
    provenance->begin = xlm_clock();
    for (guint i = (guint)comm->rank; i < provenance->inputs->len; i += (guint)comm->ranks)
        provenance->bytes += size_of(g_array_index(provenance->inputs, struct input, i).path);
    provenance->running = 1;
    provenance->thread = g_thread_new("digest", digest_inputs, provenance);
    return provenance;
}

static void wait_for_thread(xlm_provenance *provenance)
{
    if (provenance->thread != NULL)
        g_thread_join(g_steal_pointer(&provenance->thread));
}

void xlm_provenance_free(xlm_provenance *provenance)
{
    if (provenance == NULL)
        return;
    g_atomic_int_set(&provenance->reading.stop, 1);
    wait_for_thread(provenance);
    g_clear_error(&provenance->failure);
    for (guint i = 0; i < provenance->inputs->len; i++) {
        g_free(g_array_index(provenance->inputs, struct input, i).path);
        g_free(g_array_index(provenance->inputs, struct input, i).name);
    }
    g_array_free(provenance->inputs, TRUE);
    g_free(provenance);
}

/* Show progress until no rank is computing digests. Collective. */
static void wait_for_digests(xlm_provenance *provenance, const xlm_comm *comm)
{
    enum { RUNNING, READ, ALL, NUMBERS, WAIT = 20, WAITS = 10 }; /* of so many milliseconds each */
    xlm_progress progress = xlm_progress_begin("digests of the input", 0, "B");
    progress.begin = provenance->begin;
    for (;;) {
        int64_t numbers[NUMBERS] = {[RUNNING] = g_atomic_int_get(&provenance->running),
                                    [READ] = (int64_t)(gsize)g_atomic_pointer_get(&provenance->reading.bytes),
                                    [ALL] = provenance->bytes};
        xlm_comm_sum_int64(comm, numbers, NUMBERS);
        if (numbers[RUNNING] == 0)
            break;
        progress.total = (double)numbers[ALL];
        xlm_progress_show(&progress, (double)numbers[READ]);
        for (int i = 0; i < WAITS && g_atomic_int_get(&provenance->running); i++)
            g_usleep(1000 * WAIT);
    }
    xlm_progress_end(&progress);
    wait_for_thread(provenance);
}

/* Write /inputs, one string for each input: path, bytes, lines, digest. Collective. */
static bool write_inputs(xlm_provenance *provenance, const xlm_comm *comm, const xlm_prep_options *options,
                         const int64_t *lines, xlm_store *store, GError **error)
{
    guint n = 0;
    for (guint i = 0; i < options->sources->len; i++)
        for (int side = 0; side < ((xlm_prep_source *)options->sources->pdata[i])->sides; side++)
            g_array_index(provenance->inputs, struct input, n++).lines = lines[i];
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    for (char **old = options->append != NULL ? options->append->inputs : NULL; old != NULL && *old != NULL; old++)
        g_ptr_array_add(texts, g_strdup(*old));
    for (guint i = 0; i < provenance->inputs->len; i++) {
        struct input *input = &g_array_index(provenance->inputs, struct input, i);
        const int owner = (int)(i % (guint)comm->ranks);
        xlm_comm_broadcast(comm, owner, &input->bytes, sizeof input->bytes);
        xlm_comm_broadcast(comm, owner, input->digest, sizeof input->digest);
        char *of_lines = input->lines < 0 ? g_strdup("")
                                          : g_strdup_printf(" %" G_GINT64_FORMAT " %s,", input->lines, input->unit);
        g_ptr_array_add(texts, g_strdup_printf("%s: %" G_GINT64_FORMAT " bytes,%s SHA-256 %s", input->name,
                                               input->bytes, of_lines, input->digest));
        g_free(of_lines);
    }
    return xlm_store_write_strings(store, "/inputs", texts->len, (const char *const *)texts->pdata, error) &&
           xlm_store_set_text(store, "/inputs", "description", "the files that the corpus was made of", error);
}

/* Write a dataset of strings with its description. */
static bool write_list(xlm_store *store, const char *path, const GPtrArray *list, const char *description, GError **error)
{
    return xlm_store_write_strings(store, path, list->len, (const char *const *)list->pdata, error) &&
           xlm_store_set_text(store, path, "description", description, error);
}

/* Write /filter: the rules, and what each has left out of each source. Collective. */
static bool write_filter(const xlm_comm *comm, const xlm_prep_options *options, const xlm_filter *filter,
                         const xlm_prep_counts *counts, xlm_store *store, GError **error)
{
    g_autoptr(GPtrArray) rules = g_ptr_array_new_with_free_func(g_free), sources = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) scripts = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GArray) left_out = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (int rule = 0; rule < XLM_RULES; rule++)
        if (xlm_filter_has(&options->filter, rule))
            g_ptr_array_add(rules, xlm_filter_print(&options->filter, rule));
    for (guint i = 0; i < options->sources->len; i++) {
        const xlm_prep_source *source = options->sources->pdata[i];
        g_ptr_array_add(sources, source->sides == 1 ? g_strdup(source->text[0]->name)
                                                    : g_strdup_printf("%s, %s", source->text[0]->name, source->text[1]->name));
        for (int rule = 0; rule < XLM_RULES; rule++)
            if (xlm_filter_has(&options->filter, rule))
                g_array_append_val(left_out, counts->left_out[i][rule]);
    }
    for (guint i = 0; i < options->languages->len && options->filter.script_share > 0; i++)
        if (xlm_filter_scripts(filter, (int)i) != NULL)
            g_ptr_array_add(scripts, g_strdup_printf("%s=%s", (const char *)options->languages->pdata[i],
                                                     xlm_filter_scripts(filter, (int)i)));
    const uint64_t dims[2] = {sources->len, rules->len};
    return write_list(store, "/filter/rules", rules, "which sentences and pairs are left out; rules in the order in which they "
                      "are applied", error) &&
           write_list(store, "/filter/sources", sources, "the files that the rules were applied to", error) &&
           (scripts->len == 0 || write_list(store, "/filter/scripts", scripts, "the scripts that --script-share counts, by "
                                            "language", error)) &&
           xlm_store_dataset(store, "/filter/left_out", XLM_I64, 2, dims, XLM_STORE_CHECKED, error) &&
           xlm_store_write(store, "/filter/left_out", 0, comm->rank == 0 ? dims[0] : 0, left_out->data, error) &&
           xlm_store_set_text(store, "/filter/left_out", "description", "row i: how many sentences or pairs of source i each "
                              "rule has left out", error);
}

bool xlm_provenance_write(xlm_provenance *provenance, const xlm_comm *comm, const xlm_prep_options *options,
                          const xlm_sentence_reader *reader, const int64_t *lines, const xlm_prep_counts *counts,
                          xlm_store *store, GError **error)
{
    wait_for_digests(provenance, comm);
    if (!xlm_comm_agree_on(comm, g_steal_pointer(&provenance->failure), error))
        return false;
    g_autofree char *command = options->append != NULL ? g_strconcat(options->append->command, "\n", options->command, NULL)
                                                      : g_strdup(options->command);
    return xlm_store_set_format(store, XLM_CORPUS_FORMAT, XLM_CORPUS_VERSION, "xlm_prep", error) &&
           xlm_store_set_text(store, "/", "description", "text encoded as subwords of one vocabulary, in parts to train "
                              "on and to evaluate on", error) &&
           xlm_store_set_text(store, "/", "command", command, error) &&
           xlm_store_set_int(store, "/", "seed", options->seed, error) &&
           xlm_store_set_real(store, "/", "held_out_share", options->held_out, error) &&
           write_inputs(provenance, comm, options, lines, store, error) &&
           (!xlm_filter_has_any(&options->filter) || write_filter(comm, options, reader->filter, counts, store, error));
}
