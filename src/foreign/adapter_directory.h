/* xlm-mpi: adapters in directories of other programs, read into our models and written. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   adapter_directory.c  reading and writing, which all forms have in common, and the table of forms
 *   adapter_modules.c    what forms need for it
 *   peft.c               LoRA of Hugging Face's PEFT
 *   adapter_hub.c        bottleneck adapters of the library adapters (AdapterHub)
 *
 * A directory has adapter_config.json and a file of tensors, named after the modules of the model's architecture in transformers.
 * What our adapters do not have is refused by name. Nothing here is collective. */
#ifndef XLM_FOREIGN_ADAPTER_DIRECTORY_H
#define XLM_FOREIGN_ADAPTER_DIRECTORY_H

#include "foreign/architecture.h"
#include "foreign/safetensors.h"
#include "model/model_file.h"

typedef struct xlm_adapter_form xlm_adapter_form;

/* An adapter that is read or written. */
typedef struct xlm_adapter_directory {
    const char *path;       /* of the directory that is read, or of the model that is written */
    const xlm_adapter_form *form;
    xlm_loaded_model *loaded; /* the model: without values when it is read into */
    int64_t width;          /* d of the model */
    const xlm_architecture *architecture;
    bool bare;              /* names of tensors do not have the architecture's prefix */
    json_t *json;           /* adapter_config.json */
    xlm_adapter adapter;
    char *name;             /* that the adapter has there */
    xlm_safetensors *tensors;
    GHashTable *used;       /* xlm_safetensor: those that were found */
} xlm_adapter_directory;

struct xlm_adapter_form {
    const char *label;      /* for messages: "PEFT" */
    const char *weights;    /* file of tensors */
    int64_t kind;           /* of the adapters, XLM_ADAPTER_... */
    const char *prefix;     /* before the names of tensors */
    bool (*is)(const json_t *json); /* is adapter_config.json of this form? */
    /* Read adapter_config.json into d->adapter and d->name. path: of the file. EX_DATAERR. */
    bool (*read)(xlm_adapter_directory *d, const char *path, GError **error);
    /* Complete d->adapter by the tensors that there are; NULL: nothing is missing. EX_DATAERR. */
    bool (*find)(xlm_adapter_directory *d, GError **error);
    /* Their name of one of our parameters of an adapter, with the prefix: its place is what follows "adapters/NAME/". g_free;
     * NULL: there is none. [out] part: what part of the tensor's rows it is; of the whole, {0, 1}. */
    char *(*tensor)(const xlm_adapter_directory *d, const char *place, xlm_tensor_part *part);
    /* A new adapter_config.json. */
    json_t *(*print)(const xlm_adapter_directory *d);
};

/* ---- for forms (adapter_modules.c) ---- */

/* The tensor of this name, which counts as used; NULL: there is none. */
const xlm_safetensor *xlm_adapter_directory_find(xlm_adapter_directory *directory, const char *name);
/* Is a value null, false or empty, so that a property is not there? */
bool xlm_adapter_directory_is_nothing(const json_t *value);
/* Their module of a linear layer, by the name of ours: "bert.encoder.layer.0.attention.self.query". g_free; NULL: there is none.
 * [out] part: what part of the rows of that module's weight is ours. */
char *xlm_adapter_directory_module(const xlm_adapter_directory *directory, const char *linear, xlm_tensor_part *part);

/* ---- reading and writing ---- */

/* The bytes of an adapter_config.json into d->form, adapter and name, which needs d->width. path: for messages. EX_DATAERR. */
bool xlm_adapter_directory_parse(xlm_adapter_directory *directory, const char *path, const char *bytes, size_t size,
                                 GError **error);
void xlm_adapter_directory_clear(xlm_adapter_directory *directory);

/* Is it a directory with adapter_config.json? */
bool xlm_adapter_directory_is(const char *path);
/* model: a file, in whose architecture the adapter's modules must be; name: that the adapter gets, NULL: its own or, if it has
 * none, "lora". output: the model with the adapter, which comes after those that it has. EX_NOINPUT, EX_DATAERR, EX_CANTCREAT,
 * EX_IOERR. */
bool xlm_adapter_directory_import(const char *model, const char *path, const char *name, const char *output, GError **error);
/* name: of the adapter; NULL: the only one. output: a directory, which must not exist yet, or be empty. */
bool xlm_adapter_directory_export(const char *model, const char *name, const char *output, GError **error);

#endif
