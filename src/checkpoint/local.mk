# Floor 5: checkpoints of a run: files, snapshots, locks.
checkpoint_sources = \
	src/checkpoint/checkpoint.h \
	src/checkpoint/checkpoint_check.c src/checkpoint/checkpoint_check.h \
	src/checkpoint/checkpoint_files.c \
	src/checkpoint/checkpoint_mean.c src/checkpoint/checkpoint_mean.h \
	src/checkpoint/checkpoint_read.c \
	src/checkpoint/checkpoint_write.c \
	src/checkpoint/objective_arrays.c src/checkpoint/objective_arrays.h \
	src/checkpoint/output_lock.c src/checkpoint/output_lock.h \
	src/checkpoint/rank_files.c src/checkpoint/rank_files.h \
	src/checkpoint/run_files.c src/checkpoint/run_files.h \
	src/checkpoint/snapshot.c src/checkpoint/snapshot.h \
	src/checkpoint/snapshot_child.c \
	src/checkpoint/snapshot_internal.h \
	src/checkpoint/start_record.c src/checkpoint/start_record.h
