/* xlm-mpi: what --version prints. SPDX-License-Identifier: GPL-3.0-or-later */
#include "program/version.h"

#include <stdio.h>

#include "base/error.h"
#include "comm/comm.h"
#include "gemm/gemm.h"
#include "gemm/gemm_choice.h"
#include "gemm/hardware.h"
#include "gemm/packed.h"
#include "kernels/kernels.h"
#include "run/libraries.h"
#include "store/store.h"

/* make writes it anew when the commit changes: src/program/local.mk. */
static const char source[] =
#include "program/source.inc"
    ;

static void print_libraries(void)
{
    xlm_hardware hardware;
    g_autoptr(GError) wrong = NULL;
    if (!xlm_hardware_check(&wrong)) {
        puts(wrong->message);
        g_unsetenv("BLIS_ARCH_TYPE");
    }
    xlm_hardware_open(&hardware, 0, 1);
    const char *lacks = xlm_packed_lacks(XLM_FLOAT32);
    printf("%s\n%s\n%s (%s)\n", xlm_comm_library(), xlm_store_library(), xlm_gemm_library(), hardware.choice);
    printf("%s%s\n", lacks != NULL ? "no oneDNN: " : "", lacks != NULL ? lacks : xlm_packed_library());
    g_auto(GStrv) others = xlm_libraries_describe();
    for (char **other = others; *other != NULL; other++)
        puts(*other);
}

static void print_processor(void)
{
    const xlm_processor processor = xlm_processor_identify();
    const xlm_gemm_row *row = xlm_gemm_row_of(&processor);
    const char *lacks = xlm_packed_lacks(XLM_FLOAT32), *lacks_bfloat16 = xlm_packed_lacks(XLM_BFLOAT16);
    g_autoptr(GError) wrong = NULL;
    if (*processor.vendor != '\0')
        printf("processor: %s, family %d, model %d\n", processor.vendor, processor.family, processor.model);
    printf("processors measured for gemm: %s%s%s%s\n", row != NULL ? row->name : "not this one", row != NULL ? " (" : "",
           row != NULL ? row->measured : "", row != NULL ? ")" : "");
    printf("kernels: %s\n", xlm_kernels_check(&wrong) ? xlm_kernels_get()->name : wrong->message);
    printf("gemm = auto in float32: %s\n", row == NULL || !row->packs || lacks != NULL ? "BLIS" : "oneDNN");
    printf("search in float32: %s\n", row == NULL || !row->packs_in_search || lacks != NULL ? "BLIS" : "oneDNN");
    printf("precision = bfloat16: %s%s\n", lacks_bfloat16 != NULL ? "no, " : "yes", lacks_bfloat16 != NULL ? lacks_bfloat16 : "");
}

void xlm_version_print(const char *program)
{
    printf("%s (xlm-mpi) %s\n%s\nLicence GPL-3.0-or-later; there is no warranty.\n\n", program, PACKAGE_VERSION, source);
    print_libraries();
    putchar('\n');
    print_processor();
}
