#!/usr/bin/env bash
# xlm-mpi: progress: a live line on a terminal, cut to its width, also of ranks that mpiexec started; no control characters
# anywhere else. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
sed -i 's/^steps = .*/steps = 30/; s/^log_every = .*/log_every = 5/' job.conf
run="xlm_train job.conf --resume never"
mpirun="sh $XLM_SOURCE/tests/mpirun.sh"
escape=$(printf '\033')

# logs NAME: a log of lines an interval, the first and the last among them, without control characters.
logs() {
    grep -q '^step 5/30  loss [0-9.]*  .* tokens/s  .* left  (mlm [0-9.]*, tlm [0-9.]*)  lr ' "$1" &&
        grep -q '^step 30/30 ' "$1" ||
        fail "$1: no line an interval: $(head -n 12 "$1")"
    ! grep -q "[$escape$(printf '\r')]" "$1" || fail "$1: control characters: $(grep "$escape" "$1" | cat -v)"
}
logged alone.log $run
logs alone.log
logged ranks.log $mpirun 2 $run
logs ranks.log
tail -n 1 ranks.log | grep '^finished: 30 steps in [0-9.]* [a-z]*, [0-9.]*k tokens, .* tokens/s; held-out loss [0-9.]*;' |
    grep -q '; checkpoint out/checkpoint-00000030.h5$' ||
    fail "the last line does not sum up: $(tail -n 2 ranks.log)"
# In fine-tuning and when stopped the last line sums up too (tune.sh, train_resume.sh); without progress it still does.
logged none.log $run --progress=none
! grep -q '^step ' none.log && grep -q '^finished: ' none.log || fail "--progress=none: $(cat none.log)"
expect 64 'must be auto, line, log or none' $run --progress=often

# A terminal, made by script(1) from util-linux.
command -v script >/dev/null && script -qec true /dev/null </dev/null >/dev/null 2>&1 ||
    { echo "no script(1): terminals are not tried"; finish; }
# on_terminal COLUMNS COMMAND: what appears there; in live.txt what was drawn of live lines, one a line.
on_terminal() {
    script -qec "stty cols $1; $2" /dev/null </dev/null 2>&1 >seen.txt
    tr '\r' '\n' <seen.txt | sed -n "s/^$escape\[K//p" >drawn.txt
    grep '^step ' drawn.txt >live.txt
}
# drawn WIDTH: live lines are there, the longest fits, and no line an interval beside them.
drawn() {
    [ -s live.txt ] || { fail "$2: no live line: $(cat -v seen.txt)"; return; }
    awk -v width="$1" 'length($0) >= width { exit 1 }' live.txt || fail "$2: wider than $1: $(cat live.txt)"
    grep -q '^step 1/30  loss [0-9.]*' live.txt || fail "$2: $(head -n 2 live.txt)"
    [ "$(tr -d '\r' <seen.txt | grep -c '^step ')" -eq 0 ] || fail "$2: lines an interval: $(cat -v seen.txt)"
}
on_terminal 40 "$run"
drawn 40 "40 columns"
! grep -q 'GEMM' live.txt || fail "not cut: $(cat live.txt)"
on_terminal 200 "$run"
drawn 200 "200 columns"
grep -q '  [0-9]*% of GEMM$' live.txt || fail "cut without need: $(cat live.txt)"
! awk '{ sub(/% of GEMM$/, ""); if ($NF > 100) exit 1 }' live.txt && fail "more than GEMM gives: $(cat live.txt)"
# The digest of a large file goes on after its text is encoded: here a member of an archive after which much comes.
tar -cf large.tar text.en && truncate -s 200M large.tar
on_terminal 200 "xlm_prep --mono en=large.tar/text.en --words space --bpe 80 -o large.h5"
grep -q '^digests of the input: [0-9]* %  .*B/s' drawn.txt || fail "no progress of digests: $(cat -v seen.txt)"
# A message that is still on its way through mpiexec may come behind the first live line. (Lines are measured below, with messages
# in a file.)
on_terminal 60 "$mpirun 2 $run"
drawn 9999 "2 ranks"
# Where messages go elsewhere, or the launcher is in the background, nothing is drawn; the line can be asked for.
on_terminal 60 "$mpirun 2 $run 2>file.log"
[ ! -s live.txt ] || fail "messages go to a file: $(cat live.txt)"
logs file.log
on_terminal 60 "$mpirun 2 $run 2>&1 | cat >pipe.log"
[ ! -s live.txt ] || fail "messages go to a pipe: $(cat live.txt)"
logs pipe.log
on_terminal 60 "set -m; $mpirun 2 $run & wait"
[ ! -s live.txt ] && tr -d '\r' <seen.txt >background.log && logs background.log || fail "in the background: $(cat live.txt)"
on_terminal 60 "$mpirun 2 $run --progress=line 2>file.log"
drawn 60 "--progress=line"
logs file.log
on_terminal 60 "$run --progress=log"
[ ! -s live.txt ] || fail "--progress=log: $(cat live.txt)"
finish
