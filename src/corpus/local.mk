# Floor 3: corpora, streams, packing, masking.
corpus_sources = \
	src/corpus/corpus.c src/corpus/corpus.h \
	src/corpus/examples.c src/corpus/examples.h \
	src/corpus/instances.c src/corpus/instances.h \
	src/corpus/lines.c src/corpus/lines.h \
	src/corpus/locate.c src/corpus/locate.h \
	src/corpus/masking.c src/corpus/masking.h \
	src/corpus/monolingual.c src/corpus/monolingual.h \
	src/corpus/packing.c src/corpus/packing.h \
	src/corpus/parallel.c src/corpus/parallel.h \
	src/corpus/prepare.c src/corpus/prepare.h \
	src/corpus/prepare_count.c src/corpus/prepare_count.h \
	src/corpus/prepare_encode.c src/corpus/prepare_encode.h \
	src/corpus/prepare_options.c src/corpus/prepare_options.h \
	src/corpus/prepare_provenance.c src/corpus/prepare_provenance.h \
	src/corpus/prepare_report.c src/corpus/prepare_report.h \
	src/corpus/prepare_scan.c src/corpus/prepare_scan.h \
	src/corpus/prepare_segment.c src/corpus/prepare_segment.h \
	src/corpus/prepare_split.c src/corpus/prepare_split.h \
	src/corpus/sampler.c src/corpus/sampler.h \
	src/corpus/sources.c src/corpus/sources.h \
	src/corpus/stream.c src/corpus/stream.h \
	src/corpus/writer.c src/corpus/writer.h
