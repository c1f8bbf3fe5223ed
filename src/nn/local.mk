# Floor 2: the encoder, the decoder and their heads. Compiled a second time in double precision for gradient checks.
nn_sources = \
	src/nn/adapter.c src/nn/adapter.h \
	src/nn/adapters.c \
	src/nn/attention_block.c \
	src/nn/block.c src/nn/block.h \
	src/nn/bottleneck.c \
	src/nn/decoder_cache.c src/nn/decoder_cache.h \
	src/nn/feed_forward_block.c \
	src/nn/head.c \
	src/nn/layer.c src/nn/layer.h \
	src/nn/linear.c \
	src/nn/lora.c \
	src/nn/memory_weights.c src/nn/memory_weights.h \
	src/nn/model.c src/nn/model.h \
	src/nn/model_parts.h \
	src/nn/search.c \
	src/nn/search_input.c src/nn/search_input.h \
	src/nn/search_rows.c src/nn/search_rows.h \
	src/nn/stack.c src/nn/stack.h
