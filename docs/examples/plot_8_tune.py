"""
Find the cheapest clustering within a limit
===========================================

``tune`` looks for the cheapest clustering of your table whose clusters all stay close to the table's shares. You set how long
it may look. ``clusterlets tune people.csv --sensitive sex`` does the same for a CSV file.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from clusterlets import tune

# %%
# A table of your own could come from ``pandas.read_csv``. This one comes with scikit-learn.

table = load_diabetes(as_frame=True, scaled=False).data
X = StandardScaler().fit_transform(table.drop(columns="sex"))

trials = tune(
    X,
    sensitive_features=table["sex"],
    n_clusters=4,
    max_deviation=0.05,
    minutes=10,
    n_seeds=2,
    methods_tried=["fair-limit", "fair-flow", "fair-lp", "FRAC", "fairkm", "scaff-tree"],
)
print(trials.recommendation())

# %%
# Each point is the best run of a configuration: the cheapest within the limit or, if none keeps it, the least unfair.

configurations = trials.dropna(subset=["price"])
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for method, rows in configurations.groupby("method"):
    ax.scatter(rows["deviation_max"], rows["price"], label=method)
ax.axvline(0.05, color="black", linewidth=1)
ax.set(xlabel="largest deviation of a cluster", ylabel="price", title="Configurations left of the line keep the limit")
ax.legend()

# %%
# **Lesson.** A method with the limit as a parameter, here ``fair-limit``, comes closest to the price of plain k-means. Compare
# the prices of half and twice the limit before you settle on one.
plt.show()
