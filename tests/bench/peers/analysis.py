# xlm-mpi: principal directions and Procrustes by NumPy. SPDX-License-Identifier: GPL-3.0-or-later
#
#   python3 analysis.py SOURCE.h5 TARGET.h5 PAIRS
#
# Prints seconds of: covariance and its eigenvectors, in double precision as ours; the map of the first PAIRS words; the mapping.
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
print(round(directions, 3), round(fit, 3), round(time.time() - begin, 3))
