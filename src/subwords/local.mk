# Floor 2: classes of segmenters, the vocabulary, tokenizers of others.
subwords_sources = \
	src/subwords/added_tokens.c src/subwords/added_tokens.h \
	src/subwords/bpe_adopt.c \
	src/subwords/bpe_bytes.c src/subwords/bpe_bytes.h \
	src/subwords/bpe_bytes_publish.c \
	src/subwords/bpe_bytes_words.c \
	src/subwords/bpe_change.c src/subwords/bpe_change.h \
	src/subwords/bpe_class.c src/subwords/bpe_class.h \
	src/subwords/bpe_publish.c \
	src/subwords/bpe_xlm.c \
	src/subwords/cutter.c \
	src/subwords/published.c src/subwords/published.h \
	src/subwords/segmenter.c src/subwords/segmenter.h \
	src/subwords/segmenters.c \
	src/subwords/sentencepiece.c src/subwords/sentencepiece.h \
	src/subwords/sentencepiece_adopt.c \
	src/subwords/sentencepiece_ids.c \
	src/subwords/sentencepiece_languages.c \
	src/subwords/sentencepiece_marian.c \
	src/subwords/sentencepiece_pairs.c \
	src/subwords/sentencepiece_change.c \
	src/subwords/sentencepiece_publish.c \
	src/subwords/special_tokens.c src/subwords/special_tokens.h \
	src/subwords/tokenizer.c src/subwords/tokenizer.h \
	src/subwords/tokenizer_files.c src/subwords/tokenizer_files.h \
	src/subwords/tokenizer_print.c src/subwords/tokenizer_print.h \
	src/subwords/vocabulary.c src/subwords/vocabulary.h \
	src/subwords/vocabulary_change.c src/subwords/vocabulary_change.h \
	src/subwords/vocabulary_join.c src/subwords/vocabulary_join.h \
	src/subwords/vocabulary_store.c \
	src/subwords/word_store.c src/subwords/word_store.h \
	src/subwords/wordpiece.c
