# xlm-mpi: what configure needs, collected, and reported all at once. SPDX-License-Identifier: GPL-3.0-or-later

# XLM_CHECK_ARGUMENTS
# Before anything is searched, refuse values that would have no effect, and folders for libraries in which libtool cannot link.
AC_DEFUN([XLM_CHECK_ARGUMENTS],
[AS_CASE([$enable_sanitizers],
  [''|yes|no], [],
  [AC_MSG_ERROR([--enable-sanitizers=$enable_sanitizers: takes no value, it is for both sanitizers])])
AS_CASE([$with_onednn],
  [''|yes|no|auto], [],
  [AC_MSG_ERROR([--with-onednn=$with_onednn: takes no value; give ONEDNN_CFLAGS and ONEDNN_LIBS for one in another place])])
AS_CASE([$prefix$exec_prefix$libdir],
  [*' '*|*'	'*], [AC_MSG_ERROR([libtool cannot link for a folder with a blank in its name; choose another --prefix or --libdir])])])

# XLM_MISSING(WHAT, DEBIAN-PACKAGES)
# Remember that WHAT is missing; configure goes on, and XLM_REPORT_MISSING ends it.
AC_DEFUN([XLM_MISSING],
[AS_VAR_APPEND([xlm_missing], ["
  $1
      Debian/Ubuntu: $2"])
AS_VAR_APPEND([xlm_missing_packages], [" $2"])])

# XLM_REPORT_MISSING
# End configure when something is missing, with the whole list.
AC_DEFUN([XLM_REPORT_MISSING],
[AS_IF([test -n "$xlm_missing"],
  [AC_MSG_NOTICE([

Missing:
$xlm_missing

On Debian and Ubuntu ./bootstrap installs them; by hand:
  apt-get install$xlm_missing_packages
])
   AC_MSG_ERROR([libraries or programs are missing; the list is above, details are in config.log])])])

# XLM_LINK_IFELSE(CFLAGS, LIBS, PROLOGUE, BODY, [IF-LINKS], [IF-NOT])
# Compile and link a program with these flags and leave CPPFLAGS and LIBS as they were.
AC_DEFUN([XLM_LINK_IFELSE],
[xlm_save_CPPFLAGS=$CPPFLAGS
xlm_save_LIBS=$LIBS
CPPFLAGS="$CPPFLAGS $1"
LIBS="$2 $LIBS"
AC_LINK_IFELSE([AC_LANG_PROGRAM([$3], [$4])], [xlm_links=yes], [xlm_links=no])
CPPFLAGS=$xlm_save_CPPFLAGS
LIBS=$xlm_save_LIBS
AS_IF([test "$xlm_links" = yes], [$5], [$6])])

# XLM_REQUIRE_MODULE(VARIABLE, MODULES, WHAT, DEBIAN-PACKAGE)
# pkg-config MODULES into VARIABLE_CFLAGS and VARIABLE_LIBS.
AC_DEFUN([XLM_REQUIRE_MODULE],
[PKG_CHECK_MODULES([$1], [$2], [], [XLM_MISSING([$3], [$4])])])

# XLM_REQUIRE_LIBRARY(VARIABLE, LIBS, HEADER, PROLOGUE-BEFORE-HEADER, BODY, WHAT, DEBIAN-PACKAGE)
# A library without pkg-config file, from the default places or those that the user gave in VARIABLE_CFLAGS and
# VARIABLE_LIBS.
AC_DEFUN([XLM_REQUIRE_LIBRARY],
[AC_ARG_VAR([$1][_CFLAGS], [C compiler flags for $6, overriding the search])
AC_ARG_VAR([$1][_LIBS], [linker flags for $6, overriding the search])
AC_MSG_CHECKING([for $6])
AS_IF([test -z "$$1[]_LIBS"], [$1[]_LIBS="$2"])
XLM_LINK_IFELSE([$$1[]_CFLAGS], [$$1[]_LIBS], [$4
#include <$3>], [$5],
  [AC_MSG_RESULT([$$1[]_LIBS])],
  [AC_MSG_RESULT([no])
   XLM_MISSING([$6 (header $3, $2)], [$7])])])

# XLM_WITH_LIBRARY(VARIABLE, NAME, LIBS, HEADER, BODY, WHAT, DEBIAN-PACKAGE)
# A library that may be missing: --without-NAME leaves it out, --with-NAME insists on it. Sets VARIABLE_CFLAGS and VARIABLE_LIBS,
# which the user may give, defines HAVE_VARIABLE, and xlm_NAME says which flags it takes, or why it is left out.
AC_DEFUN([XLM_WITH_LIBRARY],
[AC_ARG_VAR([$1][_CFLAGS], [C compiler flags for $6, overriding the search])
AC_ARG_VAR([$1][_LIBS], [linker flags for $6, overriding the search])
AC_ARG_WITH([$2], [AS_HELP_STRING([--without-$2], [do not use $6 @<:@default: where it is found@:>@])], [], [with_$2=auto])
AS_IF([test "$with_$2" = no],
  [xlm_$2="left out"
   $1[]_CFLAGS= $1[]_LIBS=],
  [AC_MSG_CHECKING([for $6])
   AS_IF([test -z "$$1[]_LIBS"], [$1[]_LIBS="$3"])
   XLM_LINK_IFELSE([$$1[]_CFLAGS], [$$1[]_LIBS], [#include <$4>], [$5],
     [AC_MSG_RESULT([$$1[]_LIBS])
      AC_DEFINE([HAVE_$1], [1], [Define to 1 where there is $6.])
      xlm_$2=$$1[]_LIBS],
     [AC_MSG_RESULT([no])
      $1[]_CFLAGS= $1[]_LIBS=
      xlm_$2="none (Debian/Ubuntu: $7)"
      AS_IF([test "$with_$2" = yes], [XLM_MISSING([$6 (header $4, $3)], [$7])])])])])

# XLM_SYSTEM_HEADERS(VARIABLE)
# Have the compiler take the header folders in VARIABLE_CFLAGS for the system's, of whose headers it does not warn. /usr/include
# stays as it is: named twice, it would be searched too early.
AC_DEFUN([XLM_SYSTEM_HEADERS],
[$1[]_CFLAGS=`for xlm_flag in $$1[]_CFLAGS; do
  AS_CASE([$xlm_flag],
    [-I/usr/include|-I/usr/include/|-I], [AS_ECHO(["$xlm_flag"])],
    [-I*], [AS_ECHO(["-isystem $xlm_flag"]) | sed 's/ -I/ /'],
    [AS_ECHO(["$xlm_flag"])])
done | tr '\n' ' '`])

# XLM_ADD_CFLAG(FLAG)
# Add FLAG to XLM_CFLAGS when the compiler knows it.
AC_DEFUN([XLM_ADD_CFLAG],
[AS_VAR_PUSHDEF([xlm_known], [xlm_cv_cflag_$1])
AC_CACHE_CHECK([whether $CC knows $1], [xlm_known],
  [xlm_save_CFLAGS=$CFLAGS
   CFLAGS="$CFLAGS -Werror $1"
   AC_COMPILE_IFELSE([AC_LANG_PROGRAM()], [AS_VAR_SET([xlm_known], [yes])], [AS_VAR_SET([xlm_known], [no])])
   CFLAGS=$xlm_save_CFLAGS])
AS_VAR_IF([xlm_known], [yes], [AS_VAR_APPEND([XLM_CFLAGS], [" $1"])])
AS_VAR_POPDEF([xlm_known])])

# XLM_RUN_PATH
# Sets LIBXLM_LDFLAGS, by which programs find libxlm where it is installed. Libtool leaves the run path out for folders that
# /etc/ld.so.conf names, such as /usr/local/lib, where the loader finds a library only after ldconfig has run. Folders that
# the loader looks into always need none.
AC_DEFUN([XLM_RUN_PATH],
[AC_REQUIRE([AC_PROG_CC])
AC_MSG_CHECKING([for the run path of programs])
xlm_save_prefix=$prefix
xlm_save_exec_prefix=$exec_prefix
test "$prefix" != NONE || prefix=$ac_default_prefix
test "$exec_prefix" != NONE || exec_prefix=$prefix
eval "xlm_libdir=$libdir"
eval "xlm_libdir=$xlm_libdir"
prefix=$xlm_save_prefix
exec_prefix=$xlm_save_exec_prefix
xlm_multiarch=`$CC -print-multiarch 2>/dev/null`
AS_CASE([$xlm_libdir],
  [/lib|/usr/lib|/lib64|/usr/lib64|"/lib/$xlm_multiarch"|"/usr/lib/$xlm_multiarch"],
  [LIBXLM_LDFLAGS=
   AC_MSG_RESULT([none, $xlm_libdir is searched anyway])],
  [LIBXLM_LDFLAGS='-R $(libdir)'
   AC_MSG_RESULT([$xlm_libdir])])
AC_SUBST([LIBXLM_LDFLAGS])])
