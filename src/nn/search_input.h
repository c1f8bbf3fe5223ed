/* xlm-mpi: checks of the arguments of a search, and the size of its cache. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_NN_SEARCH_INPUT_H
#define XLM_NN_SEARCH_INPUT_H

#include <xlm/search.h>

/* Ends the program with a message if anything is not as xlm/search.h says. */
void xlm_search_check(const xlm_model *model, const xlm_special_tokens *specials, const xlm_search_options *options,
                      const xlm_search_input *input);
/* The maximum number of tokens whose keys and values are kept at a time, */
int64_t xlm_search_cache_rows(const xlm_search_options *options, const xlm_search_input *input);
/* and how many of them belong to one sentence. */
int64_t xlm_search_cache_rows_of(const xlm_search_options *options, const xlm_search_input *input, int32_t sentence);

#endif
