# Floor 5: training jobs: what a run is to do.
job_sources = \
	src/job/adapters.c src/job/adapters.h \
	src/job/data.h \
	src/job/job.c src/job/job.h \
	src/job/job_changes.c src/job/job_changes.h \
	src/job/job_record.c src/job/job_record.h \
	src/job/job_streams.c src/job/job_streams.h \
	src/job/optimiser.c src/job/optimiser.h \
	src/job/rank_inputs.c src/job/rank_inputs.h \
	src/job/rates.c src/job/rates.h \
	src/job/translation_pairs.c src/job/translation_pairs.h \
	src/job/warm_start_model.c src/job/warm_start_model.h
