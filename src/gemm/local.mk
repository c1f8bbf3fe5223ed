# Floor 1: matrix products by BLIS and oneDNN, and the processors that they run on.
gemm_sources = \
	src/gemm/blis_kernels.c src/gemm/blis_kernels.h \
	src/gemm/crowding.c src/gemm/crowding.h \
	src/gemm/gemm.c src/gemm/gemm.h \
	src/gemm/gemm_choice.c src/gemm/gemm_choice.h \
	src/gemm/hardware.c src/gemm/hardware.h \
	src/gemm/onednn.c src/gemm/onednn.h \
	src/gemm/packed.c src/gemm/packed.h src/gemm/packed_internal.h \
	src/gemm/packed_call.c src/gemm/packed_kernels.h \
	src/gemm/packed_multiply.c \
	src/gemm/packing.c \
	src/gemm/processors.c src/gemm/processors.h
