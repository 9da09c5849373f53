"""Draw fair_limit.png, the picture of docs/fair-limit.md: python docs/figures/fair_limit.py"""

from pathlib import Path

import matplotlib
import numpy as np

from clusterlets import FairLimit, MethodClustering

matplotlib.use("agg")
from matplotlib import pyplot as plt  # after the choice of a backend without windows
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

LIMIT, N_CLUSTERS = 0.05, 3
COLORS = {"a": "#1f77b4", "b": "#ff7f0e"}


def main() -> None:
    rng = np.random.default_rng(3)
    centres = np.array([[0.0, 0.0], [3.2, 0.4], [1.5, 2.8]])
    cloud_of_row = np.repeat(np.arange(3), 100)
    X = centres[cloud_of_row] + rng.normal(scale=0.8, size=(300, 2))
    groups = np.where(rng.random(300) < np.array([0.75, 0.55, 0.2])[cloud_of_row], "a", "b")
    models = {
        "plain k-means": MethodClustering("k-means", N_CLUSTERS, random_state=0).fit(X, sensitive_features=groups),
        f"fair-limit {LIMIT}": FairLimit(N_CLUSTERS, max_deviation=LIMIT, random_state=0).fit(X, sensitive_features=groups),
    }
    figure, axes = plt.subplots(2, 2, figsize=(8.2, 5.4), height_ratios=(2.6, 1), layout="constrained")
    costs = []
    for (point_axes, bar_axes), (title, model) in zip(axes.T, models.items(), strict=True):
        means = np.array([X[model.labels_ == cluster].mean(axis=0) for cluster in range(N_CLUSTERS)])
        costs.append(((X - means[model.labels_]) ** 2).sum())
        left_to_right = np.argsort(means[:, 0])
        clusters = [model.labels_ == cluster for cluster in left_to_right]
        draw_points(point_axes, X, groups, clusters, means[left_to_right])
        point_axes.set_title(f"{title}: {costs[-1] / costs[0]:.2f} times the cost" if len(costs) > 1 else title)
        draw_shares(bar_axes, groups, clusters)
    axes[1, 0].set_ylabel("shares")
    handles = [Line2D([], [], ls="", marker="o", color=color, label=f"group {group}") for group, color in COLORS.items()]
    handles.append(Line2D([], [], color="black", ls="dashed", lw=1, label=f"the limit: {LIMIT:g} from the table's share"))
    figure.legend(handles=handles, ncols=3, loc="outside upper center", frameon=False)
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=130, metadata={"Software": None})


def draw_points(axes, X, groups, clusters, means) -> None:
    """Draw the rows of each cluster (a mask) with its marker, colored by group, and a line from each row to the mean."""
    for cluster, marker, mean in zip(clusters, "os^", means, strict=True):
        lines = np.stack([X[cluster], np.broadcast_to(mean, X[cluster].shape)], axis=1)
        axes.add_collection(LineCollection(lines, color="0.7", linewidth=0.5, zorder=0))
        for group, color in COLORS.items():
            axes.plot(*X[cluster & (groups == group)].T, linestyle="none", marker=marker, color=color, markersize=4)
    axes.plot(*means.T, linestyle="none", marker="X", color="black", markersize=10)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_aspect("equal")


def draw_shares(axes, groups, clusters) -> None:
    """Draw the share of each group in each cluster, and the limits around the share in the table."""
    share = (groups == "a").mean()
    shares = [(groups[cluster] == "a").mean() for cluster in clusters]
    axes.bar(range(N_CLUSTERS), shares, color=COLORS["a"])
    axes.bar(range(N_CLUSTERS), [1 - value for value in shares], bottom=shares, color=COLORS["b"])
    axes.axhline(share, color="black", linewidth=1)
    for end in (share - LIMIT, share + LIMIT):
        axes.axhline(end, color="black", linewidth=1, linestyle="dashed")
    for index, value in enumerate(shares):
        axes.text(index, 0.06, f"{value:.0%}", ha="center", color="white", weight="bold")
    axes.set_xticks(range(N_CLUSTERS), [f"cluster {symbol}" for symbol in "●■▲"])
    axes.set_ylim(0, 1)
    axes.set_yticks([0, share, 1], ["0 %", f"table: {share:.0%}", "100 %"])


if __name__ == "__main__":
    main()
