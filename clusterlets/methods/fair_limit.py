"""fair-limit: k-means under strict limits on the groups in every cluster."""

import os
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from time import monotonic

import numpy as np

from clusterlets.algorithms.limits import exact_fraction
from clusterlets.errors import ClusterletsError, NoClusteringError, did_you_mean
from clusterlets.methods import COMPILED, STRICT, Integer, Method, Parameter, Real

_DEFAULT_DEVIATION = 0.02  # largest deviation, if no bound is given


def _exact(value):
    """The Fraction of a number or of a text such as "1/50"; None for anything else."""
    if isinstance(value, bool) or (isinstance(value, str) and "_" in value):  # Python would read 0.0_2 as 0.02
        return None
    try:
        return exact_fraction(value)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        return None


@dataclass(frozen=True)
class Exact(Real):
    """A number, a Fraction or a text such as "1/50"; or a mapping from each sensitive column to one of these."""

    def _range(self):
        return super()._range() + ", or a mapping with one for each sensitive column"

    def _accepts(self, value):
        values = value.values() if isinstance(value, Mapping) else [value]
        numbers = [_exact(number) for number in values]
        return bool(numbers) and all(number is not None and self.least <= number <= self.most for number in numbers)


@dataclass(frozen=True)
class Shares(Parameter):
    """A mapping of groups to least and largest shares, or of columns to such mappings."""

    def _range(self):
        return "a mapping of groups to pairs of a least and a largest share from 0 to 1"

    def _accepts(self, value):
        if not isinstance(value, Mapping) or not value:
            return False
        if all(isinstance(bounds, Mapping) for bounds in value.values()):
            return all(self._accepts(bounds) for bounds in value.values())
        return all(_is_interval(bounds) for bounds in value.values())


def _is_interval(bounds) -> bool:
    if not isinstance(bounds, list | tuple) or len(bounds) != 2:
        return False
    least, largest = map(_exact, bounds)
    return least is not None and largest is not None and 0 <= least <= largest <= 1


class FairLimit(Method):
    """k-means in which every group's share in a cluster differs from its share in the table by at most a limit.

    See :func:`clusterlets.algorithms.fair_limit.fair_limit`.
    """

    name = "fair-limit"
    citation = "This project; fair assignments in Lloyd's rounds: Boehm, Fazzone, Leonardi and Schwiegelshohn, arXiv 2002.07892"
    guarantee = (
        "|p - r| <= max_deviation in every cluster and min_cluster_size to max_cluster_size rows, strictly, or an error; "
        "`shares` and `min_ratio` bound shares and ratios instead"
    )
    cost = "0.7 s; grows with the clusters, to 27 s with k = 200; a local optimum"
    min_groups = 1  # with a single group every share is 1, and only the sizes bind
    parameters = {
        "max_deviation": Exact(
            0,
            1,
            grid=[0.01, 0.02, 0.05, 0.1],
            ladder=[0.01, 0.02, 0.03, 0.05, 0.07, 0.1],
            also=[None],
            trades_fairness=True,
            bound=replace(STRICT, resolve=lambda value, n_clusters: _DEFAULT_DEVIATION if value is None else value),
            meaning="Largest difference between a group's share in a cluster and in the table. Without any bound, it is 0.02.",
        ),
        "min_cluster_size": Integer(1, 10**9, meaning="Smallest number of rows in a cluster."),
        "max_cluster_size": Integer(1, 10**9, also=[None], meaning="Largest number of rows in a cluster, by default any."),
        "n_init": Integer(
            1, 10_000, meaning="Number of starts, rounded up to a multiple of four. More starts never give a higher cost."
        ),
        "shares": Shares(
            also=[None],
            bound=STRICT,
            meaning="In place of max_deviation: least and largest share of groups in every cluster, such as "
            '{"f": [0.3, 0.6]}; with several sensitive columns, a mapping of columns to such mappings.',
        ),
        "min_ratio": Exact(
            0,
            1,
            also=[None],
            bound=STRICT,
            meaning="In place of max_deviation: in every cluster, the ratio of any two groups' counts is at least this "
            "fraction of their ratio in the table; 0.8 is the four-fifths rule.",
        ),
        "start_deviation": Exact(
            0,
            1,
            also=[None],
            meaning="The search starts also from the clusters that this max_deviation gives; `clusterlets tune` sets it where "
            "they cost less.",
        ),
        "max_seconds": Real(
            0,
            10**6,
            also=[None],
            meaning="Time after which the search ends with the best labels so far. Results then depend on the machine.",
        ),
        "n_jobs": Integer(1, 1024, also=[-1], meaning="Threads; -1 uses all processors. Results do not depend on it."),
        "verbose": Integer(0, 1, meaning="1 prints the progress."),
    }
    libraries = (*COMPILED, "scipy")
    kernels = (
        *("fair_dual._ascend", "limit_counts._search", "fair_dual._write_distances", "fair_dual._move_borders"),
        *("kernels.sums_by_label", "transport._assign", "kernels.squared_distances", "fair_limit._polish"),
        *("kernels.inertia_by_label", "kernels.candidate_distances", "transport._write_first_labels", "kernels.assign"),
        "tabu_moves._search",
    )

    def fit(
        self,
        X,
        groups,
        n_clusters,
        random_state,
        max_deviation=None,
        min_cluster_size=1,
        max_cluster_size=None,
        n_init=4,
        shares=None,
        min_ratio=None,
        start_deviation=None,
        max_seconds=None,
        n_jobs=1,
        verbose=0,
    ):
        from clusterlets.algorithms.fair_limit import fair_limit
        from clusterlets.algorithms.instances import checked_instances
        from clusterlets.algorithms.limits import largest_deviation

        X, groups = checked_instances(X, groups, self.name, n_clusters)
        codes, groups = np.unique(groups, return_inverse=True)

        def fit_within(bounds, random_state, max_seconds, start=None):
            limits, levels = self.limits(np.bincount(groups), codes, *bounds)
            sizes, threads = (min_cluster_size, max_cluster_size), (os.cpu_count() or 1) if n_jobs == -1 else n_jobs
            search = n_init, max_seconds, threads, _print_progress if verbose else None, start
            return fair_limit(X, groups, n_clusters, random_state, limits, levels, *sizes, *search), levels

        start, started = None, monotonic()
        if start_deviation is not None:
            with suppress(NoClusteringError):  # then there is nothing to start from
                # The same random numbers as in a fit with this limit, which has the same labels.
                start = fit_within([start_deviation], deepcopy(random_state), max_seconds)[0].labels
            max_seconds = None if max_seconds is None else max(0.0, max_seconds - (monotonic() - started))
        result, levels = fit_within([max_deviation, shares, min_ratio], random_state, max_seconds, start)
        counts = np.zeros((len(levels), n_clusters), dtype=np.int64)
        np.add.at(counts, (groups, result.labels), 1)
        self.inertia_, self.assignment_gap_, self.n_iter_ = result.inertia, result.gap, result.n_iter
        self.deviation_, self.sizes_ = float(largest_deviation(counts, levels)), counts.sum(axis=0)
        self.note_ = _note_on_outlier(X, result) if len(X) > 10 * n_clusters else ""
        return result.labels

    def limits(self, counts, codes, max_deviation=None, shares=None, min_ratio=None):
        """The limits, and each group's level in each sensitive column, int array (K, S), for the K groups that occur.

        ``codes`` (K,) are the codes of these groups, and ``counts`` (K,) their numbers of instances. A level is a value of a
        sensitive column, as a number.
        """
        from clusterlets.algorithms import limits

        columns = {name: [values[group] for group in codes] for name, values in self.sensitive_columns.items()}
        columns = columns or {"sensitive_features": [int(group) for group in codes]}
        levels, values = limits.levels_of_groups(list(columns.values()))
        if shares is not None:
            return [*_limits_on_shares(shares, columns, values)], levels
        if min_ratio is not None:
            return limits.ratio_limits(levels, counts, _number_per_column("min_ratio", min_ratio, columns)), levels
        max_deviation = _DEFAULT_DEVIATION if max_deviation is None else max_deviation
        return limits.deviation_limits(levels, counts, _number_per_column("max_deviation", max_deviation, columns)), levels

    def assignment_limits(self, composition, new_totals, reference, max_deviation=None, shares=None, min_ratio=None, **_):
        from clusterlets.algorithms.limits import assignment_limits

        limits, levels = self.limits(reference, range(len(reference)), max_deviation, shares, min_ratio)
        return assignment_limits(limits, levels, composition, new_totals)

    def faults(self, n_clusters, **parameters):
        faults = super().faults(n_clusters, **parameters)
        bounds = [name for name in ("max_deviation", "shares", "min_ratio") if parameters.get(name) is not None]
        if len(bounds) > 1:
            faults.append(f"{' and '.join(bounds)} are two kinds of bound; give one")
        least, largest = parameters.get("min_cluster_size", 1), parameters.get("max_cluster_size")
        if isinstance(least, int) and isinstance(largest, int) and 0 < largest < least:
            faults.append(f"max_cluster_size = {largest} is less than min_cluster_size = {least}")
        return faults


def _limits_on_shares(shares, columns, values):
    """Yield the limits that the parameter ``shares`` sets. ``values`` are the values of each sensitive column."""
    from clusterlets.algorithms.limits import share_limits

    names_columns = all(isinstance(bounds, Mapping) for bounds in shares.values())
    if not names_columns and len(columns) > 1:
        raise ClusterletsError(f"shares must name the sensitive column of each group, one of {_join_quoted(columns)}.")
    bounds_of_columns = shares if names_columns else {next(iter(columns)): shares}
    indexes = _indexes_of(bounds_of_columns, columns, "shares", "sensitive column")
    for index, bounds in zip(indexes, bounds_of_columns.values(), strict=True):
        levels = _indexes_of(bounds, values[index], "shares", "group")
        intervals = [(_exact(least), _exact(largest)) for least, largest in bounds.values()]
        yield from share_limits(index, dict(zip(levels, intervals, strict=True)))


def _number_per_column(parameter: str, value, columns) -> list:
    """The value of a parameter for each sensitive column, as Fractions."""
    if not isinstance(value, Mapping):
        return [_exact(value)] * len(columns)
    _indexes_of(value, columns, parameter, "sensitive column")
    missing = [column for column in columns if column not in value]
    if missing:
        raise ClusterletsError(f"{parameter} has no value for the sensitive column {missing[0]!r}; name all of them.")
    return [_exact(value[column]) for column in columns]


def _print_progress(event: str, cost: float) -> None:
    print(f"fair-limit: {event}, sum of squared errors {cost:.6g}", flush=True)


def _note_on_outlier(X: np.ndarray, result) -> str:
    """A warning if one row makes most of the table's variance, and its cluster most of the sum of squared errors."""
    squares = np.square(X - X.mean(axis=0)).sum(axis=1)
    row = int(squares.argmax())
    is_in_cluster = result.labels == result.labels[row]
    share = float(np.square(X[is_in_cluster] - result.centres[result.labels[row]]).sum()) / (result.inertia or 1.0)
    if squares[row] <= squares.sum() / 2 or share <= 0.5:
        return ""
    return (
        f"row {row} (counting from 0) is so far from all others that its cluster makes {share:.0%} of the sum of squared "
        "errors: check this row, or drop it"
    )


def _join_quoted(names) -> str:
    return ", ".join(map(repr, names))


def _indexes_of(requested, names, parameter: str, kind: str) -> list[int]:
    """The index of each requested name among the names. A text also matches the number that it spells.

    Commands pass only texts. Raises ClusterletsError for a name that is not there, or that is requested in two spellings.
    """
    available, indexes = list(names), []
    for name in requested:
        equal = [index for index, value in enumerate(available) if value == name]
        alike = equal or [index for index, value in enumerate(available) if str(value) == str(name)]
        if not alike:
            hint = did_you_mean(str(name), map(str, available))
            raise ClusterletsError(f"{parameter}: there is no {kind} {name!r}{hint}, only {_join_quoted(available)}.")
        indexes.append(alike[0])
    if len(set(indexes)) < len(indexes):
        raise ClusterletsError(f"{parameter}: {_join_quoted(requested)} name a {kind} twice; name it once.")
    return indexes
