"""Compare fair-limit with reference values. Each value is the median of three seeds.

    python benchmarks/bench_fair_limit.py --cases limits.csv --prepared results/prepared
    python benchmarks/bench_fair_limit.py --prepared results/prepared
    python benchmarks/bench_fair_limit.py --raw data/raw
    python benchmarks/bench_fair_limit.py --rows 1000000
    python benchmarks/bench_fair_limit.py --sizes --prepared results/prepared
    python benchmarks/bench_fair_limit.py --times --prepared results/prepared

- ``--cases`` and ``--prepared``: cost and time against a file with the columns dataset, k, limit, sse, seconds and status.
- ``--prepared`` alone: time against scikit-learn's ``KMeans(n_init=4)``, and costs against those of MS-FlowFC
  (arXiv 2605.13759), under the largest deviation that it reached.
- ``--raw``: costs on adult and compas with two sensitive columns.
- ``--rows``: time, against ``KMeans(n_init=4)``, and memory on a large table.
- ``--sizes``: cost and time against ``KMeansConstrained``, with clusters whose sizes are within a fifth of the mean. It needs
  ``pip install k-means-constrained`` in an environment of its own.
- ``--times``: seconds by rows, clusters and groups.

Tables are standardised. An exact check ensures that every result keeps its limit. bench_fair_kmeans.py covers a limit of 0.
"""

import argparse
import statistics
import sys
from pathlib import Path

from measuring import Bars, cpu_seconds, peak_megabytes, prepared, random_table, standardised  # isort: skip; before numpy

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

from clusterlets import methods
from clusterlets.algorithms.compiled import compile_here
from clusterlets.algorithms.fair_limit import fair_limit
from clusterlets.algorithms.limits import deviation_limits, exact_fraction, largest_deviation
from clusterlets.benchmark.datasets import adult, compas


def fit(X, groups, k: int, limit: str, seed: int, levels: np.ndarray | None = None, sizes=(1, None)):
    """Return the sum of squared errors and the CPU seconds of a fit.

    ``levels`` (K, S) holds the level of each group in each of S sensitive columns. By default, the groups are the levels.
    ``sizes`` are the least and the largest size of a cluster.
    """
    counts, results = np.bincount(groups), []
    if levels is None:
        levels = np.arange(len(counts))[:, None]
    limits = deviation_limits(levels, counts, [exact_fraction(limit)] * levels.shape[1])
    settings = limits, levels, *sizes
    seconds = cpu_seconds(lambda: results.append(fair_limit(X, groups, k, np.random.default_rng(seed), *settings)), runs=1)
    composition = np.zeros((len(counts), k), dtype=np.int64)
    np.add.at(composition, (groups, results[0].labels), 1)
    assert largest_deviation(composition, levels) <= exact_fraction(limit)
    assert sizes[0] <= composition.sum(axis=0).min() <= composition.sum(axis=0).max() <= (sizes[1] or len(X))
    return results[0].inertia, seconds


def compare_cases(path: Path, folder: Path, bars: Bars) -> None:
    for dataset, rows in pd.read_csv(path, dtype={"limit": str}).groupby("dataset", sort=False):
        X, groups = prepared(str(dataset), folder)
        X = standardised(X)
        for row in rows[rows["status"] == "ok"].itertuples():
            fits = [fit(X, groups, row.k, row.limit, seed) for seed in range(3)]
            label = f"{dataset}, k = {row.k}, limit {row.limit}"
            bars.at_most(label, statistics.median(sse for sse, _ in fits) / row.sse, 1.003, "of the reference")
            bars.at_most(
                f"{label}, time", statistics.median(seconds for _, seconds in fits) / row.seconds, 2, "of the reference"
            )


def kmeans_seconds(X: np.ndarray, k: int, seed: int) -> float:
    return cpu_seconds(lambda: KMeans(k, n_init=4, random_state=seed).fit(X), runs=1)


def compare_with_kmeans(folder: Path, bars: Bars) -> None:
    ratios = []
    for dataset in ("adult", "magic", "bank"):
        X, groups = prepared(dataset, folder)
        X = standardised(X)
        for k in (5, 20, 50):
            ours = statistics.median(fit(X, groups, k, "0.02", seed)[1] for seed in range(3))
            ratios.append(ours / statistics.median(kmeans_seconds(X, k, seed) for seed in range(3)))
            bars.at_most(f"{dataset}, k = {k}, time", ratios[-1], 4, f"of KMeans (n_init=4); {ours:.2f} s")
    bars.at_most("geometric mean", statistics.geometric_mean(ratios), 2, "of KMeans (n_init=4)")


def compare_sizes(folder: Path, bars: Bars) -> None:
    from k_means_constrained import KMeansConstrained

    tables = {f"blobs of {n:,} rows": skewed_blobs(n) for n in (3_000, 12_000, 50_000)}
    tables |= {dataset: standardised(prepared(dataset, folder)[0]) for dataset in ("magic", "adult", "bank")}
    for name, X in tables.items():
        sizes = -(-4 * len(X) // 50), 6 * len(X) // 50
        costs, seconds = zip(*(fit(X, np.zeros(len(X), int), 10, "1", seed, sizes=sizes) for seed in range(3)), strict=True)
        other = KMeansConstrained(10, size_min=sizes[0], size_max=sizes[1], n_init=4, random_state=0)
        other_seconds = cpu_seconds(lambda X=X, other=other: other.fit(X), runs=1)
        bars.at_most(f"{name}, cost", statistics.median(costs) / other.inertia_, 1, "of KMeansConstrained (n_init=4)")
        if len(X) >= 12_000:
            bars.at_least(f"{name}, time", other_seconds / statistics.median(seconds), 10, "times as fast")


def skewed_blobs(n: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    sizes = rng.multinomial(n, rng.dirichlet(np.ones(10)))
    return rng.permutation(np.concatenate([rng.normal(size=(size, 8)) + 4 * rng.normal(size=8) for size in sizes]))


def print_times(folder: Path) -> None:
    X, groups = prepared("adult", folder)
    X, rng = standardised(X), np.random.default_rng(0)
    clusters = {(600, 8): (38,), (600, 40): (5,), (1_000, 2): (5, 20, 50), (1_000, 5): (5, 20, 50)}
    clusters |= {(10_000, n_groups): (5, 20, 50) for n_groups in (2, 5, 20)} | {(len(X), 2): (5, 20, 50, 100, 200)}
    for (n, n_groups), ks in clusters.items():
        rows = rng.permutation(len(X))[:n]
        labels = groups[rows] if n_groups == 2 else rng.integers(0, n_groups, n)
        for k in ks:
            seconds = fit(X[rows], labels, k, "0.05" if n > 600 else "0.1", 0)[1]
            print(f"{n:6} rows, {n_groups:2} groups, k = {k:3}: {seconds:.2f} s", flush=True)


# Dataset, k, MS-FlowFC's sum of squared errors, its largest deviation (our limit), and our bar as a fraction of the sum.
MS_FLOW = [
    ("magic", 5, 111668, "0.0005", 0.95),
    ("magic", 20, 82013, "0.005", 0.92),
    ("adult", 5, 244783, "0.0001", 0.935),
    ("adult", 20, 164639, "0.003", 0.90),
]


def compare_with_ms_flow(folder: Path, bars: Bars) -> None:
    for dataset, k, cost, deviation, fraction in MS_FLOW:
        X, groups = prepared(dataset, folder)
        X = standardised(X)
        costs, seconds = zip(*(fit(X, groups, k, deviation, seed) for seed in range(3)), strict=True)
        label = f"{dataset}, k = {k}, limit {deviation}"
        bars.at_most(label, statistics.median(costs) / cost, fraction, "of MS-FlowFC")
        print(f"      {statistics.median(seconds):.2f} s a fit")


def measure_many_rows(n: int, bars: Bars) -> None:
    X, two_groups = random_table(n, 8)
    plain_seconds = kmeans_seconds(X, 20, 0)
    unit = f"of KMeans (n_init=4), {plain_seconds:.1f} s"
    five_groups = np.random.default_rng(1).integers(0, 5, n)
    levels_of_pairs = np.array([[first, second] for first in range(2) for second in range(5)])
    for label, groups, levels in (
        ("two groups", two_groups, None),
        ("five groups", five_groups, None),
        ("two columns", 5 * two_groups + five_groups, levels_of_pairs),
    ):
        _, seconds = fit(X, groups, 20, "0.02", 0, levels)
        bars.at_most(
            f"{n:,} rows, {label}", seconds / plain_seconds, 0.6 if levels is None and groups is two_groups else 2, unit
        )
    bars.at_most(f"{n:,} rows", peak_megabytes(), 800 * n / 10**6, "MB")


# Dataset, sensitive columns, k, limit of both columns, and reference price: the cost divided by that in PLAIN_COSTS.
TWO_COLUMNS = [
    ("adult", ("sex", "race"), 5, "0.05", 1.0451),
    ("adult", ("sex", "race"), 20, "0.02", 1.2066),
    ("adult", ("sex", "race"), 20, "0.05", 1.145),
    ("compas", ("race", "sex"), 20, "0.05", 1.456),
]
# Sum of squared errors of the best plain k-means.
PLAIN_COSTS = {("adult", 5): 143_681, ("adult", 20): 63_694, ("compas", 20): 10_984}


def compare_two_columns(raw: Path, bars: Bars) -> None:
    for dataset, names, k, limit, price in TWO_COLUMNS:
        module = {"adult": adult, "compas": compas}[dataset]
        table = module.prepare({path.name: path for path in (raw / dataset).iterdir()})
        excluded = {feature for name in names for feature in module.SENSITIVE[name]}
        X = np.asarray(table.X, dtype=np.float64)[:, [name not in excluded for name in table.feature_names]]
        codes = np.column_stack([np.unique(table.sensitive[name], return_inverse=True)[1] for name in names])
        levels, groups = np.unique(codes, axis=0, return_inverse=True)
        fits = [fit(standardised(X), groups.reshape(-1), k, limit, seed, levels) for seed in range(3)]
        ratio = statistics.median(cost for cost, _ in fits) / PLAIN_COSTS[dataset, k]
        bars.at_most(f"{dataset} by {' and '.join(names)}, k = {k}, limit {limit}", ratio, 1.003 * price, "of plain k-means")
        print(f"      {statistics.median(seconds for _, seconds in fits):.2f} s a fit")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=Path)
    parser.add_argument("--prepared", type=Path)
    parser.add_argument("--raw", type=Path)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--times", action="store_true")
    options, bars = parser.parse_args(), Bars()
    compile_here(methods.get("fair-limit").kernels)
    if options.cases:
        compare_cases(options.cases, options.prepared, bars)
    elif options.sizes:
        compare_sizes(options.prepared, bars)
    elif options.times:
        print_times(options.prepared)
    elif options.prepared:
        compare_with_kmeans(options.prepared, bars)
        compare_with_ms_flow(options.prepared, bars)
    if options.raw:
        compare_two_columns(options.raw, bars)
    if options.rows:
        measure_many_rows(options.rows, bars)
    return bars.missed


if __name__ == "__main__":
    sys.exit(main())
