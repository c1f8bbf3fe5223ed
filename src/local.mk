# The library, and what is made of its sources for checks.
lib_LTLIBRARIES += libxlm.la
libxlm_la_SOURCES = $(base_sources) $(files_sources) $(options_sources) $(comm_sources) $(store_sources) \
	$(kernels_sources) $(gemm_sources) $(tensor_sources) $(matrix_sources) $(nn_sources) \
	$(text_sources) $(formats_sources) $(bpe_sources) $(sentencepiece_sources) $(subwords_sources) \
	$(corpus_sources) $(model_sources) $(stream_sources) $(lexicon_sources) $(aligners_sources) $(synthetic_sources) $(objective_sources) \
	$(objective_file_sources) $(train_sources) $(job_sources) $(checkpoint_sources) $(run_sources) $(prep_sources) $(tasks_sources) $(model_aligner_sources) $(retrieval_sources) $(maps_sources) $(vectors_sources) \
	$(foreign_sources) $(report_sources) $(translation_sources) $(translation_scores_sources)
# BLIS before ScaLAPACK: the BLAS that ScaLAPACK and LAPACK call is then BLIS, whichever libblas.so.3 the system has.
libxlm_la_LIBADD = $(HDF5_LIBS) $(MPI_LIBS) $(BLIS_LIBS) $(SCALAPACK_LIBS) $(ONEDNN_LIBS) $(SLEEF_LIBS) $(GLIB_LIBS) $(ICU_LIBS) \
	$(JANSSON_LIBS) $(LIBXML_LIBS) $(ZLIB_LIBS) $(LIBARCHIVE_LIBS) $(GSL_LIBS) $(SENTENCEPIECE_LIBS)
# By the C compiler, although one file is C++.
libxlm_la_LINK = $(LIBTOOL) $(AM_V_lt) --tag=CC $(AM_LIBTOOLFLAGS) $(LIBTOOLFLAGS) --mode=link $(CCLD) $(AM_CFLAGS) $(CFLAGS) \
	$(libxlm_la_LDFLAGS) $(LDFLAGS) -o $@
libxlm_la_LDFLAGS = $(XLM_LDFLAGS) $(XLM_LIBRARY_LDFLAGS) -version-info 0:0:0 -no-undefined -export-symbols-regex '^xlm_'

# Programs have a run path; what others link with libxlm finds it in a folder of the loader's when its cache knows it.
install-exec-hook:
	@PATH="$$PATH:/usr/sbin:/sbin"; \
	if test -z '$(DESTDIR)' && test "`id -u`" -eq 0 && \
	   ldconfig -N -X -v 2>/dev/null | grep -q '^$(libdir):'; then \
	  echo ldconfig; ldconfig || echo 'make install: ldconfig failed; programs of your own may not find libxlm' >&2; \
	fi

# The numeric floors and the objectives in double precision, for gradient checks against differences: of our tests, and of
# authors of plugins (xlm/loss_check.h). No MPI.
lib_LTLIBRARIES += libxlm_double.la
libxlm_double_la_SOURCES = $(base_sources) $(files_sources) $(options_sources) $(kernels_sources) $(gemm_sources) \
	$(tensor_sources) $(nn_sources) src/stream/stage_pass.c $(objective_sources) $(objective_double_sources) $(losses_sources)
libxlm_double_la_CPPFLAGS = $(AM_CPPFLAGS) -DXLM_DOUBLE
libxlm_double_la_LIBADD = $(BLIS_LIBS) $(SLEEF_LIBS) $(GLIB_LIBS)
libxlm_double_la_LDFLAGS = $(libxlm_la_LDFLAGS)
