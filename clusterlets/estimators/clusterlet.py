"""Clusterlets and their matchers as an estimator."""

import warnings
from collections.abc import Collection
from copy import deepcopy
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from clusterlets import methods
from clusterlets.algorithms.extraction import extract_clusterlets
from clusterlets.algorithms.instance_labels import cluster_centres, labels_of_pieces
from clusterlets.algorithms.kmeans import nearest_centres
from clusterlets.estimators.base import FairClusterer, RandomState
from clusterlets.estimators.inputs import InvalidInput, as_python, check_whole
from clusterlets.methods.interface.registry import by_parameter
from clusterlets.metrics.composition import deviation_per_cluster

# The matchers that have each parameter, by the parameter's name.
_MATCHERS_BY_PARAMETER = by_parameter(methods.get(name) for name in methods.matchers())
_SEARCHED_PARAMETERS = ("n_clusterlets", "hops")  # a search for a number of clusters chooses these
_HOPS_TRIED = (1, 2, 3, 4)  # numbers of hops that this search tries, the paper's


class ClusterletClustering(FairClusterer):
    """Fair clustering with clusterlets: k-means splits each group into clusterlets, and a matcher joins these into clusters.

    Source: Setzu and Guidotti, "Fair Clustering with Clusterlets". A round of k-means with k clusterlets takes O(n k d) time.
    The matcher's time does not depend on n. If ``n_clusters`` is given, up to 2 ``n_clusters`` - 1 numbers of clusterlets are
    tried, each with up to four numbers of hops. This search is not in the paper.

    Parameters
    ----------
    n_clusterlets : int, default=10
        Number of clusterlets of each group (k in the paper), at least 1. A group with fewer distinct rows gets fewer. The
        matcher decides how many clusters there are: ``n_clusters_``. Ignored if ``n_clusters`` is given.
    n_clusters : int or None, default=None
        Number of clusters. If it is given, ``n_clusterlets`` from 2 to twice this number and ``hops`` from 1 to 4 are tried,
        and the result with the closest number of clusters is kept. Ties go to the smallest maximum deviation, then to the
        fewest clusterlets, then to the fewest hops. A fit with ``n_clusterlets_`` and ``hops_`` in place of it gives the same
        result.
    matcher : {"B", "C", "D", "G-B", "G-D"}, default="G-B"
        Greedy balance (G-B), greedy distance (G-D) and the sampled centroid matcher (C) make disjoint clusters. With the
        distance and balance pinballs (D, B), an instance may be in several clusters.
    hops : int, default=4
        Of B and D: sweeps through the groups. Of G-B and G-D: maximum number of clusterlets that join another.
    scope : {"last", "cluster", "published"} or None, default=None
        Of all matchers but C: what a candidate is compared with, the clusterlet that was added last, or the whole cluster so
        far. The value published follows the authors' code, even where that departs from the paper. None is last for B and D,
        and cluster for G-B and G-D.
    omega : float, default=0.5
        Of C: weight of the silhouette against the largest deviation.
    equation : {"corrected", "printed"}, default="corrected"
        Of C: the objective with the paper's misprint corrected, or as it is printed.
    sample_size : int, default=250000
        Of C: number of random partitions to draw.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit.

    Attributes
    ----------
    labels_, memberships_, n_clusters_, cluster_centers_, inertia_, sensitive_classes_, sensitive_names_
        See :class:`~clusterlets.estimators.base.FairClusterer`.
    n_clusterlets_ : int
        Number of clusterlets of each group: as given, or as chosen for ``n_clusters``.
    hops_ : int
        Number of hops: as given, or as chosen for ``n_clusters``.
    clusterlets_ : Clusterlets
        The N clusterlets, and which of them each instance is in.
    matching_ : bool array (n_clusters_, N)
        Whether each cluster contains each clusterlet.

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
        sample_size: int = 250_000,
        random_state: RandomState = None,
    ):
        self.n_clusterlets = n_clusterlets
        self.n_clusters = n_clusters
        self.matcher = matcher
        self.hops = hops
        self.scope = scope
        self.omega = omega
        self.equation = equation
        self.sample_size = sample_size
        self.random_state = random_state

    def _check_parameters(self):
        check_whole("n_clusterlets", self.n_clusterlets, 1)
        if self.n_clusters is not None:
            check_whole("n_clusters", self.n_clusters, 1)
        faults = [methods.Choice(methods.matchers()).fault("matcher", self.matcher)]
        for name, matchers in _MATCHERS_BY_PARAMETER.items():
            value = getattr(self, name)
            if value is not None:  # None stands for the matcher's own default
                matcher = next((matcher for matcher in matchers if matcher.name == self.matcher), matchers[0])
                faults.append(matcher.parameters[name].fault(name, as_python(value)))
        if any(faults):
            raise InvalidInput(f"{type(self).__name__} does not accept these parameters: {'; '.join(filter(None, faults))}.")

    def _cluster(self, X, groups, random_state):
        self._warn_about_ignored_parameters(methods.get(self.matcher).parameters)
        if self.n_clusters is None:
            self.n_clusterlets_, self.hops_ = self.n_clusterlets, self.hops
        else:
            self.n_clusterlets_, self.hops_ = self._closest_configuration(X, groups, self.n_clusters, random_state)
        self.clusterlets_ = extract_clusterlets(X, groups, self.n_clusterlets_, random_state)
        matcher, parameters = self._matcher_and_parameters(self.hops_)
        self.matching_ = matcher.match_or_raise(self.clusterlets_, random_state, **parameters)
        self.n_clusters_ = len(self.matching_)
        self.cluster_centers_ = cluster_centres(self.matching_, self.clusterlets_.sizes, self.clusterlets_.centroids)
        self.memberships_ = csr_array(self.matching_.T)[self.clusterlets_.labels]
        self.labels_ = labels_of_pieces(X, self.clusterlets_.labels, self.matching_, self.cluster_centers_)
        if self.n_clusters not in (None, self.n_clusters_):
            warnings.warn(
                f"{type(self).__name__} found {self.n_clusters_} clusters: of all configurations that were tried, this is the "
                f"closest to n_clusters={self.n_clusters}.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _closest_configuration(self, X, groups, n_clusters: int, random_state: np.random.Generator) -> tuple[int, int]:
        """The numbers of clusterlets and hops that give the number of clusters closest to ``n_clusters``.

        The search works on copies of ``random_state``, so a fit with the chosen numbers gives the same result.
        """
        sort_keys = {}
        group_counts = np.bincount(groups)
        hops_tried = _HOPS_TRIED if "hops" in methods.get(self.matcher).parameters else (self.hops,)
        max_clusterlets = max(2, min(2 * n_clusters, int(group_counts.max())))
        for n_clusterlets in range(2, max_clusterlets + 1):
            state = deepcopy(random_state)
            clusterlets = extract_clusterlets(X, groups, n_clusterlets, state)
            for hops in hops_tried:
                matcher, parameters = self._matcher_and_parameters(hops)
                matching = matcher.match(clusterlets, deepcopy(state), **parameters)
                if matching is not None:
                    composition = matching.astype(np.int64) @ clusterlets.counts
                    deviation = deviation_per_cluster(composition, group_counts).max()
                    sort_keys[n_clusterlets, hops] = abs(len(matching) - n_clusters), round(float(deviation), 12)
        if not sort_keys:
            raise InvalidInput(f"{self.matcher} finds no clustering for n_clusters={n_clusters}; use another matcher.")
        return min(sort_keys, key=lambda configuration: (sort_keys[configuration], configuration))

    def _matcher_and_parameters(self, hops: int) -> tuple[methods.Matcher, dict[str, Any]]:
        matcher = methods.get(self.matcher)()
        assert isinstance(matcher, methods.Matcher)  # _check_parameters has refused other names
        parameters = {name: hops if name == "hops" else as_python(getattr(self, name)) for name in matcher.parameters}
        return matcher, {name: value for name, value in parameters.items() if value is not None}

    def _warn_about_ignored_parameters(self, used_parameters: Collection[str]) -> None:
        """Warn if a parameter was set that the matcher does not have or that the search for ``n_clusters`` chooses."""
        defaults = type(self)().get_params()
        unused = [name for name in _MATCHERS_BY_PARAMETER if name not in used_parameters]
        ignored = [name for name in unused if getattr(self, name) != defaults[name]]
        if ignored:
            used_names = " and ".join(name for name in _MATCHERS_BY_PARAMETER if name in used_parameters)
            warnings.warn(
                f"The matcher {self.matcher} ignores {self._settings(ignored)}: do not set this, or use another matcher. "
                f"{self.matcher} uses {used_names}.",
                UserWarning,
                stacklevel=4,
            )
        overridden = [name for name in _SEARCHED_PARAMETERS if name not in ignored and getattr(self, name) != defaults[name]]
        if self.n_clusters is not None and overridden:
            warnings.warn(
                f"n_clusters={self.n_clusters} overrides {self._settings(overridden)}: set either one or the other.",
                UserWarning,
                stacklevel=4,
            )

    def _settings(self, names: Collection[str]) -> str:
        return " and ".join(f"{name}={getattr(self, name)!r}" for name in names)

    def predict(self, X):
        """Cluster of each instance: the one that contains the nearest clusterlet.

        The groups of the instances are not used. So the result need not be fair, and may differ from ``labels_``.

        Parameters
        ----------
        X : array-like or DataFrame (n, d)

        Returns
        -------
        int array (n,)
            If the clusterlet is in several clusters, the cluster with the nearest centre, as in ``labels_``.
        """
        X = self._check_new_rows(X)
        nearest = nearest_centres(X, self.clusterlets_.centroids)
        return labels_of_pieces(X, nearest, self.matching_, self.cluster_centers_)
