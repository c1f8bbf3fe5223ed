# xlm-mpi: the index of the manual's search, from its pages. SPDX-License-Identifier: GPL-3.0-or-later
#
# One element a section: page, anchor, title of the page, title of the section, text without tags.
function strip(text) {
    gsub(/<[^>]*>/, " ", text)
    gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text); gsub(/&quot;/, "\"", text); gsub(/&#39;/, "'", text); gsub(/&amp;/, "\\&", text)
    gsub(/[ \t]+/, " ", text); sub(/^ /, "", text); sub(/ $/, "", text)
    return text
}
function quote(text) {
    gsub(/\\/, "\\\\\\\\", text)
    gsub(/"/, "\\\\\"", text)
    gsub(/</, "\\\\x3c", text)
    return "\"" text "\""
}
function put() {
    if (page == "") return
    printf "%s[%s,%s,%s,%s,%s]", sections++ ? ",\n" : "", quote(page), quote(anchor), quote(title), quote(heading), quote(strip(text))
}
BEGIN { print "manualIndex([" }
FNR == 1 { put(); page = ""; inside = 0; toc = 0; text = "" }
/<main / { inside = 1; next }
/<\/main>/ { put(); page = ""; inside = 0; next }
!inside { next }
/<nav id="manual-toc"/ { toc = 1 }
toc { if (/<\/nav>/) toc = 0; next }
# Headings may go over several lines.
/<h[1-4][ >]/ { head = $0; while (head !~ /<\/h[1-4]>/ && (getline line) > 0) head = head " " line
    put()
    anchor = ""
    if (match(head, /id="[^"]*"/)) anchor = substr(head, RSTART + 4, RLENGTH - 5)
    first = head ~ /<h1/
    heading = strip(head)
    if (first) { title = heading; page = FILENAME; anchor = "" } else page = FILENAME
    text = ""
    next }
{ text = text " " $0 }
END { put(); print "\n]);" }
