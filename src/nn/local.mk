# Floor 2: the encoder and its heads. Compiled a second time in double precision for gradient checks.
nn_sources = \
	src/nn/encoder.c \
	src/nn/head.c \
	src/nn/model.c src/nn/model.h \
	src/nn/model_internal.h \
	src/nn/size.c
