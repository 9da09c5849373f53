"""C against the authors' published package, ``clusterlets`` 0.0.3 on PyPI (GPL-3), which is measured and nothing more.

    python -m venv peer
    peer/bin/pip install clusterlets==0.0.3 tqdm      # it imports tqdm without declaring it
    python benchmarks/bench_published.py --peer peer/bin/python

It runs in a process and an environment of its own, because its import name is ours. Both get the same instances in the same
40 clusterlets. The published matcher draws 2,000 samples for one omega, and its time grows with their number (it also
fills a matrix of n x n distances, so n is small here). Ours draws 250,000 and serves all four omegas.
"""

import argparse
import subprocess
import sys

from bench_matching import SAMPLES, match_every_omega
from measuring import Bars, cpu_seconds  # before numpy: it sets the threads

from clusterlets.algorithms.extraction import clusterlets_from_labels

DATA = """
import numpy as np
rng = np.random.default_rng(0)
labels = np.repeat(np.arange(40), 10)
groups = labels // 20
X = rng.normal(size=(400, 10)) + rng.normal(size=(40, 10))[labels]
"""
PUBLISHED = """
import sys, time
from clusterlets import Clusterlet
from clusterlets.extractors.matches.partition import CentroidMatcher

share = np.bincount(groups) / len(groups)
clusterlets = {
    Clusterlet(i, np.bincount(groups[members], minlength=2), X[members].mean(axis=0), members)
    for i, members in enumerate(np.arange(400).reshape(40, 10))
}

def seconds(samples):
    matcher = CentroidMatcher(X, groups, overlapping=False, sample_size=samples, distance_weight=0.5, random_state=0)
    start = time.process_time()
    matcher.match(clusterlets, share)
    return time.process_time() - start

print(min(seconds(2000) for _ in range(5)) / 2000)
"""


def published_seconds_per_sample(python: str) -> float:
    """CPU time of one sample for one omega, measured in its own environment."""
    process = subprocess.run([python, "-I", "-c", DATA + PUBLISHED], capture_output=True, text=True, check=True)
    return float(process.stdout.split()[-1])


def our_seconds() -> float:
    """CPU time of 250,000 samples and all four omegas."""
    namespace: dict = {}
    exec(DATA, namespace)
    clusterlets = clusterlets_from_labels(namespace["X"], namespace["groups"], namespace["labels"])
    return cpu_seconds(lambda: match_every_omega(clusterlets), runs=5)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True, help="the python of an environment that holds the published package")
    bars = Bars()
    published = published_seconds_per_sample(parser.parse_args().peer) * SAMPLES
    ours = our_seconds()
    print(f"      published, one omega: {published:.0f} s for {SAMPLES:,} samples; ours, four omegas: {ours:.2f} s")
    bars.at_most(f"C, {SAMPLES:,} samples, 40 clusterlets, four omegas", ours, 1.0, "s")
    bars.at_least("C, four omegas, against one omega of the published package", published / ours, 400, "times as fast")
    return bars.missed


if __name__ == "__main__":
    sys.exit(main())
