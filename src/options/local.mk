# Floor 0: what users set: job files, tables of options, plugins.
options_sources = \
	src/options/jobfile.c src/options/jobfile.h \
	src/options/nearest.c src/options/nearest.h \
	src/options/options.c src/options/options.h \
	src/options/piecewise.c src/options/piecewise.h \
	src/options/plugins.c src/options/plugins.h
