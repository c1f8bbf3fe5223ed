# Floor 4: objectives, one file and one loadable module each. A new one, src/losses/NAME.c, needs its line in losses_LTLIBRARIES.
losses_LTLIBRARIES += \
	src/losses/align.la \
	src/losses/back-translation.la \
	src/losses/clm.la \
	src/losses/dict-mlm.la \
	src/losses/dwa.la \
	src/losses/gc.la \
	src/losses/mass.la \
	src/losses/mlm.la \
	src/losses/moco.la \
	src/losses/seq2seq.la \
	src/losses/sop.la \
	src/losses/weam.la
losses_sources = $(losses_LTLIBRARIES:.la=.c)

# All are linked alike. (private: this does not hold for libxlm, when it is made for one of them.)
AM_LDFLAGS = $(XLM_LDFLAGS) \
	$(if $(filter %.la,$@),$(if $(filter $(losses_LTLIBRARIES),$@),-module -avoid-version -shared),$(XLM_PROGRAM_LDFLAGS))
$(losses_LTLIBRARIES): libxlm.la
$(losses_LTLIBRARIES): private LIBS := libxlm.la $(LIBS)

# A module is linked again when it is installed, against the installed library, which must be there first. (Written with a
# variable because automake takes a rule of that name for a replacement of its own.)
install_modules = install-lossesLTLIBRARIES
$(install_modules): install-libLTLIBRARIES
