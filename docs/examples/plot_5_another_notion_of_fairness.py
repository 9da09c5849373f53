"""
Another notion of fairness
==========================

Fair shares are one notion of fairness. *Social* fairness is another. It asks that no group lies much further from the centres
than the others, whatever the clusters are made of. ``FairLloyd`` lowers the mean cost of the group that is worst off.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from clusterlets import FairFlow, FairLloyd, MethodClustering, fairness_report

data = load_breast_cancer()
X = StandardScaler().fit_transform(data.data)
diagnosis = data.target_names[data.target]
models = {
    "k-means": MethodClustering("k-means", 4, random_state=0),
    "fair-lloyd": FairLloyd(4, random_state=0),
    "fair-flow": FairFlow(4, random_state=0),
}

# %%
# The left panel shows each group's mean squared distance to the centres.

figure, panels = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
groups = np.unique(diagnosis)
for index, (name, model) in enumerate(models.items()):
    model.fit(X, sensitive_features=diagnosis)
    report = fairness_report(X, model.labels_, diagnosis)
    costs = np.square(X - model.cluster_centers_[model.labels_]).sum(axis=1)
    means = [costs[diagnosis == group].mean() for group in groups]
    panels[0].bar(np.arange(2) + 0.27 * index, means, width=0.25, label=name)
    panels[1].bar(name, report["deviation_max"], color=f"C{index}")
    print(f"{name:<10} worst group {max(means):.1f}, largest deviation {report['deviation_max']:.2f}")
panels[0].set_xticks(np.arange(2) + 0.27, groups)
panels[0].set(ylabel="mean squared distance", title="social fairness: a lower maximum of both bars is better")
panels[1].set(ylabel="largest deviation", title="fair shares: lower is better")
panels[0].legend()

# %%
# **Lesson.** A clustering can be good by one notion and poor by the other. Decide what fairness means for your question before
# you choose a method.
plt.show()
