# Floor 6: linear maps between spaces, factorisations, and pictures of spaces.
maps_sources = \
	src/maps/affinities.c src/maps/affinities.h \
	src/maps/association.c src/maps/association.h \
	src/maps/factorise.c src/maps/factorise.h \
	src/maps/map.c src/maps/map.h \
	src/maps/map_items.c src/maps/map_items.h \
	src/maps/near_points.c src/maps/near_points.h \
	src/maps/principal.c src/maps/principal.h \
	src/maps/procrustes.c src/maps/procrustes.h \
	src/maps/quadtree.c src/maps/quadtree.h \
	src/maps/truncated_svd.c src/maps/truncated_svd.h \
	src/maps/tsne.c src/maps/tsne.h
