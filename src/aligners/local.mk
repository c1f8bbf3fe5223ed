# Floor 3: word alignment.
aligners_sources = \
	src/aligners/link_file.c src/aligners/link_file.h \
	src/aligners/links.c src/aligners/links.h \
	src/aligners/sentence_pairs.c src/aligners/sentence_pairs.h \
	src/aligners/symmetrise.c src/aligners/symmetrise.h
