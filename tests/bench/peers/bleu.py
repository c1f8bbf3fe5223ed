#!/usr/bin/python3
"""xlm-mpi: scores of xlm_bleu beside those of sacreBLEU and multi-bleu.perl. SPDX-License-Identifier: GPL-3.0-or-later

bleu.py SACREBLEU PROGRAM MULTI_BLEU|- TEXTS FILE...

SACREBLEU is the directory of its package's repository, PROGRAM xlm_bleu, TEXTS how many random texts are scored, of the lines of
each FILE in turn, one language each. Translations and references are such lines with words and characters left out, moved,
doubled and replaced. A line per comparison: name, scores compared, scores that differ by 0.005 or more, largest difference."""
import json
import logging
import os
import random
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np

sacrebleu, program, multi_bleu, texts = sys.argv[1:5]
files = sys.argv[5:]
sys.path.insert(0, sacrebleu)
logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")
sys.modules["sacrebleu.version"] = type(sys)("sacrebleu.version")  # made when it is built
sys.modules["sacrebleu.version"].__version__ = "unknown"
from sacrebleu.metrics import BLEU, CHRF  # noqa: E402
from sacrebleu.significance import _compute_p_value, estimate_ci  # noqa: E402

ODD = ["&quot;", "&amp;", "&amp;lt;", "<skipped>", "3.5", "1,000", "7-", ".5", "5.", "-", "--", "...", "?!", "(x)", "a.b,c",
       "\u00a0", "\u2014", "\u2019s", "\u20ac5", "\u00a7", "\u3000", "\u2028", "\u4e2d\u6587", "\U0001F600", "\U00020000",
       "e\u0301", "\u0130", "\u03a3\u039f\u03a3", "\u0661\u066b\u0662", "$1", "x^2", "\u2460.", "\u00bd-", "\x1c", "\u200b", "@", "#a", "~"]


def noisy(line, draw):
    words = line.split(" ")
    for _ in range(draw.randrange(6)):
        i = draw.randrange(len(words))
        kind = draw.randrange(7)
        if kind == 0:
            words[i] = draw.choice(ODD) if draw.random() < 0.5 else words[i] + draw.choice(ODD)
        elif kind == 1 and len(words) > 1:
            del words[i]
        elif kind == 2:
            words.insert(i, draw.choice(words))
        elif kind == 3:
            j = draw.randrange(len(words))
            words[i], words[j] = words[j], words[i]
        elif kind == 4:
            words[i] = words[i].upper()
        elif kind == 5 and words[i]:
            j = draw.randrange(len(words[i]))
            words[i] = words[i][:j] + draw.choice(["", ".", ",", "-", "7", words[i][j] * 2]) + words[i][j + 1:]
        else:
            words[i] = words[i][::-1]
    return "" if draw.random() < 0.03 else " ".join(words)


def write(path, lines):
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        out.write("".join(line + "\n" for line in lines))


class Comparison:
    def __init__(self, name):
        self.name, self.scores, self.different, self.worst = name, 0, 0, 0.0

    def add(self, ours, theirs, what):
        difference = abs(ours - theirs)
        self.scores += 1
        self.worst = max(self.worst, difference)
        if not difference < 0.005:
            self.different += 1
            if self.different <= 3:
                print(f"{self.name}: {ours} instead of {theirs}: {what}", file=sys.stderr)


def philox(key, counter):
    """Philox4x32-10 (base/rng.h) of arrays: key[2], counter[4]."""
    key, counter, low = list(key), list(counter), np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * counter[0], np.uint64(0xCD9E8D57) * counter[2]
        counter = [(p1 >> np.uint64(32)) ^ counter[1] ^ key[0], p1 & low, (p0 >> np.uint64(32)) ^ counter[3] ^ key[1], p0 & low]
        key = [(key[0] + np.uint64(0x9E3779B9)) & low, (key[1] + np.uint64(0xBB67AE85)) & low]
    return counter


def samples_of(sentences, samples, seed):
    """The sentences [samples, sentences] that xlm_bleu draws (src/translation_scores/bootstrap.c)."""
    with open(os.path.join(os.environ["XLM_SOURCE"], "src/base/rng.h"), encoding="utf-8") as header:
        purpose = 1 + re.findall(r"^    (XLM_RNG_[A-Z_]+)", header.read(), re.M).index("XLM_RNG_BOOTSTRAP")
    zero = np.zeros((samples, 1), np.uint64)
    step = np.arange(samples, dtype=np.uint64)[:, None]
    key = philox([zero + np.uint64(seed), zero], [step, zero, zero + np.uint64(purpose), zero + np.uint64(0x786C6D00)])[:2]
    zero = np.zeros((samples, (sentences + 3) // 4), np.uint64)
    block = np.stack(philox(key, [zero + np.arange(zero.shape[1], dtype=np.uint64), zero, zero, zero]), axis=2)
    return (block.reshape(samples, -1)[:, :sentences] * np.uint64(sentences) >> np.uint64(32)).astype(np.int64)


def run(*arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout


def compare_sentences(path, metrics, hypothesis, references, compared, what):
    with open(path, encoding="utf-8") as table:
        rows = [line.rstrip("\n").split("\t") for line in table][1:]
    for i, row in enumerate(rows):
        for metric, name, score in zip(metrics, ("BLEU", "chrF2", "chrF2++"), row[2:]):
            theirs = metric.sentence_score(hypothesis[i], [r[i] for r in references]).score
            compared[name + " of sentences"].add(float(score), theirs, what + [i + 1])


def compare_bootstrap(result, metrics, systems, references, compared, what):
    """Means, intervals and p of sacreBLEU's functions on the samples that xlm_bleu draws."""
    drawn = samples_of(len(systems[0]), 200, 7)
    for metric, ours in zip(metrics, result["metrics"]):
        counts = [np.array(metric._extract_corpus_statistics(s, references), dtype="float64") for s in systems]
        scores = [np.array([metric._compute_score_from_stats(c[d].sum(0)).score for d in drawn]) for c in counts]
        real = [metric.corpus_score(s, references).score for s in systems]
        for s, of in zip(scores, ours["systems"]):
            mean, half = estimate_ci(s)
            compared["bootstrap: means"].add(of["bootstrap"]["mean"], mean, what)
            compared["bootstrap: intervals"].add(of["bootstrap"]["half_width"], half, what)
        difference = np.abs(scores[1] - scores[0])
        p = _compute_p_value(difference - difference.mean(), abs(real[1] - real[0]))
        if real[0] != real[1]:  # ours is 1 otherwise
            compared["bootstrap: p"].add(ours["systems"][1]["p"], p, what)


def compare_moses(hypothesis, references, compared, what):
    lower = ["-lc"] if what[0] % 3 == 0 else []
    with open(hypothesis, "rb") as translations:
        line = subprocess.run(["perl", multi_bleu, *lower, *references], stdin=translations, capture_output=True, text=True)
    ours = run(hypothesis, *references, "--metric", "multi-bleu", *["--lowercase"] * len(lower))
    line = line.stdout
    if "/" in line:  # it divides by 0 where all translations are empty
        compared["multi-bleu"].add(float(re.search("= ([0-9.]+)", ours)[1]), float(re.search("= ([0-9.]+)", line)[1]), what)
        compared["multi-bleu: lines that differ"].add(float(ours != line), 0, [ours, line])


def compare_text(lines, draw, number, folder, compared):
    size = draw.choice([1, 2, 5, 20, 60])
    source = [draw.choice(lines) for _ in range(size)]
    n = draw.choice([1, 3])
    paths = [os.path.join(folder, name) for name in ("system", "other", "r0", "r1", "r2")[:2 + n]]
    texts = [[noisy(line, draw) for line in source] for _ in paths]
    for path, text in zip(paths, texts):
        write(path, text)
    texts = [[line.rstrip() for line in text] for text in texts]  # as sacreBLEU reads files
    systems, references = texts[:2], texts[2:]
    table = os.path.join(folder, "sentences")
    words = ("13a", "intl", "zh", "char", "none")[number % 5]
    smoothings = (("exp", None), ("floor", None), ("add-k", None), ("none", None), ("floor", 0.5), ("add-k", 0.3))
    smooth, value = smoothings[number // 5 % 6]
    lower, space, epsilon = (draw.random() < 0.3 for _ in range(3))
    options = ["--tokenize", words, "--smooth", smooth] + (["--smooth-value", str(value)] if value else [])
    options += ["--lowercase"] * lower + ["--chrf-whitespace"] * space + ["--chrf-eps-smoothing"] * epsilon
    for settings in ([], options):
        if settings == []:
            bleu, chrf = BLEU(force=True), {}
        else:
            bleu = BLEU(force=True, tokenize=words, smooth_method=smooth, smooth_value=value, lowercase=lower)
            chrf = {"lowercase": lower, "whitespace": space, "eps_smoothing": epsilon}
        metrics = [bleu, CHRF(**chrf), CHRF(word_order=2, **chrf)]
        what = [number, n, size] + settings
        result = json.loads(run(paths[0], *paths[2:], "--system", "other=" + paths[1], "--metric", "bleu,chrf,chrf++", "--json",
                                "--bootstrap", "200", "--seed", "7", "--sentences", table, "--width", "6", *settings))
        for metric, ours in zip(metrics, result["metrics"]):
            for system, of in zip(systems, ours["systems"]):
                theirs = metric.corpus_score(system, references)
                compared[theirs.name].add(of["score"], theirs.score, what)
            signature = re.sub("bs:200[|]seed:7[|]|version:.*", "", ours["signature"])
            theirs = re.sub("version:.*", "", str(metric.get_signature()))
            compared["signatures that differ"].add(float(signature != theirs), 0, what)
        if number % 20 == 0:
            compare_bootstrap(result, metrics, systems, references, compared, what)
        run(paths[0], *paths[2:], "--metric", "bleu,chrf,chrf++", "--sentences", table, "--width", "6", *settings)
        bleu.effective_order = True
        compare_sentences(table, metrics, systems[0], references, compared, what)
    if multi_bleu != "-":
        compare_moses(paths[0], paths[2:], compared, [number])


def main():
    draw = random.Random(1)
    names = ["BLEU", "chrF2", "chrF2++", "BLEU of sentences", "chrF2 of sentences", "chrF2++ of sentences",
             "signatures that differ", "bootstrap: means", "bootstrap: intervals", "bootstrap: p",
             "multi-bleu", "multi-bleu: lines that differ"]
    compared = {name: Comparison(name) for name in names}
    languages = []
    for name in files:
        with open(name, encoding="utf-8", newline="\n") as text:
            languages.append([line.rstrip("\n") for line in text if line.strip()])
    with tempfile.TemporaryDirectory() as folder:
        for number in range(int(texts)):
            compare_text(languages[number % len(languages)], draw, number, folder, compared)
    for c in compared.values():
        if c.scores > 0:
            print(c.name, c.scores, c.different, f"{c.worst:.2g}", sep="\t")


main()
