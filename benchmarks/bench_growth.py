"""Measure how time and memory grow from 10,000 to a million instances: d = 10, k = 20, two groups.

    python benchmarks/bench_growth.py [--plot docs/figures/growth.png]

A separate process for each n makes the instances and extracts the clusterlets. Every matcher then runs in a fork of that
process. Exact distance sums are measured up to ``row_samples.ALL_PAIRS_ROWS`` instances.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from measuring import Bars, peak_megabytes, random_table  # isort: skip; before numpy, whose threads it limits

import numpy as np

from clusterlets import methods
from clusterlets.algorithms import geometry, row_samples
from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.extraction import extract_clusterlets
from clusterlets.supervision.fits import Budget, fits

SIZES = (10_000, 31_623, 100_000, 316_228, 1_000_000)
K, FEATURES = 20, 10


def match(name: str, clusterlets: Clusterlets) -> None:
    """Run a matcher with the slowest parameters of the paper's grid."""
    parameters = {"omega": 0.5, "sample_size": 250_000} if name == "C" else {"hops": 4}
    methods.get(name)().match(clusterlets, np.random.default_rng(0), **parameters)


def in_fork(action: Callable[[], object]) -> dict[str, float]:
    """Run an action in a fork of this process. Return the fork's CPU time and peak memory."""

    def fit(seed: int) -> None:
        action()

    ((_, outcome),) = fits(fit, [0], Budget())
    return {"seconds": outcome.seconds, "megabytes": outcome.memory_mb}


def measure(n: int) -> dict[str, dict[str, float]]:
    """Return the time and memory of each step on n instances."""
    # Load scikit-learn and the methods before the timing starts.
    import sklearn.cluster  # noqa: F401

    matchers = methods.matchers()
    X, groups = random_table(n, FEATURES)
    start = time.process_time()
    clusterlets = extract_clusterlets(X, groups, K, np.random.default_rng(0))
    steps = {"extraction": {"seconds": time.process_time() - start, "megabytes": peak_megabytes()}}
    for name in matchers:
        steps[name] = in_fork(lambda: match(name, clusterlets))
    labels, n_labels = clusterlets.labels, len(clusterlets)
    if n <= row_samples.ALL_PAIRS_ROWS:
        steps["distance sums, exact"] = in_fork(lambda: geometry.distance_sums(X, labels, n_labels))
    order = np.random.default_rng(0).permutation(n)
    steps["distance sums, sampled"] = in_fork(lambda: geometry.sampled_sums(X, labels, n_labels, order))
    steps["largest distance"] = in_fork(lambda: geometry.diameter(X))
    return steps


def plot(results: dict[int, dict[str, dict[str, float]]], path: Path) -> None:
    """Draw time against n on logarithmic axes. Each step has its own marker, and a color of the Okabe-Ito palette."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawn_steps = ("extraction", "C", "D", "G-B", "distance sums, exact", "distance sums, sampled", "largest distance")
    palette = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
    styles = zip(drawn_steps, palette, "osD^vXP", strict=True)
    figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    for step, color, marker in styles:
        sizes = [n for n in results if step in results[n]]
        seconds = [results[n][step]["seconds"] for n in sizes]
        axes.loglog(sizes, seconds, color=color, marker=marker, label=f"matcher {step}" if step in methods.matchers() else step)
    axes.set(xlabel="instances", ylabel="CPU seconds, one thread")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right center", frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150, metadata={"Software": None})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, help="where to draw time against n")
    parser.add_argument("--n", type=int, help="measure this n alone, in this process, and print JSON")
    arguments = parser.parse_args()
    if arguments.n:
        print(json.dumps(measure(arguments.n)))
        return 0
    results = {}
    for n in SIZES:
        command = [sys.executable, __file__, "--n", str(n)]
        results[n] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
        print(f"n = {n:,}: " + ", ".join(f"{step} {cost['seconds']:.3g} s" for step, cost in results[n].items()), flush=True)
    bars = Bars()
    for name in methods.matchers():
        peak = max(results[SIZES[-1]][step]["megabytes"] for step in ("extraction", name))
        bars.at_most(f"n = {SIZES[-1]:,}, extraction plus {name}, peak memory", peak, 2000, "MB")
    if arguments.plot:
        plot(results, arguments.plot)
    return bars.missed


if __name__ == "__main__":
    sys.exit(main())
