# Floor 2: annotated and structured text: CoNLL-U, HTML, JSON, TMX, WET, fields of lines.
formats_sources = \
	src/formats/conllu.c src/formats/conllu.h \
	src/formats/html.c src/formats/html.h \
	src/formats/html_pairs.c src/formats/html_pairs.h \
	src/formats/json_file.c src/formats/json_file.h \
	src/formats/line_form.c src/formats/line_form.h \
	src/formats/tmx.c src/formats/tmx.h \
	src/formats/wet.c src/formats/wet.h
