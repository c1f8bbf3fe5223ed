# Floor 3: bilingual dictionaries.
lexicon_sources = \
	src/lexicon/coverage.c src/lexicon/coverage.h \
	src/lexicon/dictd.c src/lexicon/dictd.h \
	src/lexicon/dictionary.c src/lexicon/dictionary.h \
	src/lexicon/entries.c src/lexicon/entries.h \
	src/lexicon/frequency.c src/lexicon/frequency.h \
	src/lexicon/subword_pairs.c src/lexicon/subword_pairs.h \
	src/lexicon/translations.c src/lexicon/translations.h
