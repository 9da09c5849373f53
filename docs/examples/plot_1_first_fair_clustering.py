"""
A first fair clustering
=======================

Plain k-means separates malignant from benign tumours, because the measurements were made to tell them apart. Suppose that the
diagnosis is the sensitive group. Then every cluster should have the same share of malignant tumours as the whole table: 37 %.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from clusterlets import FairFlow, fairness_report, plot_composition

data = load_breast_cancer()
X = StandardScaler().fit_transform(data.data)
diagnosis = data.target_names[data.target]

# %%
# Every estimator takes the sensitive group as ``sensitive_features``. ``FairFlow`` keeps each share within bounds that
# ``delta`` sets. With 0, the clusters have the shares of the table, rounded to whole tumours.

plain = KMeans(4, n_init=10, random_state=0).fit(X)
fair = FairFlow(4, delta=0, random_state=0).fit(X, sensitive_features=diagnosis)

for name, model in {"k-means": plain, "fair-flow": fair}.items():
    report = fairness_report(X, model.labels_, diagnosis)
    print(f"{name}: largest deviation {report['deviation_max']:.3f}, price of fairness {report['price_of_fairness']:.2f}")

# %%
# The report also holds a table with one row per cluster.

report.clusters.round(3)

# %%
# The bars show what the clusters are made of. The line is the share in the whole table.

figure, panels = plt.subplots(1, 2, figsize=(11, 3.5), layout="constrained")
plot_composition(plain.labels_, diagnosis, ax=panels[0]).set_title("k-means")
plot_composition(fair.labels_, diagnosis, ax=panels[1]).set_title("fair-flow")

# %%
# **Lesson.** Fair shares are always within reach. The question is what they cost. Here the price of fairness is the k-means
# cost of the fair clusters, divided by that of plain k-means.
plt.show()
