# xlm-mpi: SentencePiece, whose interface is C++. SPDX-License-Identifier: GPL-3.0-or-later

# XLM_REQUIRE_SENTENCEPIECE
# Sets SENTENCEPIECE_CFLAGS, for the file that is C++, and SENTENCEPIECE_LIBS, by which the C compiler links it. Its headers want
# C++17, which is the default of g++ from 11 and clang++ from 16 on; older ones are asked for it. Where pkg-config does not give it,
# it is looked for in the compiler's own folders: the sentencepiece.pc of Debian 13 names a package, protobuf-lite, that
# libsentencepiece-dev does not bring along. What is called below is what 0.1.97 has and older ones do not.
AC_DEFUN([XLM_REQUIRE_SENTENCEPIECE],
[PKG_CHECK_MODULES([SENTENCEPIECE], [sentencepiece >= 0.1.97], [],
  [SENTENCEPIECE_CFLAGS=
   SENTENCEPIECE_LIBS="-lsentencepiece_train -lsentencepiece"])
AC_MSG_CHECKING([whether $CXX compiles for SentencePiece])
AC_LANG_PUSH([C++])
xlm_save_CPPFLAGS=$CPPFLAGS
xlm_save_LIBS=$LIBS
LIBS="$SENTENCEPIECE_LIBS $LIBS"
xlm_compiles=no
xlm_needs="SentencePiece 0.1.97 or later, and a C++17 compiler"
for xlm_standard in '' -std=c++17; do
  AS_IF([test "$xlm_compiles" = no],
    [CPPFLAGS="$xlm_save_CPPFLAGS $SENTENCEPIECE_CFLAGS $xlm_standard"
     AC_LANG_CONFTEST([AC_LANG_PROGRAM([#include <sentencepiece_trainer.h>
#include <sentencepiece_processor.h>], [sentencepiece::SentencePieceProcessor processor;
sentencepiece::ImmutableSentencePieceText text;
std::string bytes;
sentencepiece::SentenceIterator *lines = nullptr;
const sentencepiece::util::Status status = sentencepiece::SentencePieceTrainer::Train("", lines, &bytes);
return status.ok() && processor.Encode("", text.mutable_proto()).ok() && processor.IsByte(0);])])
     AC_LINK_IFELSE([],
       [xlm_compiles=yes
        SENTENCEPIECE_CFLAGS="$SENTENCEPIECE_CFLAGS $xlm_standard"],
       [AC_COMPILE_IFELSE([], [xlm_needs="SentencePiece that $CXX links, as it compiles; often its C++ library is newer than that of $CXX (config.log)"])])])
done
AC_MSG_RESULT([$xlm_compiles])
AS_IF([test "$xlm_compiles" = no],
  [XLM_MISSING([$xlm_needs], [libsentencepiece-dev g++])])
CPPFLAGS=$xlm_save_CPPFLAGS
LIBS=$xlm_save_LIBS
AC_LANG_POP([C++])
SENTENCEPIECE_LIBS="$SENTENCEPIECE_LIBS -lstdc++"])
