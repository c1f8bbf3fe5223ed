# What is read, installed as it lies here.
nobase_dist_doc_DATA = \
	AUTHORS \
	COPYING \
	HACKING.md \
	NEWS \
	README.md \
	docs/clusters.md \
	docs/plugins.md \
	docs/tutorial.md
