# Unit tests (cmocka), one program a module, compiled from tests/unit/NAME.c.
unit_tests = \
	tests/unit/encoder_float_test \
	tests/unit/fused_float_test \
	tests/unit/recompute_float_test \
	tests/unit/row_operators_float_test \
	tests/unit/search_float_test \
	tests/unit/similarity_float_test \
	tests/unit/aligners_test \
	tests/unit/alignments_test \
	tests/unit/answer_rules_test \
	tests/unit/answer_targets_test \
	tests/unit/answering_test \
	tests/unit/activation_kernels_test \
	tests/unit/attention_kernels_test \
	tests/unit/causal_attention_test \
	tests/unit/classification_test \
	tests/unit/corpus_test \
	tests/unit/derivative_test \
	tests/unit/dictionary_test \
	tests/unit/events_test \
	tests/unit/examples_test \
	tests/unit/exhaustion_test \
	tests/unit/fertility_test \
	tests/unit/packed_test \
	tests/unit/feed_forward_test \
	tests/unit/rounded_test \
	tests/unit/vocabulary_blocks_test \
	tests/unit/batch_sizes_test \
	tests/unit/bfloat16_gradients_test \
	tests/unit/micro_batches_test \
	tests/unit/gemm_choice_test \
	tests/unit/hardware_test \
	tests/unit/html_test \
	tests/unit/gelu_kernels_test \
	tests/unit/kernels_test \
	tests/unit/position_kernels_test \
	tests/unit/rounding_kernels_test \
	tests/unit/symmetrise_test \
	tests/unit/synthetic_test \
	tests/unit/link_matrix_test \
	tests/unit/filter_test \
	tests/unit/fragment_test \
	tests/unit/word_masking_test \
	tests/unit/masking_test \
	tests/unit/measures_test \
	tests/unit/noise_test \
	tests/unit/near_words_test \
	tests/unit/optimiser_test \
	tests/unit/pair_batches_test \
	tests/unit/pair_runs_test \
	tests/unit/patterns_test \
	tests/unit/permute_test \
	tests/unit/piecewise_test \
	tests/unit/places_test \
	tests/unit/published_added_test \
	tests/unit/published_bytes_test \
	tests/unit/published_sentencepiece_test \
	tests/unit/published_wordpiece_test \
	tests/unit/published_xlm_test \
	tests/unit/question_text_test \
	tests/unit/options_test \
	tests/unit/archive_test \
	tests/unit/prepare_test \
	tests/unit/progress_test \
	tests/unit/rng_test \
	tests/unit/row_sources_test \
	tests/unit/safetensors_test \
	tests/unit/sampler_test \
	tests/unit/segmenter_test \
	tests/unit/sentencepiece_cut_test \
	tests/unit/store_test \
	tests/unit/stream_properties_test \
	tests/unit/job_streams_test \
	tests/unit/stream_test \
	tests/unit/tagging_test \
	tests/unit/translation_test \
	tests/unit/translation_scores_test \
	tests/unit/tsne_test \
	tests/unit/tensor_test \
	tests/unit/text_bpe_test \
	tests/unit/text_normalise_test \
	tests/unit/text_vocabulary_test \
	tests/unit/text_words_test
# What several of them share.
unit_headers = \
	tests/unit/adapter_fixture.h \
	tests/unit/aligner_fixture.h \
	tests/unit/architecture_fixture.h \
	tests/unit/batch_fixture.h \
	tests/unit/kernel_rows_fixture.h \
	tests/unit/kernels_fixture.h \
	tests/unit/corpus_fixture.h \
	tests/unit/files_fixture.h \
	tests/unit/gradient.h \
	tests/unit/host_fixture.h \
	tests/unit/hostile.h \
	tests/unit/model_fixture.h \
	tests/unit/places_fixture.h \
	tests/unit/published_fixture.h \
	tests/unit/question_fixture.h \
	tests/unit/stream_fixture.h \
	tests/unit/text_fixture.h \
	tests/unit/textbook.h \
	tests/unit/vocabulary_fixture.h
# Tests of the numeric floors in double precision: gradients against central differences. Two more lines each.
double_tests = \
	tests/unit/adapter_test \
	tests/unit/bottleneck_test \
	tests/unit/answer_head_test \
	tests/unit/class_head_test \
	tests/unit/attention_test \
	tests/unit/back_translation_test \
	tests/unit/decoder_test \
	tests/unit/encoder_test \
	tests/unit/fused_test \
	tests/unit/gc_test \
	tests/unit/gradient_test \
	tests/unit/host_test \
	tests/unit/loss_check_test \
	tests/unit/losses_test \
	tests/unit/mass_test \
	tests/unit/moco_test \
	tests/unit/model_test \
	tests/unit/predict_test \
	tests/unit/recompute_test \
	tests/unit/row_operators_test \
	tests/unit/search_test \
	tests/unit/similarity_test \
	tests/unit/sop_test \
	tests/unit/views_test \
	tests/unit/weam_test
double_flags = $(AM_CPPFLAGS) -DXLM_DOUBLE
double_libraries = libxlm_double.la $(BLIS_LIBS) $(GLIB_LIBS) $(CMOCKA_LIBS)

EXTRA_DIST += $(unit_headers)
if HAVE_CMOCKA
check_PROGRAMS += $(unit_tests) $(double_tests)
endif
# The same tests in the precision of the programs.
tests_unit_encoder_float_test_SOURCES = tests/unit/encoder_test.c
tests_unit_fused_float_test_SOURCES = tests/unit/fused_test.c
tests_unit_recompute_float_test_SOURCES = tests/unit/recompute_test.c
tests_unit_row_operators_float_test_SOURCES = tests/unit/row_operators_test.c
tests_unit_search_float_test_SOURCES = tests/unit/search_test.c
tests_unit_similarity_float_test_SOURCES = tests/unit/similarity_test.c
tests_unit_adapter_test_CPPFLAGS = $(double_flags)
tests_unit_adapter_test_LDADD = $(double_libraries)
tests_unit_bottleneck_test_CPPFLAGS = $(double_flags)
tests_unit_bottleneck_test_LDADD = $(double_libraries)
tests_unit_answer_head_test_SOURCES = tests/unit/answer_head_test.c src/tasks/answer_head.c src/tasks/answer_spans.c \
	src/tasks/head_form.c
tests_unit_answer_head_test_CPPFLAGS = $(double_flags)
tests_unit_answer_head_test_LDADD = $(double_libraries)
tests_unit_class_head_test_SOURCES = tests/unit/class_head_test.c src/tasks/class_head.c src/tasks/head_form.c
tests_unit_class_head_test_CPPFLAGS = $(double_flags)
tests_unit_class_head_test_LDADD = $(double_libraries)
tests_unit_attention_test_CPPFLAGS = $(double_flags)
tests_unit_attention_test_LDADD = $(double_libraries)
tests_unit_back_translation_test_CPPFLAGS = $(double_flags)
tests_unit_back_translation_test_LDADD = $(double_libraries)
tests_unit_decoder_test_CPPFLAGS = $(double_flags)
tests_unit_decoder_test_LDADD = $(double_libraries)
tests_unit_encoder_test_CPPFLAGS = $(double_flags)
tests_unit_encoder_test_LDADD = $(double_libraries)
tests_unit_fused_test_CPPFLAGS = $(double_flags)
tests_unit_fused_test_LDADD = $(double_libraries)
tests_unit_gc_test_CPPFLAGS = $(double_flags)
tests_unit_gc_test_LDADD = $(double_libraries)
tests_unit_gradient_test_CPPFLAGS = $(double_flags)
tests_unit_gradient_test_LDADD = $(double_libraries)
tests_unit_host_test_CPPFLAGS = $(double_flags)
tests_unit_host_test_LDADD = $(double_libraries)
tests_unit_loss_check_test_CPPFLAGS = $(double_flags)
tests_unit_loss_check_test_LDADD = $(double_libraries)
tests_unit_losses_test_CPPFLAGS = $(double_flags)
tests_unit_losses_test_LDADD = $(double_libraries)
tests_unit_mass_test_CPPFLAGS = $(double_flags)
tests_unit_mass_test_LDADD = $(double_libraries)
tests_unit_moco_test_CPPFLAGS = $(double_flags)
tests_unit_moco_test_LDADD = $(double_libraries)
tests_unit_model_test_CPPFLAGS = $(double_flags)
tests_unit_model_test_LDADD = $(double_libraries)
tests_unit_predict_test_SOURCES = tests/unit/predict_test.c src/tasks/predict.c
tests_unit_predict_test_CPPFLAGS = $(double_flags)
tests_unit_predict_test_LDADD = $(double_libraries)
tests_unit_recompute_test_CPPFLAGS = $(double_flags)
tests_unit_recompute_test_LDADD = $(double_libraries)
tests_unit_row_operators_test_CPPFLAGS = $(double_flags)
tests_unit_row_operators_test_LDADD = $(double_libraries)
tests_unit_search_test_CPPFLAGS = $(double_flags)
tests_unit_search_test_LDADD = $(double_libraries)
tests_unit_similarity_test_CPPFLAGS = $(double_flags)
tests_unit_similarity_test_LDADD = $(double_libraries)
tests_unit_sop_test_CPPFLAGS = $(double_flags)
tests_unit_sop_test_LDADD = $(double_libraries)
tests_unit_views_test_CPPFLAGS = $(double_flags)
tests_unit_views_test_LDADD = $(double_libraries)
tests_unit_weam_test_CPPFLAGS = $(double_flags)
tests_unit_weam_test_LDADD = $(double_libraries)
