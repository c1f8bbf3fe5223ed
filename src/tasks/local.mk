# Floor 5: measuring and scoring models.
tasks_sources = \
	src/tasks/alignment.c src/tasks/alignment.h \
	src/tasks/measure_alignment.c src/tasks/measure_alignment.h
