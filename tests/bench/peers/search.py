#!/usr/bin/env python3
# xlm-mpi: greedy and beam search with PyTorch, 6 + 6 layers x 512. SPDX-License-Identifier: GPL-3.0-or-later
"""search.py THREADS SENTENCES TOKENS BEAM: tokens/s, encoding among it.

Keys and values are kept in memory taken once; those of the source are kept once per sentence, and the hypotheses of a sentence
attend to them together. Query, key and value are one product. Finished sentences leave the batch: with the weights drawn here,
as in tests/bench/search.c, none ends early, so both compute the same rows. Greedy search needs no softmax."""
import statistics
import sys
import time

import torch
import torch.nn.functional as F

LAYERS, D, HEADS, V, SPECIALS, EOS, BOS = 6, 512, 8, 32000, 5, 2, 0
W = D // HEADS
threads, S, T, K = map(int, sys.argv[1:5])
torch.set_num_threads(threads)
torch.manual_seed(1)


def linear(n_in, n_out):
    return torch.randn(n_out, n_in) * 0.02, torch.zeros(n_out)


def norm():
    return torch.ones(D), torch.zeros(D)


def layer(decoder):
    p = dict(qkv=linear(D, 3 * D), out=linear(D, D), n1=norm(), up=linear(D, 4 * D), down=linear(4 * D, D), n3=norm())
    if decoder:
        p.update(q=linear(D, D), kv=linear(D, 2 * D), out2=linear(D, D), n2=norm())
    return p


encoder, decoder = [layer(False) for _ in range(LAYERS)], [layer(True) for _ in range(LAYERS)]
words, places, output_bias = torch.randn(V, D) * 0.02, torch.randn(512, D) * 0.02, torch.zeros(V)
embedding_norm = norm()


def normed(x, p):
    return F.layer_norm(x, (D,), *p)


def embed(ids, position):
    return normed(words[ids] + position, embedding_norm)


def feed(x, p):
    return normed(x + F.linear(F.gelu(F.linear(x, *p["up"])), *p["down"]), p["n3"])


def encode(ids):
    x = embed(ids, places[:ids.shape[1]])
    for p in encoder:
        q, k, v = F.linear(x, *p["qkv"]).view(*ids.shape, 3, HEADS, W).permute(2, 0, 3, 1, 4)
        y = torch.softmax(q @ k.transpose(2, 3) * W ** -0.5, -1) @ v
        x = feed(normed(x + F.linear(y.transpose(1, 2).reshape(x.shape), *p["out"]), p["n1"]), p)
    return x


class State:
    def __init__(self, memory):
        shape = S * K, HEADS, T + 1, W
        self.keys = [torch.empty(shape) for _ in decoder]
        self.values = [torch.empty(shape) for _ in decoder]
        self.memory = []
        for p in decoder:
            k, v = F.linear(memory, *p["kv"]).view(S, -1, 2, HEADS, W).permute(2, 0, 3, 1, 4)
            self.memory.append((k.transpose(2, 3).contiguous(), v.contiguous()))

    def select(self, rows, length):
        for all_rows in (self.keys, self.values):
            for i, kept in enumerate(all_rows):
                kept[:len(rows), :, :length] = kept[rows, :, :length]

    def keep_sentences(self, which):
        self.memory = [(k[which], v[which]) for k, v in self.memory]

    def step(self, ids, at, each):
        n = len(ids)
        x = embed(ids, places[at])
        for i, p in enumerate(decoder):
            q, k, v = F.linear(x, *p["qkv"]).view(n, 3, HEADS, W).unbind(1)
            keys, values = self.keys[i][:n], self.values[i][:n]
            keys[:, :, at], values[:, :, at] = k, v
            a = torch.softmax(q.unsqueeze(2) @ keys[:, :, :at + 1].transpose(2, 3) * W ** -0.5, -1)
            x = normed(x + F.linear((a @ values[:, :, :at + 1]).reshape(n, D), *p["out"]), p["n1"])
            q = F.linear(x, *p["q"]).view(n // each, each, HEADS, W).transpose(1, 2)
            k, v = self.memory[i]
            y = (torch.softmax(q @ k * W ** -0.5, -1) @ v).transpose(1, 2).reshape(n, D)
            x = feed(normed(x + F.linear(y, *p["out2"]), p["n2"]), p)
        return F.linear(x, words, output_bias)


def greedy(source):
    state, ids, alive, made = State(encode(source)), torch.full((S,), BOS), S, 0
    for at in range(T + 1):
        logits = state.step(ids, at, 1)
        if at == T:
            break
        logits[:, :EOS] = logits[:, EOS + 1:SPECIALS] = -float("inf")
        ids = logits.argmax(1)
        going = (ids != EOS).nonzero().view(-1)
        if len(going) < alive:
            state.select(going, at + 1)
            state.keep_sentences(going)
            ids, alive = ids[going], len(going)
            if alive == 0:
                break
        made += alive
    return made


def beam(source):
    state, n, each = State(encode(source)), S, 1
    ids, scores = torch.full((S,), BOS), torch.zeros(S, 1)
    for at in range(T + 1):
        logits = state.step(ids, at, each)
        total = torch.logsumexp(logits, 1, keepdim=True)
        logits[:, :EOS] = logits[:, EOS + 1:SPECIALS] = -float("inf")
        best, token = logits.topk(2 * K, 1)
        if at == T:
            break
        best = (best - total + scores.view(-1, 1)).view(n, -1)
        value, place = best.topk(2 * K, 1)
        token = token.view(n, -1).gather(1, place)
        value = value.masked_fill(token == EOS, -float("inf"))  # finished ones leave the beam
        scores, chosen = value.topk(K, 1)
        ids = token.gather(1, chosen).view(-1)
        rows = (place.gather(1, chosen) // (2 * K) + torch.arange(n).view(-1, 1) * each).view(-1)
        state.select(rows, at + 1)
        each = K
    return S * T


with torch.inference_mode():
    source = torch.randint(SPECIALS, V, (S, T))
    run = greedy if K == 1 else beam
    run(source)
    rates = []
    for _ in range(3):
        begin = time.perf_counter()
        tokens = run(source)
        rates.append(tokens / (time.perf_counter() - begin))
print(round(statistics.median(rates)))
