# Benchmarks: `make bench`, never part of `make check`. They print numbers; they do not judge.
benchmarks = \
	tests/bench/bpe.sh \
	tests/bench/dump.sh \
	tests/bench/kernels.sh \
	tests/bench/network.sh \
	tests/bench/peers.sh \
	tests/bench/step.sh \
	tests/bench/train.sh
benchmark_programs = \
	tests/bench/alignment \
	tests/bench/bpe_run \
	tests/bench/kernels \
	tests/bench/step
EXTRA_PROGRAMS += $(benchmark_programs)
EXTRA_DIST += $(benchmarks) \
	tests/bench/netns_agent.sh \
	tests/bench/roberta-8.sh \
	tests/bench/peers/check_dump.py \
	tests/bench/peers/torch_train.py
CLEANFILES += $(benchmark_programs)

.PHONY: bench
bench: all $(benchmark_programs)
	@$(AM_TESTS_ENVIRONMENT) status=0; for benchmark in $(benchmarks); do \
	  echo "== $$benchmark"; $(BASH) $(srcdir)/$$benchmark || status=1; done; exit $$status
