# Floor 2: the corpus file.
corpus_sources = \
	src/corpus/corpus.c src/corpus/corpus.h \
	src/corpus/sentence_offsets.c \
	src/corpus/writer.c src/corpus/writer.h
