"""How often the leaderboard's intervals cover the truth, and how often it tells apart methods that do not differ.

    .venv/bin/python benchmarks/bench_intervals.py

Made tables have an effect of their own and a few cases each: prices with normal or skewed effects, and limits kept or not. The
bootstrap over tables, which the leaderboard used before, stands beside.
"""

import numpy as np
from statsmodels.stats.multitest import multipletests

from clusterlets.benchmark.analysis.leaderboard import LEVEL, mean_over_tables

N_CASES, N_METHODS, REPEATS = 3, 13, 2000


def normal(rng, shape) -> np.ndarray:
    """Logarithms of ratios of prices: an effect of each table, and one of each case."""
    return np.repeat(rng.normal(0, 0.2, shape), N_CASES, axis=1) + rng.normal(0, 0.1, (shape[0], N_CASES * shape[1]))


def skewed(rng, shape) -> np.ndarray:
    effects = 0.2 * (rng.exponential(1, shape) - 1)
    return np.repeat(effects, N_CASES, axis=1) + rng.normal(0, 0.1, (shape[0], N_CASES * shape[1]))


def kept(rng, shape) -> np.ndarray:
    """Whether a limit is kept, less half: tables differ in how likely that is."""
    chances = np.repeat(rng.beta(0.5, 0.5, shape), N_CASES, axis=1)
    return (rng.random(chances.shape) < chances) - 0.5


KINDS = {"normal": normal, "skewed": skewed, "kept": kept}  # the mean over all possible tables is 0


def bootstrap_interval(rng, values: np.ndarray, n_tables: int) -> np.ndarray:
    means = values.reshape(n_tables, N_CASES).mean(axis=1)
    draws = means[rng.integers(n_tables, size=(2000, n_tables))].mean(axis=1)
    return np.quantile(draws, [LEVEL / 2, 1 - LEVEL / 2])


def coverage(rng, n_tables: int, make) -> tuple[float, float]:
    """Share of the t intervals, and of the bootstrap intervals, that hold the true mean."""
    tables, hits = np.repeat(np.arange(n_tables), N_CASES), np.zeros(2)
    for _ in range(REPEATS):
        values = make(rng, (1, n_tables))[0]
        intervals = mean_over_tables(values, tables)[1:3], bootstrap_interval(rng, values, n_tables)
        hits += [low <= 0 <= high for low, high in intervals]
    return tuple(hits / REPEATS)


def family_error(rng, n_tables: int, make) -> tuple[float, float]:
    """Share of fields of methods that do not differ in which some pair is told apart, with Holm's correction and without."""
    tables, errors = np.repeat(np.arange(n_tables), N_CASES), np.zeros(2)
    repeats = REPEATS // 10
    for _ in range(repeats):
        values = make(rng, (N_METHODS, n_tables))
        pairs = [(i, j) for i in range(N_METHODS) for j in range(i)]
        p_values = [mean_over_tables(values[i] - values[j], tables)[3] for i, j in pairs]
        errors += [multipletests(p_values, LEVEL, method="holm")[0].any(), min(p_values) < LEVEL]
    return tuple(errors / repeats)


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    print("values   tables  t covers  bootstrap covers  some pair told apart: Holm  without")
    for name, make in KINDS.items():
        for n_tables in (6, 8, 10):
            t, bootstrap = coverage(rng, n_tables, make)
            holm, without = family_error(rng, n_tables, make)
            print(f"{name:8} {n_tables:6} {t:9.1%} {bootstrap:17.1%} {holm:27.1%} {without:8.1%}")
