"""The methods as estimators of scikit-learn: ``fit(X, sensitive_features=...)``, ``labels_``, ``memberships_``.

Every method with the role ``rival`` that is not a matcher has an estimator, which is made from the method's class and has its
name. :mod:`clusterlets.methods` has the same methods without scikit-learn.
"""

from clusterlets import methods
from clusterlets.estimators.clusterlet import ClusterletClustering
from clusterlets.estimators.inputs import InvalidInput
from clusterlets.estimators.method import MethodClustering, NamedMethod, estimator_of
from clusterlets.estimators.report import FairnessReport, cluster_composition, fairness_report
from clusterlets.estimators.saved import SavedClustering
from clusterlets.estimators.scorers import ClusterScorer, deviation_scorer, largest_deviation_scorer, price_scorer

#: The estimators of single methods, by the name of the method.
NAMED: dict[str, type[NamedMethod]] = {
    name: estimator_of(methods.get(name), __name__) for name in methods.names("rival") if not methods.get(name).is_matcher
}
globals().update({estimator.__name__: estimator for estimator in NAMED.values()})

__all__ = [
    "ClusterScorer",
    "ClusterletClustering",
    "FairnessReport",
    "InvalidInput",
    "MethodClustering",
    "SavedClustering",
    "cluster_composition",
    "deviation_scorer",
    "fairness_report",
    "largest_deviation_scorer",
    "price_scorer",
]
__all__ += sorted(estimator.__name__ for estimator in NAMED.values())
