# Floor 7: what programs share: command line, help, standard output, commands, options of several programs.
program_sources = src/program/program.c src/program/program.h
command_sources = src/program/command.c src/program/command.h $(program_sources)
job_program_sources = src/program/job_program.c src/program/job_program.h $(program_sources)
line_blocks_sources = src/program/line_blocks.c src/program/line_blocks.h
pair_options_sources = src/program/pair_options.c src/program/pair_options.h
space_inputs_sources = src/program/space_inputs.c src/program/space_inputs.h
word_inputs_sources = src/program/word_inputs.c src/program/word_inputs.h
