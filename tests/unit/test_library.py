"""What ``from clusterlets import ...`` offers, what importing it costs, and the error if an extra is missing."""

import inspect
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from modules import loaded_by

import clusterlets
from clusterlets import FRAC, ClusterletClustering, estimators, extras, fairness_report
from clusterlets import __main__ as command_line
from clusterlets.metrics.table import SCORES

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Distributions whose name differs from that of the module.
MODULES = {"pyyaml": "yaml", "scikit-posthocs": "scikit_posthocs", "scikit-learn": "sklearn"}


def test_importing_the_package_loads_neither_numpy_nor_scikit_learn():
    loaded = loaded_by("import clusterlets\nfrom clusterlets import ClusterletsError, __version__\ndir(clusterlets)")
    assert not {"numpy", "sklearn", "pandas", "matplotlib", "clusterlets.estimators"} & loaded


def test_the_estimators_load_no_library_of_the_workflow():
    loaded = loaded_by("from clusterlets import FRAC, fairness_report")
    assert "sklearn" in loaded and not {"matplotlib", "requests", "seaborn", "snakemake"} & loaded


def test_every_public_name_is_the_object_of_that_name():
    offered = {name: getattr(clusterlets, name) for name in clusterlets.__all__}
    assert all(value.__name__ == name for name, value in offered.items())
    assert offered.items() >= {name: getattr(estimators, name) for name in estimators.__all__}.items()
    assert set(dir(clusterlets)) >= {*offered, "__version__"}


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'clusterlets' has no attribute 'FRACK'"):
        clusterlets.FRACK  # noqa: B018


def test_the_version_is_printed(capsys):
    assert command_line.main(["--version"]) == 0
    assert capsys.readouterr().out == f"clusterlets {clusterlets.__version__}\n"


def requirements(lines):
    return {line.partition(">")[0].partition("[")[0] for line in lines}


def test_each_optional_library_is_in_its_extra():
    in_extra = {extra: requirements(lines) for extra, lines in PROJECT["optional-dependencies"].items()}
    for module, extra in extras.EXTRAS.items():
        distribution = {module: name for name, module in MODULES.items()}.get(module, module)
        assert distribution in in_extra[extra] and distribution not in requirements(PROJECT["dependencies"])
    optional = set().union(*(in_extra[extra] for extra in ("tables", "data", "plots", "tune", "workflow"))) - {PROJECT["name"]}
    assert {MODULES.get(name, name) for name in optional} == set(extras.EXTRAS)


def test_a_missing_library_is_named_with_its_extra_if_it_has_one(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(extras.MissingExtra, match=r"needs pandas, .* '\.\[tables\]'"):
        estimators.cluster_composition([0, 0, 1, 1], list("abab"))
    monkeypatch.delitem(sys.modules, "clusterlets.tuning", raising=False)
    with pytest.raises(extras.MissingExtra, match=r"needs pandas, .* '\.\[tables\]'"):
        from clusterlets import tune  # noqa: F401
    assert issubclass(extras.MissingExtra, ImportError)
    with pytest.raises(ModuleNotFoundError, match="no_such_library"), extras.optional():
        import no_such_library  # noqa: F401


@pytest.mark.parametrize(
    ("command", "extra"),
    [("compare", "workflow"), ("analyse", "workflow"), ("cluster", "tables"), ("tune", "tune"), ("assign", "tables")],
)
def test_a_command_without_its_libraries_says_in_one_line_what_to_install(command, extra):
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        f"from clusterlets.__main__ import main\nsys.exit(main(['{command}', '--help']))"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    lines = process.stderr.splitlines()
    assert process.returncode == 1 and lines[0].startswith(f"clusterlets {command}: this needs pandas")
    assert f"'.[{extra}]'" in lines[0] and "Traceback" not in process.stderr


def test_every_fitted_attribute_and_score_is_described():
    X, sex = [[0.0], [1.0], [5.0], [6.0]], list("abab")
    for estimator in (ClusterletClustering(2, random_state=0), FRAC(2, random_state=0)):
        fitted = [name for name in vars(estimator.fit(X, sensitive_features=sex)) if name.endswith("_")]
        documented = inspect.getdoc(type(estimator))  # from 3.13 on Python itself removes the indentation
        assert len(fitted) > 5 and [name for name in fitted if f"\n{name} :" not in documented] == []
    documented = {*(score.name for score in SCORES), "silhouette_of_groups"}  # a dict, so only in the docstring
    assert set(fairness_report(X, [0, 0, 1, 1], sex)) <= documented


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A copy of this package whose __init__.py was overwritten by another package of the same name, as pip does."""
    folder = tmp_path_factory.mktemp("mixed")
    shutil.copytree(Path(clusterlets.__file__).parent, folder / "clusterlets", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "clusterlets" / "__init__.py").write_text('__version__ = "0.0.3"\n')
    return folder


def in_mixed(mixed, code):
    code = f"import sys; sys.path.insert(0, {str(mixed)!r}); {code}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=mixed, env={"PATH": ""})


@pytest.mark.parametrize("module", ["estimators", "metrics.table", "__main__"])
def test_a_mixed_installation_is_refused_in_one_line(mixed, module):
    process = in_mixed(mixed, f"import clusterlets.{module}")
    assert process.returncode == 1
    last = process.stderr.splitlines()[-1]
    assert "another package named clusterlets, " in last and "pip uninstall clusterlets clusterlets-benchmark" in last
    assert module != "__main__" or process.stderr.count("\n") == 1


EVERY_MODULE = """
import importlib
from pathlib import Path
for file in sorted(Path("clusterlets").rglob("*.py")):
    module = ".".join(file.with_suffix("").parts).removesuffix(".__init__")
    if module in ("clusterlets", "clusterlets.__main__"):
        continue
    for name in [name for name in sys.modules if name.startswith("clusterlets.")]:
        del sys.modules[name]
    try:
        importlib.import_module(module)
        print(module)
    except ImportError as error:
        if "another package named clusterlets, " not in str(error):
            print(module, error)
"""


def test_no_module_runs_in_a_mixed_installation(mixed):
    process = in_mixed(mixed, f"exec({EVERY_MODULE!r})")
    assert (process.returncode, process.stdout) == (0, "")
