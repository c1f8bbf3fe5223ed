# Floor 0: errors, log, arena, random numbers, options and job files, signals.
base_sources = \
	src/base/arena.c src/base/arena.h \
	src/base/bfloat16.h \
	src/base/error.c src/base/error.h \
	src/base/exhaustion.c src/base/exhaustion.h \
	src/base/file_digest.c src/base/file_digest.h \
	src/base/files.c src/base/files.h \
	src/base/jobfile.c src/base/jobfile.h \
	src/base/large_array.c src/base/large_array.h \
	src/base/launcher.c src/base/launcher.h \
	src/base/lfs_pointer.c src/base/lfs_pointer.h \
	src/base/log.c src/base/log.h \
	src/base/markup.c src/base/markup.h \
	src/base/names.c src/base/names.h \
	src/base/nearest.c src/base/nearest.h \
	src/base/new_file.c src/base/new_file.h \
	src/base/options.c src/base/options.h \
	src/base/pages.c src/base/pages.h \
	src/base/path.c src/base/path.h \
	src/base/plugins.c src/base/plugins.h \
	src/base/process.c src/base/process.h \
	src/base/progress.c src/base/progress.h \
	src/base/rng.c src/base/rng.h \
	src/base/signals.c src/base/signals.h \
	src/base/svg.c src/base/svg.h \
	src/base/terminal.c src/base/terminal.h \
	src/base/unfinished.c src/base/unfinished.h
