#!/usr/bin/python3
"""Compare links of Argmax and Itermax with those of SimAlign's own functions on random matrices of similarities.

    /usr/bin/python3 tests/bench/peers/simalign_links.py simalign.py .libs/libxlm.so [MATRICES]

simalign.py is that file of github.com/cisnlp/simalign. Only its functions of matrices are run, so numpy is all it needs. A third
of the matrices are uniform, a third have few values, so that there are ties, and a third are cosines of random vectors, which
our library makes too. Ends with 0 when all links are the same.
"""
# SPDX-License-Identifier: GPL-3.0-or-later
import ast
import ctypes
import sys
import time
from typing import Tuple

import numpy as np


class Itermax(ctypes.Structure):
    _fields_ = [("discount", ctypes.c_double), ("rounds", ctypes.c_int)]


def released(path):
    """The functions of SimAlign's class that take matrices."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    wanted = {"get_alignment_matrix", "iter_max"}
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in wanted:
            node.decorator_list = []
            exec(compile(ast.Module([node], []), path, "exec"), {"np": np, "Tuple": Tuple}, found)
    missing = wanted - found.keys()
    if missing:
        sys.exit(f"{path}: has no {', '.join(sorted(missing))}")
    return found["get_alignment_matrix"], found["iter_max"]


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def number(n):
    return ctypes.c_int64(n)


def main():
    get_alignment_matrix, iter_max = released(sys.argv[1])
    xlm = ctypes.CDLL(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    for name in ("xlm_similarity_argmax", "xlm_similarity_itermax"):
        getattr(xlm, name).restype = ctypes.c_int64
    rng = np.random.default_rng(1)
    links, different, worst = {"argmax": 0, "itermax": 0}, {"argmax": 0, "itermax": 0}, 0.0
    added, our_seconds, their_seconds = 0, 0.0, 0.0
    for k in range(count):
        n, m = rng.integers(1, 41, 2)
        if k % 3 == 0:
            s = rng.random((n, m), dtype=np.float32)
        elif k % 3 == 1:
            s = rng.integers(0, 9, (n, m)).astype(np.float32) / 8
        else:
            d = 24
            x, y = (rng.standard_normal((rows, d)).astype(np.float32) for rows in (n, m))
            s = np.empty((n, m), np.float32)
            xlm.xlm_similarity_cosines(number(n), number(m), number(d), pointer(x), pointer(y), pointer(s))
            unit = [v / np.linalg.norm(v, axis=1, keepdims=True) for v in (x.astype(float), y.astype(float))]
            worst = max(worst, np.abs(s - (unit[0] @ unit[1].T + 1) / 2).max())
        before = time.process_time()
        forward, backward = get_alignment_matrix(s)
        expected = {"argmax": forward * backward, "itermax": iter_max(s)}
        between = time.process_time()
        their_seconds += between - before
        got = {name: np.zeros((n, m), bool) for name in expected}
        xlm.xlm_similarity_argmax(number(n), number(m), pointer(s), ctypes.c_bool(False), pointer(got["argmax"]))
        settings = Itermax(0.9, 2)
        xlm.xlm_similarity_itermax(ctypes.byref(settings), number(n), number(m), pointer(s), pointer(got["itermax"]))
        our_seconds += time.process_time() - between
        for name in expected:
            links[name] += int((expected[name] > 0).sum())
            different[name] += int(not np.array_equal(expected[name] > 0, got[name]))
        added += int(got["itermax"].sum() - got["argmax"].sum())
    print(f"{count} {links['argmax']} {different['argmax']} {links['itermax']} {different['itermax']} {added} {worst:.1e}",
          f"{our_seconds:.3f} {their_seconds:.3f}")
    return int(different["argmax"] + different["itermax"] > 0 or worst > 1e-6)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.exit(main())
