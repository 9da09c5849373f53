"""The methods as estimators of scikit-learn: ``fit(X, sensitive_features=...)``, ``labels_``, ``memberships_``.

``base`` checks the input of all of them. ``method`` runs a method of :mod:`clusterlets.methods` and turns its clusters into
attributes. ``fair_limit``, ``frac`` and so on hold a class for each method, with the method's parameters.
"""

from clusterlets.estimators.antidote import Antidote
from clusterlets.estimators.clusterlet import ClusterletClustering
from clusterlets.estimators.fair_limit import FairLimit
from clusterlets.estimators.fair_lloyd import FairLloyd
from clusterlets.estimators.fair_shares import Coreset, FairFlow, FairLP
from clusterlets.estimators.fairlets import Fairlets, TreeFairlets
from clusterlets.estimators.fairness import FairnessReport, cluster_composition, fairness_report
from clusterlets.estimators.frac import FRAC, FRACOE
from clusterlets.estimators.inputs import InvalidInput
from clusterlets.estimators.method import MethodClustering
from clusterlets.estimators.penalties import VFC, FairKM
from clusterlets.estimators.repair import Repair, repair
from clusterlets.estimators.saved import SavedClustering
from clusterlets.estimators.scaff_tree import ScaffTree
from clusterlets.estimators.scorers import ClusterScorer, deviation_scorer, largest_deviation_scorer, price_scorer

__all__ = [
    "FRAC",
    "FRACOE",
    "VFC",
    "Antidote",
    "ClusterScorer",
    "ClusterletClustering",
    "Coreset",
    "FairFlow",
    "FairKM",
    "FairLP",
    "FairLimit",
    "FairLloyd",
    "Fairlets",
    "FairnessReport",
    "InvalidInput",
    "MethodClustering",
    "Repair",
    "SavedClustering",
    "ScaffTree",
    "TreeFairlets",
    "cluster_composition",
    "deviation_scorer",
    "fairness_report",
    "largest_deviation_scorer",
    "price_scorer",
    "repair",
]
