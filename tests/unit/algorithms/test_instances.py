"""Every method refuses a table that cannot be clustered, with the same messages."""

import numpy as np
import pytest

from clusterlets import methods
from clusterlets.algorithms.instances import checked_instances
from clusterlets.errors import ClusterletsError

X, GROUPS = np.arange(12.0).reshape(6, 2), np.array([0, 1] * 3)
# Changes that make the arguments of checked_instances unusable, and the message of each.
UNUSABLE_CHANGES = [
    ({"X": X[:, 0]}, r"mine needs X \(n, d\) and groups \(n,\), not \(6,\) and \(6,\)"),
    ({"groups": GROUPS[:3]}, r"\(6, 2\) and \(3,\)"),
    ({"groups": GROUPS - 1}, "groups as codes 0..K-1"),
    ({"groups": GROUPS / 2}, "groups as codes 0..K-1"),
    ({"X": X * np.nan}, "finite features"),
    ({"X": X + np.inf}, "finite features"),
    ({"X": X * 1e200}, "feature 1 holds 1.1e.201"),
    ({"n_clusters": 0}, "0 clusters of 6 instances"),
    ({"n_clusters": 7}, "7 clusters of 6 instances: mine needs at least one instance each"),
]


@pytest.mark.parametrize(("change", "message"), UNUSABLE_CHANGES)
def test_an_unusable_table_is_refused(change, message):
    with pytest.raises(ClusterletsError, match=message):
        checked_instances(**{"X": X, "groups": GROUPS, "method": "mine", "n_clusters": 2} | change)


def test_a_usable_table_gets_the_types_that_compiled_code_needs():
    rows, groups = checked_instances(np.asfortranarray(X, dtype=np.float32), GROUPS.astype(np.int8), "mine", 6)
    assert rows.dtype == np.float64 and rows.flags.c_contiguous and (rows == X).all()
    assert groups.dtype == np.int64 and (groups == GROUPS).all()
    frozen = X.copy()
    frozen.flags.writeable = False
    assert checked_instances(frozen, GROUPS, "mine")[0].flags.writeable


@pytest.mark.parametrize("name", methods.names())
def test_every_method_checks_its_table(name):
    """The methods are called directly, without the checks of the estimators and of the workflow."""
    for change, message in [
        ({"X": np.where(X == 5, np.nan, X)}, "needs finite features"),
        ({"X": np.where(X == 5, np.inf, X)}, "needs finite features"),
        ({"X": np.where(X == 5, -np.inf, X)}, "needs finite features"),
        ({"X": np.where(X == 5, 1e200, X)}, "feature 1 holds 1e.200"),
        ({"groups": GROUPS - 1}, "needs groups as codes"),
    ]:
        arguments = {"X": X, "groups": GROUPS, "n_clusters": 2, "random_state": np.random.default_rng(0)} | change
        with pytest.raises(ClusterletsError, match=message):
            methods.get(name)().fit(**arguments)
