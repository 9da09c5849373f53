"""Scores of fair clusterings for scikit-learn's searches: ``GridSearchCV(..., scoring=deviation_scorer)``."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest
from sklearn.utils.validation import has_fit_parameter

from clusterlets.algorithms.checks import check_same_index
from clusterlets.estimators.inputs import InvalidInput
from clusterlets.estimators.report import fairness_report


class ClusterScorer:
    """A score of the clusters that an estimator makes of ``X``; greater is better.

    No estimator assigns new rows fairly, as ``predict`` asks for no sensitive features. So the scorer does not predict: it
    fits a clone of the estimator to the rows that it scores, with the same parameters, and scores that clustering. Of a
    pipeline the fitted transformers prepare ``X``, and its last step is cloned. On the rows of the fit, and with a whole
    number for ``random_state``, that is the clustering of the fit. For a search on the whole table, let ``cv`` be one split
    that trains and tests on all rows: ``cv=[(rows, rows)]`` with ``rows = np.arange(len(X))``.

    A search hands ``sensitive_features`` on where metadata routing is enabled; the scorer asks for them by that name, or the
    one given to :meth:`set_score_request`.

    Parameters
    ----------
    name : str
        What the scorer is called.
    score : callable
        From X (n, d), labels or memberships, and the sensitive features to a number.
    requested : bool, str or None
        The request for the sensitive features, as scikit-learn's ``set_score_request`` takes it.
    """

    def __init__(self, name: str, score: Callable[[np.ndarray, Any, Any], float], requested: bool | str | None = True):
        self.__name__ = name
        self._score = score
        self._requested = requested

    def __call__(self, estimator, X, y=None, *, sensitive_features=None) -> float:
        """The score of the estimator's clusters of X (n, d). It takes the time of a fit and of the score.

        Raises
        ------
        InvalidInput
            Without ``sensitive_features``, and for what the estimator refuses.
        """
        if sensitive_features is None:
            raise InvalidInput(
                f"{self.__name__} was given no sensitive_features. A search passes them on with "
                "sklearn.set_config(enable_metadata_routing=True), if the estimator asks for them too: "
                "estimator.set_fit_request(sensitive_features=True)."
            )
        check_same_index(X=X, sensitive_features=sensitive_features)  # transformers may drop the index
        if isinstance(estimator, Pipeline):
            X = estimator[:-1].transform(X) if len(estimator) > 1 else X
            estimator = estimator[-1]
        takes = has_fit_parameter(estimator, "sensitive_features")  # plain k-means does not
        fitted = clone(estimator).fit(X, **({"sensitive_features": sensitive_features} if takes else {}))
        return self._score(X, getattr(fitted, "memberships_", fitted.labels_), sensitive_features)

    def set_score_request(self, *, sensitive_features: bool | str | None) -> "ClusterScorer":
        """A scorer that asks for the sensitive features (True), for those under another name (str), or not (False, None)."""
        return ClusterScorer(self.__name__, self._score, sensitive_features)

    def get_metadata_routing(self) -> MetadataRequest:
        """What the scorer asks for, as scikit-learn's searches read it."""
        request = MetadataRequest(owner=self.__name__)
        request.score.add_request(param="sensitive_features", alias=self._requested)
        return request

    def __repr__(self) -> str:
        return self.__name__


def _minus(score: str, settings: Mapping[str, Any], X, clustering, sensitive_features) -> float:
    return -fairness_report(X, clustering, sensitive_features, cohesion=False, silhouette=False, **settings)[score]


#: No price is needed, so plain k-means is not run.
_UNPRICED = {"reference_cost": 0}
#: Minus the mean deviation of the clusters; 0 is perfectly fair.
deviation_scorer = ClusterScorer("deviation_scorer", partial(_minus, "deviation_mean", _UNPRICED))
#: Minus the largest deviation of a cluster, which :func:`clusterlets.tune` limits.
largest_deviation_scorer = ClusterScorer("largest_deviation_scorer", partial(_minus, "deviation_max", _UNPRICED))
#: Minus the price of fairness: the cost over the least one of plain k-means with as many clusters. Above -1 where the
#: clustering is a better optimum than plain k-means found in all its starts; NaN where clusters overlap.
price_scorer = ClusterScorer("price_scorer", partial(_minus, "price_of_fairness", {}))
