# Floor 6: models of other programs, into our files and out of them.
foreign_sources = \
	src/foreign/safetensors.c src/foreign/safetensors.h \
	src/foreign/safetensors_write.c
