# Floor 2: corpora.
corpus_sources = \
	src/corpus/corpus.c src/corpus/corpus.h \
	src/corpus/corpus_file.c src/corpus/corpus_file.h \
	src/corpus/sentence_offsets.c \
	src/corpus/text_digest.c \
	src/corpus/writer.c src/corpus/writer.h
