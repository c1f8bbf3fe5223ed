# Floor 6: reports on runs, as pages of HTML.
report_sources = \
	src/report/csv.c src/report/csv.h \
	src/report/page.c src/report/page.h \
	src/report/plot.c src/report/plot.h \
	src/report/results.c src/report/results.h \
	src/report/runs.c src/report/runs.h \
	src/report/sections.h \
	src/report/sections_curves.c \
	src/report/sections_figures.c \
	src/report/sections_pictures.c \
	src/report/sections_results.c \
	src/report/sections_runs.c \
	src/report/sections_translations.c
