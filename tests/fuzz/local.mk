# Fuzz targets, one program a reader, compiled from tests/fuzz/NAME.c. `make check` runs each on tests/fuzz/seeds/NAME and
# tests/fuzz/regressions/NAME; `make fuzz` looks for more inputs that fail: README.md beside this.
fuzz_targets = \
	tests/fuzz/adapter_config \
	tests/fuzz/added_words \
	tests/fuzz/aligner_model \
	tests/fuzz/alignment \
	tests/fuzz/bpe_codes \
	tests/fuzz/checkpoint \
	tests/fuzz/conllu \
	tests/fuzz/cooccurrence \
	tests/fuzz/corpus \
	tests/fuzz/curves \
	tests/fuzz/dictd \
	tests/fuzz/dictionary \
	tests/fuzz/entries \
	tests/fuzz/html \
	tests/fuzz/html_pairs \
	tests/fuzz/job_differences \
	tests/fuzz/labelled_text \
	tests/fuzz/line_form \
	tests/fuzz/links \
	tests/fuzz/map \
	tests/fuzz/matrices \
	tests/fuzz/model_config \
	tests/fuzz/numbered_sentences \
	tests/fuzz/order_weights \
	tests/fuzz/published \
	tests/fuzz/questions \
	tests/fuzz/rank_file \
	tests/fuzz/results \
	tests/fuzz/safetensors \
	tests/fuzz/scored_files \
	tests/fuzz/sentence_pairs \
	tests/fuzz/tagged_text \
	tests/fuzz/text \
	tests/fuzz/tmx \
	tests/fuzz/train_job \
	tests/fuzz/tune_job \
	tests/fuzz/vectors \
	tests/fuzz/vocabulary \
	tests/fuzz/vocabulary_file \
	tests/fuzz/vocabulary_languages \
	tests/fuzz/wet \
	tests/fuzz/word_lists
# What they share; its main() is for them alone, all other tests have their own.
check_LTLIBRARIES += tests/fuzz/libfuzz.la
tests_fuzz_libfuzz_la_SOURCES = \
	tests/fuzz/fuzz.c tests/fuzz/fuzz.h \
	tests/fuzz/fields_mutate.c \
	tests/fuzz/hdf5_change.c tests/fuzz/hdf5_change.h \
	tests/fuzz/hdf5_mutate.c \
	tests/fuzz/job_target.h \
	tests/fuzz/vocabulary_target.h \
	tests/fuzz/replay.c

if HAVE_CMOCKA
check_PROGRAMS += $(fuzz_targets)
endif
EXTRA_DIST += \
	tests/fuzz/campaigns.tsv \
	tests/fuzz/cases \
	tests/fuzz/clang.mk \
	tests/fuzz/hours.tsv \
	tests/fuzz/keep.sh \
	tests/fuzz/kept \
	tests/fuzz/lock.sh \
	tests/fuzz/messages.sh \
	tests/fuzz/regressions \
	tests/fuzz/run.sh \
	tests/fuzz/seeds

# make fuzz [SECONDS=60] [FUZZ='html conllu'] [FUZZ_JOBS=2] [CLANG=clang-14]; a campaign: [TOTAL=7200] [FUZZ_INPUTS=DIRECTORY]
SECONDS = 60
TOTAL = 0
FUZZ_INPUTS =
FUZZ = $(fuzz_targets:tests/fuzz/%=%)
FUZZ_JOBS = 0
CLANG = clang
fuzz_cppflags = $(DEFS) -I$(abs_top_builddir) -I$(abs_top_srcdir)/include -I$(abs_top_srcdir)/src \
	-I$(abs_top_srcdir)/tests/fuzz $(AM_CPPFLAGS)
.PHONY: fuzz
fuzz: all $(fuzz_targets)
	@$(tests_environment) SOURCES='$(libxlm_la_SOURCES)' CLANG='$(CLANG)' \
		CPPFLAGS='$(fuzz_cppflags)' XLM_FUZZ_TOTAL='$(TOTAL)' XLM_FUZZ_INPUTS='$(FUZZ_INPUTS)' \
		LIBS='$(libxlm_la_LIBADD) $(CMOCKA_LIBS)' $(XLM_BASH) $(srcdir)/tests/fuzz/run.sh $(SECONDS) $(FUZZ_JOBS) $(FUZZ)
# make fuzz-keep FUZZ_INPUTS=DIRECTORY: inputs and hours of a campaign into the repository, keep.sh.
.PHONY: fuzz-keep
fuzz-keep: $(fuzz_targets)
	@$(tests_environment) XLM_FUZZ_INPUTS='$(FUZZ_INPUTS)' \
		$(XLM_BASH) $(srcdir)/tests/fuzz/keep.sh $(fuzz_targets:tests/fuzz/%=%)
# make fuzz-messages: errors of readers that no replayed input reaches, messages.sh.
READERS = src/aligners/aligner_model.c src/aligners/alignment_file.c src/aligners/links.c src/aligners/sentence_pairs.c \
	src/retrieval/analogies.c src/maps/map.c src/vectors/named_vectors.c src/vectors/numbered_sentences.c \
	src/retrieval/scored_pairs.c src/vectors/vector_rows.c src/corpus/corpus_file.c src/foreign/safetensors.c \
	src/lexicon/cooccurrence.c src/lexicon/dictd.c src/lexicon/dictionary.c src/lexicon/entries.c \
	src/report/results.c src/report/sections_pictures.c src/store/store_attribute.c src/store/store_digest.c \
	src/store/store_file.c src/store/store_open.c src/store/store_read.c src/synthetic/order_weights.c src/tasks/labelled_text.c \
	src/tasks/question_text.c src/tasks/tagged_text.c src/bpe/codes.c src/formats/conllu.c src/text/fields.c \
	src/formats/html.c src/formats/html_pairs.c src/formats/json_file.c src/formats/line_form.c src/formats/tmx.c src/formats/wet.c \
	src/text/lines.c src/subwords/added_tokens.c src/subwords/vocabulary_change.c \
	src/subwords/vocabulary_store.c src/text/word_counts_file.c src/subwords/word_store.c src/model/model_file.c \
	src/checkpoint/rank_files.c src/translation_scores/scored_files.c
MESSAGE_TESTS =
.PHONY: fuzz-messages
fuzz-messages: all $(fuzz_targets) $(MESSAGE_TESTS)
	@$(tests_environment) OBJECTS='$(libxlm_la_OBJECTS)' COMPILE='$(COMPILE)' LINK='$(CC) $(AM_CFLAGS) $(CFLAGS)' \
		LIBS='$(libxlm_la_LIBADD)' READERS='$(READERS)' TESTS='$(FUZZ:%=tests/fuzz/%) $(MESSAGE_TESTS)' \
		$(XLM_BASH) $(srcdir)/tests/fuzz/messages.sh
clean-local: clean-manual
	-rm -rf fuzz valgrind
