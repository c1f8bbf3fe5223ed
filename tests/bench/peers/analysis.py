# xlm-mpi: principal directions, Procrustes and nearest neighbours by NumPy. SPDX-License-Identifier: GPL-3.0-or-later
#
#   python3 analysis.py SOURCE.h5 TARGET.h5 PAIRS
#
# Prints seconds of: covariance and its eigenvectors, in double precision as ours; the map of the first PAIRS words; the
# mapping; the ten nearest of each of 1,000 words, by cosine.
import sys
import time

import h5py
import numpy

x = h5py.File(sys.argv[1], "r")["vectors"][()]
y = h5py.File(sys.argv[2], "r")["vectors"][()]
pairs = int(sys.argv[3])
begin = time.time()
centred = x.astype(numpy.float64)
centred -= centred.mean(axis=0)
numpy.linalg.eigh(centred.T @ centred / (len(x) - 1))
directions = time.time() - begin
del centred
begin = time.time()
u, _, vt = numpy.linalg.svd(y[:pairs].T.astype(numpy.float64) @ x[:pairs].astype(numpy.float64))
w = u @ vt
fit = time.time() - begin
begin = time.time()
mapped = x @ w.T.astype(numpy.float32)
mapping = time.time() - begin
del mapped
begin = time.time()
unit = x / numpy.linalg.norm(x, axis=1, keepdims=True)
for first in range(0, 1000, 250):
    cosines = unit[first : first + 250] @ unit.T
    cosines[numpy.arange(len(cosines)), numpy.arange(first, first + len(cosines))] = -2
    nearest = numpy.argpartition(cosines, -10, axis=1)[:, -10:]
    order = numpy.argsort(-numpy.take_along_axis(cosines, nearest, axis=1), axis=1)
    nearest = numpy.take_along_axis(nearest, order, axis=1)
near = time.time() - begin
print(*(round(t, 3) for t in (directions, fit, mapping, near)))
