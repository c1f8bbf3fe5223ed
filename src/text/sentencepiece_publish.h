/* xlm-mpi: models of SentencePiece as files of transformers. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * By the ids of the vocabulary:
 *
 *   fairseq's       four special tokens, the pieces from the fourth on, <mask>: sentencepiece.bpe.model, XLMRobertaTokenizer
 *   the model's     with ALBERT's rules of text: spiece.model, AlbertTokenizer
 *   others          of a unigram model: tokenizer.json, PreTrainedTokenizerFast; of byte pairs: no class of transformers has such
 */
#ifndef XLM_TEXT_SENTENCEPIECE_PUBLISH_H
#define XLM_TEXT_SENTENCEPIECE_PUBLISH_H

#include "text/sentencepiece_albert.h"
#include "text/vocabulary.h"

/* publish of the class (text/segmenter.h). bytes, pieces (xlm_model_piece, by id): of the model. albert: its rules, or NULL. */
void xlm_sentencepiece_publish(const xlm_vocabulary *vocabulary, const GString *bytes, const GArray *pieces,
                               const xlm_albert_text *albert, json_t *files, json_t *settings, GString *notes);

#endif
