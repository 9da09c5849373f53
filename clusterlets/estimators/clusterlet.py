"""Clusterlets and their matchers as an estimator."""

import warnings
from collections.abc import Collection, Iterator
from copy import deepcopy
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from clusterlets import methods
from clusterlets.algorithms.extraction import extract_clusterlets
from clusterlets.algorithms.instance_labels import cluster_centres, labels_of_pieces
from clusterlets.algorithms.kmeans import nearest_centres
from clusterlets.estimators.base import FairClusterer
from clusterlets.estimators.inputs import InvalidInput, check_whole, plain
from clusterlets.estimators.signatures import RANDOM_STATE, Documented, documented, set_parameters
from clusterlets.metrics.composition import deviation_per_cluster

# The matchers that have each parameter, by the parameter's name.
_MATCHERS_WITH = methods.by_parameter(methods.get(name) for name in methods.names("paper"))
# The parameters that a search for a number of clusters chooses, and the hops that it tries, which are the paper's.
_SEARCHED_PARAMETERS = ("n_clusterlets", "hops")
_HOPS_TRIED = (1, 2, 3, 4)


class ClusterletClustering(FairClusterer):
    """Fair clustering with clusterlets: k-means splits each group into clusterlets, and a matcher joins these into clusters.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}
    n_clusterlets_ : int
        Number of clusterlets of each group: as given, or as chosen for ``n_clusters``.
    hops_ : int
        Number of hops: as given, or as chosen for ``n_clusters``.
    clusterlets_ : Clusterlets
        The N clusterlets, and which of them each instance is in.
    matching_ : bool array (n_clusters_, N)
        Whether each cluster contains each clusterlet: ``membership`` of :class:`clusterlets.metrics.pieces.Pieces`.

    Notes
    -----
    Source: Setzu and Guidotti, "Fair Clustering with Clusterlets". An iteration of k-means takes O(n k d) time. The
    matcher's time does not depend on n. If ``n_clusters`` is c, up to 2 c - 1 numbers of clusterlets are tried,
    each with up to four numbers of hops. The paper does not search for a number of clusters.

    Examples
    --------
    >>> from clusterlets.estimators import ClusterletClustering
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> fitted = ClusterletClustering(2, matcher="D", hops=1, random_state=0).fit(X, sensitive_features=sex)
    >>> fitted.n_clusters_, fitted.memberships_.sum(axis=0).tolist()
    (2, [2, 2])
    """

    n_clusterlets: int
    matcher: str
    hops: int

    def _check_parameters(self):
        check_whole("n_clusterlets", self.n_clusterlets, 1)
        if self.n_clusters is not None:
            check_whole("n_clusters", self.n_clusters, 1)
        faults = [methods.Choice(methods.names("paper")).fault("matcher", self.matcher)]
        for name, matchers in _MATCHERS_WITH.items():
            same_matcher = [matcher for matcher in matchers if matcher.name == self.matcher]
            value = getattr(self, name)
            if value is not None:  # None stands for the matcher's own default
                faults.append((same_matcher or matchers)[0].parameters[name].fault(name, plain(value)))
        if any(faults):
            raise InvalidInput(f"{type(self).__name__} cannot do this: {'; '.join(filter(None, faults))}.")

    def _cluster(self, X, groups, random_state):
        self._warn_of_ignored_parameters(methods.get(self.matcher).parameters)
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
        """The numbers of clusterlets and hops that come closest to ``n_clusters``; ``random_state`` does not advance."""
        scores = {}
        group_counts = np.bincount(groups)
        has_hops = "hops" in methods.get(self.matcher).parameters
        for n_clusterlets in range(2, max(2, min(2 * n_clusters, int(group_counts.max()))) + 1):
            state = deepcopy(random_state)
            clusterlets = extract_clusterlets(X, groups, n_clusterlets, state)
            for hops in _HOPS_TRIED if has_hops else (self.hops,):
                matcher, parameters = self._matcher_and_parameters(hops)
                matching = matcher.match(clusterlets, deepcopy(state), **parameters)
                if matching is not None:
                    composition = matching.astype(np.int64) @ clusterlets.counts
                    deviation = deviation_per_cluster(composition, group_counts).max()
                    scores[n_clusterlets, hops] = abs(len(matching) - n_clusters), round(float(deviation), 12)
        if not scores:
            raise InvalidInput(f"{self.matcher} finds no clustering for n_clusters={n_clusters}; take another matcher.")
        return min(scores, key=lambda configuration: (scores[configuration], configuration))

    def _matcher_and_parameters(self, hops: int) -> tuple[methods.Matcher, dict[str, Any]]:
        matcher = methods.get(self.matcher)()
        assert isinstance(matcher, methods.Matcher)  # _check_parameters has refused other names
        parameters = {name: hops if name == "hops" else plain(getattr(self, name)) for name in matcher.parameters}
        return matcher, {name: value for name, value in parameters.items() if value is not None}

    def _warn_of_ignored_parameters(self, used_parameters: Collection[str]) -> None:
        """Warn of parameters that were set although the matcher ignores them or the search for ``n_clusters`` chooses them."""
        defaults = type(self)().get_params()
        ignored = [name for name in _MATCHERS_WITH if name not in used_parameters and getattr(self, name) != defaults[name]]
        if ignored:
            used_names = " and ".join(name for name in _MATCHERS_WITH if name in used_parameters)
            warnings.warn(
                f"The matcher {self.matcher} ignores {self._settings(ignored)}: leave that out, or take another matcher. "
                f"{self.matcher} uses {used_names}.",
                UserWarning,
                stacklevel=4,
            )
        overridden = [name for name in _SEARCHED_PARAMETERS if name not in ignored and getattr(self, name) != defaults[name]]
        if self.n_clusters is not None and overridden:
            warnings.warn(
                f"n_clusters={self.n_clusters} ignores {self._settings(overridden)}, which it chooses itself: leave one out.",
                UserWarning,
                stacklevel=4,
            )

    def _settings(self, names: Collection[str]) -> str:
        return " and ".join(f"{name}={getattr(self, name)!r}" for name in names)

    def predict(self, X):
        """Cluster of each instance: the one that contains the nearest clusterlet, of whatever group.

        This does not keep the clustering fair, because it does not use the groups of the instances. It may also differ from
        ``labels_``, because the nearest clusterlet may be of another group.

        Parameters
        ----------
        X : array-like or DataFrame (n, d)

        Returns
        -------
        int array (n,)
            As in ``labels_``: if the clusterlet is in several clusters, the cluster with the nearest centre.
        """
        X = self._validated(X)
        nearest = nearest_centres(X, self.clusterlets_.centroids)
        return labels_of_pieces(X, nearest, self.matching_, self.cluster_centers_)


def _parameters_of_matchers() -> Iterator[tuple[str, Documented]]:
    """Yield each parameter that matchers have, once, with its default, or None if the matchers' defaults differ."""
    for name, matchers in _MATCHERS_WITH.items():
        defaults = {matcher.parameters[name].default: matcher.name for matcher in matchers}
        meaning = methods.meaning(name, matchers)
        default, annotation, _ = documented(matchers[0].parameters[name])
        if len(defaults) > 1:
            default, annotation = None, f"{annotation} | None"
            own_defaults = ", ".join(f"{matcher.parameters[name].default!r} of {matcher.name}" for matcher in matchers)
            meaning += f" None is the matcher's own default: {own_defaults}."
        yield name, (default, annotation, f"{meaning} Ignored by the other matchers.")


set_parameters(
    ClusterletClustering,
    {
        "n_clusterlets": (
            10,
            "int",
            "Number of clusterlets of each group, k in the paper, at least 1; fewer where a group has fewer distinct rows. The "
            "matcher decides how many clusters there are: ``n_clusters_``. Ignored if ``n_clusters`` is given.",
        ),
        "n_clusters": (
            None,
            "int | None",
            "Number of clusters. Then ``n_clusterlets`` from 2 to twice as many (at least 2) and ``hops`` from 1 to 4 are "
            "tried, and the result with the closest number of clusters is kept: of equally close ones the one with the "
            "smallest maximum deviation, then the fewest clusterlets, then the fewest hops. It is the result that a fit "
            "with ``n_clusterlets_`` and ``hops_`` alone gives.",
        ),
        "matcher": (
            "G-B",
            "str",
            "Greedy balance (G-B) and greedy distance (G-D), which are crisp; distance and balance pinball (D, B), where an "
            "instance may be in several clusters; or the sampled centroid matcher (C), which is crisp.",
        ),
        **dict(_parameters_of_matchers()),
        "random_state": RANDOM_STATE,
    },
)
