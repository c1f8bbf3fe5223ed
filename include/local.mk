# Public headers: all that a plugin or an embedding program may include.
xlminclude_HEADERS = \
	include/xlm/batch.h \
	include/xlm/cooccurrence.h \
	include/xlm/dictionary.h \
	include/xlm/loss.h \
	include/xlm/loss_check.h \
	include/xlm/model.h \
	include/xlm/options.h \
	include/xlm/search.h \
	include/xlm/similarity.h \
	include/xlm/special_tokens.h \
	include/xlm/stage.h \
	include/xlm/tape.h
