# xlm-mpi: the index of all errors and warnings, from the sources. SPDX-License-Identifier: GPL-3.0-or-later
#
#   awk -f errors.awk SOURCE.c ... >errors.md
#
# A message is the format of a call of xlm_error_set or xlm_log_warn, with … for what is a name or a text, and N for a number. Where
# a function has a part of its message from who calls it, as refuse(store, what, error), the messages are those of its calls: in its
# file, or in all if it is not static. Exit codes are named as in <sysexits.h>.
BEGIN {
    RS = "\001"
    names = "USAGE 64 DATAERR 65 NOINPUT 66 NOUSER 67 NOHOST 68 UNAVAILABLE 69 SOFTWARE 70 OSERR 71 OSFILE 72 CANTCREAT 73 " \
        "IOERR 74 TEMPFAIL 75 PROTOCOL 76 NOPERM 77 CONFIG 78"
    n = split(names, name, " ")
    for (i = 1; i < n; i += 2) code_of["EX_" name[i]] = name[i + 1]
}

# call(TEXT, AT): the arguments of the call whose opening parenthesis is there, as argument[1..arguments].
function call(text, at,    depth, c, quoted, start) {
    arguments = depth = quoted = 0
    start = at + 1
    for (; at <= length(text); at++) {
        c = substr(text, at, 1)
        if (quoted) {
            if (c == "\\") at++
            else if (c == quoted) quoted = 0
        } else if (c == "\"" || c == "'") quoted = c
        else if (c == "(" || c == "[" || c == "{") depth++
        else if ((c == ")" || c == "]" || c == "}") && --depth == 0) {
            argument[++arguments] = substr(text, start, at - start)
            return
        } else if (c == "," && depth == 1) { argument[++arguments] = substr(text, start, at - start); start = at + 1 }
    }
}
# find_literals(TEXT): its string literals, those that follow one another joined, as literal[1..literals]; macros of GLib between
# them are conversions of numbers.
function find_literals(text,    at, c, inside, now, open) {
    gsub(/G_G[A-Z]*INT[0-9]*_FORMAT|G_GS?SIZE_FORMAT/, "\"d\"", text)
    gsub(/G_G[A-Z]*INT[0-9]*_MODIFIER/, "\"l\"", text)
    literals = inside = open = 0
    now = ""
    for (at = 1; at <= length(text); at++) {
        c = substr(text, at, 1)
        if (inside && c == "\\") {
            c = substr(text, ++at, 1)
            now = now (c == "n" || c == "t" ? " " : c)
        } else if (c == "\"") { inside = !inside; open = 1 }
        else if (inside) now = now c
        else if (c !~ /[ \n\t]/ && open) { literal[++literals] = now; now = ""; open = 0 }
    }
    if (open) literal[++literals] = now
}
# shown(FORMAT, WHICH, TEXT): the message; the argument of that number, if there is one, is TEXT.
function shown(format, which, text,    out, conversion, number) {
    number = 0
    gsub(/%%/, "\002", format)
    while (match(format, /%[-+ #0]*[0-9*]*(\.[0-9*]*)?[hlzjt]*[a-zA-Z]/)) {
        conversion = substr(format, RSTART, RLENGTH)
        number += 1 + gsub(/\*/, "*", conversion)
        out = out substr(format, 1, RSTART - 1) (number == which ? text : conversion ~ /[sc]$/ ? "…" : "N")
        format = substr(format, RSTART + RLENGTH)
    }
    out = out format
    gsub(/\002/, "%", out)
    return out
}
# add(PART, TEXT): a message to a part of the page: an exit code, or W. Those without a word of their own are of other functions.
function add(part, text,    key, i) {
    gsub(/…(…)+/, "…", text)
    key = text
    gsub(/…|N/, "", key)
    gsub(/[^A-Za-z0-9 ]/, "", key)
    sub(/^ +/, "", key)
    if (length(key) < 3 || (part, text) in seen) return
    seen[part, text]
    gsub(/[][\\`*_{}<>|"$~]/, "\\\\&", text)
    # In the order of their words.
    for (i = ++number_of[part]; i > 1 && key_of[part, i - 1] > tolower(key); i--) {
        key_of[part, i] = key_of[part, i - 1]
        message[part, i] = message[part, i - 1]
    }
    key_of[part, i] = tolower(key)
    message[part, i] = text
}
# show(PART): its messages.
function show(part,    i) { for (i = 1; i <= number_of[part]; i++) print "- " message[part, i] }
# parameters(FUNCTION): its name, whether it is static, and the names of what it gets that is an exit code or tells what is wrong; a
# format, in place of which the text that is made of it is named.
function parameters(body,    head, i) {
    parameters_ = 0
    head = substr(body, 1, index(body, "\n{\n"))
    if (!match(head, /[a-z_0-9]+\([^()]*\)[^()]*$/)) return
    is_static = head ~ /static[^;}]*$/
    head = substr(head, RSTART)
    name_of_function = substr(head, 1, index(head, "(") - 1)
    call(head, index(head, "("))
    parameters_ = arguments
    for (i = 1; i <= arguments; i++) {
        parameter[i] = argument[i]
        sub(/.*[* ]/, "", parameter[i])
        if (parameter[i] == "format" && match(body, /[a-z]+ = g_strdup_vprintf\(format/))
            parameter[i] = substr(body, RSTART, index(substr(body, RSTART), " ") - 1)
        else if (argument[i] !~ /int (exit_)?code$|const char \*(what|why|wanted|fault|reason|remedy)$/) parameter[i] = ""
    }
}
# parameters_of_macro(TEXT): the same of the macro whose definition the text ends in; the place of __VA_ARGS__ is known.
function parameters_of_macro(text,    i, n, part) {
    n = split(text, part, /#define /)
    name_of_function = part[n]
    sub(/\(.*/, "", name_of_function)
    call(part[n], index(part[n], "("))
    parameters_ = arguments
    for (i = 1; i < arguments; i++) parameter[i] = ""
    parameter[arguments] = "__VA_ARGS__"
    is_static = 0
}
# place_of(TEXT): which of the parameters this argument is, or 0.
function place_of(text,    i) {
    gsub(/[ \n]/, "", text)
    for (i = 1; i <= parameters_; i++) if (text != "" && parameter[i] == text) return i
    return 0
}
# is_called(NAME, FILE, CODE, CODES, TEXT, FORM): calls of the function are to be looked for, in the file, or in all if it is 0. Its
# arguments CODE and TEXT are an exit code and the text that \003 in FORM stands for; without CODE, the code is one of CODES. Where
# no call has a text of its own, it stands for any.
function is_called(name, file, code, codes, text, form,    i) {
    for (i = 1; i <= of; i++)
        if (of_name[i] == name && of_file[i] == file && of_codes[i] == codes && of_text[i] == text && of_form[i] == form) return
    of_name[++of] = name; of_file[of] = file
    of_code[of] = code; of_codes[of] = codes
    of_text[of] = text; of_form[of] = form
    of_found[of] = 0
}
# say(MESSAGE, CODES): under each of the codes that are named here, or where none is, under 0.
function say(text, codes,    n, list, i, named) {
    n = split(codes, list, /[^A-Z_]+/)
    for (i = 1; i <= n; i++) if (list[i] in code_of) { add(code_of[list[i]], text); named = 1 }
    if (!named) add(codes == "W" ? "W" : 0, text)
}
# look(E, FILE): for calls of the E-th function in a file.
function look(e, file,    f, rest, at, before, codes, code, i, j, text, form, extra, place) {
    if (index(whole[file], of_name[e] "(") == 0) return
    for (f = 1; f <= functions[file]; f++) {
        rest = function_[file, f]
        if (index(rest, of_name[e] "(") == 0) continue
        parameters(rest)
        while ((at = index(rest, of_name[e] "(")) > 0) {
            before = at > 1 ? substr(rest, at - 1, 1) : " "
            rest = substr(rest, at + length(of_name[e]))
            if (before ~ /[a-z_0-9]/) continue
            call(rest, 1)
            if (argument[of_text[e]] ~ /const char|^ *\.\.\./) continue # its own head
            if (argument[of_text[e]] ~ /__VA_ARGS__/) {
                codes = of_code[e] ? argument[of_code[e]] : of_codes[e]
                parameters_of_macro(substr(function_[file, f], 1, length(function_[file, f]) - length(rest) - length(of_name[e])))
                is_called(name_of_function, is_header[file] ? 0 : file, 0, codes, parameters_, of_form[e])
                of_found[e] = 1
                parameters(function_[file, f])
                continue
            }
            codes = of_code[e] ? argument[of_code[e]] : of_codes[e]
            code = of_code[e] ? place_of(codes) : 0
            find_literals(argument[of_text[e]])
            # Of a call of xlm_error_set itself, the text has arguments of its own.
            extra = 0
            if (of_form[e] == "\003")
                for (i = of_text[e] + 1; i <= arguments; i++)
                    if ((j = place_of(argument[i])) && j != code) { extra = i - of_text[e]; place = j }
            for (i = 1; i <= literals; i++) {
                if (of_form[e] != "\003" && literal[i] !~ / /) continue # a name of an argument, or a mark
                form = of_form[e]
                text = shown(literal[i], extra, "\003")
                gsub(/\\/, "\\\\", text)
                gsub(/&/, "\\\\&", text)
                sub(/\003/, text, form)
                if (extra) is_called(name_of_function, is_static ? file : 0, code, codes, place, form)
                else say(form, codes)
                of_found[e] = 1
            }
            if (literals == 0 && (j = place_of(argument[of_text[e]]))) {
                of_found[e] = 1
                is_called(name_of_function, is_static ? file : 0, code, codes, j, of_form[e])
            }
        }
    }
}
{
    gsub(/\/\*[^*]*\*+([^\/*][^*]*\*+)*\//, " ")
    whole[++files] = $0
    is_header[files] = FILENAME ~ /\.h$/
    functions[files] = split($0, chunk, "\n}\n")
    for (f = 1; f <= functions[files]; f++) function_[files, f] = chunk[f]
}
END {
    is_called("xlm_error_set", 0, 2, "", 3, "\003")
    is_called("xlm_log_warn", 0, 0, "W", 1, "\003")
    for (e = 1; e <= of; e++)
        if (of_file[e]) look(e, of_file[e])
        else for (i = 1; i <= files; i++) look(e, i)
    for (e = 3; e <= of; e++) if (!of_found[e]) { sub(/\003/, "…", of_form[e]); say(of_form[e], of_codes[e]) }
    print "# All errors and warnings\n\nMade from the sources, sorted by their words. … stands for a name or a text, N for a number."
    print "[Troubleshooting](troubleshooting.md) explains what is seen often, and what the exit codes mean."
    for (i = 64; i <= 78; i++) if (i in number_of) { print "\n## Exit code " i "\n"; show(i) }
    print "\n## Several exit codes\n\nSuch a mistake ends a program with 64 where an option has it, with 78 where a job file has it;"
    print "and of a file that is missing or wrong with 66 or 65.\n"
    show(0)
    print "\n## Warnings\n"
    show("W")
}
