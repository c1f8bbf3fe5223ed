# Tests that run the programs as a user would.
# The longest first; the others in the order of the alphabet.
test_scripts += \
	tests/cli/seq2seq.sh \
	tests/cli/tune.sh \
	tests/cli/adapters.sh \
	tests/cli/train_ranks.sh \
	tests/cli/train_plugin.sh \
	tests/cli/train_resume.sh \
	tests/cli/align_score.sh \
	tests/cli/align_symmetrise.sh \
	tests/cli/align_text.sh \
	tests/cli/answer.sh \
	tests/cli/average.sh \
	tests/cli/benchmarks.sh \
	tests/cli/bleu.sh \
	tests/cli/classify.sh \
	tests/cli/compare.sh \
	tests/cli/convert.sh \
	tests/cli/cooc.sh \
	tests/cli/documents.sh \
	tests/cli/embed_similarity.sh \
	tests/cli/embed_spaces.sh \
	tests/cli/floors.sh \
	tests/cli/hardening.sh \
	tests/cli/licences.sh \
	tests/cli/objectives_together.sh \
	tests/cli/old_files.sh \
	tests/cli/other_script.sh \
	tests/cli/prep.sh \
	tests/cli/prep_errors.sh \
	tests/cli/prep_like.sh \
	tests/cli/progress_lines.sh \
	tests/cli/release_files.sh \
	tests/cli/report.sh \
	tests/cli/spearman.sh \
	tests/cli/terminal.sh \
	tests/cli/tokenizer_xlm.sh \
	tests/cli/train_errors.sh \
	tests/cli/translate.sh \
	tests/cli/trust.sh \
	tests/cli/tutorial.sh
# Of `make check-all` alone: studies and recipes, the commands and the manual of docs/, and more of what other scripts begin with.
check_all_scripts += \
	tests/cli/document_commands.sh \
	tests/cli/paper_jobs.sh \
	tests/cli/study.sh \
	tests/cli/small_studies.sh \
	tests/cli/recipe.sh \
	tests/cli/architectures.sh \
	tests/cli/growth.sh \
	tests/cli/train_precision.sh \
	tests/cli/stage.sh \
	tests/cli/mass.sh \
	tests/cli/back_translation.sh \
	tests/cli/train_dictionary.sh \
	tests/cli/train_jobs.sh \
	tests/cli/embed_ranks.sh \
	tests/cli/mad_x.sh \
	tests/cli/align_corpus.sh \
	tests/cli/align_dictionary.sh \
	tests/cli/align_mlm_jobs.sh \
	tests/cli/align_model.sh \
	tests/cli/align_show.sh \
	tests/cli/bootstrap.sh \
	tests/cli/compare_runs.sh \
	tests/cli/completion.sh \
	tests/cli/convert_vocabulary.sh \
	tests/cli/debian_text.sh \
	tests/cli/derive.sh \
	tests/cli/derive_conllu.sh \
	tests/cli/derive_syntax.sh \
	tests/cli/dict.sh \
	tests/cli/dwa.sh \
	tests/cli/embed.sh \
	tests/cli/embed_map.sh \
	tests/cli/embed_measures.sh \
	tests/cli/embed_mine.sh \
	tests/cli/estimates.sh \
	tests/cli/factorise.sh \
	tests/cli/fill.sh \
	tests/cli/fuzz_keep.sh \
	tests/cli/fuzz_run.sh \
	tests/cli/gc.sh \
	tests/cli/languages.sh \
	tests/cli/made_text.sh \
	tests/cli/manual.sh \
	tests/cli/measure.sh \
	tests/cli/moco.sh \
	tests/cli/noise.sh \
	tests/cli/objectives.sh \
	tests/cli/overwrite.sh \
	tests/cli/packaging.sh \
	tests/cli/pair_html.sh \
	tests/cli/plugin_mistakes.sh \
	tests/cli/progress.sh \
	tests/cli/simcse.sh \
	tests/cli/small_tasks.sh \
	tests/cli/submission.sh \
	tests/cli/tokenizer.sh \
	tests/cli/tokenizer_export.sh \
	tests/cli/train_dump.sh \
	tests/cli/train_schedules.sh \
	tests/cli/train_start.sh \
	tests/cli/train_translate.sh \
	tests/cli/translation_jobs.sh \
	tests/cli/translation_models.sh \
	tests/cli/tune_grid.sh \
	tests/cli/tune_jobs.sh \
	tests/cli/tune_settings.sh \
	tests/cli/weam.sh \
	tests/cli/weights.sh \
	tests/cli/without_cmocka.sh \
	tests/cli/word_masks.sh
# What fastBPE makes of a text: by default, and with a vocabulary. Read by tests/unit/text_bpe_test.c too.
EXTRA_DIST += \
	tests/cli/fastbpe_known_answers/codes \
	tests/cli/fastbpe_known_answers/segmented \
	tests/cli/fastbpe_known_answers/segmented_limited \
	tests/cli/fastbpe_known_answers/text \
	tests/cli/fastbpe_known_answers/vocabulary
# A corpus and a checkpoint that an older version has written.
EXTRA_DIST += \
	tests/cli/old_files/checkpoint.h5.gz \
	tests/cli/old_files/corpus.h5.gz \
	tests/cli/old_files/job.conf \
	tests/cli/old_files/make \
	tests/cli/old_files/metrics.csv
# An objective of somebody else, compiled by train_plugin.sh.
nobase_dist_doc_DATA += tests/plugins/pull-together.c tests/plugins/stand-still.c
# Objectives with labels, averages, queues, sides of pairs, compiled by objectives.sh.
nobase_dist_doc_DATA += tests/plugins/contrast.c tests/plugins/distil.c tests/plugins/sides.c
# Two dropout masks of a text, compiled by simcse.sh.
nobase_dist_doc_DATA += tests/plugins/simcse.c
# Stages of streams and what reads their annotations, compiled by stage.sh.
nobase_dist_doc_DATA += tests/plugins/sentence-order.c tests/plugins/order-prediction.c tests/plugins/spans.c
# Noise that changes the number of tokens, and an objective that makes a text, compiled by noise.sh and made_text.sh.
nobase_dist_doc_DATA += tests/plugins/echo.c tests/plugins/muffle.c

# `make install` links programs and objectives again for their places, and each is missing in the build for a moment meanwhile:
# it is tested when all scripts have ended, and tests/fuzz/train_job, which loads the objectives of jobs. Other programs of tests
# need neither.
install_test = tests/cli/install.sh
EXTRA_DIST += $(install_test)
tests/cli/install.log: $(filter $(test_scripts:.sh=.log) $(check_all_scripts:.sh=.log) tests/fuzz/train_job.log,$(TEST_LOGS))
