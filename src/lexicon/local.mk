# Floor 3: bilingual dictionaries and co-occurrence counts.
lexicon_sources = \
	src/lexicon/cooccurrence.c src/lexicon/cooccurrence.h \
	src/lexicon/cooccurrence_count.c src/lexicon/cooccurrence_count.h \
	src/lexicon/cooccurrence_write.c src/lexicon/cooccurrence_write.h \
	src/lexicon/dictd.c src/lexicon/dictd.h \
	src/lexicon/dictionary.c src/lexicon/dictionary.h \
	src/lexicon/entries.c src/lexicon/entries.h \
	src/lexicon/frequency.c src/lexicon/frequency.h \
	src/lexicon/pair_counter.c src/lexicon/pair_counter.h \
	src/lexicon/pair_runs.c src/lexicon/pair_runs.h \
	src/lexicon/subword_pairs.c src/lexicon/subword_pairs.h \
	src/lexicon/translations.c src/lexicon/translations.h
