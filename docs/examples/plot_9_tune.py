"""
Find the cheapest clustering within a limit
===========================================

``tune`` looks, within a time limit, for the cheapest clustering of your table whose clusters all stay close to the table's
shares. ``clusterlets tune people.csv --sensitive sex`` does the same for a CSV file.
"""

import io

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from clusterlets import tune

# %%
# A table of your own would be a CSV file; this one has the same form.

patients = load_diabetes(as_frame=True, scaled=False).data
table = pd.read_csv(io.StringIO(patients.to_csv(index=False)))
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
# Each point is the best run of a configuration: the cheapest within the limit, or else the one of least deviation.

shown = trials.dropna(subset=["price"])
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for method, rows in shown.groupby("method"):
    ax.scatter(rows["deviation_max"], rows["price"], label=method)
ax.axvline(0.05, color="black", linewidth=1)
ax.set(xlabel="largest deviation of a cluster", ylabel="price", title="Configurations left of the line keep the limit")
ax.legend()

# %%
# **Lesson.** A method that takes the limit itself, here ``fair-limit``, comes closest to the price of plain k-means. Compare
# the prices of half and twice the limit before you settle on one.
plt.show()
