#!/usr/bin/python3
"""Models that translate, of Hugging Face's layout, in PyTorch, written from the papers and the published names: M2M100 (Fan et al.
2021) and NLLB-200 (NLLB Team 2022), Marian (Junczys-Dowmunt et al. 2018).

    translation_models.py make m2m100|nllb|marian DIR SENTENCEPIECE_MODEL   a tiny model with random weights and a tokenizer
    translation_models.py check DIR step.h5                hidden states and logits of mlm, the loss of seq2seq and gradients, in a step
                                                           that xlm_train has dumped
    translation_models.py same A B                         two directories have the same tensors
    translation_models.py translate DIR CORPUS LANGUAGE TO BEAM   translations of a corpus's held-out text, a line each, as
                                                           xlm_translate --scores --length-penalty 1 writes them

Needs Debian's python3-torch, python3-numpy and python3-h5py. One sentence at a time, in double precision, without caches; no code is
shared with xlm-mpi.
"""
# SPDX-License-Identifier: GPL-3.0-or-later
import json
import math
import os
import shutil
import sys

import numpy
import torch
import torch.nn.functional as F

from transformers_models import read, write_file

D, HEADS, LAYERS, DECODER_LAYERS, WIDE, POSITIONS = 24, 4, 3, 2, 40, 64
LANGUAGES = {"m2m100": ["de", "en", "xx"], "nllb": ["deu_Latn", "eng_Latn", "xxx_Latn"]}


def pieces(path):
    """Texts of a SentencePiece model's pieces: field 1 of the message, repeated; in each, field 1."""
    def number(data, at):
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                return value, at

    def fields(data):
        at = 0
        while at < len(data):
            key, at = number(data, at)
            if key % 8 == 0:
                _, at = number(data, at)
            elif key % 8 == 2:
                size, at = number(data, at)
                yield key // 8, data[at:at + size]
                at += size
            else:
                at += {1: 8, 5: 4}[key % 8]

    with open(path, "rb") as f:
        messages = [value for field, value in fields(f.read()) if field == 1]
    return [next(text for field, text in fields(m) if field == 1).decode() for m in messages]


def make(kind, directory, model):
    generator = numpy.random.default_rng(len(kind))
    os.makedirs(directory, exist_ok=True)
    own = pieces(model)
    shutil.copy(model, os.path.join(directory, "source.spm" if kind == "marian" else "sentencepiece.bpe.model"))
    languages = [f"__{l}__" if kind == "m2m100" else l for l in LANGUAGES.get(kind, [])]
    if kind == "marian":
        ids = {p: i for i, p in enumerate(["</s>", "<unk>"] + own[3:])}
        ids["<pad>"] = len(ids)
        size = len(ids)
        shutil.copy(model, os.path.join(directory, "target.spm"))
    else:
        ids = {p: i for i, p in enumerate(["<s>", "<pad>", "</s>", "<unk>"] + own[3:])}
        size = len(ids) + len(languages) + 1 + 3  # the mask, and rows that no token has
    settings = {"tokenizer_class": {"m2m100": "M2M100Tokenizer", "nllb": "NllbTokenizer", "marian": "MarianTokenizer"}[kind]}
    if kind == "marian":
        settings.update(source_lang="en", target_lang="xx")
    if kind != "nllb":
        with open(os.path.join(directory, "vocab.json"), "w") as f:
            json.dump(ids, f)
    if languages:
        with open(os.path.join(directory, "special_tokens_map.json"), "w") as f:
            json.dump({"additional_special_tokens": languages, "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}, f)
    with open(os.path.join(directory, "tokenizer_config.json"), "w") as f:
        json.dump(settings, f)
    pad = ids["<pad>"]
    config = {"model_type": "marian" if kind == "marian" else "m2m_100", "vocab_size": size, "d_model": D, "encoder_layers": LAYERS,
              "decoder_layers": DECODER_LAYERS, "encoder_attention_heads": HEADS, "decoder_attention_heads": HEADS,
              "encoder_ffn_dim": WIDE, "decoder_ffn_dim": WIDE, "max_position_embeddings": POSITIONS, "scale_embedding": True,
              "activation_function": "swish" if kind == "marian" else "relu", "dropout": 0.1, "pad_token_id": pad,
              "eos_token_id": ids["</s>"], "decoder_start_token_id": pad if kind == "marian" else ids["</s>"],
              "is_encoder_decoder": True,
              "architectures": ["MarianMTModel" if kind == "marian" else "M2M100ForConditionalGeneration"]}
    with open(os.path.join(directory, "config.json"), "w") as f:
        json.dump(config, f)
    tensors = {}

    def normal(name, *shape, scale=0.3, mean=0.0):
        tensors[name] = (mean + scale * generator.standard_normal(shape)).astype(numpy.float32)

    def linear(name, out, width):
        normal(name + ".weight", out, width)
        normal(name + ".bias", out)

    def norm(name):
        normal(name + ".weight", D, mean=1.0)
        normal(name + ".bias", D)

    normal("model.shared.weight", size, D, scale=0.2)
    if kind == "marian":
        tensors["model.shared.weight"][pad] = 0
        normal("final_logits_bias", 1, size)
        for stack in "encoder", "decoder":
            tensors[f"model.{stack}.embed_tokens.weight"] = tensors["model.shared.weight"]
            tensors[f"model.{stack}.embed_positions.weight"] = numpy.stack(
                [sinusoid("marian", p) for p in range(POSITIONS)]).astype(numpy.float32)
    for stack, layers in ("encoder", LAYERS), ("decoder", DECODER_LAYERS):
        for i in range(layers):
            prefix = f"model.{stack}.layers.{i}."
            for attention in ["self_attn"] + ["encoder_attn"] * (stack == "decoder"):
                for part in "q_proj", "k_proj", "v_proj", "out_proj":
                    linear(prefix + attention + "." + part, D, D)
                norm(prefix + attention + "_layer_norm")
            linear(prefix + "fc1", WIDE, D)
            linear(prefix + "fc2", D, WIDE)
            norm(prefix + "final_layer_norm")
        if kind != "marian":
            norm(f"model.{stack}.layer_norm")
    write_file(os.path.join(directory, "model.safetensors"), tensors)


def sinusoid(model_type, position, width=D):
    half = width // 2
    if model_type == "marian":
        angle = position / 10000 ** (2 * numpy.arange(half) / width)
    else:  # in single precision, as there
        step = numpy.float32(-math.log(10000) / (half - 1))
        frequency = numpy.exp((numpy.arange(half, dtype=numpy.float32) * step).astype(numpy.float64)).astype(numpy.float32)
        angle = (numpy.float32(position) * frequency).astype(numpy.float64)
    return numpy.concatenate([numpy.sin(angle), numpy.cos(angle)])


class Model:
    def __init__(self, directory):
        with open(os.path.join(directory, "config.json")) as f:
            self.c = json.load(f)
        self.t = {n: torch.tensor(numpy.array(t)).double().requires_grad_() for n, t in read(directory).items()}
        self.marian = self.c["model_type"] == "marian"
        self.words = self.t["model.shared.weight"]
        self.start, self.end = self.c["decoder_start_token_id"], self.c["eos_token_id"]

    def linear(self, name, x):
        return F.linear(x, self.t[name + ".weight"], self.t[name + ".bias"])

    def norm(self, name, x):
        return F.layer_norm(x, (D,), self.t[name + ".weight"], self.t[name + ".bias"], 1e-5)

    def embed(self, ids):
        first = 0 if self.marian else self.c["pad_token_id"] + 1
        places = numpy.stack([sinusoid(self.c["model_type"], first + p) for p in range(len(ids))])
        words = torch.cat([self.words, torch.zeros(1, D).double()])  # the last for <mask>, where the model has none
        return words[torch.tensor(ids)] * (math.sqrt(D) if self.c["scale_embedding"] else 1) + torch.tensor(places)

    def attend(self, name, x, memory, causal):
        q, k, v = (self.linear(f"{name}.{p}_proj", t).view(len(t), HEADS, -1).transpose(0, 1)
                   for p, t in (("q", x), ("k", memory), ("v", memory)))
        scores = q @ k.transpose(1, 2) / math.sqrt(D // HEADS)
        if causal:
            scores = scores.masked_fill(torch.ones(len(x), len(x), dtype=torch.bool).triu(1), -math.inf)
        return self.linear(name + ".out_proj", (torch.softmax(scores, -1) @ v).transpose(0, 1).reshape(len(x), D))

    def sublayer(self, x, norm, f):
        return self.norm(norm, x + f(x)) if self.marian else x + f(self.norm(norm, x))

    def feed(self, prefix, x):
        activation = {"relu": F.relu, "swish": F.silu}[self.c["activation_function"]]
        return self.linear(prefix + "fc2", activation(self.linear(prefix + "fc1", x)))

    def stack(self, name, ids, memory=None):
        """The states of the last layer; self.states: of all, from the embeddings on."""
        x = self.embed(ids)
        self.states = [x]
        for i in range(self.c[name + "_layers"]):
            p = f"model.{name}.layers.{i}."
            x = self.sublayer(x, p + "self_attn_layer_norm", lambda h: self.attend(p + "self_attn", h, h, memory is not None))
            if memory is not None:
                x = self.sublayer(x, p + "encoder_attn_layer_norm", lambda h: self.attend(p + "encoder_attn", h, memory, False))
            x = self.sublayer(x, p + "final_layer_norm", lambda h: self.feed(p, h))
            self.states.append(x)
        self.states[-1] = x if self.marian else self.norm(f"model.{name}.layer_norm", x)
        return self.states[-1]

    def logits(self, h):
        return F.linear(h, self.words, self.t["final_logits_bias"][0] if self.marian else None)


def ours(name):
    """Our name of a tensor."""
    if name == "final_logits_bias":
        return "lm_head/bias"
    name = name[len("model."):].replace("encoder_attn_layer_norm", "memory_attention/layer_norm")
    name = name.replace("self_attn_layer_norm", "attention/layer_norm").replace("final_layer_norm", "feed_forward/layer_norm")
    for theirs, own in (("shared", "embeddings/word"), ("layers.", "layer."), ("self_attn", "attention"),
                        ("fc1", "feed_forward/intermediate"), ("encoder_attn", "memory_attention"), ("fc2", "feed_forward/output"), ("q_proj", "query"),
                        ("k_proj", "key"), ("v_proj", "value"), ("out_proj", "output")):
        name = name.replace(theirs, own)
    return name.replace(".", "/").replace("layer/", "layer.")


def check(directory, dump):
    import h5py
    model, good = Model(directory), True
    with h5py.File(dump, "r") as f:
        batch = f["streams/pairs/batch"]
        ids = (batch["original"] if "original" in batch else batch["ids"])[...].tolist()
        types, ends = batch["types"][...].tolist(), batch["offsets"][...].tolist()
        losses = []
        for first, end in zip(ends[:-1], ends[1:]):
            source, target = ([i for i, t in zip(ids[first:end], types[first:end]) if t == side] for side in (0, 1))
            source = source[1:]  # the encoder does not read <s>
            if target[0] != model.start or len(target) == 1:
                target = [model.start] + target
            z = model.logits(model.stack("decoder", target[:-1], model.stack("encoder", source)))
            losses.append(F.cross_entropy(z[:, :], torch.tensor(target[1:]), reduction="none"))
        loss = torch.cat(losses).mean()
        stated = float(f["objectives/nmt/loss"][0])
        error = abs(float(loss) - stated) / abs(stated)
        good = good and error < 2e-6
        print(f"loss {stated:.7f}: {error:.1e}")
        text, states, logits = f["streams/text"], 0.0, 0.0
        b = {k: text["batch"][k][...].tolist() for k in ("ids", "offsets", "masked_positions", "targets")}
        masked = []
        row = {r: n for n, r in enumerate(b["masked_positions"])}
        for first, end in zip(b["offsets"][:-1], b["offsets"][1:]):
            model.stack("encoder", b["ids"][first + 1:end])  # without <s>
            for l, theirs in enumerate(model.states):
                own = torch.tensor(text["hidden"][str(l)][first + 1:end]).double()
                states = max(states, float((own - theirs).abs().max() / theirs.abs().max()))
            for r in range(first + 1, end):
                if r not in row:
                    continue
                z = model.logits(model.states[-1][r - first - 1])
                masked.append(F.cross_entropy(z, torch.tensor(b["targets"][row[r]])))
                if row[r] < len(text["logits"]):
                    own = torch.tensor(text["logits"][row[r]][...]).double()[:len(z)]
                    logits = max(logits, float((own - z).abs().max() / z.abs().max()))
        good = good and 0 < states < 2e-6 and 0 < logits < 2e-6
        (loss + torch.stack(masked).mean()).backward()
        print(f"hidden states {states:.1e}, logits {logits:.1e}")
        worst = 0.0
        for name, tensor in model.t.items():
            if "embed_" in name or tensor.grad is None:
                continue
            own = torch.tensor(f["gradients/" + ours(name)][...]).double()
            grad = tensor.grad if tensor.grad.shape[0] <= own.shape[0] else tensor.grad[:own.shape[0]]
            own = own[:grad.shape[0]] if own.dim() == grad.dim() else own[:grad.shape[-1]].view_as(grad)
            if name.endswith("k_proj.bias"):  # adds the same to all scores of a query, so its gradient is 0
                continue
            least = 5e-2 * float(model.words.grad.abs().max())  # smaller ones are rounding errors of larger ones
            error = float((own - grad).abs().max() / grad.abs().max().clamp(min=least))
            worst = max(worst, error)
        good = good and worst < 1e-5
        print(f"gradients: {worst:.1e}")
    return good


def same(a, b):
    """All tensors of A are in B with the same bits, but for copies and sinusoids, which are left out; B may have a row for <mask>."""
    x, y = read(a), read(b)
    wrong = [n for n in x if "embed_" not in n and
             (n not in y or y[n][..., :x[n].shape[-1]][:len(x[n])].tobytes() != x[n].tobytes())]
    print(f"{len(x)} tensors, {len(y)} there; other: {wrong}")
    return not wrong


def translate(directory, corpus, language, to, beam):
    """As include/xlm/search.h describes it, with all computed again for each token."""
    import h5py
    model, beam = Model(directory), int(beam)
    with h5py.File(corpus, "r") as f:
        words = [w.decode() for w in f["vocabulary/words"][...]]
        text = f[f"held_out/text/{language}"]
        tokens, ends = text["tokens"][...], text["offsets"][...]
        form = f["vocabulary"].attrs.get("language_form", b"").decode()
        special = {int(f["vocabulary"].attrs[s]) for s in ("bos", "pad", "unk", "mask")} - {model.end}
        names = [l.decode() for l in f["languages"][...]]
    tokens_of_languages = {words.index(form.replace("*", n)) for n in names} if form else set()
    forbidden = [i for i in special | tokens_of_languages if i < len(model.words)]
    first = [words.index(form.replace("*", to))] if form else []
    with torch.no_grad():
        for s in range(len(ends) - 1):
            source = tokens[int(ends[s]):int(ends[s + 1])].tolist() + [model.end]
            memory = model.stack("encoder", source)
            longest = min(int(1.5 * (len(source) - 1) + 10), POSITIONS - 1)
            going, done = [(0.0, first)], []
            while going:
                found = []
                for p, y in going:
                    z = torch.log_softmax(model.logits(model.stack("decoder", [model.start] + y, memory)[-1:]), 1)[0]
                    z[forbidden] = -math.inf
                    if len(y) >= longest:
                        found.append((p + float(z[model.end]), y, model.end))
                    else:
                        value, place = z.topk(2 * beam if beam > 1 else 1)
                        found += [(p + float(v), y, int(i)) for v, i in zip(value, place)]
                found.sort(key=lambda c: -c[0])
                going = []
                for p, y, i in found[:2 * beam if beam > 1 else 1]:
                    if len(going) == beam:
                        break
                    if i == model.end:
                        done.append((p / (len(y) + 1), y))
                        done = sorted(done, key=lambda d: -d[0])[:beam]
                    else:
                        going.append((p, y + [i]))
                if len(done) == beam and going:  # can none become better?
                    p, y = going[0]
                    best = max(p / (longest + 1), p / (min(len(y), longest) + 1))
                    going = going if best > done[-1][0] and beam > 1 else []
            score, y = done[0]
            text = "".join(words[i] for i in y if i not in tokens_of_languages).replace("\u2581", " ").strip()
            print(f"{score:.6f}\t{' '.join(text.split())}")


if __name__ == "__main__":
    verb, arguments = sys.argv[1], sys.argv[2:]
    if verb in ("check", "same"):
        sys.exit(0 if {"check": check, "same": same}[verb](*arguments) else 1)
    {"make": make, "translate": translate}[verb](*arguments)
