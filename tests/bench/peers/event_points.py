"""xlm-mpi: compares events with metrics.csv. SPDX-License-Identifier: GPL-3.0-or-later

event_points.py EVENTS METRICS: prints, between tabs, the number of points that TensorBoard's EventAccumulator finds in the
directory, the number of values in the rows, how many points only one of them has or has twice, and the largest relative difference of two
values, but for what rounding in the rows explains.
"""
import csv
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

DIGITS = {"accuracy": 6, "learning_rate": 9, "gradient_norm": 9, "seconds": 4}  # of the rows; others have 10


def rows_of(path):
    """Name and step of each value of the rows -> the value, and what rounding may have changed."""
    points = {}
    for row in csv.DictReader(open(path)):
        language = "" if row["language"] in ("", "all", "mean") else "/" + row["language"]
        for column in ("loss", "perplexity", "accuracy", "learning_rate", "gradient_norm", "tokens", "seconds", "score"):
            if row[column] != "":
                quantity = "" if column == "score" else "/" + column
                name = f'{row["split"]}/{row["objective"]}{quantity}{language}'
                value = float(row[column])
                points[name, int(row["step"])] = value, abs(value) * 10.0 ** (1 - DIGITS.get(column, 10))
    return points


def main():
    reader = EventAccumulator(sys.argv[1], size_guidance={"tensors": 0, "scalars": 0})
    reader.Reload()
    theirs, doubled = {}, 0
    for tag in reader.Tags()["tensors"]:
        for event in reader.Tensors(tag):
            doubled += (tag, event.step) in theirs
            theirs[tag, event.step] = event.tensor_proto.float_val[0]
    for tag in reader.Tags()["scalars"]:
        for event in reader.Scalars(tag):
            doubled += (tag, event.step) in theirs
            theirs[tag, event.step] = event.value
    ours = rows_of(sys.argv[2])
    worst = max((max(abs(theirs[key] - ours[key][0]) - ours[key][1], 0) / max(abs(ours[key][0]), 1e-30)
                 for key in theirs.keys() & ours.keys()), default=0)
    print(len(theirs), len(ours), len(theirs.keys() ^ ours.keys()) + doubled, f"{worst:.2g}", sep="\t")


if __name__ == "__main__":
    main()
