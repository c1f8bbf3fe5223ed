/* xlm-mpi: tests of which settings the scores of a run depend on. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream_fixture.h"

#include "run/measures.h"

struct plugin {
    int64_t links;
    double alpha;
    char *dictionary;
};

/* The last row stands for a key that a later version adds. */
static const xlm_option later[] = {
    {"links", XLM_OPTION_INT, "1_000", 1, 100000, NULL, "number of links", offsetof(struct plugin, links)},
    {"dictionary", XLM_OPTION_TEXT, "", 0, 0, NULL, "file of translations", offsetof(struct plugin, dictionary)},
    {"alpha", XLM_OPTION_REAL, "0.5", 0, 1, NULL, "factor of links", offsetof(struct plugin, alpha)},
    XLM_OPTION_END};
/* The same, without that key. */
static const xlm_option before[] = {
    {"links", XLM_OPTION_INT, "1_000", 1, 100000, NULL, "number of links", offsetof(struct plugin, links)},
    {"dictionary", XLM_OPTION_TEXT, "", 0, 0, NULL, "file of translations", offsetof(struct plugin, dictionary)},
    XLM_OPTION_END};

/* What the loss of an objective with these options depends on, where it reads a stream of these settings, into which an objective
 * brings the stage, NULL: none. own: the stage of its own class. g_free. */
static char *settings_with_stage(const xlm_option *table, struct plugin *plugin, const char *stream_settings,
                                 const xlm_stage_plugin *stage, const xlm_stage_plugin *own)
{
    char *names[] = {(char *)"aligned/loss", NULL};
    const xlm_loss_class cls = {.name = "align", .stage = own};
    xlm_job_stream stream = {.name = (char *)"text", .config = read_config(stream_settings)};
    xlm_job_objective objective = {.name = (char *)"aligned", .stream_name = stream.name, .cls = &cls,
                                   .use = {.loaded.options = table, .state = plugin}};
    const xlm_job job = {.train = {.micro_batches = 8, .evaluate_instances = 500}, .streams = 1, .stream = &stream,
                         .objectives = 1, .objective = &objective};
    if (stage != NULL)
        xlm_stream_config_plug(&stream.config, &(xlm_stage_use){.section = "objective", .name = "other", .cls = stage});
    char *text = xlm_measures_settings(&job, names);
    xlm_stream_config_clear(&stream.config);
    return text;
}

static char *settings_of(const xlm_option *table, struct plugin *plugin, const char *stream_settings)
{
    return settings_with_stage(table, plugin, stream_settings, NULL, NULL);
}

/* Checkpoints have a digest of the text, so it must stay what it is in all versions; keys with their defaults are not in it. */
static void a_key_with_its_default_is_left_out(void **state)
{
    (void)state;
    struct plugin plugin = {.links = 1000, .alpha = 0.5};
    char *old = settings_of(before, &plugin, "batch=32\n"), *new = settings_of(later, &plugin, "batch=32\nmask=0:0.3,9=0.15\n");
    assert_string_equal(old, "aligned/loss\n500\ntext 4\n[aligned] align\n");
    assert_string_equal(new, old);
    g_free(new);
    new = settings_of(later, &plugin, "batch=32\nlanguages=en,de@10\nlength=64\n");
    assert_string_equal(new, "aligned/loss\n500\ntext 4\n[aligned] align\nlength = 64\nlanguages = en,de\n");
    g_free(new);
    plugin.dictionary = (char *)"here/de-en.txt";
    new = settings_of(later, &plugin, "batch=32\n");
    assert_string_equal(new, "aligned/loss\n500\ntext 4\n[aligned] align\ndictionary = de-en.txt\n");
    g_free(new);
    g_free(old);
}

/* Of a stream some keys are about training alone. An objective's key of such a name is not. */
static void keys_about_training_are_left_out(void **state)
{
    (void)state;
    struct plugin plugin = {.links = 1000, .alpha = 0.75};
    char *text = settings_of(later, &plugin, "batch=32\ntype=parallel\nalpha=0.3\nshare=0.5\n");
    assert_string_equal(text, "aligned/loss\n500\ntext 4\n[aligned] align\nalpha = 0.75\ntype = parallel\n");
    g_free(text);
}

/* A stage that another objective brings changes the text that this one is evaluated on. */
static void stages_of_other_objectives_count(void **state)
{
    (void)state;
    static const xlm_stage_plugin order = {.name = "order"};
    struct plugin plugin = {.links = 1000, .alpha = 0.5};
    char *text = settings_with_stage(later, &plugin, "batch=32\nlength=64\n", &order, NULL);
    assert_string_equal(text, "aligned/loss\n500\ntext 4\n[aligned] align\nlength = 64\n[stage of order]\n");
    g_free(text);
    text = settings_with_stage(later, &plugin, "batch=32\n", &order, &order);
    assert_string_equal(text, "aligned/loss\n500\ntext 4\n[aligned] align\n"); /* its own is always there */
    g_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_with_its_default_is_left_out),
        cmocka_unit_test(keys_about_training_are_left_out),
        cmocka_unit_test(stages_of_other_objectives_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
