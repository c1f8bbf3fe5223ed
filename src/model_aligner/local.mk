# Floor 6: word alignment by a model.
model_aligner_sources = \
	src/model_aligner/model_links.c src/model_aligner/model_links.h \
	src/model_aligner/pair_batches.c src/model_aligner/pair_batches.h \
	src/model_aligner/pair_languages.c src/model_aligner/pair_languages.h \
	src/model_aligner/pair_text.c src/model_aligner/pair_text.h
