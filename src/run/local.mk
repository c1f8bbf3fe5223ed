# Floor 5: the loop of a run: resuming, reports, stopping, plans.
run_sources = \
	src/run/check_gradients.c src/run/check_gradients.h \
	src/run/curves.c src/run/curves.h \
	src/run/derivative.c src/run/derivative.h \
	src/run/dev_attention.c src/run/dev_attention.h \
	src/run/dev_translations.c src/run/dev_translations.h \
	src/run/events.c src/run/events.h \
	src/run/libraries.c src/run/libraries.h \
	src/run/measure.h \
	src/run/measures.c src/run/measures.h \
	src/run/metrics_file.c src/run/metrics_file.h \
	src/run/plan.c src/run/plan.h \
	src/run/rank_kernels.c src/run/rank_kernels.h \
	src/run/report.c src/run/report.h \
	src/run/resume.c src/run/resume.h \
	src/run/run.c src/run/run.h \
	src/run/run_inputs.c src/run/run_inputs.h \
	src/run/scoring.c src/run/scoring.h \
	src/run/stopping.c src/run/stopping.h \
	src/run/threads.c src/run/threads.h \
	src/run/time_left.c src/run/time_left.h \
	src/run/validation.h \
	src/run/warm_start.c src/run/warm_start.h
