# xlm-mpi: flags that make a mistake with memory end a program. SPDX-License-Identifier: GPL-3.0-or-later

# XLM_TRY_HARDENING(VARIABLE, FLAGS, [PROLOGUE])
# Append FLAGS to VARIABLE and to XLM_HARDENING when programs, and with them the prologue, compile and link with them.
AC_DEFUN([XLM_TRY_HARDENING],
[AC_MSG_CHECKING([whether $CC takes $2])
xlm_save_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS -Werror $2"
AC_LINK_IFELSE([AC_LANG_PROGRAM([$3])],
  [AC_MSG_RESULT([yes])
   AS_VAR_APPEND([$1], [" $2"])
   AS_VAR_APPEND([XLM_HARDENING], [" $2"])],
  [AC_MSG_RESULT([no])])
CFLAGS=$xlm_save_CFLAGS])

# XLM_CHECK_HARDENING
# Flags for all that is compiled, in XLM_CFLAGS; linked, in XLM_LDFLAGS; for programs, in XLM_PROGRAM_LDFLAGS. XLM_HARDENING says
# which, or no. To be called when CFLAGS and XLM_SANITIZERS are known.
AC_DEFUN([XLM_CHECK_HARDENING],
[AC_ARG_ENABLE([hardening],
  [AS_HELP_STRING([--disable-hardening],
    [without stack protector, _FORTIFY_SOURCE, full RELRO and position-independent programs])],
  [], [enable_hardening=yes])
XLM_HARDENING=
AS_IF([test "$enable_hardening" != no],
  [XLM_TRY_HARDENING([XLM_CFLAGS], [-fstack-protector-strong])
   XLM_TRY_HARDENING([XLM_CFLAGS], [-Wformat -Werror=format-security])
   # It needs optimisation, hides mistakes from sanitizers, and is left as it is where the compiler, the distribution or the user
   # has defined it.
   AS_IF([test "$XLM_SANITIZERS" = no],
     [AC_COMPILE_IFELSE([AC_LANG_PROGRAM([
#if defined _FORTIFY_SOURCE || !defined __OPTIMIZE__
#error no
#endif
])],
       [xlm_before=$XLM_HARDENING
        XLM_TRY_HARDENING([XLM_CFLAGS], [-D_FORTIFY_SOURCE=3], [#include <string.h>])
        AS_IF([test "$XLM_HARDENING" = "$xlm_before"],
          [XLM_TRY_HARDENING([XLM_CFLAGS], [-D_FORTIFY_SOURCE=2], [#include <string.h>])])])])
   XLM_TRY_HARDENING([XLM_LDFLAGS], [-Wl,-z,relro,-z,now])
   # Libtool's -fPIC, which comes later, holds for libraries.
   xlm_before=$XLM_HARDENING
   XLM_TRY_HARDENING([XLM_PROGRAM_LDFLAGS], [-fPIE -pie])
   AS_IF([test "$XLM_HARDENING" != "$xlm_before"], [AS_VAR_APPEND([XLM_CFLAGS], [" -fPIE"])])])
XLM_HARDENING=`AS_ECHO(["$XLM_HARDENING"]) | sed 's/^ //'`
test -n "$XLM_HARDENING" || XLM_HARDENING=no
AC_SUBST([XLM_LDFLAGS])
AC_SUBST([XLM_PROGRAM_LDFLAGS])
AC_SUBST([XLM_HARDENING])])
