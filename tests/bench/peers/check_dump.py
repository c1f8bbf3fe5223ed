#!/usr/bin/python3
"""Compute a step of `xlm_train --dump-step FILE.h5` again in PyTorch, in double precision, and compare.

    /usr/bin/python3 tests/bench/peers/check_dump.py step.h5

Needs Debian's python3-torch and python3-h5py. Compares every hidden state, the loss of every mlm objective and the gradient of
every parameter of the model with those in the file (layout: src/train/dump.h), and ends with code 1 when one differs by more
than float rounding explains. Objectives of other plugins are not known here: then gradients are not compared.
"""
# SPDX-License-Identifier: GPL-3.0-or-later
import math
import sys

import h5py
import torch
import torch.nn.functional as F

# Largest |ours − theirs| over the largest |theirs|. Ours is single precision.
TOLERANCE_STATE, TOLERANCE_LOSS, TOLERANCE_GRADIENT = 1e-4, 1e-5, 1e-3


def parameters_of(group, prefix=""):
    for name, item in group.items():
        if isinstance(item, h5py.Group):
            yield from parameters_of(item, prefix + name + "/")
        else:
            yield prefix + name, item


class Encoder:
    """Post-LN encoder and LM head from named parameters."""

    def __init__(self, attributes, parameters):
        self.a, self.p = attributes, parameters

    def text(self, key):
        value = self.a[key]
        return value.decode() if isinstance(value, bytes) else str(value)

    def linear(self, x, prefix):
        return F.linear(x, self.p[prefix + "/weight"], self.p[prefix + "/bias"])

    def norm(self, x, prefix):
        return F.layer_norm(x, x.shape[-1:], self.p[prefix + "/weight"], self.p[prefix + "/bias"], float(self.a["layer_norm_epsilon"]))

    def embed(self, b):
        rows = b["positions"] + int(self.a["position_offset"])
        x = self.p["embeddings/word/weight"][b["ids"]]
        if self.text("position_type") == "learned":
            x = x + self.p["embeddings/position/weight"][rows]
        else:
            e = x.shape[1]
            angle = rows[:, None].double() / 10000 ** (torch.arange(e) // 2 * 2 / e).double()
            x = x + torch.where(torch.arange(e) % 2 == 0, angle.sin(), angle.cos())
        if self.text("language_embeddings") == "true":
            x = x + self.p["embeddings/language/weight"][b["languages"]]
        if self.text("token_types") == "true":
            x = x + self.p["embeddings/token_type/weight"][b["types"]]
        x = self.norm(x, "embeddings/layer_norm")
        return self.linear(x, "embeddings/projection") if "embeddings/projection/weight" in self.p else x

    def attend(self, x, b, prefix):
        heads = int(self.a["attention_heads"])
        q, k, v = (self.linear(x, prefix + "/" + part) for part in ("query", "key", "value"))
        out = []
        for s in range(len(b["offsets"]) - 1):
            rows = slice(int(b["offsets"][s]), int(b["offsets"][s + 1]))
            qs, ks, vs = (t[rows].view(-1, heads, t.shape[1] // heads).transpose(0, 1) for t in (q, k, v))
            weights = torch.softmax(qs @ ks.transpose(1, 2) / math.sqrt(qs.shape[2]), -1)
            out.append((weights @ vs).transpose(0, 1).reshape(-1, x.shape[1]))
        return self.linear(torch.cat(out), prefix + "/output")

    def encode(self, b):
        hidden = [self.embed(b)]
        for l in range(int(self.a["layers"])):
            layer = "encoder/layer." + ("shared" if self.text("share_layers") == "true" else str(l))
            x = hidden[-1]
            x = self.norm(x + self.attend(x, b, layer + "/attention"), layer + "/attention/layer_norm")
            wide = F.gelu(self.linear(x, layer + "/feed_forward/intermediate"))
            hidden.append(self.norm(x + self.linear(wide, layer + "/feed_forward/output"), layer + "/feed_forward/layer_norm"))
        return hidden

    def mlm(self, b, h):
        h = h[b["masked_positions"]]
        if "lm_head/dense/weight" in self.p:
            h = self.linear(h, "lm_head/dense")
        if self.text("head") == "bert":
            h = self.norm(F.gelu(h), "lm_head/layer_norm")
        return F.cross_entropy(F.linear(h, self.p["embeddings/word/weight"], self.p["lm_head/bias"]), b["targets"])


def compare(name, ours, theirs, tolerance, worst):
    scale = max(theirs.abs().max().item(), 1e-8)
    difference = (ours - theirs).abs().max().item() / scale
    worst[0] = max(worst[0], difference)
    if not difference <= tolerance:
        print(f"DIFFERS {name}: {difference:.2e}")
        return 1
    return 0


def main(path):
    file = h5py.File(path, "r")
    parameters = {n: torch.tensor(d[...]).double().requires_grad_() for n, d in parameters_of(file["parameters"])}
    encoder = Encoder(file["model"].attrs, parameters)
    bad, states, losses, gradients = 0, [0.0], [0.0], [0.0]
    hidden, batches = {}, {}
    for name, stream in file.get("streams", {}).items():
        batches[name] = {k: torch.tensor(d[...]).long() for k, d in stream["batch"].items()}
        hidden[name] = encoder.encode(batches[name])
        for l, h in enumerate(hidden[name]):
            bad += compare(f"{name} hidden {l}", torch.tensor(stream["hidden"][str(l)][...]).double(), h.detach(), TOLERANCE_STATE, states)
    total, known = 0, True
    for name, objective in file["objectives"].items():
        a = objective["loss"].attrs
        plugin, stream = (a[k].decode() if isinstance(a[k], bytes) else str(a[k]) for k in ("plugin", "stream"))
        if plugin != "mlm":
            print(f"objective {name}: plugin {plugin} is not known here")
            known = False
            continue
        loss = encoder.mlm(batches[stream], hidden[stream][-1])
        bad += compare(f"loss {name}", torch.tensor(objective["loss"][...]).double(), loss.detach(), TOLERANCE_LOSS, losses)
        total = total + float(a["weight"]) * loss
    if known:
        total.backward()
        # Small gradients that come out of large cancelling terms (key biases are zero in exact arithmetic) are measured against the
        # largest gradient of their layer's weights.
        largest = max(p.grad.abs().max().item() for p in parameters.values() if p.grad is not None)
        for name, d in parameters_of(file["gradients"]):
            theirs = parameters[name].grad
            theirs = torch.zeros_like(parameters[name]) if theirs is None else theirs
            if theirs.abs().max().item() < 1e-6 * largest:
                ours = torch.tensor(d[...]).double().abs().max().item()
                if ours > 1e-5 * largest:
                    print(f"DIFFERS gradient {name}: {ours:.2e} instead of about 0")
                    bad += 1
                continue
            bad += compare(f"gradient {name}", torch.tensor(d[...]).double(), theirs, TOLERANCE_GRADIENT, gradients)
    print(f"largest differences: hidden states {states[0]:.1e}, losses {losses[0]:.1e}, gradients {gradients[0]:.1e}; "
          f"{len(parameters)} parameters; {'DIFFERENT' if bad else 'the same'}")
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
