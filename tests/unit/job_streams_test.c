/* xlm-mpi: tests of opening a job's streams on training and on held-out text. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream_fixture.h"

#include "hostile.h"
#include "job/job_streams.h"

enum { EN, DE };

static const int en_lengths[] = {3, 5, 2, 4}, de_lengths[] = {4, 4, 6};
static const int64_t links[] = {0, 1, 2, 0};

/* A stream of pairs of this corpus. Freed by close_streams. */
struct opened {
    xlm_corpus *corpus;
    xlm_job_stream stream;
    xlm_job_streams streams;
    char *path;
    bool good;
    GError *error;
};

static struct opened open_streams(const corpus_plan *plan, const change *c)
{
    struct opened o = {.path = write_corpus(plan), .stream = {.name = (char *)"s", .config = read_config("type=parallel\nbatch=8\n")}};
    if (c != NULL && !make_change(o.path, c))
        fail_msg("%s: the change was not made", c->expected);
    o.corpus = xlm_corpus_open(o.path, &o.error);
    must(o.corpus != NULL, o.error);
    xlm_job job = {.stream = &o.stream, .streams = 1};
    job.train.seed = 1;
    const xlm_training_data data = {.vocabulary = xlm_corpus_vocabulary(o.corpus), .input = xlm_stream_text(o.corpus)};
    o.good = xlm_job_streams_open(&o.streams, &job, &data, 1000, &o.error);
    return o;
}

static void close_streams(struct opened *o)
{
    xlm_job_streams_close(&o->streams);
    xlm_stream_config_clear(&o->stream.config);
    xlm_corpus_close(o->corpus);
    remove_corpus(o->path);
}

/* Where nothing was held out, a stream is trained and not evaluated. */
static void nothing_is_held_out(void **state)
{
    (void)state;
    const corpus_plan plan = {.text = {[XLM_TRAIN] = {[EN] = {4, 0, en_lengths}, [DE] = {3, 0, de_lengths}}},
                              .pairs = {[XLM_TRAIN] = {{DE, EN, 2, links}}}};
    struct opened o = open_streams(&plan, NULL);
    must(o.good, o.error);
    assert_non_null(o.streams.training[0]);
    assert_null(o.streams.held_out[0]);
    close_streams(&o);
}

/* A held-out part that cannot be read is an error, not one that is not there: a rank whose disk fails would part from the others. */
static void damage_of_what_is_held_out_is_an_error(void **state)
{
    (void)state;
    static const change wrong[] = {
        {"/held_out/parallel/de-en/links", NULL, ELEMENT_INT, 3, .r = 2, .expected = "pair 1: a link leads to sentence 3 of de, which "
         "has 3"},
        {"/held_out/text/en/offsets", NULL, ELEMENT_INT, 9, .r = 1, .expected = "offset 1 is greater than the next one"},
    };
    const corpus_plan plan = {
        .text = {[XLM_TRAIN] = {[EN] = {4, 0, en_lengths}, [DE] = {3, 0, de_lengths}},
                 [XLM_HELD_OUT] = {[EN] = {4, 0, en_lengths}, [DE] = {3, 0, de_lengths}}},
        .pairs = {[XLM_TRAIN] = {{DE, EN, 2, links}}, [XLM_HELD_OUT] = {{DE, EN, 2, links}}}};
    struct opened whole = open_streams(&plan, NULL);
    must(whole.good, whole.error);
    assert_non_null(whole.streams.held_out[0]);
    close_streams(&whole);
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        struct opened o = open_streams(&plan, &wrong[i]);
        assert_false(o.good);
        must_say(o.error, EX_DATAERR, wrong[i].expected);
        close_streams(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_held_out),
        cmocka_unit_test(damage_of_what_is_held_out_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
