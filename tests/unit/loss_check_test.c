/* xlm-mpi: the check of an objective in double precision refuses the classes that the loader of plugins refuses.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "host_fixture.h"

#include <xlm/loss_check.h>

static int64_t no_terms(xlm_loss *self, const xlm_pass *pass)
{
    (void)self, (void)pass;
    return 0;
}

static int64_t no_labels(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    (void)self, (void)tape, (void)pass;
    return 0;
}

static xlm_var *no_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    (void)self, (void)tape, (void)pass;
    return NULL;
}

static const xlm_loss_class whole = {
    .abi = XLM_LOSS_ABI, .name = "nothing", .summary = "has no terms", .needs_stream = true, .loss = no_loss,
};

static void refuse_class(const xlm_loss_class *cls, const char *wanted)
{
    char message[300] = "";
    assert_false(xlm_loss_check_gradients(&(xlm_loss_check){.cls = cls}, NULL, message, sizeof message));
    assert_string_equal(message, wanted);
}

static void test_missing_members(void **state)
{
    xlm_loss_class changed = whole;
    (void)state;
    changed.loss = NULL;
    refuse_class(&changed, "nothing: its class lacks a name, a summary or a loss function");
    changed.name = NULL;
    refuse_class(&changed, "the plugin: its class lacks a name, a summary or a loss function");
}

static void test_functions_that_exclude_each_other(void **state)
{
    static const char wrong_functions[] =
        "nothing: its class has a label function and a count, or reads no stream; label gives the number of terms";
    xlm_loss_class changed = whole;
    (void)state;
    changed.label = no_labels;
    changed.count = no_terms;
    refuse_class(&changed, wrong_functions);
    changed.count = NULL;
    changed.needs_stream = false;
    refuse_class(&changed, wrong_functions);
}

static bool open_pairs(xlm_loss *self, char *message, size_t size)
{
    const char *const *components = self->stream->components;
    g_snprintf(message, size, "%s, %s", self->stream->parallel ? "pairs" : "text", components != NULL ? components[0] : "none");
    return false;
}

/* What an objective is given of its stream is what a job's parallel stream has. */
static void test_own_stream(void **state)
{
    xlm_loss_class changed = whole;
    (void)state;
    changed.open = open_pairs;
    char message[300] = "";
    assert_false(xlm_loss_check_gradients(&(xlm_loss_check){.cls = &changed}, NULL, message, sizeof message));
    assert_non_null(strstr(message, "pairs, first-other"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_members),
        cmocka_unit_test(test_functions_that_exclude_each_other),
        cmocka_unit_test(test_own_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
