"""The algorithms with scikit-learn's face: ``fit(X, sensitive_features=...)``, ``labels_``, ``memberships_``.

Only this package imports scikit-learn as a whole; who wants a method alone takes it from :mod:`clusterlets.methods`.
"""

from clusterlets.estimators.clusterlet import ClusterletClustering
from clusterlets.estimators.frac import FRAC
from clusterlets.estimators.inputs import InvalidInput
from clusterlets.estimators.method import MethodClustering
from clusterlets.estimators.report import FairnessReport, cluster_composition, fairness_report
from clusterlets.estimators.rivals import (
    VFC,
    Antidote,
    Coreset,
    FairFlow,
    FairKM,
    Fairlets,
    FairLloyd,
    FairLP,
    ScaffTree,
    TreeFairlets,
)
from clusterlets.estimators.scorers import ClusterScorer, deviation_scorer, price_scorer

__all__ = [
    "FRAC",
    "VFC",
    "Antidote",
    "ClusterScorer",
    "ClusterletClustering",
    "Coreset",
    "FairFlow",
    "FairKM",
    "FairLP",
    "FairLloyd",
    "Fairlets",
    "FairnessReport",
    "InvalidInput",
    "MethodClustering",
    "ScaffTree",
    "TreeFairlets",
    "cluster_composition",
    "deviation_scorer",
    "fairness_report",
    "price_scorer",
]
