# Floor 5: fine-tuning, measuring and scoring models. A new task: its file, and its line in tasks.c.
tasks_sources = \
	src/tasks/alignment.c src/tasks/alignment.h \
	src/tasks/measure_alignment.c src/tasks/measure_alignment.h \
	src/tasks/predict.c src/tasks/predict.h \
	src/tasks/rank_correlation.c src/tasks/rank_correlation.h \
	src/tasks/sentence_vectors.c src/tasks/sentence_vectors.h \
	src/tasks/tag_scores.c src/tasks/tag_scores.h \
	src/tasks/tagged_text.c src/tasks/tagged_text.h \
	src/tasks/tagging.c \
	src/tasks/task.h \
	src/tasks/tasks.c \
	src/tasks/tune.c src/tasks/tune.h \
	src/tasks/tune_job.c src/tasks/tune_job.h \
	src/tasks/vector_file.c src/tasks/vector_file.h \
	src/tasks/word_vectors.c src/tasks/word_vectors.h
