# xlm-mpi: singular values of shifted positive PMI by SciPy. SPDX-License-Identifier: GPL-3.0-or-later
#
#   python3 factorise.py COOC.h5 VECTORS.h5
#
# Reads the table and what xlm_embed factorise has made of it; prints seconds that scipy.sparse.linalg.svds takes and the largest
# difference of a singular value, as a share of it.
import sys
import time

import h5py
import numpy
import scipy.sparse
import scipy.sparse.linalg

with h5py.File(sys.argv[1], "r") as file:
    offsets = file["cooccurrence/offsets"][()].astype(numpy.int64)
    columns = file["cooccurrence/columns"][()].astype(numpy.int32)
    counts = file["cooccurrence/counts"][()]
with h5py.File(sys.argv[2], "r") as file:
    ours = file["singular_values"][()]
    vectors = file["vectors"][()]
    shift, smoothing, power = (float(file.attrs[name]) for name in ("shift", "smoothing", "power"))

n = len(offsets) - 1
upper = scipy.sparse.csr_matrix((counts, columns, offsets), shape=(n, n))
x = (upper + upper.T - scipy.sparse.diags(upper.diagonal())).tocoo()
totals = numpy.asarray(x.sum(axis=1)).ravel()
with numpy.errstate(divide="ignore"):
    log_totals = numpy.where(totals > 0, numpy.log(totals), 0)
log_contexts = smoothing * log_totals - numpy.log((totals[totals > 0] ** smoothing).sum())
values = numpy.log(x.data) - log_totals[x.row] - log_contexts[x.col] - numpy.log(shift)
keep = values > 0
m = scipy.sparse.csr_matrix((values[keep], (x.row[keep], x.col[keep])), shape=(n, n))
print("entries", m.nnz, flush=True)
begin = time.time()
u, s, vt = scipy.sparse.linalg.svds(m, k=len(ours), random_state=1)
seconds = time.time() - begin
order = numpy.argsort(-s)
s, u = s[order], u[:, order]
u *= numpy.sign(u[numpy.abs(u).argmax(axis=0), numpy.arange(len(s))])
print("seconds", round(seconds, 2))
print("values_differ", numpy.max(numpy.abs(s - ours) / s))
w = u * s**power
print("vectors_differ", numpy.max(numpy.abs(w - vectors)) / numpy.abs(w).max())
