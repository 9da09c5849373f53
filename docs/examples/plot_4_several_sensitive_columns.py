"""
Several sensitive columns
=========================

The sensitive group need not be the class, and it can come from several columns. Here patients are clustered by their
measurements, and the clusters should be fair to sex and age together.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from clusterlets import FairFlow, MethodClustering, fairness_report, plot_composition

patients = load_diabetes(as_frame=True, scaled=False).data
X = StandardScaler().fit_transform(patients.drop(columns=["age", "sex"]))
sensitive = pd.DataFrame(
    {
        "sex": patients["sex"].map({1: "sex 1", 2: "sex 2"}),
        "age": (patients["age"] >= 50).map({True: "50 and over", False: "under 50"}),
    }
)

# %%
# Each combination of values that occurs is a group. The source of the data does not say which code of sex is which.

plain = MethodClustering("k-means", 4, random_state=0).fit(X, sensitive_features=sensitive)
fair = FairFlow(4, delta=0.1, random_state=0).fit(X, sensitive_features=sensitive)
by_sex_alone = FairFlow(4, delta=0.1, random_state=0).fit(X, sensitive_features=sensitive["sex"])

figure, panels = plt.subplots(3, 1, figsize=(8.5, 8), layout="constrained")
models = {"k-means": plain, "fair to sex alone": by_sex_alone, "fair to sex and age": fair}
for panel, (name, model) in zip(panels, models.items(), strict=True):
    report = fairness_report(X, model.labels_, sensitive)
    plot_composition(model.labels_, sensitive, ax=panel)
    panel.set_title(f"{name}: largest deviation {report['deviation_max']:.2f}")

# %%
# **Lesson.** Clusters that are fair to one column may be unfair to another, or to the combination of both. Name every column
# that matters.
plt.show()
