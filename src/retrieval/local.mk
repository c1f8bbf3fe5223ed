# Floor 6: retrieval, mining, and measures of word vectors.
retrieval_sources = \
	src/retrieval/analogies.c src/retrieval/analogies.h \
	src/retrieval/dictionary_pairs.c src/retrieval/dictionary_pairs.h \
	src/retrieval/mined_pairs.c src/retrieval/mined_pairs.h \
	src/retrieval/model_alignment.c src/retrieval/model_alignment.h \
	src/retrieval/near_words.c src/retrieval/near_words.h \
	src/retrieval/rank_correlation.c src/retrieval/rank_correlation.h \
	src/retrieval/scored_pairs.c src/retrieval/scored_pairs.h \
	src/retrieval/sentence_mining.c src/retrieval/sentence_mining.h \
	src/retrieval/sentence_retrieval.c src/retrieval/sentence_retrieval.h
