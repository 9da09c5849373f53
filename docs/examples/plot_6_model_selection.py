"""
Model selection with a fairness score
=====================================

``GridSearchCV`` of scikit-learn chooses parameters. With two scorers it reports deviation and price side by side. Your own
rule then picks the cheapest model that is fair enough.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn import config_context
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from clusterlets import FairFlow, deviation_scorer, price_scorer

data = load_breast_cancer()
X = StandardScaler().fit_transform(data.data)
diagnosis = data.target_names[data.target]
rows = np.arange(len(X))


def cheapest_within(results, limit=0.05):
    """The index of the cheapest model whose mean deviation keeps the limit."""
    # scikit-learn maximises scores, so the scorers give the negative of deviation and price.
    keeps_limit = -results["mean_test_deviation"] <= limit
    return int(np.where(keeps_limit, results["mean_test_price"], -np.inf).argmax())


# %%
# Metadata routing hands the sensitive group to fits and scores. The whole table is the only "fold", because a clustering is
# scored on the rows that it clusters.

with config_context(enable_metadata_routing=True):
    flow = FairFlow(4, random_state=0).set_fit_request(sensitive_features=True)
    search = GridSearchCV(
        flow,
        {"delta": [0, 0.1, 0.2, 0.4, 0.6]},
        scoring={"deviation": deviation_scorer, "price": price_scorer},
        refit=cheapest_within,
        cv=[(rows, rows)],
    ).fit(X, sensitive_features=diagnosis)
print(search.best_params_)

# %%
results = search.cv_results_
deviations, prices = -results["mean_test_deviation"], -results["mean_test_price"]
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(deviations, prices, "o-", color="#0072B2")
for delta, *point in zip(results["param_delta"], deviations, prices, strict=True):
    ax.annotate(f"delta {delta}", point, xytext=(6, 4), textcoords="offset points")
ax.axvline(0.05, color="black", linewidth=1)
ax.margins(0.12)
ax.set(xlabel="mean deviation", ylabel="price of fairness", title="The line is the limit")

# %%
# **Lesson.** Choose parameters by a rule that you wrote down before you saw the scores. Here it is the least price within a
# limit.
plt.show()
