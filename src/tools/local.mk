# Floor 7: the programs, one thin main each. They are built at the top of the build directory.
bin_PROGRAMS += \
	xlm_align \
	xlm_bleu \
	xlm_compare \
	xlm_convert \
	xlm_cooc \
	xlm_dict \
	xlm_embed \
	xlm_eval \
	xlm_fill \
	xlm_prep \
	xlm_report \
	xlm_spearman \
	xlm_train \
	xlm_translate \
	xlm_tune
# Called by jobs/corpora.
pkglibexec_PROGRAMS += \
	xlm_pair_html

program_libraries = $(LIBXLM_LDFLAGS) libxlm.la $(HDF5_LIBS) $(MPI_LIBS) $(GLIB_LIBS)

xlm_align_SOURCES = src/tools/xlm_align.c $(align_commands_sources)
xlm_align_LDADD = $(program_libraries)
xlm_bleu_SOURCES = src/tools/xlm_bleu.c $(program_sources)
xlm_bleu_LDADD = $(program_libraries) $(JANSSON_LIBS)
xlm_compare_SOURCES = src/tools/xlm_compare.c $(program_sources)
xlm_compare_LDADD = $(program_libraries)
xlm_convert_SOURCES = src/tools/xlm_convert.c $(program_sources)
xlm_convert_LDADD = $(program_libraries)
xlm_cooc_SOURCES = src/tools/xlm_cooc.c $(cooc_commands_sources)
xlm_cooc_LDADD = $(program_libraries)
xlm_dict_SOURCES = src/tools/xlm_dict.c $(program_sources)
xlm_dict_LDADD = $(program_libraries)
xlm_embed_SOURCES = src/tools/xlm_embed.c $(embed_commands_sources)
xlm_embed_LDADD = $(program_libraries)
xlm_eval_SOURCES = src/tools/xlm_eval.c $(program_sources)
xlm_eval_LDADD = $(program_libraries)
xlm_fill_SOURCES = src/tools/xlm_fill.c $(program_sources)
xlm_fill_LDADD = $(program_libraries)
xlm_pair_html_SOURCES = src/tools/xlm_pair_html.c $(program_sources)
xlm_pair_html_LDADD = $(program_libraries)
xlm_spearman_SOURCES = src/tools/xlm_spearman.c $(program_sources)
xlm_spearman_LDADD = $(program_libraries)
xlm_prep_SOURCES = src/tools/xlm_prep.c $(program_sources)
xlm_prep_LDADD = $(program_libraries)
xlm_report_SOURCES = src/tools/xlm_report.c $(program_sources)
xlm_report_LDADD = $(program_libraries)
xlm_train_SOURCES = src/tools/xlm_train.c $(job_program_sources)
xlm_train_LDADD = $(program_libraries)
xlm_translate_SOURCES = src/tools/xlm_translate.c $(line_blocks_sources) $(program_sources)
xlm_translate_LDADD = $(program_libraries)
xlm_tune_SOURCES = src/tools/xlm_tune.c $(job_program_sources)
xlm_tune_LDADD = $(program_libraries)
