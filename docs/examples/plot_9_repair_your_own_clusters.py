"""
Clusters that you already have
==============================

Many tables come with segments that are in use. How unfair are they, and what is the least that would have to change? Here the
segments of tumours were made with plain k-means, and the diagnosis is the sensitive group.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from clusterlets import FairLimit, fairness_report, plot_composition, repair

data = load_breast_cancer()
X = StandardScaler().fit_transform(data.data)
diagnosis = data.target_names[data.target]
segments = KMeans(4, n_init=10, random_state=0).fit(X).labels_

# %%
# First the audit: in every segment, how far is the share of malignant tumours from that of the table?

fairness_report(X, segments, diagnosis).clusters.round(3)

# %%
# ``repair`` moves as few tumours as possible so that every share stays within 0.05 of the table's. A lower bound says how few
# any labels with this limit could move.

repaired = repair(X, segments, sensitive_features=diagnosis, max_deviation=0.05)
print(f"{repaired.moved.sum()} of {len(X)} tumours move; at least {repaired.least_moves} must.")
print(f"squared distances to the old means: {repaired.cost_before:.0f} before, {repaired.cost_after:.0f} after")

# %%
# A new clustering with the same limit is cheaper than the repaired one, but its clusters are not the old segments.

fitted = FairLimit(4, max_deviation=0.05, random_state=0).fit(X, sensitive_features=diagnosis)
for name, labels in {"as they are": segments, "repaired": repaired.labels, "fitted anew": fitted.labels_}.items():
    report = fairness_report(X, labels, diagnosis)
    print(f"{name}: largest deviation {report['deviation_max']:.3f}, price of fairness {report['price_of_fairness']:.2f}")

# %%
# The bars show what the segments are made of. The line is the share in the whole table.

figure, panels = plt.subplots(1, 2, figsize=(11, 3.5), layout="constrained")
plot_composition(segments, diagnosis, ax=panels[0]).set_title("as they are")
plot_composition(repaired.labels, diagnosis, ax=panels[1]).set_title("repaired")
plt.show()
