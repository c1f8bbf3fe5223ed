# Floor 6: fine-tuning and scoring. A new task: its file, and its line in tasks.c.
tasks_sources = \
	src/tasks/answer_head.c src/tasks/answer_head.h \
	src/tasks/answer_reach.c src/tasks/answer_reach.h \
	src/tasks/answer_rules.c src/tasks/answer_rules.h \
	src/tasks/answer_scores.c src/tasks/answer_scores.h \
	src/tasks/answer_spans.c src/tasks/answer_spans.h \
	src/tasks/answer_text.c src/tasks/answer_text.h \
	src/tasks/answering.c \
	src/tasks/class_head.c src/tasks/class_head.h \
	src/tasks/classification.c \
	src/tasks/head_form.c src/tasks/head_form.h \
	src/tasks/labelled_text.c src/tasks/labelled_text.h \
	src/tasks/parallel_items.c src/tasks/parallel_items.h \
	src/tasks/predict.c src/tasks/predict.h \
	src/tasks/question_text.c src/tasks/question_text.h \
	src/tasks/results.c src/tasks/results.h \
	src/tasks/sources.c src/tasks/sources.h \
	src/tasks/tag_scores.c src/tasks/tag_scores.h \
	src/tasks/tagged_text.c src/tasks/tagged_text.h \
	src/tasks/tagging.c \
	src/tasks/task.h \
	src/tasks/task_scores.c \
	src/tasks/tasks.c \
	src/tasks/tune.c src/tasks/tune.h \
	src/tasks/tune_job.c src/tasks/tune_job.h
