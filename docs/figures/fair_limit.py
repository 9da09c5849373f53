"""Draw fair_limit.png, the picture of docs/fair-limit.md: python docs/figures/fair_limit.py"""

from pathlib import Path

import matplotlib
import numpy as np

from clusterlets import FairLimit, MethodClustering

matplotlib.use("agg")
from matplotlib import pyplot as plt  # after the choice of a backend without windows

LIMIT, N_CLUSTERS = 0.05, 3
COLORS = {"a": "#1f77b4", "b": "#ff7f0e"}


def main() -> None:
    rng = np.random.default_rng(3)
    centres = np.array([[0.0, 0.0], [3.2, 0.4], [1.5, 2.8]])
    cloud = np.repeat(np.arange(3), 100)
    X = centres[cloud] + rng.normal(scale=0.8, size=(300, 2))
    groups = np.where(rng.random(300) < np.array([0.75, 0.55, 0.2])[cloud], "a", "b")
    fits = {
        "plain k-means": MethodClustering("k-means", N_CLUSTERS, random_state=0).fit(X, sensitive_features=groups),
        f"fair-limit {LIMIT}": FairLimit(N_CLUSTERS, max_deviation=LIMIT, random_state=0).fit(X, sensitive_features=groups),
    }
    share = (groups == "a").mean()
    figure, axes = plt.subplots(2, 2, figsize=(8.2, 5.4), height_ratios=(2.6, 1), layout="constrained")
    costs = []
    for (points, bars), (title, fit) in zip(axes.T, fits.items(), strict=True):
        labels = fit.labels_
        means = np.array([X[labels == cluster].mean(axis=0) for cluster in range(N_CLUSTERS)])
        costs.append(((X - means[labels]) ** 2).sum())
        left_to_right = np.argsort(means[:, 0])
        for cluster, marker in zip(left_to_right, "os^", strict=True):
            for group, color in COLORS.items():
                rows = X[(labels == cluster) & (groups == group)]
                points.plot(*rows.T, linestyle="none", marker=marker, color=color, markersize=4)
        points.plot(*means.T, linestyle="none", marker="X", color="black", markersize=10)
        points.set_title(f"{title}, cost {costs[-1] / costs[0]:.2f}")
        points.set_xticks([])
        points.set_yticks([])
        points.set_aspect("equal")
        shares = [(groups[labels == cluster] == "a").mean() for cluster in left_to_right]
        bars.bar(range(N_CLUSTERS), shares, color=COLORS["a"])
        bars.bar(range(N_CLUSTERS), [1 - value for value in shares], bottom=shares, color=COLORS["b"])
        bars.axhspan(share - LIMIT, share + LIMIT, color="white", alpha=0.55)
        bars.axhline(share, color="black", linewidth=1)
        for index, value in enumerate(shares):
            bars.text(index, 0.06, f"{value:.0%}", ha="center", color="white", weight="bold")
        bars.set_xticks(range(N_CLUSTERS), [f"cluster {'●■▲'[index]}" for index in range(N_CLUSTERS)])
        bars.set_ylim(0, 1)
        bars.set_yticks([0, share, 1], ["0 %", f"table {share:.0%}", "100 %"])
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=130, metadata={"Software": None})


if __name__ == "__main__":
    main()
