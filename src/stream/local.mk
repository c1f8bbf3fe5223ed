# Floor 3: what the encoder reads at each step.
stream_sources = \
	src/stream/alignments.c \
	src/stream/batch_layout.c src/stream/batch_layout.h src/stream/draws.h \
	src/stream/batch_sizes.c src/stream/batch_sizes.h \
	src/stream/example_passes.c src/stream/example_passes.h \
	src/stream/examples.c src/stream/examples.h src/stream/examples_source.c \
	src/stream/instances.c src/stream/instances.h \
	src/stream/layouts.c \
	src/stream/masking.c src/stream/masking.h \
	src/stream/monolingual.c src/stream/monolingual.h \
	src/stream/noise.c \
	src/stream/packing.c src/stream/packing.h \
	src/stream/parallel.c src/stream/parallel.h \
	src/stream/planned_batch.c src/stream/planned_batch.h \
	src/stream/sampler.c src/stream/sampler.h \
	src/stream/selection.c src/stream/selection.h \
	src/stream/sequences.c src/stream/sequences.h \
	src/stream/stage_pass.c src/stream/stage_pass.h \
	src/stream/stage.h src/stream/stage_plugins.c src/stream/stage_plugins.h src/stream/stages.c src/stream/stages.h \
	src/stream/stream.c src/stream/stream.h \
	src/stream/stream_config.c src/stream/stream_config.h \
	src/stream/switching.c src/stream/switching.h \
	src/stream/text_source.c \
	src/stream/translations.c src/stream/translations.h
