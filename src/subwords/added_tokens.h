/* xlm-mpi: tokens that a published tokenizer adds to those of its model. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The library tokenizers finds added tokens in a text before anything else is done with it: those that are not `normalized` in
 * the text as it is, then the others in the normal form of what is between them. It takes the match that begins first, and of
 * several that begin there the longest one. Here the names of special tokens are ordinary text, so only tokens that are not
 * special are found; special ones are kept for a tokenizer.json that is written again.
 *
 * A token may have spaces ("   "), which separate subwords here. In a vocabulary each space of an added token is written as
 * U+2423 ("\u2423\u2423\u2423", OPEN BOX), which no added token may have itself. */
#ifndef XLM_SUBWORDS_ADDED_TOKENS_H
#define XLM_SUBWORDS_ADDED_TOKENS_H

#include "store/store.h"
#include "subwords/tokenizer_files.h"

#define XLM_ADDED_SPACE "\xe2\x90\xa3" /* U+2423 */

/* What tokenizer.json says about a token. */
enum {
    XLM_ADDED_SPECIAL = 1, /* not found in text here */
    XLM_ADDED_NORMALIZED = 2,
    XLM_ADDED_LSTRIP = 4, /* this and the following ones: only of special tokens */
    XLM_ADDED_RSTRIP = 8,
    XLM_ADDED_SINGLE_WORD = 16
};

typedef struct xlm_added_token {
    char *text, *subword; /* as in tokenizer.json, and as in a vocabulary */
    unsigned how;
} xlm_added_token;

typedef struct xlm_added_tokens xlm_added_tokens; /* does not change after the last token was added */

xlm_added_tokens *xlm_added_tokens_new(void);
void xlm_added_tokens_free(xlm_added_tokens *tokens);
/* Returns NULL, or what is wrong with the token: "has no text". */
const char *xlm_added_tokens_add(xlm_added_tokens *tokens, const char *text, unsigned how);
uint32_t xlm_added_tokens_size(const xlm_added_tokens *tokens);
const xlm_added_token *xlm_added_tokens_at(const xlm_added_tokens *tokens, uint32_t i);
/* The token with this text; the one that a vocabulary has as this subword. NULL: there is none. */
const xlm_added_token *xlm_added_tokens_of_text(const xlm_added_tokens *tokens, const char *text);
const xlm_added_token *xlm_added_tokens_of_subword(const xlm_added_tokens *tokens, const char *subword);

/* The first token of text[size] from byte *at on; [in, out] at: becomes its first byte, or `size` when there is none (NULL).
 * normalized: of those that are found in the normal form. */
const xlm_added_token *xlm_added_tokens_find(const xlm_added_tokens *tokens, bool normalized, const char *text, size_t size,
                                             size_t *at);

/* The file that adds tokens, if there are any: tokenizer.json, or added_tokens.json where that has no list of them. */
const char *xlm_added_tokens_file(const xlm_tokenizer_files *files);
/* An array of the tokens that are to be found in text, {"content": text, "id": id, ...}, neither special nor with a role.
 * published: its special tokens have been determined. json_decref. */
json_t *xlm_added_tokens_in_text(const xlm_tokenizer_files *files, const xlm_published_tokens *published);
/* Add all tokens of the file, whose subwords replace their texts in `published`, except those of special tokens with a role.
 * EX_DATAERR. */
bool xlm_added_tokens_read(xlm_added_tokens *tokens, const xlm_tokenizer_files *files, xlm_published_tokens *published,
                           GError **error);

/* One line each, "text TAB how"; add such a line: NULL, or what is wrong with it. */
void xlm_added_tokens_print(const xlm_added_tokens *tokens, GString *out);
const char *xlm_added_tokens_add_line(xlm_added_tokens *tokens, const char *line);

/* Members of the group `path`: added_tokens, [n] strings, and added_how, [n] strings such as "special lstrip". save: collective
 * over the ranks of the store. */
bool xlm_added_tokens_save(const xlm_added_tokens *tokens, xlm_store *store, const char *path, GError **error);
bool xlm_added_tokens_load(xlm_added_tokens *tokens, const xlm_store *store, const char *path, GError **error);

#endif
