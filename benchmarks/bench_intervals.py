"""How often the leaderboard's intervals cover the truth, and how often it tells apart methods that do not differ.

    .venv/bin/python benchmarks/bench_intervals.py

Made tables have an effect of their own and a few cases each, with normal or skewed effects. The bootstrap over tables, which
the leaderboard used before, stands beside.
"""

import numpy as np
from statsmodels.stats.multitest import multipletests

from clusterlets.analysis.leaderboard import LEVEL, mean_over_tables

N_CASES, N_METHODS, REPEATS = 3, 13, 2000
EFFECTS = {
    "normal": lambda rng, shape: rng.normal(0, 0.2, shape),
    "skewed": lambda rng, shape: 0.2 * (rng.exponential(1, shape) - 1),
}


def made_values(rng, n_tables: int, effects, n: int = 1) -> np.ndarray:
    """The values (n, n_tables * N_CASES) of n methods whose mean over all possible tables is 0."""
    of_tables = np.repeat(effects(rng, (n, n_tables)), N_CASES, axis=1)
    return of_tables + rng.normal(0, 0.1, of_tables.shape)


def bootstrap_interval(rng, values: np.ndarray, n_tables: int) -> np.ndarray:
    means = values.reshape(n_tables, N_CASES).mean(axis=1)
    draws = means[rng.integers(n_tables, size=(2000, n_tables))].mean(axis=1)
    return np.quantile(draws, [LEVEL / 2, 1 - LEVEL / 2])


def coverage(rng, n_tables: int, effects) -> tuple[float, float]:
    """Share of the t intervals, and of the bootstrap intervals, that hold the true mean."""
    tables, hits = np.repeat(np.arange(n_tables), N_CASES), np.zeros(2)
    for _ in range(REPEATS):
        values = made_values(rng, n_tables, effects)[0]
        intervals = mean_over_tables(values, tables)[1:3], bootstrap_interval(rng, values, n_tables)
        hits += [low <= 0 <= high for low, high in intervals]
    return tuple(hits / REPEATS)


def family_error(rng, n_tables: int, effects) -> tuple[float, float]:
    """Share of fields of methods that do not differ in which some pair is told apart, with Holm's correction and without."""
    tables, errors = np.repeat(np.arange(n_tables), N_CASES), np.zeros(2)
    repeats = REPEATS // 10
    for _ in range(repeats):
        values = made_values(rng, n_tables, effects, N_METHODS)
        pairs = [(i, j) for i in range(N_METHODS) for j in range(i)]
        p_values = [mean_over_tables(values[i] - values[j], tables)[3] for i, j in pairs]
        errors += [multipletests(p_values, LEVEL, method="holm")[0].any(), min(p_values) < LEVEL]
    return tuple(errors / repeats)


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    print("effects  tables  t covers  bootstrap covers  some pair told apart: Holm  without")
    for name, effects in EFFECTS.items():
        for n_tables in (6, 8, 10):
            t, bootstrap = coverage(rng, n_tables, effects)
            holm, without = family_error(rng, n_tables, effects)
            print(f"{name:8} {n_tables:6} {t:9.1%} {bootstrap:17.1%} {holm:27.1%} {without:8.1%}")
