"""
What does each limit cost?
==========================

``tune`` shows what limits on the groups cost on your table, for each number of clusters, and recommends a clustering.
``clusterlets tune people.csv --sensitive sex -k 3-4`` does the same for a CSV file.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from clusterlets import tune

# %%
# A table of your own could come from ``pandas.read_csv``. This one comes with scikit-learn.

table = load_diabetes(as_frame=True, scaled=False).data
X = StandardScaler().fit_transform(table.drop(columns="sex"))

found = tune(X, sensitive_features=table["sex"], n_clusters=[3, 4], max_deviation=0.05, minutes=10)
print(found.recommendation())

# %%
# Each line is a number of clusters. The path has a row for each of its points.

path = found.path[found.path["method"] == "fair-limit"]
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for k, rows in path.groupby("k"):
    ax.plot(rows["limit"], rows["price"], marker="o", label=f"{k} clusters")
ax.axvline(0.05, color="black", linewidth=1)
ax.set(xlabel="largest deviation allowed", ylabel="price", title="A looser limit costs less")
ax.legend()

# %%
# **Lesson.** Look at the whole path before you settle on a limit: where it is flat, a stricter limit costs next to nothing.
plt.show()
