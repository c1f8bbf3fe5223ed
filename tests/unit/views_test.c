/* xlm-mpi: tests of the graph of encodings that views ask for. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "objective/views.h"
#include "tensor/parameters.h"
#include "tensor/tape.h"

enum { MAX_NODES = 8 };

static const xlm_loss_class without_label = {.name = "looks"};

typedef struct fixture {
    xlm_parameters *parameters;
    xlm_tape *tape;
    xlm_hosted objective[2];
    xlm_encodings encodings;
} fixture;

static int set_up(void **state)
{
    fixture *f = g_new0(fixture, 1);
    f->parameters = xlm_parameters_new();
    xlm_parameters_add(f->parameters, "w", 1, 1, XLM_INIT_ZERO, false);
    f->tape = xlm_tape_new(f->parameters);
    xlm_tape_begin(f->tape, NULL, false, 0, 0);
    f->encodings.tape = f->tape;
    for (int k = 0; k < 2; k++)
        f->objective[k] = (xlm_hosted){.views = g_array_new(FALSE, FALSE, sizeof(xlm_view)), .loss = {.cls = &without_label}};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    for (int k = 0; k < 2; k++)
        g_array_unref(f->objective[k].views);
    xlm_tape_free(f->tape);
    xlm_parameters_free(f->parameters);
    g_free(f);
    return 0;
}

static void declare(fixture *f, int objective, xlm_view view) { g_array_append_val(f->objective[objective].views, view); }

static const xlm_view source = {.text = XLM_TEXT_CORRUPTED, .layer = 2, .gradient = true, .dropout = true, .side = XLM_SIDE_FIRST};

static xlm_view decoder(int memory)
{
    return (xlm_view){.text = XLM_TEXT_ORIGINAL, .stack = XLM_STACK_DECODER, .memory = memory, .layer = 2, .gradient = true};
}

/* The nodes, in their order; *n of them. */
static const xlm_encoding **list(const fixture *f, int *n)
{
    static const xlm_encoding *nodes[MAX_NODES];
    *n = 0;
    for (const xlm_encoding *e = f->encodings.first; e != NULL; e = e->next) {
        assert_true(*n < MAX_NODES);
        nodes[(*n)++] = e;
    }
    return nodes;
}

/* A decoder's memory comes before it, is made though it was not asked for yet, and is the encoding of all views that are equal. */
static void test_memory_comes_first(void **state)
{
    fixture *f = *state;
    int n;
    declare(f, 0, source);
    declare(f, 0, decoder(0));
    xlm_encodings_add_view(&f->encodings,
                           (xlm_view_use){&f->objective[0], &g_array_index(f->objective[0].views, xlm_view, 1)});
    const xlm_encoding **nodes = list(f, &n);
    assert_int_equal(n, 2);
    assert_true(nodes[0]->use.view->stack == XLM_STACK_ENCODER && nodes[0]->memory == NULL);
    assert_true(nodes[1]->use.view->stack == XLM_STACK_DECODER && nodes[1]->memory == nodes[0]);
    xlm_encodings_add(&f->encodings, &f->objective[0], false, NULL);
    list(f, &n);
    assert_int_equal(n, 2);
}

/* Equal decoders of two objectives over equal memories, which have other numbers among their views, are one; over other memories,
 * two. */
static void test_equal_decoders_are_one(void **state)
{
    fixture *f = *state;
    int n;
    xlm_view other = source;
    other.side = XLM_SIDE_SECOND;
    declare(f, 0, source);
    declare(f, 0, decoder(0));
    declare(f, 1, other);
    declare(f, 1, source);
    declare(f, 1, decoder(1));
    declare(f, 1, decoder(0));
    for (int k = 0; k < 2; k++)
        xlm_encodings_add(&f->encodings, &f->objective[k], false, NULL);
    const xlm_encoding **nodes = list(f, &n);
    assert_int_equal(n, 4);
    assert_true(nodes[1]->memory == nodes[0] && nodes[2]->use.view->side == XLM_SIDE_SECOND && nodes[3]->memory == nodes[2]);
}

/* A decoder over a decoder: a chain is resolved from its beginning. Layers and rows are those that somebody asks for. */
static void test_chains_and_layers(void **state)
{
    fixture *f = *state;
    int n;
    xlm_view low = source, chained = decoder(1), rows = source;
    low.layer = 1;
    low.rows = XLM_ROWS_FIRST;
    rows.rows = XLM_ROWS_PREDICTED;
    declare(f, 0, low);
    declare(f, 0, decoder(0));
    chained.number = 1;
    declare(f, 0, chained);
    xlm_encodings_add_view(&f->encodings,
                           (xlm_view_use){&f->objective[0], &g_array_index(f->objective[0].views, xlm_view, 2)});
    const xlm_encoding **nodes = list(f, &n);
    assert_int_equal(n, 3);
    assert_true(nodes[1]->memory == nodes[0] && nodes[2]->memory == nodes[1]);
    assert_true(nodes[0]->layer == 1 && nodes[0]->rows.kinds == 1U << XLM_ROWS_FIRST);
    declare(f, 1, rows);
    xlm_encodings_add(&f->encodings, &f->objective[1], false, NULL);
    nodes = list(f, &n);
    assert_int_equal(n, 3);
    assert_true(nodes[0]->layer == 2 && nodes[0]->rows.kinds == 1U << XLM_ROWS_PREDICTED);
}

/* The stream's own corrupted text comes first, whenever it is asked for; a made text is its objective's own. */
static void test_order_of_encoders(void **state)
{
    fixture *f = *state;
    int n;
    xlm_view whole = source, made = source;
    whole.side = made.side = XLM_SIDE_BOTH;
    made.text = XLM_TEXT_MADE;
    declare(f, 0, source);
    declare(f, 0, decoder(0));
    declare(f, 0, made);
    declare(f, 1, made);
    declare(f, 1, whole);
    for (int k = 0; k < 2; k++)
        xlm_encodings_add(&f->encodings, &f->objective[k], false, NULL);
    xlm_encodings_add_whole(&f->encodings, 2);
    const xlm_encoding **nodes = list(f, &n);
    assert_int_equal(n, 5);
    assert_true(nodes[0]->use.view->text == XLM_TEXT_CORRUPTED && nodes[0]->use.view->side == XLM_SIDE_BOTH);
    assert_true(nodes[2]->memory == nodes[1]);
    assert_true(nodes[3]->use.hosted == &f->objective[0] && nodes[4]->use.hosted == &f->objective[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_memory_comes_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_equal_decoders_are_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_chains_and_layers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_order_of_encoders, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
