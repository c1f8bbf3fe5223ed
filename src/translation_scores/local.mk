# Floor 3: scores of translations beside references.
translation_scores_sources = \
	src/translation_scores/bleu.c \
	src/translation_scores/bleu_words.c src/translation_scores/bleu_words.h \
	src/translation_scores/bootstrap.c src/translation_scores/bootstrap.h \
	src/translation_scores/chrf.c \
	src/translation_scores/metric.h src/translation_scores/metrics.c \
	src/translation_scores/ngrams.c src/translation_scores/ngrams.h \
	src/translation_scores/scored_files.c src/translation_scores/scored_files.h
