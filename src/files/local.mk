# Floor 0: files on disk: which are read and which written, new files, digests, scratch files.
files_sources = \
	src/files/files.c src/files/files.h \
	src/files/large_array.c src/files/large_array.h \
	src/files/new_file.c src/files/new_file.h \
	src/files/path.c src/files/path.h
