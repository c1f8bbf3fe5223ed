/* xlm-mpi: translations found by a model's hidden states, as in BUCC. SPDX-License-Identifier: GPL-3.0-or-later */
#include "retrieval/sentence_mining.h"

#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "files/path.h"
#include "model_aligner/pair_languages.h"
#include "retrieval/mined_pairs.h"
#include "text/fields.h"
#include "vectors/numbered_sentences.h"
#include "vectors/sentence_vectors.h"

/* Two texts, the pairs in them, and which of these are gold. */
typedef struct texts {
    xlm_numbered_sentences *sides[2];
    GHashTable *gold; /* NULL: none was given */
    GArray *pairs;
    bool *is_gold;    /* [pairs] */
} texts;

typedef struct miner {
    const xlm_comm *comm;
    const xlm_mining_options *options;
    xlm_loaded_model *loaded;
    xlm_tokenizer *tokenizer;
    xlm_tape *tape;
    int languages[2];
    int64_t layer;
    texts training, test;
} miner;

static bool has_training(const miner *m) { return m->options->training[0] != NULL; }

/* ---- opening ---- */

static bool read_texts(const miner *m, const char *const files[2], const char *gold, texts *t, GError **error)
{
    for (int s = 0; s < 2; s++) {
        if ((t->sides[s] = xlm_numbered_sentences_read(files[s], m->tokenizer, m->languages[s], error)) == NULL)
            return false;
        xlm_tokenizer_warn_unknown(m->tokenizer, files[s]);
    }
    return gold == NULL || (t->gold = xlm_numbered_pairs_read(gold, t->sides, error)) != NULL;
}

static bool check_outputs(const xlm_mining_options *o, GError **error)
{
    const char *const inputs[] = {o->checkpoint, o->files[0], o->files[1], o->gold, o->training[0], o->training[1],
                                  o->training[2]};
    const char *const outputs[] = {o->output, o->csv};
    return xlm_path_check_outputs(outputs, G_N_ELEMENTS(outputs), inputs, G_N_ELEMENTS(inputs), error);
}

static bool open_miner(miner *m, GError **error)
{
    const xlm_mining_options *o = m->options;
    const xlm_align_source source = {.files = {o->files[0], o->files[1]}, .languages = {o->languages[0], o->languages[1]}};
    if ((m->comm->rank == 0 && !check_outputs(o, error)) || (m->loaded = xlm_model_file_read(o->checkpoint, error)) == NULL ||
        !xlm_model_file_has_layer(m->loaded, o->checkpoint, o->layer, error))
        return false;
    m->layer = o->layer >= 0 ? o->layer : m->loaded->config.layers;
    m->tape = xlm_model_file_tape(m->loaded);
    return xlm_pair_languages_of_text(m->loaded, &source, m->languages, error) &&
           (m->tokenizer = xlm_tokenizer_new(m->loaded->vocabulary, error)) != NULL &&
           (!has_training(m) || read_texts(m, o->training, o->training[2], &m->training, error)) &&
           read_texts(m, o->files, o->gold, &m->test, error);
}

static void close_texts(texts *t)
{
    for (int s = 0; s < 2; s++)
        xlm_numbered_sentences_free(t->sides[s]);
    g_clear_pointer(&t->gold, g_hash_table_unref);
    g_clear_pointer(&t->pairs, g_array_unref);
    g_free(t->is_gold);
}

static void close_miner(miner *m)
{
    close_texts(&m->training);
    close_texts(&m->test);
    xlm_tape_free(m->tape);
    xlm_tokenizer_free(m->tokenizer);
    xlm_model_file_free(m->loaded);
}

/* ---- vectors and pairs ---- */

/* `<s> subwords </s>` of each different sentence, cut to the model's positions; [out] cut, empty: how many were cut, and how many
 * have no subword. */
static xlm_examples *make_examples(const miner *m, const xlm_numbered_sentences *s, int language, int64_t *cut, int64_t *empty)
{
    xlm_examples *examples = xlm_examples_new(xlm_vocabulary_specials(m->loaded->vocabulary));
    const int64_t max = m->loaded->config.positions - 2;
    for (guint i = 0; i < s->distinct->len; i++) {
        const int64_t place = g_array_index(s->distinct, int64_t, i);
        const int64_t first = place > 0 ? g_array_index(s->ends, int64_t, place - 1) : 0;
        const int64_t n = g_array_index(s->ends, int64_t, place) - first;
        *cut += n > max;
        *empty += n == 0;
        xlm_examples_add_sentence(examples, &g_array_index(s->subwords, int32_t, first), n, max, MAX(language, 0));
    }
    return examples;
}

/* Replace numbers among the different sentences by places in the files. Pairs with a sentence that occurs there more than once
 * are left out, although they have kept their sentences from other pairs. */
static void number_pairs(const texts *t)
{
    guint kept = 0;
    for (guint i = 0; i < t->pairs->len; i++) {
        xlm_mined_pair pair = g_array_index(t->pairs, xlm_mined_pair, i);
        if (g_array_index(t->sides[0]->repeated, gboolean, pair.source) ||
            g_array_index(t->sides[1]->repeated, gboolean, pair.target))
            continue;
        pair.source = g_array_index(t->sides[0]->distinct, int64_t, pair.source);
        pair.target = g_array_index(t->sides[1]->distinct, int64_t, pair.target);
        g_array_index(t->pairs, xlm_mined_pair, kept++) = pair;
    }
    if (xlm_numbered_sentences_repeated(t->sides[0]) + xlm_numbered_sentences_repeated(t->sides[1]) > 0)
        xlm_log_info("%" G_GINT64_FORMAT " source and %" G_GINT64_FORMAT " target sentences occur there more than once, each of "
                     "which is looked for once; %u pairs with such a sentence are left out, as the scorer of BUCC leaves them",
                     xlm_numbered_sentences_repeated(t->sides[0]), xlm_numbered_sentences_repeated(t->sides[1]),
                     t->pairs->len - kept);
    g_array_set_size(t->pairs, kept);
}

static bool mine(miner *m, texts *t, GError **error)
{
    const xlm_mining_options *o = m->options;
    const xlm_sentence_encoder encoder = {.comm = m->comm, .model = m->loaded->model, .tape = m->tape, .layer = m->layer,
                                          .pooling = o->pooling, .special_tokens = o->special_tokens,
                                          .progress = "encoding"};
    xlm_mining mining = {.width = m->loaded->config.hidden_size, .neighbours = o->neighbours, .margin = o->margin};
    float *vectors[2] = {NULL, NULL};
    int64_t cut = 0, empty = 0;
    bool good = true;
    for (int s = 0; s < 2 && good; s++) {
        xlm_examples *examples = make_examples(m, t->sides[s], m->languages[s], &cut, &empty);
        mining.n[s] = xlm_examples_count(examples);
        mining.vectors[s] = vectors[s] = g_new(float, mining.n[s] * mining.width);
        good = xlm_sentence_vectors(&encoder, examples, vectors[s], error);
        xlm_examples_free(examples);
    }
    if (cut > 0)
        xlm_log_warn("%" G_GINT64_FORMAT " sentences are cut to the model's %" G_GINT64_FORMAT " positions", cut,
                     m->loaded->config.positions);
    if (empty > 0)
        xlm_log_warn("%" G_GINT64_FORMAT " sentences have no subword%s", empty,
                     o->special_tokens ? "" : ", and are in no pair");
    if (good) {
        t->pairs = xlm_mine_pairs(m->comm, &mining);
        number_pairs(t);
        t->is_gold = g_new0(bool, MAX(t->pairs->len, 1u));
    }
    for (guint i = 0; good && t->gold != NULL && i < t->pairs->len; i++) {
        const xlm_mined_pair *pair = &g_array_index(t->pairs, xlm_mined_pair, i);
        t->is_gold[i] = xlm_numbered_pairs_have(t->gold, pair->source, pair->target,
                                                xlm_numbered_sentences_count(t->sides[1]));
    }
    g_free(vectors[0]);
    g_free(vectors[1]);
    return good;
}

static xlm_mining_score best_of(const texts *t)
{
    return xlm_mining_best_score(t->pairs, t->is_gold, g_hash_table_size(t->gold));
}

/* ---- results ---- */

static bool write_pairs(const miner *m, const texts *t, double threshold, GError **error)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < t->pairs->len; i++) {
        const xlm_mined_pair *pair = &g_array_index(t->pairs, xlm_mined_pair, i);
        if (pair->score < threshold)
            break;
        g_string_append_printf(text, "%.6f\t%s\t%s\n", pair->score, (const char *)t->sides[0]->ids->pdata[pair->source],
                               (const char *)t->sides[1]->ids->pdata[pair->target]);
    }
    return xlm_fields_write(m->options->output, text, error);
}

static void print_row(const char *what, const texts *t, const xlm_mining_score *s)
{
    printf("%-9s %9" G_GINT64_FORMAT " %9" G_GINT64_FORMAT " %10.6f %9" G_GINT64_FORMAT, what,
           xlm_numbered_sentences_count(t->sides[0]), xlm_numbered_sentences_count(t->sides[1]), s->threshold, s->mined);
    if (t->gold != NULL)
        printf(" %9" G_GINT64_FORMAT " %9" G_GINT64_FORMAT " %8.2f%% %8.2f%% %8.2f%%", s->gold, s->right, 100 * s->precision,
               100 * s->recall, 100 * s->f1);
    putchar('\n');
}

static void append_csv(const miner *m, const char *what, const texts *t, const xlm_mining_score *s, GString *csv)
{
    g_string_append_printf(csv, "%s,%" G_GINT64_FORMAT ",%s,%d,%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%.9g,%" G_GINT64_FORMAT
                           ",", what, m->layer, m->options->margin ? "margin" : "cosine", m->options->neighbours,
                           xlm_numbered_sentences_count(t->sides[0]), xlm_numbered_sentences_count(t->sides[1]), s->threshold,
                           s->mined);
    if (t->gold != NULL)
        g_string_append_printf(csv, "%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%.6f,%.6f,%.6f\n", s->gold, s->right,
                               s->precision, s->recall, s->f1);
    else
        g_string_append(csv, ",,,,\n");
}

/* By rank 0. training: NULL without. */
static bool write_results(const miner *m, const xlm_mining_score *training, const xlm_mining_score *test, GError **error)
{
    const xlm_mining_options *o = m->options;
    printf("%-9s %9s %9s %10s %9s %9s %9s %9s %9s %9s\n", "", "sources", "targets", "threshold", "pairs", "gold", "right",
           "precision", "recall", "F1");
    if (training != NULL)
        print_row("training", &m->training, training);
    print_row("test", &m->test, test);
    GString *csv = g_string_new("set,layer,score,neighbours,sources,targets,threshold,pairs,gold,right,precision,recall,f1\n");
    if (training != NULL)
        append_csv(m, "training", &m->training, training, csv);
    append_csv(m, "test", &m->test, test, csv);
    if (o->csv == NULL)
        g_string_free(csv, TRUE);
    return (o->csv == NULL || xlm_fields_write(o->csv, csv, error)) &&
           (o->output == NULL || write_pairs(m, &m->test, test->threshold, error));
}

static bool score_all(miner *m, GError **error)
{
    const xlm_mining_options *o = m->options;
    xlm_mining_score training = {.threshold = o->threshold};
    if (has_training(m)) {
        if (!mine(m, &m->training, error))
            return false;
        training = best_of(&m->training);
    }
    if (!mine(m, &m->test, error))
        return false;
    const int64_t gold = m->test.gold != NULL ? g_hash_table_size(m->test.gold) : 0;
    xlm_mining_score test;
    if (isnan(training.threshold)) {
        test = best_of(&m->test);
        xlm_log_info("the threshold is the best one for %s itself; --training finds it on other text", o->gold);
    } else {
        test = xlm_mining_score_at(m->test.pairs, m->test.is_gold, gold, training.threshold);
    }
    GError *failure = NULL;
    if (m->comm->rank == 0)
        write_results(m, has_training(m) ? &training : NULL, &test, &failure);
    return xlm_comm_agree_on(m->comm, failure, error);
}

bool xlm_sentence_mining(const xlm_comm *comm, const xlm_mining_options *options, GError **error)
{
    miner m = {.comm = comm, .options = options};
    const double begin = xlm_clock();
    GError *failure = NULL;
    open_miner(&m, &failure);
    const bool good = xlm_comm_agree_on(comm, failure, error) && score_all(&m, error);
    if (good)
        xlm_log_info("layer %" G_GINT64_FORMAT ", %s, model of step %" G_GINT64_FORMAT ": %.1f s", m.layer,
                     options->margin ? "ratio margin" : "cosine", m.loaded->step, xlm_clock() - begin);
    close_miner(&m);
    return good;
}
