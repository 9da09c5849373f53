"""
Your own method in one file
===========================

A method is a Python file with one class. The estimator below fits it, and the same file joins the benchmark's grid, tables and
figures without any other change.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from clusterlets import FairFlow, MethodClustering, fairness_report, plot_tradeoff

# %%
# This method deals each group out in the order of the first principal component, so that neighbours in that order share a
# cluster and every cluster gets its share of each group.

SOURCE = '''
import numpy as np
from clusterlets.methods import Method


class Slices(Method):
    """Equal slices of each group along the direction of largest variance."""

    name = "slices"

    def fit(self, X, groups, n_clusters, random_state):
        centred = X - X.mean(axis=0)
        direction = np.linalg.svd(centred, full_matrices=False)[2][0]
        labels = np.empty(len(X), dtype=int)
        for group in np.unique(groups):
            rows = np.flatnonzero(groups == group)
            rows = rows[np.argsort(centred[rows] @ direction, kind="stable")]
            labels[rows] = np.arange(len(rows)) * n_clusters // len(rows)
        return labels
'''

data = load_wine()
X = StandardScaler().fit_transform(data.data)
cultivar = data.target_names[data.target]

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "slices.py"
    path.write_text(SOURCE, encoding="utf-8")
    slices = MethodClustering(str(path), 4, random_state=0).fit(X, sensitive_features=cultivar)

models = {
    "k-means": MethodClustering("k-means", 4, random_state=0).fit(X, sensitive_features=cultivar),
    "random": MethodClustering("random", 4, random_state=0).fit(X, sensitive_features=cultivar),
    "fair-flow": FairFlow(4, random_state=0).fit(X, sensitive_features=cultivar),
    "slices": slices,
}
reports = {name: fairness_report(X, model.labels_, cultivar) for name, model in models.items()}

ax = plot_tradeoff(reports, ax=plt.subplots(figsize=(7, 4), layout="constrained")[1])
ax.set_title("Below and to the left is better")

# %%
# **Lesson.** Hold a new method against the controls first. It must be fairer than k-means and cost less than random labels;
# then compare it with the rivals.
plt.show()
