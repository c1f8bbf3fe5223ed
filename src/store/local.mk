# Floor 1: parallel HDF5.
store_sources = \
	src/store/store.h \
	src/store/store_attribute.c \
	src/store/store_commit.c \
	src/store/store_copy.c \
	src/store/store_digest.c \
	src/store/store_failure.c \
	src/store/store_file.c src/store/store_file.h \
	src/store/store_open.c \
	src/store/store_read.c \
	src/store/store_rows.c \
	src/store/store_verify.c \
	src/store/store_write.c
