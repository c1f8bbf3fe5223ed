# Floor 1: the tape, its operators, kernels and BLIS. Compiled a second time in double precision for gradient checks.
tensor_sources = \
	src/tensor/attention.c \
	src/tensor/attention_element.c src/tensor/attention_element.h \
	src/tensor/backward.c \
	src/tensor/cosine.c \
	src/tensor/cross_entropy.c \
	src/tensor/dropout.c src/tensor/dropout.h \
	src/tensor/elementwise.c \
	src/tensor/embedding_sum.c \
	src/tensor/feed_forward.c src/tensor/feed_forward.h \
	src/tensor/gelu.c \
	src/tensor/gemm.c src/tensor/gemm.h \
	src/tensor/gemm_choice.c src/tensor/gemm_choice.h \
	src/tensor/crowding.c src/tensor/crowding.h \
	src/tensor/hardware.c src/tensor/hardware.h \
	src/tensor/kernels.c src/tensor/kernels.h \
	src/tensor/info_nce.c \
	src/tensor/layer_norm.c \
	src/tensor/linear.c \
	src/tensor/onednn.c src/tensor/onednn.h \
	src/tensor/packed.c src/tensor/packed.h src/tensor/packed_internal.h \
	src/tensor/packed_call.c \
	src/tensor/packed_multiply.c \
	src/tensor/packing.c \
	src/tensor/parameters.c src/tensor/parameters.h \
	src/tensor/pointer.c \
	src/tensor/processors.c src/tensor/processors.h \
	src/tensor/products.c src/tensor/products.h \
	src/tensor/profile.c src/tensor/profile.h \
	src/tensor/residual_norm.c \
	src/tensor/row_products.c \
	src/tensor/rows.c src/tensor/rows.h \
	src/tensor/rows_sum.c \
	src/tensor/sequence_mean.c \
	src/tensor/similarity.c \
	src/tensor/tape.c src/tensor/tape.h src/tensor/tape_internal.h \
	src/tensor/tape_segment.c \
	src/tensor/variable.h \
	src/tensor/variable_values.c \
	src/tensor/vocabulary.c src/tensor/vocabulary.h \
	src/tensor/vocabulary_blocks.c \
	src/tensor/kernels/attention.h \
	src/tensor/kernels/avx2.c \
	src/tensor/kernels/avx512.c \
	src/tensor/kernels/avx512_bfloat16.c \
	src/tensor/kernels/bodies.h \
	src/tensor/kernels/normal.h \
	src/tensor/kernels/portable.c \
	src/tensor/kernels/processor.c src/tensor/kernels/processor.h \
	src/tensor/kernels/x86.h
