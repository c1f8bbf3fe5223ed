# Floor 4: the host of objectives. Compiled a second time in double precision for gradient checks, but for what finds modules and
# reads files.
objective_sources = \
	src/objective/declaration.c \
	src/objective/host.c src/objective/host.h \
	src/objective/hosted.h src/objective/pass_input.h \
	src/objective/loss_weight.c src/objective/loss_weight.h \
	src/objective/metrics.c src/objective/metrics.h src/objective/sums.c src/objective/sums.h \
	src/objective/resources.c src/objective/resources.h \
	src/objective/state.h \
	src/objective/step_hooks.c \
	src/objective/view_text.c \
	src/objective/views.c src/objective/views.h
objective_file_sources = \
	src/objective/cooccurrence_reader.c \
	src/objective/dictionary_reader.c \
	src/objective/loss_plugins.c src/objective/loss_plugins.h \
	src/objective/readers.c src/objective/readers.h
# Of the double-precision library alone.
objective_double_sources = \
	src/objective/differences.c src/objective/differences.h \
	src/objective/loss_check.c \
	src/objective/loss_check_batch.c src/objective/loss_check_batch.h
