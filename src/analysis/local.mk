# Floor 6: measures of embeddings and alignments.
analysis_sources = \
	src/analysis/alignment.c src/analysis/alignment.h \
	src/analysis/affinities.c src/analysis/affinities.h \
	src/analysis/analogies.c src/analysis/analogies.h \
	src/analysis/association.c src/analysis/association.h \
	src/analysis/cosines.c src/analysis/cosines.h \
	src/analysis/dictionary_pairs.c src/analysis/dictionary_pairs.h \
	src/analysis/factorise.c src/analysis/factorise.h \
	src/analysis/map.c src/analysis/map.h \
	src/analysis/map_items.c src/analysis/map_items.h \
	src/analysis/matrix_file.c src/analysis/matrix_file.h \
	src/analysis/mined_pairs.c src/analysis/mined_pairs.h \
	src/analysis/model_alignment.c src/analysis/model_alignment.h \
	src/analysis/model_links.c src/analysis/model_links.h \
	src/analysis/named_vectors.c src/analysis/named_vectors.h \
	src/analysis/near_points.c src/analysis/near_points.h \
	src/analysis/near_words.c src/analysis/near_words.h \
	src/analysis/numbered_sentences.c src/analysis/numbered_sentences.h \
	src/analysis/pair_batches.c src/analysis/pair_batches.h \
	src/analysis/pair_languages.c src/analysis/pair_languages.h \
	src/analysis/pair_text.c src/analysis/pair_text.h \
	src/analysis/principal.c src/analysis/principal.h \
	src/analysis/procrustes.c src/analysis/procrustes.h \
	src/analysis/quadtree.c src/analysis/quadtree.h \
	src/analysis/rank_correlation.c src/analysis/rank_correlation.h \
	src/analysis/scored_pairs.c src/analysis/scored_pairs.h \
	src/analysis/sentence_mining.c src/analysis/sentence_mining.h \
	src/analysis/sentence_retrieval.c src/analysis/sentence_retrieval.h \
	src/analysis/sentence_vectors.c src/analysis/sentence_vectors.h \
	src/analysis/token_set.c src/analysis/token_set.h \
	src/analysis/truncated_svd.c src/analysis/truncated_svd.h \
	src/analysis/tsne.c src/analysis/tsne.h \
	src/analysis/vector_file.c src/analysis/vector_file.h \
	src/analysis/vector_rows.c src/analysis/vector_rows.h \
	src/analysis/word_sides.h \
	src/analysis/word_space.c src/analysis/word_space.h \
	src/analysis/word_vectors.c src/analysis/word_vectors.h
