/* xlm-mpi: how many links a word has, when each of them has a probability. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/link_numbers.h"

#include <string.h>

/* The distribution of the number of links after one more link with probability p. */
static void add_link(const float from[XLM_LINK_NUMBERS], float p, float to[XLM_LINK_NUMBERS])
{
    const float many = from[XLM_LINK_NUMBERS - 1];
    for (int k = XLM_LINK_NUMBERS - 1; k > 0; k--)
        to[k] = from[k] * (1 - p) + from[k - 1] * p;
    to[0] = from[0] * (1 - p);
    to[XLM_LINK_NUMBERS - 1] += many * p;
}

static float expected(const float numbers[XLM_LINK_NUMBERS], const float ratio[XLM_LINK_NUMBERS])
{
    float sum = 0;
    for (int k = 0; k < XLM_LINK_NUMBERS; k++)
        sum += numbers[k] * ratio[k];
    return sum;
}

/* What ratio(k) is expected to be when there may be one more link, with probability p. */
static void expect_link(float ratio[XLM_LINK_NUMBERS], float p)
{
    for (int k = 0; k + 1 < XLM_LINK_NUMBERS; k++)
        ratio[k] = (1 - p) * ratio[k] + p * ratio[k + 1];
}

void xlm_link_numbers(int n, const float *probability, float numbers[XLM_LINK_NUMBERS])
{
    memset(numbers, 0, sizeof *numbers * XLM_LINK_NUMBERS);
    numbers[0] = 1;
    for (int i = 0; i < n; i++)
        if (probability[i] > XLM_LINK_NEGLIGIBLE)
            add_link(numbers, probability[i], numbers);
}

float xlm_link_expected_ratios(int n, const float *probability, const float ratio[XLM_LINK_NUMBERS], float *others,
                               float *workspace)
{
    float (*before)[XLM_LINK_NUMBERS] = (float (*)[XLM_LINK_NUMBERS])(void *)workspace; /* of the links before each */
    float after[XLM_LINK_NUMBERS]; /* the expected ratio, by the number of links before */
    xlm_link_numbers(0, NULL, before[0]);
    for (int i = 0; i < n; i++)
        if (probability[i] > XLM_LINK_NEGLIGIBLE)
            add_link(before[i], probability[i], before[i + 1]);
        else
            memcpy(before[i + 1], before[i], sizeof before[i]);
    memcpy(after, ratio, sizeof after);
    const float all = expected(before[n], ratio);
    for (int i = n; i-- > 0;) {
        others[i] = expected(before[i], after);
        if (probability[i] > XLM_LINK_NEGLIGIBLE)
            expect_link(after, probability[i]);
    }
    return all;
}
