"""What ``from clusterlets import ...`` offers, what importing it costs, and the error if an extra is missing."""

import inspect
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from modules import loaded_by
from named_estimators import NAMED

import clusterlets
from clusterlets import ClusterletClustering, estimators, extras, fairness_report
from clusterlets import __main__ as command_line
from clusterlets.estimators.base import FairClusterer
from clusterlets.metrics.all_scores import SCORES

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Import names of the distributions that are imported under another name.
MODULES = {"pyyaml": "yaml", "scikit-posthocs": "scikit_posthocs", "scikit-learn": "sklearn"}


def test_importing_the_package_loads_neither_numpy_nor_scikit_learn():
    loaded = loaded_by("import clusterlets\nfrom clusterlets import ClusterletsError, __version__\ndir(clusterlets)")
    assert not {"numpy", "sklearn", "pandas", "matplotlib", "clusterlets.estimators"} & loaded


def test_the_estimators_load_no_library_of_the_workflow():
    loaded = loaded_by("from clusterlets import FRAC, fairness_report")
    assert "sklearn" in loaded
    assert not {"matplotlib", "requests", "seaborn", "snakemake"} & loaded


def test_every_public_name_is_the_object_of_that_name():
    assert all(getattr(clusterlets, name).__name__ == name for name in clusterlets.__all__)
    assert all(getattr(clusterlets, name) is getattr(estimators, name) for name in estimators.__all__)
    assert set(dir(clusterlets)) >= {*clusterlets.__all__, "__version__"}


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'clusterlets' has no attribute 'FRACK'"):
        clusterlets.FRACK  # noqa: B018


def test_the_version_is_printed(capsys):
    assert command_line.main(["--version"]) == 0
    assert capsys.readouterr().out == f"clusterlets {clusterlets.__version__}\n"


def modules_of(requirements):
    distributions = {line.partition(">")[0].partition("[")[0] for line in requirements}
    return {MODULES.get(name, name) for name in distributions - {PROJECT["name"]}}


def test_each_optional_library_is_in_its_extra():
    by_extra = {extra: modules_of(requirements) for extra, requirements in PROJECT["optional-dependencies"].items()}
    assert all(module in by_extra[extra] for module, extra in extras.EXTRAS.items())
    assert not set(extras.EXTRAS) & modules_of(PROJECT["dependencies"])
    user_extras = ("tables", "data", "plots", "workflow")
    assert set(extras.EXTRAS) == set().union(*(by_extra[extra] for extra in user_extras))


def test_a_missing_library_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(extras.MissingExtra, match=r"needs pandas, .* '\.\[tables\]'"):
        estimators.cluster_composition([0, 0, 1, 1], list("abab"))
    monkeypatch.delitem(sys.modules, "clusterlets.tuning", raising=False)
    with pytest.raises(extras.MissingExtra, match=r"needs pandas, .* '\.\[tables\]'"):
        from clusterlets import tune  # noqa: F401


def test_a_missing_library_that_is_in_no_extra_is_an_ordinary_import_error():
    assert issubclass(extras.MissingExtra, ImportError)
    with pytest.raises(ModuleNotFoundError, match="no_such_library"), extras.optional():
        import no_such_library  # noqa: F401


@pytest.mark.parametrize(
    ("command", "extra"),
    [("compare", "workflow"), ("cluster", "tables")],
)
def test_a_command_without_its_libraries_says_in_one_line_what_to_install(command, extra):
    code = f"""
import sys
sys.modules["pandas"] = None
from clusterlets.__main__ import main
sys.exit(main(["{command}", "--help"]))
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert process.returncode == 1
    first_line = process.stderr.splitlines()[0]
    assert first_line.startswith(f"clusterlets {command}: this needs pandas")
    assert f"'.[{extra}]'" in first_line
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize("estimator", [ClusterletClustering, *NAMED.values()])
def test_every_fitted_attribute_is_described(estimator):
    fitted = estimator(2, random_state=0).fit([[0.0], [1.0], [5.0], [6.0]], sensitive_features=list("abab"))
    attributes = [name for name in vars(fitted) if name.endswith("_")]
    assert len(attributes) > 5
    documentation = inspect.getdoc(FairClusterer) + inspect.getdoc(estimator)
    assert [name for name in attributes if f"\n{name} :" not in documentation] == []


def test_every_score_of_a_report_is_described():
    report = fairness_report([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1], list("abab"))
    # silhouette_of_groups is a dict and so not in the table of scores; the docstring of fairness_report describes it.
    assert set(report) <= {*(score.name for score in SCORES), "silhouette_of_groups"}


@pytest.fixture(scope="module")
def mixed_installation(tmp_path_factory):
    """A folder with this package in which pip replaced __init__.py by that of another package of the same name."""
    folder = tmp_path_factory.mktemp("mixed")
    (folder / "clusterlets").mkdir()
    for path in Path(clusterlets.__file__).parent.iterdir():
        if path.name not in ("__init__.py", "__pycache__"):
            (folder / "clusterlets" / path.name).symlink_to(path)
    (folder / "clusterlets" / "__init__.py").write_text('__version__ = "0.0.3"\n')
    return folder


def run_in(folder, code):
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); {code}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, env={"PATH": ""})


@pytest.mark.parametrize("module", ["estimators", "__main__"])
def test_a_mixed_installation_is_refused(mixed_installation, module):
    process = run_in(mixed_installation, f"import clusterlets.{module}")
    assert process.returncode == 1
    last_line = process.stderr.splitlines()[-1]
    assert "another package named clusterlets, " in last_line
    assert "pip uninstall clusterlets clusterlets-benchmark" in last_line


def test_the_command_refuses_a_mixed_installation_in_one_line(mixed_installation):
    assert run_in(mixed_installation, "import clusterlets.__main__").stderr.count("\n") == 1
