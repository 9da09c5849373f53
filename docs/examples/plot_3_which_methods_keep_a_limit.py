"""
Which methods keep a limit?
===========================

Suppose no group's share in any cluster may differ from its share in the table by more than 5 percentage points. Some methods
promise such a bound, others only tend towards fairness. The difference shows in the worst cluster.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from clusterlets import FRAC, Coreset, FairFlow, FairKM, FairLimit, FairLP, MethodClustering, ScaffTree, fairness_report

data = load_wine()
X = StandardScaler().fit_transform(data.data)
cultivar = data.target_names[data.target]
limit = 0.05

# With delta=0, a method has to keep the table's shares up to whole instances. The penalty and theta trade cost for fairness.
models = {
    "fair-limit": FairLimit(3, max_deviation=limit, random_state=0),
    "fair-flow": FairFlow(3, delta=0, random_state=0),
    "fair-lp": FairLP(3, delta=0, random_state=0),
    "coreset": Coreset(3, delta=0, random_state=0),
    "FRAC": FRAC(3, random_state=0),
    "fairkm": FairKM(3, penalty=10, random_state=0),
    "scaff-tree": ScaffTree(3, theta=0.5, random_state=0),
    "random": MethodClustering("random", 3, random_state=0),
    "k-means": MethodClustering("k-means", 3, random_state=0),
}

# %%
# Wine has three cultivars, so there are three groups. ``MethodClustering`` fits any method of the benchmark by its name. Here
# it fits the two controls, which ignore the groups.

reports = {
    name: fairness_report(X, model.fit(X, sensitive_features=cultivar).labels_, cultivar) for name, model in models.items()
}
reports = dict(sorted(reports.items(), key=lambda item: item[1]["deviation_max"]))
deviations = [report["deviation_max"] for report in reports.values()]
prices = [report["price_of_fairness"] for report in reports.values()]

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
bars = ax.barh(list(reports), deviations, color=["#0072B2" if value <= limit else "#bbbbbb" for value in deviations])
ax.bar_label(
    bars, [f"price {price:.2f}" for price in prices], padding=3, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5}
)
ax.axvline(limit, color="black", linewidth=1, zorder=0)
ax.invert_yaxis()
ax.set(xlabel="largest deviation of a cluster", xlim=(0, 0.9), title="Blue: within the limit (the line)")

# %%
# **Lesson.** If every cluster must keep a limit, use a method that promises one. ``fair-limit`` takes the limit itself and uses
# all that it allows. Here it is the cheapest of the methods that keep it. Random clusters have nearly fair shares on average,
# but a small cluster can still be unfair, and they have the highest price of all.
plt.show()
