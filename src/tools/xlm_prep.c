/* xlm-mpi: from text to a corpus file. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/filter_options.h"
#include "prep/like.h"
#include "prep/run.h"
#include "prep/segmenter_options.h"
#include "program/program.h"

static int role(int argument);

static const xlm_program program = {
    .role = role,
    .name = "xlm_prep",
    .arguments = "-o CORPUS.h5\n"
                 "  or:  xlm_prep --codes=FILE [--vocab=FILE] --segment IN OUT\n"
                 "  or:  xlm_prep --derive NAME=BASE:STEP[,STEP...] --derive-conllu IN OUT",
    .progress = true,
    .purpose = "Prepare text for training: split words, learn or apply subwords, write one corpus file",
    .notes =
        "Text is UTF-8, one sentence per line, plain or compressed (gzip, xz, bzip2, zstd, lz4, lzip, compress), or in an\n"
        "archive: a.zip/NAME.\n"
        "The text of jsonl:FIELD:FILE is the member FIELD of the JSON object in each line, and that of tsv:COLUMN:FILE a field\n"
        "between tabs, counted from 1. That of tmx:LANG:FILE is the segments in LANG of a translation memory; in messages its\n"
        "lines are translation units. That of wet:FILE is the lines of Common Crawl's web pages. - is standard input. JSON,\n"
        "XML, WARC, .tsv, CoNLL-U of another name and UTF-16 are refused as plain text, unless given as lines:FILE. Text is\n"
        "normalised to NFC; control characters and empty lines are left out. The result does not depend on the number of\n"
        "ranks.\n\n"
        "Rules leave out sentences, in the order of their options; if one side of a pair breaks a rule, both are left out. What\n"
        "is left out is as an empty line. The log and the group /filter of the corpus say how many each rule has left out.\n\n"
        "A sentence is held out if a digest of its text and the seed falls below the share, or if it is the translation of such\n"
        "a sentence; it is then held out everywhere in the text. Other translations of held-out sentences are left out of both\n"
        "parts, so that training sees neither a held-out sentence nor a translation of one.\n\n"
        "BPE and vocabulary are learned from the training text. For BPE the word counts of language i are multiplied by a\n"
        "number in proportion to p_i^(A-1), where p_i is its share of all words; it is 1 for the largest language.\n\n"
        "--like FILE prepares text for an existing model: vocabulary, codes and languages are FILE's, with their ids, and\n"
        "counts are those of the new text. A new language gets an id after FILE's. Text of a synthetic language of FILE is\n"
        "derived anew, by the same steps.\n\n"
        "--append FILE adds text to a corpus: the new one has FILE's sentences and then the new ones, as if all had been\n"
        "prepared together, with FILE's vocabulary, word splitting, seed and share of held-out text. What FILE holds out or\n"
        "leaves out stays so, and the new text is treated alike. Sentences of FILE's training text that new pairs hold out, or\n"
        "make translations of held-out sentences, are left out. Rules that leave out sentences are for the new text alone.\n"
        "FILE does not change.\n\n"
        "--tokenizer DIR splits text like the tokenizer of a published model, and keeps its ids: WordPiece (vocab.txt),\n"
        "SentencePiece (*.model), byte-level BPE or that of XLM (vocab.json and merges.txt), or one of these, except XLM's, as\n"
        "tokenizer.json, also that of Gemma and mmBERT.\n\n"
        "--derive makes a language NAME from the monolingual text of BASE, sentence by sentence, and the pair BASE-NAME.\n"
        "transliterate gives each subword in the text of BASE a twin, an entry `NAME:subword` after all others of the\n"
        "vocabulary; invert reverses the words between full stops; syntax draws the order of dependents from a model of\n"
        "Galactic Dependencies, whose files have lines `feature weight`, and needs text in CoNLL-U. Changes of word order are\n"
        "applied in the order given, before words are segmented.\n\n"
        "--derive-conllu moves words with all their columns: HEAD is renumbered, DEPS becomes _, multiword tokens, empty nodes\n"
        "and SpaceAfter are left out, BIO tags (a column, or a key of MISC) are repaired so that B- comes first. The words keep\n"
        "the spelling of BASE, and `# xlm_derivation` names the derivation: read the file as text of NAME. A sentence gets the\n"
        "same order as in a corpus made from the same file with the same steps and seed.\n\n"
        "Examples:\n"
        "  mpiexec -n 4 xlm_prep --mono en=wiki.en.gz --mono de=wiki.de.gz --para de-en=europarl.de,europarl.en \\\n"
        "      --bpe 32000 --write-codes codes --write-vocab vocab -o corpus.h5\n"
        "  xlm_prep --mono hi=web.hi.xz --script-share 0.7 --script hi=Deva,Latn --max-words 150 --duplicates drop \\\n"
        "      --bpe 8000 -o clean.h5\n"
        "  xlm_prep --mono fr=tok.fr --words space --codes codes --vocab vocab -o more.h5\n"
        "  xlm_prep --mono en=tok.en --words space --held-out 0 --bpe 8000 --write-codes codes\n"
        "  xlm_prep --codes codes --segment tok.en bpe.en\n"
        "  xlm_prep --like run1/latest --mono sw=wiki.sw --add-subwords 4000 -o sw.h5\n"
        "  xlm_prep --append corpus.h5 --mono en=news.en.gz -o larger.h5\n"
        "  xlm_prep --tokenizer bert-base-multilingual-cased --mono sw=wiki.sw -o sw.h5\n"
        "  xlm_prep --mono en=wiki.en --derive xx=en:invert,transliterate --bpe 40000 --write-twins twins -o made.h5\n"
        "  xlm_prep --mono en=train.conllu.gz --derive fr_en=en:syntax=fr@N.orm.gz+fr@V.orm.gz,transliterate --words space \\\n"
        "      --bpe 8000 -o made.h5\n"
        "  xlm_prep --derive xx=en:invert,transliterate --derive-conllu test.conllu test.xx.conllu\n",
    .files =
        "  CORPUS.h5  text as subword ids, vocabulary and BPE codes; h5dump -n lists what is in it\n",
};

/* The values of the command line, before they are checked. */
static struct {
    char **monolingual, **parallel, **made, **scripts;
    char *bad_lines, *words;
    gboolean lower, segment, derive_conllu;
    gint64 min_count, max_vocabulary, seed, add_subwords;
    char *like, *tokenizer, *append;
    double alpha, sample, held_out, shared;
    char *memory, *scratch, *vocabulary, *output, *write_segmenter, *write_vocabulary, *write_twins;
    xlm_prep_options *options; /* that options of segmenters are stored in directly */
} given = {.add_subwords = G_MAXINT64, .max_vocabulary = G_MAXINT64, .min_count = 1, .alpha = -G_MAXDOUBLE,
           .sample = -G_MAXDOUBLE, .held_out = -G_MAXDOUBLE, .seed = G_MININT64};

/* Of the arguments IN OUT. */
static int role(int argument)
{
    return argument == 2 && (given.segment || given.derive_conllu) ? XLM_WRITES : XLM_READS;
}

static const GOptionEntry text_options[] = {
    {"mono", 0, XLM_READS, G_OPTION_ARG_FILENAME_ARRAY, &given.monolingual,
     "monolingual text of a language, one sentence per line, or CoNLL-U, *.conllu or compressed (*.conllu.gz); may be repeated",
     "LANG=FILE[,FILE...]"},
    {"para", 0, XLM_READS, G_OPTION_ARG_FILENAME_ARRAY, &given.parallel,
     "two files, where line i of one is the translation of line i of the other, or two languages of one TMX file; may be "
     "repeated", "A-B=FILE_A,FILE_B"},
    {"bad-lines", 0, 0, G_OPTION_ARG_STRING, &given.bad_lines,
     "what to do with a line that is not UTF-8, or not JSON, or has too few fields: stop (the default); skip it and its "
     "translation; repair, where what is not UTF-8 becomes U+FFFD, and other bad lines are left out; CoNLL-U always stops",
     "stop|skip|repair"},
    {"words", 0, 0, G_OPTION_ARG_STRING, &given.words,
     "how words are found: by Unicode word breaks, with dictionaries for Thai, Chinese and Japanese (icu, the default), or by "
     "spaces, in text that is already tokenised (space)", "icu|space"},
    {"lower", 0, 0, G_OPTION_ARG_NONE, &given.lower, "convert text to lower case", NULL},
    {.long_name = NULL}};

/* These come after the options of segmenters. */
static const GOptionEntry subword_options[] = {
    {"alpha", 0, 0, G_OPTION_ARG_DOUBLE, &given.alpha,
     "with --bpe or --unigram: weight language i in proportion to p_i^A, where p_i is its share of the words (default 0.5)", "A"},
    {"sample", 0, 0, G_OPTION_ARG_DOUBLE, &given.sample,
     "with --bpe, --unigram or --add-subwords: learn from a share of the sentences, drawn by a digest of their text and the "
     "seed; counts in the vocabulary are those of all text (default 1)", "SHARE"},
    {"vocab", 0, XLM_READS, G_OPTION_ARG_FILENAME, &given.vocabulary,
     "with --codes: take the vocabulary, and its counts, from a file of fastBPE", "FILE"},
    {"like", 0, XLM_READS, G_OPTION_ARG_FILENAME, &given.like,
     "take vocabulary, codes, word splitting and languages from a checkpoint or another corpus, for [train] start; text may be "
     "in more languages. With the seed and share of another corpus, what its pairs hold out is held out here too", "FILE"},
    {"append", 0, XLM_READS, G_OPTION_ARG_FILENAME, &given.append,
     "add the text to a corpus: -o gets its sentences, which are copied, and the new ones, with its vocabulary, codes, word "
     "splitting and rule of held-out sentences; text may be in more languages", "FILE"},
    {"tokenizer", 0, XLM_READS, G_OPTION_ARG_FILENAME, &given.tokenizer,
     "take the vocabulary of a published tokenizer, with its ids and its rules: a directory with tokenizer.json, or vocab.txt of "
     "BERT, ..., or one of these files", "DIR"},
    {"add-subwords", 0, 0, G_OPTION_ARG_INT64, &given.add_subwords,
     "with --like: add at most N subwords, first unknown characters and then merges, for the text of the new languages, or of "
     "all if none is new", "N"},
    {"min-count", 0, 0, G_OPTION_ARG_INT64, &given.min_count,
     "leave subwords that occur less often out of the vocabulary (default 1)", "N"},
    {"max-vocab", 0, 0, G_OPTION_ARG_INT64, &given.max_vocabulary, "keep the N most frequent subwords (default all)", "N"},
    {.long_name = NULL}};

static const GOptionEntry split_options[] = {
    {"held-out", 0, 0, G_OPTION_ARG_DOUBLE, &given.held_out, "share of sentences to hold out (default 0.01)", "SHARE"},
    {"seed", 0, 0, G_OPTION_ARG_INT64, &given.seed,
     "seed of the draws of held-out sentences, shared subwords and orders of words (default 0)", "N"},
    {.long_name = NULL}};

static const GOptionEntry made_options[] = {
    {"derive", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given.made,
     "make the language NAME from the monolingual text of BASE; steps are transliterate, invert and syntax=NOUN_FILE+VERB_FILE; "
     "may be repeated", "NAME=BASE:STEP[,STEP...]"},
    {"shared", 0, 0, G_OPTION_ARG_DOUBLE, &given.shared,
     "share of the vocabulary that transliteration does not change (default 0)", "SHARE"},
    {"derive-conllu", 0, 0, G_OPTION_ARG_NONE, &given.derive_conllu,
     "with one --derive and the arguments IN OUT: convert annotated text to the synthetic language, words with all their "
     "columns", NULL},
    {.long_name = NULL}};

static const GOptionEntry output_options[] = {
    {"output", 'o', XLM_WRITES, G_OPTION_ARG_FILENAME, &given.output, "corpus to write (HDF5)", "FILE.h5"},
    {"write-codes", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.write_segmenter,
     "write the merges in fastBPE's format, or the SentencePiece model", "FILE"},
    {"write-vocab", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.write_vocabulary,
     "write the vocabulary with counts, in fastBPE's format", "FILE"},
    {"write-twins", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.write_twins,
     "write a line `subword<tab>twin` for each twin that transliteration made, for xlm_dict --twins", "FILE"},
    {"memory", 0, 0, G_OPTION_ARG_STRING, &given.memory,
     "memory per rank for counting words, approximately; the rest goes to scratch files (default 2G). If it is given, learning "
     "takes no more either, or is refused", "BYTES[K|M|G]"},
    {"scratch", 0, XLM_DIRECTORY, G_OPTION_ARG_FILENAME, &given.scratch,
     "directory of scratch files: counts beyond --memory, and the text of what is not a plain file of lines, which all ranks must "
     "see there (default: that of the output)", "DIR"},
    {"segment", 0, 0, G_OPTION_ARG_NONE, &given.segment,
     "with --codes and the arguments IN OUT: split the words of tokenised text into subwords like fastBPE, and write text", NULL},
    {.long_name = NULL}};

/* name: "--bpe". */
static gboolean take_segmenter_option(const char *name, const char *value, void *data, GError **error)
{
    (void)data;
    return xlm_prep_set_segmenter(given.options, name + strlen("--"), value, error);
}

/* The options of all segmenters, from their tables, and those of subwords. g_array_unref. */
static GArray *list_subword_options(void)
{
    GArray *entries = g_array_new(TRUE, FALSE, sizeof(GOptionEntry));
    for (int i = 0; i < xlm_segmenters_count(); i++)
        for (const xlm_option *option = xlm_segmenter_class_options(xlm_segmenter_class_at(i)); option->name != NULL; option++) {
            const bool file = option->type == XLM_OPTION_TEXT;
            const GOptionEntry entry = {option->name, 0, file ? G_OPTION_FLAG_FILENAME : 0, G_OPTION_ARG_CALLBACK,
                                        (void *)take_segmenter_option, option->help, file ? "FILE" : "N"};
            g_array_append_val(entries, entry);
        }
    g_array_append_vals(entries, subword_options, G_N_ELEMENTS(subword_options) - 1);
    return entries;
}

/* name: "--max-words". */
static gboolean take_rule(const char *name, const char *value, void *data, GError **error)
{
    (void)data;
    return xlm_prep_set_rule(given.options, name + strlen("--"), value, error);
}

static const GOptionEntry script_option = {
    "script", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given.scripts,
    "with --script-share: the scripts of a language, by their codes in ISO 15924, instead of those that ICU knows; may be "
    "repeated",
    "LANG=CODE[,CODE...]"};

/* The rules that leave out sentences, from their table. g_array_unref. */
static GArray *list_rules(void)
{
    GArray *entries = g_array_new(TRUE, FALSE, sizeof(GOptionEntry));
    for (const xlm_option *rule = xlm_filter_rules; rule->name != NULL; rule++) {
        const char *value = rule->type == XLM_OPTION_CHOICE ? rule->choices : rule->type == XLM_OPTION_INT ? "N"
                            : rule->maximum == 1            ? "SHARE" : "R";
        const GOptionEntry entry = {rule->name, 0, 0, G_OPTION_ARG_CALLBACK, (void *)take_rule, rule->help, value};
        g_array_append_val(entries, entry);
    }
    g_array_append_val(entries, script_option);
    return entries;
}

static bool parse(int *argc, char ***argv, GError **error)
{
    g_autoptr(GArray) subwords = list_subword_options(), rules = list_rules();
    const xlm_program_group groups[XLM_PROGRAM_GROUPS] = {
        {"Text to read", text_options},
        {"Sentences to leave out", (const GOptionEntry *)(void *)rules->data},
        {"Subwords", (const GOptionEntry *)(void *)subwords->data},
        {"Synthetic languages", made_options},
        {"Held-out text", split_options},
        {"Files to write", output_options},
    };
    return xlm_program_parse(&program, groups, argc, argv, error);
}

/* Held-out sentences are drawn like those of the corpus to which text is added. */
static bool take_split(xlm_prep_options *options, GError **error)
{
    const xlm_appended *append = options->append;
    if (given.held_out != -G_MAXDOUBLE && (given.segment || given.derive_conllu))
        return xlm_error_set(error, EX_USAGE, "--held-out is for --mono and --para; leave it out");
    options->held_out = given.held_out != -G_MAXDOUBLE ? given.held_out : append != NULL ? append->split.held_out : 0.01;
    options->seed = given.seed != G_MININT64 ? given.seed : append != NULL ? append->split.seed : 0;
    if (append != NULL && options->held_out != append->split.held_out)
        return xlm_error_set(error, EX_USAGE, "--held-out=%g: %s holds out a share of %g, and so does what is added; leave it "
                             "out", options->held_out, given.append, append->split.held_out);
    return append == NULL || options->seed == append->split.seed ||
           xlm_error_set(error, EX_USAGE, "--seed=%" G_GINT64_FORMAT ": %s was made with the seed %" G_GINT64_FORMAT
                         ", which holds for what is added; leave it out", options->seed, given.append, append->split.seed);
}

static bool take_numbers(xlm_prep_options *options, GError **error)
{
    if (!xlm_program_is_in("add-subwords", given.add_subwords, 1, G_MAXINT64, error) ||
        !xlm_program_is_in("max-vocab", given.max_vocabulary, 1, G_MAXINT64, error))
        return false;
    options->max_vocabulary = given.max_vocabulary == G_MAXINT64 ? 0 : given.max_vocabulary;
    options->add_subwords = given.add_subwords == G_MAXINT64 ? 0 : given.add_subwords;
    options->min_count = given.min_count;
    const xlm_segmenter_class *cls;
    if (given.alpha != -G_MAXDOUBLE && xlm_prep_segmenter(options, &cls)->amount == 0 && given.add_subwords == G_MAXINT64)
        return xlm_error_set(error, EX_USAGE, "--alpha is for learning; use it with --bpe, --unigram or --add-subwords");
    options->alpha = given.alpha == -G_MAXDOUBLE ? 0.5 : given.alpha;
    options->shared = given.shared;
    return take_split(options, error);
}

static bool take_memory(xlm_prep_options *options, GError **error)
{
    const xlm_segmenter_class *cls;
    if (given.sample != -G_MAXDOUBLE && xlm_prep_segmenter(options, &cls)->amount == 0 && given.add_subwords == G_MAXINT64)
        return xlm_error_set(error, EX_USAGE, "--sample is for learning; use it with --bpe, --unigram or --add-subwords");
    if (given.memory != NULL && (given.segment || given.derive_conllu))
        return xlm_error_set(error, EX_USAGE, "--memory is for counting words; leave it out");
    options->sample = given.sample == -G_MAXDOUBLE ? 1 : given.sample;
    return xlm_program_read_memory(given.memory, &options->memory, error);
}

/* rest: the n arguments that are not options. */
static bool take_rest(xlm_prep_options *options, int n, char *const *rest, GError **error)
{
    if (given.segment && given.derive_conllu)
        return xlm_error_set(error, EX_USAGE, "--segment and --derive-conllu cannot be combined");
    if ((given.segment || given.derive_conllu) && n != 2)
        return xlm_error_set(error, EX_USAGE, "%s takes two files, IN and OUT; see xlm_prep --help",
                             given.segment ? "--segment" : "--derive-conllu");
    if (!given.segment && !given.derive_conllu && n > 0)
        return xlm_error_set(error, EX_USAGE, "%s: unexpected argument; give text with --mono and --para; see xlm_prep "
                             "--help", rest[0]);
    if (given.segment) {
        options->segment_input = g_strdup(rest[0]);
        options->segment_output = g_strdup(rest[1]);
    }
    if (given.derive_conllu) {
        options->derive_input = g_strdup(rest[0]);
        options->derive_output = g_strdup(rest[1]);
    }
    return true;
}

static bool take_words(xlm_prep_options *options, GError **error)
{
    if (given.tokenizer != NULL && (given.words != NULL || given.lower))
        return xlm_error_set(error, EX_USAGE, "%s cannot be combined with --tokenizer, which has its own rules; leave it out",
                             given.words != NULL ? "--words" : "--lower");
    if (options->like != NULL && given.tokenizer == NULL && (given.words != NULL || given.lower))
        return xlm_error_set(error, EX_USAGE, "%s cannot be combined with %s, since %s sets how words are found; leave it "
                             "out", given.words != NULL ? "--words" : "--lower", options->like_option, options->like_path);
    if (options->like != NULL)
        return true;
    const xlm_segmenter_class *cls;
    xlm_prep_segmenter(options, &cls);
    if (cls->normaliser != NULL && (given.words != NULL || given.lower))
        return xlm_error_set(error, EX_USAGE, "%s cannot be combined with --%s, which has its own rules; leave it out",
                             given.words != NULL ? "--words" : "--lower",
                             xlm_segmenter_option_name(cls, offsetof(xlm_segmenter_options, amount)));
    if (cls->normaliser != NULL) {
        options->words = XLM_WORDS_SPACE;
        return true;
    }
    static const char *const modes[] = {"icu", "space", NULL};
    if (!xlm_program_is_one_of("words", given.words, modes, error))
        return false;
    options->words = g_strcmp0(given.words, "space") == 0 ? XLM_WORDS_SPACE : XLM_WORDS_ICU;
    options->lower = given.lower;
    if ((given.segment || given.derive_conllu) && (given.words != NULL || given.lower))
        return xlm_error_set(error, EX_USAGE, "%s as they are; leave out --words and --lower",
                             given.segment ? "--segment takes the words of tokenised text" : "--derive-conllu keeps words");
    return true;
}

static bool take_bad_lines(xlm_prep_options *options, GError **error)
{
    static const char *const choices[] = {"stop", "skip", "repair", NULL};
    if (!xlm_program_is_one_of("bad-lines", given.bad_lines, choices, error))
        return false;
    if (given.bad_lines != NULL && (given.segment || given.derive_conllu))
        return xlm_error_set(error, EX_USAGE, "--bad-lines is for --mono and --para; leave it out");
    options->bad_lines = (xlm_bad_lines)xlm_program_number_of(given.bad_lines, choices);
    return true;
}

/* Rules are for text that a corpus is made of. */
static bool check_rules_are_used(const xlm_prep_options *options, GError **error)
{
    const char *option = given.scripts != NULL ? "script" : NULL;
    for (int rule = 0; rule < XLM_RULES; rule++)
        if (xlm_filter_has(&options->filter, rule))
            option = xlm_filter_rules[rule].name;
    return option == NULL || (!given.segment && !given.derive_conllu) ||
           xlm_error_set(error, EX_USAGE, "--%s is for --mono and --para; leave it out", option);
}

/* Take each value of an option that may be repeated. */
static bool take_each(xlm_prep_options *options, char *const *values,
                      bool (*take)(xlm_prep_options *, const char *, GError **), GError **error)
{
    bool good = true;
    for (; good && values != NULL && *values != NULL; values++)
        good = take(options, *values, error);
    return good;
}

static bool take_options(xlm_prep_options *options, int n, char *const *rest, GError **error)
{
    if ((given.like != NULL) + (given.tokenizer != NULL) + (given.append != NULL) > 1)
        return xlm_error_set(error, EX_USAGE, "--like, --tokenizer and --append each set a vocabulary; use one of them");
    if ((given.append != NULL && !xlm_prep_set_append(options, given.append, error)) ||
        (given.like != NULL && !xlm_prep_set_like(options, given.like, error)) ||
        (given.tokenizer != NULL && !xlm_prep_set_tokenizer(options, given.tokenizer, error)) ||
        !take_each(options, given.monolingual, xlm_prep_add_monolingual, error) ||
        !take_each(options, given.parallel, xlm_prep_add_parallel, error) ||
        !take_each(options, given.made, xlm_prep_add_synthetic, error) ||
        !take_each(options, given.scripts, xlm_prep_add_script, error) || !check_rules_are_used(options, error))
        return false;
    if (options->append != NULL)
        xlm_prep_match_pairs(options);
    options->vocabulary = g_strdup(given.vocabulary);
    options->scratch = g_strdup(given.scratch);
    options->output = g_strdup(given.output);
    options->write_segmenter = g_strdup(given.write_segmenter);
    options->write_vocabulary = g_strdup(given.write_vocabulary);
    options->write_twins = g_strdup(given.write_twins);
    return take_numbers(options, error) && take_memory(options, error) && take_bad_lines(options, error) &&
           take_words(options, error) && take_rest(options, n, rest, error);
}

int main(int argc, char **argv)
{
    xlm_prep_options *options = xlm_prep_options_new();
    GError *error = NULL;
    options->command = xlm_program_command(&program, argv);
    given.options = options;
    const bool parsed = parse(&argc, &argv, &error);
    g_auto(GStrv) rest = g_strdupv(argv + 1); /* MPI takes argv next */

    xlm_comm comm;
    if (xlm_program_open(program.name, &comm, &argc, &argv, &error) && parsed &&
        take_options(options, (int)g_strv_length(rest), rest, &error) && comm.rank == 0)
        xlm_prep_options_check(options, &error); /* by one rank: many would read the beginnings of all files */
    if (xlm_comm_agree(&comm, &error))
        xlm_prep_run(&comm, options, &error);
    xlm_prep_options_free(options);
    return xlm_comm_close(&comm, error);
}
