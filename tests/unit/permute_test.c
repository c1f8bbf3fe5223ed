/* xlm-mpi: tests of orders drawn from a permutation model. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <glib/gstdio.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "synthetic/order_weights.h"
#include "synthetic/permute.h"
#include "synthetic/ud_version1.h"

static char *directory;

static char *write_file(const char *name, const char *text)
{
    char *path = g_build_filename(directory, name, NULL);
    assert_true(g_file_set_contents(path, text, -1, NULL));
    return path;
}

/* words: "FORM UPOS HEAD DEPREL[ FEATS]" and so on, with / between them. */
static xlm_conllu *read_sentence(const char *words)
{
    GString *text = g_string_new(NULL);
    char **lines = g_strsplit(words, "/", -1);
    for (int i = 0; lines[i] != NULL; i++) {
        char **w = g_strsplit(lines[i], " ", -1);
        g_string_append_printf(text, "%d\t%s\t_\t%s\t_\t%s\t%s\t%s\t_\t_\n", i + 1, w[0], w[1], w[4] != NULL ? w[4] : "_", w[2],
                               w[3]);
        g_strfreev(w);
    }
    g_strfreev(lines);
    char *path = write_file("s.conllu", text->str);
    xlm_lines *file = xlm_lines_open(path, NULL);
    xlm_conllu *sentence = xlm_conllu_new();
    GError *error = NULL;
    if (xlm_conllu_next(file, sentence, XLM_CONLLU_TREES_NEEDED, &error) != 1)
        fail_msg("%s", error->message);
    xlm_lines_close(file);
    g_string_free(text, TRUE);
    g_unlink(path);
    g_free(path);
    return sentence;
}

static xlm_permuter *read_weights(const char *nouns, const char *verbs, uint64_t seed)
{
    char *paths[2] = {write_file("n", nouns), write_file("v", verbs)};
    GError *error = NULL;
    xlm_permuter *p = xlm_permuter_new(paths[0], paths[1], seed, &error);
    if (p == NULL)
        fail_msg("%s", error->message);
    for (int i = 0; i < 2; i++) {
        g_unlink(paths[i]);
        g_free(paths[i]);
    }
    return p;
}

/* The forms in the order drawn for sentence `number`. */
static void draw(xlm_permuter *p, const xlm_conllu *s, int64_t number, GString *out)
{
    uint32_t order[256];
    for (guint i = 0; i < s->words->len; i++)
        order[i] = i;
    xlm_permuter_order(p, s, number, order);
    g_string_truncate(out, 0);
    for (guint i = 0; i < s->words->len; i++)
        g_string_append(out, xlm_conllu_word_at(s, order[i])->column[XLM_CONLLU_FORM]);
}

/* ---- frequencies against probabilities worked out by hand ---- */

static void assert_frequencies(xlm_permuter *p, const xlm_conllu *s, int n, const char *const *orders, const double *shares)
{
    enum { DRAWS = 20000 };
    int counts[8] = {0};
    double sum = 0;
    GString *out = g_string_new(NULL);
    for (int64_t number = 0; number < DRAWS; number++) {
        int i = 0;
        draw(p, s, number, out);
        while (i < n && strcmp(out->str, orders[i]) != 0)
            i++;
        assert_true(i < n);
        counts[i]++;
    }
    for (int i = 0; i < n; i++)
        sum += shares[i];
    for (int i = 0; i < n; i++) {
        const double share = shares[i] / sum, spread = sqrt(share * (1 - share) / DRAWS);
        if (fabs((double)counts[i] / DRAWS - share) > 4 * spread)
            fail_msg("%s: %d of %d drawn, %g expected", orders[i], counts[i], DRAWS, share * DRAWS);
    }
    g_string_free(out, TRUE);
}

static const char *const six[] = {"SVO", "SOV", "VSO", "VOS", "OSV", "OVS"};

/* Every weight is the logarithm of a factor; each order's share is the product of the factors of its features. */
static void draws_as_weights_say(void **state)
{
    (void)state;
    GString *weights = g_string_new(NULL);
    static const struct {
        const char *feature;
        double factor;
    } model[] = {
        {"PRE_nsubj_dobj", 2},                   /* SVO SOV VSO */
        {"BTW_NOUN&nsubj_PRON&dobj", 3},         /* SVO */
        {"BI_@_dobj", 1.5},                      /* SVO VOS */
        {"BFR_NOUN_PRON", 5},                    /* SOV */
        {"AFT_PRON&dobj_NOUN&nsubj", 7},         /* VOS */
        {"BI_BOS_@VERB&@", 0.5},                 /* VSO VOS */
        {"BI_nsubj_EOS", 1.1},                   /* VOS OVS */
        {"HI_BOS_BOS_NOUN&nsubj", 4},            /* SVO SOV */
        {"HI_NOUN&nsubj_@VERB&@_PRON&dobj", 0.3}, /* SVO */
        {"HI_PRON&dobj_EOS_EOS", 6},             /* SVO VSO */
        {"HI_BOS_BOS_BOS_NOUN&nsubj", 100},      /* none: no row is longer than three items */
        {"HI_BOS_NOUN_@VERB", 100},              /* none: rows are of tags and relations together */
        {"BFR_nsubj_@", 100},                    /* none: the head is not before the head */
        {"PRE_@NOUN_dobj", 100},                 /* none: the head is a verb */
    };
    for (size_t i = 0; i < G_N_ELEMENTS(model); i++)
        g_string_append_printf(weights, "%s %.17g\n", model[i].feature, log(model[i].factor));
    xlm_permuter *p = read_weights("PRE_nsubj_dobj 50\n", weights->str, 1);
    xlm_conllu *s = read_sentence("S NOUN 2 nsubj/V VERB 0 root/O PRON 2 obj");
    const double shares[] = {2 * 3 * 1.5 * 4 * 0.3 * 6, 2 * 5 * 4, 2 * 0.5 * 6, 1.5 * 7 * 0.5 * 1.1, 1, 1.1};
    assert_frequencies(p, s, 6, six, shares);
    xlm_conllu_free(s);
    xlm_permuter_free(p);
    g_string_free(weights, TRUE);
}

/* Tags that are equal in two items; a subtype that the weights know, and one that they do not. */
static void draws_with_subtypes(void **state)
{
    (void)state;
    xlm_permuter *p = read_weights("PRE_nmod:poss_nmod 0.7\nPRE_compound_@ -0.4\nBFR_NOUN_NOUN 0.3\n", "PRE_nsubj_dobj 50\n", 1);
    xlm_conllu *s = read_sentence("S NOUN 2 nmod:poss/V NOUN 0 root/O NOUN 2 obl:agent");
    const double poss[] = {exp(0.7), exp(0.7 + 0.3), exp(0.7), 1, exp(0.3), 1};
    assert_frequencies(p, s, 6, six, poss);
    xlm_conllu_free(s);
    s = read_sentence("S PRON 2 compound:prt/V PROPN 0 root/O X 2 list");
    const double particle[] = {exp(-0.4), exp(-0.4), 1, 1, exp(-0.4), 1};
    assert_frequencies(p, s, 6, six, particle);
    xlm_conllu_free(s);
    xlm_permuter_free(p);
}

/* How often S comes before O when that has weight ln 3 and nothing else has: 3 of 4 times, with however many items. */
static void draws_many(void **state)
{
    (void)state;
    static const struct {
        const char *sentence;
        int draws;
    } cases[] = {
        {"S NOUN 6 nsubj/a ADV 6 advmod/b ADV 6 advmod/c ADV 6 advmod/d ADV 6 advmod/V VERB 0 root/O NOUN 6 obj", 1000},
        {"S NOUN 10 nsubj/a ADV 10 advmod/b ADV 10 advmod/c ADV 10 advmod/d ADV 10 advmod/e ADV 10 advmod/f ADV 10 advmod/"
         "g ADV 10 advmod/h ADV 10 advmod/V VERB 0 root/O NOUN 10 obj", 300}};
    xlm_permuter *p = read_weights("PRE_a_b 0\n", "PRE_nsubj_dobj 1.0986122886681098\n", 3);
    GString *out = g_string_new(NULL);
    for (size_t k = 0; k < G_N_ELEMENTS(cases); k++) {
        xlm_conllu *s = read_sentence(cases[k].sentence);
        const int n = (int)s->words->len, draws = cases[k].draws;
        int before = 0, first = 0;
        assert_true(k == 0 ? n <= XLM_PERMUTE_EXACT : n > XLM_PERMUTE_EXACT);
        for (int64_t number = 0; number < draws; number++) {
            draw(p, s, number, out);
            before += strchr(out->str, 'S') < strchr(out->str, 'O');
            first += out->str[0] == 'a';
        }
        assert_true(fabs((double)before / draws - 0.75) < 4 * sqrt(0.75 * 0.25 / draws));
        assert_true(fabs((double)first / draws - 1.0 / n) < 4 * sqrt(1.0 / n / draws));
        xlm_conllu_free(s);
    }
    g_string_free(out, TRUE);
    xlm_permuter_free(p);
}

/* ---- all orders of eight items, scored here from the features' texts ---- */

enum { ITEMS = 8, ALL_ORDERS = 40320, LOOKS = 3 };
static const char *const looks[LOOKS][ITEMS + 2] = { /* items, BOS, EOS; as tags, as relations, as both */
    {"PRON", "AUX", "ADV", "NOUN", "@VERB", "NOUN", "ADP", "PUNCT", "BOS", "EOS"},
    {"nsubj", "aux", "advmod", "dobj", "@", "nmod", "case", "punct", "BOS", "EOS"},
    {"PRON&nsubj", "AUX&aux", "ADV&advmod", "NOUN&dobj", "@VERB&@", "NOUN&nmod", "ADP&case", "PUNCT&punct", "BOS", "EOS"}};
enum { VERB = 4 };

typedef struct feature {
    char kind[4];
    int n;
    double weight;
    uint32_t look[LOOKS][5]; /* which items each symbol matches, as bits */
} feature;

static feature parse_feature(const char *text, double weight)
{
    feature f = {.weight = weight};
    char **parts = g_strsplit(text, "_", -1);
    g_strlcpy(f.kind, parts[0], sizeof f.kind);
    for (f.n = 0; parts[f.n + 1] != NULL; f.n++)
        for (int look = 0; look < LOOKS; look++)
            for (int item = 0; item < ITEMS + 2; item++)
                if (strcmp(parts[f.n + 1], looks[look][item]) == 0)
                    f.look[look][f.n] |= UINT32_C(1) << item;
    g_strfreev(parts);
    return f;
}

/* How often the feature is in the row: four BOS, the items, four EOS. */
static int count_feature(const feature *f, int look, const int *row, int head)
{
    const uint32_t *symbol = f->look[look];
    int count = 0;
    if (f->kind[0] == 'H') {
        for (int end = 4; end < ITEMS + 8 && look == 2; end++) { /* rows have an item, or more than one BOS or EOS */
            bool same = true;
            for (int i = 0; i < f->n && same; i++)
                same = end - f->n + 1 + i >= 0 && symbol[i] >> row[end - f->n + 1 + i] & 1;
            count += same;
        }
        return count;
    }
    for (int i = 3; i < ITEMS + 4; i++)
        for (int k = i + 1; k < ITEMS + 5; k++) {
            if (!(symbol[0] >> row[i] & 1) || !(symbol[1] >> row[k] & 1))
                continue;
            const bool inside = i > 3 && k < ITEMS + 4, beside_head = i == head || k == head;
            if (strcmp(f->kind, "BI") == 0)
                count += k == i + 1;
            else if (strcmp(f->kind, "PRE") == 0)
                count += inside;
            else
                count += inside && !beside_head &&
                         strcmp(f->kind, k < head ? "BFR" : i > head ? "AFT" : "BTW") == 0;
        }
    return count;
}

typedef struct scored {
    double share;
    char order[ITEMS + 1];
} scored;

static gint by_share(gconstpointer a, gconstpointer b)
{
    const scored *x = a, *y = b;
    return (x->share < y->share) - (x->share > y->share);
}

/* orders <- all orders of the items with their probabilities, the best first. */
static void score_all(const GArray *features, scored *orders)
{
    double sum = 0;
    for (int number = 0; number < ALL_ORDERS; number++) {
        int left[ITEMS] = {0, 1, 2, 3, 4, 5, 6, 7}, row[ITEMS + 8], head = 0;
        double score = 0;
        for (int i = 0; i < 4; i++) {
            row[i] = ITEMS;
            row[ITEMS + 4 + i] = ITEMS + 1;
        }
        for (int place = 0, rest = number; place < ITEMS; rest /= ITEMS - place, place++) {
            const int k = rest % (ITEMS - place);
            row[4 + place] = left[k];
            orders[number].order[place] = (char)('a' + left[k]);
            if (left[k] == VERB)
                head = 4 + place;
            memmove(left + k, left + k + 1, sizeof *left * (size_t)(ITEMS - 1 - place - k));
        }
        for (guint i = 0; i < features->len; i++)
            for (int look = 0; look < LOOKS; look++) {
                const feature *f = &g_array_index(features, feature, i);
                score += f->weight * count_feature(f, look, row, head);
            }
        orders[number].order[ITEMS] = '\0';
        sum += orders[number].share = exp(score);
    }
    for (int i = 0; i < ALL_ORDERS; i++)
        orders[i].share /= sum;
    qsort(orders, ALL_ORDERS, sizeof *orders, by_share);
}

/* Weights of the kind that French has: most pairs of relations have an order, ends of rows matter. */
static GArray *make_features(GString *text)
{
    GArray *features = g_array_new(FALSE, FALSE, sizeof(feature));
    const xlm_rng_key key = xlm_rng_make_key(6, XLM_RNG_SAMPLE, 0);
    static const char *const kinds[] = {"PRE", "BI", "BFR", "BTW", "AFT", "HI", "HI", "HI"};
    static const double scale[] = {2, 2, 1, 1, 1, 2.5, 2.5, 2.5};
    GHashTable *known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (uint32_t i = 0; i < 260; i++) {
        const xlm_rng_block b = xlm_rng_draw(key, i, 0, 0, 0), c = xlm_rng_draw(key, i, 1, 0, 0);
        const int kind = (int)(i % G_N_ELEMENTS(kinds)), n = kind < 5 ? 2 : kind - 2;
        const int look = kind < 5 ? (int)(b.v[3] % LOOKS) : 2;
        GString *name = g_string_new(kinds[kind]);
        for (int k = 0; k < n; k++) {
            int item = (int)xlm_rng_below(k < 3 ? b.v[k] : c.v[k - 3], ITEMS);
            if (kind >= 5 && k == n - 1 && i % 3 != 0)
                item = ITEMS + 1; /* EOS */
            if (kind >= 5 && k == n - 2 && i % 3 == 1 && n > 3)
                item = ITEMS + 1;
            g_string_append_printf(name, "_%s", looks[look][item]);
        }
        const double weight = scale[kind] * (2 * xlm_rng_unit(c.v[3]) - 1);
        if (g_hash_table_add(known, g_strdup(name->str))) {
            const feature f = parse_feature(name->str, weight);
            g_array_append_val(features, f);
            g_string_append_printf(text, "%s %.17g\n", name->str, weight);
        }
        g_string_free(name, TRUE);
    }
    g_hash_table_destroy(known);
    return features;
}

/* Pearson's statistic of draws against shares; orders are joined, the frequent first, until 10 draws are expected. */
static void assert_fits(const scored *orders, GHashTable *drawn, int draws)
{
    double statistic = 0, expected = 0, left = draws;
    int seen = 0, cells = 0;
    for (int i = 0; i < ALL_ORDERS; i++) {
        expected += orders[i].share * draws;
        left -= orders[i].share * draws;
        seen += GPOINTER_TO_INT(g_hash_table_lookup(drawn, orders[i].order));
        if ((expected < 10 || left < 10) && i < ALL_ORDERS - 1)
            continue;
        statistic += (seen - expected) * (seen - expected) / expected;
        cells++;
        seen = 0;
        expected = 0;
    }
    assert_true(cells > 10);
    if (statistic > cells - 1 + 5 * sqrt(2.0 * (cells - 1)))
        fail_msg("statistic %g of %d cells; the best order %s has %g, and was drawn %d times of %d", statistic, cells,
                 orders[0].order, orders[0].share, GPOINTER_TO_INT(g_hash_table_lookup(drawn, orders[0].order)), draws);
}

static void draws_eight_as_all_orders_say(void **state)
{
    (void)state;
    enum { DRAWS = 1000 };
    GString *weights = g_string_new(NULL), *out = g_string_new(NULL);
    GArray *features = make_features(weights);
    scored *orders = g_new(scored, ALL_ORDERS);
    score_all(features, orders);
    assert_true(orders[0].share > 0.05 && orders[0].share < 0.5);
    xlm_permuter *p = read_weights("PRE_nsubj_dobj 50\n", weights->str, 1);
    xlm_conllu *s = read_sentence("a PRON 5 nsubj/b AUX 5 aux/c ADV 5 advmod/d NOUN 5 obj/e VERB 0 root/f NOUN 5 obl/g ADP 5 "
                                  "case/h PUNCT 5 punct");
    GHashTable *drawn = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (int64_t number = 0; number < DRAWS; number++) {
        draw(p, s, number, out);
        const int before = GPOINTER_TO_INT(g_hash_table_lookup(drawn, out->str));
        g_hash_table_insert(drawn, g_strdup(out->str), GINT_TO_POINTER(before + 1));
    }
    assert_fits(orders, drawn, DRAWS);
    g_hash_table_destroy(drawn);
    xlm_conllu_free(s);
    xlm_permuter_free(p);
    g_free(orders);
    g_array_free(features, TRUE);
    g_string_free(weights, TRUE);
    g_string_free(out, TRUE);
}

/* More items than are worked out exactly, and two peaks with a valley between them: all m dependents before the head in the order
 * in which they are, or all after it in reverse order. With the weight w for each two of one side in that order, and -v for each
 * two on both sides, k of them are before the head with a probability proportional to C(m, k) Z(k) Z(m - k) exp(-v k (m - k)),
 * Z(k) = prod for i = 1 ... k of (1 + e^w + ... + e^(w (i - 1))): the same for k = 0 and k = m. So the order in which a draw
 * begins must be forgotten. */
static void draws_from_both_peaks(void **state)
{
    (void)state;
    enum { M = 10, DRAWS = 200 };
    const double w = 1, v = 0.5;
    GString *text = g_string_new(NULL), *weights = g_string_new(NULL);
    double z[M + 1] = {1}, binomial = 1, sum = 0, row = 0;
    for (int i = 0; i < M; i++) {
        g_string_append_printf(text, "%c ADV %d r%d/", 'a' + i, M + 1, i);
        for (int k = i + 1; k < M; k++)
            g_string_append_printf(weights, "BFR_r%d_r%d %g\nAFT_r%d_r%d %g\n", i, k, w, k, i, w);
        z[i + 1] = z[i] * (row += exp(w * i));
    }
    g_string_append(text, "V VERB 0 root");
    g_string_append_printf(weights, "BTW_ADV_ADV %g\n", -v);
    xlm_conllu *s = read_sentence(text->str);
    xlm_permuter *p = read_weights("PRE_a_b 0\n", weights->str, 1);
    assert_true(s->words->len > XLM_PERMUTE_EXACT);
    for (int k = 0; k <= M; k++) {
        sum += binomial * z[k] * z[M - k] * exp(-v * k * (M - k));
        binomial = binomial * (M - k) / (k + 1);
    }
    int all_before = 0, all_after = 0;
    for (int64_t number = 0; number < DRAWS; number++) {
        draw(p, s, number, text);
        all_before += text->str[M] == 'V';
        all_after += text->str[0] == 'V';
    }
    const double share = z[M] / sum, bound = 4 * sqrt(share * (1 - share) / DRAWS);
    assert_true(share > 0.4);
    if (fabs((double)all_before / DRAWS - share) > bound || fabs((double)all_after / DRAWS - share) > bound)
        fail_msg("all before: %d, all after: %d of %d, expected %g each", all_before, all_after, DRAWS, share * DRAWS);
    xlm_permuter_free(p);
    xlm_conllu_free(s);
    g_string_free(text, TRUE);
    g_string_free(weights, TRUE);
}

/* ---- trees ---- */

/* A tree of n words, word i hanging on a word drawn among those before it in a random numbering. */
static xlm_conllu *random_tree(xlm_rng_key key, uint32_t n)
{
    static const char *const tags[] = {"NOUN", "VERB", "ADJ"};
    GString *words = g_string_new(NULL);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t rank = (uint32_t)xlm_rng_permute(key, i, n);
        uint32_t head = 0;
        if (rank > 0) {
            const uint32_t above = xlm_rng_below(xlm_rng_draw(key, i, 1, 0, 0).v[0], rank);
            while (xlm_rng_permute(key, head, n) != above)
                head++;
            head++;
        }
        g_string_append_printf(words, "%sw%u %s %u %s", i > 0 ? "/" : "", i, tags[xlm_rng_draw(key, i, 2, 0, 0).v[0] % 3], head,
                               head == 0 ? "root" : "nmod");
    }
    xlm_conllu *s = read_sentence(words->str);
    g_string_free(words, TRUE);
    return s;
}

static bool hangs_on(const xlm_conllu *s, int32_t word, int32_t above)
{
    while (word >= 0 && word != above)
        word = xlm_conllu_word_at(s, (size_t)word)->head;
    return word == above;
}

static void orders_are_projective(void **state)
{
    (void)state;
    xlm_permuter *p = read_weights("PRE_ADJ_@NOUN 1\nBI_@NOUN_NOUN 2\n", "PRE_nmod_@ 1.5\n", 1);
    enum { N = 40 };
    for (uint32_t k = 0; k < 50; k++) {
        xlm_conllu *s = random_tree(xlm_rng_make_key(k, XLM_RNG_SAMPLE, 0), N);
        uint32_t order[N], again[N], place[N];
        for (uint32_t i = 0; i < N; i++)
            order[i] = again[i] = i;
        memset(place, 0xff, sizeof place);
        xlm_permuter_order(p, s, k, order);
        xlm_permuter_order(p, s, k, again);
        assert_memory_equal(order, again, sizeof order);
        for (uint32_t i = 0; i < N; i++) {
            assert_true(order[i] < N && place[order[i]] == UINT32_MAX);
            place[order[i]] = i;
        }
        for (int32_t above = 0; above < N; above++) {
            uint32_t first = N, last = 0, words = 0;
            for (int32_t i = 0; i < N; i++)
                if (hangs_on(s, i, above)) {
                    first = MIN(first, place[i]);
                    last = MAX(last, place[i]);
                    words++;
                }
            assert_int_equal(last - first + 1, words);
            /* Under an adjective the order does not change. */
            if (strcmp(xlm_conllu_word_at(s, (size_t)above)->column[XLM_CONLLU_UPOS], "ADJ") == 0)
                for (int32_t i = 0; i < N; i++)
                    if (xlm_conllu_word_at(s, (size_t)i)->head == above)
                        assert_true((place[i] < place[above]) == (i < above));
        }
        xlm_conllu_free(s);
    }
    xlm_permuter_free(p);
}

static void sees_version_1(void **state)
{
    (void)state;
    xlm_conllu *s = read_sentence("cats NOUN 8 nsubj/, PUNCT 3 punct/dogs NOUN 1 conj/and CCONJ 6 cc/the DET 6 det/"
                                  "mice NOUN 1 conj/are AUX 8 cop/old ADJ 0 root/not PART 8 advmod Polarity=Neg/"
                                  "seen VERB 8 acl:relcl/John PROPN 10 nsubj:pass/Ford PROPN 11 flat/at ADP 14 case/"
                                  "night NOUN 10 obl:tmod/as ADP 14 fixed/! PUNCT 8 punct");
    static const struct {
        const char *tag, *relation;
        int32_t head;
    } expected[] = {{"NOUN", "nsubj", 7}, {"PUNCT", "punct", 0}, {"NOUN", "conj", 0}, {"CONJ", "cc", 0}, {"DET", "det", 5},
                    {"NOUN", "conj", 0}, {"VERB", "cop", 7}, {"ADJ", "root", -1}, {"PART", "neg", 7}, {"VERB", "acl:relcl", 7},
                    {"PROPN", "nsubjpass", 9}, {"PROPN", "name", 10}, {"ADP", "case", 13}, {"NOUN", "nmod:tmod", 9},
                    {"ADP", "mwe", 13}, {"PUNCT", "punct", 7}};
    GArray *view = g_array_new(FALSE, FALSE, sizeof(xlm_ud1_word));
    xlm_ud1_view(s, view);
    assert_int_equal(view->len, G_N_ELEMENTS(expected));
    for (guint i = 0; i < view->len; i++) {
        const xlm_ud1_word *word = &g_array_index(view, xlm_ud1_word, i);
        assert_string_equal(word->tag, expected[i].tag);
        assert_string_equal(word->relation, expected[i].relation);
        assert_int_equal(word->head, expected[i].head);
    }
    g_array_free(view, TRUE);
    xlm_conllu_free(s);
}

/* ---- files ---- */

static void reads_weights(void **state)
{
    (void)state;
    char *path = write_file("w", "\xef\xbb\xbf" "BI_a_b 1.5\r\nHI_a_b_c -2E-5\nHI_a_b_c_d 3\n");
    xlm_order_weights *w = xlm_order_weights_read(path, NULL);
    assert_non_null(w);
    uint32_t symbols[4];
    for (int i = 0; i < 4; i++)
        assert_int_not_equal(symbols[i] = xlm_order_weights_symbol(w, &"abcd"[i], 1), 0);
    assert_int_equal(xlm_order_weights_symbol(w, "ab", 2), 0);
    assert_true(xlm_order_weights_get(w, XLM_ORDER_BI, symbols, 2) == 1.5);
    assert_true(xlm_order_weights_get(w, XLM_ORDER_PRE, symbols, 2) == 0);
    assert_true(xlm_order_weights_get(w, XLM_ORDER_HI, symbols, 3) == -2e-5);
    assert_true(xlm_order_weights_get(w, XLM_ORDER_HI, symbols, 4) == 3);
    symbols[1] = 0;
    assert_true(xlm_order_weights_get(w, XLM_ORDER_BI, symbols, 2) == 0);
    xlm_order_weights_free(w);
    static const char *const wrong[] = {"PRE_a_b", "PRE_a_b ", "PRE_a_b x", "PRE_a_b 1 2", "PRE_a_b nan", "PRE_a_b 1e7", " 1",
                                        "PRE_a 1", "PRE_a_b_c 1",
                                        "HI_a_b 1", "HI_a_b_c_d_e_f 1", "XX_a_b 1", "PRE__b 1", "BI_a_b 1", ""};
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        GError *error = NULL;
        char *text = g_strconcat("BI_a_b 1.5\n", wrong[i], "\n", NULL), *where = g_strconcat(path, ":2: ", NULL);
        assert_true(g_file_set_contents(path, text, -1, NULL));
        assert_null(xlm_order_weights_read(path, &error));
        assert_int_equal(error->code, EX_DATAERR);
        assert_true(g_str_has_prefix(error->message, where));
        g_error_free(error);
        g_free(text);
        g_free(where);
    }
    g_unlink(path);
    g_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_as_weights_say),  cmocka_unit_test(draws_with_subtypes), cmocka_unit_test(draws_many),
        cmocka_unit_test(draws_eight_as_all_orders_say), cmocka_unit_test(draws_from_both_peaks),
        cmocka_unit_test(orders_are_projective), cmocka_unit_test(sees_version_1),      cmocka_unit_test(reads_weights),
    };
    directory = g_dir_make_tmp("xlm-permute-XXXXXX", NULL);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    g_rmdir(directory);
    g_free(directory);
    return failed;
}
