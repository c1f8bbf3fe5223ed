# Floor 4: the host of objectives.
objective_sources = \
	src/objective/declaration.c src/objective/declaration.h \
	src/objective/metrics.c src/objective/metrics.h \
	src/objective/plugins.c src/objective/plugins.h \
	src/objective/resources.c src/objective/resources.h
