# Floor 2: Unicode, lines, fields, words, sentences.
text_sources = \
	src/text/archive.c src/text/archive.h \
	src/text/fields.c src/text/fields.h \
	src/text/line_files.c src/text/line_files.h \
	src/text/line_index.c src/text/line_index.h \
	src/text/gzip.c src/text/gzip.h \
	src/text/icu.c src/text/icu.h \
	src/text/lines.c src/text/lines.h \
	src/text/moses.c src/text/moses.h \
	src/text/moses_line.c src/text/moses_line.h \
	src/text/moses_punctuation.c \
	src/text/moses_words.c \
	src/text/normalise.c src/text/normalise.h \
	src/text/patterns.c src/text/patterns.h \
	src/text/scripts.c src/text/scripts.h \
	src/text/strings.c src/text/strings.h \
	src/text/word_counts.c src/text/word_counts.h \
	src/text/word_counts_file.c \
	src/text/word_runs.c src/text/word_runs.h \
	src/text/word.h src/text/words.c src/text/words.h
