/* xlm-mpi: encoding text and writing it in the order of its files. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_PREP_ENCODE_H
#define XLM_PREP_ENCODE_H

#include "prep/report.h"
#include "prep/scan.h"
#include "corpus/writer.h"

/* Encode all sources into the writer; collective. [out] counts: over all ranks. [out] lines[i]: number of lines of source i. */
bool xlm_prep_encode(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                     const xlm_vocabulary *vocabulary, xlm_corpus_writer *writer, xlm_prep_counts *counts,
                     int64_t *lines, GError **error);

#endif
