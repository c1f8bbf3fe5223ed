#!/usr/bin/python3
"""Compute a step of `xlm_train --dump-step FILE.h5` or `xlm_tune --dump-step FILE.h5` again in PyTorch, in double precision,
and compare.

    /usr/bin/python3 tests/bench/peers/check_dump.py step.h5 [corpus.h5 links.h5]

Needs Debian's python3-torch and python3-h5py. Compares every hidden state, the loss of every objective, what a dictionary put
into the input, with a corpus and its alignment the links of streams, and the gradient of every parameter with those in the file
(layout: src/train/dump.h). Objectives that are known here: mlm (also as tlm), clm, dict-mlm in both forms, align, dwa, weam, gc
with its table, sop, moco with its queue and average, seq2seq, mass and back-translation with the decoder, and the task tagging.

Ends with code 0 when all was checked and is the same; 1 when something differs by more than float rounding explains; 2 when
nothing differs, but an objective is not known here, so that its loss and all gradients could not be checked.
"""
# SPDX-License-Identifier: GPL-3.0-or-later
import math
import sys

import h5py
import torch
import torch.nn.functional as F

# Largest |ours − theirs| over the largest |theirs|. Ours is single precision.
TOLERANCE_STATE, TOLERANCE_LOSS, TOLERANCE_GRADIENT = 1e-5, 1e-6, 5e-5


WORD = (1 << 32) - 1


def philox(key, counter):
    """Philox4x32-10 (Salmon et al. 2011)."""
    (k0, k1), (c0, c1, c2, c3) = key, counter
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & WORD, (p0 >> 32) ^ c3 ^ k1, p0 & WORD
        k0, k1 = (k0 + 0x9E3779B9) & WORD, (k1 + 0xBB67AE85) & WORD
    return c0, c1, c2, c3


def digest(name):
    """64 bits of a name: FNV-1a, then mixed."""
    h, most = 0xCBF29CE484222325, (1 << 64) - 1
    for byte in name.encode():
        h = (h ^ byte) * 0x100000001B3 & most
    for factor in 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53:
        h = (h ^ h >> 33) * factor & most
    return h ^ h >> 33


def parameters_of(group, prefix=""):
    for name, item in group.items():
        if isinstance(item, h5py.Group):
            yield from parameters_of(item, prefix + name + "/")
        else:
            yield prefix + name, item


def read_text(group):
    return {k: read_text(d) if isinstance(d, h5py.Group) else torch.tensor(d[...]).long() for k, d in group.items()}


class Encoder:
    """Post-LN encoder, decoder and LM head from named parameters, with adapters: LoRA (Hu et al. 2021), bottleneck adapters and
    invertible ones as in the library adapters (SeqBnConfig, SeqBnInvConfig)."""

    def __init__(self, model, parameters):
        self.model, self.a, self.p = model, model.attrs, parameters
        names = self.text("adapters").split(",") if "adapters" in self.a else []
        self.adapters = {name: model["adapters"][name].attrs for name in names}

    def text(self, key, attributes=None):
        value = (self.a if attributes is None else attributes)[key]
        return value.decode() if isinstance(value, bytes) else str(value)

    def linear(self, x, prefix):
        y = F.linear(x, self.p[prefix + "/weight"], self.p[prefix + "/bias"])
        for name, of in self.adapters.items():
            beside = f"adapters/{name}/{prefix}/"
            if beside + "lora_a" in self.p:
                low = F.linear(x, self.p[beside + "lora_a"])
                y = y + float(of["alpha"]) / int(of["rank"]) * F.linear(low, self.p[beside + "lora_b"])
        return y

    def bottleneck(self, x, prefix):
        return self.linear(F.relu(self.linear(x, prefix + "/down")), prefix + "/up")

    def adapt(self, x, f, prefix):
        """f of a feed-forward sublayer that reads x, with what the stack of bottleneck adapters makes of it."""
        for name in self.adapters:
            own = f"adapters/{name}/{prefix}"
            if own + "/down/weight" in self.p:
                f = f + self.bottleneck(self.norm(x + f, prefix + "/layer_norm"), own)
        return f

    def part(self, path, stack):
        """The name of a part of the embeddings or the head: a decoder with share_embeddings = false has its own."""
        own = stack == "decoder" and "share_embeddings" in self.a and self.text("share_embeddings") == "false"
        return "decoder/" + path if own else path

    def invert(self, x, stack, back):
        """NICE's coupling of both halves of the embeddings, there or back: what was done last is undone first."""
        for name, of in reversed(self.adapters.items()) if back else self.adapters.items():
            if "invertible" not in of or self.text("invertible", of) != "true":
                continue
            own = f"adapters/{name}/" + self.part("embeddings/invertible", stack)
            one, two = x[:, : x.shape[1] // 2], x[:, x.shape[1] // 2 :]
            if back:
                two = two - self.bottleneck(one, own + "/g")
                one = one - self.bottleneck(two, own + "/f")
            else:
                one = one + self.bottleneck(two, own + "/f")
                two = two + self.bottleneck(one, own + "/g")
            x = torch.cat([one, two], 1)
        return x

    def norm(self, x, prefix):
        return F.layer_norm(x, x.shape[-1:], self.p[prefix + "/weight"], self.p[prefix + "/bias"], float(self.a["layer_norm_epsilon"]))

    def gelu(self, x):
        form = self.text("activation") if "activation" in self.a else "gelu"
        return F.gelu(x, approximate="tanh" if form == "gelu_tanh" else "none")

    def embed(self, b, name):
        rows = b["positions"] + int(self.a["position_offset"])
        x = self.p[self.part("embeddings/word/weight", name)][b["ids"]]
        if name == "decoder" and "language_tokens" in self.a:
            token = self.p["decoder/embeddings/language_token/weight"][b["languages"]]
            x = torch.where((b["positions"] == 0)[:, None], token, x)
        if self.text("position_type") == "learned":
            x = x + self.p[self.part("embeddings/position/weight", name)][rows]
        else:
            e = x.shape[1]
            angle = rows[:, None].double() / 10000 ** (torch.arange(e) // 2 * 2 / e).double()
            x = x + torch.where(torch.arange(e) % 2 == 0, angle.sin(), angle.cos())
        if self.text("language_embeddings") == "true":
            x = x + self.p[self.part("embeddings/language/weight", name)][b["languages"]]
        if self.text("token_types") == "true":
            x = x + self.p[self.part("embeddings/token_type/weight", name)][b["types"]]
        x = self.invert(self.norm(x, self.part("embeddings/layer_norm", name)), name, False)
        projection = self.part("embeddings/projection", name)
        return self.linear(x, projection) if projection + "/weight" in self.p else x

    def attend(self, x, b, prefix, causal=False, memory=None, memory_offsets=None):
        """Attention of each sequence of x to itself, or to the rows of memory that belong to it."""
        heads = int(self.a["attention_heads"])
        source, ends = (x, b["offsets"]) if memory is None else (memory, memory_offsets)
        q, k, v = (self.linear(t, prefix + "/" + part) for t, part in ((x, "query"), (source, "key"), (source, "value")))
        out = []
        for s in range(len(b["offsets"]) - 1):
            rows, others = (slice(int(o[s]), int(o[s + 1])) for o in (b["offsets"], ends))
            qs, ks, vs = (t[r].view(len(t[r]), heads, -1).transpose(0, 1) for t, r in ((q, rows), (k, others), (v, others)))
            scores = qs @ ks.transpose(1, 2) / math.sqrt(qs.shape[2])
            if causal:
                scores = scores.masked_fill(self.hidden_from(scores.shape[1]), -math.inf)
            out.append((torch.softmax(scores, -1) @ vs).transpose(0, 1).reshape(-1, x.shape[1]))
        return self.linear(torch.cat(out), prefix + "/output")

    def hidden_from(self, n):
        """[n x n]: which tokens each does not see when attention is causal: those after it."""
        return torch.ones(n, n, dtype=torch.bool).triu(1)

    def layer(self, x, b, prefix, causal, *memory):
        x = self.norm(x + self.attend(x, b, prefix + "/attention", causal), prefix + "/attention/layer_norm")
        if memory:
            attended = self.attend(x, b, prefix + "/memory_attention", False, *memory)
            x = self.norm(x + attended, prefix + "/memory_attention/layer_norm")
        wide = self.gelu(self.linear(x, prefix + "/feed_forward/intermediate"))
        f = self.adapt(x, self.linear(wide, prefix + "/feed_forward/output"), prefix + "/feed_forward")
        return self.norm(x + f, prefix + "/feed_forward/layer_norm")

    def stack(self, b, name, layers, causal, *memory):
        hidden = [self.embed(b, name)]
        for l in range(layers):
            prefix = f"{name}/layer." + ("shared" if self.text("share_layers") == "true" else str(l))
            hidden.append(self.layer(hidden[-1], b, prefix, causal, *memory))
        return hidden

    def encode(self, b, causal=False):
        return self.stack(b, "encoder", int(self.a["layers"]), causal)

    def decode(self, b, source, seen=None):
        """The decoder's states of text b, which attends to the encoder's last states of the source, or of its rows seen."""
        memory, ends = self.encode(source)[-1], source["offsets"]
        if seen is not None:
            memory, ends = memory[seen], torch.tensor([int((seen < end).sum()) for end in ends])
        return self.stack(b, "decoder", int(self.a["decoder_layers"]), True, memory, ends)[-1]

    def next_words(self, h, b, smoothing, stack="encoder"):
        """Mean cross-entropy of each token of text b but the first of its sequence, by the state h of the token before it."""
        before = torch.ones(len(h), dtype=torch.bool)
        before[b["offsets"][1:] - 1] = False
        before = torch.nonzero(before).flatten()
        return self.words(h[before], b["ids"][before + 1], smoothing, stack), len(before)

    def logits(self, h, stack="encoder"):
        """[M x V] of the head for words at rows h [M x d]."""
        head = self.part("lm_head", stack)
        if head + "/dense/weight" in self.p:
            h = self.linear(h, head + "/dense")
        if self.text("head") == "bert":
            h = self.norm(self.gelu(h), head + "/layer_norm")
        return F.linear(self.invert(h, stack, True), self.p[self.part("embeddings/word/weight", stack)], self.p[head + "/bias"])

    def words(self, h, labels, smoothing=0.0, stack="encoder"):
        """Mean cross-entropy of labels [M] at rows h [M x d], by the head for words."""
        return F.cross_entropy(self.logits(h, stack), labels, label_smoothing=smoothing)


def sentence_pairs(b):
    """Rows of each sentence and of its translation: sentence n of a sequence's one side is that of the other."""
    first, last = b["offsets"][:-1], b["offsets"][1:] - 1
    around = set(b["original"][torch.cat([first, last])].tolist()) # <s> and </s>
    pairs = []
    for s in range(len(b["offsets"]) - 1):
        sides = ([], [])
        for side in (0, 1):
            inside = False
            for row in range(int(b["offsets"][s]), int(b["offsets"][s + 1])):
                if int(b["types"][row]) != side or int(b["original"][row]) in around:
                    inside = False
                    continue
                if not inside:
                    sides[side].append([])
                inside = True
                sides[side][-1].append(row)
        pairs += zip(*sides)
    return pairs


def self_labels(similarity, options):
    """Links by optimal transport and filter, of n x m similarities (XLM-Align, section 3.1)."""
    k = similarity.clamp(min=float(options["epsilon"])) ** (1 / float(options["mu"]))
    v = torch.ones(k.shape[1]).double()
    for _ in range(int(options["sinkhorn_iterations"])):
        u = 1 / (k @ v)
        v = 1 / (k.T @ u)
    # Similarities below epsilon make ties, which rounding must not decide: of equal numbers the first is the largest.
    a = (u[:, None] * k * v[None, :]).float().double()
    linked = torch.zeros_like(a, dtype=torch.bool)
    for _ in range(int(options["itermax_iterations"]) if options["filter"] == "itermax" else 1):
        forward, backward = torch.zeros_like(linked), torch.zeros_like(linked)
        forward[torch.arange(len(a)), a.numpy().argmax(1)] = True
        backward[a.numpy().argmax(0), torch.arange(a.shape[1])] = True
        if options["filter"] == "off":
            return forward | backward
        linked |= forward & backward
        touched = linked.any(1)[:, None] | linked.any(0)[None, :]
        a = torch.where(linked, 0.0, torch.where(touched, float(options["alpha"]) * a, a))
    return linked


class Objective:
    """One of the file's: its numbers, and what its loss is made of."""

    def __init__(self, name, group, file, encoder, batches, hidden):
        a = group["loss"].attrs
        text = {k: a[k].decode() if isinstance(a[k], bytes) else str(a[k]) for k in ("plugin", "stream", "options")}
        self.name, self.plugin, self.stream = name, text["plugin"], text["stream"]
        self.weight, self.terms, self.stated = float(a["weight"]), int(a["terms"]), torch.tensor(group["loss"][...]).double()
        self.options = dict(line.split(" = ", 1) for line in text["options"].splitlines())
        self.file, self.encoder, self.b, self.h = file, encoder, batches.get(self.stream), hidden.get(self.stream)

    def masked(self):
        return self.h[-1][self.b["masked_positions"]]

    def smoothing(self):
        return float(self.options.get("label_smoothing", 0))

    def mlm(self):
        return self.encoder.words(self.masked(), self.b["targets"], self.smoothing())

    def dict_mlm(self):
        if self.options["predict"] == "original":
            return self.mlm()
        assert self.options["predict"] == "translation", self.options
        translations = self.b["translations"][self.b["masked_positions"]]
        return self.encoder.words(self.masked(), torch.where(translations >= 0, translations, self.b["targets"]))

    def align(self):
        """Minus the mean cosine over all pairs of the dictionary."""
        pairs = [torch.tensor(d[...]).long() for d in self.file["dictionaries"].values()
                 if str(d.attrs["path"], "utf-8") == self.options["dictionary"]]
        assert len(pairs) == 1 and len(pairs[0]) == self.terms, "all pairs of the dictionary are in every step"
        a, b = (self.encoder.p["embeddings/word/weight"][pairs[0][:, side]] for side in (0, 1))
        return -F.cosine_similarity(a, b, eps=1e-12).mean()

    def gc(self):
        """Squared errors of the products of masked positions and neighbours against logarithms of how often they meet."""
        tables = [t for t in self.file["cooccurrence"].values() if str(t.attrs["path"], "utf-8") == self.options["cooccurrence"]]
        assert len(tables) == 1, "the table of the objective"
        offsets, columns, counts = (tables[0][part][...] for part in ("offsets", "columns", "counts"))
        count = {(i, int(columns[e])): float(counts[e]) for i in range(len(offsets) - 1)
                 for e in range(int(offsets[i]), int(offsets[i + 1]))}
        words, h, window = self.b["original"].tolist(), self.h[-1], int(self.options["window"])
        bounds = list(zip(self.b["offsets"][:-1].tolist(), self.b["offsets"][1:].tolist()))
        ends = {words[bounds[0][0]], words[bounds[0][1] - 1]}  # <s>, </s>
        total, masked = torch.zeros(()).double(), self.b["masked_positions"].tolist()
        assert len(masked) == self.terms, "every masked position is a term"
        for t in masked:
            first, end = next(b for b in bounds if b[0] <= t < b[1])
            first = max([first] + [k + 1 for k in range(first, t) if words[k] in ends])
            end = min([end] + [k for k in range(t, end) if words[k] in ends])
            for k in range(max(first, t - window), min(end, t + window + 1)):
                x = count.get((min(words[t], words[k]), max(words[t], words[k])), 0.0)
                if k == t or x == 0:
                    continue
                other = h[k] if self.options["form"] == "hidden" else self.encoder.p["embeddings/word/weight"][words[k]]
                weight = min(1.0, (x / float(self.options["x_max"])) ** float(self.options["exponent"]))
                total = total + weight * (h[t] @ other / math.sqrt(h.shape[1]) - math.log(x)) ** 2
        return total / (2 * window * len(masked))

    def read(self):
        """The text of the stream as it was read, before noise, masks and switching."""
        b = self.b
        return b["original_text"] if "original_text" in b else dict(b, ids=b["original"], languages=b["text_languages"])

    def side(self, kind, text=None):
        """A batch of its own of one side of pairs: of the text as it was read, or of another. kind is the type of its tokens."""
        b = text or self.read()
        rows, bos = {"ids": [], "positions": [], "languages": [], "offsets": [0]}, int(b["ids"][0])
        for first, end in zip(b["offsets"][:-1].tolist(), b["offsets"][1:].tolist()):
            own = [r for r in range(first, end) if int(b["types"][r]) == kind]
            ids = [int(b["ids"][r]) for r in own]
            languages = [int(b["languages"][r]) for r in own]
            if ids[0] != bos:
                ids, languages = [bos] + ids, languages[:1] + languages
            rows["ids"] += ids
            rows["languages"] += languages
            rows["positions"] += range(len(ids))
            rows["offsets"].append(len(rows["ids"]))
        rows["types"] = [0] * len(rows["ids"])
        return {k: torch.tensor(v).long() for k, v in rows.items()}

    def moco(self):
        """InfoNCE of the first sides against the second sides in the average, with the queue of former steps."""
        def project(encoder, b):
            h = F.normalize(encoder.encode(b)[int(self.options["layer"])][b["offsets"][:-1]], dim=1)
            hidden, output = (encoder.p[f"objectives/{self.name}/projection/{part}/weight"] for part in ("hidden", "output"))
            z = F.linear(F.relu(F.linear(h, hidden)), output)
            return F.normalize(z, dim=1) if self.options["normalise"] == "true" else z
        group = self.file["objectives"][self.name]
        averaged = {n: torch.tensor(d[...]).double() for n, d in parameters_of(group["average"])}
        queue = torch.tensor(group["queue"][...]).double().view(int(self.options["queue"]), int(self.options["projection"]))
        negatives = queue[:min(int(group["appended"][0]), len(queue))]
        query, key = project(self.encoder, self.side(0)), project(Encoder(self.encoder.model, averaged), self.side(1))
        assert len(query) == self.terms, "every pair is a term"
        logits = torch.cat([(query * key).sum(1, keepdim=True), query @ negatives.T], 1) / float(self.options["temperature"])
        return F.cross_entropy(logits, torch.zeros(len(query)).long())

    def clm(self):
        """Each token of the text as it was read, from the encoder's state of the token before it; attention is causal."""
        text = self.read()
        loss, terms = self.encoder.next_words(self.encoder.encode(text, causal=True)[-1], text, self.smoothing())
        assert terms == self.terms, (terms, self.terms)
        return loss

    def seq2seq(self):
        """The second side of pairs from the first, or a text from what noise has made of it."""
        noise, pairs = "original_text" in self.b, bool((self.b["types"] == 1).any())
        assert noise or pairs, "there is something to translate or to undo"
        source, target = self.b if noise else self.read(), self.read()
        if pairs:
            source, target = self.side(0, source), self.side(1, target)
        loss, terms = self.encoder.next_words(self.encoder.decode(target, source), target, self.smoothing(), "decoder")
        assert terms == self.terms, (terms, self.terms)
        return loss

    def back_translation(self):
        """The text from the model's translation of it. A greedy one has the most probable token everywhere, and ends when it is
        too long: 1.3 times the words of the text, and 5."""
        text = self.read()
        made = read_text(self.file["objectives"][self.name]["made_text"])
        if float(self.options["temperature"]) == 0:
            with torch.no_grad():
                z = self.encoder.logits(self.encoder.decode(made, text), "decoder")
            z[:, [0, 1, 3, 4]] = -math.inf  # special tokens but </s>, in vocabularies of our own
            for s in range(len(made["offsets"]) - 1):
                first, end = int(made["offsets"][s]), int(made["offsets"][s + 1])
                words = int((text["ids"][text["offsets"][s]:text["offsets"][s + 1]] > 4).sum())
                longest = min(words * 13 // 10 + 5, int(self.encoder.a["positions"]) - 2)
                chosen = z[torch.arange(first, end - 1), made["ids"][first + 1:end]]
                lost = z[first:end - 1].max(1).values - chosen
                if end - first - 2 == longest:
                    lost = lost[:-1]  # </s> comes whatever its probability
                assert end - first - 2 <= longest and (lost < 1e-4).all(), "the translation is the greedy one"
        languages = [made["languages"][made["offsets"][:-1]] != text["languages"][text["offsets"][:-1]]]
        assert torch.cat(languages).all(), "translations are in other languages"
        loss, terms = self.encoder.next_words(self.encoder.decode(text, made), text, self.smoothing(), "decoder")
        assert terms == self.terms, (terms, self.terms)
        return loss

    def mass(self):
        """The fragment of each sentence, from the tokens before its tokens, where they are in the sentence."""
        b, masked = self.b, self.b["masked_positions"]
        inside = [masked[(masked >= first) & (masked < end)] for first, end in zip(b["offsets"][:-1], b["offsets"][1:])]
        before = [rows - 1 if len(rows) else first[None] for rows, first in zip(inside, b["offsets"][:-1])]
        rows, sizes = torch.cat(before), torch.tensor([0] + [len(x) for x in before])
        text = {"ids": b["original"][rows], "positions": b["positions"][rows], "languages": b["text_languages"][rows],
                "types": torch.zeros_like(rows), "offsets": sizes.cumsum(0)}
        made = read_text(self.file["objectives"][self.name]["made_text"])
        assert all(torch.equal(made[k], text[k]) for k in text), "the decoder's text"
        predicts = torch.cat([torch.full((len(x),), len(i) > 0) for x, i in zip(before, inside)])
        assert int(predicts.sum()) == len(masked) == self.terms, "every masked position is a term"
        return self.encoder.words(self.encoder.decode(text, b, self.seen())[predicts], b["targets"], self.smoothing(), "decoder")

    def seen(self):
        """Rows of the corrupted text that are not <mask>, which has the id 4 in vocabularies of our own."""
        return torch.nonzero(self.b["ids"] != 4).flatten()

    def sop(self):
        """Whether the two segments of each sequence were swapped, by a pooler of the first state."""
        b, swapped = self.b, self.b["swapped"]
        for first, end, order in zip(b["offsets"][:-1], b["offsets"][1:], swapped):
            types = b["types"][first:end]
            assert torch.equal(types, types.sort().values) and bool(types[-1] == 1) == bool(order >= 0), "two segments"
        own = {part: self.encoder.p[f"objectives/{self.name}/{part}"] for part in
               ("pooler/weight", "pooler/bias", "classifier/weight", "classifier/bias")}
        h = self.h[-1][b["offsets"][:-1]][swapped >= 0]
        assert len(h) == self.terms, "every sequence with an order is a term"
        pooled = torch.tanh(F.linear(h, own["pooler/weight"], own["pooler/bias"]))
        return F.cross_entropy(F.linear(pooled, own["classifier/weight"], own["classifier/bias"]), swapped[swapped >= 0])

    def tagging(self):
        weight, bias = (self.encoder.p[f"objectives/{self.name}/{part}"] for part in ("weight", "bias"))
        return F.cross_entropy(F.linear(self.masked(), weight, bias), self.b["targets"])

    def pointer(self, links, queries):
        """XLM-Align's loss by links, a list of rows for each row, of those queries that have some."""
        p = {part: self.encoder.p[f"objectives/{self.name}/{part}"] for part in
             ("query/weight", "query/bias", "key/weight", "key/bias")}
        h = self.h[int(self.options["layer"])]  # -1: the last
        q, k = (F.linear(h, p[part + "/weight"], p[part + "/bias"]) for part in ("query", "key"))
        losses = []
        for row in sorted(queries):
            if links[row][1]:
                side, partners = links[row]
                z = (k[side] @ q[row]) / math.sqrt(h.shape[1])
                losses.append(-torch.log_softmax(z, 0)[[side.index(j) for j in partners]].mean())
        assert len(losses) == self.terms, (len(losses), self.terms)
        return torch.stack(losses).mean()

    def uniform(self, row, number):
        """An objective's draw for a row, in [0, 1) (include/xlm/loss.h, xlm_pass_uniform)."""
        seed, step = int(self.file.attrs["seed"]), int(self.file.attrs["step"])
        key = philox((seed & WORD, seed >> 32), (step & WORD, step >> 32, 9, 0x786C6D00))[:2]
        sequence = int(torch.searchsorted(self.b["offsets"], row, right=True)) - 1
        position = row - int(self.b["offsets"][sequence])
        return (philox(key, (int(self.b["instances"][sequence]), position, digest(self.name) & WORD, number))[0] >> 8) / (1 << 24)

    def queries(self, pairs, links):
        """XLM-Align's rows that look for their partners."""
        masked = set(self.b["masked_positions"].tolist())
        if self.options["queries"] == "masked":
            return masked
        if self.options["queries"] == "unmasked":
            return {row for row in range(len(self.b["ids"])) if row not in masked and self.uniform(row, 0) < 0.15}
        return {row if self.uniform(row, 1 + target.index(j)) < 0.5 else j
                for source, target in pairs for row in source for j in links[row][1]}

    def dwa(self):
        """Labels from the original batch."""
        original = dict(self.b, ids=self.b["original"], languages=self.b["text_languages"])
        with torch.no_grad():
            states = self.encoder.encode(original)[int(self.options["label_layer"])]
        links, pairs = [([], []) for _ in self.b["ids"]], sentence_pairs(self.b)
        for source, target in pairs:
            labelled = self_labels(states[source] @ states[target].T, self.options)
            for i, row in enumerate(source):
                links[row] = (target, [target[j] for j in range(len(target)) if labelled[i, j]])
            for j, row in enumerate(target):
                links[row] = (source, [source[i] for i in range(len(source)) if labelled[i, j]])
        return self.pointer(links, self.queries(pairs, links))

    def head(self, prefix, h, labels):
        """Cross-entropy by a head of the objective's own, with the model's decoder."""
        own = {part: self.encoder.p[f"objectives/{self.name}/{prefix}/{part}"] for part in
               ("dense/weight", "dense/bias", "layer_norm/weight", "layer_norm/bias")}
        h = F.gelu(F.linear(h, own["dense/weight"], own["dense/bias"]))
        h = F.layer_norm(h, h.shape[-1:], own["layer_norm/weight"], own["layer_norm/bias"],
                         float(self.encoder.a["layer_norm_epsilon"]))
        return F.cross_entropy(F.linear(h, self.encoder.p["embeddings/word/weight"], self.encoder.p["lm_head/bias"]), labels)

    def weam(self):
        """Both predictions; A as a dense matrix."""
        h, rows, targets = self.h[-1], self.b["masked_positions"], self.b["targets"]
        a = torch.zeros(len(h), len(h)).double()
        for i, j in self.b["links"].tolist():
            a[i, j] = a[j, i] = 1
        loss = self.head("multilingual", h[rows], targets) if self.options["multilingual"] == "own" else self.mlm()
        linked = a[rows].any(1)
        if not linked.any():
            return loss
        own = {part: self.encoder.p[f"objectives/{self.name}/exchange/{part}"] for part in ("weight", "bias")}
        exchanged = F.linear(a.T @ h, own["weight"], own["bias"])
        return loss + float(self.options["lambda"]) * self.head("cross_lingual", exchanged[rows][linked], targets[linked])

    KNOWN = {"weam": weam, "dwa": dwa, "mlm": mlm, "dict-mlm": dict_mlm, "align": align, "gc": gc, "moco": moco,
             "tagging": tagging, "sop": sop, "clm": clm, "seq2seq": seq2seq, "mass": mass,
             "back-translation": back_translation}

    def loss(self):
        """None when there is no way to know it here."""
        return self.KNOWN[self.plugin](self) if self.plugin in self.KNOWN else None


def read_alignment(corpus, links):
    """Links, (subword, subword) of a pair's two sentences, by what stands in these; both ways. A set for each pair of the same."""
    corpus, links, known = h5py.File(corpus, "r"), h5py.File(links, "r"), {}
    for name, pair in links["pairs"].items():
        for split, group in pair.items():
            sides = []
            for side in ("source", "target"):
                text = corpus[split]["text"][group.attrs[side].decode()]
                tokens, ends = text["tokens"][...].tolist(), text["offsets"][...].tolist()
                numbers = corpus[split]["parallel"][name]["links"][:, len(sides)].tolist()
                sides.append([tuple(tokens[ends[n]:ends[n + 1]]) for n in numbers])
            ends, first, second = (group[part][...].tolist() for part in ("offsets", "source", "target"))
            for p, (source, target) in enumerate(zip(*sides)):
                found = list(zip(first[ends[p]:ends[p + 1]], second[ends[p]:ends[p + 1]]))
                known.setdefault((source, target), []).append(set(found))
                known.setdefault((target, source), []).append({(j, i) for i, j in found})
    return known


def check_links(name, b, known):
    """How many pairs of a batch have other links than the alignment."""
    rows, bad, total = b["links"].tolist(), 0, 0
    assert rows == sorted(rows), "links stand in order"
    for source, target in sentence_pairs(b):
        here = {(i - source[0], j - target[0]) for i, j in rows if i in source}
        total += len(here)
        bad += here not in known[tuple(b["original"][source].tolist()), tuple(b["original"][target].tolist())]
    print(f"{name}: {total} links")
    if bad or total != len(rows):
        print(f"DIFFERS {name}: links of {bad} pairs, {len(rows)} links of which {total} are of its pairs")
    return bad + (total != len(rows))


def check_input(name, b, dictionary):
    """How many things about a batch's input contradict its originals and the dictionary."""
    rows, masked = b["masked_positions"], torch.zeros(len(b["ids"]), dtype=torch.bool)
    masked[rows] = True
    wrong = {"a token that is not predicted is not the original": (b["ids"] != b["original"])[~masked].sum()}
    if "translations" in b:
        switched = b["languages"] != b["text_languages"]
        at, translations = switched[rows], b["translations"][rows]
        pairs, first, second = dictionary[...].tolist(), int(dictionary.attrs["first"]), int(dictionary.attrs["second"])
        known = {(first, x, second, y) for x, y in pairs} | {(second, y, first, x) for x, y in pairs}
        other = {first: second, second: first}
        for row, target, translation in zip(rows.tolist(), b["targets"].tolist(), translations.tolist()):
            language = int(b["text_languages"][row])
            has = any(k[:2] == (language, target) for k in known) if translation < 0 else False
            bad = has or (translation >= 0 and (language, target, other.get(language), translation) not in known)
            wrong["a translation is not the dictionary's"] = wrong.get("a translation is not the dictionary's", 0) + bad
        wrong["a token is switched that is not predicted"] = switched[~masked].sum()
        wrong["a switched token is not its translation"] = (b["ids"][rows] != translations)[at].sum()
        wrong["a switched token's language is not its translation's"] = sum(
            int(b["languages"][r]) != other.get(int(b["text_languages"][r])) for r in torch.nonzero(switched).flatten().tolist())
        print(f"{name}: {int(at.sum())} of {len(rows)} predicted tokens are switched, "
              f"{int((translations >= 0).sum())} have a translation")
    for what, n in wrong.items():
        if int(n):
            print(f"DIFFERS {name}: {what}: {int(n)}")
    return sum(int(n) > 0 for n in wrong.values())


def compare(name, ours, theirs, tolerance, worst):
    scale = max(theirs.abs().max().item(), 1e-8)
    difference = (ours - theirs).abs().max().item() / scale
    worst[0] = max(worst[0], difference)
    if not difference <= tolerance:
        print(f"DIFFERS {name}: {difference:.2e}")
        return 1
    return 0


def compare_gradients(file, parameters, worst):
    # Small gradients that come out of large cancelling terms (key biases are zero in exact arithmetic) are measured against the
    # largest gradient of all. Where adapters learn, the model itself is frozen.
    bad, adapted = 0, any(name.startswith("adapters/") for name in parameters)
    largest = max(p.grad.abs().max().item() for p in parameters.values() if p.grad is not None)
    for name, d in parameters_of(file["gradients"]):
        if adapted and not name.startswith(("adapters/", "objectives/")):
            if torch.tensor(d[...]).abs().max().item() != 0:
                print(f"DIFFERS gradient {name}: not 0, though the model is frozen")
                bad += 1
            continue
        theirs = parameters[name].grad
        theirs = torch.zeros_like(parameters[name]) if theirs is None else theirs
        if theirs.abs().max().item() < 1e-6 * largest:
            ours = torch.tensor(d[...]).double().abs().max().item()
            if not ours <= 1e-5 * largest:
                print(f"DIFFERS gradient {name}: {ours:.2e} instead of about 0")
                bad += 1
            continue
        bad += compare(f"gradient {name}", torch.tensor(d[...]).double(), theirs, TOLERANCE_GRADIENT, worst)
    return bad


def main(path, *alignment):
    file = h5py.File(path, "r")
    parameters = {n: torch.tensor(d[...]).double().requires_grad_() for n, d in parameters_of(file["parameters"])}
    encoder = Encoder(file["model"], parameters)
    bad, states, losses, gradients = 0, [0.0], [0.0], [0.0]
    hidden, batches = {}, {}
    for name, stream in file.get("streams", {}).items():
        batches[name] = read_text(stream["batch"])
        hidden[name] = encoder.encode(batches[name])
        bad += check_input(name, batches[name], stream.get("dictionary"))
        if alignment and "links" in batches[name]:
            bad += check_links(name, batches[name], read_alignment(*alignment))
        for l, h in enumerate(hidden[name]):
            bad += compare(f"{name} hidden {l}", torch.tensor(stream["hidden"][str(l)][...]).double(), h.detach(), TOLERANCE_STATE, states)
    total, checked, unchecked = 0, [], []
    for name, group in file["objectives"].items():
        objective = Objective(name, group, file, encoder, batches, hidden)
        if objective.terms == 0:
            print(f"objective {name}: takes no part in this step")
            continue
        loss = objective.loss()
        if loss is None:
            unchecked.append(f"{name} (plugin {objective.plugin})")
            continue
        checked.append(f"{name} ({objective.plugin})")
        bad += compare(f"loss {name}", objective.stated, loss.detach(), TOLERANCE_LOSS, losses)
        total = total + objective.weight * loss
    if not unchecked:
        stated = torch.tensor(float(file.attrs["loss"])).double()
        bad += compare("loss of the step", stated, total.detach(), 10 * TOLERANCE_LOSS, losses)
        total.backward()
        bad += compare_gradients(file, parameters, gradients)
    print(f"objectives: {', '.join(checked)}; largest differences: hidden states {states[0]:.1e}, losses {losses[0]:.1e}, gradients "
          + (f"{gradients[0]:.1e}" if not unchecked else "not checked")
          + f"; {len(parameters)} parameters; "
          + ("DIFFERENT" if bad else "NOT CHECKED: " + ", ".join(unchecked) + ", and so no gradient" if unchecked else "the same"))
    return 1 if bad else 2 if unchecked else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 4):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
