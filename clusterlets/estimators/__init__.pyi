from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal

import numpy as np

from clusterlets.errors import InvalidInput as InvalidInput
from clusterlets.estimators.clusterlet import ClusterletClustering as _ClusterletClustering
from clusterlets.estimators.method import AssigningMethod as _AssigningMethod
from clusterlets.estimators.method import MethodClustering as MethodClustering
from clusterlets.estimators.method import NamedMethod as _NamedMethod
from clusterlets.estimators.report import FairnessReport as FairnessReport
from clusterlets.estimators.report import cluster_composition as cluster_composition
from clusterlets.estimators.report import fairness_report as fairness_report
from clusterlets.estimators.saved import SavedClustering as SavedClustering
from clusterlets.estimators.scorers import ClusterScorer as ClusterScorer
from clusterlets.estimators.scorers import deviation_scorer as deviation_scorer
from clusterlets.estimators.scorers import largest_deviation_scorer as largest_deviation_scorer
from clusterlets.estimators.scorers import price_scorer as price_scorer
from clusterlets.methods.fair_limit import FairLimit as _FairLimit
from clusterlets.methods.frac import FRAC as _FRAC
from clusterlets.methods.scaff_tree import ScaffTree as _ScaffTree

NAMED: dict[str, type[_NamedMethod]]

class ClusterletClustering(_ClusterletClustering):
    """Fair clustering with clusterlets: k-means splits each group into clusterlets, and a matcher joins these into clusters.

    Parameters
    ----------
    n_clusterlets : int, default=10
        Number of clusterlets of each group (k in the paper), at least 1. A group with fewer distinct rows gets fewer.
        The matcher decides how many clusters there are: ``n_clusters_``. Ignored if ``n_clusters`` is given.
    n_clusters : int or None, default=None
        Number of clusters. If it is given, ``n_clusterlets`` from 2 to twice this number and ``hops`` from 1 to 4 are
        tried, and the result with the closest number of clusters is kept. Ties go to the smallest maximum deviation,
        then to the fewest clusterlets, then to the fewest hops. A fit with ``n_clusterlets_`` and ``hops_`` in place
        of it gives the same result.
    matcher : str, default="G-B"
        Greedy balance (G-B), greedy distance (G-D) and the sampled centroid matcher (C) make disjoint clusters. With
        the distance and balance pinballs (D, B), an instance may be in several clusters.
    hops : int, default=4
        B, D: Sweeps through the groups. G-B, G-D: Maximum number of clusterlets that join another. Ignored by the
        other matchers.
    scope : {"last", "cluster", "published"} or None, default=None
        B, D, G-B, G-D: What a candidate is compared with: the clusterlet that was added last, or the whole cluster so
        far. The value published follows the authors' code, even where that departs from the paper. None is the
        matcher's own default: 'last' of B, 'last' of D, 'cluster' of G-B, 'cluster' of G-D. Ignored by the other
        matchers.
    omega : float, default=0.5
        C: Weight of the silhouette against the largest deviation. Ignored by the other matchers.
    equation : {"corrected", "printed"}, default="corrected"
        C: The objective with the paper's misprint corrected, or as it is printed. Ignored by the other matchers.
    sample_size : int, default=250000
        C: Number of random partitions to draw. Ignored by the other matchers.
    random_state : int or Generator or RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None a different one.

    Attributes
    ----------
    labels_ : int array (n,)
        Cluster of each instance; for an instance in several clusters, the one with the nearest centre, or the first of
        equally near ones. So a cluster may be missing from the labels.
    memberships_ : scipy.sparse.csr_array (n, n_clusters_), bool
        Whether each instance is in each cluster; one entry per row if clusters are disjoint.
    n_clusters_ : int
        Number of clusters; none is empty.
    cluster_centers_ : float array (n_clusters_, d)
        Mean of each cluster; for FRAC with output ``"nearest"``, the centres to which the instances were assigned.
    inertia_ : float
        Sum of squared distances of the instances to the centre of the cluster that ``labels_`` names.
    sensitive_classes_ : array (K,) or (K, S)
        Value of each group, or its combination of values, in the order of the group codes.
    sensitive_names_ : list
        Names of the sensitive columns: those of a DataFrame, or else their numbers from 0.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only after a fit on a DataFrame.
    n_clusterlets_ : int
        Number of clusterlets of each group: as given, or as chosen for ``n_clusters``.
    hops_ : int
        Number of hops: as given, or as chosen for ``n_clusters``.
    clusterlets_ : Clusterlets
        The N clusterlets, and which of them each instance is in.
    matching_ : bool array (n_clusters_, N)
        Whether each cluster contains each clusterlet.

    Notes
    -----
    Source: Setzu and Guidotti, "Fair Clustering with Clusterlets". A round of k-means with k clusterlets takes O(n k d) time.
    The matcher's time does not depend on n. If ``n_clusters`` is given, up to 2 ``n_clusters`` - 1 numbers of clusterlets are
    tried, each with up to four numbers of hops. This search is not in the paper.

    Examples
    --------
    >>> from clusterlets.estimators import ClusterletClustering
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> fitted = ClusterletClustering(2, matcher="D", hops=1, random_state=0).fit(X, sensitive_features=sex)
    >>> fitted.n_clusters_, fitted.memberships_.sum(axis=0).tolist()
    (2, [2, 2])
    """

    def __init__(
        self,
        n_clusterlets: int = 10,
        *,
        n_clusters: int | None = None,
        matcher: str = "G-B",
        hops: int = 4,
        scope: Literal["last", "cluster", "published"] | None = None,
        omega: float = 0.5,
        equation: Literal["corrected", "printed"] = "corrected",
        sample_size: int = 250000,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None: ...

class Antidote(_NamedMethod):
    """Plain k-means with a few added points, which a random search places to make the clusters fair.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    rho : float, default=0.05
        Added points, as a fraction of the rows. A number above 0, at most 1.
    n_evaluations : int, default=300
        Number of positions to try for the added points; each costs a run of k-means. A whole number from 1 to
        1,000,000.
    random_state : int or Generator or RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None a different one.

    Attributes
    ----------
    labels_ : int array (n,)
        Cluster of each instance; for an instance in several clusters, the one with the nearest centre, or the first of
        equally near ones. So a cluster may be missing from the labels.
    memberships_ : scipy.sparse.csr_array (n, n_clusters_), bool
        Whether each instance is in each cluster; one entry per row if clusters are disjoint.
    n_clusters_ : int
        Number of clusters; none is empty.
    cluster_centers_ : float array (n_clusters_, d)
        Mean of each cluster; for FRAC with output ``"nearest"``, the centres to which the instances were assigned.
    inertia_ : float
        Sum of squared distances of the instances to the centre of the cluster that ``labels_`` names.
    sensitive_classes_ : array (K,) or (K, S)
        Value of each group, or its combination of values, in the order of the group codes.
    sensitive_names_ : list
        Names of the sensitive columns: those of a DataFrame, or else their numbers from 0.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only after a fit on a DataFrame.

    Notes
    -----
    Chhabra, Singla and Mohapatra, Fair clustering using antidote data, AFCR 2021.
    See :func:`clusterlets.algorithms.antidote.antidote`. The search runs k-means hundreds of times, so it is limited to
    2,000 rows. The method promises no fairness: if the groups are far apart, a few points change little.

    Examples
    --------
    >>> from clusterlets.estimators import Antidote
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> Antidote(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        rho: float = 0.05,
        n_evaluations: int = 300,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None: ...

class Coreset(_AssigningMethod):
    """Fair k-means on a small weighted sample of each group, then a fair assignment of all instances to the sample's centres.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    delta : float, default=0.0
        Unfairness allowed: a group with share r of the table has from r (1 - delta) to r / (1 - delta) of every
        cluster, up to whole instances. A number from 0 to 0.999.
    size : int or {"auto"}, default="auto"
        Rows that the sample should have; auto is 40 for each cluster, and at least 2,000. A whole number from 1 to
        1,000,000,000 or auto.
    n_init : int, default=1
        Number of starts on the sample. A whole number from 1 to 10,000.
    min_cluster_size : int, default=1
        Smallest number of rows in a cluster. With delta = 0 and 1 / L here, rounded up, no share differs from the
        table's by more than L. A whole number from 1 to 1,000,000,000.
    max_deviation : float or None, default=None
        In place of delta: largest difference between a group's share in a cluster and in the table, up to whole
        instances. A number from 0 to 1 or null.
    random_state : int or Generator or RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None a different one.

    Attributes
    ----------
    labels_ : int array (n,)
        Cluster of each instance; for an instance in several clusters, the one with the nearest centre, or the first of
        equally near ones. So a cluster may be missing from the labels.
    memberships_ : scipy.sparse.csr_array (n, n_clusters_), bool
        Whether each instance is in each cluster; one entry per row if clusters are disjoint.
    n_clusters_ : int
        Number of clusters; none is empty.
    cluster_centers_ : float array (n_clusters_, d)
        Mean of each cluster; for FRAC with output ``"nearest"``, the centres to which the instances were assigned.
    inertia_ : float
        Sum of squared distances of the instances to the centre of the cluster that ``labels_`` names.
    sensitive_classes_ : array (K,) or (K, S)
        Value of each group, or its combination of values, in the order of the group codes.
    sensitive_names_ : list
        Names of the sensitive columns: those of a DataFrame, or else their numbers from 0.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only after a fit on a DataFrame.

    Notes
    -----
    After Schmidt, Schwiegelshohn and Sohler, 2018, and Huang, Jiang and Vishnoi, NeurIPS 2019.
    See :mod:`clusterlets.algorithms.coreset`.

    Examples
    --------
    >>> from clusterlets.estimators import Coreset
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> Coreset(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        delta: float = 0.0,
        size: int | Literal["auto"] = "auto",
        n_init: int = 1,
        min_cluster_size: int = 1,
        max_deviation: float | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None: ...

class FRAC(_FRAC.Estimator, _AssigningMethod):
    """k-means whose clusters take turns picking instances, so that each gets its part of every group.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    tau : float or Fraction or str or Sequence[float or Fraction] or {"balanced"}, default="balanced"
        Least fraction of each group that every cluster must hold, at most 1 / n_clusters. The value balanced means 1
        / n_clusters, and 0.95x means 0.95 / n_clusters. A number from 0 to 1, a multiple of 1/n_clusters such as
        0.95x or balanced.
    init : {"random", "k-means++"}, default="random"
        First centres.
    max_iter : int, default=100
        Maximum number of rounds. A whole number from 1 to 1,000,000.
    tol : float, default=0.0001
        Relative change of the cost at which the rounds end. A number from 0 to 1.
    output : {"fair", "nearest"}, default="fair"
        Which of its clusterings to keep.
    random_state : int or Generator or RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None a different one.

    Attributes
    ----------
    labels_ : int array (n,)
        Cluster of each instance; for an instance in several clusters, the one with the nearest centre, or the first of
        equally near ones. So a cluster may be missing from the labels.
    memberships_ : scipy.sparse.csr_array (n, n_clusters_), bool
        Whether each instance is in each cluster; one entry per row if clusters are disjoint.
    n_clusters_ : int
        Number of clusters; none is empty.
    cluster_centers_ : float array (n_clusters_, d)
        Mean of each cluster; for FRAC with output ``"nearest"``, the centres to which the instances were assigned.
    inertia_ : float
        Sum of squared distances of the instances to the centre of the cluster that ``labels_`` names.
    sensitive_classes_ : array (K,) or (K, S)
        Value of each group, or its combination of values, in the order of the group codes.
    sensitive_names_ : list
        Names of the sensitive columns: those of a DataFrame, or else their numbers from 0.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only after a fit on a DataFrame.
    n_iter_ : int
        Number of rounds that were run.

    Notes
    -----
    Gupta, Ghalme, Krishnan and Jain, Efficient algorithms for fair clustering, DMKD 2023.
    See :func:`clusterlets.algorithms.frac.frac`. The output ``fair`` is the algorithm's fair assignment. The output ``nearest``
    assigns every instance to the nearest centre and is not fair. The Clusterlets paper scored ``nearest``.

    Examples
    --------
    >>> from clusterlets.estimators import FRAC
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> FRAC(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        tau: float | Fraction | str | Sequence[float | Fraction] | Literal["balanced"] = "balanced",
        init: Literal["random", "k-means++"] = "random",
        max_iter: int = 100,
        tol: float = 0.0001,
        output: Literal["fair", "nearest"] = "fair",
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None: ...

class FRACOE(_FRAC.Estimator, _AssigningMethod):
    """Plain k-means, and one fair assignment of FRAC at the end.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    tau : float or Fraction or str or Sequence[float or Fraction] or {"balanced"}, default="balanced"
        Least fraction of each group that every cluster must hold, at most 1 / n_clusters. The value balanced means 1
        / n_clusters, and 0.95x means 0.95 / n_clusters. A number from 0 to 1, a multiple of 1/n_clusters such as
        0.95x or balanced.
    output : {"fair", "nearest"}, default="fair"
        Which of its clusterings to keep.
    random_state : int or Generator or RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None a different one.

    Attributes
    ----------
    labels_ : int array (n,)
        Cluster of each instance; for an instance in several clusters, the one with the nearest centre, or the first of
        equally near ones. So a cluster may be missing from the labels.
    memberships_ : scipy.sparse.csr_array (n, n_clusters_), bool
        Whether each instance is in each cluster; one entry per row if clusters are disjoint.
    n_clusters_ : int
        Number of clusters; none is empty.
    cluster_centers_ : float array (n_clusters_, d)
        Mean of each cluster; for FRAC with output ``"nearest"``, the centres to which the instances were assigned.
    inertia_ : float
        Sum of squared distances of the instances to the centre of the cluster that ``labels_`` names.
    sensitive_classes_ : array (K,) or (K, S)
        Value of each group, or its combination of values, in the order of the group codes.
    sensitive_names_ : list
        Names of the sensitive columns: those of a DataFrame, or else their numbers from 0.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only after a fit on a DataFrame.
    n_iter_ : int
        Number of rounds that were run.

    Notes
    -----
    Gupta, Ghalme, Krishnan and Jain, Efficient algorithms for fair clustering, DMKD 2023.
    See :func:`clusterlets.algorithms.frac.frac_oe`. Outputs, guarantee and ``tau`` are those of FRAC.

    Examples
    --------
    >>> from clusterlets.estimators import FRACOE
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> FRACOE(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        tau: float | Fraction | str | Sequence[float | Fraction] | Literal["balanced"] = "balanced",
        output: Literal["fair", "nearest"] = "fair",
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None: ...

class FairFlow(_AssigningMethod):
    """k-means whose rounds assign the instances as cheaply as bounds on the shares of the groups allow.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    delta : float, default=0.0
        Unfairness allowed: a group with share r of the table has from r (1 - delta) to r / (1 - delta) of every
        cluster, up to whole instances. A number from 0 to 0.999.
    n_init : int, default=4
        Number of starts. After a few rounds, only the best one continues. A whole number from 1 to 10,000.
    max_iter : int, default=100
        Maximum number of rounds on all instances. A whole number from 1 to 1,000,000.
    tol : float, default=0.0001
        A round that lowers the sum of squared errors by less than this fraction counts as idle. The fit ends after
        three idle rounds. A number from 0 to 1.
    balance : float or None, default=None
        In place of delta, for two groups: in every cluster, the least ratio of the rarer group's instances to the
        other's, up to whole instances. At most the ratio in the table. A number from 0 to 1 or null.
    min_cluster_size : int, default=1
        Smallest number of rows in a cluster. With delta = 0 and 1 / L here, rounded up, no share differs from the
        table's by more than L. A whole number from 1 to 1,000,000,000.
    max_deviation : float or None, default=None
        In place of delta: largest difference between a group's share in a cluster and in the table, up to whole
        instances. A number from 0 to 1 or null.
    random_state : int or Generator or RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None a different one.

    Attributes
    ----------
    labels_ : int array (n,)
        Cluster of each instance; for an instance in several clusters, the one with the nearest centre, or the first of
        equally near ones. So a cluster may be missing from the labels.
    memberships_ : scipy.sparse.csr_array (n, n_clusters_), bool
        Whether each instance is in each cluster; one entry per row if clusters are disjoint.
    n_clusters_ : int
        Number of clusters; none is empty.
    cluster_centers_ : float array (n_clusters_, d)
        Mean of each cluster; for FRAC with output ``"nearest"``, the centres to which the instances were assigned.
    inertia_ : float
        Sum of squared distances of the instances to the centre of the cluster that ``labels_`` names.
    sensitive_classes_ : array (K,) or (K, S)
        Value of each group, or its combination of values, in the order of the group codes.
    sensitive_names_ : list
        Names of the sensitive columns: those of a DataFrame, or else their numbers from 0.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only after a fit on a DataFrame.

    Notes
    -----
    After Boehm, Fazzone, Leonardi and Schwiegelshohn, arXiv 2002.07892, and MS-FlowFC, arXiv 2605.13759.
    See :func:`clusterlets.algorithms.fair_flow.fair_flow`.

    Examples
    --------
    >>> from clusterlets.estimators import FairFlow
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> FairFlow(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        delta: float = 0.0,
        n_init: int = 4,
        max_iter: int = 100,
        tol: float = 0.0001,
        balance: float | None = None,
        min_cluster_size: int = 1,
        max_deviation: float | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None: ...

class FairKM(_NamedMethod):
    """k-means with a penalty on the distance between the groups' shares in a cluster and in the table.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    penalty : float or {"authors"}, default=1
        Weight of the penalty, as a fraction of the sum of squared errors of plain k-means. The value authors means
        the published weight, (n / n_clusters)^2. A number from 0 to 1,000,000,000 or authors.
    max_iter : int, default=300
        Maximum number of passes over the instances. A whole number from 1 to 1,000,000.
    random_state : int or Generator or RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None a different one.

    Attributes
    ----------
    labels_ : int array (n,)
        Cluster of each instance; for an instance in several clusters, the one with the nearest centre, or the first of
        equally near ones. So a cluster may be missing from the labels.
    memberships_ : scipy.sparse.csr_array (n, n_clusters_), bool
        Whether each instance is in each cluster; one entry per row if clusters are disjoint.
    n_clusters_ : int
        Number of clusters; none is empty.
    cluster_centers_ : float array (n_clusters_, d)
        Mean of each cluster; for FRAC with output ``"nearest"``, the centres to which the instances were assigned.
    inertia_ : float
        Sum of squared distances of the instances to the centre of the cluster that ``labels_`` names.
    sensitive_classes_ : array (K,) or (K, S)
        Value of each group, or its combination of values, in the order of the group codes.
    sensitive_names_ : list
        Names of the sensitive columns: those of a DataFrame, or else their numbers from 0.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only after a fit on a DataFrame.

    Notes
    -----
    Abraham, Deepak and Sundaram, Fairness in clustering with multiple sensitive attributes, EDBT 2020.
    See :func:`clusterlets.algorithms.fairkm.fairkm`. A run that reaches ``max_iter`` passes returns its clusters without a
    warning, as the authors' code does.

    Examples
    --------
    >>> from clusterlets.estimators import FairKM
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> FairKM(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        penalty: float | Literal["authors"] = 1,
        max_iter: int = 300,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None: ...

class FairLP(_AssigningMethod):
    """The cheapest assignment to the centres of plain k-means within bounds on the shares of the groups.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    delta : float, default=0.0
        Unfairness allowed: a group with share r of the table has from r (1 - delta) to r / (1 - delta) of every
        cluster, up to whole instances. A number from 0 to 0.999.
    min_cluster_size : int, default=1
        Smallest number of rows in a cluster. With delta = 0 and 1 / L here, rounded up, no share differs from the
        table's by more than L. A whole number from 1 to 1,000,000,000.
    max_deviation : float or None, default=None
        In place of delta: largest difference between a group's share in a cluster and in the table, up to whole
        instances. A number from 0 to 1 or null.
    random_state : int or Generator or RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None a different one.

    Attributes
    ----------
    labels_ : int array (n,)
        Cluster of each instance; for an instance in several clusters, the one with the nearest centre, or the first of
        equally near ones. So a cluster may be missing from the labels.
    memberships_ : scipy.sparse.csr_array (n, n_clusters_), bool
        Whether each instance is in each cluster; one entry per row if clusters are disjoint.
    n_clusters_ : int
        Number of clusters; none is empty.
    cluster_centers_ : float array (n_clusters_, d)
        Mean of each cluster; for FRAC with output ``"nearest"``, the centres to which the instances were assigned.
    inertia_ : float
        Sum of squared distances of the instances to the centre of the cluster that ``labels_`` names.
    sensitive_classes_ : array (K,) or (K, S)
        Value of each group, or its combination of values, in the order of the group codes.
    sensitive_names_ : list
        Names of the sensitive columns: those of a DataFrame, or else their numbers from 0.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only after a fit on a DataFrame.

    Notes
    -----
    Bera, Chakrabarty, Flores and Negahbani, Fair algorithms for clustering, NeurIPS 2019.
    The method of Bera and others solves a linear program and rounds its solution. Here the program is solved by its dual, and
    no rounded count misses its bound by a whole instance. See :mod:`clusterlets.algorithms.limit_assignment`.

    Examples
    --------
    >>> from clusterlets.estimators import FairLP
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> FairLP(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        delta: float = 0.0,
        min_cluster_size: int = 1,
        max_deviation: float | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None: ...

class FairLimit(_FairLimit.Estimator, _AssigningMethod):
    """k-means in which every group's share in a cluster differs from its share in the table by at most a limit.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    max_deviation : float or str or Fraction or Mapping[str, float or str or Fraction] or None, default=None
        Largest difference between a group's share in a cluster and in the table. Without any bound, it is 0.02. A
        number from 0 to 1, or a mapping with one for each sensitive column or null.
    min_cluster_size : int, default=1
        Smallest number of rows in a cluster. A whole number from 1 to 1,000,000,000.
    n_init : int, default=4
        Number of starts; each also tries a few other centres. A whole number from 1 to 10,000.
    shares : Mapping[str, object] or None, default=None
        In place of max_deviation: least and largest share of groups in every cluster, such as {"f": [0.3, 0.6]}; with
        several sensitive columns, a mapping of columns to such mappings. A mapping of groups to pairs of a least and
        a largest share from 0 to 1 or null.
    min_ratio : float or str or Fraction or Mapping[str, float or str or Fraction] or None, default=None
        In place of max_deviation: in every cluster, the ratio of any two groups' counts is at least this fraction of
        their ratio in the table; 0.8 is the four-fifths rule. A number from 0 to 1, or a mapping with one for each
        sensitive column or null.
    max_seconds : float or None, default=None
        Time after which the search ends with the best labels so far. Results then depend on the machine. A number
        from 0 to 1,000,000 or null.
    verbose : int, default=0
        1 prints the progress. A whole number from 0 to 1.
    random_state : int or Generator or RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None a different one.

    Attributes
    ----------
    labels_ : int array (n,)
        Cluster of each instance; for an instance in several clusters, the one with the nearest centre, or the first of
        equally near ones. So a cluster may be missing from the labels.
    memberships_ : scipy.sparse.csr_array (n, n_clusters_), bool
        Whether each instance is in each cluster; one entry per row if clusters are disjoint.
    n_clusters_ : int
        Number of clusters; none is empty.
    cluster_centers_ : float array (n_clusters_, d)
        Mean of each cluster; for FRAC with output ``"nearest"``, the centres to which the instances were assigned.
    inertia_ : float
        Sum of squared distances of the instances to the centre of the cluster that ``labels_`` names.
    sensitive_classes_ : array (K,) or (K, S)
        Value of each group, or its combination of values, in the order of the group codes.
    sensitive_names_ : list
        Names of the sensitive columns: those of a DataFrame, or else their numbers from 0.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only after a fit on a DataFrame.
    deviation_ : float
        Largest difference between a group's share in a cluster and in the table, over all sensitive columns.
    sizes_ : int array (n_clusters_,)
        Rows of each cluster.
    assignment_gap_ : float
        Bound on how much more the last assignment costs than the cheapest one to the same centres within the limits, as a
        fraction of the cheapest cost.
    n_iter_ : int
        Rounds on the whole table.

    Notes
    -----
    This project; fair assignments in Lloyd's rounds: Boehm, Fazzone, Leonardi and Schwiegelshohn, arXiv
    2002.07892.
    Limits hold exactly: they are checked with whole numbers, and a float means its shortest decimal, so 0.03 is 3/100. With
    several sensitive columns, the shares of each column are limited. The fit raises an error if it finds no such clusters. Its
    status is ``infeasible`` if there provably are none, otherwise ``not_converged``. See
    :func:`clusterlets.algorithms.fair_limit.fair_limit`.

    Examples
    --------
    >>> from clusterlets.estimators import FairLimit
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> FairLimit(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        max_deviation: float | str | Fraction | Mapping[str, float | str | Fraction] | None = None,
        min_cluster_size: int = 1,
        n_init: int = 4,
        shares: Mapping[str, object] | None = None,
        min_ratio: float | str | Fraction | Mapping[str, float | str | Fraction] | None = None,
        max_seconds: float | None = None,
        verbose: int = 0,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None: ...

class FairLloyd(_NamedMethod):
    """k-means that lowers the largest mean squared error of a group.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    max_iter : int, default=100
        Maximum number of rounds. A whole number from 1 to 1,000,000.
    tol : float, default=1e-06
        A round that lowers the largest error by less than this fraction of it is the last. A number from 0 to 1.
    random_state : int or Generator or RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None a different one.

    Attributes
    ----------
    labels_ : int array (n,)
        Cluster of each instance; for an instance in several clusters, the one with the nearest centre, or the first of
        equally near ones. So a cluster may be missing from the labels.
    memberships_ : scipy.sparse.csr_array (n, n_clusters_), bool
        Whether each instance is in each cluster; one entry per row if clusters are disjoint.
    n_clusters_ : int
        Number of clusters; none is empty.
    cluster_centers_ : float array (n_clusters_, d)
        Mean of each cluster; for FRAC with output ``"nearest"``, the centres to which the instances were assigned.
    inertia_ : float
        Sum of squared distances of the instances to the centre of the cluster that ``labels_`` names.
    sensitive_classes_ : array (K,) or (K, S)
        Value of each group, or its combination of values, in the order of the group codes.
    sensitive_names_ : list
        Names of the sensitive columns: those of a DataFrame, or else their numbers from 0.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only after a fit on a DataFrame.

    Notes
    -----
    Ghadiri, Samadi and Vempala, Socially fair k-means clustering, FAccT 2021.
    It does not constrain the groups' shares. Every instance is in the cluster of the nearest centre, which need not be the mean
    of that cluster. See :func:`clusterlets.algorithms.fair_lloyd.fair_lloyd`.

    Examples
    --------
    >>> from clusterlets.estimators import FairLloyd
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> FairLloyd(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        max_iter: int = 100,
        tol: float = 1e-06,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None: ...

class Fairlets(_NamedMethod):
    """The cheapest small sets of instances with the balance of the table, and k-means of their means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    n_init : int, default=1
        Number of runs of k-means; the best one counts. A whole number from 1 to 1,000.
    random_state : int or Generator or RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None a different one.

    Attributes
    ----------
    labels_ : int array (n,)
        Cluster of each instance; for an instance in several clusters, the one with the nearest centre, or the first of
        equally near ones. So a cluster may be missing from the labels.
    memberships_ : scipy.sparse.csr_array (n, n_clusters_), bool
        Whether each instance is in each cluster; one entry per row if clusters are disjoint.
    n_clusters_ : int
        Number of clusters; none is empty.
    cluster_centers_ : float array (n_clusters_, d)
        Mean of each cluster; for FRAC with output ``"nearest"``, the centres to which the instances were assigned.
    inertia_ : float
        Sum of squared distances of the instances to the centre of the cluster that ``labels_`` names.
    sensitive_classes_ : array (K,) or (K, S)
        Value of each group, or its combination of values, in the order of the group codes.
    sensitive_names_ : list
        Names of the sensitive columns: those of a DataFrame, or else their numbers from 0.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only after a fit on a DataFrame.

    Notes
    -----
    Chierichetti, Kumar, Lattanzi and Vassilvitskii, Fair clustering through fairlets, NeurIPS 2017.
    See :func:`clusterlets.algorithms.fairlets.fairlet_decomposition`. Only the k-means that follows is random. So all seeds of
    a block share the fairlets, and the first fit takes nearly all the time. There are at most as many clusters as instances of
    the rarer group.

    Examples
    --------
    >>> from clusterlets.estimators import Fairlets
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> Fairlets(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 1,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None: ...

class ScaffTree(_ScaffTree.Estimator, _NamedMethod):
    """A tree whose leaves are the clusters: it learns the labels of k-means by splits that do not separate the groups.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    theta : float, default=0.5
        Weight of the groups in the choice of splits. At 0, only the labels of k-means count. A number from 0 to 1.
    random_state : int or Generator or RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None a different one.

    Attributes
    ----------
    labels_ : int array (n,)
        Cluster of each instance; for an instance in several clusters, the one with the nearest centre, or the first of
        equally near ones. So a cluster may be missing from the labels.
    memberships_ : scipy.sparse.csr_array (n, n_clusters_), bool
        Whether each instance is in each cluster; one entry per row if clusters are disjoint.
    n_clusters_ : int
        Number of clusters; none is empty.
    cluster_centers_ : float array (n_clusters_, d)
        Mean of each cluster; for FRAC with output ``"nearest"``, the centres to which the instances were assigned.
    inertia_ : float
        Sum of squared distances of the instances to the centre of the cluster that ``labels_`` names.
    sensitive_classes_ : array (K,) or (K, S)
        Value of each group, or its combination of values, in the order of the group codes.
    sensitive_names_ : list
        Names of the sensitive columns: those of a DataFrame, or else their numbers from 0.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only after a fit on a DataFrame.
    tree_ : Nodes
        The tree as arrays over its m nodes, with scikit-learn's names: ``children_left``, ``children_right`` and
        ``feature`` (each -1 for a leaf), and ``threshold`` (NaN for a leaf; instances with at most this value of the
        feature go left). The array ``cluster`` has the label of each leaf's instances (-1 for the other nodes).

    Notes
    -----
    Pereira Barata, Takes, van den Herik and Veenman, Fair tree classifier using strong demographic parity,
    Machine Learning 2023.
    See :func:`clusterlets.algorithms.scaff_tree.scaff_tree`. The splits are those of SCAFF, a classifier; its use for
    clustering is our own adaptation. The estimator's ``predict`` assigns each instance to the nearest of
    ``cluster_centers_`` and does not use the tree.

    Examples
    --------
    >>> from clusterlets.estimators import ScaffTree
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> ScaffTree(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        theta: float = 0.5,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None: ...

class TreeFairlets(_NamedMethod):
    """Small sets of instances with at least a given balance, found by a random tree of boxes, and k-means of their means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    largest_q : int, default=20
        Largest denominator of the balance p/q. A small one gives small, compact sets and a lower balance. A whole
        number from 1 to 10,000.
    n_init : int, default=1
        Number of runs of k-means; the best one counts. A whole number from 1 to 1,000.
    random_state : int or Generator or RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None a different one.

    Attributes
    ----------
    labels_ : int array (n,)
        Cluster of each instance; for an instance in several clusters, the one with the nearest centre, or the first of
        equally near ones. So a cluster may be missing from the labels.
    memberships_ : scipy.sparse.csr_array (n, n_clusters_), bool
        Whether each instance is in each cluster; one entry per row if clusters are disjoint.
    n_clusters_ : int
        Number of clusters; none is empty.
    cluster_centers_ : float array (n_clusters_, d)
        Mean of each cluster; for FRAC with output ``"nearest"``, the centres to which the instances were assigned.
    inertia_ : float
        Sum of squared distances of the instances to the centre of the cluster that ``labels_`` names.
    sensitive_classes_ : array (K,) or (K, S)
        Value of each group, or its combination of values, in the order of the group codes.
    sensitive_names_ : list
        Names of the sensitive columns: those of a DataFrame, or else their numbers from 0.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only after a fit on a DataFrame.

    Notes
    -----
    Backurs, Indyk, Onak, Schieber, Vakilian and Wagner, Scalable fair clustering, ICML 2019.
    See :func:`clusterlets.algorithms.tree_fairlets.tree_fairlets`.

    Examples
    --------
    >>> from clusterlets.estimators import TreeFairlets
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> TreeFairlets(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        largest_q: int = 20,
        n_init: int = 1,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None: ...

class VFC(_NamedMethod):
    """Soft k-means with a penalty on the divergence of the groups' shares of a cluster from those of the table.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    fairness_weight : float, default=1
        Weight of the penalty, as a fraction of the sum of squared errors of plain k-means. A number from 0 to
        1,000,000,000.
    lipschitz : float, default=7
        Bound on the curvature in the first step; it grows if a step fails. A number from 1e-09 to 1,000,000,000.
    max_iter : int, default=100
        Maximum number of rounds. A whole number from 1 to 1,000,000.
    random_state : int or Generator or RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None a different one.

    Attributes
    ----------
    labels_ : int array (n,)
        Cluster of each instance; for an instance in several clusters, the one with the nearest centre, or the first of
        equally near ones. So a cluster may be missing from the labels.
    memberships_ : scipy.sparse.csr_array (n, n_clusters_), bool
        Whether each instance is in each cluster; one entry per row if clusters are disjoint.
    n_clusters_ : int
        Number of clusters; none is empty.
    cluster_centers_ : float array (n_clusters_, d)
        Mean of each cluster; for FRAC with output ``"nearest"``, the centres to which the instances were assigned.
    inertia_ : float
        Sum of squared distances of the instances to the centre of the cluster that ``labels_`` names.
    sensitive_classes_ : array (K,) or (K, S)
        Value of each group, or its combination of values, in the order of the group codes.
    sensitive_names_ : list
        Names of the sensitive columns: those of a DataFrame, or else their numbers from 0.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only after a fit on a DataFrame.

    Notes
    -----
    Ziko, Yuan, Granger and Ben Ayed, Variational fair clustering, AAAI 2021.
    See :func:`clusterlets.algorithms.vfc.vfc`. If a run does not converge, it returns its last labels. Then ``converged_`` is
    False, and ``note_`` says so.

    Examples
    --------
    >>> from clusterlets.estimators import VFC
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> VFC(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        fairness_weight: float = 1,
        lipschitz: float = 7,
        max_iter: int = 100,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None: ...
