# Floor 1: parameters, the tape and its operators. Compiled a second time in double precision for gradient checks, with the
# kernels and products below them.
tensor_sources = \
	src/tensor/attention.c \
	src/tensor/attention_element.c src/tensor/attention_element.h \
	src/tensor/attention_weights.c src/tensor/attention_weights.h \
	src/tensor/backward.c \
	src/tensor/cached_attention.c src/tensor/cached_attention.h \
	src/tensor/columns.c src/tensor/columns.h \
	src/tensor/cosine.c \
	src/tensor/cross_entropy.c \
	src/tensor/dropout.c src/tensor/dropout.h \
	src/tensor/elementwise.c \
	src/tensor/embedding_sum.c \
	src/tensor/feed_forward.c src/tensor/feed_forward.h \
	src/tensor/gate.c \
	src/tensor/gelu.c \
	src/tensor/info_nce.c \
	src/tensor/layer_norm.c \
	src/tensor/linear.c \
	src/tensor/parameters.c src/tensor/parameters.h \
	src/tensor/pointer.c \
	src/tensor/products.c src/tensor/products.h \
	src/tensor/profile.c src/tensor/profile.h \
	src/tensor/residual.c \
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
	src/tensor/vocabulary_blocks.c
