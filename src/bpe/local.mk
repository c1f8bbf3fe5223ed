# Floor 2: byte-pair encoding.
bpe_sources = \
	src/bpe/bpe.h \
	src/bpe/codes.c src/bpe/codes.h \
	src/bpe/learn.c \
	src/bpe/segment.c
