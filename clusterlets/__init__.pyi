from clusterlets.errors import ClusterletsError as ClusterletsError
from clusterlets.estimators import FRAC as FRAC
from clusterlets.estimators import VFC as VFC
from clusterlets.estimators import Antidote as Antidote
from clusterlets.estimators import ClusterletClustering as ClusterletClustering
from clusterlets.estimators import ClusterScorer as ClusterScorer
from clusterlets.estimators import Coreset as Coreset
from clusterlets.estimators import FairFlow as FairFlow
from clusterlets.estimators import FairKM as FairKM
from clusterlets.estimators import Fairlets as Fairlets
from clusterlets.estimators import FairLloyd as FairLloyd
from clusterlets.estimators import FairLP as FairLP
from clusterlets.estimators import FairnessReport as FairnessReport
from clusterlets.estimators import InvalidInput as InvalidInput
from clusterlets.estimators import MethodClustering as MethodClustering
from clusterlets.estimators import ScaffTree as ScaffTree
from clusterlets.estimators import TreeFairlets as TreeFairlets
from clusterlets.estimators import cluster_composition as cluster_composition
from clusterlets.estimators import deviation_scorer as deviation_scorer
from clusterlets.estimators import fairness_report as fairness_report
from clusterlets.estimators import price_scorer as price_scorer
from clusterlets.estimators.plots import plot_composition as plot_composition
from clusterlets.estimators.plots import plot_projection as plot_projection
from clusterlets.estimators.plots import plot_tradeoff as plot_tradeoff
from clusterlets.tuning import Tuned as Tuned
from clusterlets.tuning import tune as tune

__version__: str
