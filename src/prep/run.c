/* xlm-mpi: from text files to a corpus file. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/run.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/signals.h"
#include "prep/append_split.h"
#include "prep/steps.h"
#include "prep/synthetic_text.h"
#include "prep/segmenter_options.h"
#include "prep/texts.h"
#include "text/fields.h"

/* Write lines `subword<tab>twin`, synthetic language by synthetic language. */
static bool write_twins(const xlm_vocabulary *vocabulary, const char *path, GError **error)
{
    GString *text = g_string_new(NULL);
    const char *const *words = xlm_vocabulary_words(vocabulary);
    int n;
    const xlm_vocabulary_made *made = xlm_vocabulary_made_languages(vocabulary, &n);
    for (int i = 0; i < n; i++) {
        const int32_t *twins = xlm_vocabulary_twins(vocabulary, made[i].language);
        for (int32_t k = 0; k < made[i].twins; k++)
            g_string_append_printf(text, "%s\t%s\n", words[made[i].originals[k]], words[twins[made[i].originals[k]]]);
    }
    return xlm_fields_write(path, text, error);
}

/* Remove the first n files that write_vocabulary_files has written. */
static void remove_vocabulary_files(const xlm_prep_options *options, int n)
{
    const char *paths[] = {options->write_segmenter, options->write_vocabulary, options->write_twins};
    for (int i = 0; i < n; i++)
        if (paths[i] != NULL)
            unlink(paths[i]);
}

/* Write the requested files of the segmenter, the vocabulary and the twins, by rank 0; if one fails, none of them is left.
 * Collective. */
static bool write_vocabulary_files(const xlm_comm *comm, const xlm_prep_options *options,
                                   const xlm_vocabulary *vocabulary, GError **error)
{
    GError *failure = NULL;
    if (comm->rank == 0) {
        int written = 0;
        const xlm_segmenter *segmenter = xlm_vocabulary_segmenter(vocabulary);
        if (options->write_segmenter == NULL || xlm_segmenter_write(segmenter, options->write_segmenter, &failure))
            written++;
        if (written == 1 && (options->write_vocabulary == NULL ||
                             xlm_word_counts_write(xlm_vocabulary_subwords(vocabulary), options->write_vocabulary, &failure)))
            written++;
        if (written == 2 && options->write_twins != NULL)
            write_twins(vocabulary, options->write_twins, &failure);
        if (failure != NULL)
            remove_vocabulary_files(options, written);
    }
    return xlm_comm_agree_on(comm, failure, error);
}

static xlm_corpus_writer *create_writer(const xlm_comm *comm, const xlm_prep_options *options,
                                        const xlm_vocabulary *vocabulary, GError **error)
{
    const int pairs = xlm_prep_pairs_count(options);
    int(*languages)[2] = g_malloc0((gsize)pairs * sizeof *languages);
    for (int i = 0; i < pairs; i++)
        xlm_prep_pair_languages(options, i, languages[i]);
    xlm_corpus_writer *writer =
        xlm_corpus_writer_create(comm, options->output, (int)options->languages->len,
                                 (const char *const *)options->languages->pdata, pairs, (const int(*)[2])languages,
                                 xlm_vocabulary_size(vocabulary), error);
    g_free(languages);
    return writer;
}

/* Encode all text into the writer, and write everything else that belongs to the corpus. */
static bool fill_corpus(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                        xlm_provenance *provenance, const xlm_vocabulary *vocabulary, xlm_corpus_writer *writer,
                        xlm_prep_counts *counts, GError **error)
{
    g_autofree int64_t *lines = g_new0(int64_t, options->sources->len);
    xlm_store *store = xlm_corpus_writer_store(writer);
    return xlm_prep_encode(comm, options, reader, vocabulary, writer, counts, lines, error) &&
           xlm_vocabulary_save(vocabulary, store, "/vocabulary", comm->rank, error) &&
           xlm_assignments_save(reader->assignments, store, error) &&
           xlm_provenance_write(provenance, comm, options, reader, lines, counts, store, error);
}

/* Write the corpus, and the files of segmenter and vocabulary, which were made from the same text. If one fails, none is left. */
static bool write_corpus(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                         xlm_provenance *provenance, const xlm_vocabulary *vocabulary, GError **error)
{
    xlm_signals_watch(); /* before there is a file to remove */
    xlm_corpus_writer *writer = create_writer(comm, options, vocabulary, error);
    if (writer == NULL)
        return false;
    xlm_prep_counts *counts = xlm_prep_counts_new(options);
    bool good = fill_corpus(comm, options, reader, provenance, vocabulary, writer, counts, error) &&
                write_vocabulary_files(comm, options, vocabulary, error);
    if (!good) {
        xlm_corpus_writer_discard(writer);
    } else if (!xlm_corpus_writer_commit(writer, error)) {
        if (comm->rank == 0) /* the corpus could not be finished, so no other output may be left */
            remove_vocabulary_files(options, 3);
        good = false;
    }
    if (good)
        xlm_prep_counts_print(counts, options);
    xlm_prep_counts_free(counts);
    return good;
}

static void visit_nothing(void *data G_GNUC_UNUSED, const xlm_prep_source *source G_GNUC_UNUSED,
                          const xlm_sentence *sentence G_GNUC_UNUSED)
{
}

/* Read all text once if the filter needs it to know which sentences are duplicates. Collective. */
static bool find_duplicates(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                            GError **error)
{
    if (reader->filter == NULL || !xlm_filter_is_unfinished(reader->filter))
        return true;
    if (!xlm_scan_sources(comm, options, 0, -1, "looking for duplicates", reader, visit_nothing, NULL, error))
        return false;
    xlm_filter_finish(reader->filter, comm);
    return true;
}

/* Find the sentences that pairs hold out; collective. */
static bool find_held_out(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                          GError **error)
{
    xlm_appended *append = options->append;
    return (append == NULL || xlm_prep_append_pairs(comm, append, reader, error)) &&
           xlm_prep_pairs(comm, options, reader, error) &&
           (append == NULL || xlm_prep_find_dropped(comm, append, reader, error));
}

/* Not an error: a corpus that takes a thousand times the room that its text does may be what is wanted. */
static void warn_of_long_subword(const xlm_vocabulary *vocabulary)
{
    enum { LONG = 1000 };
    const int64_t size = xlm_vocabulary_size(vocabulary);
    size_t longest = 0;
    for (int64_t i = 0; i < size; i++)
        longest = MAX(longest, strlen(xlm_vocabulary_words(vocabulary)[i]));
    if (longest > LONG)
        xlm_log_warn("the longest subword has %zu bytes, and in files each of the %" G_GINT64_FORMAT " takes as many: %.1f MB; "
                     "--max-word-characters leaves out sentences with such words", longest, size,
                     (double)longest * (double)size / 1e6);
}

static bool prepare_text(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                         xlm_provenance *provenance, GError **error)
{
    const double begin = xlm_clock();
    const bool has_pairs = options->monolingual_sources < (int)options->sources->len;
    if (!find_duplicates(comm, options, reader, error))
        return false;
    if (has_pairs && options->held_out > 0 && !find_held_out(comm, options, reader, error))
        return false;
    xlm_vocabulary *vocabulary = xlm_prep_vocabulary(comm, options, reader, error);
    if (vocabulary == NULL)
        return false;
    if (comm->rank == 0)
        warn_of_long_subword(vocabulary);
    const bool good = options->output != NULL ? write_corpus(comm, options, reader, provenance, vocabulary, error)
                                              : write_vocabulary_files(comm, options, vocabulary, error);
    const xlm_segmenter *segmenter = xlm_vocabulary_segmenter(vocabulary);
    char duration[16];
    if (good)
        xlm_log_info("vocabulary of %" G_GINT64_FORMAT " subwords, %d of them special; %u %s; done in %s",
                     xlm_vocabulary_size(vocabulary), xlm_vocabulary_specials(vocabulary)->distinct,
                     xlm_segmenter_size(segmenter), xlm_segmenter_class_of(segmenter)->unit,
                     xlm_log_duration(xlm_clock() - begin, duration));
    xlm_vocabulary_free(vocabulary);
    return good;
}

/* Open all texts, read those that could not be checked before, and make what is asked for. The digest of a large file takes
 * minutes, so it is computed from the beginning, while text is read again and again. */
static bool prepare_sources(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                            GError **error)
{
    GError *failure = NULL;
    g_autofree char *scratch = xlm_prep_scratch(options);
    xlm_prep_source *const *sources = (xlm_prep_source *const *)options->sources->pdata;
    const guint n = options->sources->len;
    xlm_prep_texts *texts = xlm_prep_texts_open(comm, sources, n, scratch, error);
    xlm_provenance *provenance = texts != NULL && options->output != NULL ? xlm_provenance_begin(comm, options) : NULL;
    bool good = texts != NULL && xlm_prep_texts_read(texts, comm, sources, n, error);
    if (good && comm->rank == 0)
        xlm_prep_check_unpacked(options, &failure);
    good = good && xlm_comm_agree_on(comm, failure, error) && prepare_text(comm, options, reader, provenance, error);
    xlm_provenance_free(provenance);
    xlm_prep_texts_close(texts);
    return good;
}

bool xlm_prep_run(const xlm_comm *comm, const xlm_prep_options *options, GError **error)
{
    if (options->segment_input != NULL)
        return xlm_prep_segment(comm, options, error);
    if (options->derive_input != NULL)
        return xlm_prep_derive(comm, options, error);
    GError *failure = NULL;
    xlm_sentence_reader reader = {.bad_lines = options->bad_lines, .languages = (const char *const *)options->languages->pdata,
                                  .splitter = g_new0(xlm_splitter *, options->languages->len),
                                  .assignments = xlm_assignments_new(options->held_out, (uint64_t)options->seed),
                                  .orders = g_new0(xlm_word_order *, options->synthetic->len)};
    xlm_earlier_split_recall(options->append != NULL ? &options->append->split : &options->like_split, options->seed,
                             options->held_out, reader.assignments);
    for (int side = 0; side < 2 && failure == NULL; side++)
        reader.normaliser[side] = xlm_prep_normaliser(options, &failure);
    for (guint i = 0; i < options->languages->len && failure == NULL; i++)
        reader.splitter[i] = xlm_splitter_new(options->words, reader.languages[i], &failure);
    for (guint i = 0; i < options->synthetic->len && failure == NULL; i++)
        reader.orders[i] = xlm_word_order_new(options->synthetic->pdata[i], (uint64_t)options->seed, &failure);
    if (failure == NULL && xlm_filter_has_any(&options->filter))
        reader.filter = xlm_filter_new(options, &failure);
    const bool good = xlm_comm_agree_on(comm, failure, error) && prepare_sources(comm, options, &reader, error);
    for (int side = 0; side < 2; side++)
        xlm_normaliser_free(reader.normaliser[side]);
    for (guint i = 0; i < options->synthetic->len; i++)
        xlm_word_order_free(reader.orders[i]);
    g_free(reader.orders);
    for (guint i = 0; i < options->languages->len; i++)
        xlm_splitter_free(reader.splitter[i]);
    g_free(reader.splitter);
    xlm_filter_free(reader.filter);
    xlm_assignments_free(reader.assignments);
    return good;
}
