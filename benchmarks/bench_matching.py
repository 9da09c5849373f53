"""Measure the time of each matcher: D, B, G-D and G-B on 60 clusterlets, and C with four omegas on 40.

    python benchmarks/bench_matching.py [--peer peer/bin/python]

With ``--peer``, C is compared with the authors' published package, ``clusterlets`` 0.0.3 on PyPI (GPL-3), on the same
clusterlets:

    python -m venv peer
    peer/bin/pip install clusterlets==0.0.3 tqdm      # the package imports tqdm without declaring it

The package needs a separate environment, because it has our import name. It draws 2,000 samples for one omega, and its time for
250,000 is extrapolated. There are few instances, because the package computes all distances between them.
"""

import argparse
import subprocess
import sys

from measuring import Bars, cpu_seconds  # isort: skip; before numpy, whose threads it limits

import numpy as np

from clusterlets import methods
from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.extraction import clusterlets_from_labels
from clusterlets.algorithms.matching.centroid import match_centroid, sample_partitions

SAMPLES = 250_000
OMEGAS = (0, 0.25, 0.5, 0.75)
# Code that makes the instances, for this process and for the peer's.
INSTANCES_CODE = """
import numpy as np
rng = np.random.default_rng(0)
labels = np.repeat(np.arange(40), 10)
groups = labels // 20
X = rng.normal(size=(400, 10)) + rng.normal(size=(40, 10))[labels]
"""
# Code for the peer's process: prints the seconds that the published matcher takes per sample.
PEER_CODE = """
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


def sixty_clusterlets() -> Clusterlets:
    rng = np.random.default_rng(0)
    counts = np.repeat(np.eye(2, dtype=np.int64), 30, axis=0) * rng.integers(5, 500, 60)[:, None]
    return Clusterlets.from_pieces(counts, rng.normal(size=(60, 10)), inertia=np.zeros(60))


def match_every_omega(clusterlets: Clusterlets) -> None:
    """Run all of matcher C: sample partitions, then choose the best for each omega."""
    front = sample_partitions(clusterlets, SAMPLES, np.random.default_rng(0))
    for omega in OMEGAS:
        match_centroid(front, omega)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", help="the python of an environment that holds the published package")
    peer, bars = parser.parse_args().peer, Bars()
    sixty = sixty_clusterlets()
    for name in ("D", "B", "G-D", "G-B"):
        matcher = methods.get(name)
        for scope in ("last", "cluster"):

            def run():
                matcher().match(sixty, np.random.default_rng(0), hops=4, scope=scope)

            bars.at_most(f"{matcher.label}, scope {scope}, 60 clusterlets, 4 hops", cpu_seconds(run, 20) * 1e3, 5, "ms")
    namespace: dict = {}
    exec(INSTANCES_CODE, namespace)
    forty = clusterlets_from_labels(namespace["X"], namespace["groups"], namespace["labels"])
    our_time = cpu_seconds(lambda: match_every_omega(forty), runs=5)
    bars.at_most(f"C, {SAMPLES:,} samples, 40 clusterlets, four omegas", our_time, 1.0, "s")
    if peer:
        process = subprocess.run([peer, "-I", "-c", INSTANCES_CODE + PEER_CODE], capture_output=True, text=True, check=True)
        peer_time = float(process.stdout.split()[-1]) * SAMPLES
        print(f"      published, one omega: {peer_time:.0f} s for {SAMPLES:,} samples")
        bars.at_least("C, four omegas, against one omega of the published package", peer_time / our_time, 400, "times as fast")
    return bars.missed


if __name__ == "__main__":
    sys.exit(main())
