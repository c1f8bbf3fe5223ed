# Floor 5: jobs, optimisers, the step, checkpoints, plans.
train_sources = \
	src/train/arithmetic.c src/train/arithmetic.h \
	src/train/averages.c src/train/averages.h \
	src/train/check_gradients.c src/train/check_gradients.h \
	src/train/checkpoint.h \
	src/train/checkpoint_check.c src/train/checkpoint_check.h \
	src/train/checkpoint_files.c src/train/checkpoint_files.h \
	src/train/checkpoint_mean.c src/train/checkpoint_mean.h \
	src/train/checkpoint_names.c src/train/checkpoint_names.h \
	src/train/checkpoint_read.c \
	src/train/checkpoint_write.c \
	src/train/curves.c src/train/curves.h \
	src/train/data.h \
	src/train/derivative.c src/train/derivative.h \
	src/train/dump.c src/train/dump.h \
	src/train/dump_step.c src/train/dump_step.h \
	src/train/engine.c src/train/engine.h src/train/engine_internal.h \
	src/train/evaluate.c src/train/evaluate.h \
	src/train/gemm_trial.c src/train/gemm_trial.h \
	src/train/hooks.c src/train/hooks.h \
	src/train/job.c src/train/job.h \
	src/train/job_changes.c src/train/job_changes.h \
	src/train/job_record.c src/train/job_record.h \
	src/train/job_streams.c src/train/job_streams.h \
	src/train/memory.c src/train/memory.h \
	src/train/micro_batches.c src/train/micro_batches.h \
	src/train/model_attributes.c src/train/model_attributes.h \
	src/train/model_file.c src/train/model_file.h \
	src/train/model_rows.c src/train/model_rows.h \
	src/train/model_vocabulary.c src/train/model_vocabulary.h \
	src/train/objective_arrays.c src/train/objective_arrays.h \
	src/train/optimiser.c src/train/optimiser.h \
	src/train/output_lock.c src/train/output_lock.h \
	src/train/plan.c src/train/plan.h \
	src/train/rank_files.c src/train/rank_files.h \
	src/train/rates.c src/train/rates.h \
	src/train/report.c src/train/report.h \
	src/train/resume.c src/train/resume.h \
	src/train/row_sources.c src/train/row_sources.h \
	src/train/run.c src/train/run.h src/train/run_progress.h \
	src/train/snapshot.c src/train/snapshot.h \
	src/train/snapshot_child.c src/train/snapshot_child.h \
	src/train/start_record.c src/train/start_record.h \
	src/train/step.c \
	src/train/stopping.c src/train/stopping.h \
	src/train/threads.c src/train/threads.h \
	src/train/warm_start.c src/train/warm_start.h \
	src/train/warm_start_model.c src/train/warm_start_model.h \
	src/train/workspace.h
