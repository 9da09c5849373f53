"""The rows of a cell of the grid: the scores of every run, whichever method it is of."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import numpy as np

from clusterlets.algorithms.centroids import centroid_distances, centroid_silhouette
from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.instance_scores import (
    INSTANCE_SCORES,
    cluster_centres,
    costs,
    labels_of_pieces,
    silhouette_scores,
    silhouettes,
)
from clusterlets.errors import ClusterletsError
from clusterlets.grid.artifacts import NO_VALID_PARTITION, OK, UNSUPPORTED, Prepared, SeedBlock
from clusterlets.grid.cells import format_parameters, random_stream
from clusterlets.grid.fitting import Fit, Limits, fits
from clusterlets.methods import Matcher, Method
from clusterlets.metrics import score

#: What the column ``method`` calls every matcher; which one it is stands in the column ``matcher``.
CLUSTERLETS = "Clusterlets"


def run_columns(method: type[Method], name: str, k: int, parameters: Mapping) -> dict:
    """What the columns of a row call one output of a method, its k and its parameters; hops and omega have their own."""
    is_matcher = issubclass(method, Matcher)
    of_method = {"method": CLUSTERLETS, "matcher": name} if is_matcher else {"method": name}
    of_paper = {column: kind(parameters[column]) for column, kind in (("hops", int), ("omega", float)) if column in parameters}
    return {**of_method, "k": k, **of_paper, "parameters": format_parameters(parameters)}


@dataclass(frozen=True)
class Outcome:
    """What came of one run: an output of a method for one seed, with the arrays to score where there is a clustering."""

    name: str
    seed: int
    status: str
    note: str = ""
    arrays: Mapping[str, np.ndarray] | None = None
    further: Mapping[str, float] = field(default_factory=dict)


def score_all(
    method: type[Method],
    dataset: str,
    k: int,
    parameters: Mapping,
    outcomes: Iterable[Outcome],
    diameter: float,
    deviation: str,
) -> Iterator[dict]:
    """A row for each outcome, of whichever method."""
    for found in outcomes:
        columns = run_columns(method, found.name, k, parameters)
        row = {"dataset": dataset, **columns, "seed": found.seed, "status": found.status, "note": found.note, **found.further}
        yield row | (score(**found.arrays, diameter=diameter, deviation=deviation) if found.arrays else {})


def of_clusters(
    method: type[Method], k: int, seeds: Iterable[int], pieces: SeedBlock, groups: Mapping[str, int]
) -> Iterator[Outcome]:
    """The outcomes of a method that clusters instances: every seed of the first output, then of the next."""
    for name in method.names_in_results():
        for seed in seeds:
            status, note = pieces.status_of(seed)
            if status == OK:
                arrays = dict(pieces.values[f"{name}/{seed}"])
                scores = dict(zip(INSTANCE_SCORES, arrays.pop("of_instances").tolist(), strict=True))
                yield Outcome(name, seed, OK, _small_groups(k, groups), arrays, scores)
            else:
                yield Outcome(name, seed, status, note)


def of_matchings(
    method: type[Matcher],
    k: int,
    matchings: Iterable[tuple[int, Fit]],
    pieces: SeedBlock,
    distances: SeedBlock,
    labels: SeedBlock,
    table: Prepared,
    groups: Mapping[str, int],
) -> Iterator[Outcome]:
    """The outcomes of a matcher, from what :func:`match` found of every seed.

    ``pieces``, ``distances`` and ``labels`` are what the steps before left of the clusterlets of the ``table``.
    """
    for seed, found in matchings:
        if pieces.status != OK:
            yield Outcome(method.name, seed, found.status, found.note)
            continue
        clusterlets = Clusterlets.from_pieces(**pieces.values[str(seed)])
        note = found.note or _few_clusterlets(clusterlets, k, groups)
        further: dict[str, float] = {"n_clusterlets": len(clusterlets)}
        if found.status == OK:
            sums, piece_of = distances.values[str(seed)], labels.values[str(seed)]["labels"]
            arrays = {"membership": found.result, **pieces.values[str(seed)], "sums": sums["sums"]}
            further |= {"centroid_silhouette": _silhouette(clusterlets, found.result)}
            further |= _instance_scores(table, piece_of, clusterlets, found.result, sums["sample"], sums["row_sums"])
            yield Outcome(method.name, seed, OK, note, arrays, further)
        else:
            yield Outcome(method.name, seed, found.status, note, further=further)


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
    """Join the clusterlets of every seed: membership matrices (C, N), each with what it took.

    ``partitions`` holds the Pareto fronts, for a matcher that needs them.
    """
    status, note = pieces.status, pieces.note
    if status == OK:
        note = method().unsupported(*_table_size(pieces))
        status = UNSUPPORTED if note else OK
    if status != OK:
        yield from ((seed, Fit(status, note)) for seed in seeds)
        return

    def membership(seed: int) -> np.ndarray | None:
        clusterlets = Clusterlets.from_pieces(**pieces.values[str(seed)])
        source: Any = random_stream(base_seed, dataset, k, seed, method.stream_number())
        if partitions is not None:
            # No statement, so that it is a part of the fingerprint of C alone, whose file imports it.
            source = import_module("clusterlets.algorithms.matching.centroid").ParetoFront(**partitions.values[str(seed)])
        return _checked(method().match(clusterlets, source, **parameters), len(clusterlets))

    for seed, found in fits(membership, seeds, limits):
        yield seed, replace(found, status=NO_VALID_PARTITION) if found.status == OK and found.result is None else found


def _table_size(pieces: SeedBlock) -> tuple[int, int]:
    """Rows and groups of the table that clusterlets are of."""
    counts = next(iter(pieces.values.values()))["counts"]
    return int(counts.sum()), counts.shape[1]


def _checked(membership: np.ndarray | None, n_clusterlets: int) -> np.ndarray | None:
    if membership is None:
        return None
    found = np.asarray(membership)
    if (
        found.dtype != bool
        or found.ndim != 2
        or found.shape[1] != n_clusterlets
        or not found.any(axis=1).all()
        or not len(found)
    ):
        raise ClusterletsError(
            f"match must return memberships (C, {n_clusterlets}) of type bool with no empty cluster, "
            f"not {found.shape} of {found.dtype}"
        )
    return found


def _silhouette(clusterlets: Clusterlets, membership: np.ndarray) -> float:
    """Silhouette over the centroids; NaN for a fuzzy result and for a single cluster."""
    if len(membership) < 2 or (membership.sum(axis=0) != 1).any():
        return float("nan")
    return centroid_silhouette(centroid_distances(clusterlets.centroids), membership.argmax(axis=0))


def _instance_scores(
    table: Prepared,
    piece_of: np.ndarray,
    clusterlets: Clusterlets,
    membership: np.ndarray,
    sample: np.ndarray,
    sums: np.ndarray,
) -> dict[str, float]:
    """Costs, and unless clusters overlap the silhouettes of a sample of rows (m,).

    ``sums`` (N, m) hold their distances to clusterlets. Clusters of nearest centres are no unions of clusterlets, so their
    silhouettes would take all distances again for every cell.
    """
    centres = cluster_centres(membership, clusterlets.sizes, clusterlets.centroids)
    labels = labels_of_pieces(table.X, piece_of, membership, centres)
    scores = costs(table.X, table.groups, labels, centres)
    if (membership.sum(axis=0) != 1).any():
        return scores
    of_clusters = np.stack([sums[cluster].sum(axis=0) for cluster in membership])
    of_rows = silhouettes(of_clusters, np.bincount(labels), labels[sample])
    return scores | silhouette_scores(of_rows, table.groups[sample], len(labels))


def _few_clusterlets(clusterlets: Clusterlets, k: int, groups: Mapping[str, int]) -> str:
    """Which groups have fewer clusterlets than were asked for, as they have fewer distinct instances."""
    found = np.bincount(clusterlets.group, minlength=len(groups))
    short = [f"{name}: {count} clusterlets" for name, count in zip(groups, found, strict=True) if count < k]
    return f"fewer distinct instances than k ({'; '.join(short)})" if short else ""


def _small_groups(k: int, groups: Mapping[str, int]) -> str:
    """Which groups are too small to be in every cluster."""
    small = [f"{name}: {size}" for name, size in groups.items() if size < k]
    return f"fewer instances than k, so some clusters lack the group ({'; '.join(small)})" if small else ""
