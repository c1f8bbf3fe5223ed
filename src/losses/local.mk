# Floor 4: objectives, one file and one loadable module each. A new one: its file in losses_sources, its module in
# losses_LTLIBRARIES, and the two lines of flags below.
losses_sources = \
	src/losses/align.c \
	src/losses/dict-mlm.c \
	src/losses/mlm.c

losses_LTLIBRARIES += \
	src/losses/align.la \
	src/losses/dict-mlm.la \
	src/losses/mlm.la

loss_module = -module -avoid-version -shared
src_losses_align_la_LDFLAGS = $(loss_module)
src_losses_align_la_LIBADD = libxlm.la
src_losses_dict_mlm_la_LDFLAGS = $(loss_module)
src_losses_dict_mlm_la_LIBADD = libxlm.la
src_losses_mlm_la_LDFLAGS = $(loss_module)
src_losses_mlm_la_LIBADD = libxlm.la

# A module is linked again when it is installed, against the installed library, which must be there first. (Written with a
# variable because automake takes a rule of that name for a replacement of its own.)
install_modules = install-lossesLTLIBRARIES
$(install_modules): install-libLTLIBRARIES
