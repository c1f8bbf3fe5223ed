#!/usr/bin/python3
"""Models of Hugging Face's layout in PyTorch, written from the papers and the published names: BERT (Devlin et al. 2019), RoBERTa
(Liu et al. 2019), XLM-R (Conneau et al. 2020), XLM-R XL (Goyal et al. 2021), XLM (Conneau, Lample 2019), ALBERT (Lan et al.
2020), ModernBERT (Warner et al. 2025) and mmBERT (Marone et al. 2025).

    transformers_models.py make KIND DIR [bare|tagging|classification|answering|mean|old|sharded|f16|bf16|FORM]...
                                                  a tiny model, random weights, a tokenizer; FORM: sinusoidal, alone (without
                                                  language embeddings), groups (of layers), gelu_new, biases, global
                                                  (no window), new_config (rope_parameters, layer_types)
    transformers_models.py check DIR step.h5      hidden states of every layer, logits, and the loss of a step that xlm_train or
                                                  xlm_tune has dumped
    transformers_models.py same A B               two directories have the same tensors, to the bit

Needs Debian's python3-torch, python3-numpy and python3-h5py; reads and writes safetensors by itself. One sequence at a time, in
double precision; no code is shared with xlm-mpi.
"""
# SPDX-License-Identifier: GPL-3.0-or-later
import json
import os
import struct
import sys

import numpy
import torch
import torch.nn.functional as F

CLASSES = {"xlm": "sequence_summary.summary", "bert": "classifier", "albert": "classifier", "modernbert": "classifier"}
TYPES = {"F32": numpy.float32, "F16": numpy.float16, "F64": numpy.float64, "I64": numpy.int64}


# ---- safetensors ----

def read_file(path):
    with open(path, "rb") as f:
        data = f.read()
    size = struct.unpack("<Q", data[:8])[0]
    head, values = json.loads(data[8:8 + size]), data[8 + size:]
    out = {}
    for name, t in head.items():
        if name == "__metadata__":
            continue
        begin, end = t["data_offsets"]
        if t["dtype"] == "BF16":
            bits = numpy.frombuffer(values[begin:end], numpy.uint16).astype(numpy.uint32) << 16
            array = bits.view(numpy.float32)
        else:
            array = numpy.frombuffer(values[begin:end], TYPES[t["dtype"]])
        out[name] = array.reshape(t["shape"])
    return out


def read(directory):
    table = os.path.join(directory, "model.safetensors.index.json")
    if not os.path.exists(table):
        return read_file(os.path.join(directory, "model.safetensors"))
    out = {}
    with open(table) as f:
        for file in set(json.load(f)["weight_map"].values()):
            out.update(read_file(os.path.join(directory, file)))
    return out


def write_file(path, tensors, kind="F32"):
    head, blobs, at = {"__metadata__": {"format": "pt"}}, [], 0
    for name, array in tensors.items():
        if array.dtype == numpy.int64:
            blob, own = array.tobytes(), "I64"
        elif kind == "BF16":
            blob, own = (array.astype(numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16).tobytes(), kind
        else:
            blob, own = array.astype(TYPES[kind]).tobytes(), kind
        head[name] = {"dtype": own, "shape": list(array.shape), "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


# ---- tiny models ----

SPECIAL = {"bert": ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]}
WORDS = ("the old red small green tall quick quiet house river teacher garden window student book mountain "
         "sees finds opens likes paints follows .").split()
D, HEADS, L, F_, E, P, LANGUAGES = 24, 4, 3, 40, 12, 64, 2
MODERN_L = 5


def config_of(kind, vocabulary):
    c = {"model_type": kind, "vocab_size": vocabulary, "max_position_embeddings": P, "layer_norm_eps": 1e-12}
    if kind == "xlm":
        c.update(emb_dim=D, n_layers=L, n_heads=HEADS, dropout=0.1, attention_dropout=0.1, gelu_activation=True, asm=False,
                 sinusoidal_embeddings=False, causal=False, is_encoder=True, n_langs=LANGUAGES, use_lang_emb=True,
                 lang2id={"en": 0, "xx": 1}, id2lang={"0": "en", "1": "xx"}, pad_index=0, n_words=vocabulary)
        return c
    if kind == "modernbert":
        del c["layer_norm_eps"]
        c.update(hidden_size=D, num_hidden_layers=MODERN_L, num_attention_heads=HEADS, intermediate_size=F_, norm_eps=1e-5,
                 hidden_activation="gelu", classifier_activation="gelu", norm_bias=False, attention_bias=False, mlp_bias=False,
                 classifier_bias=False, decoder_bias=True, global_rope_theta=160000.0, local_rope_theta=100.0,
                 local_attention=6, global_attn_every_n_layers=3, attention_dropout=0.0, mlp_dropout=0.0, pad_token_id=0,
                 position_embedding_type="absolute")
        return c
    c.update(hidden_size=D, num_hidden_layers=L, num_attention_heads=HEADS, intermediate_size=F_, hidden_act="gelu",
             hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1, type_vocab_size=2, pad_token_id=0)
    if "roberta" in kind:
        c.update(layer_norm_eps=1e-5, type_vocab_size=1, pad_token_id=1, max_position_embeddings=P + 2)
    if kind == "albert":
        c.update(embedding_size=E, num_hidden_groups=1, inner_group_num=1, hidden_act="gelu_new")
    return c


def make(kind, directory, *forms):
    generator = numpy.random.default_rng(len(kind))
    os.makedirs(directory, exist_ok=True)
    tokens = list(SPECIAL["bert"])
    if "roberta" in kind:
        tokens = ["[CLS]", "[PAD]", "[SEP]", "[UNK]"]
    letters = sorted(set("".join(WORDS)) | set("y"))
    tokens += WORDS + [a for a in letters if a not in WORDS] + ["##" + a for a in letters if a != "."]
    if "roberta" in kind:
        tokens += ["[MASK]"]
    with open(os.path.join(directory, "vocab.txt"), "w") as f:
        f.write("".join(t + "\n" for t in tokens))
    c = config_of(kind, len(tokens) + 3)  # rows that no token has, as in published models
    if "sinusoidal" in forms:
        c["sinusoidal_embeddings"] = True
    if "alone" in forms:
        c["use_lang_emb"] = False
    if "groups" in forms:
        c["num_hidden_groups"] = L
    if "gelu_new" in forms:
        c["hidden_act"] = "gelu_new"
    if "gelu_new" in forms and kind == "modernbert":
        c["hidden_activation"] = c["classifier_activation"] = c.pop("hidden_act")
    if "biases" in forms:
        c.update(norm_bias=True, attention_bias=True, mlp_bias=True, classifier_bias=True)
    if "global" in forms:
        c["global_attn_every_n_layers"] = 1
    if "new_config" in forms:
        del c["global_attn_every_n_layers"]
        c["layer_types"] = ["sliding_attention" if i % 2 else "full_attention" for i in range(MODERN_L)]
        c["rope_parameters"] = {"full_attention": {"rope_type": "default", "rope_theta": c.pop("global_rope_theta")},
                                "sliding_attention": {"rope_type": "default", "rope_theta": c.pop("local_rope_theta")}}
    tensors, v = {}, c["vocab_size"]

    def normal(name, *shape):
        scale = 0.15 if kind == "modernbert" else 0.3  # a gate multiplies two products
        tensors[name] = (scale * generator.standard_normal(shape)).astype(numpy.float32)

    modern = kind == "modernbert"

    def linear(name, out, width):
        normal(name + ".weight", out, width)
        if not modern or "biases" in forms:
            normal(name + ".bias", out)

    def norm(name, width):
        old = "old" in forms
        normal(name + (".gamma" if old else ".weight"), width)
        tensors[name + (".gamma" if old else ".weight")] += 1
        if not modern or "biases" in forms:
            normal(name + (".beta" if old else ".bias"), width)

    tasks = {"tagging", "classification", "answering"}
    prefix = {"bert": "bert.", "albert": "albert.", "xlm": "transformer.", "modernbert": "model."}.get(kind, "roberta.")
    body = "" if "bare" in forms else prefix
    if kind == "xlm":
        normal(body + "position_embeddings.weight", P, D)
        if "sinusoidal" in forms:  # Vaswani et al. 2017, section 3.5
            angle = numpy.arange(P)[:, None] / 10000 ** (numpy.arange(D) // 2 * 2 / D)
            tensors[body + "position_embeddings.weight"] = numpy.where(numpy.arange(D) % 2, numpy.cos(angle),
                                                                       numpy.sin(angle)).astype(numpy.float32)
        if "alone" not in forms:
            normal(body + "lang_embeddings.weight", LANGUAGES, D)
        normal(body + "embeddings.weight", v, D)
        norm(body + "layer_norm_emb", D)
        for i in range(L):
            for part in "q_lin", "k_lin", "v_lin", "out_lin":
                linear(f"{body}attentions.{i}.{part}", D, D)
            norm(f"{body}layer_norm1.{i}", D)
            linear(f"{body}ffns.{i}.lin1", 4 * D, D)
            linear(f"{body}ffns.{i}.lin2", D, 4 * D)
            norm(f"{body}layer_norm2.{i}", D)
        if not (tasks | {"bare"}) & set(forms):
            normal("pred_layer.proj.bias", v)
            tensors["pred_layer.proj.weight"] = tensors[body + "embeddings.weight"]
        tensors[body + "position_ids"] = numpy.arange(P)[None]
        stem = "XLM"
    elif modern:
        normal(body + "embeddings.tok_embeddings.weight", v, D)
        norm(body + "embeddings.norm", D)
        for i in range(MODERN_L):
            layer = f"{body}layers.{i}."
            if i > 0:
                norm(layer + "attn_norm", D)
            linear(layer + "attn.Wqkv", 3 * D, D)
            linear(layer + "attn.Wo", D, D)
            norm(layer + "mlp_norm", D)
            linear(layer + "mlp.Wi", 2 * F_, D)
            linear(layer + "mlp.Wo", D, F_)
        norm(body + "final_norm", D)
        if "bare" not in forms:
            linear("head.dense", D, D)
            norm("head.norm", D)
        if not (tasks | {"bare"}) & set(forms):
            normal("decoder.bias", v)
            tensors["decoder.weight"] = tensors[body + "embeddings.tok_embeddings.weight"]
        stem = "ModernBert"
    else:
        e = c.get("embedding_size", D)
        normal(body + "embeddings.word_embeddings.weight", v, e)
        normal(body + "embeddings.position_embeddings.weight", c["max_position_embeddings"], e)
        normal(body + "embeddings.token_type_embeddings.weight", c["type_vocab_size"], e)
        if kind != "xlm-roberta-xl":
            norm(body + "embeddings.LayerNorm", e)
        tensors[body + "embeddings.position_ids"] = numpy.arange(c["max_position_embeddings"])[None]
        if kind == "albert":
            linear(body + "encoder.embedding_hidden_mapping_in", D, E)
            for i in range(c["num_hidden_groups"]):
                layer = f"{body}encoder.albert_layer_groups.{i}.albert_layers.0."
                for part in "query", "key", "value", "dense":
                    linear(layer + "attention." + part, D, D)
                norm(layer + "attention.LayerNorm", D)
                linear(layer + "ffn", F_, D)
                linear(layer + "ffn_output", D, F_)
                norm(layer + "full_layer_layer_norm", D)
            linear(body + "pooler", D, D)
        else:
            for i in range(L):
                layer = f"{body}encoder.layer.{i}."
                for part in "query", "key", "value":
                    linear(layer + "attention.self." + part, D, D)
                linear(layer + "attention.output.dense", D, D)
                pre = kind == "xlm-roberta-xl"
                norm(layer + ("attention.self_attn_layer_norm" if pre else "attention.output.LayerNorm"), D)
                linear(layer + "intermediate.dense", F_, D)
                linear(layer + "output.dense", D, F_)
                norm(layer + ("LayerNorm" if pre else "output.LayerNorm"), D)
            if kind == "xlm-roberta-xl":
                norm(body + "encoder.LayerNorm", D)
            linear(body + "pooler.dense", D, D)
        if not (tasks | {"bare"}) & set(forms):
            word = tensors[body + "embeddings.word_embeddings.weight"]
            if kind == "bert":
                linear("cls.predictions.transform.dense", D, D)
                norm("cls.predictions.transform.LayerNorm", D)
                normal("cls.predictions.bias", v)
                tensors["cls.predictions.decoder.weight"] = word
                linear("cls.seq_relationship", 2, D)
            elif kind == "albert":
                linear("predictions.dense", E, D)
                norm("predictions.LayerNorm", E)
                normal("predictions.bias", v)
            else:
                linear("lm_head.dense", D, D)
                normal("lm_head.layer_norm.weight", D)
                normal("lm_head.layer_norm.bias", D)
                normal("lm_head.bias", v)
                tensors["lm_head.decoder.bias"] = tensors["lm_head.bias"]
        stem = {"bert": "Bert", "albert": "Albert", "roberta": "Roberta", "xlm-roberta-xl": "XLMRobertaXL"}
        stem = stem.get(kind, "XLMRoberta")
    if "tagging" in forms:
        normal("classifier.weight", 5, D)
        normal("classifier.bias", 5)
    if "answering" in forms:
        ends = "classifier" if modern else "qa_outputs"
        linear(ends, 2, D)
        tensors[ends + ".bias"] = numpy.zeros(2, numpy.float32)  # they change no answer, and are not kept
    if modern:
        c["classifier_pooling"] = "mean" if "mean" in forms else "cls"
    if "classification" in forms and "roberta" in kind:
        linear("classifier.dense", D, D)
    if "classification" in forms:
        normal(CLASSES.get(kind, "classifier.out_proj") + ".weight", 3, D)
        normal(CLASSES.get(kind, "classifier.out_proj") + ".bias", 3)
        c["id2label"] = {str(i): f"class {i}" for i in range(3)}
        c.update(summary_type="first", summary_use_proj=True, summary_activation=None, summary_proj_to_labels=True)
    words = "WithLMHeadModel" if kind == "xlm" else "ForMaskedLM"
    heads = {"bare": "Model", "tagging": "ForTokenClassification", "classification": "ForSequenceClassification",
             "answering": "ForQuestionAnswering" + "Simple" * (kind == "xlm")}
    c["architectures"] = [stem + next((heads[f] for f in forms if f in heads), words)]
    with open(os.path.join(directory, "config.json"), "w") as f:
        json.dump(c, f, indent=2)
    own = "F16" if "f16" in forms else "BF16" if "bf16" in forms else "F32"
    if "sharded" in forms:
        names, where = list(tensors), {}
        for k in range(3):
            file = f"model-{k + 1:05d}-of-00003.safetensors"
            write_file(os.path.join(directory, file), {n: tensors[n] for n in names[k::3]}, own)
            where.update({n: file for n in names[k::3]})
        with open(os.path.join(directory, "model.safetensors.index.json"), "w") as f:
            json.dump({"metadata": {}, "weight_map": where}, f)
    else:
        write_file(os.path.join(directory, "model.safetensors"), tensors, own)


# ---- the models, one sequence at a time ----

class Model:
    def __init__(self, directory):
        with open(os.path.join(directory, "config.json")) as f:
            self.c = json.load(f)
        self.t = {n: torch.tensor(a.astype(numpy.float64)) for n, a in read(directory).items()}
        self.kind = self.c["model_type"]
        self.prefix = {"bert": "bert.", "albert": "albert.", "xlm": "transformer.",
                       "modernbert": "model."}.get(self.kind, "roberta.")
        word = {"xlm": "embeddings.weight", "modernbert": "embeddings.tok_embeddings.weight"}.get(
            self.kind, "embeddings.word_embeddings.weight")
        if word in self.t:
            self.prefix = ""
        self.words = self.t[self.prefix + word]
        self.epsilon = self.c.get("norm_eps", self.c.get("layer_norm_eps", 1e-12))

    def linear(self, name, x):
        return x @ self.t[name + ".weight"].T + self.t.get(name + ".bias", 0)

    def norm(self, name, x):
        gain, shift = (".weight", ".bias") if name + ".weight" in self.t else (".gamma", ".beta")
        mean = x.mean(1, keepdim=True)
        variance = ((x - mean) ** 2).mean(1, keepdim=True)
        return (x - mean) / torch.sqrt(variance + self.epsilon) * self.t[name + gain] + self.t.get(name + shift, 0)

    def activation(self, x):
        if self.c.get("hidden_activation", self.c.get("hidden_act", "gelu")) == "gelu":
            return x * (1 + torch.erf(x / 2 ** 0.5)) / 2
        return 0.5 * x * (1 + torch.tanh((2 / numpy.pi) ** 0.5 * (x + 0.044715 * x ** 3)))

    def attention(self, q, k, v, heads, theta=None, reach=None, positions=None):
        """theta: of rotary positions (Su et al. 2021), which begin anew in the second sentence of a pair; reach: how far a token
        sees to each side."""
        n, d = q.shape
        q, k, v = (z.reshape(n, heads, d // heads).transpose(0, 1) for z in (q, k, v))
        if theta is not None:
            half = d // heads // 2
            angle = positions.double()[:, None] * theta ** (-torch.arange(half).double() / half)
            turn = torch.polar(torch.ones_like(angle), angle)
            q, k = (torch.cat([turned.real, turned.imag], 2) for turned in
                    (torch.complex(z[:, :, :half], z[:, :, half:]) * turn for z in (q, k)))
        z = q @ k.transpose(1, 2) / (d // heads) ** 0.5
        if reach is not None:
            apart = (torch.arange(n)[:, None] - torch.arange(n)).abs()
            z = z.masked_fill(apart > reach, float("-inf"))
        weights = torch.softmax(z, -1)
        return (weights @ v).transpose(0, 1).reshape(n, d)

    def layer(self, x, heads, names):
        q, k, v, out, norm1, wide, narrow, norm2 = names
        a = self.attention(self.linear(q, x), self.linear(k, x), self.linear(v, x), heads)
        x = self.norm(norm1, x + self.linear(out, a))
        return self.norm(norm2, x + self.linear(narrow, self.activation(self.linear(wide, x))))

    def layer_before(self, x, heads, s):
        """A pre-LN layer."""
        n, part = self.norm(s + "attention.self_attn_layer_norm", x), s + "attention.self."
        a = self.attention(self.linear(part + "query", n), self.linear(part + "key", n), self.linear(part + "value", n), heads)
        x = x + self.linear(s + "attention.output.dense", a)
        return x + self.linear(s + "output.dense", self.activation(self.linear(s + "intermediate.dense",
                                                                               self.norm(s + "LayerNorm", x))))

    def modern_layer(self, x, i, positions):
        c, s = self.c, f"{self.prefix}layers.{i}."
        if "layer_types" in c:
            local = c["layer_types"][i] == "sliding_attention"
            theta = c["rope_parameters"]["sliding_attention" if local else "full_attention"]["rope_theta"]
        else:
            local = i % c["global_attn_every_n_layers"] != 0
            theta = c["local_rope_theta" if local else "global_rope_theta"]
        n = self.norm(s + "attn_norm", x) if i > 0 else x
        q, k, v = self.linear(s + "attn.Wqkv", n).chunk(3, -1)
        reach = c["local_attention"] // 2 if local else None
        x = x + self.linear(s + "attn.Wo", self.attention(q, k, v, c["num_attention_heads"], theta, reach,
                                                                positions))
        u, gate = self.linear(s + "mlp.Wi", self.norm(s + "mlp_norm", x)).chunk(2, -1)
        return x + self.linear(s + "mlp.Wo", self.activation(u) * gate)

    def hidden(self, ids, positions, types, languages):
        """Hidden states of every layer for one sequence: lists of token ids, positions from 0, types and languages."""
        p, c = self.prefix, self.c
        if self.kind == "modernbert":
            states = [self.norm(p + "embeddings.norm", self.words[ids])]
            for i in range(c["num_hidden_layers"]):
                states.append(self.modern_layer(states[-1], i, positions))
            return states[:-1] + [self.norm(p + "final_norm", states[-1])]
        if self.kind == "xlm":
            x = self.words[ids] + self.t[p + "position_embeddings.weight"][positions]
            if c.get("use_lang_emb", True) and c.get("n_langs", 1) > 1:
                x = x + self.t[p + "lang_embeddings.weight"][languages]
            states = [self.norm(p + "layer_norm_emb", x)]
            for i in range(c["n_layers"]):
                a = f"{p}attentions.{i}."
                names = (a + "q_lin", a + "k_lin", a + "v_lin", a + "out_lin", f"{p}layer_norm1.{i}", f"{p}ffns.{i}.lin1",
                         f"{p}ffns.{i}.lin2", f"{p}layer_norm2.{i}")
                states.append(self.layer(states[-1], c["n_heads"], names))
            return states
        first = c["pad_token_id"] + 1 if "roberta" in self.kind else 0
        if c["type_vocab_size"] < 2:
            types = types * 0
        x = (self.words[ids] + self.t[p + "embeddings.position_embeddings.weight"][positions + first] +
             self.t[p + "embeddings.token_type_embeddings.weight"][types])
        if self.kind == "xlm-roberta-xl":
            states = [x]
            for i in range(c["num_hidden_layers"]):
                states.append(self.layer_before(states[-1], c["num_attention_heads"], f"{p}encoder.layer.{i}."))
            return states[:-1] + [self.norm(p + "encoder.LayerNorm", states[-1])]
        x = self.norm(p + "embeddings.LayerNorm", x)
        if self.kind == "albert":
            x = self.linear(p + "encoder.embedding_hidden_mapping_in", x)
        states = [x]
        for i in range(c["num_hidden_layers"]):
            if self.kind == "albert":
                group = i * c.get("num_hidden_groups", 1) // c["num_hidden_layers"]
                s = f"{p}encoder.albert_layer_groups.{group}.albert_layers.0."
                names = (s + "attention.query", s + "attention.key", s + "attention.value", s + "attention.dense",
                         s + "attention.LayerNorm", s + "ffn", s + "ffn_output", s + "full_layer_layer_norm")
            else:
                s = f"{p}encoder.layer.{i}."
                names = (s + "attention.self.query", s + "attention.self.key", s + "attention.self.value",
                         s + "attention.output.dense", s + "attention.output.LayerNorm", s + "intermediate.dense",
                         s + "output.dense", s + "output.LayerNorm")
            states.append(self.layer(states[-1], c["num_attention_heads"], names))
        return states

    def head(self, h):
        """What ModernBERT has before the last layer."""
        return self.norm("head.norm", self.activation(self.linear("head.dense", h)))

    def logits(self, h):
        if self.kind == "xlm":
            return h @ self.words.T + self.t["pred_layer.proj.bias"]
        if self.kind == "modernbert":
            return self.head(h) @ self.words.T + self.t["decoder.bias"]
        if self.kind == "bert":
            x = self.activation(self.linear("cls.predictions.transform.dense", h))
            h = self.norm("cls.predictions.transform.LayerNorm", x)
            return h @ self.words.T + self.t["cls.predictions.bias"]
        if self.kind == "albert":
            h = self.norm("predictions.LayerNorm", self.activation(self.linear("predictions.dense", h)))
            return h @ self.words.T + self.t["predictions.bias"]
        x = self.linear("lm_head.dense", h)
        h = self.norm("lm_head.layer_norm", x * (1 + torch.erf(x / 2 ** 0.5)) / 2)
        return h @ self.words.T + self.t["lm_head.bias"]

    def class_layer(self):
        return CLASSES.get(self.kind, "classifier.out_proj")

    def pool(self, states, b):
        """Of the states of first tokens, or of their means over sequences."""
        h = states[b["masked_positions"]]
        if self.kind == "xlm":
            return h
        if self.kind == "modernbert":
            if self.c["classifier_pooling"] == "mean":
                h = torch.stack([states[first:end].mean(0) for first, end in zip(b["offsets"], b["offsets"][1:])])
            return self.head(h)
        pooler = {"bert": self.prefix + "pooler.dense", "albert": self.prefix + "pooler"}.get(self.kind, "classifier.dense")
        return torch.tanh(self.linear(pooler, h))

    def task(self, name, h, b):
        """The mean loss of a batch of a task: of words, of sequences, of the ends of answers. Its gradient by the last layer, the
        sum over rows of a state times how far the probabilities are from the targets, tells logits apart; self.out: that
        layer's parameters, by our names."""
        ends = "classifier" if self.kind == "modernbert" else "qa_outputs"
        out = {"tagging": "classifier", "answering": ends}.get(name, self.class_layer())
        self.out = {"weight": self.t[out + ".weight"].requires_grad_()}
        if name != "answering":
            self.out["bias"] = self.t[out + ".bias"].requires_grad_()
        if name != "classification" and self.kind == "modernbert":
            h = self.head(h)
        if name == "tagging":
            return F.cross_entropy(self.linear(out, h[b["masked_positions"]]), b["targets"], ignore_index=-1)
        if name == "classification":
            return F.cross_entropy(self.linear(out, self.pool(h, b)), b["targets"])
        z, losses = self.linear(out, h), []
        for s in range(len(b["offsets"]) - 1):
            first, last = int(b["offsets"][s]), int(b["offsets"][s + 1])
            for end in 0, 1:
                row = int(b["masked_positions"][2 * s + end]) - first
                losses.append(F.cross_entropy(z[first:last, end][None], torch.tensor([row])))
        return torch.stack(losses).mean()


def same(a, b):
    """Tensors of A are in B with the same bits, but for those that are known to be left out; the row of a single type of tokens
    is added to all positions."""
    x = {n.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias"): t
         for n, t in read(a).items()}
    y = read(b)
    for n, t in list(x.items()):
        if n.endswith("token_type_embeddings.weight") and len(t) == 1:
            x[n.replace("token_type", "position")] = x[n.replace("token_type", "position")] + t
            x[n] = numpy.zeros_like(t)
    with open(os.path.join(a, "config.json")) as f:
        pooled = json.load(f)["architectures"][0] in ("BertForSequenceClassification", "AlbertForSequenceClassification")
    missing = [n for n in x if n not in y and (pooled or "pooler" not in n) and not n.endswith("_ids") and "decoder" not in n and
               "proj.weight" not in n and "seq_relationship" not in n]
    other = [n for n in x if n in y and (x[n].shape != y[n].shape or
                                         x[n].astype(numpy.float32).tobytes() != y[n].astype(numpy.float32).tobytes())]
    print(f"{len(x)} tensors, {len(y)} there; missing: {missing}; other: {other}")
    return not missing and not other


def check(directory, dump):
    """Hidden states and logits within 1e-5 and losses of masked words within 1e-6 of the largest value. Rows of subwords
    are the same on both sides, since the run's corpus was made like the model."""
    import h5py
    model, good, compared, logits = Model(directory), True, 0, 0
    with h5py.File(dump, "r") as f:
        for stream, group in f["streams"].items():
            b = {k: torch.tensor(group["batch"][k][...]).long() for k in group["batch"]}
            layers = len(group["hidden"])
            parts = []
            for s in range(len(b["offsets"]) - 1):
                rows = slice(int(b["offsets"][s]), int(b["offsets"][s + 1]))
                parts.append(model.hidden(*(b[k][rows] for k in ("ids", "positions", "types", "languages"))))
            states = [torch.cat([p[l] for p in parts]) for l in range(layers)]
            assert len(parts[0]) == layers, "as many layers"
            for l in range(layers):
                ours = torch.tensor(group["hidden"][str(l)][...]).double()
                error = float((ours - states[l]).abs().max() / states[l].abs().max())
                good = good and error < 1e-5
                print(f"{stream} layer {l}: {error:.1e}")
            if "logits" in group:
                ours = torch.tensor(group["logits"][...]).double()
                theirs = model.logits(states[-1][b["masked_positions"][:len(ours)]])
                rows = min(ours.shape[1], theirs.shape[1])
                error = float((ours[:, :rows] - theirs[:, :rows]).abs().max() / theirs.abs().max())
                good = good and error < 1e-5 and len(ours) > 0
                logits += 1
                print(f"{stream} logits: {error:.1e}")
            for name, objective in f["objectives"].items():
                if objective["loss"].attrs["stream"].decode() != stream:
                    continue
                if name in ("tagging", "classification", "answering"):
                    loss = model.task(name, states[-1], b)
                    loss.backward()
                    loss = float(loss)
                    for parameter, tensor in model.out.items():
                        ours = torch.tensor(f[f"gradients/objectives/{name}/{parameter}"][...]).double()
                        error = float((ours - tensor.grad.view_as(ours)).abs().max() / tensor.grad.abs().max())
                        good = good and error < 1e-5
                        logits += 1
                        print(f"{stream} logits' gradient, by {parameter}: {error:.1e}")
                else:
                    loss = float(F.cross_entropy(model.logits(states[-1][b["masked_positions"]]), b["targets"]))
                error = abs(float(objective["loss"][0]) - loss) / max(1, abs(loss))
                good = good and error < 1e-6
                compared += 1
                print(f"{name}: {loss:.7f}, {error:.1e}")
    assert compared > 0 and logits > 0
    return good


if __name__ == "__main__":
    verb, arguments = sys.argv[1], sys.argv[2:]
    if verb == "make":
        make(*arguments)
    elif verb == "same":
        sys.exit(0 if same(*arguments) else 1)
    elif verb == "check":
        sys.exit(0 if check(*arguments) else 1)
