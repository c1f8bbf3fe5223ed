# Floor 3: word alignment.
aligners_sources = \
	src/aligners/links.c src/aligners/links.h
