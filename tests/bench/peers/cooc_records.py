#!/usr/bin/python3
"""xlm-mpi: two tables of co-occurrence in GloVe's format. SPDX-License-Identifier: GPL-3.0-or-later

cooc_records.py VOCABULARY RECORDS VOCABULARY RECORDS

Each vocabulary has a line `word count` for each number from 1 on; words are numbered differently in the two. Writes the number of
pairs of words in either table, of those in one table only, and the largest relative difference of a count in both."""
import sys

import numpy as np

RECORD = np.dtype([("first", "<i4"), ("second", "<i4"), ("count", "<f8")])


def words_of(path):
    with open(path, encoding="utf-8", newline="\n") as lines:
        return [line.split(" ")[0] for line in lines]


def table(vocabulary, records, number):
    """Numbers of pairs, in order, and their counts. number: of a word in both vocabularies."""
    words = words_of(vocabulary)
    numbers = np.array([0] + [number.setdefault(word, len(number)) for word in words], np.int64)
    read = np.fromfile(records, RECORD)
    pairs = numbers[read["first"]] << 32 | numbers[read["second"]]
    order = np.argsort(pairs)
    return pairs[order], read["count"][order]


def main():
    number = {}
    ours, our_counts = table(*sys.argv[1:3], number)
    theirs, their_counts = table(*sys.argv[3:5], number)
    both, i, j = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
    worst = np.max(np.abs(our_counts[i] / their_counts[j] - 1)) if len(both) else np.inf
    pairs = len(ours) + len(theirs) - len(both)
    print(pairs, pairs - len(both), f"{worst:.1e}")


main()
