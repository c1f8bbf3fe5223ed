#!/usr/bin/python3
"""Train a job of tests/bench/roberta-8.sh in PyTorch, to be timed beside xlm_train.

    /usr/bin/python3 tests/bench/peers/torch_train.py job.conf METRICS.csv [--processes N] [--threads N]
        [--dropout bytes|torch] [--products blas|mkldnn] [--precision float32|bfloat16]

Needs Debian's python3-torch and python3-h5py. Model, corpus and hyper-parameters are the job's: its keys, and the defaults of
`xlm_train --help-job` for those that it leaves out. Sequences are all of full length, so nothing is padded or packed. A step is
forward, backward, clipping and AdamW; with several processes each takes its share of the step's batch and gradients are
averaged by DistributedDataParallel. METRICS.csv has the rows "total" of our own (with several processes the loss is that of the
first one's share).

PyTorch draws dropout masks element by element on one thread. `--dropout bytes` (the default) draws eight elements at a time and
drops one when its byte is below 256 p, which is several times faster; `torch` is torch.nn.functional.dropout. Linear layers of
single precision go to the BLAS, whether MKL-DNN is enabled or not; `--products mkldnn` converts their input, so that they do not.
`--precision bfloat16` is torch.autocast on the CPU: linear layers and attention's products in bfloat16 by MKL-DNN, whatever
`--products` says; parameters, optimiser, layer norms and the loss stay in float32.
"""
# SPDX-License-Identifier: GPL-3.0-or-later
import argparse
import configparser
import csv
import os
import sys
import tempfile
import time

import h5py
import numpy as np
import torch
import torch.distributed as distributed
import torch.nn.functional as F
from torch import nn

BOS, EOS, MASK, SPECIALS = 0, 2, 4, 5  # include/xlm/batch.h
HEADER = "step,split,objective,language,terms,loss,perplexity,accuracy,learning_rate,gradient_norm,tokens,seconds"


def dropout_of_bytes(x, p, training=True):
    least = round(256 * p)
    if not training or least == 0:
        return x
    bytes_ = torch.empty((x.numel() + 7) // 8, dtype=torch.int64).random_(-2**63, None).view(torch.uint8)
    keep = bytes_[:x.numel()].view(x.shape) >= least
    return x * keep.to(x.dtype).mul_(256 / (256 - least))


def linear_by_mkldnn(x, weight, bias):
    return F.linear(x.to_mkldnn(), weight, bias).to_dense()


DROPOUT = {"bytes": dropout_of_bytes, "torch": F.dropout}
PRODUCTS = {"blas": F.linear, "mkldnn": linear_by_mkldnn}


class Linear(nn.Linear):
    def __init__(self, c, inputs, outputs):
        super().__init__(inputs, outputs)
        self.product = PRODUCTS[c["products"]]

    def forward(self, x):
        return self.product(x, self.weight, self.bias)


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        d = c["hidden_size"]
        self.c, self.heads = c, c["attention_heads"]
        self.qkv, self.output = Linear(c, d, 3 * d), Linear(c, d, d)
        self.intermediate, self.narrow = Linear(c, d, c["feed_forward_size"]), Linear(c, c["feed_forward_size"], d)
        self.norms = nn.ModuleList(nn.LayerNorm(d, c["layer_norm_epsilon"]) for _ in range(2))

    def drop(self, x, key):
        return DROPOUT[self.c["drop"]](x, self.c[key], self.training)

    def attend(self, x, length):
        width = x.shape[1] // self.heads
        q, k, v = self.qkv(x).view(-1, length, 3, self.heads, width).permute(2, 0, 3, 1, 4).reshape(3, -1, length, width).unbind(0)
        scores = torch.bmm(q * width**-0.5, k.transpose(1, 2))
        mixed = torch.bmm(self.drop(torch.softmax(scores, -1), "attention_dropout"), v)
        return self.output(mixed.view(-1, self.heads, length, width).transpose(1, 2).reshape(x.shape))

    def forward(self, x, length):
        x = self.norms[0](x + self.drop(self.attend(x, length), "dropout"))
        return self.norms[1](x + self.drop(self.narrow(F.gelu(self.intermediate(x))), "dropout"))


class Model(nn.Module):
    """Post-LN encoder and BERT's LM head, its decoder tied to the word embeddings. Activations are [tokens x width]."""

    def __init__(self, c):
        super().__init__()
        d = c["hidden_size"]
        self.c = c
        self.words = nn.Embedding(c["vocabulary"], d)
        self.positions = nn.Embedding(c["positions"], d)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c["layers"]))
        self.dense, self.bias = Linear(c, d, d), nn.Parameter(torch.zeros(c["vocabulary"]))
        self.norm, self.head_norm = (nn.LayerNorm(d, c["layer_norm_epsilon"]) for _ in range(2))
        # nn.Embedding's own N(0, 1) makes a model whose gradients are denormal, and PyTorch several times slower.
        for name, p in self.named_parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(p)

    def forward(self, ids, rows, targets):
        """Sum of the masked rows' losses."""
        sequences, length = ids.shape
        x = self.norm(self.words(ids) + self.positions(torch.arange(length))).view(sequences * length, -1)
        x = DROPOUT[self.c["drop"]](x, self.c["dropout"], self.training)
        for layer in self.layers:
            x = layer(x, length)
        h = self.head_norm(F.gelu(self.dense(x[rows])).float())
        logits = PRODUCTS[self.c["products"]](h, self.words.weight, self.bias)
        return F.cross_entropy(logits.float(), targets, reduction="sum")


def read_job(path):
    """The job's keys in one table; a key that it leaves out has xlm_train's default."""
    job = configparser.ConfigParser()
    job.read(path)
    keys = {"layers": 8, "hidden_size": 512, "attention_heads": 8, "feed_forward_size": 0, "positions": 512, "layer_norm_epsilon": 1e-5,
            "dropout": 0.1, "attention_dropout": 0.1, "seed": 1, "learning_rate": 1e-4, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8,
            "weight_decay": 0.01, "clip": 1.0, "batch": 32, "length": 128, "mask": 0.15, "mask_token": 0.8, "mask_random": 0.1}
    given = {**job["model"], **job["train"], **job["stream text"]}
    c = {key: type(default)(given.get(key, default)) for key, default in keys.items()}
    c["feed_forward_size"] = c["feed_forward_size"] or 4 * c["hidden_size"]
    c["corpus"], c["steps"] = given["corpus"], int(given["steps"])
    return c


def read_text(c):
    with h5py.File(c["corpus"], "r") as corpus:
        c["vocabulary"] = SPECIALS + len(corpus["vocabulary/words"])
        (text,) = corpus["train/text"].values()
        return text["tokens"][...].astype(np.int64)


def draw_batch(c, text, random):
    """[batch x length] with <s> and </s>; which rows of the flattened batch are predicted, and their subwords."""
    inside = c["length"] - 2
    starts = random.integers(0, len(text) // inside, c["batch"]) * inside
    original = np.full((c["batch"], c["length"]), EOS)
    original[:, 0] = BOS
    original[:, 1:-1] = text[starts[:, None] + np.arange(inside)]
    ids = original.copy()
    chosen = (random.random(ids.shape) < c["mask"]) & (original >= SPECIALS)
    chance = random.random(ids.shape)
    ids[chosen & (chance < c["mask_token"])] = MASK
    other = chosen & (chance >= c["mask_token"]) & (chance < c["mask_token"] + c["mask_random"])
    ids[other] = random.integers(SPECIALS, c["vocabulary"], other.sum())
    return ids, chosen, original


def train(process, c, options, meeting):
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(c["seed"])
    text = read_text(c)  # sets c["vocabulary"]
    model = Model(c)
    trained = model
    n = options.processes
    if n > 1:
        distributed.init_process_group("gloo", init_method=meeting, rank=process, world_size=n)
        trained = nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
        torch.manual_seed(c["seed"] + process)  # dropout
    matrices, rest = [p for p in model.parameters() if p.dim() == 2], [p for p in model.parameters() if p.dim() == 1]
    optimiser = torch.optim.AdamW([{"params": matrices}, {"params": rest, "weight_decay": 0}], lr=c["learning_rate"],
                                  betas=(c["beta1"], c["beta2"]), eps=c["epsilon"], weight_decay=c["weight_decay"])
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / c["steps"])
    random = np.random.default_rng(c["seed"])
    share = c["batch"] // n
    mine = slice(process * share, (process + 1) * share)
    with open(options.metrics if process == 0 else os.devnull, "w", buffering=1, newline="") as file:
        table = csv.writer(file)
        table.writerow(HEADER.split(","))
        before = time.monotonic()
        for step in range(1, c["steps"] + 1):
            ids, chosen, original = draw_batch(c, text, random)  # every process draws all of it
            rows = torch.from_numpy(np.flatnonzero(chosen[mine]))
            # DistributedDataParallel divides by the number of processes.
            with torch.autocast("cpu", torch.bfloat16, enabled=options.precision == "bfloat16"):
                losses = trained(torch.from_numpy(ids[mine]), rows, torch.from_numpy(original[mine][chosen[mine]]))
            loss = losses * (n / chosen.sum())
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), c["clip"])
            optimiser.step()
            optimiser.zero_grad(set_to_none=n == 1)
            rate = schedule.get_last_lr()[0]
            schedule.step()
            after = time.monotonic()
            table.writerow([step, "train", "total", "", "", loss.item(), "", "", rate, norm.item(), ids.size, f"{after - before:.4g}"])
            before = after
    if n > 1:
        distributed.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job")
    parser.add_argument("metrics")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="of a process")
    parser.add_argument("--steps", type=int, help="instead of the job's")
    parser.add_argument("--dropout", choices=DROPOUT, default="bytes")
    parser.add_argument("--products", choices=PRODUCTS, default="blas")
    parser.add_argument("--precision", choices=("float32", "bfloat16"), default="float32")
    options = parser.parse_args()
    if options.precision == "bfloat16":
        options.products = "blas"  # which autocast takes to MKL-DNN
    c = read_job(options.job)
    c["drop"], c["products"] = options.dropout, options.products
    c["steps"] = options.steps or c["steps"]
    if c["batch"] % options.processes:
        sys.exit("the batch does not divide into processes")
    if options.processes == 1:
        return train(0, c, options, None)
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(train, (c, options, f"file://{folder}/meeting"), options.processes)


if __name__ == "__main__":
    main()
