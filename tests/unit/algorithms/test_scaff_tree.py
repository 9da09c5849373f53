"""Every split of the tree is the best of all cuts of all leaves. Small trees have the splits worked out by hand."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score
from sklearn.tree import DecisionTreeClassifier, export_text

from clusterlets.algorithms.kmeans import kmeans_labels
from clusterlets.algorithms.scaff_tree import grow_tree, scaff_tree

ROUNDING = 1e-12


def area(is_positive, is_left):
    """Area under the ROC curve, with the sides of a split as scores: the share of ordered pairs, where ties count half.

    A share below one half counts as its complement, because either side may have the higher score.
    """
    positive, negative = is_left[is_positive][:, None], is_left[~is_positive]
    n_pairs = positive.size * negative.size
    if not n_pairs:
        return Fraction(1, 2)
    share_in_order = Fraction(int(2 * (positive > negative).sum() + (positive == negative).sum()), 2 * n_pairs)
    return max(share_in_order, 1 - share_in_order)


def gain(targets, groups, is_left, theta):
    """The gain of a split of these rows, as the module ``scaff_tree`` defines it."""
    mean_area = sum(Fraction(int((targets == t).sum()), len(targets)) * area(targets == t, is_left) for t in np.unique(targets))
    largest_area = max(area(groups == h, is_left) for h in np.unique(groups))
    return (1 - theta) * (mean_area - Fraction(1, 2)) - theta * (largest_area - Fraction(1, 2))


def cuts(X, rows, min_size):
    """Every cut of a leaf, as (feature, highest value on the left, mask of the rows on the left)."""
    for feature in range(X.shape[1]):
        values = X[rows, feature]
        for value in np.unique(values)[:-1]:
            if min_size <= (values <= value).sum() <= len(rows) - min_size:
                yield feature, value, values <= value


def squared_error(X, rows):
    return np.square(X[rows] - X[rows].mean(axis=0)).sum()


def error_reduction(X, rows, is_left):
    return squared_error(X, rows) - squared_error(X, rows[is_left]) - squared_error(X, rows[~is_left])


def splits_of(nodes):
    """Node, feature and threshold of every split, in the order in which they were made."""
    # Child nodes are numbered when they are made, and leaves have the child -1.
    order = np.argsort(nodes.children_left)[(nodes.feature < 0).sum() :]
    return [(node, int(nodes.feature[node]), float(nodes.threshold[node])) for node in order.tolist()]


def assert_best_of_all_cuts(X, groups, targets, n_leaves, theta):
    """Repeat the splits of a tree, and compare each with all cuts of all leaves at that moment. Return the labels."""
    labels, nodes = grow_tree(X, groups, targets, n_leaves, theta)
    n = len(X)
    min_size = max(1, n // (20 * n_leaves))
    leaves = {0: np.arange(n)}
    for split_index, (split_node, split_feature, threshold) in enumerate(splits_of(nodes)):
        gains = {
            (node, feature, value): float(gain(targets[rows], groups[rows], is_left, Fraction(theta)) * len(rows) / n)
            for node, rows in leaves.items()
            for feature, value, is_left in cuts(X, rows, min_size)
        }
        rows = leaves.pop(split_node)
        is_left = X[rows, split_feature] <= threshold
        below, above = X[rows[is_left], split_feature].max(), X[rows[~is_left], split_feature].min()
        assert threshold == (below + above) / 2
        if max(gains.values(), default=0) > ROUNDING * n:
            assert gains[split_node, split_feature, below] >= max(gains.values()) - ROUNDING
        else:
            # Without a gain, the leaf with the largest error is split where this reduces the error most. If no leaf can be
            # split into leaves of the minimum size, smaller leaves are allowed.
            size_limit = min_size if gains else 1
            leaves_before = [*leaves.values(), rows]
            splittable = [leaf_rows for leaf_rows in leaves_before if list(cuts(X, leaf_rows, size_limit))]
            assert squared_error(X, rows) >= max(squared_error(X, leaf_rows) for leaf_rows in splittable) - 1e-9
            reductions = [error_reduction(X, rows, is_left) for *_, is_left in cuts(X, rows, size_limit)]
            assert error_reduction(X, rows, is_left) >= max(reductions) - 1e-9
        leaves |= {2 * split_index + 1: rows[is_left], 2 * split_index + 2: rows[~is_left]}
    assert len(leaves) == min(n_leaves, len(np.unique(X, axis=0)))
    assert {frozenset(rows.tolist()) for rows in leaves.values()} == {
        frozenset(np.flatnonzero(labels == label).tolist()) for label in range(labels.max() + 1)
    }
    return labels


@given(data=st.data(), n=st.integers(1, 18), theta=st.sampled_from([0, 0.25, 0.5, 0.75, 0.9, 1]))
def test_every_split_is_the_best_of_all_cuts(data, n, theta):
    def integers(highest, *shape):
        size = int(np.prod(shape))
        return np.array(data.draw(st.lists(st.integers(0, highest), min_size=size, max_size=size))).reshape(shape)

    X = integers(data.draw(st.sampled_from([1, 3, 20])), n, data.draw(st.integers(1, 3))).astype(float)
    groups, targets = integers(data.draw(st.integers(0, 4)), n), integers(data.draw(st.integers(0, 4)), n)
    assert_best_of_all_cuts(X, groups, targets, data.draw(st.integers(1, n)), theta)


@pytest.mark.parametrize("theta", [0, 0.5, 0.75])
def test_every_split_is_the_best_of_all_cuts_where_leaves_have_a_minimum_size(theta):
    rng = np.random.default_rng(int(theta * 4))
    X, groups = np.round(rng.normal(size=(90, 3)), 1), rng.integers(3, size=90)
    labels = assert_best_of_all_cuts(X, groups, kmeans_labels(X, 2, rng), 2, theta)
    assert np.bincount(labels).min() >= 2


class TestByHand:
    def splits(self, X, groups, targets, theta, n_leaves=2):
        return splits_of(grow_tree(np.asarray(X, float), np.array(groups), np.array(targets), n_leaves, theta)[1])

    def test_rounding_does_not_count_as_a_gain(self):
        # The targets are the groups, and theta is 1/2, so every exact gain is 0.
        for n in range(10, 60):
            X, groups, zeros = np.arange(n)[:, None], (np.arange(n) % 7 < 3) * 1, np.zeros(n, int)
            assert self.splits(X, groups, groups, 0.5, 5) == self.splits(X, zeros, zeros, 0.5, 5)

    def test_ties_of_forced_splits_go_to_the_lower_feature_and_threshold(self):
        assert self.splits([[0, 0], [1, 1], [2, 2]], [0, 0, 0], [0, 0, 0], 0.0) == [(0, 0, 0.5)]

    def test_equal_gains_go_to_the_lower_feature_then_threshold_then_older_leaf(self):
        X = np.array([[0.0, 0.0], [1, 1], [2, 2]])
        assert self.splits(X, [0, 0, 0], [0, 1, 0], 0.0) == [(0, 0, 0.5)]  # the area is 3/4 for each of the four cuts
        X = np.array([[0.0], [1], [10], [11], [20], [21], [30], [31]])
        labels, nodes = grow_tree(X, np.zeros(8, int), np.arange(8) // 2, 4, 0.0)
        assert splits_of(nodes) == [(0, 0, 15.5), (1, 0, 5.5), (2, 0, 25.5)]
        assert labels.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]

    def test_a_threshold_between_neighbouring_numbers_separates_them(self):
        low = np.nextafter(1, 2)
        high = np.nextafter(low, 2)
        assert low + (high - low) / 2 == high
        ((_, _, threshold),) = self.splits([[low], [high]], [0, 0], [0, 1], 0.0)
        assert low <= threshold < high


@pytest.mark.parametrize("n_leaves", [1, 2, 3, 9])
def test_the_nodes_lead_every_instance_to_its_label(n_leaves):
    rng = np.random.default_rng(n_leaves)
    X = np.round(rng.normal(size=(200, 3)), 1)
    labels, nodes = grow_tree(X, rng.integers(2, size=200), rng.integers(4, size=200), n_leaves, 0.25)
    for x, label in zip(X, labels, strict=True):
        node = 0
        while nodes.feature[node] >= 0:
            goes_left = x[nodes.feature[node]] <= nodes.threshold[node]
            node = nodes.children_left[node] if goes_left else nodes.children_right[node]
        assert nodes.cluster[node] == label
    leaves = nodes.feature < 0
    assert sorted(nodes.cluster[leaves]) == list(range(n_leaves)) and (nodes.cluster[~leaves] == -1).all()
    assert np.isnan(nodes.threshold[leaves]).all() and np.isfinite(nodes.threshold[~leaves]).all()
    assert (nodes.children_left[leaves] == -1).all() and (nodes.children_right[leaves] == -1).all()


def test_the_text_of_a_tree_has_the_layout_of_scikit_learns_export():
    """The table is so simple that scikit-learn's tree has the same splits."""
    X = np.array([[0.0, 5], [1, 4], [10, 5], [11, 4], [20, 5], [21, 4]])
    labels = np.repeat([0, 1, 2], 2)
    _, nodes = grow_tree(X, np.zeros(6, int), labels, 3, 0.0)
    classifier = DecisionTreeClassifier(random_state=0).fit(X, labels)
    for names in (None, ["age", "income"]):
        text = export_text(classifier, feature_names=names, decimals=3)
        assert nodes.text(names, 3).replace("cluster:", "class:") == text
    assert grow_tree(X, labels, labels, 1)[1].text() == "|--- cluster: 0\n"


def test_the_tree_learns_the_k_means_labels_of_the_same_seed():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 2)) + np.repeat([[0, 0], [40, 0], [0, 40]], 100, axis=0)
    labels, _ = scaff_tree(X, rng.integers(2, size=300), 3, np.random.default_rng(5), theta=0.0)
    assert adjusted_rand_score(labels, kmeans_labels(X, 3, np.random.default_rng(5))) == 1
