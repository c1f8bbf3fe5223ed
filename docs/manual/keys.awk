# xlm-mpi: the index of keys of job files, from --help-job of the programs, one file each. SPDX-License-Identifier: GPL-3.0-or-later
function code(text) { gsub(/\|/, "\\|", text); return text == "" ? "" : "`" text "`" }
function plain(text) { gsub(/[\\*_<>|~`\[\]]/, "\\\\&", text); return text }
function id_of(section, key) { key = tolower(section " " key); gsub(/[^a-z0-9_]+/, "-", key); sub(/^-/, "", key); return "key-" key }
function begin(heading) {
    section = heading
    skip = section in known
    if (!skip) { known[section]; order[++sections] = section; rows[section] = 0 }
}
FNR == 1 { program = FILENAME; sub(/.*\//, "", program); sub(/\.keys$/, "", program); section = heading = "" }
/^\[/ { heading = $0; begin(heading); if (!skip) of[section] = program; next }
# Keys of one kind of a section.
/^  with .*:$/ && heading != "" { sub(/^ +/, ""); sub(/:$/, ""); begin(heading " " $0); if (!skip) of[section] = program; next }
section == "" || skip || /^$/ { next }
# A key begins after two blanks; its columns stand two blanks or more apart: name, type, default, what it may be, meaning.
/^  [a-z_0-9]+  / {
    n = split(substr($0, 3), column, /  +/)
    row = ++rows[section]
    key[section, row] = column[1]; type[section, row] = column[2]; usual[section, row] = column[3]
    range[section, row] = n >= 5 ? column[4] : ""
    meaning[section, row] = column[n]
    next
}
/^  [^ ]/ && rows[section] == 0 { purpose[section] = purpose[section] (purpose[section] == "" ? "" : " ") substr($0, 3); next }
/^   / && rows[section] > 0 {
    text = $0; sub(/^ +/, "", text)
    meaning[section, rows[section]] = meaning[section, rows[section]] " " text
}
END {
    print "# Keys of job files\n"
    print "Made from `xlm_train --help-job` and `xlm_tune --help-job`. [Job files](jobs.md) explains how sections and keys" \
        " work together.\n"
    print "## All keys by name\n"
    for (s = 1; s <= sections; s++)
        for (r = 1; r <= rows[order[s]]; r++) {
            name = key[order[s], r]
            places[name] = places[name] (places[name] == "" ? "" : "; ") \
                "<a href=\"#" id_of(order[s], name) "\">" plain(order[s]) "</a>"
            if (!(name in listed)) { listed[name]; all[++names] = name }
        }
    for (i = 2; i <= names; i++)
        for (j = i; j > 1 && all[j] < all[j - 1]; j--) { swap = all[j]; all[j] = all[j - 1]; all[j - 1] = swap }
    for (i = 1; i <= names; i++) print "- " code(all[i]) ": " places[all[i]]
    for (s = 1; s <= sections; s++) {
        section = order[s]
        print "\n## " plain(section) "\n"
        print (section in purpose ? plain(purpose[section]) " " : "") "(`" of[section] " --help-job`)\n"
        if (rows[section] == 0) continue
        print "| key | type | default | may be | meaning |\n|---|---|---|---|---|"
        for (r = 1; r <= rows[section]; r++)
            printf "| <a id=\"%s\"></a>%s | %s | %s | %s | %s |\n", id_of(section, key[section, r]), code(key[section, r]),
                plain(type[section, r]), usual[section, r] ~ /^\(/ ? plain(usual[section, r]) : code(usual[section, r]),
                range[section, r] ~ /^from / ? plain(range[section, r]) : code(range[section, r]), plain(meaning[section, r])
    }
}
