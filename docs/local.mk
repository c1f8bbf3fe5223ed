# What is read, installed as it lies here.
nobase_dist_doc_DATA = \
	AUTHORS \
	COPYING \
	HACKING.md \
	CITATION.cff \
	NEWS \
	SECURITY.md \
	README.md \
	docs/README.md \
	docs/adapters.md \
	docs/align-mlm.md \
	docs/analysis.md \
	docs/building.md \
	docs/classification.md \
	docs/clusters.md \
	docs/corpora.md \
	docs/evaluation.md \
	docs/files.md \
	docs/jobs.md \
	docs/licences.md \
	docs/performance.md \
	docs/plugins.md \
	docs/question-answering.md \
	docs/report.md \
	docs/retrieval.md \
	docs/stability.md \
	docs/studies.md \
	docs/tagging.md \
	docs/troubleshooting.md \
	docs/trust.md \
	docs/transformers.md \
	docs/translation.md \
	docs/tutorial.md \
	docs/word-alignment.md
