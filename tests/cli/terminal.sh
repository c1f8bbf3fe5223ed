#!/usr/bin/env bash
# xlm-mpi: what goes to a terminal and into a pipe: control characters of names are shown, not obeyed; output that nobody reads any
# more; a form of an option that lacks its file. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
small_corpus

# A name with a line end, an escape sequence, a mark that turns the direction of text, and bytes that are no UTF-8.
name=$'a\nxlm_prep: done\x1b]0;title\x07\xe2\x80\xae\xff\xc2\x9bz'
shown='a\\nxlm_prep: done\\x1b\]0;title\\x07\\u202e\\xff\\u009bz'
for command in "xlm_prep --words space --bpe 20 -o new.h5 --mono en=" "xlm_train " "xlm_cooc -o new.h5 " "xlm_align text.en " \
    "xlm_eval --test text.en " "xlm_convert -o new " "xlm_report -o new.html "; do
    # shellcheck disable=SC2086 # words of a command
    set -- $command
    case $command in *=) last=${*: -1}$name; set -- "${@:1:$#-1}" "$last" ;; *) set -- "$@" "$name" ;; esac
    "$@" >out.txt 2>err.txt && fail "$1: no error"
    grep -aq "$shown" err.txt || fail "$1: the name is not shown so: $(cat -v err.txt)"
    ! LC_ALL=C grep -aq $'[\x01-\x09\x0b-\x1f\x7f\xff]' err.txt || fail "$1: control characters: $(cat -v err.txt)"
    [ "$(wc -l <err.txt)" -eq 1 ] || fail "$1: not one line: $(cat -v err.txt)"
done
cp text.en "$name"
xlm_prep --mono en="$name" --words space --bpe 20 -o "$name.h5" >out.txt 2>err.txt || fail "not read: $(cat -v err.txt)"
! LC_ALL=C grep -aq $'[\x1b\x07\xff]' err.txt || fail "control characters in the log: $(cat -v err.txt)"

# Words of files, in tables for people.
escape=$(printf '\033')
clean() {
    "$@" >out.txt 2>err.txt || fail "$1: $(cat -v err.txt)"
    ! LC_ALL=C grep -aq $'[\x01-\x09\x0b-\x1f\x7f]' out.txt || fail "$1 $2: control characters: $(cat -v out.txt)"
    grep -qF '\x1b]0;' out.txt || fail "$1 $2: the word is not shown: $(cat -v out.txt)"
}
printf '%s\n' '3 2' 'house 1 0' "ho${escape}]0;use 1 0.1" 'garden 0 1' >words.vec
clean xlm_embed neighbours words.vec house -n 2 -k 1
clean xlm_embed neighbours words.vec "ho${escape}]0;use" -n 2 -k 0
printf '%s\n' ": fam${escape}]0;ily" 'house garden house garden' >analogies.txt
clean xlm_embed similarity words.vec --analogies analogies.txt

# Without a file xlm_dict prints its pairs, in the form that it reads.
paste text.en text.xx | awk -F '\t' '{ n = split($1, a, " "); m = split($2, b, " "); if (n == m)
    for (i = 1; i < n; i++) print a[i], b[n - i] }' | sort -u >dict.txt
xlm_dict corpus.h5 --source en --target xx --text dict.txt >pairs.txt 2>err.txt || fail "xlm_dict: $(cat err.txt)"
[ -s pairs.txt ] && ! grep -qv '^[^	]*	[^	]*$' pairs.txt || fail "not pairs: $(head -n 3 pairs.txt)"
logged read.log xlm_dict corpus.h5 --source en --target xx --twins pairs.txt -o again.h5
logged read.log xlm_dict corpus.h5 --source en --target xx --text dict.txt -o dict.h5
[ "$(pairs_of /dictionary/pairs dict.h5)" = "$(pairs_of /dictionary/pairs again.h5)" ] || fail "what is printed gives other pairs"

# Into something that reads one line, or nothing: ended by SIGPIPE, as a filter is, without a word of it.
for _ in {1..4}; do cat text.en; done >more.en
xlm_train job.conf --set train.steps=1 >train.log 2>&1 || fail "train: $(tail -n 3 train.log)"
xlm_embed export out/latest --language en --text more.en 2>err.txt | head -n 1 >/dev/null
code=("${PIPESTATUS[@]}")
[ "${code[0]}" -eq 141 ] || fail "into head: exit code ${code[0]}"
! grep -qi 'pipe' err.txt || fail "into head: $(cat err.txt)"
# With SIGPIPE ignored, as some services start programs, it is an error of writing.
mkfifo gone
exec 5<>gone 6>gone 5<&- # whoever read has gone
(trap '' PIPE; exec xlm_dict corpus.h5 --source en --target xx --text dict.txt >&6 2>err.txt)
code=$?
exec 6>&-
[ "$code" -eq 74 ] && grep -q 'Broken pipe' err.txt || fail "SIGPIPE ignored: exit code $code: $(cat err.txt)"

# The form of an option whose file is missing.
for option in --mono=english= '--mono english=' --mono==text.en '--para en-xx=' '--para en-xx=,'; do
    # shellcheck disable=SC2086 # an option and its value
    expect 64 'the form is --\(mono=LANG=FILE\|para=A-B=FILE_A,FILE_B\)' xlm_prep $option --words space --bpe 20 -o new.h5
done
expect 64 'no file is named after the =' xlm_prep --mono english= --words space --bpe 20 -o new.h5
[ ! -e new.h5 ] || fail "a corpus of nothing"
finish
