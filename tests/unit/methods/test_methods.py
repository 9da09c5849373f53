"""The registry finds every method by its name, and loads and checks a method from a user's file."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterlets import methods
from clusterlets.errors import ClusterletsError
from clusterlets.methods import Matcher, Method
from clusterlets.methods.interface.check import check, check_parameters
from clusterlets.methods.interface.running import clusterings

RNG = np.random.default_rng(0)
X, GROUPS = RNG.normal(size=(90, 3)), RNG.integers(3, size=90)

METHOD_SOURCE = """
import numpy as np
from clusterlets.methods import Method

class Shuffled(Method):
    name = "shuffled"
    parameters = {"share": [0.1, 0.5]}

    def fit(self, X, groups, n_clusters, random_state, share=0.5):
        return random_state.integers(n_clusters, size=len(X))
"""


def with_declaration(declaration):
    """The source of the method "shuffled" with this declaration of its parameter."""
    return METHOD_SOURCE.replace("import Method", "import Choice, Integer, Method, Real").replace("[0.1, 0.5]", declaration)


def test_every_method_is_valid_and_has_a_file_named_after_it():
    files = {path.stem for path in Path(methods.__file__).parent.glob("*.py")}
    assert {name.lower().replace("-", "_") for name in methods.names()} <= files
    for name in methods.names():
        method = methods.get(name)
        assert method.name == name
        check(method, name)
        check_parameters(method, method.settings, name)
        assert method.summary() and all(parameter.meaning for parameter in method.parameters.values())


@pytest.mark.parametrize("name", methods.names())
def test_fit_clusters_every_instance_and_gives_the_same_result_for_any_memory_layout(name):
    method = methods.get(name)()
    groups = GROUPS if method.most_groups is None else GROUPS % method.most_groups
    first = method.fit(X, groups, 4, np.random.default_rng(5))
    second = method.fit(np.asfortranarray(X), groups.astype(np.int8), 4, np.random.default_rng(5))
    if not method.outputs:
        first, second = {"": first}, {"": second}
    assert list(first) == (list(method.outputs) or [""])
    for output, clustering in first.items():
        assert np.array_equal(clustering, second[output])
        if isinstance(method, Matcher):
            assert clustering.dtype == bool and clustering.shape[0] == len(X)
            assert clustering.any(axis=1).all() and clustering.any(axis=0).all()
        else:
            assert clustering.shape == (len(X),) and set(clustering) <= set(range(4))


@pytest.mark.parametrize("name", methods.names())
@settings(max_examples=15)
@given(
    rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 6)), min_size=2, max_size=25),
    data=st.data(),
)
def test_any_table_is_clustered_or_refused(name, rows, data):
    """Groups may be rare, rows may be equal, and k is any number up to the number of rows."""
    method, table = methods.get(name)(), np.array(rows)
    groups = np.unique(table[:, 2] % (method.most_groups or 7), return_inverse=True)[1]
    k = data.draw(st.integers(1, len(rows)))
    if method.unsupported(len(rows), groups.max() + 1):
        return
    try:
        result = method.fit(table[:, :2].astype(float), groups, k, np.random.default_rng(0))
    except ClusterletsError:  # no clustering keeps the promise, or there are too few clusterlets
        assert name in ("fair-limit", "tree-fairlets", "vfc") or isinstance(method, Matcher)
        return
    for clustering in clusterings(method, result, len(rows)).values():
        if clustering.ndim == 2:  # memberships
            assert clustering.any(axis=1).all()
        else:
            assert clustering.max() < k


@pytest.mark.parametrize("name", ["g-c", "frc", "", "..", "os", "method", "G_B", "x y", "G-B\n"])
def test_an_unknown_name_is_refused_and_all_names_are_listed(name):
    with pytest.raises(ClusterletsError, match=f"There is no method .*{', '.join(methods.names())}"):
        methods.get(name)


@pytest.mark.parametrize("name", [name for name in methods.names() if methods.get(name).kernels])
def test_every_kernel_that_a_method_lists_exists_and_can_be_compiled(name):
    for kernel in methods.get(name).kernels:
        module, function = kernel.split(".")
        compiled = getattr(importlib.import_module(f"clusterlets.algorithms.{module}"), function)
        assert callable(compiled.machine_code), kernel


def test_a_similar_name_is_suggested():
    with pytest.raises(ClusterletsError, match="did you mean 'FRAC-OE'"):
        methods.get("frac-oa")


def test_a_method_is_loaded_from_a_users_file(tmp_path):
    path = tmp_path / "any name.py"
    path.write_text(METHOD_SOURCE)
    method = methods.from_file(path)
    assert method.name == "shuffled" and method.role == "rival" and method.names_in_results() == ["shuffled"]
    assert method.grid() == {"share": [0.1, 0.5]} and method.parameters["share"].default == 0.5
    assert method().faults(4, share="any") == []
    assert method().fit(X, GROUPS, 4, np.random.default_rng(0)).shape == (90,)
    assert method.stream_number() == method.stream_number() > 2**16


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1", "holds 0 methods"),
        (METHOD_SOURCE + METHOD_SOURCE.replace("shuffled", "other").replace("Shuffled", "Other"), "holds 2 methods"),
        ("def f(:", "cannot be run: SyntaxError"),
        ("import nothing_of_that_name", "cannot be run, line 1: ModuleNotFoundError"),
        (METHOD_SOURCE.replace('"shuffled"', '"a/b"'), "name: 'a/b' must begin with a letter"),
        (METHOD_SOURCE.replace("[0.1, 0.5]", "[]"), "parameters: share needs a Parameter or a non-empty list of values"),
        (METHOD_SOURCE.replace("[0.1, 0.5]", "[[1], [2]]"), "values of share must be finite numbers, strings"),
        (METHOD_SOURCE.replace("parameters =", 'role = "winner"\n    parameters ='), "role: 'winner' must be rival"),
        (METHOD_SOURCE.replace("[0.1, 0.5]", "0.1"), "parameters: share needs a Parameter or a non-empty list"),
        (METHOD_SOURCE.replace('"share":', '"sharp":'), "parameters: fit has no argument sharp with a default"),
        (with_declaration("Real(0, 0.4)"), "parameters: the default of share: 0.5; it must be a number from 0 to 0.4"),
        (with_declaration("Real(0, 1, grid=[2])"), "parameters: share: 2; it must be a number from 0 to 1"),
        (
            METHOD_SOURCE.replace("parameters =", 'outputs = ("a/b",)\n    parameters ='),
            "outputs: 'a/b' must be at most 40 letters",
        ),
    ],
)
def test_a_file_without_exactly_one_valid_method_is_refused(tmp_path, source, message):
    path = tmp_path / "mine.py"
    path.write_text(source)
    with pytest.raises(ClusterletsError, match=message) as error:
        methods.from_file(path)
    assert str(path) in str(error.value)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(ClusterletsError, match="There is no file .*absent.py to load a method from"):
        methods.from_file(tmp_path / "absent.py")


def test_parameters_that_fit_does_not_take_are_refused():
    check_parameters(methods.get("FRAC"), ["tau", "tol"], "config.yaml")
    with pytest.raises(ClusterletsError, match="config.yaml: G-B has no parameter 'tau'; its parameters: hops, scope"):
        check_parameters(methods.get("G-B"), ["tau"], "config.yaml")
    with pytest.raises(ClusterletsError, match="random has no parameter 'k'; it has none"):
        check_parameters(methods.get("random"), ["k"], "config.yaml")


def test_a_table_with_too_many_groups_or_rows_for_a_method_is_reported():
    class Mine(Method):
        name, most_groups, most_rows = "mine", 2, 100

    assert Mine().unsupported(100, 2) == ""
    assert Mine().unsupported(100, 3) == "3 groups, but mine handles at most 2"
    assert Mine().unsupported(101, 2) == "101 rows, but mine handles at most 100"
