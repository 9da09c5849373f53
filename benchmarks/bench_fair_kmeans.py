"""Compare the time and cost of fairlets and fair-limit with those of ``fair-kmeans`` 0.1.3 from PyPI (MIT), the peer.

    python -m venv peer
    peer/bin/pip install fair-kmeans==0.1.3
    python benchmarks/bench_fair_kmeans.py --peer peer/bin/python --files adult.csv bank.csv

The first column of a file is the group (0 in half of the rows, 1 in the others). The other columns are the features. Every
cluster must have equally many rows of both groups. The cost is the best of three seeds, and the seconds are their median. The
peer and fairlets start k-means once; fair-limit has four starts, its default.
"""

import argparse
import statistics
import subprocess
import sys

from measuring import Bars, cpu_seconds  # isort: skip; before numpy, whose threads it limits

import numpy as np

from clusterlets import methods

SEEDS = 3
N_CLUSTERS = (2, 5, 10, 20, 50, 100)
METHODS = {"fairlets": {}, "fair-limit": {"max_deviation": 0}}
PEER_CODE = """
import sys, time
import numpy as np
from fair_kmeans import FairKMeans

table = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1)
for seed in range(int(sys.argv[3])):
    start = time.process_time()
    labels = FairKMeans(int(sys.argv[2]), n_init=1, random_state=seed).fit(table[:, 1:], color=table[:, 0].astype(int)).labels_
    seconds = time.process_time() - start
    clusters = [table[labels == label, 1:] for label in np.unique(labels)]
    print(seconds, sum(float(((rows - rows.mean(axis=0)) ** 2).sum()) for rows in clusters))
"""


def fit_peer(python: str, file: str, n_clusters: int) -> tuple[float, float]:
    """Return the median CPU seconds and the least cost of the peer's fits."""
    command = [python, "-I", "-c", PEER_CODE, file, str(n_clusters), str(SEEDS)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    seconds, costs = zip(*(map(float, line.split()) for line in lines), strict=True)
    return statistics.median(seconds), min(costs)


def fit_ours(name: str, file: str, n_clusters: int) -> tuple[float, float]:
    """Return the median CPU seconds and the least cost of the fits of one of our methods."""
    table = np.loadtxt(file, delimiter=",", skiprows=1)
    X, groups = np.ascontiguousarray(table[:, 1:]), table[:, 0].astype(np.int64)
    costs, seconds = [], []

    def fit(seed: int) -> None:
        labels = methods.get(name)().fit(X, groups, n_clusters, np.random.default_rng(seed), **METHODS[name])
        counts = [np.bincount(labels[groups == group], minlength=n_clusters) for group in (0, 1)]
        assert np.array_equal(*counts) and len(np.unique(labels)) == n_clusters
        clusters = [X[labels == label] for label in range(n_clusters)]
        costs.append(sum(float(np.square(rows - rows.mean(axis=0)).sum()) for rows in clusters))

    fit(0)  # loads the compiled code
    for seed in range(SEEDS):
        seconds.append(cpu_seconds(lambda seed=seed: fit(seed), runs=1))
    return statistics.median(seconds), min(costs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", required=True, help="a Python that has fair-kmeans")
    parser.add_argument("--files", nargs="+", required=True)
    arguments = parser.parse_args()
    bars = Bars()
    for file in arguments.files:
        for n_clusters in N_CLUSTERS:
            their_seconds, their_cost = fit_peer(arguments.peer, file, n_clusters)
            for name in METHODS:
                seconds, cost = fit_ours(name, file, n_clusters)
                label = f"{name}, {file}, k = {n_clusters}"
                bars.at_least(f"{label}: {their_seconds:.2f} s over {seconds:.3f} s", their_seconds / seconds, 20, "times")
                bars.at_most(f"{label}: cost over the peer's", cost / their_cost, 1.0, "times")
    sys.exit(f"{bars.missed} bars missed" if bars.missed else 0)


if __name__ == "__main__":
    main()
