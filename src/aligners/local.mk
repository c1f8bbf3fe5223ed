# Floor 3: word alignment.
aligners_sources = \
	src/aligners/alignment_file.c src/aligners/alignment_file.h \
	src/aligners/alignment_write.c src/aligners/alignment_write.h \
	src/aligners/corpus_walk.c src/aligners/corpus_walk.h \
	src/aligners/link_file.c src/aligners/link_file.h \
	src/aligners/link_matrix.c src/aligners/link_matrix.h \
	src/aligners/links.c src/aligners/links.h \
	src/aligners/sentence_pairs.c src/aligners/sentence_pairs.h \
	src/aligners/subword_links.c src/aligners/subword_links.h \
	src/aligners/symmetrise.c src/aligners/symmetrise.h
