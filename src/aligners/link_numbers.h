/* xlm-mpi: how many links a word has, when each of them has a probability. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Links are taken as independent. A word has 0, 1, … 4, or 5 or more of them. Links with a probability of at most
 * XLM_LINK_NEGLIGIBLE are left out. */
#ifndef XLM_ALIGNERS_LINK_NUMBERS_H
#define XLM_ALIGNERS_LINK_NUMBERS_H

#define XLM_LINK_NEGLIGIBLE 1e-4f
enum { XLM_LINK_NUMBERS = 6 };

/* P(k links), from the probabilities of n links. */
void xlm_link_numbers(int n, const float *probability, float numbers[XLM_LINK_NUMBERS]);

/* Σ_k P(k) ratio(k), of the numbers k of the links other than one. [out] others[n]: for each of the links without itself, also
 * for the negligible ones. Returns the sum over all, for a word that is not linked. workspace: [(n + 1) x XLM_LINK_NUMBERS]. */
float xlm_link_expected_ratios(int n, const float *probability, const float ratio[XLM_LINK_NUMBERS], float *others,
                               float *workspace);

#endif
