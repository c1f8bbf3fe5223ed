# Floor 3: a model as a file: configuration, vocabulary, parameters.
model_sources = \
	src/model/checkpoint_names.c src/model/checkpoint_names.h \
	src/model/model_adapters.c src/model/model_adapters.h \
	src/model/model_attributes.c src/model/model_attributes.h \
	src/model/model_file.c src/model/model_file.h \
	src/model/model_mean.c src/model/model_mean.h \
	src/model/model_pair_form.c src/model/model_pair_form.h \
	src/model/model_rows.c src/model/model_rows.h \
	src/model/model_vocabulary.c src/model/model_vocabulary.h \
	src/model/row_sources.c src/model/row_sources.h
