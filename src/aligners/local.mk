# Floor 3: word alignment.
aligners_sources = \
	src/aligners/align_words.c src/aligners/align_words.h \
	src/aligners/align_input.c src/aligners/align_input.h \
	src/aligners/aligner.h src/aligners/aligners.c \
	src/aligners/aligner_model.c src/aligners/aligner_model.h \
	src/aligners/alignment_file.c src/aligners/alignment_file.h \
	src/aligners/alignment_write.c src/aligners/alignment_write.h \
	src/aligners/bitext.c src/aligners/bitext.h \
	src/aligners/corpus_walk.c src/aligners/corpus_walk.h \
	src/aligners/diagonal.c \
	src/aligners/fertility.c \
	src/aligners/fertility_model.c src/aligners/fertility_model.h \
	src/aligners/fertility_pair.c src/aligners/fertility_pair.h \
	src/aligners/hmm.c src/aligners/hmm.h \
	src/aligners/link_dictionary.c src/aligners/link_dictionary.h \
	src/aligners/link_file.c src/aligners/link_file.h \
	src/aligners/link_matrix.c src/aligners/link_matrix.h \
	src/aligners/link_numbers.c src/aligners/link_numbers.h \
	src/aligners/links.c src/aligners/links.h \
	src/aligners/matrix_file.c src/aligners/matrix_file.h \
	src/aligners/sentence_pairs.c src/aligners/sentence_pairs.h \
	src/aligners/shared_counts.c src/aligners/shared_counts.h \
	src/aligners/spelling.c src/aligners/spelling.h \
	src/aligners/subword_links.c src/aligners/subword_links.h \
	src/aligners/symmetrise.c src/aligners/symmetrise.h \
	src/aligners/word_numbers.c src/aligners/word_numbers.h \
	src/aligners/word_pairs.c src/aligners/word_pairs.h
