# Floor 7: the commands of programs that have several, one file each.
align_commands_sources = \
	src/commands/commands.h \
	src/commands/align_dictionary.c \
	src/commands/align_model.c \
	src/commands/align_score.c \
	src/commands/align_show.c \
	src/commands/align_symmetrise.c \
	src/commands/align_text.c \
	$(command_sources) $(pair_options_sources)
cooc_commands_sources = \
	src/commands/commands.h \
	src/commands/cooc_count.c \
	src/commands/cooc_export.c \
	src/commands/cooc_top.c \
	$(command_sources) $(pair_options_sources)
embed_commands_sources = \
	src/commands/commands.h \
	src/commands/embed_alignment.c \
	src/commands/embed_cca.c \
	src/commands/embed_dictionary.c \
	src/commands/embed_export.c \
	src/commands/embed_factorise.c \
	src/commands/embed_map.c \
	src/commands/embed_mine.c \
	src/commands/embed_neighbours.c \
	src/commands/embed_pca.c \
	src/commands/embed_procrustes.c \
	src/commands/embed_retrieval.c \
	src/commands/embed_similarity.c \
	$(command_sources) $(line_blocks_sources) $(pair_options_sources) $(space_inputs_sources) $(word_inputs_sources)
