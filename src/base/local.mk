# Floor 0: errors, log, arena, random numbers, signals, the terminal.
base_sources = \
	src/base/arena.c src/base/arena.h \
	src/base/bfloat16.h \
	src/base/error.c src/base/error.h \
	src/base/exhaustion.c src/base/exhaustion.h \
	src/base/launcher.c src/base/launcher.h \
	src/base/log.c src/base/log.h \
	src/base/markup.c src/base/markup.h \
	src/base/names.c src/base/names.h \
	src/base/number_digest.c src/base/number_digest.h \
	src/base/pages.c src/base/pages.h \
	src/base/process.c src/base/process.h \
	src/base/progress.c src/base/progress.h \
	src/base/rng.c src/base/rng.h \
	src/base/signals.c src/base/signals.h \
	src/base/svg.c src/base/svg.h \
	src/base/terminal.c src/base/terminal.h \
	src/base/unfinished.c src/base/unfinished.h
