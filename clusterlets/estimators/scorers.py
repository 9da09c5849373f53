"""Scorers of fair clusterings for scikit-learn's searches: ``GridSearchCV(..., scoring=deviation_scorer)``."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest
from sklearn.utils.validation import _num_samples, has_fit_parameter

from clusterlets.algorithms.checks import check_same_index
from clusterlets.estimators.fairness import fairness_report
from clusterlets.estimators.inputs import InvalidInput, check_equal_weights


class ClusterScorer:
    """Score the clusters that an estimator finds in ``X``; greater is better.

    The scorer does not call ``predict``, which takes no sensitive features and so cannot assign rows fairly. Instead, it fits
    a clone of the estimator to the rows to score. In a pipeline, the fitted transformers prepare ``X``, and only the last step
    is cloned. On the rows of the fit, the clone finds the same clusters if ``random_state`` is a whole number. To search on the
    whole table, use one split that trains and tests on all rows: ``cv=[(rows, rows)]`` with ``rows = np.arange(len(X))``.

    A search passes ``sensitive_features`` on if metadata routing is enabled. The scorer requests them by that name, or by the
    name given to :meth:`set_score_request`.

    Parameters
    ----------
    name : str
        Name of the scorer.
    score : callable
        Function of X (n, d), labels or memberships, and the sensitive features. It returns a number.
    requested : bool, str or None
        The request for the sensitive features, as in :meth:`set_score_request`.
    """

    def __init__(self, name: str, score: Callable[[np.ndarray, Any, Any], float], requested: bool | str | None = True):
        self.__name__ = name
        self._score = score
        self._requested = requested

    def __call__(self, estimator, X, y=None, sample_weight=None, *, sensitive_features=None) -> float:
        """Cluster X (n, d) with a clone of the estimator, and return the score.

        Raises
        ------
        InvalidInput
            If ``sensitive_features`` are missing, if weights differ, or if the estimator refuses its input.
        """
        if sensitive_features is None:
            raise InvalidInput(
                f"{self.__name__} was given no sensitive_features. A search passes them on with "
                "sklearn.set_config(enable_metadata_routing=True), if the estimator asks for them too: "
                "estimator.set_fit_request(sensitive_features=True)."
            )
        if sample_weight is not None:
            check_equal_weights(sample_weight, _num_samples(X), self.__name__)
        check_same_index(X=X, sensitive_features=sensitive_features)  # transformers may drop the index
        if isinstance(estimator, Pipeline):
            X = estimator[:-1].transform(X) if len(estimator) > 1 else X
            estimator = estimator[-1]
        takes_groups = has_fit_parameter(estimator, "sensitive_features")  # plain k-means does not
        fitted = clone(estimator).fit(X, **({"sensitive_features": sensitive_features} if takes_groups else {}))
        return self._score(X, getattr(fitted, "memberships_", fitted.labels_), sensitive_features)

    def set_score_request(self, *, sensitive_features: bool | str | None) -> "ClusterScorer":
        """A copy that requests the sensitive features (True), the same under another name (str), or none (False, None)."""
        return ClusterScorer(self.__name__, self._score, sensitive_features)

    def get_metadata_routing(self) -> MetadataRequest:
        """The scorer's requests, for scikit-learn's searches."""
        request = MetadataRequest(owner=self.__name__)
        request.score.add_request(param="sensitive_features", alias=self._requested)
        return request

    def __repr__(self) -> str:
        return self.__name__


def _negative_score(score: str, settings: Mapping[str, Any], X, clustering, sensitive_features) -> float:
    return -fairness_report(X, clustering, sensitive_features, cohesion=False, silhouette=False, **settings)[score]


# A given reference cost saves the runs of plain k-means, which only the price needs.
_WITHOUT_PRICE = {"reference_cost": 0}
#: Minus the mean deviation of the clusters; 0 is perfectly fair.
deviation_scorer = ClusterScorer("deviation_scorer", partial(_negative_score, "deviation_mean", _WITHOUT_PRICE))
#: Minus the largest deviation of a cluster, which :func:`clusterlets.tune` limits.
largest_deviation_scorer = ClusterScorer("largest_deviation_scorer", partial(_negative_score, "deviation_max", _WITHOUT_PRICE))
#: Minus the price of fairness: the cost divided by the least cost of plain k-means with as many clusters. NaN if clusters
#: overlap.
price_scorer = ClusterScorer("price_scorer", partial(_negative_score, "price_of_fairness", {}))
