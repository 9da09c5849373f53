"""Estimators of the rival methods, each named after its method, with the parameters of its ``fit``.

Their attributes are those of :class:`clusterlets.estimators.MethodClustering`, and a tree's nodes; the errors of ``fit`` too.
"""

from sklearn.utils.validation import check_is_fitted

from clusterlets import methods
from clusterlets.algorithms.scaff_tree import scaff_tree
from clusterlets.estimators.inputs import InvalidInput
from clusterlets.estimators.method import Rival


class FairFlow(Rival):
    """k-means whose rounds assign every instance within bounds on the shares of the groups.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters wanted, at most n.
    delta : float, default=0.0
        Unfairness allowed, from 0 to below 1: a group with share r of the table has from r (1 - delta) to r / (1 - delta) of
        every cluster, up to whole instances.
    n_init : int, default=4
        Starts, of which the best goes on after a few rounds.
    max_iter : int, default=100
        Most rounds on all instances.
    tol : float, default=1e-4
        Rounds that lower the sum of squared errors by less than this part of it count as idle; after three, the fit ends.
    balance : float or None, default=None
        In place of ``delta``, for two groups: in every cluster the rarer group has at least so many instances for each of the
        other, up to whole instances. At most the table's own balance.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None another one.

    Notes
    -----
    After Boehm et al. 2020 and MS-FlowFC 2026; see :mod:`clusterlets.algorithms.fair_flow`.

    Examples
    --------
    >>> from clusterlets.estimators import FairFlow
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> FairFlow(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    _method = "fair-flow"

    def __init__(self, n_clusters=8, *, delta=0.0, n_init=4, max_iter=100, tol=1e-4, balance=None, random_state=None):
        self.n_clusters = n_clusters
        self.delta = delta
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.balance = balance
        self.random_state = random_state


class FairLP(Rival):
    """The centres of plain k-means, and the cheapest assignment to them within bounds on the shares of the groups.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters wanted, at most n.
    delta : float, default=0.0
        Unfairness allowed, from 0 to below 1: a group with share r of the table has from r (1 - delta) to r / (1 - delta) of
        every cluster, up to whole instances.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None another one.

    Notes
    -----
    Bera et al. 2019; see :mod:`clusterlets.algorithms.fair_assignment`.

    Examples
    --------
    >>> from clusterlets.estimators import FairLP
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> FairLP(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    _method = "fair-lp"

    def __init__(self, n_clusters=8, *, delta=0.0, random_state=None):
        self.n_clusters = n_clusters
        self.delta = delta
        self.random_state = random_state


class Coreset(Rival):
    """Fair k-means on a small weighted sample of each group, whose centres then get all instances.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters wanted, at most n.
    delta : float, default=0.0
        Unfairness allowed, from 0 to below 1: a group with share r of the table has from r (1 - delta) to r / (1 - delta) of
        every cluster, up to whole instances.
    size : int or "auto", default="auto"
        Rows that the sample should have; ``"auto"`` is 40 ``n_clusters``, and 2,000 at least.
    n_init : int, default=1
        Starts on the sample.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None another one.

    Notes
    -----
    After Schmidt et al. 2018 and Huang et al. 2019; see :mod:`clusterlets.algorithms.coreset`.

    Examples
    --------
    >>> from clusterlets.estimators import Coreset
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> Coreset(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    _method = "coreset"

    def __init__(self, n_clusters=8, *, delta=0.0, size="auto", n_init=1, random_state=None):
        self.n_clusters = n_clusters
        self.delta = delta
        self.size = size
        self.n_init = n_init
        self.random_state = random_state


class Antidote(Rival):
    """Plain k-means with a few added points, which a random search places to make the clusters fair.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters wanted, at most n.
    rho : float, default=0.05
        Added points as a part of n, above 0 and at most 1.
    n_evaluations : int, default=300
        Positions of the added points that are tried; each costs a run of k-means.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None another one.

    Notes
    -----
    After Chhabra, Singla and Mohapatra 2021; see :mod:`clusterlets.algorithms.antidote`. At most 2,000 instances. Fairness is
    not promised: where the groups lie far apart, a few points change little.

    Examples
    --------
    >>> from clusterlets.estimators import Antidote
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> Antidote(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    _method = "antidote"

    def __init__(self, n_clusters=8, *, rho=0.05, n_evaluations=300, random_state=None):
        self.n_clusters = n_clusters
        self.rho = rho
        self.n_evaluations = n_evaluations
        self.random_state = random_state


class ScaffTree(Rival):
    """A tree whose leaves are the clusters: it learns the labels of plain k-means by splits that shun the groups.

    Parameters
    ----------
    n_clusters : int, default=8
        Leaves wanted, at most n.
    theta : float, default=0.5
        Weight of the groups, from 0, the labels of k-means alone, to 1.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None another one.

    Attributes
    ----------
    tree_ : Nodes
        The tree as arrays over its m nodes, named as scikit-learn names them: ``children_left``, ``children_right``,
        ``feature`` (-1 of a leaf, all three), ``threshold`` (NaN of a leaf; instances whose feature is at most this go left),
        and ``cluster``, the label of a leaf's instances (-1 of the other nodes).

    Notes
    -----
    Splits by SCAFF, of Pereira Barata et al. 2023, which itself classifies; see :mod:`clusterlets.algorithms.scaff_tree`.
    ``predict`` goes by the nearest of ``cluster_centers_``, as those of the other estimators, and not down the tree.

    Examples
    --------
    >>> from clusterlets.estimators import ScaffTree
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> fitted = ScaffTree(2, random_state=0).fit(X, sensitive_features=sex)
    >>> fitted.labels_.tolist(), fitted.tree_.cluster.tolist()
    ([0, 0, 1, 1], [-1, 0, 1])
    >>> print(fitted.export_text(["income"]), end="")
    |--- income <= 2.55
    |   |--- cluster: 0
    |--- income >  2.55
    |   |--- cluster: 1
    """

    _method = "scaff-tree"

    def __init__(self, n_clusters=8, *, theta=0.5, random_state=None):
        self.n_clusters = n_clusters
        self.theta = theta
        self.random_state = random_state

    def _cluster(self, X, groups, random_state):
        chosen = methods.get(self._method)
        given = self._given(chosen)
        self._check(chosen, given, X, groups)
        tree = scaff_tree(X, groups, self.n_clusters, random_state, **given)
        self.tree_ = tree.nodes()
        self._set(X, tree.labels)
        self._warn_of_fewer()

    def export_text(self, feature_names=None, decimals=2) -> str:
        """The tree as lines of text, indented by depth, as scikit-learn's ``export_text`` writes one.

        Parameters
        ----------
        feature_names : sequence of d str, optional
            By default those of the DataFrame that was fitted, else ``feature_0`` and so on.
        decimals : int
            Of the thresholds, from 0 on.

        Raises
        ------
        InvalidInput
            For another number of names, or decimals below 0.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None) if feature_names is None else feature_names
        if names is not None and len(names) != self.n_features_in_:
            raise InvalidInput(f"{len(names)} feature_names for {self.n_features_in_} features: give one name a feature.")
        if decimals < 0:
            raise InvalidInput(f"decimals={decimals!r} must be a whole number of 0 or more.")
        return self.tree_.text(names, decimals)


class Fairlets(Rival):
    """Small groups with the balance of the table, of the least cost in all, and k-means of their means.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters wanted, at most n.
    n_init : int, default=1
        Runs of k-means, of which the best counts.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None another one.

    Notes
    -----
    Chierichetti, Kumar, Lattanzi and Vassilvitskii 2017; see :mod:`clusterlets.algorithms.fairlets`. For two groups and at most
    50,000 instances; there are at most as many clusters as instances of the rarer group.

    Examples
    --------
    >>> from clusterlets.estimators import Fairlets
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> Fairlets(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    _method = "fairlets"

    def __init__(self, n_clusters=8, *, n_init=1, random_state=None):
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.random_state = random_state


class TreeFairlets(Rival):
    """Small groups of at least a balance, from a tree of the instances, and k-means of their means.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters wanted, at most n.
    largest_q : int, default=20
        Largest denominator of the balance, which is the largest such fraction that the table has. A small one gives
        small groups, near each other, and a lower balance.
    n_init : int, default=1
        Runs of k-means, of which the best counts.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None another one.

    Notes
    -----
    Backurs, Indyk, Onak, Schieber, Vakilian and Wagner 2019; see :mod:`clusterlets.algorithms.tree_fairlets`. For two groups.

    Examples
    --------
    >>> from clusterlets.estimators import TreeFairlets
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> TreeFairlets(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    _method = "tree-fairlets"

    def __init__(self, n_clusters=8, *, largest_q=20, n_init=1, random_state=None):
        self.n_clusters = n_clusters
        self.largest_q = largest_q
        self.n_init = n_init
        self.random_state = random_state


class FairKM(Rival):
    """k-means with a penalty on how far the groups' shares of a cluster lie from those of the table.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters wanted, at most n.
    penalty : float or "authors", default=1
        Weight of the penalty, as a part of the sum of squared errors of plain k-means; or the authors' own.
    max_iter : int, default=300
        Most passes over the instances.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None another one.

    Notes
    -----
    Abraham, Deepak and Sundaram 2020; see :mod:`clusterlets.algorithms.fairkm`.

    Examples
    --------
    >>> from clusterlets.estimators import FairKM
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> FairKM(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    _method = "fairkm"

    def __init__(self, n_clusters=8, *, penalty=1, max_iter=300, random_state=None):
        self.n_clusters = n_clusters
        self.penalty = penalty
        self.max_iter = max_iter
        self.random_state = random_state


class VFC(Rival):
    """Soft k-means with a penalty on the divergence of the groups' shares of a cluster from those of the table.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters wanted, at most n.
    fairness_weight : float, default=1
        Weight of the penalty, as a part of the sum of squared errors of plain k-means.
    lipschitz : float, default=7
        The first step's bound on the curvature; it grows where a step fails.
    max_iter : int, default=100
        Most rounds.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None another one.

    Notes
    -----
    Ziko, Yuan, Granger and Ben Ayed 2021; see :mod:`clusterlets.algorithms.vfc`. A run that does not settle raises
    `InvalidInput`.

    Examples
    --------
    >>> from clusterlets.estimators import VFC
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> VFC(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    _method = "vfc"

    def __init__(self, n_clusters=8, *, fairness_weight=1, lipschitz=7, max_iter=100, random_state=None):
        self.n_clusters = n_clusters
        self.fairness_weight = fairness_weight
        self.lipschitz = lipschitz
        self.max_iter = max_iter
        self.random_state = random_state


class FairLloyd(Rival):
    """k-means that lowers the largest mean squared error of a group; it says nothing of the groups' shares.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters wanted, at most n.
    max_iter : int, default=100
        Most rounds.
    tol : float, default=1e-6
        A round that lowers the largest error by less than this part of it is the last.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None another one.

    Notes
    -----
    Ghadiri, Samadi and Vempala 2021; see :mod:`clusterlets.algorithms.fair_lloyd`. Instances lie in the cluster of the nearest
    centre, which need not be its mean, as ``cluster_centers_`` are.

    Examples
    --------
    >>> from clusterlets.estimators import FairLloyd
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> FairLloyd(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    _method = "fair-lloyd"

    def __init__(self, n_clusters=8, *, max_iter=100, tol=1e-6, random_state=None):
        self.n_clusters = n_clusters
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
