"""
How far from the best possible?
===============================

A score says which of two clusterings is better, but not how much better a clustering could be. A lower bound does: no other
clustering that is as fair costs less than the bound.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from clusterlets import FRAC, FairFlow, FairLP, MethodClustering, fairness_report
from clusterlets.bounds.gaps import assignment_gap, transport_gap
from clusterlets.bounds.transport import sse_bounds

data = load_breast_cancer()
X = StandardScaler().fit_transform(data.data)
diagnosis = data.target
models = {
    "fair-flow": FairFlow(4, random_state=0),
    "fair-lp": FairLP(4, random_state=0),
    "FRAC": FRAC(4, random_state=0),
    "random": MethodClustering("random", 4, random_state=0),
}

# %%
# ``assignment_gap`` bounds what other labels could save at the same centres. ``transport_gap`` bounds what any other clustering
# could save. Both compare with clusterings that are as fair as the fitted one, as measured by ``delta_min``.

gaps = {}
for name, model in models.items():
    labels = model.fit(X, sensitive_features=diagnosis).labels_
    report = fairness_report(X, labels, diagnosis)
    bound = sse_bounds(X, diagnosis, n_clusters=[4], deltas=[report["delta_min"]])[0, 0]
    gaps[name] = assignment_gap(X, diagnosis, labels), transport_gap(report["kmeans_cost"], bound)
    print(f"{name:<10} assignment gap {gaps[name][0]:.3f}, transport gap {gaps[name][1]:.3f}")

# %%
figure, panels = plt.subplots(1, 2, figsize=(9, 3), sharey=True, layout="constrained")
for index, (panel, title) in enumerate(zip(panels, ["same centres", "any centres"], strict=True)):
    bars = panel.barh(list(gaps), [pair[index] for pair in gaps.values()], color="#0072B2")
    panel.bar_label(bars, fmt="%.3f", padding=3)
    panel.margins(x=0.2)
    panel.set(title=title, xlabel="cost above the lower bound, as a fraction of it")
panels[0].invert_yaxis()

# %%
# **Lesson.** A small gap proves that little is left to gain. A large gap proves nothing. Either a better clustering exists, or
# the bound is loose.
plt.show()
