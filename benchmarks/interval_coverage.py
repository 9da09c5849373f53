"""How often a 95 % interval over ten datasets holds what it estimates, by simulation.

Deviations of two methods are drawn for each dataset: a level that both share, lognormal, times a factor of each method's own.
The factors' logarithms are normal, have heavy tails (Laplace) or are skewed (exponential). The spread is the standard deviation
of the shared level's logarithm; that of the factors' is half of it. Three intervals are tried:

- BCa of the mean: bootstrap interval of one method's mean deviation;
- BCa of the difference: bootstrap interval of the mean of the differences;
- t of the log ratio: what ``clusterlets.analysis.paired.mean_ratio`` gives.

python benchmarks/interval_coverage.py [--samples 1000]
"""

import argparse

import numpy as np
from scipy import stats

from clusterlets.analysis.paired import LEVEL, mean_ratio

DATASETS = 10
RESAMPLES = 1999
SPREADS = (0.5, 1.0, 1.5)
# Mean 0 and standard deviation 1.
SHAPES = {
    "normal": lambda stream, shape: stream.standard_normal(shape),
    "heavy tails": lambda stream, shape: stream.laplace(size=shape) / np.sqrt(2),
    "skewed": lambda stream, shape: stream.standard_exponential(shape) - 1,
}
LEVEL_OF_DEVIATIONS = 0.05  # median; far above the floor, so that ratios are not cut


def draw_deviations(stream: np.random.Generator, shape: str, spread: float, n: int) -> np.ndarray:
    """Deviations (2, n) of two methods on n datasets; their mean log ratio is 0."""
    shared = spread * stream.standard_normal(n)
    own = spread / 2 * SHAPES[shape](stream, (2, n))
    return LEVEL_OF_DEVIATIONS * np.exp(shared + own)


def bca(values: np.ndarray, stream: np.random.Generator) -> tuple[float, float]:
    interval = stats.bootstrap(
        (values,), np.mean, n_resamples=RESAMPLES, confidence_level=LEVEL, method="BCa", random_state=stream
    ).confidence_interval
    return interval.low, interval.high


def coverage(shape: str, spread: float, samples: int) -> list[float]:
    """Fraction of samples in which each of the three intervals holds the truth."""
    stream = np.random.default_rng([list(SHAPES).index(shape), int(10 * spread)])
    large_sample = draw_deviations(stream, shape, spread, 4_000_000)
    mean = large_sample[0].mean()  # the difference's is 0, as both methods have the same distribution
    n_covered = np.zeros(3)
    for _ in range(samples):
        first, second = draw_deviations(stream, shape, spread, DATASETS)
        intervals = [(bca(first, stream), mean), (bca(first - second, stream), 0.0), (mean_ratio(first, second)[3:], 1.0)]
        n_covered += [low <= truth <= high for (low, high), truth in intervals]
    return list(n_covered / samples)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--samples", type=int, default=1000)
    samples = parser.parse_args().samples
    print(f"{'shape':>12} {'spread':>7} {'BCa mean':>9} {'BCa difference':>15} {'t log ratio':>12}")
    for shape in SHAPES:
        for spread in SPREADS:
            mean, difference, ratio = coverage(shape, spread, samples)
            print(f"{shape:>12} {spread:>7.1f} {mean:>9.1%} {difference:>15.1%} {ratio:>12.1%}")


if __name__ == "__main__":
    main()
