"""
Your own method in one file
===========================

A method is a Python file with one class. The estimator below fits such a method. The same file also adds the method to the
benchmark's grid, tables and figures, without any other change.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from clusterlets import FairFlow, MethodClustering, fairness_report, plot_tradeoff

# %%
# This method sorts each group by the first principal component, and cuts it into equal slices, one for each cluster. So every
# cluster gets the same share of each group, and neighbours in the order mostly stay together.

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

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
plot_tradeoff(reports, ax=ax)
ax.set_title("Below and to the left is better")

# %%
# **Lesson.** Compare a new method with the controls first. It must be fairer than k-means and cost less than random labels.
# Then compare it with the other fair methods.
plt.show()
