"""The centroid matcher C: the best of many random partitions (paper, section "Centroid Matcher", equation 1).

Only the silhouette of a partition and its largest deviation matter. So one pass over the samples keeps the partitions that no
other sample beats in both, and this Pareto front serves every omega.

All partitions are first scored in bulk, in single precision and with a bound on the error. Those that may be on the front are
then scored exactly. So the front depends neither on the order of sums in a matrix product nor on the number of threads.

The clusters of a partition are called parts here. Arrays over S partitions of N clusterlets into B parts have the partitions
along the last axis: ``labels`` (N, S), ``members`` (B, N, S). ``group_sizes`` (K,) count the clusterlets of each group, not the
instances. Partitions are selected by ``compress``, because its result is contiguous in memory, unlike that of ``[:, mask]``,
and so several times faster to work with.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from threading import Lock
from typing import Literal

import numpy as np

from clusterlets.algorithms.centroids import centroid_distances, members_of, ordered_product, silhouettes
from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.matching.objectives import deviations

#: Samples whose part sizes are drawn at once, and samples whose clusterlets are dealt to parts at once. Both numbers affect
#: the random stream.
_DRAWN_AT_ONCE, _DEALT_AT_ONCE = 2**18, 2**14
#: Labels (clusterlets times partitions) scored at once: few enough for their distances to fit into the processor's caches.
_LABELS_SCORED_AT_ONCE = 2**15
#: If fewer than one sample in this many is valid, partitions are constructed instead.
_SAMPLES_PER_VALID_ONE = 100
#: Silhouettes and objectives are rounded to steps of 2^-40. A step exceeds the rounding errors of floats, so values that are
#: equal in exact arithmetic tie.
_STEPS_PER_UNIT = 2.0**40

_THREAD_LIMIT_LOCK = Lock()  # held while the number of BLAS threads is limited

_Drawn = Literal["sampled", "enumerated", "constructed"]


@dataclass(frozen=True)
class ParetoFront:
    """The sampled partitions that no other sample beats in both silhouette and deviation, by ascending deviation.

    Attributes
    ----------
    labels : int array (F, N)
        Part of each clusterlet. Parts are numbered in the order in which they appear. Of partitions with equal scores, the
        one with the lexicographically least labels is kept. F is 0 if no valid partition was found.
    silhouette : float array (F,)
        :func:`clusterlets.algorithms.centroids.centroid_silhouette`, rounded to 2^-40; ascending.
    deviation : float array (F,)
        Largest deviation of a part from the dataset; ascending.
    drawn : {"sampled", "enumerated", "constructed"}
        How the partitions were drawn: see :func:`sample_partitions`.
    n_valid : int
        Number of valid partitions among the samples. A partition that was drawn several times counts several times.
    """

    labels: np.ndarray
    silhouette: np.ndarray
    deviation: np.ndarray
    drawn: _Drawn
    n_valid: int

    def __len__(self) -> int:
        return len(self.labels)


def sample_partitions(clusterlets: Clusterlets, sample_size: int, random_state: np.random.Generator) -> ParetoFront:
    """Draw partitions of the clusterlets and keep the Pareto front of the valid ones.

    A partition is valid if it has at least two parts, and every part has at least two clusterlets and contains every group.

    Parameters
    ----------
    clusterlets : Clusterlets
        N clusterlets of K >= 2 groups.
    sample_size : int
        Number of partitions to draw, valid or not; at least 1.
    random_state : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    ParetoFront
        Its ``drawn`` is one of:

        - ``enumerated``: there are at most ``sample_size`` partitions, and all were tried; or a group has a single clusterlet,
          so that no partition is valid.
        - ``sampled``: part by part, a size was drawn uniformly from 2..N-1, and the part was filled with that many of the
          remaining clusterlets, chosen at random, or with all of them if fewer remained.
        - ``constructed``: fewer than one sample in 100 was valid, as happens with many groups. So part sizes were drawn again,
          but used only for the number of parts: at most as many as the smallest group has clusterlets. Partitions whose last
          part would have a single clusterlet were dropped. Of each group, every part got one random clusterlet, and the other
          clusterlets went into random parts.

    Notes
    -----
    O(sample_size * B * N^2) time for B parts (about 2), O(2^18 B + N^2) memory. The result is the same to the last byte
    however the matrix products are rounded, and on any number of threads.
    """
    from threadpoolctl import threadpool_limits  # imported late: reading a front must not need it

    search, group_sizes = _Search(clusterlets), np.count_nonzero(clusterlets.counts, axis=0)
    # The products are small, so a second thread would cost more than it saves. The limit applies to the whole process. Without
    # the lock, two threads could leave the limit set.
    with _THREAD_LIMIT_LOCK, threadpool_limits(limits=1):
        if group_sizes.min() < 2:
            return search.front([], "enumerated")
        if _has_few_partitions(group_sizes.sum(), sample_size):
            return search.front(_enumerate(group_sizes), "enumerated")
        front = search.front(_sample(group_sizes, sample_size, random_state), "sampled")
        if front.n_valid * _SAMPLES_PER_VALID_ONE < sample_size:
            front = search.front(_construct(group_sizes, sample_size, random_state), "constructed")
        return front


def match_centroid(
    front: ParetoFront, omega: float, equation: Literal["corrected", "printed"] = "corrected"
) -> np.ndarray | None:
    """The front's best partition as a crisp membership matrix (B, N), bool, or None if the front is empty.

    Parameters
    ----------
    front : ParetoFront
        Silhouettes s and largest deviations delta.
    omega : float
        Weight of the silhouette, in [0, 1].
    equation : {"corrected", "printed"}
        Maximise ``omega s + (1 - omega) (1 - delta)``, which the paper means, or ``1 + omega (s - delta)``, which it
        prints (equation 1).

    Notes
    -----
    Objectives that are equal after rounding to 2^-40 tie. Ties go to the higher silhouette, then to the lower deviation, then
    to the lexicographically least labels.
    """
    if len(front) == 0:
        return None
    s, delta = front.silhouette, front.deviation
    objective = _round_scores(omega * s + (1 - omega) * (1 - delta) if equation == "corrected" else 1 + omega * (s - delta))
    labels = front.labels[np.flatnonzero(objective == objective.max())[-1]]  # silhouettes ascend and are distinct
    return labels == np.arange(labels.max() + 1)[:, None]


def _round_scores(values: np.ndarray) -> np.ndarray:
    return np.round(values * _STEPS_PER_UNIT) / _STEPS_PER_UNIT


class _Search:
    """Scores partitions and keeps their Pareto front.

    ``distances`` (N, N) are the distances between centroids, divided by the largest, and ``counts`` (N, K) the counts of the
    groups in the clusterlets. ``bulk_dtype`` is the floating-point type of the bulk scores.
    """

    def __init__(self, clusterlets: Clusterlets) -> None:
        self.distances, self.counts = centroid_distances(clusterlets.centroids), clusterlets.counts
        self.distances /= self.distances.max() or 1
        # Single precision is enough if sums of counts are exact (below 2^24) and distances do not underflow.
        smallest_distance = self.distances.min(where=self.distances > 0, initial=1)
        self.bulk_dtype: type = np.float32 if self.counts.sum() < 2**24 and smallest_distance > 1e-30 else np.float64

    @property
    def error_bound(self) -> float:
        """Bound on the error of a bulk silhouette.

        Let u be the unit roundoff, so eps is 2 u. A mean of up to N distances, each rounded once, has a relative error of at
        most (N + 4) u in any order of summation. A silhouette is (b - a) / max(a, b) with two such means, so its error is at
        most 3 (N + 4) u. The mean of N silhouettes adds at most N u. Twice the sum of these bounds also covers terms of second
        order. The last term covers the rounding of the exact score that the bulk score is compared with.
        """
        return (4 * len(self.distances) + 20) * float(np.finfo(self.bulk_dtype).eps) + 1 / _STEPS_PER_UNIT

    def front(self, chunks: Iterable[np.ndarray], drawn: _Drawn) -> ParetoFront:
        """Pareto front of chunks of valid partitions: the labels (N, S) of S partitions with the same number of parts."""
        n = len(self.distances)
        front = ParetoFront(np.empty((0, n), dtype=np.int64), np.empty(0), np.empty(0), drawn, 0)
        for chunk in chunks:
            front = self._merge(front, chunk)
        return front

    def _merge(self, front: ParetoFront, chunk: np.ndarray) -> ParetoFront:
        """The front after adding the valid partitions with the labels ``chunk`` (N, S)."""
        n_valid = front.n_valid + chunk.shape[1]
        bulk_silhouette, chunk_deviation = self._bulk_scores(chunk)
        promising = np.flatnonzero(~self._certainly_beaten(front, bulk_silhouette, chunk_deviation))
        if len(promising) == 0:
            return replace(front, n_valid=n_valid)
        candidates = _canonical(chunk[:, promising])
        labels = np.concatenate([front.labels, candidates.T])
        silhouette = np.concatenate([front.silhouette, self._exact_silhouettes(candidates)])
        deviation = np.concatenate([front.deviation, chunk_deviation[promising]])
        order = np.lexsort((*labels.T[::-1], -silhouette, deviation))
        best_before = np.maximum.accumulate(np.append(-np.inf, silhouette[order]))[:-1]
        unbeaten = order[silhouette[order] > best_before]
        return ParetoFront(labels[unbeaten], silhouette[unbeaten], deviation[unbeaten], front.drawn, n_valid)

    def _bulk_scores(self, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Silhouettes (S,), with an error of at most ``error_bound``, and largest deviations (S,), which are exact."""
        distances: np.ndarray = self.distances.astype(self.bulk_dtype)
        counts: np.ndarray = self.counts.T.astype(self.bulk_dtype)
        totals = self.counts.sum(axis=0)
        silhouette, deviation = np.empty(labels.shape[1]), np.empty(labels.shape[1])
        for columns in _slices(labels):
            members = members_of(labels[:, columns], self.bulk_dtype)
            silhouette[columns] = silhouettes(distances, members, np.matmul).mean(axis=0, dtype=np.float64)
            deviation[columns] = deviations(np.moveaxis(counts @ members, 1, 2), totals).max(axis=0)
        return silhouette, deviation

    def _exact_silhouettes(self, labels: np.ndarray) -> np.ndarray:
        silhouette = np.empty(labels.shape[1])
        for columns in _slices(labels):
            values = silhouettes(self.distances, members_of(labels[:, columns]), ordered_product)
            silhouette[columns] = sum(values) / len(values)
        return _round_scores(silhouette)

    def _certainly_beaten(self, front: ParetoFront, silhouette: np.ndarray, deviation: np.ndarray) -> np.ndarray:
        """Whether each partition (S,) certainly has a lower silhouette than another partition that deviates no more.

        The other partition is on the front or one of the S partitions. The margin exceeds the errors of the scores, so no
        partition that belongs on the front is dropped.
        """
        best_on_front = np.append(-np.inf, front.silhouette)[np.searchsorted(front.deviation, deviation, side="right")]
        beaten = best_on_front > silhouette + self.error_bound
        undecided = np.flatnonzero(~beaten)
        order = undecided[np.lexsort((-silhouette[undecided], deviation[undecided]))]
        beaten[order] = np.maximum.accumulate(silhouette[order]) > silhouette[order] + 2 * self.error_bound
        return beaten


def _slices(labels: np.ndarray) -> Iterator[slice]:
    """Slices of the partitions (N, S); the partitions of a slice are scored at once."""
    step = max(1, _LABELS_SCORED_AT_ONCE // len(labels))
    return (slice(start, start + step) for start in range(0, labels.shape[1], step))


def _canonical(labels: np.ndarray) -> np.ndarray:
    """Labels (N, S) with parts numbered in the order in which they appear."""
    first_positions = np.stack([(labels == part).argmax(axis=0) for part in range(labels.max() + 1)])
    return first_positions.argsort(axis=0).argsort(axis=0)[labels, np.arange(labels.shape[1])]


def _has_few_partitions(n: int, limit: int) -> bool:
    """Whether a set of ``n`` elements has at most ``limit`` partitions. Their number is the Bell number of n."""
    row = [1]  # a row of Bell's triangle: a row of length m ends in the Bell number of m
    while len(row) < n and row[-1] <= limit:
        next_row = [row[-1]]
        for value in row:
            next_row.append(next_row[-1] + value)
        row = next_row
    return row[-1] <= limit


def _enumerate(group_sizes: np.ndarray) -> Iterator[np.ndarray]:
    """The labels of all valid partitions, in chunks with the same number of parts."""
    labels = np.zeros((1, 1), dtype=np.uint8)
    for _ in range(group_sizes.sum() - 1):
        n_choices = labels.max(axis=0).astype(np.int64) + 2  # any existing part, or a new one
        offsets = np.repeat(np.cumsum(n_choices) - n_choices, n_choices)
        labels = np.vstack([labels.repeat(n_choices, axis=1), (np.arange(n_choices.sum()) - offsets).astype(np.uint8)])
    group_starts = np.cumsum(group_sizes) - group_sizes
    numbers_of_parts = labels.max(axis=0) + 1
    for n_parts in range(2, group_sizes.min() + 1):
        partitions = labels.compress(numbers_of_parts == n_parts, axis=1)
        for start in range(0, partitions.shape[1], _DEALT_AT_ONCE):
            chunk = partitions[:, start : start + _DEALT_AT_ONCE]
            holds_group = np.logical_or.reduceat(members_of(chunk, bool), group_starts, axis=1)
            yield chunk.compress(holds_group.all(axis=(0, 1)), axis=1)


def _sample(group_sizes: np.ndarray, sample_size: int, random_state: np.random.Generator) -> Iterator[np.ndarray]:
    """Draw ``sample_size`` partitions; yields the labels of the valid ones, in chunks with the same number of parts."""
    for sizes in _draw_part_sizes(group_sizes.sum(), sample_size, random_state):
        if 2 <= len(sizes) <= group_sizes.min():
            for start in range(0, sizes.shape[1], _DEALT_AT_ONCE):
                yield _deal(sizes[:, start : start + _DEALT_AT_ONCE], group_sizes, random_state)


def _draw_part_sizes(n: int, sample_size: int, random_state: np.random.Generator) -> Iterator[np.ndarray]:
    """Draw the sizes of the parts of random partitions; yields arrays (B, S), each of S partitions into B parts.

    Partitions whose last part would have a single clusterlet are left out.
    """
    dtype = np.min_scalar_type(n)
    for start in range(0, sample_size, _DRAWN_AT_ONCE):
        remaining = np.full(min(_DRAWN_AT_ONCE, sample_size - start), n, dtype=dtype)
        sizes = np.empty((0, len(remaining)), dtype=dtype)
        while len(remaining):
            size = random_state.integers(2, n, size=len(remaining), dtype=dtype)
            is_last = size >= remaining
            is_complete = is_last & (remaining > 1)
            yield np.vstack([sizes, remaining]).compress(is_complete, axis=1)
            sizes, remaining = np.vstack([sizes, size]).compress(~is_last, axis=1), (remaining - size)[~is_last]


def _deal(sizes: np.ndarray, group_sizes: np.ndarray, random_state: np.random.Generator) -> np.ndarray:
    """Deal clusterlets at random to parts of sizes (B, S); returns the labels (N, S') of the valid partitions.

    Each clusterlet in turn takes one of the free places at random, so every part is filled with a random choice. A partition
    is valid if every part gets a clusterlet of every group.
    """
    room = sizes.copy()
    n_left = int(group_sizes.sum())
    labels = np.empty((0, room.shape[1]), dtype=room.dtype)
    for group_size in group_sizes:
        room_before, group_labels = room.copy(), np.empty((group_size, room.shape[1]), dtype=room.dtype)
        for clusterlet_labels in group_labels:
            _take_places(room, random_state.integers(n_left, size=room.shape[1], dtype=room.dtype), clusterlet_labels)
            n_left -= 1
        is_complete = (room < room_before).all(axis=0)
        room, labels = room.compress(is_complete, axis=1), np.vstack([labels, group_labels]).compress(is_complete, axis=1)
    return labels


def _take_places(room: np.ndarray, places: np.ndarray, labels: np.ndarray) -> None:
    """Write to ``labels`` (S,) the parts in which the free places numbered ``places`` (S,) lie, and use up these places.

    ``room`` (B, S) is the number of free places in each part.
    """
    cumulative_room = np.zeros_like(places)
    labels[:] = 0
    for part_room in room[:-1]:
        cumulative_room += part_room
        labels += places >= cumulative_room
    for part, part_room in enumerate(room):
        part_room -= labels == part


def _construct(group_sizes: np.ndarray, sample_size: int, random_state: np.random.Generator) -> Iterator[np.ndarray]:
    """Construct partitions in which every part contains every group; yields labels, in chunks like :func:`_sample`."""
    for sizes in _draw_part_sizes(group_sizes.sum(), sample_size, random_state):
        n_parts = min(len(sizes), int(group_sizes.min()))
        for start in range(0, sizes.shape[1], _DEALT_AT_ONCE):
            n_partitions = min(_DEALT_AT_ONCE, sizes.shape[1] - start)
            yield np.vstack([_deal_group(size, n_parts, n_partitions, random_state) for size in group_sizes])


def _deal_group(group_size: int, n_parts: int, n_partitions: int, random_state: np.random.Generator) -> np.ndarray:
    """Labels (group_size, n_partitions) of the clusterlets of one group: one in every part, the others in random parts."""
    dtype = np.min_scalar_type(n_parts)
    one_each = np.repeat(np.arange(n_parts, dtype=dtype)[:, None], n_partitions, axis=1)
    rest = random_state.integers(n_parts, size=(group_size - n_parts, n_partitions), dtype=dtype)
    return random_state.permuted(np.vstack([one_each, rest]), axis=0)
