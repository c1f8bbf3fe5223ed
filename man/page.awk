# xlm-mpi: a man page from a program's --help (its form: src/program/program.h). SPDX-License-Identifier: GPL-3.0-or-later
#
#   PROGRAM --help | awk -v version=VERSION -v others='man/NAME.1 ...' -f page.awk
#
# others: the pages of SEE ALSO. Lines that are indented by two blanks and have no heading, and the examples, are kept as they
# are.

# Escapes text for roff: no escapes, hyphens that can be copied, no requests.
function roff(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    if (text ~ /^[.']/) text = "\\&" text
    return text
}
function add(line) { body[section] = body[section] line "\n" }
# Begins or ends a block of lines that are kept as they are.
function literal(on) {
    if (on == kept) return
    add(on ? ".PP\n.RS 4\n.nf" : ".fi\n.RE")
    kept = on
}
# "  ITEM  meaning", or the meaning alone on a line that is indented further.
function item(line,    at, name) {
    if (line ~ /^   +/) { sub(/^ +/, "", line); add(roff(line)); return }
    line = substr(line, 3)
    at = match(line, /  +/)
    name = at ? substr(line, 1, at - 1) : line
    add(".TP\n.B " roff(name))
    if (at) add(roff(substr(line, at + RLENGTH)))
}

# The first lines: one or more forms of usage, then the purpose.
purpose == "" {
    if (sub(/^(Usage| *or): +/, "")) {
        if (name == "") name = $1
        synopsis = synopsis (synopsis == "" ? "" : ".br\n") ".B " roff(name) "\n" roff(substr($0, length(name) + 2)) "\n"
    } else if ($0 != "")
        purpose = $0
    next
}
# A heading: a line that ends in a colon after an empty one, with indented lines below.
{ line[++n] = $0 }

END {
    if (purpose == "") { print "page.awk: no --help" > "/dev/stderr"; exit 1 }
    section = "DESCRIPTION"
    add(roff(purpose) ".\n.PP")
    for (i = 1; i <= n; i++) {
        text = line[i]
        heading = text ~ /^[A-Z][^.]*:$/ && (i == 1 || line[i - 1] == "") && line[i + 1] ~ /^  /
        if (heading) {
            literal(0)
            sub(/:$/, "", text)
            if (text == "Examples" || text == "Files" || text == "Environment") section = toupper(text)
            else if (text == "Exit codes") section = "EXIT STATUS"
            else if (line[i + 1] ~ /^  +-/) { section = "OPTIONS"; if (text != "Options") add(".SS " roff(text)) }
            else heading = 0
            if (heading) continue
            text = line[i]
        }
        if (section == "OPTIONS" && text !~ /^  /  && text != "") section = "DESCRIPTION"
        if (section == "DESCRIPTION" || section == "EXAMPLES") {
            if (text ~ /^  /) { literal(1); add(roff(substr(text, 3))) }
            else if (text == "" && kept && line[i + 1] ~ /^  /) add("")
            else {
                literal(0)
                add(text == "" ? ".PP" : roff(text))
            }
        } else if (text != "")
            item(text)
    }
    literal(0)

    printf ".TH %s 1 \"\" \"xlm\\-mpi %s\" \"User Commands\"\n", toupper(name), version
    print ".SH NAME\n" roff(name) " \\- " roff(tolower(substr(purpose, 1, 1)) substr(purpose, 2))
    printf ".SH SYNOPSIS\n%s", synopsis
    count = split("DESCRIPTION,OPTIONS,EXAMPLES,FILES,ENVIRONMENT,EXIT STATUS", order, ",")
    for (k = 1; k <= count; k++)
        if (body[order[k]] != "") printf ".SH \"%s\"\n%s", order[k], body[order[k]]
    print ".SH \"SEE ALSO\""
    gsub(/man\/|\.1/, "", others)
    sub(name " *", "", others)
    count = split(others, other, " ")
    for (k = 1; k <= count; k++)
        print ".BR " roff(other[k]) " (1)" (k < count ? "," : "")
    print ".PP\nTutorial, job files, file formats and troubleshooting:"
    print ".I share/doc/xlm\\-mpi/docs/\nin the directory where xlm\\-mpi is installed."
}
