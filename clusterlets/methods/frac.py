"""FRAC: k-means whose clusters take turns picking instances."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from clusterlets.methods import COMPILED, N_INIT, PARTS, Choice, Integer, Method, Real


@dataclass(frozen=True)
class Part(Real):
    """A number, a Fraction, or a multiple of 1 / n_clusters such as "0.95x"; or a sequence with one number for each group.

    The algorithm checks the values of a sequence.
    """

    def _range(self):
        return f"{super()._range()}, a multiple of 1/n_clusters such as 0.95x"

    def _accepts(self, value):
        if isinstance(value, str):
            return re.fullmatch(r"(0?\.\d{1,9}|[01])x", value) is not None
        if isinstance(value, Iterable):
            return True
        return super()._accepts(float(value) if isinstance(value, Fraction) else value)


class FRAC(Method):
    """k-means whose clusters take turns picking instances, so that each gets its part of every group.

    See :func:`clusterlets.algorithms.frac.frac`. The output ``fair`` is the algorithm's fair assignment. The output ``nearest``
    assigns every instance to the nearest centre and is not fair. The Clusterlets paper scored ``nearest``.
    """

    name = "FRAC"
    citation = "Gupta, Ghalme, Krishnan and Jain, Efficient algorithms for fair clustering, DMKD 2023"
    outputs = ("fair", "nearest")
    guarantee = (
        "`fair`: every cluster holds at least the fraction tau of each group; `balanced` gives clusters of equal size. "
        "`nearest`, which the paper scored, guarantees nothing"
    )
    cost = "0.4 s"
    parameters = {
        "tau": Part(
            0,
            1,
            also=["balanced"],
            ladder=["0.9x", "0.95x", "0.98x", "0.99x", "balanced"],
            bound=PARTS,
            meaning="Least fraction of each group that every cluster must hold, at most 1 / n_clusters. The value balanced "
            "means 1 / n_clusters, and 0.95x means 0.95 / n_clusters.",
        ),
        "init": Choice(("random", "k-means++"), meaning="First centres."),
        "max_iter": Integer(1, 1_000_000, meaning="Maximum number of rounds."),
        "tol": Real(0, 1, meaning="Relative change of the cost at which the rounds end."),
        "n_init": N_INIT,
    }
    libraries = COMPILED
    stream = 3

    def fit(self, X, groups, n_clusters, random_state, tau="balanced", init="random", max_iter=100, tol=1e-4):
        from clusterlets.algorithms.frac import frac

        return self._outputs(frac(X, groups, n_clusters, random_state, PARTS.resolve(tau, n_clusters), init, max_iter, tol))

    def _outputs(self, result):
        self.n_iter_ = result.n_iter
        self.cluster_centers_ = {"nearest": result.centres_nearest}
        return {"fair": result.labels_fair, "nearest": result.labels_nearest}

    def assignment_limits(self, composition, new_totals, reference, tau="balanced", **_):
        from clusterlets.algorithms.frac import rows_for_new

        return rows_for_new(composition, new_totals, reference > 0, PARTS.resolve(tau, composition.shape[1]))

    def faults(self, n_clusters, **parameters):
        faults = super().faults(n_clusters, **parameters)
        tau = parameters.get("tau", "balanced")
        if faults or not isinstance(tau, int | float | Fraction):
            return faults
        # A float that is meant as 1/n_clusters may be rounded up. The algorithm has the same tolerance.
        if Fraction(tau) * (1 - Fraction(1, 2**50)) <= Fraction(1, n_clusters):
            return []
        return [f"tau: {tau}; with {n_clusters} clusters it must be a number from 0 to 1/{n_clusters}, or balanced"]
