#!/usr/bin/env python3
# xlm-mpi: t-SNE of scikit-learn on the vectors of a file, and how well two maps keep neighbourhoods.
# SPDX-License-Identifier: GPL-3.0-or-later
#
#   tsne.py VECTORS COORDINATES [ITERATIONS]   word2vec's text without a first line; f64 [n x 2] of xlm_embed map, as bytes
#
# Prints KL(P || Q) and seconds of scikit-learn, and the trustworthiness of our map and of its (Venna and Kaski 2001, over 12
# neighbours, of 2,000 points). Both get the same 50 principal components, perplexity 30, theta 0.5.
import sys
import time

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE


def trustworthiness(x, y, k=12, sample=2000):
    n = len(x)
    total = 0.0
    chosen = np.linspace(0, n - 1, min(sample, n)).astype(int)
    for i in chosen:
        near_here = np.argpartition(((y - y[i]) ** 2).sum(1), k + 1)[: k + 1]
        distances = ((x - x[i]) ** 2).sum(1)
        distances[i] = -1
        for j in near_here:
            if j != i:
                total += max((distances < distances[j]).sum() - k, 0)
    return 1 - 2 * total / (len(chosen) * k * (2 * n - 3 * k - 1))


vectors = np.loadtxt(sys.argv[1], usecols=None, dtype=str)[:, 1:].astype(np.float32)
iterations = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
ours = np.fromfile(sys.argv[2]).reshape(-1, 2)
scores = PCA(min(50, vectors.shape[1]), svd_solver="full").fit_transform(vectors)
begin = time.time()
tsne = TSNE(perplexity=30, n_iter=iterations, init="pca", learning_rate="auto", angle=0.5, n_jobs=-1)
theirs = tsne.fit_transform(scores)
seconds = time.time() - begin
print("%.4f %.1f %.4f %.4f" % (tsne.kl_divergence_, seconds, trustworthiness(scores, ours), trustworthiness(scores, theirs)))
