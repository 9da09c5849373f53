"""A tree whose leaves are the clusters. It learns the labels of plain k-means, and avoids splits that separate the groups.

SCAFF (Pereira Barata et al. 2023, arXiv 2110.09295) grows trees that classify. It chooses splits that separate the classes well
and the groups badly. Its use for clustering is our own:

1. *Classes* are the labels of plain k-means.
2. *Gain* of a split: ``(1 - theta) (A - 1/2) - theta (B - 1/2)``. A split separates a label or group well if the side of an
   instance predicts whether the instance has it, as measured by the area under the ROC curve. A is the mean area over the
   labels in the node, weighted by their sizes. B is the largest area over the groups in the node. A is 1/2 if there is a single
   label, and so is B if there is a single group.
3. *Growth*: the leaf with the largest product of its gain and its fraction of all instances is split next, until there are as
   many leaves as requested clusters. If products tie, the first feature wins, then the lower threshold, then the older leaf.
4. *Forced splits*: if no split has a gain, the leaf with the largest sum of squared errors gets the split that lowers it most.

No leaf is smaller than ``max(1, n // (20 k))``, unless that would give too few leaves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from clusterlets.algorithms.compiled import compiled, inner
from clusterlets.algorithms.instances import checked_instances
from clusterlets.algorithms.kmeans import kmeans_labels

_MIN_GAIN = 1e-12  # a smaller gain may be a rounding error
_LEAF_DIVISOR = 20  # a leaf has at least n / (20 k) instances


@dataclass(frozen=True)
class Nodes:
    """A tree as arrays over its m nodes, in the order in which the nodes were added. Node 0 is the root.

    Attributes
    ----------
    children_left, children_right : int array (m,)
        Children of a node, -1 for a leaf. The left one gets the instances whose feature is at most the threshold.
    feature : int array (m,)
        Feature by which a node is split; -1 for a leaf.
    threshold : float array (m,)
        Threshold of the split, in the unit of the feature; NaN for a leaf.
    cluster : int array (m,)
        Label of the instances in a leaf; -1 for a node that is split.
    """

    children_left: np.ndarray
    children_right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    cluster: np.ndarray

    def text(self, feature_names: Sequence[str] | None = None, decimals: int = 2) -> str:
        """The tree as lines of text, indented by depth, as scikit-learn's ``export_text`` writes them.

        Without ``feature_names`` (d,), features are called feature_0 and so on. Thresholds have ``decimals`` decimals.
        """
        lines, stack = [], [(0, 0, "")]
        while stack:
            node, depth, condition = stack.pop()
            if condition:
                lines.append(f"{'|   ' * (depth - 1)}|--- {condition}")
            feature = int(self.feature[node])
            if feature < 0:
                lines.append(f"{'|   ' * depth}|--- cluster: {self.cluster[node]}")
                continue
            name = f"feature_{feature}" if feature_names is None else feature_names[feature]
            threshold = f"{self.threshold[node]:.{decimals}f}"
            stack.append((int(self.children_right[node]), depth + 1, f"{name} >  {threshold}"))
            stack.append((int(self.children_left[node]), depth + 1, f"{name} <= {threshold}"))
        return "\n".join(lines) + "\n"


def scaff_tree(
    X: np.ndarray, groups: np.ndarray, n_clusters: int, random_state: np.random.Generator, theta: float = 0.5
) -> tuple[np.ndarray, Nodes]:
    """Grow a tree that learns the labels of plain k-means: steps 1 to 4 of the module's docstring.

    ``X`` (n, d), ``groups`` (n,), ``n_clusters`` and ``random_state`` are as in :meth:`clusterlets.methods.Method.fit`, and
    ``theta`` is that of :class:`clusterlets.ScaffTree`. Returns the leaf of each instance (n,) and the tree.
    O(n k d) time per round of k-means, plus the time of :func:`grow_tree`.
    """
    X, groups = checked_instances(X, groups, "a tree", n_clusters)
    return grow_tree(X, groups, kmeans_labels(X, n_clusters, random_state), n_clusters, theta)


def grow_tree(
    X: np.ndarray, groups: np.ndarray, targets: np.ndarray, n_leaves: int, theta: float = 0.5
) -> tuple[np.ndarray, Nodes]:
    """Grow a tree that learns the labels ``targets`` and avoids separating the groups: steps 2 to 4 of the module's docstring.

    The result is deterministic.

    Parameters
    ----------
    X : float array (n, d)
    groups, targets : int arrays (n,)
        Group codes 0..K-1, and labels to learn, 0..L-1.
    n_leaves : int
        Number of leaves, from 1 to n. The tree has fewer only if there are fewer distinct rows.
    theta : float
        Weight of the groups, from 0 to 1.

    Returns
    -------
    labels : int array (n,)
        Leaf of each instance, numbered 0..m-1 from left to right.
    nodes : Nodes

    Notes
    -----
    O(d n log n) time to sort, then O(d n (L + K)) for each level of the tree. A forced split of m instances takes O(d^2 m).
    O(d n) memory.
    """
    X, groups = checked_instances(X, groups, "a tree", n_leaves)
    targets = np.ascontiguousarray(targets, dtype=np.int64)
    tree = _GrowingTree(X, groups, targets, max(1, len(X) // (_LEAF_DIVISOR * n_leaves)), theta)
    while len(tree.leaves) < n_leaves and tree.split_next():
        pass
    return tree.result()


class _GrowingTree:
    """The tree so far: ``leaves`` by node, their sums of squared ``errors``, and a heap of their best splits.

    ``order[f]`` holds the instances leaf by leaf, and within a leaf by ascending feature f. So a leaf is the same slice of
    every row of ``order``. ``leaves`` has the start and the end of the slice.
    """

    def __init__(self, X: np.ndarray, groups: np.ndarray, targets: np.ndarray, min_size: int, theta: float):
        self.X, self.groups, self.targets, self.min_size, self.theta = X, groups, targets, min_size, theta
        self.columns = np.ascontiguousarray(X.T)
        self.order = np.argsort(self.columns, axis=1, kind="stable")
        self.leaves: dict[int, tuple[int, int]] = {}
        self.errors: dict[int, float] = {}
        self.split_heap: list[tuple[float, int, float, int, int]] = []  # minus the weighted gain, then the split
        self.splits: list[tuple[int, int, float]] = []  # node, feature and threshold
        self._add_leaf(0, 0, len(X))

    def split_next(self) -> bool:
        """Split a leaf; returns False if no leaf has two different rows."""
        if self.split_heap:
            _, feature, threshold, node, size_of_left = heappop(self.split_heap)
        else:
            split = self._forced_split()
            if split is None:
                return False
            node, feature, size_of_left = split
            threshold = self._threshold(node, feature, size_of_left)
        start, end = self.leaves.pop(node)
        _partition(self.order, start, end, feature, size_of_left)
        left = 2 * len(self.splits) + 1
        self.splits.append((node, feature, threshold))
        self._add_leaf(left, start, start + size_of_left)
        self._add_leaf(left + 1, start + size_of_left, end)
        return True

    def result(self) -> tuple[np.ndarray, Nodes]:
        """The labels of the instances, and the tree."""
        labels, n_nodes = np.empty(len(self.X), dtype=np.int64), 2 * len(self.splits) + 1
        left, right, feature, cluster = (np.full(n_nodes, -1) for _ in range(4))
        threshold = np.full(n_nodes, np.nan)
        for number, (node, split_feature, split_threshold) in enumerate(self.splits):
            left[node], right[node] = 2 * number + 1, 2 * number + 2
            feature[node], threshold[node] = split_feature, split_threshold
        for label, (node, (start, end)) in enumerate(sorted(self.leaves.items(), key=lambda leaf: leaf[1])):
            labels[self.order[0, start:end]] = cluster[node] = label
        return labels, Nodes(left, right, feature, threshold, cluster)

    def _add_leaf(self, node: int, start: int, end: int) -> None:
        self.leaves[node] = start, end
        rows = self.X[self.order[0, start:end]]
        self.errors[node] = float(np.square(rows - rows.mean(axis=0)).sum())
        gain, feature, size_of_left = _best_split(
            self.columns, self.order, start, end, self.targets, self.groups, self.min_size, self.theta
        )
        if gain > _MIN_GAIN:
            threshold = self._threshold(node, feature, size_of_left)
            heappush(self.split_heap, (-gain * (end - start) / len(self.X), feature, threshold, node, size_of_left))

    def _threshold(self, node: int, feature: int, size_of_left: int) -> float:
        """The midpoint between the feature's values on the two sides of a split."""
        last_on_left = self.leaves[node][0] + size_of_left - 1
        low, high = self.columns[feature, self.order[feature, last_on_left : last_on_left + 2]].tolist()
        middle = low + (high - low) / 2
        return middle if middle < high else low  # there may be no float between the two values

    def _forced_split(self) -> tuple[int, int, int] | None:
        """Leaf, feature and size of the left side of the forced split; None if no leaf has two different rows."""
        leaves_by_error = sorted(self.leaves, key=lambda node: (-self.errors[node], node))
        for min_size in (self.min_size, 1):
            for node in leaves_by_error:
                decrease, feature, size_of_left = _least_error_split(self.columns, self.order, *self.leaves[node], min_size)
                if decrease >= 0:
                    return node, feature, size_of_left
        return None


@inner
def _number_codes(codes, rows, first):
    """Number the codes that occur among the rows consecutively, from ``first`` on.

    Returns an array with the number of each code, or -1 for a code that does not occur, and the next free number.
    """
    numbers = np.full(codes.max() + 1, -1)
    numbers[codes[rows]] = 0
    for code in range(len(numbers)):
        if numbers[code] == 0:
            numbers[code] = first
            first += 1
    return numbers, first


@compiled("Tuple((float64, int64, int64))(float64[:,::1], int64[:,::1], int64, int64, int64[::1], int64[::1], int64, float64)")
def _best_split(columns, order, start, end, targets, groups, min_size, theta):
    """Gain and feature of a leaf's best split, and the number of instances on its left. The gain is -1 if there is no split.

    If m_c of the leaf's m instances have the label or group c, and l_c of the l instances on the left, then the area of c is
    1/2 + |l_c m - l m_c| / (2 m_c (m - m_c)). Labels are weighted by m_c / m.
    """
    m = end - start
    rows = order[0, start:end]
    label_numbers, n_labels = _number_codes(targets, rows, 0)
    group_numbers, n_codes = _number_codes(groups, rows, n_labels)
    totals = np.zeros(n_codes, dtype=np.int64)
    for row in rows:
        totals[label_numbers[targets[row]]] += 1
        totals[group_numbers[groups[row]]] += 1
    weights = np.zeros(n_codes)
    for c in range(n_codes):
        if totals[c] < m:
            weights[c] = 1.0 / (m * (m - totals[c])) if c < n_labels else 1.0 / (totals[c] * (m - totals[c]))
    best_gain, best_feature, best_size = -1.0, -1, -1
    for feature in range(len(columns)):
        values, ascending = columns[feature], order[feature, start:end]
        left = np.zeros(n_codes, dtype=np.int64)
        for size in range(1, m - min_size + 1):
            row = ascending[size - 1]
            left[label_numbers[targets[row]]] += 1
            left[group_numbers[groups[row]]] += 1
            if size == m or size < min_size or values[row] == values[ascending[size]]:
                continue
            label_separation, group_separation = 0.0, 0.0
            for c in range(n_labels):
                label_separation += abs(left[c] * m - size * totals[c]) * weights[c]
            for c in range(n_labels, n_codes):
                group_separation = max(group_separation, abs(left[c] * m - size * totals[c]) * weights[c])
            gain = ((1.0 - theta) * label_separation - theta * group_separation) / 2.0
            if gain > best_gain:
                best_gain, best_feature, best_size = gain, feature, size
    return best_gain, best_feature, best_size


@compiled("Tuple((float64, int64, int64))(float64[:,::1], int64[:,::1], int64, int64, int64)")
def _least_error_split(columns, order, start, end, min_size):
    """The split that lowers the sum of squared errors most: the decrease, the feature, and the number of instances on the left.

    The decrease is |s|^2 (1 / size + 1 / (m - size)) for a leaf of m instances, ``size`` of them on the left. s is the sum of
    the differences between the instances on the left and the leaf's mean. The decrease is -1 if there is no split.
    """
    m, n_features = end - start, len(columns)
    means = np.zeros(n_features)
    for feature in range(n_features):
        for position in range(start, end):
            means[feature] += columns[feature, order[feature, position]]
        means[feature] /= m
    best_decrease, best_feature, best_size = -1.0, -1, -1
    for feature in range(n_features):
        sums = np.zeros(n_features)
        values, ascending = columns[feature], order[feature, start:end]
        for size in range(1, m - min_size + 1):
            row = ascending[size - 1]
            for coordinate in range(n_features):
                sums[coordinate] += columns[coordinate, row] - means[coordinate]
            if size == m or size < min_size or values[row] == values[ascending[size]]:
                continue
            squared_norm = 0.0
            for coordinate in range(n_features):
                squared_norm += sums[coordinate] * sums[coordinate]
            decrease = squared_norm * (1.0 / size + 1.0 / (m - size))
            if decrease > best_decrease:
                best_decrease, best_feature, best_size = decrease, feature, size
    return best_decrease, best_feature, best_size


@compiled("void(int64[:,::1], int64, int64, int64, int64)")
def _partition(order, start, end, feature, size):
    """Move the ``size`` instances of a leaf with the lowest values of ``feature`` to the front of its slice of every row.

    The instances that move keep their order, and so do the others.
    """
    is_left = np.zeros(order.shape[1], dtype=np.bool_)
    is_left[order[feature, start : start + size]] = True
    right = np.empty(end - start - size, dtype=np.int64)
    for rows in order:
        left_end, n_right = start, 0
        for position in range(start, end):
            row = rows[position]
            if is_left[row]:
                rows[left_end] = row
                left_end += 1
            else:
                right[n_right] = row
                n_right += 1
        rows[left_end:end] = right
