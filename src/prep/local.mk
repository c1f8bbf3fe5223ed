# Floor 5: from text to a corpus file.
prep_sources = \
	src/prep/append.c src/prep/append.h \
	src/prep/append_split.c src/prep/append_split.h \
	src/prep/appended.c src/prep/appended.h \
	src/prep/ascending.c src/prep/ascending.h \
	src/prep/check_options.c \
	src/prep/count.c \
	src/prep/derive.c \
	src/prep/duplicates.c src/prep/duplicates.h \
	src/prep/earlier_split.c src/prep/earlier_split.h \
	src/prep/encode.c \
	src/prep/filter.c src/prep/filter.h \
	src/prep/filter_options.c src/prep/filter_options.h \
	src/prep/like.c src/prep/like.h \
	src/prep/make_vocabulary.c \
	src/prep/options.c src/prep/options.h \
	src/prep/provenance.c \
	src/prep/report.c src/prep/report.h \
	src/prep/rewrite.c \
	src/prep/run.c src/prep/run.h \
	src/prep/scan.c src/prep/scan.h \
	src/prep/segment.c \
	src/prep/segmenter_options.c src/prep/segmenter_options.h \
	src/prep/shared_words.c src/prep/shared_words.h \
	src/prep/steps.h \
	src/prep/split.c src/prep/split.h \
	src/prep/synthetic_text.c src/prep/synthetic_text.h \
	src/prep/texts.c src/prep/texts.h \
	src/prep/unpack.c src/prep/unpack.h \
	src/prep/used_subwords.c
