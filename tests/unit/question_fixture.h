/* xlm-mpi: files of questions in SQuAD's form, as strings of C. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TESTS_QUESTION_FIXTURE_H
#define XLM_TESTS_QUESTION_FIXTURE_H

#define FILE_OF(paragraphs) "{\"version\": \"1.1\", \"data\": [{\"title\": \"t\", \"paragraphs\": [" paragraphs "]}]}"
#define CONTEXT(context, questions) "{\"context\": \"" context "\", \"qas\": [" questions "]}"
#define QUESTION(id, rest) "{\"id\": \"" id "\", \"question\": \"w\"" rest "}"
#define ANSWER(text, start) "{\"text\": \"" text "\", \"answer_start\": " start "}"
#define ANSWERS(answers) ", \"answers\": [" answers "]"
#define ONE(context, rest) FILE_OF(CONTEXT(context, QUESTION("q1", rest)))

#endif
