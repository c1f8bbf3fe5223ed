# Floor 2: Unicode, words, segmenters, vocabulary; readers of text and of annotated text.
text_sources = \
	src/text/bpe.c src/text/bpe.h \
	src/text/bpe_adopt.c \
	src/text/bpe_bytes.c src/text/bpe_bytes.h \
	src/text/bpe_bytes_publish.c \
	src/text/bpe_change.c src/text/bpe_change.h \
	src/text/bpe_codes.c src/text/bpe_codes.h \
	src/text/bpe_learn.c \
	src/text/bpe_publish.c \
	src/text/bpe_segment.c \
	src/text/bpe_xlm.c \
	src/text/conllu.c src/text/conllu.h \
	src/text/cutter.c \
	src/text/fields.c src/text/fields.h \
	src/text/html.c src/text/html.h \
	src/text/html_files.c \
	src/text/html_pairs.c src/text/html_pairs.h \
	src/text/json_file.c src/text/json_file.h \
	src/text/line_files.c src/text/line_files.h \
	src/text/lines.c src/text/lines.h \
	src/text/moses.c src/text/moses.h \
	src/text/moses_line.c src/text/moses_line.h \
	src/text/moses_punctuation.c \
	src/text/moses_words.c \
	src/text/normalise.c src/text/normalise.h \
	src/text/patterns.c src/text/patterns.h \
	src/text/published.c src/text/published.h \
	src/text/segmenter.c src/text/segmenter.h \
	src/text/segmenters.c \
	src/text/sentencepiece.c src/text/sentencepiece.h \
	src/text/sentencepiece_adopt.c \
	src/text/sentencepiece_albert.c src/text/sentencepiece_albert.h \
	src/text/sentencepiece_change.c \
	src/text/sentencepiece_cut.c src/text/sentencepiece_cut.h \
	src/text/sentencepiece_library.cc src/text/sentencepiece_library.h \
	src/text/sentencepiece_model.c src/text/sentencepiece_model.h \
	src/text/sentencepiece_publish.c \
	src/text/special_tokens.c src/text/special_tokens.h \
	src/text/strings.c src/text/strings.h \
	src/text/tokenizer.c src/text/tokenizer.h \
	src/text/tokenizer_files.c src/text/tokenizer_files.h \
	src/text/tokenizer_print.c src/text/tokenizer_print.h \
	src/text/vocabulary.c src/text/vocabulary.h \
	src/text/vocabulary_change.c src/text/vocabulary_change.h \
	src/text/vocabulary_store.c \
	src/text/word_counts.c src/text/word_counts.h \
	src/text/word_counts_file.c \
	src/text/word_store.c src/text/word_store.h \
	src/text/wordpiece.c \
	src/text/words.c src/text/words.h
