/* xlm-mpi: safetensors files, written. SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "foreign/safetensors.h"

static char *print_head(const xlm_safetensor *tensors, int64_t n, int64_t *elements)
{
    json_auto_t *head = json_object();
    uint64_t at = 0;
    json_object_set_new(head, "__metadata__", json_pack("{s:s}", "format", "pt"));
    for (int64_t i = 0; i < n; i++) {
        json_t *shape = json_array();
        uint64_t size = sizeof(float);
        for (int d = 0; d < tensors[i].dimensions; d++) {
            json_array_append_new(shape, json_integer(tensors[i].dims[d]));
            size *= (uint64_t)tensors[i].dims[d];
        }
        json_object_set_new(head, tensors[i].name, json_pack("{s:s, s:o, s:[I, I]}", "dtype", "F32", "shape", shape,
                                                             "data_offsets", (json_int_t)at, (json_int_t)(at + size)));
        at += size;
    }
    *elements = (int64_t)(at / sizeof(float));
    return json_dumps(head, JSON_COMPACT);
}

static bool put(xlm_safetensors_writer *writer, const void *bytes, size_t size, GError **error)
{
    return fwrite(bytes, 1, size, writer->file.stream) == size ||
           xlm_new_file_failed(writer->file.path, "cannot be written", errno, error);
}

bool xlm_safetensors_create(xlm_safetensors_writer *writer, const char *path, const xlm_safetensor *tensors, int64_t n,
                            GError **error)
{
    char *text = print_head(tensors, n, &writer->left);
    const size_t length = strlen(text), padding = (8 - length % 8) % 8; /* values begin at a multiple of 8 */
    const uint64_t head = GUINT64_TO_LE((uint64_t)(length + padding));
    bool good = xlm_new_file_create(&writer->file, path, error);
    if (good && !(put(writer, &head, sizeof head, error) && put(writer, text, length, error) &&
                  put(writer, "        ", padding, error))) {
        xlm_new_file_discard(&writer->file);
        good = false;
    }
    free(text);
    return good;
}

bool xlm_safetensors_write(xlm_safetensors_writer *writer, const float *values, int64_t n, GError **error)
{
    writer->left -= n;
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
    return put(writer, values, sizeof *values * (size_t)n, error);
#else
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        bits = GUINT32_TO_LE(bits);
        if (!put(writer, &bits, sizeof bits, error))
            return false;
    }
    return true;
#endif
}

bool xlm_safetensors_commit(xlm_safetensors_writer *writer, GError **error)
{
    if (writer->left == 0)
        return xlm_new_file_commit(&writer->file, error);
    xlm_error_set(error, EX_SOFTWARE, "%s: %" G_GINT64_FORMAT " values are missing", writer->file.path, writer->left);
    xlm_new_file_discard(&writer->file);
    return false;
}

void xlm_safetensors_discard(xlm_safetensors_writer *writer) { xlm_new_file_discard(&writer->file); }
