# Floor 6: fine-tuning and scoring. A new task: its file, and its line in tasks.c.
tasks_sources = \
	src/tasks/predict.c src/tasks/predict.h \
	src/tasks/results.c src/tasks/results.h \
	src/tasks/sources.c src/tasks/sources.h \
	src/tasks/tag_scores.c src/tasks/tag_scores.h \
	src/tasks/tagged_text.c src/tasks/tagged_text.h \
	src/tasks/tagging.c \
	src/tasks/task.h \
	src/tasks/tasks.c \
	src/tasks/tune.c src/tasks/tune.h \
	src/tasks/tune_job.c src/tasks/tune_job.h
