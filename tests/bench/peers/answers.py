"""xlm-mpi: scores of random answers, beside those of the published scripts. SPDX-License-Identifier: GPL-3.0-or-later

answers.py OURS FOLDER [mlqa=SCRIPT] [squad1=SCRIPT] [squad2=SCRIPT]

OURS is the program answer_scores; FOLDER is where data is made. Answers are of words and characters
on which rules differ: articles, letters with marks, punctuation of many kinds, odd white space, numbers, scripts. Prints the largest difference of each
comparison; ends with 1 where one is more than 1e-9.
"""
import json
import random
import subprocess
import sys

WORDS = {
    "en": "a an the The AN theory house's house re-read U.S.A. naïve 3.14 $5 “the” the’ can't A",
    "es": "un una unos unas el la los las El LAS él casa niño ¿qué? ¡la! allá lasaña la-casa",
    "hi": "एक घर में है। हैं, दिल्ली १२३ घर॥ का the ‘घर’ हिन्दी",
    "vi": "của là cái chiếc những Của nhà trường đẹp ngôi-nhà Nguyễn la\u0300 những, cái.",
    "de": "ein eine einen einem eines einer der die das den dem des Der Straße »das« Äpfel übel-der STRASSE",
    "ar": "البيت ال خالد، الكتاب؟ بَيْت ١٢٣ والكتاب ألف «ال» الال",
    "zh": "北京 上海， 中国。 2008年 the 人民abc 《论语》 龦 一 龥 〇 ㄅ",
}
ODD = ["\u00a0", "\u3000", "\u2009", "\t", "  ", "\u200b", "\u0301", "😀", "€", "^", "_", "½", "²", "İ", "ΟΔΟΣ", "ǅ", "Ⅷ", "—",
       "\x1f", "…", "·", "\u0640", "\u2028", "々", "\u0e2a\u0e27\u0e31\u0e2a", "ß", "ﬁ", "①", "𝟘", "\u061c"]


def answer(draw, words):
    parts = []
    for _ in range(draw.randint(1, 6)):
        parts.append(draw.choice(words) if draw.random() < 0.8 else draw.choice(ODD))
        parts.append(draw.choice([" ", " ", " ", "", draw.choice(ODD)]))
    return "".join(parts)


def make(draw, words, n, unanswerable):
    """Data in SQuAD's form, predictions and null odds."""
    paragraphs, predictions, odds = [], {}, {}
    for i in range(n):
        pieces = [answer(draw, words) for _ in range(3)]
        context = "w " + " w ".join(pieces) + " w"
        right = [p for p in pieces[: draw.randint(1, 3)] if p.strip()]
        answers = [{"text": p, "answer_start": context.index(p)} for p in right]
        qa = {"id": f"q{i}", "question": "?", "answers": answers or [{"text": "w", "answer_start": 0}]}
        if unanswerable:
            qa["is_impossible"] = draw.random() < 0.4
            if qa["is_impossible"]:
                qa["answers"] = []
        paragraphs.append({"context": context, "qas": [qa]})
        kept = pieces[0].split(" ")
        near = " ".join(kept[draw.randint(0, 1): len(kept) - draw.randint(0, 1)])
        last = "" if unanswerable else "x"
        predictions[qa["id"]] = draw.choice([pieces[0], near, pieces[0].upper(), answer(draw, words), "the", last])
        more = 0 if qa["answers"] else 6  # so that a threshold helps
        odds[qa["id"]] = draw.choice([draw.uniform(-9, 9), float(draw.randint(-3, 3))]) + more
    return {"version": "1.1", "data": [{"title": "made", "paragraphs": paragraphs}]}, predictions, odds


def main():
    ours, folder = sys.argv[1:3]
    peers = dict(item.split("=", 1) for item in sys.argv[3:])
    worst = 0.0

    def write(name, value):
        path = f"{folder}/{name}.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value, file, ensure_ascii=len(name) % 2 == 0)
        return path

    def run(command):
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout

    def compare(what, script, arguments, rules, names, extra=()):
        nonlocal worst
        theirs = json.loads(run([sys.executable, script, *arguments]))
        mine = dict(line.split() for line in run([ours, arguments[0], arguments[1], rules, *extra]).splitlines())
        difference = max(abs(float(mine[a]) - theirs[b]) for a, b in names.items())
        worst = max(worst, difference)
        shown = "  ".join(f"{a} {float(mine[a]):.4f}" for a in names)
        print(f"{what:14s} {shown}  largest difference {difference:.1e}")

    for language, text in WORDS.items():
        draw = random.Random("answers " + language)
        words = text.split()
        data, predictions, _ = make(draw, words, 3000, False)
        files = [write("data", data), write("predictions", predictions)]
        first = {"exact_match": "exact_match", "f1": "f1"}
        if "mlqa" in peers:
            compare(f"MLQA {language}", peers["mlqa"], [*files, language], language, first)
        if "squad1" in peers:
            compare(f"SQuAD 1.1 {language}", peers["squad1"], files, "squad", first)
        if "squad2" in peers:
            data, predictions, odds = make(draw, words, 3000, True)
            files = [write("data", data), write("predictions", predictions)]
            odds = write("null_odds", odds)
            names = {"exact_match": "exact", "f1": "f1"}
            names.update({name: name for name in ("best_exact", "best_exact_thresh", "best_f1", "best_f1_thresh")})
            compare(f"SQuAD 2.0 {language}", peers["squad2"],
                    [*files, "--na-prob-file", odds, "--na-prob-thresh", "1e9"], "squad", names, [odds])
    print(f"largest difference of all {worst:.1e} percentage points")
    return worst > 1e-9


if __name__ == "__main__":
    sys.exit(main())
