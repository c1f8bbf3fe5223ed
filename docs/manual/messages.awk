# xlm-mpi: the index of messages, from the tables of docs/troubleshooting.md. SPDX-License-Identifier: GPL-3.0-or-later
function bare(text) { gsub(/[|` …"]/, "", text); return tolower(text) }
function sort(list, n,    i, j, swap) {
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && bare(list[j]) < bare(list[j - 1]); j--) { swap = list[j]; list[j] = list[j - 1]; list[j - 1] = swap }
}
/^## / { place = tolower(substr($0, 4)); gsub(/ /, "-", place); title = substr($0, 4); next }
/^\| (message|what is seen) / { inside = 1; next }
/^\|---/ { next }
!/^\|/ { inside = 0 }
inside {
    gsub(/\\\|/, "\001")
    split($0, column, " *[|] *")
    gsub(/\001/, "\\|", column[2])
    list[++n] = "| " column[2] " | [" title "](troubleshooting.md#" place ") |"
}
END {
    print "# Messages, and what is seen\n\nMade from [Troubleshooting](troubleshooting.md), which has causes and remedies.\n"
    print "| message | explained in |\n|---|---|"
    sort(list, n)
    for (i = 1; i <= n; i++) print list[i]
}
