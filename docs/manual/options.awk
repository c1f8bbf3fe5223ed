# xlm-mpi: indexes of the programs' options and exit codes, from --help of each, one file each. SPDX-License-Identifier:
# GPL-3.0-or-later
#
#   awk -v index_of=options|codes -f options.awk PROGRAM.help...
function plain(text) { gsub(/[\\*_<>|~`\[\]]/, "\\\\&", text); return text }
function code(text) { gsub(/\|/, "\\|", text); return "`" text "`" }
function sort(list, n,    i, j, swap) {
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && list[j] < list[j - 1]; j--) { swap = list[j]; list[j] = list[j - 1]; list[j - 1] = swap }
}
# The same by the number that each begins with.
function sort_by_number(list, n,    i, j, swap) {
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && list[j] + 0 < list[j - 1] + 0; j--) { swap = list[j]; list[j] = list[j - 1]; list[j - 1] = swap }
}
FNR == 1 { program = FILENAME; sub(/.*\//, "", program); sub(/\.help$/, "", program); codes = 0; programs++; delete here }
/^Exit codes:$/ { codes = 1; next }
# "  -o, --output=FILE   meaning", "  --version   meaning".
!codes && /^  (-[a-zA-Z], )?--[a-z0-9-]/ {
    text = substr($0, 3)
    at = match(text, /  +/)
    form = at ? substr(text, 1, at - 1) : text
    says = at ? substr(text, at + RLENGTH) : ""
    name = form
    sub(/^-[a-zA-Z], /, "", name); sub(/^--/, "", name); sub(/[=[].*/, "", name)
    if (!(name in forms)) { names[++count] = name }
    short = form ~ /^-/ && form !~ /^--/ ? substr(form, 1, 2) : ""
    if (!(name in forms) || length(form) < length(forms[name])) forms[name] = form
    if (++here[name] > 1) next # of another command of the program
    where[name] = where[name] (where[name] == "" ? "" : ", ") "<a href=\"man-" program ".html#option-" name "\">" program "</a>"
    if (!((name, says) in said)) {
        said[name, says]
        meanings[name] = meanings[name] (meanings[name] == "" ? "" : " – ") plain(says)
    }
    next
}
codes && /^  [0-9][0-9, ]*/ {
    text = substr($0, 3)
    at = match(text, /  +/)
    number = at ? substr(text, 1, at - 1) : text
    says = at ? substr(text, at + RLENGTH) : ""
    last = number
    if (!(number in known)) { known[number]; numbers[++n] = number }
    add(says)
    next
}
codes && /^      / && last != "" { text = $0; sub(/^ +/, "", text); more[program, last] = more[program, last] " " text
    if (!(last in continued)) { continued[last] = program } if (continued[last] == program) add_to(text) }
function add(says) {
    if (says == "") { if (!(last in blocks)) blocks[last] = ""; return }
    if (!((last, says) in uttered)) { uttered[last, says]; ways[last]++; way[last, ways[last]] = says }
    users[last, says] = users[last, says] (users[last, says] == "" ? "" : ", ") program
    times[last, says]++
}
function add_to(text) { blocks[last] = blocks[last] (blocks[last] == "" ? "" : " ") text }
END {
    if (index_of == "options") {
        print "# Options of programs\n\nMade from `--help` of each program.\n"
        print "| option | programs | meaning |\n|---|---|---|"
        sort(names, count)
        for (i = 1; i <= count; i++)
            printf "| <a id=\"%s\"></a>%s | %s | %s |\n", names[i], code(forms[names[i]]), where[names[i]], meanings[names[i]]
        exit
    }
    print "# Exit codes\n\nMade from `--help` of each program; [Troubleshooting](troubleshooting.md) has messages and remedies.\n"
    print "| code | meaning | programs |\n|---|---|---|"
    sort_by_number(numbers, n)
    for (i = 1; i <= n; i++) {
        if (numbers[i] in blocks && blocks[numbers[i]] != "") printf "| %s | %s | all |\n", numbers[i], plain(blocks[numbers[i]])
        for (w = 1; w <= ways[numbers[i]]; w++) {
            says = way[numbers[i], w]
            printf "| %s | %s | %s |\n", numbers[i], plain(says),
                times[numbers[i], says] == programs ? "all" : plain(users[numbers[i], says])
        }
    }
}
