# Floor 6: models of other programs, into our files and out of them.
foreign_sources = \
	src/foreign/adapter_directory.c src/foreign/adapter_directory.h \
	src/foreign/adapter_hub.c \
	src/foreign/adapter_modules.c \
	src/foreign/albert.c \
	src/foreign/architecture.h \
	src/foreign/architectures.c \
	src/foreign/bert.c \
	src/foreign/config_values.c \
	src/foreign/convert.h \
	src/foreign/export.c \
	src/foreign/foreign_vocabulary.c src/foreign/foreign_vocabulary.h \
	src/foreign/import.c \
	src/foreign/model_card.c src/foreign/model_card.h \
	src/foreign/modernbert.c \
	src/foreign/new_directory.c src/foreign/new_directory.h \
	src/foreign/peft.c \
	src/foreign/roberta.c \
	src/foreign/safetensors.c src/foreign/safetensors.h \
	src/foreign/safetensors_write.c \
	src/foreign/task_heads.c src/foreign/task_heads.h \
	src/foreign/translation.c \
	src/foreign/xlm.c
