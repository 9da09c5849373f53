"""The centroid matcher C: the best of many random partitions (paper, section "Centroid Matcher", equation 1).

Only the silhouette of a partition and its largest deviation matter. So one pass over the samples keeps those that no other
sample beats in both, and this Pareto front serves every omega. Scores are first computed in bulk in single precision, with a
bound on their error. Partitions that may be on the front are then scored exactly. So the front depends neither on the order of
sums in a matrix product nor on the number of threads.

Arrays over many partitions have the partitions along the last axis: ``labels`` (N, S), ``members`` (B, N, S). Partitions are
selected by ``compress``, which keeps arrays contiguous in memory, unlike ``[:, mask]``. This makes everything that follows
several times faster.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from threading import Lock
from typing import Literal

import numpy as np

from clusterlets.algorithms.centroids import centroid_distances, members_of, ordered_product, silhouettes
from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.matching.objectives import deviations

#: Number of samples whose block sizes are drawn at once, and of samples dealt at once. The random stream depends on both.
_DRAWN_AT_ONCE, _DEALT_AT_ONCE = 2**18, 2**14
#: Number of labels scored at once, so few that their distances fit the caches.
_LABELS_SCORED_AT_ONCE = 2**15
#: If fewer than one sample in this many is valid, partitions are constructed instead.
_SAMPLES_PER_VALID_ONE = 100
#: Silhouettes and objectives are rounded to steps of 2^-40, more than their rounding errors, so that equal ones tie.
_STEPS = 2.0**40

_LIMITED = Lock()  # held while the number of BLAS threads is limited

_Drawn = Literal["sampled", "enumerated", "constructed"]


@dataclass(frozen=True)
class ParetoFront:
    """The sampled partitions that no other one beats in both silhouette and deviation, by ascending deviation.

    Attributes
    ----------
    labels : int array (F, N)
        Block of each clusterlet. Blocks are numbered in the order in which they appear. Of partitions with equal scores, the
        lexicographically least is kept. F is 0 if no valid partition was found.
    silhouette : float array (F,)
        :func:`clusterlets.algorithms.centroids.centroid_silhouette`, rounded to 2^-40; ascending.
    deviation : float array (F,)
        Largest deviation of a block from the dataset; ascending.
    drawn : {"sampled", "enumerated", "constructed"}
        How the partitions were drawn: see :func:`sample_partitions`.
    n_valid : int
        Number of valid partitions among the samples. Repetitions count, unless all partitions were enumerated.
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

    A partition is valid if it has two blocks or more and every block holds two clusterlets or more and every group.

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
        ``enumerated``: there are at most ``sample_size`` partitions and all were tried, or a group has a single clusterlet,
        so that no partition is valid. ``sampled``: block by block, a size was drawn uniformly from 2..N-1, and the block was
        filled with random clusterlets that were left, or with all of them if fewer were left. ``constructed``: less than one
        sample in 100 was valid, as happens with many groups, so ``sample_size`` valid partitions were constructed (less those
        whose sizes leave a single clusterlet). They have as many blocks as the sizes of a sample give, but at most as many as
        the rarest group has clusterlets. Each group puts one random clusterlet into every block, and the rest into any.

    Notes
    -----
    O(sample_size * B * N^2) time for B blocks (about 2), O(2^18 B + N^2) memory. The result is the same to the last byte
    however the matrix products are rounded, and on any number of threads.
    """
    from threadpoolctl import threadpool_limits  # not needed to read a front

    search, group_sizes = _Search(clusterlets), np.count_nonzero(clusterlets.counts, axis=0)
    # The products are small, so a second thread would cost more than it saves. The limit applies to the whole process. Without
    # the lock, two threads that set and reset it in turn could leave it set.
    with _LIMITED, threadpool_limits(limits=1):
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
    return np.round(values * _STEPS) / _STEPS


class _Search:
    """Scores partitions by distances (N, N), divided by the largest, and counts (N, K). Bulk scores use ``bulk_dtype``."""

    def __init__(self, clusterlets: Clusterlets) -> None:
        self.distances, self.counts = centroid_distances(clusterlets.centroids), clusterlets.counts
        self.distances /= self.distances.max() or 1
        # Single precision suffices if sums of instances are exact (below 2^24) and distances do not underflow.
        least = self.distances.min(where=self.distances > 0, initial=1)
        self.bulk_dtype: type = np.float32 if self.counts.sum() < 2**24 and least > 1e-30 else np.float64

    @property
    def slack(self) -> float:
        """Bound on the error of a bulk silhouette.

        Let u be the unit roundoff, and eps 2 u. A sum of up to N distances, each rounded once, and its quotient by the size of
        a block have a relative error of at most (N + 4) u in any order of summation. So a and b have it too. Then the error of
        (b - a) / max(a, b) is at most 3 (N + 4) u, and the mean of N of these numbers adds N u. Twice that sum also covers
        terms of second order. The last term is the rounding of the exact score that the bulk score is compared with.
        """
        return (4 * len(self.distances) + 20) * float(np.finfo(self.bulk_dtype).eps) + 1 / _STEPS

    def front(self, batches: Iterable[np.ndarray], drawn: _Drawn) -> ParetoFront:
        """Pareto front of batches of valid partitions. A batch is labels (N, S) with the same number of blocks."""
        n = len(self.distances)
        front = ParetoFront(np.empty((0, n), dtype=np.int64), np.empty(0), np.empty(0), drawn, 0)
        for batch in batches:
            front = self._merge(front, batch)
        return front

    def _merge(self, front: ParetoFront, labels: np.ndarray) -> ParetoFront:
        """The front after more partitions (N, S)."""
        n_valid = front.n_valid + labels.shape[1]
        silhouette, deviation = self._bulk_scores(labels)
        promising = np.flatnonzero(~self._certainly_beaten(front, silhouette, deviation))
        if len(promising) == 0:
            return replace(front, n_valid=n_valid)
        candidates = _canonical(labels[:, promising])
        labels = np.concatenate([front.labels, candidates.T])
        silhouette = np.concatenate([front.silhouette, self._exact_silhouettes(candidates)])
        deviation = np.concatenate([front.deviation, deviation[promising]])
        order = np.lexsort((*labels.T[::-1], -silhouette, deviation))
        best_before = np.maximum.accumulate(np.append(-np.inf, silhouette[order]))[:-1]
        unbeaten = order[silhouette[order] > best_before]
        return ParetoFront(labels[unbeaten], silhouette[unbeaten], deviation[unbeaten], front.drawn, n_valid)

    def _bulk_scores(self, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Silhouettes (S,) within ``slack``, and exact largest deviations (S,), as these need only sums of whole numbers."""
        distances: np.ndarray = self.distances.astype(self.bulk_dtype)
        counts: np.ndarray = self.counts.T.astype(self.bulk_dtype)
        totals = self.counts.sum(axis=0)
        silhouette, deviation = np.empty(labels.shape[1]), np.empty(labels.shape[1])
        for part in _parts(labels):
            members = members_of(labels[:, part], self.bulk_dtype)
            silhouette[part] = silhouettes(distances, members, np.matmul).mean(axis=0, dtype=np.float64)
            deviation[part] = deviations(np.moveaxis(counts @ members, 1, 2), totals).max(axis=0)
        return silhouette, deviation

    def _exact_silhouettes(self, labels: np.ndarray) -> np.ndarray:
        silhouette = np.empty(labels.shape[1])
        for part in _parts(labels):
            values = silhouettes(self.distances, members_of(labels[:, part]), ordered_product)
            silhouette[part] = sum(values) / len(values)
        return _round_scores(silhouette)

    def _certainly_beaten(self, front: ParetoFront, silhouette: np.ndarray, deviation: np.ndarray) -> np.ndarray:
        """Whether each partition (S,) certainly has a lower silhouette than another one that deviates no more.

        The other one is on the front or among these partitions. The margin exceeds the errors of the scores, so no partition
        that belongs on the front is dropped. The exact scores then give the same front however the bulk scores were rounded.
        """
        best_on_front = np.append(-np.inf, front.silhouette)[np.searchsorted(front.deviation, deviation, side="right")]
        beaten = best_on_front > silhouette + self.slack
        undecided = np.flatnonzero(~beaten)
        order = undecided[np.lexsort((-silhouette[undecided], deviation[undecided]))]
        beaten[order] = np.maximum.accumulate(silhouette[order]) > silhouette[order] + 2 * self.slack
        return beaten


def _parts(labels: np.ndarray) -> Iterator[slice]:
    """Slices of the partitions (N, S) that are scored at once."""
    step = max(1, _LABELS_SCORED_AT_ONCE // len(labels))
    return (slice(start, start + step) for start in range(0, labels.shape[1], step))


def _canonical(labels: np.ndarray) -> np.ndarray:
    """Labels (N, S) with blocks numbered in the order in which they appear."""
    first = np.stack([(labels == block).argmax(axis=0) for block in range(labels.max() + 1)])
    return first.argsort(axis=0).argsort(axis=0)[labels, np.arange(labels.shape[1])]


def _has_few_partitions(n: int, limit: int) -> bool:
    """Whether a set of ``n`` has at most ``limit`` partitions (its Bell number)."""
    row = [1]  # A row of Bell's triangle: its last number is the Bell number of its length.
    while len(row) < n and row[-1] <= limit:
        following = [row[-1]]
        for value in row:
            following.append(following[-1] + value)
        row = following
    return row[-1] <= limit


def _enumerate(group_sizes: np.ndarray) -> Iterator[np.ndarray]:
    """All valid partitions, in batches with the same number of blocks."""
    labels = np.zeros((1, 1), dtype=np.uint8)
    for _ in range(group_sizes.sum() - 1):
        choices = labels.max(axis=0).astype(np.int64) + 2  # any existing block, or a new one
        offsets = np.repeat(np.cumsum(choices) - choices, choices)
        labels = np.vstack([labels.repeat(choices, axis=1), (np.arange(choices.sum()) - offsets).astype(np.uint8)])
    group_starts = np.cumsum(group_sizes) - group_sizes
    block_counts = labels.max(axis=0) + 1
    for n_blocks in range(2, group_sizes.min() + 1):
        partitions = labels.compress(block_counts == n_blocks, axis=1)
        for start in range(0, partitions.shape[1], _DEALT_AT_ONCE):
            batch = partitions[:, start : start + _DEALT_AT_ONCE]
            holds_group = np.logical_or.reduceat(members_of(batch, bool), group_starts, axis=1)
            yield batch.compress(holds_group.all(axis=(0, 1)), axis=1)


def _sample(group_sizes: np.ndarray, sample_size: int, random_state: np.random.Generator) -> Iterator[np.ndarray]:
    """The valid ones of ``sample_size`` random partitions, in batches with the same number of blocks."""
    for sizes in _draw_block_sizes(group_sizes.sum(), sample_size, random_state):
        if 2 <= len(sizes) <= group_sizes.min():
            for start in range(0, sizes.shape[1], _DEALT_AT_ONCE):
                yield _deal(sizes[:, start : start + _DEALT_AT_ONCE], group_sizes, random_state)


def _draw_block_sizes(n: int, sample_size: int, random_state: np.random.Generator) -> Iterator[np.ndarray]:
    """Sizes (B, S) of the blocks of samples that leave no single clusterlet, one array for each number of blocks B."""
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
    """Deal clusterlets at random to blocks of sizes (B, S); labels (N, S') of the partitions with every group in each block.

    Each clusterlet in turn takes one of the free places at random, so every block is filled with a random choice.
    """
    room = sizes.copy()
    n_left = int(group_sizes.sum())
    labels = np.empty((0, room.shape[1]), dtype=room.dtype)
    for group_size in group_sizes:
        room_before, dealt = room.copy(), np.empty((group_size, room.shape[1]), dtype=room.dtype)
        for label in dealt:
            _take_place(room, random_state.integers(n_left, size=room.shape[1], dtype=room.dtype), label)
            n_left -= 1
        is_complete = (room < room_before).all(axis=0)
        room, labels = room.compress(is_complete, axis=1), np.vstack([labels, dealt]).compress(is_complete, axis=1)
    return labels


def _take_place(room: np.ndarray, place: np.ndarray, label: np.ndarray) -> None:
    """Write to ``label`` (S,) the block of place number ``place`` (S,), and remove that place from ``room`` (B, S)."""
    cumulative_room = np.zeros_like(place)
    label[:] = 0
    for block_room in room[:-1]:
        cumulative_room += block_room
        label += place >= cumulative_room
    for block, block_room in enumerate(room):
        block_room -= label == block


def _construct(group_sizes: np.ndarray, sample_size: int, random_state: np.random.Generator) -> Iterator[np.ndarray]:
    """Partitions in which every block has every group, in batches with the same number of blocks."""
    for sizes in _draw_block_sizes(group_sizes.sum(), sample_size, random_state):
        n_blocks = min(len(sizes), int(group_sizes.min()))
        for start in range(0, sizes.shape[1], _DEALT_AT_ONCE):
            n_dealt = min(_DEALT_AT_ONCE, sizes.shape[1] - start)
            yield np.vstack([_deal_group(size, n_blocks, n_dealt, random_state) for size in group_sizes])


def _deal_group(group_size: int, n_blocks: int, n_dealt: int, random_state: np.random.Generator) -> np.ndarray:
    """Labels (group_size, n_dealt) of the clusterlets of one group: one in every block, the rest in any."""
    dtype = np.min_scalar_type(n_blocks)
    one_each = np.repeat(np.arange(n_blocks, dtype=dtype)[:, None], n_dealt, axis=1)
    rest = random_state.integers(n_blocks, size=(group_size - n_blocks, n_dealt), dtype=dtype)
    return random_state.permuted(np.vstack([one_each, rest]), axis=0)
