"""The rows of a cell of the grid: the scores of every run of its method."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import numpy as np

from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.instance_labels import cluster_centres, labels_of_pieces
from clusterlets.errors import ClusterletsError
from clusterlets.grid.artifacts import NO_VALID_PARTITION, OK, UNSUPPORTED, Prepared, SeedBlock
from clusterlets.grid.cells import random_stream
from clusterlets.grid.fitting import Fit, Limits, fits
from clusterlets.grid.runs_table import parameter_columns
from clusterlets.methods import Matcher, Method, is_from_file
from clusterlets.metrics import instances
from clusterlets.metrics.instances import Instances
from clusterlets.metrics.pieces import JoinedClusterlets, Pieces
from clusterlets.metrics.score import evaluate
from clusterlets.metrics.table import SCORES

#: What the column ``method`` calls every matcher; the column ``matcher`` says which one it is.
CLUSTERLETS = "Clusterlets"


def run_columns(method: type[Method], name: str, k: int, parameters: Mapping) -> dict:
    """The columns that name one output of a method, its k and its parameters."""
    names = {"method": CLUSTERLETS, "matcher": name} if issubclass(method, Matcher) else {"method": name}
    return {**names, "k": k, **parameter_columns(parameters)}


@dataclass(frozen=True)
class Outcome:
    """The outcome of one run: an output of a method for one seed, with the arrays of its pieces if there is a clustering.

    ``columns`` holds the columns that do not come from these arrays.
    """

    name: str
    seed: int
    status: str
    note: str = ""
    arrays: Mapping[str, np.ndarray] | None = None
    columns: Mapping[str, float] = field(default_factory=dict)


def score_all(
    method: type[Method],
    dataset: str,
    k: int,
    parameters: Mapping,
    outcomes: Iterable[Outcome],
    diameter: float,
    deviation: str,
    columns: Sequence[Sequence] = (),
) -> Iterator[dict]:
    """A row for each outcome; ``columns`` are those of :class:`clusterlets.metrics.pieces.Pieces`."""
    for outcome in outcomes:
        row = {"dataset": dataset, **run_columns(method, outcome.name, k, parameters)}
        row |= {"seed": outcome.seed, "status": outcome.status, "note": outcome.note, **outcome.columns}
        if outcome.arrays:
            row |= evaluate(SCORES, Pieces(**outcome.arrays, diameter=diameter, deviation=deviation, columns=columns))
        yield row


def cluster_outcomes(
    method: type[Method], k: int, seeds: Iterable[int], pieces: SeedBlock, groups: Mapping[str, int]
) -> Iterator[Outcome]:
    """The outcomes of a method that clusters instances: all seeds of its first output, then of the next."""
    for name in method.names_in_results():
        for seed in seeds:
            status, note = pieces.status_of(seed)
            if status == OK:
                arrays = dict(pieces.values[f"{name}/{seed}"])
                names = [score.name for score in instances.SCORES]
                scores = dict(zip(names, arrays.pop("of_instances").tolist(), strict=True))
                yield Outcome(name, seed, OK, "; ".join(filter(None, (note, _small_groups(k, groups)))), arrays, scores)
            else:
                yield Outcome(name, seed, status, note)


def matching_outcomes(
    method: type[Matcher],
    k: int,
    matchings: Iterable[tuple[int, Fit]],
    pieces: SeedBlock,
    distances: SeedBlock,
    labels: SeedBlock,
    table: Prepared,
    groups: Mapping[str, int],
) -> Iterator[Outcome]:
    """The outcomes of a matcher, from the memberships of every seed as :func:`match` gives them.

    ``pieces``, ``distances`` and ``labels`` are the clusterlets of the ``table``, as earlier steps wrote them.
    """
    for seed, fit in matchings:
        if pieces.status != OK:
            yield Outcome(method.name, seed, fit.status, fit.note)
            continue
        clusterlets = Clusterlets.from_pieces(**pieces.values[str(seed)])
        note = fit.note or _few_clusterlets(clusterlets, k, groups)
        columns: dict[str, float] = {"n_clusterlets": len(clusterlets)}
        if fit.status == OK:
            sums, piece_of = distances.values[str(seed)], labels.values[str(seed)]["labels"]
            arrays = {"membership": fit.result, **pieces.values[str(seed)], "sums": sums["sums"]}
            columns |= evaluate(SCORES, JoinedClusterlets(fit.result, clusterlets.centroids))
            clustered = _instances(table, piece_of, clusterlets, fit.result, sums["sample"], sums["row_sums"])
            columns |= evaluate(SCORES, clustered)
            yield Outcome(method.name, seed, OK, note, arrays, columns)
        else:
            yield Outcome(method.name, seed, fit.status, note, columns=columns)


def match(
    method: type[Matcher],
    dataset: str,
    k: int,
    parameters: Mapping,
    seeds: Iterable[int],
    base_seed: int,
    limits: Limits,
    pieces: SeedBlock,
    partitions: SeedBlock | None,
) -> Iterator[tuple[int, Fit]]:
    """Join the clusterlets of every seed: membership matrices (C, N), each with its time and memory.

    ``partitions`` holds the Pareto fronts, for a matcher that needs them.
    """
    status, note = pieces.status, pieces.note
    if status == OK:
        counts = next(iter(pieces.values.values()))["counts"]  # instances of each group in each clusterlet
        note = method().unsupported(int(counts.sum()), counts.shape[1])
        status = UNSUPPORTED if note else OK
    if status != OK:
        yield from ((seed, Fit(status, note)) for seed in seeds)
        return

    def membership(seed: int) -> np.ndarray | None:
        clusterlets = Clusterlets.from_pieces(**pieces.values[str(seed)])
        source: Any = random_stream(base_seed, dataset, k, seed, method.stream_number())
        if partitions is not None:
            # Imported by name, so that only the fingerprint of C, whose own file imports it, includes it.
            source = import_module("clusterlets.algorithms.matching.centroid").ParetoFront(**partitions.values[str(seed)])
        return _check_membership(method().match(clusterlets, source, **parameters), len(clusterlets))

    for seed, fit in fits(membership, seeds, limits, stateless=not is_from_file(method)):
        yield seed, replace(fit, status=NO_VALID_PARTITION) if fit.status == OK and fit.result is None else fit


def _check_membership(membership: np.ndarray | None, n_clusterlets: int) -> np.ndarray | None:
    if membership is None:
        return None
    matrix = np.asarray(membership)
    is_valid = matrix.dtype == bool and matrix.ndim == 2 and matrix.shape[1] == n_clusterlets
    if not (is_valid and len(matrix) and matrix.any(axis=1).all()):
        raise ClusterletsError(
            f"match must return memberships (C, {n_clusterlets}) of type bool with no empty cluster, "
            f"not {matrix.shape} of {matrix.dtype}"
        )
    return matrix


def _instances(
    table: Prepared,
    piece_of: np.ndarray,
    clusterlets: Clusterlets,
    membership: np.ndarray,
    sample: np.ndarray,
    sums: np.ndarray,
) -> Instances:
    """The instances in a matcher's clusters and, unless these overlap, silhouettes of rows (m,) from ``sums`` (N, m)."""
    centres = cluster_centres(membership, clusterlets.sizes, clusterlets.centroids)
    labels = labels_of_pieces(table.X, piece_of, membership, centres)
    if (membership.sum(axis=0) != 1).any():  # overlaps go to the nearest centre, and so split clusterlets
        return Instances(table.X, table.groups, labels, centres)
    cluster_sums = np.stack([sums[cluster].sum(axis=0) for cluster in membership])
    silhouettes = instances.silhouettes(cluster_sums, np.bincount(labels), labels[sample])
    return Instances(table.X, table.groups, labels, centres, silhouettes, sample)


def _few_clusterlets(clusterlets: Clusterlets, k: int, groups: Mapping[str, int]) -> str:
    """Which groups have fewer clusterlets than requested, because they have fewer distinct instances."""
    counts = np.bincount(clusterlets.group, minlength=len(groups))
    short = [f"{name}: {count} clusterlets" for name, count in zip(groups, counts, strict=True) if count < k]
    return f"fewer distinct instances than k ({'; '.join(short)})" if short else ""


def _small_groups(k: int, groups: Mapping[str, int]) -> str:
    """Which groups are too small to be in every cluster."""
    small = [f"{name}: {size}" for name, size in groups.items() if size < k]
    return f"fewer instances than k, so some clusters lack the group ({'; '.join(small)})" if small else ""
