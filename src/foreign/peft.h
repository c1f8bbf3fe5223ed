/* xlm-mpi: LoRA adapters of Hugging Face's PEFT, read into our models and written. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A directory of PEFT has adapter_config.json and adapter_model.safetensors, with
 *     base_model.model.<module>.lora_A.weight   r x in
 *     base_model.model.<module>.lora_B.weight   out x r
 * for each module of the model's architecture in transformers that is adapted, y = W x + (lora_alpha / r) B A x, as ours. What
 * our adapters do not have is refused by name. Nothing here is collective. */
#ifndef XLM_FOREIGN_PEFT_H
#define XLM_FOREIGN_PEFT_H

#include "base/error.h"

/* Is it such a directory? */
bool xlm_peft_is_adapter(const char *directory);
/* model: a file, in whose architecture the adapter's modules must be; name: that the adapter gets, default_name if NULL. output:
 * the model with the adapter. EX_NOINPUT, EX_DATAERR, EX_CANTCREAT, EX_IOERR. */
bool xlm_peft_import(const char *model, const char *directory, const char *name, const char *output, GError **error);
/* name: of the adapter; NULL: the only one. output: a directory, which must not exist yet, or be empty. */
bool xlm_peft_export(const char *model, const char *name, const char *output, GError **error);

#endif
