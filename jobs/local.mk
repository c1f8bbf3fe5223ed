# Jobs: scripts that fetch text, job files, and the demonstration. Installed in the same layout.
nobase_dist_pkgdata_DATA = \
	jobs/align-mlm/align-mlm.conf \
	jobs/align-mlm/dict-mlm.conf \
	jobs/align-mlm/mlm.conf \
	jobs/align-mlm/ner.conf \
	jobs/align-mlm/pos.conf \
	jobs/align-mlm/small/align-mlm.conf \
	jobs/align-mlm/small/dict-mlm.conf \
	jobs/align-mlm/small/mlm.conf \
	jobs/align-mlm/small/pos.conf \
	jobs/align-mlm/small/xlm.conf \
	jobs/align-mlm/xlm.conf \
	jobs/align-mlm/xnli.conf \
	jobs/architectures/small/mlm-modern.conf \
	jobs/architectures/small/mlm-pre.conf \
	jobs/combinations/rows.csv \
	jobs/demo/demo.conf \
	jobs/masks/small/mlm-ngram.conf \
	jobs/masks/small/mlm-span.conf \
	jobs/masks/small/mlm-word.conf \
	jobs/mad-x/language.conf \
	jobs/mad-x/ner.conf \
	jobs/mad-x/small/language.conf \
	jobs/mad-x/small/pos.conf \
	jobs/mlm-gc/albert-gc.conf \
	jobs/mlm-gc/albert-sop.conf \
	jobs/mlm-gc/albert.conf \
	jobs/mlm-gc/mass-gc.conf \
	jobs/mlm-gc/mass.conf \
	jobs/mlm-gc/mlqa.conf \
	jobs/mlm-gc/small/gc-embedding.conf \
	jobs/mlm-gc/small/gc.conf \
	jobs/mlm-gc/squad1.conf \
	jobs/mlm-gc/squad2.conf \
	jobs/mlm-gc/unmt-mass.conf \
	jobs/mlm-gc/unmt.conf \
	jobs/mlm-gc/xlm-gc.conf \
	jobs/mlm-gc/xlm-tlm-gc.conf \
	jobs/mlm-gc/xlm-tlm.conf \
	jobs/mlm-gc/xlm.conf \
	jobs/mlm-gc/xnli.conf \
	jobs/ppa/mlm.conf \
	jobs/ppa/mlqa-translate-train.conf \
	jobs/ppa/mlqa.conf \
	jobs/ppa/no-moco.conf \
	jobs/ppa/no-tlm.conf \
	jobs/ppa/ppa.conf \
	jobs/ppa/small/moco.conf \
	jobs/ppa/xnli-translate-train.conf \
	jobs/ppa/xnli.conf \
	jobs/pretraining.sh \
	jobs/recipes/dictionary.conf \
	jobs/recipes/model.conf \
	jobs/recipes/pairs.conf \
	jobs/recipes/text.conf \
	jobs/recipes/train.conf \
	jobs/roberta-8.conf \
	jobs/runs.sh \
	jobs/small/align.conf \
	jobs/small/mlm.conf \
	jobs/small/model.conf \
	jobs/small/stream-pairs.conf \
	jobs/small/stream-text.conf \
	jobs/small/tlm.conf \
	jobs/small/train.conf \
	jobs/translation.sh \
	jobs/translation/base-back.conf \
	jobs/translation/base.conf \
	jobs/translation/small/align.conf \
	jobs/translation/small/back.conf \
	jobs/translation/small/clm.conf \
	jobs/translation/small/denoise.conf \
	jobs/translation/small/evaluate.conf \
	jobs/translation/small/gc.conf \
	jobs/translation/small/mass.conf \
	jobs/translation/small/mlm.conf \
	jobs/translation/small/model.conf \
	jobs/translation/small/nmt.conf \
	jobs/translation/small/stream-fragments.conf \
	jobs/translation/small/stream-noisy.conf \
	jobs/translation/small/stream-pairs.conf \
	jobs/translation/small/stream-sentences.conf \
	jobs/translation/small/stream-text.conf \
	jobs/translation/small/train.conf \
	jobs/weam/mlqa.conf \
	jobs/weam/small/weam.conf \
	jobs/weam/tlm.conf \
	jobs/weam/weam.conf \
	jobs/weam/xnli.conf \
	jobs/xlm-align/ablation-mlm.conf \
	jobs/xlm-align/ablation-no-dwa.conf \
	jobs/xlm-align/ablation-no-tlm.conf \
	jobs/xlm-align/ablation.conf \
	jobs/xlm-align/mlqa.conf \
	jobs/xlm-align/ner.conf \
	jobs/xlm-align/paws-x.conf \
	jobs/xlm-align/pos.conf \
	jobs/xlm-align/small/dwa-all-aligned.conf \
	jobs/xlm-align/small/dwa-unfiltered.conf \
	jobs/xlm-align/small/dwa-unmasked.conf \
	jobs/xlm-align/small/dwa.conf \
	jobs/xlm-align/tydiqa.conf \
	jobs/xlm-align/xlm-align.conf \
	jobs/xlm-align/xnli.conf \
	jobs/xlm-align/xquad.conf \
	jobs/mmbert-base.conf \
	jobs/xlm-r-base.conf

# Run by `make demo` in the build tree, or by users where it is installed.
demodir = $(pkgdatadir)/jobs/demo
dist_demo_SCRIPTS = jobs/demo/demo

# Measures any checkpoint; fine-tunes over a grid. These and the others find the programs in PATH, or where both were installed.
jobsdir = $(pkgdatadir)/jobs
dist_jobs_SCRIPTS = jobs/grid jobs/measure
align_mlmdir = $(pkgdatadir)/jobs/align-mlm
dist_align_mlm_SCRIPTS = jobs/align-mlm/corpora jobs/align-mlm/study
align_mlm_smalldir = $(align_mlmdir)/small
dist_align_mlm_small_SCRIPTS = jobs/align-mlm/small/study

# The pre-training runs of papers.
mlm_gcdir = $(pkgdatadir)/jobs/mlm-gc
dist_mlm_gc_SCRIPTS = jobs/mlm-gc/study jobs/mlm-gc/unmt
ppadir = $(pkgdatadir)/jobs/ppa
dist_ppa_SCRIPTS = jobs/ppa/study
weamdir = $(pkgdatadir)/jobs/weam
dist_weam_SCRIPTS = jobs/weam/study
xlm_aligndir = $(pkgdatadir)/jobs/xlm-align
dist_xlm_align_SCRIPTS = jobs/xlm-align/study

# The studies with small models, and objectives of several papers together.
smalldir = $(pkgdatadir)/jobs/small
dist_small_SCRIPTS = jobs/small/study jobs/small/tasks
architectures_smalldir = $(pkgdatadir)/jobs/architectures/small
dist_architectures_small_SCRIPTS = jobs/architectures/small/study
mad_x_smalldir = $(pkgdatadir)/jobs/mad-x/small
dist_mad_x_small_SCRIPTS = jobs/mad-x/small/study
masks_smalldir = $(pkgdatadir)/jobs/masks/small
dist_masks_small_SCRIPTS = jobs/masks/small/study
mlm_gc_smalldir = $(mlm_gcdir)/small
dist_mlm_gc_small_SCRIPTS = jobs/mlm-gc/small/study
ppa_smalldir = $(ppadir)/small
dist_ppa_small_SCRIPTS = jobs/ppa/small/study
weam_smalldir = $(weamdir)/small
dist_weam_small_SCRIPTS = jobs/weam/small/study
xlm_align_smalldir = $(xlm_aligndir)/small
dist_xlm_align_small_SCRIPTS = jobs/xlm-align/small/study
translation_smalldir = $(pkgdatadir)/jobs/translation/small
dist_translation_small_SCRIPTS = jobs/translation/small/study
combinationsdir = $(pkgdatadir)/jobs/combinations
dist_combinations_SCRIPTS = jobs/combinations/compare jobs/combinations/growth jobs/combinations/study

# From text to the job that suits it.
recipesdir = $(pkgdatadir)/jobs/recipes
dist_recipes_SCRIPTS = jobs/recipes/recipe

# The installed script knows where xlm_pair_html was installed; in the build tree it is two folders up.
corporadir = $(pkgdatadir)/jobs/corpora
corpora_SCRIPTS = jobs/corpora/libreoffice-help
dist_corpora_SCRIPTS = jobs/corpora/debian-text
EXTRA_DIST += jobs/corpora/libreoffice-help.in
CLEANFILES += jobs/corpora/libreoffice-help

jobs/corpora/libreoffice-help: $(srcdir)/jobs/corpora/libreoffice-help.in Makefile
	$(AM_V_GEN)$(MKDIR_P) jobs/corpora && \
	sed -e 's|[@]pkglibexecdir[@]|$(pkglibexecdir)|g' -e 's|[@]PACKAGE_VERSION[@]|$(PACKAGE_VERSION)|g' \
	  $(srcdir)/jobs/corpora/libreoffice-help.in >$@.new && chmod a+x $@.new && mv $@.new $@

# Works on the build tree, writes to its folder demo. CORPUS=DIR: two line-aligned files instead of the help pages.
.PHONY: demo
demo: all
	@XLM_SOURCE='$(abs_top_srcdir)' XLM_BUILD='$(abs_top_builddir)' CORPUS='$(CORPUS)' \
	XLM_SANITIZERS='$(XLM_SANITIZERS)' XLM_CC='$(CC)' XLM_MPIEXEC='$(MPIEXEC)' XLM_OPEN_MPI_4='$(XLM_OPEN_MPI_4)' \
	$(XLM_BASH) $(srcdir)/jobs/demo/demo

# UD=DIR: the treebank, for studies that take one; TEXT=FILE: other text than the help pages, for align-mlm. STUDY=FOLDER: another
# study than align-mlm/small, for example xlm-align/small or combinations. Works in the folder study.
STUDY = align-mlm/small
.PHONY: study
study: all
	@PATH='$(abs_top_builddir)':"$$PATH" XLM_PLUGIN_PATH='$(abs_top_builddir)/src/losses/.libs' \
	XLM_MPIEXEC='$(MPIEXEC)' XLM_FETCH='$(abs_top_builddir)/jobs/corpora/libreoffice-help' \
	$(XLM_BASH) $(srcdir)/jobs/$(STUDY)/study study $(if $(UD),'$(UD)') $(TEXT)
