"""Score the runs of a cell. Each output of its method becomes one row of results for each seed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module

import numpy as np

from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.instance_labels import cluster_centres, labels_of_pieces
from clusterlets.benchmark.grid.artifacts import Prepared, SeedBatch
from clusterlets.benchmark.grid.cells import random_stream
from clusterlets.benchmark.grid.runs_columns import parameter_columns
from clusterlets.errors import ClusterletsError
from clusterlets.methods import Matcher, Method
from clusterlets.methods.interface.running import seeded_generators
from clusterlets.methods.interface.users_file import is_from_file
from clusterlets.metrics import instances
from clusterlets.metrics.all_scores import SCORES
from clusterlets.metrics.instances import Instances
from clusterlets.metrics.pieces import JoinedClusterlets, Pieces
from clusterlets.metrics.score import evaluate
from clusterlets.supervision.fits import Budget, Fit, fits
from clusterlets.supervision.statuses import NO_VALID_PARTITION, OK, UNSUPPORTED

#: The value of the column ``method`` for every matcher.
CLUSTERLETS = "Clusterlets"


def run_columns(method: type[Method], name: str, k: int, parameters: Mapping) -> dict:
    """The columns of a row that name the method's output and its configuration."""
    names = {"method": CLUSTERLETS, "matcher": name} if method.is_matcher else {"method": name}
    return {**names, "k": k, **parameter_columns(parameters)}


@dataclass(frozen=True)
class Outcome:
    """The outcome of one run, that is, of one output of a method for one seed.

    ``name`` is the output's name in results. ``arrays`` are the arrays of the clustering's pieces, or None if there is no
    clustering. ``columns`` are scores and counts that cannot be computed from these arrays.
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
    sensitive_columns: Sequence[Sequence] = (),
) -> Iterator[dict]:
    """Yield a row of results for each outcome.

    ``sensitive_columns`` are the ``columns`` of :class:`clusterlets.metrics.pieces.Pieces`.
    """
    for outcome in outcomes:
        row = {"dataset": dataset, **run_columns(method, outcome.name, k, parameters)}
        row |= {"seed": outcome.seed, "status": outcome.status, "note": outcome.note, **outcome.columns}
        if outcome.arrays:
            row |= evaluate(SCORES, Pieces(**outcome.arrays, diameter=diameter, deviation=deviation, columns=sensitive_columns))
        yield row


def cluster_outcomes(
    method: type[Method], k: int, seeds: Iterable[int], pieces: SeedBatch, groups: Mapping[str, int]
) -> Iterator[Outcome]:
    """The outcomes of a method that clusters instances, ordered by output and seed.

    ``groups`` maps the name of each group to its size.
    """
    score_names = [score.name for score in instances.SCORES]
    for name in method.names_in_results():
        for seed in seeds:
            status, note = pieces.status_of(seed)
            if status != OK:
                yield Outcome(name, seed, status, note)
                continue
            arrays = dict(pieces.values[f"{name}/{seed}"])
            scores = dict(zip(score_names, arrays.pop("of_instances").tolist(), strict=True))
            notes = filter(None, (note, _note_on_small_groups(k, groups)))
            yield Outcome(name, seed, OK, "; ".join(notes), arrays, scores)


def matching_outcomes(
    method: type[Matcher],
    k: int,
    matchings: Iterable[tuple[int, Fit]],
    pieces: SeedBatch,
    distances: SeedBatch,
    labels: SeedBatch,
    table: Prepared,
    groups: Mapping[str, int],
) -> Iterator[Outcome]:
    """The outcomes of a matcher, from the fit of each seed that :func:`match` yields.

    ``pieces``, ``distances`` and ``labels`` describe the clusterlets, as earlier steps wrote them. ``groups`` maps the name of
    each group to its size.
    """
    for seed, fit in matchings:
        if pieces.status != OK:
            yield Outcome(method.name, seed, fit.status, fit.note)
            continue
        clusterlets = Clusterlets.from_pieces(**pieces.values[str(seed)])
        note = fit.note or _note_on_clusterlets(clusterlets, k, groups)
        columns: dict[str, float] = {"n_clusterlets": len(clusterlets)}
        if fit.status != OK:
            yield Outcome(method.name, seed, fit.status, note, columns=columns)
            continue
        seed_sums, pieces_of_rows = distances.values[str(seed)], labels.values[str(seed)]["labels"]
        arrays = {"membership": fit.result, **pieces.values[str(seed)], "sums": seed_sums["sums"]}
        columns |= evaluate(SCORES, JoinedClusterlets(fit.result, clusterlets.centroids))
        clustered = _instances_of(table, pieces_of_rows, clusterlets, fit.result, seed_sums["sample"], seed_sums["row_sums"])
        columns |= evaluate(SCORES, clustered)
        yield Outcome(method.name, seed, OK, note, arrays, columns)


def match(
    method: type[Matcher],
    dataset: str,
    k: int,
    parameters: Mapping,
    seeds: Iterable[int],
    base_seed: int,
    budget: Budget,
    pieces: SeedBatch,
    partitions: SeedBatch | None,
) -> Iterator[tuple[int, Fit]]:
    """Run a matcher on the clusterlets of every seed. Yields each seed with a fit, whose result is the membership (C, N).

    ``partitions`` holds the Pareto fronts of a matcher such as C.
    """
    status, note = pieces.status, pieces.note
    if status == OK:
        counts = next(iter(pieces.values.values()))["counts"]  # (N, K): instances of each group in each clusterlet
        note = method().unsupported(int(counts.sum()), counts.shape[1])
        status = UNSUPPORTED if note else OK
    if status != OK:
        yield from ((seed, Fit(status, note)) for seed in seeds)
        return

    def membership(seed: int) -> np.ndarray | None:
        clusterlets = Clusterlets.from_pieces(**pieces.values[str(seed)])
        random_state = random_stream(base_seed, dataset, k, seed, method.stream_number())
        arguments = dict(parameters)
        if partitions is not None:
            # Imported by name: an import statement would add the module to the fingerprints of all matchers.
            centroid = import_module("clusterlets.algorithms.matching.centroid")
            arguments["partitions"] = centroid.ParetoFront(**partitions.values[str(seed)])
        with seeded_generators(method, random_state):
            matching = method().match(clusterlets, random_state, **arguments)
        return _check_membership(matching, len(clusterlets))

    for seed, fit in fits(membership, seeds, budget, stateless=not is_from_file(method)):
        has_no_clustering = fit.status == OK and fit.result is None
        yield seed, replace(fit, status=NO_VALID_PARTITION) if has_no_clustering else fit


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


def _instances_of(
    table: Prepared,
    pieces_of_rows: np.ndarray,
    clusterlets: Clusterlets,
    membership: np.ndarray,
    sample: np.ndarray,
    row_sums: np.ndarray,
) -> Instances:
    """The instances in a matcher's clusters, with the silhouettes of the rows ``sample`` (m,) unless the clusters overlap.

    ``row_sums`` (N, m) holds the sums of distances from these rows to each clusterlet.
    """
    centres = cluster_centres(membership, clusterlets.sizes, clusterlets.centroids)
    labels = labels_of_pieces(table.X, pieces_of_rows, membership, centres)
    # A row in several clusters gets the label of the nearest centre. This splits clusterlets, and row_sums are for whole ones.
    if (membership.sum(axis=0) != 1).any():
        return Instances(table.X, table.groups, labels, centres)
    cluster_sums = np.stack([row_sums[cluster].sum(axis=0) for cluster in membership])
    silhouettes = instances.silhouettes(cluster_sums, np.bincount(labels), labels[sample])
    return Instances(table.X, table.groups, labels, centres, silhouettes, sample)


def _note_on_clusterlets(clusterlets: Clusterlets, k: int, groups: Mapping[str, int]) -> str:
    """A note on the groups with fewer than k clusterlets, or "" if there are none."""
    counts = np.bincount(clusterlets.group, minlength=len(groups))
    too_few = [f"{name}: {count} clusterlets" for name, count in zip(groups, counts, strict=True) if count < k]
    return f"fewer distinct instances than k ({'; '.join(too_few)})" if too_few else ""


def _note_on_small_groups(k: int, groups: Mapping[str, int]) -> str:
    """A note on the groups with fewer than k instances, or "" if there are none."""
    too_small = [f"{name}: {size}" for name, size in groups.items() if size < k]
    return f"fewer instances than k, so some clusters lack the group ({'; '.join(too_small)})" if too_small else ""
