/* xlm-mpi: the search of the manual. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * search-index.js, which is loaded when the field is used first, calls manualIndex with the sections of all pages: [page, anchor,
 * title of the page, title of the section, text]. It is a script since pages of file:// may not read other files. */
"use strict";

/* The sections that have all words of a query, best first: words in titles count most, then the query as it is, then how often its
 * words are in the text. */
function manualSearch(sections, query) {
    var words = query.toLowerCase().split(/\s+/).filter(function (w) { return w !== ""; });
    var found = [];
    if (words.length === 0)
        return found;
    sections.forEach(function (section, order) {
        var title = section[3].toLowerCase(), page = section[2].toLowerCase(), text = section[4].toLowerCase(), score = 0;
        var all = words.every(function (w) {
            var times = text.split(w).length - 1;
            var points = (title === w ? 60 : 0) + (title.indexOf(w) >= 0 ? 20 : 0) + (page.indexOf(w) >= 0 ? 5 : 0) +
                Math.min(times, 10);
            score += points;
            return points > 0;
        });
        if (all && words.length > 1 && text.indexOf(words.join(" ")) >= 0)
            score += 40;
        if (all)
            found.push({section: section, score: score, order: order});
    });
    found.sort(function (a, b) { return b.score - a.score || a.order - b.order; });
    return found.map(function (f) { return f.section; });
}

/* A part of the text around the first of the words. */
function manualExcerpt(text, query) {
    var word = query.toLowerCase().split(/\s+/).filter(function (w) { return w !== ""; })[0] || "";
    var at = Math.max(text.toLowerCase().indexOf(word), 0), from = Math.max(at - 50, 0);
    return {before: (from > 0 ? "… " : "") + text.slice(from, at), word: text.slice(at, at + word.length),
            after: text.slice(at + word.length, at + word.length + 90)};
}

if (typeof document !== "undefined") {
    (function () {
        var field = document.getElementById("manual-query"), list = document.getElementById("manual-found");
        var sections = null, loading = false;
        function show() {
            var results = sections === null ? [] : manualSearch(sections, field.value).slice(0, 20);
            list.textContent = "";
            results.forEach(function (s) {
                var item = document.createElement("li"), link = document.createElement("a"), part = document.createElement("span");
                var text = manualExcerpt(s[4], field.value), mark = document.createElement("b");
                link.href = s[0] + (s[1] !== "" ? "#" + s[1] : "");
                link.textContent = s[3] === s[2] ? s[2] : s[2] + ": " + s[3];
                mark.textContent = text.word;
                part.append(text.before, mark, text.after);
                item.append(link, part);
                list.append(item);
            });
            if (field.value.trim() !== "" && sections !== null && results.length === 0)
                list.textContent = "Nothing has all these words.";
        }
        window.manualIndex = function (index) { sections = index; show(); };
        function load() {
            if (loading)
                return;
            loading = true;
            var script = document.createElement("script");
            script.src = "search-index.js";
            document.head.append(script);
        }
        field.addEventListener("focus", load);
        field.addEventListener("input", function () { load(); show(); });
        document.getElementById("manual-search").hidden = false;
        if (window.matchMedia("(max-width: 50rem)").matches)
            document.getElementById("manual-pages").open = false;
    })();
}
