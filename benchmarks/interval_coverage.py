"""Simulate how often a 95 % interval over ten datasets contains the true value.

    python benchmarks/interval_coverage.py [--samples 1000]

For each dataset, the deviations of two methods are drawn: a lognormal level that both methods share, times a factor for each
method. The logarithms of the factors are normal, heavy-tailed (Laplace) or skewed (exponential). The standard deviation of the
level's logarithm is the spread, and that of a factor's logarithm is half the spread. Three intervals are tried:

- BCa of the mean: bootstrap interval of one method's mean deviation;
- BCa of the difference: bootstrap interval of the mean of the differences;
- t of the log ratio: the interval that ``clusterlets.analysis.paired.mean_ratio`` returns.
"""

import argparse

import numpy as np
from scipy import stats

from clusterlets.analysis.paired import LEVEL, mean_ratio

DATASETS = 10
RESAMPLES = 1999
SPREADS = (0.5, 1.0, 1.5)
# Distributions of the factors' logarithms, before they are scaled: mean 0, standard deviation 1.
SHAPES = {
    "normal": lambda stream, size: stream.standard_normal(size),
    "heavy tails": lambda stream, size: stream.laplace(size=size) / np.sqrt(2),
    "skewed": lambda stream, size: stream.standard_exponential(size) - 1,
}
MEDIAN_DEVIATION = 0.05  # far above the floor to which mean_ratio raises small deviations


def draw_deviations(stream: np.random.Generator, shape: str, spread: float, n: int) -> np.ndarray:
    """Draw the deviations (2, n) of two methods on n datasets. The expected logarithm of their ratio is 0."""
    log_level = spread * stream.standard_normal(n)
    log_factors = spread / 2 * SHAPES[shape](stream, (2, n))
    return MEDIAN_DEVIATION * np.exp(log_level + log_factors)


def bca(values: np.ndarray, stream: np.random.Generator) -> tuple[float, float]:
    interval = stats.bootstrap(
        (values,), np.mean, n_resamples=RESAMPLES, confidence_level=LEVEL, method="BCa", random_state=stream
    ).confidence_interval
    return interval.low, interval.high


def coverage(shape: str, spread: float, samples: int) -> list[float]:
    """Return the fraction of samples in which each of the three intervals contains the true value."""
    stream = np.random.default_rng([list(SHAPES).index(shape), int(10 * spread)])
    large_sample = draw_deviations(stream, shape, spread, 4_000_000)
    mean = large_sample[0].mean()  # the mean difference is 0, because both methods have the same distribution
    n_covered = np.zeros(3)
    for _ in range(samples):
        first, second = draw_deviations(stream, shape, spread, DATASETS)
        *_, ratio_low, ratio_high = mean_ratio(first, second)
        intervals = [(bca(first, stream), mean), (bca(first - second, stream), 0.0), ((ratio_low, ratio_high), 1.0)]
        n_covered += [low <= true_value <= high for (low, high), true_value in intervals]
    return list(n_covered / samples)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--samples", type=int, default=1000)
    samples = parser.parse_args().samples
    print(f"{'shape':>12} {'spread':>7} {'BCa mean':>9} {'BCa difference':>15} {'t log ratio':>12}")
    for shape in SHAPES:
        for spread in SPREADS:
            mean_coverage, difference_coverage, ratio_coverage = coverage(shape, spread, samples)
            print(f"{shape:>12} {spread:>7.1f} {mean_coverage:>9.1%} {difference_coverage:>15.1%} {ratio_coverage:>12.1%}")


if __name__ == "__main__":
    main()
