# Floor 2: models and library of SentencePiece.
sentencepiece_sources = \
	src/sentencepiece/albert.c src/sentencepiece/albert.h \
	src/sentencepiece/cut.c src/sentencepiece/cut.h \
	src/sentencepiece/library.cc src/sentencepiece/library.h \
	src/sentencepiece/model.c src/sentencepiece/model.h \
	src/sentencepiece/pieces.c src/sentencepiece/pieces.h
