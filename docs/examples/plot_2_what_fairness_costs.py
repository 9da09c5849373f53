"""
What fairness costs
===================

Between plain k-means and exact shares lies a range of compromises. ``FairFlow`` moves along this range with ``delta``. The
other methods below each settle at one point of it.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from clusterlets import FRAC, ClusterletClustering, FairFlow, fairness_report, plot_tradeoff

data = load_breast_cancer()
X = StandardScaler().fit_transform(data.data)
diagnosis = data.target_names[data.target]

models = {"k-means": KMeans(5, n_init=10, random_state=0).fit(X)}
for delta in (0, 0.2, 0.5, 0.8):
    models[f"fair-flow, delta {delta}"] = FairFlow(5, delta=delta, random_state=0).fit(X, sensitive_features=diagnosis)
models["FRAC"] = FRAC(5, random_state=0).fit(X, sensitive_features=diagnosis)
models["Clusterlets, G-B"] = ClusterletClustering(8, matcher="G-B", random_state=0).fit(X, sensitive_features=diagnosis)

# %%
# All costs are compared with one reference, the cost of plain k-means with five clusters. Clusterlets joins 8
# clusterlets per group into a number of clusters that it chooses, so its cost is not a like-for-like comparison.

reports = {
    name: fairness_report(X, model.labels_, diagnosis, reference_cost=models["k-means"].inertia_)
    for name, model in models.items()
}
for name, report in reports.items():
    print(f"{name:<20} {report['n_clusters']} clusters, price {report['price_of_fairness']:.2f}")

# %%
# The line joins the clusterings that no other one beats in both scores.

figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
ax = plot_tradeoff(reports, unfairness="weighted_deviation", ax=ax)

# %%
# **Lesson.** Do not compare methods by one score. Compare their costs at equal fairness, or their fairness at equal cost.
# A method below and to the left of another is better.
ax.set_title("Below and to the left is better")
plt.show()
