# xlm-mpi: text with a given number of different words. SPDX-License-Identifier: GPL-3.0-or-later
#
#   awk -v words=1000000 [-v times=2] -f tests/bench/words.awk >text
#
# Words w0, w1, ..., 16 in a line, each `times` times (1) in different lines; a common word is in every line.
BEGIN {
    if (times == 0)
        times = 1
    for (t = 0; t < times; t++)
        for (i = 0; i < words; i += 16) {
            line = "the"
            for (k = i; k < i + 16 && k < words; k++)
                line = line " w" (t % 2 ? words - 1 - k : k)
            print line
        }
}
