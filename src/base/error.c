/* xlm-mpi: errors carried as GError whose code is the exit code of sysexits.h. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/error.h"

#include <stdarg.h>

#include "base/log.h"

G_DEFINE_QUARK(xlm-error-quark, xlm_error)

bool xlm_error_set(GError **error, int exit_code, const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        *error = g_error_new_valist(XLM_ERROR, exit_code, format, arguments);
        va_end(arguments);
    }
    return false;
}

bool xlm_error_at(GError **error, const char *path, int64_t line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    return xlm_error_set(error, EX_DATAERR, "%s:%" G_GINT64_FORMAT ": %s", path, line, what);
}

void xlm_error_append(GError *error, const char *text)
{
    char *message = g_strconcat(error->message, text, NULL);
    g_free(error->message);
    error->message = message;
}

int xlm_error_exit_code(const GError *error)
{
    if (error->domain == XLM_ERROR)
        return error->code;
    if (error->domain == G_OPTION_ERROR)
        return EX_USAGE;
    if (error->domain == G_FILE_ERROR)
        return EX_IOERR;
    return EX_SOFTWARE;
}

int xlm_error_exit(GError *error)
{
    if (error == NULL)
        return EX_OK;
    xlm_log_error("%s", error->message);
    const int code = xlm_error_exit_code(error);
    g_error_free(error);
    return code;
}
