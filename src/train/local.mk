# Floor 5: the engine and the step, estimates, evaluation, step dumps.
train_sources = \
	src/train/arithmetic.c src/train/arithmetic.h \
	src/train/averages.c src/train/averages.h \
	src/train/cost.c src/train/cost.h \
	src/train/dump.c src/train/dump.h \
	src/train/dump_step.c src/train/dump_step.h \
	src/train/engine.c src/train/engine.h src/train/engine_internal.h \
	src/train/evaluate.c src/train/evaluate.h \
	src/train/gemm_trial.c src/train/gemm_trial.h \
	src/train/hooks.c src/train/hooks.h \
	src/train/memory.c src/train/memory.h \
	src/train/micro_batches.c src/train/micro_batches.h \
	src/train/step.c \
	src/train/workspace.h
