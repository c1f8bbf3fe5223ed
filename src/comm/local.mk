# Floor 1: what ranks send to one another.
comm_sources = \
	src/comm/all_gather.c \
	src/comm/comm.c src/comm/comm.h \
	src/comm/reduce_scatter.c \
	src/comm/shards.c src/comm/shards.h \
	src/comm/turns.c src/comm/turns.h
