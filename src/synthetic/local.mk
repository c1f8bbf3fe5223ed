# Floor 3: synthetic languages.
synthetic_sources = \
	src/synthetic/bio_tags.c src/synthetic/bio_tags.h \
	src/synthetic/exact_order.c \
	src/synthetic/language.c src/synthetic/language.h \
	src/synthetic/order_scores.c \
	src/synthetic/order_weights.c src/synthetic/order_weights.h \
	src/synthetic/permute.c src/synthetic/permute.h src/synthetic/permute_internal.h \
	src/synthetic/ud_version1.c src/synthetic/ud_version1.h
