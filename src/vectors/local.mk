# Floor 6: vectors of words and sentences, and their files.
vectors_sources = \
	src/vectors/alignment.c src/vectors/alignment.h \
	src/vectors/cosines.c src/vectors/cosines.h \
	src/vectors/named_vectors.c src/vectors/named_vectors.h \
	src/vectors/numbered_sentences.c src/vectors/numbered_sentences.h \
	src/vectors/sentence_vectors.c src/vectors/sentence_vectors.h \
	src/vectors/token_set.c src/vectors/token_set.h \
	src/vectors/vector_file.c src/vectors/vector_file.h \
	src/vectors/vector_rows.c src/vectors/vector_rows.h \
	src/vectors/word_space.c src/vectors/word_space.h \
	src/vectors/word_vectors.c src/vectors/word_vectors.h
