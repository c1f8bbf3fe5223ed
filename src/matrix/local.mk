# Floor 2: matrices over ranks, by ScaLAPACK.
matrix_sources = \
	src/matrix/algebra.c src/matrix/algebra.h \
	src/matrix/matrix.c src/matrix/matrix.h src/matrix/matrix_internal.h \
	src/matrix/scalapack.h
