# Floor 1: inner loops of the operators, a table of functions per instruction set.
kernels_sources = \
	src/kernels/activations.h \
	src/kernels/attention.h \
	src/kernels/avx2.c \
	src/kernels/avx512.c \
	src/kernels/avx512_bfloat16.c \
	src/kernels/bodies.h \
	src/kernels/kernels.c src/kernels/kernels.h \
	src/kernels/neon.c \
	src/kernels/normal.h \
	src/kernels/portable.c \
	src/kernels/positions.h \
	src/kernels/processor.c src/kernels/processor.h \
	src/kernels/squares.h \
	src/kernels/x86.h
