# Benchmarks: `make bench`, never part of `make check`. One table of ratios, in tests/bench/bench.txt too; nothing passes or
# fails.
# Some of them: make bench BENCHMARKS='tests/bench/step.sh tests/bench/peers/train.sh'
BENCHMARKS = \
	tests/bench/kernels.sh \
	tests/bench/step.sh \
	tests/bench/train.sh \
	tests/bench/memory.sh \
	tests/bench/order.sh \
	tests/bench/ranks.sh \
	tests/bench/search.sh \
	tests/bench/start.sh \
	tests/bench/crowded.sh \
	tests/bench/peers/train.sh \
	tests/bench/peers/bleu.sh \
	tests/bench/peers/xlm_code.sh \
	tests/bench/peers/simalign.sh \
	tests/bench/peers/muse.sh \
	tests/bench/peers/tsne.sh \
	tests/bench/peers/tensorboard.sh \
	tests/bench/network.sh \
	tests/bench/adapters.sh \
	tests/bench/alignment.sh \
	tests/bench/analysis.sh \
	tests/bench/architectures.sh \
	tests/bench/factorise.sh \
	tests/bench/bpe.sh \
	tests/bench/prep.sh \
	tests/bench/cooc.sh \
	tests/bench/model_links.sh \
	tests/bench/objectives.sh \
	tests/bench/tune.sh \
	tests/bench/word_alignment.sh
benchmark_programs = \
	tests/bench/alignment \
	tests/bench/answer_scores \
	tests/bench/bpe_run \
	tests/bench/cooc_table \
	tests/bench/evaluation \
	tests/bench/kernels \
	tests/bench/peak \
	tests/bench/search \
	tests/bench/step \
	tests/bench/vectors
EXTRA_PROGRAMS += $(benchmark_programs)
EXTRA_DIST += \
	tests/bench/adapters.sh \
	tests/bench/alignment.sh \
	tests/bench/analysis.sh \
	tests/bench/architectures.sh \
	tests/bench/factorise.sh \
	tests/bench/bpe.sh \
	tests/bench/cooc.sh \
	tests/bench/crowded.sh \
	tests/bench/first-side.c \
	tests/bench/kernels.sh \
	tests/bench/memory.sh \
	tests/bench/model_links.sh \
	tests/bench/netns_agent.sh \
	tests/bench/network.sh \
	tests/bench/objectives.sh \
	tests/bench/order.sh \
	tests/bench/page.sh \
	tests/bench/peers/analysis.py \
	tests/bench/peers/answers.py \
	tests/bench/peers/answers.sh \
	tests/bench/peers/bleu.py \
	tests/bench/peers/bleu.sh \
	tests/bench/peers/blas.sh \
	tests/bench/peers/check_dump.py \
	tests/bench/peers/cooc_records.py \
	tests/bench/peers/segmenters.py \
	tests/bench/peers/dump.sh \
	tests/bench/peers/event_points.py \
	tests/bench/peers/factorise.py \
	tests/bench/peers/simalign.sh \
	tests/bench/peers/simalign_links.py \
	tests/bench/peers/tensorboard.sh \
	tests/bench/peers/tokenizers.sh \
	tests/bench/peers/torch_train.py \
	tests/bench/peers/train.sh \
	tests/bench/peers/transformers.sh \
	tests/bench/peers/transformers_models.py \
	tests/bench/peers/translation.sh \
	tests/bench/peers/translation_models.py \
	tests/bench/peers/tsne.py \
	tests/bench/peers/tsne.sh \
	tests/bench/peers/xlm_code.py \
	tests/bench/peers/xlm_code.sh \
	tests/bench/prep.sh \
	tests/bench/words.awk \
	tests/bench/ranks.sh \
	tests/bench/peers/search.py \
	tests/bench/peers/muse.py \
	tests/bench/peers/muse.sh \
	tests/bench/roberta-8.sh \
	tests/bench/run.sh \
	tests/bench/search.sh \
	tests/bench/start.sh \
	tests/bench/step.sh \
	tests/bench/table.sh \
	tests/bench/train.sh \
	tests/bench/tune.sh \
	tests/bench/word_alignment.sh
CLEANFILES += $(benchmark_programs) tests/bench/bench.txt tests/bench/bench.tsv tests/bench/benchmarks.md \
	tests/bench/bench.log

.PHONY: bench
bench: all $(benchmark_programs)
	@$(tests_environment) $(XLM_BASH) $(srcdir)/tests/bench/run.sh $(BENCHMARKS:%=$(abs_srcdir)/%)

# docs/benchmarks.md: those beside the programs of others alone, in processor time. Variables that the scripts name say where these
# are; one that is not there has a row that says so.
page_benchmarks = \
	tests/bench/word_alignment.sh \
	tests/bench/peers/simalign.sh \
	tests/bench/cooc.sh \
	tests/bench/bpe.sh \
	tests/bench/peers/muse.sh \
	tests/bench/peers/bleu.sh \
	tests/bench/peers/train.sh
.PHONY: bench-page
bench-page: all $(benchmark_programs)
	@$(tests_environment) XLM_BENCH_BESIDE=1 $(XLM_BASH) $(srcdir)/tests/bench/run.sh $(page_benchmarks:%=$(abs_srcdir)/%)
	@$(XLM_BASH) $(srcdir)/tests/bench/page.sh tests/bench/bench.tsv >tests/bench/benchmarks.md
	mv tests/bench/benchmarks.md $(srcdir)/docs/benchmarks.md
