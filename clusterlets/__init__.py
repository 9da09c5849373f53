"""Fair clustering: Clusterlets, FRAC and other methods as scikit-learn estimators, and scores of clusterings.

Importing the package loads no large library. The module that defines a name is loaded when the name is first used (PEP 562).
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "3.0.0"

# The public names, by the module that defines them.
_NAMES = {
    "clusterlets.errors": ("ClusterletsError", "InvalidInput"),
    "clusterlets.estimators": (
        *("ClusterletClustering", "MethodClustering", "FairLimit", "FRAC", "FRACOE", "FairLP", "FairFlow", "Coreset"),
        *("Fairlets", "TreeFairlets", "FairKM", "VFC", "FairLloyd", "Antidote", "ScaffTree", "SavedClustering"),
        *("FairnessReport", "fairness_report", "cluster_composition", "Repair", "repair"),
        *("ClusterScorer", "deviation_scorer", "largest_deviation_scorer", "price_scorer"),
    ),
    "clusterlets.estimators.plots": ("plot_composition", "plot_projection", "plot_tradeoff"),
    "clusterlets.tuning": ("Tuned", "tune"),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = list(_HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if TYPE_CHECKING:  # what type checkers and editors see of the names above
    from clusterlets.errors import ClusterletsError as ClusterletsError
    from clusterlets.estimators import *  # noqa: F403
    from clusterlets.estimators.plots import plot_composition as plot_composition
    from clusterlets.estimators.plots import plot_projection as plot_projection
    from clusterlets.estimators.plots import plot_tradeoff as plot_tradeoff
    from clusterlets.tuning import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(_HOMES[name]), name)
