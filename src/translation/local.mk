# Floor 3: sentences translated by an encoder and a decoder, and lines of text.
translation_sources = \
	src/translation/batches.c src/translation/batches.h \
	src/translation/line_parts.c src/translation/line_parts.h \
	src/translation/lines.c src/translation/lines.h \
	src/translation/results.c src/translation/results.h \
	src/translation/state_links.c src/translation/state_links.h \
	src/translation/token_links.c src/translation/token_links.h \
	src/translation/translate.c src/translation/translate.h \
	src/translation/translation.h
