"""Fair clustering methods, one file each.

A file contains one subclass of :class:`Method`. The file has the method's name in lower case, with ``_`` for ``-``: ``g_b.py``
for G-B. A file of your own works the same way from any folder (:func:`from_file`). Nothing else needs an edit for a new method:
paths, jobs, results, figures, commands, estimators and docs/methods.md follow from the attributes of the class.

Methods import compiled algorithms where they call them, because listing parameters must not load Numba.
"""

import importlib
import importlib.util
import os
import re
import sys
import traceback
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from inspect import Parameter as Argument
from inspect import getattr_static, getdoc, signature
from math import inf, isfinite
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, ClassVar, Literal, NoReturn

import numpy as np

from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.errors import ClusterletsError, MethodError, did_you_mean
from clusterlets.parameters import (
    DELTA,
    MAX_DEVIATION,
    MIN_CLUSTER_SIZE,
    PARTS,
    RATIO,
    SHARES,
    STRICT,
    VALUE_TYPES,
    Bound,
    Choice,
    Integer,
    Parameter,
    Real,
)

__all__ = [
    "COMPILED",
    "DELTA",
    "MAX_DEVIATION",
    "MIN_CLUSTER_SIZE",
    "PARTS",
    "RATIO",
    "SHARES",
    "STRICT",
    "Bound",
    "Choice",
    "Integer",
    "Matcher",
    "Method",
    "Parameter",
    "Real",
    "by_parameter",
    "check",
    "check_parameters",
    "clusterings",
    "fit",
    "from_file",
    "get",
    "is_from_file",
    "meaning",
    "names",
    "objective",
    "parameters_of",
]


#: The ``libraries`` of a method with compiled kernels. llvmlite is among them because it generates the machine code.
COMPILED = ("numpy", "numba", "llvmlite")
#: The pattern of a method's name, which becomes part of file names.
NAME = re.compile(r"[A-Za-z][A-Za-z0-9.+-]{0,39}")
# The functions of a method that the package calls, and that a user's file may define.
_ENTRY_POINTS = ("__init__", "fit", "match", "faults", "seconds", "unsupported")
# Arguments of fit and match that are not parameters of the method.
_FIXED_ARGUMENTS = ("self", "X", "groups", "clusterlets", "n_clusters", "random_state")
# The names of the modules of users' files begin with this.
_USER_MODULE_PREFIX = f"{__name__}._own_"
_ORIGINAL_EXIT = os._exit

Result = np.ndarray | Mapping[str, np.ndarray]


class Method:
    """A way to cluster instances. A subclass declares in its attributes what the rest of the project needs to know about it.

    Attributes
    ----------
    name : str
        The name in configurations, paths and results: letters, digits and ``. + -``. This is the only attribute without a
        default.
    label : str
        The name in figures and reports; by default ``name``.
    citation : str
        The publication that the method comes from.
    role : {"rival", "paper", "baseline"}
        ``paper`` for the paper's own methods, ``rival`` for methods to compare with these, ``baseline`` for controls.
    parameters : mapping of str to Parameter
        The parameters of :meth:`fit` besides the number of clusters and the seed; each has a default. A list of values is
        short for a :class:`Parameter` that has this grid and accepts any value. A parameter of ``fit`` that is not declared
        here accepts any value too. Once the class exists, the mapping contains every parameter, with its default.
    settings : mapping of str to str
        For a :class:`Matcher`: maps parameters of ``match`` to keys of the configuration, whose values are the same in every
        run, such as ``{"scope": "pinball_scope"}``. A variant that changes such a key runs the method again.
    outputs : tuple of str
        Names of the clusterings, if one fit gives several; in results they are called ``name (output)``. If a parameter
        promises a bound, the first output satisfies it.
    guarantee, cost : str
        What the method guarantees, and how long a fit takes, for docs/methods.md.
    min_groups : int
        Smallest number of groups that a table must have: 2, or 1 if the method also makes sense for a single group.
    most_groups, most_rows : int or None
        Most groups and rows that the method can handle, or None for any number. On larger tables, runs are ``unsupported``.
    libraries : tuple of str
        Installed packages whose versions can change the results.
    kernels : tuple of str
        Functions that the estimator compiles in parallel before its first fit, named as for
        :func:`clusterlets.algorithms.compiled.compile_together`. Results do not depend on this attribute.
    needs : tuple of str
        What a :class:`Matcher` gets in place of a table: ``clusterlets``, and for some also ``partitions``. Empty for other
        methods.
    is_random : bool
        Whether the results depend on ``random_state``. If not, one fit serves all seeds.
    stream : int or None
        Number of the method's random stream; by default computed from the name.
    sensitive_columns : mapping of str to sequence (K,)
        Maps each sensitive column to its value in each group. Empty unless the caller of ``fit`` sets it.

    Notes
    -----
    If ``fit`` sets an attribute whose name ends in an underscore, such as ``self.n_iter_``, the estimator gets it too.
    Two of these have a meaning:

    - ``self.objective_`` (a number) is what the fit minimised. Of several starts, the workflow keeps the one with the smallest
      objective. If it is not set, the sum of squared errors decides.
    - ``self.note_`` (a string) says what a reader of the result should know. It becomes the note of the run, and the estimator
      issues it as a warning.

    The first paragraph of the class's docstring says what the method does, for a user; estimators and docs/methods.md show it.
    """

    name: ClassVar[str]
    label: ClassVar[str] = ""
    citation: ClassVar[str] = ""
    role: ClassVar[Literal["rival", "paper", "baseline"]] = "rival"
    parameters: ClassVar[dict[str, Any]] = {}
    settings: ClassVar[Mapping[str, str]] = {}
    outputs: ClassVar[tuple[str, ...]] = ()
    guarantee: ClassVar[str] = ""
    cost: ClassVar[str] = ""
    min_groups: ClassVar[int] = 2
    most_groups: ClassVar[int | None] = None
    most_rows: ClassVar[int | None] = None
    libraries: ClassVar[tuple[str, ...]] = ("numpy",)
    kernels: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[str, ...]] = ()
    is_random: ClassVar[bool] = True
    stream: ClassVar[int | None] = None
    sensitive_columns: Mapping[Any, Sequence[Any]] = MappingProxyType({})
    _main_function: ClassVar[str] = "fit"  # the name of the function that takes the parameters

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        arguments = cls._arguments().items()
        defaults = {name: argument.default for name, argument in arguments if argument.default is not Argument.empty}
        own_parameters = vars(cls).get("parameters", {})
        # Leave out inherited parameters that this class's fit does not take.
        declared = {name: value for name, value in cls.parameters.items() if name in own_parameters or name in defaults}
        cls.parameters = declared | {name: Parameter() for name in defaults if name not in declared}
        for name, parameter in cls.parameters.items():
            if isinstance(parameter, list | tuple) and parameter:
                parameter = Parameter(grid=parameter)
            if isinstance(parameter, Parameter):  # otherwise, check() refuses the method
                cls.parameters[name] = replace(parameter, default=defaults.get(name))

    @classmethod
    def _arguments(cls) -> Mapping[str, Argument]:
        return signature(getattr(cls, cls._main_function)).parameters

    @classmethod
    def takes_any_parameter(cls) -> bool:
        """Whether ``fit`` takes parameters of any name."""
        return any(argument.kind is Argument.VAR_KEYWORD for argument in cls._arguments().values())

    def fit(
        self, X: np.ndarray, groups: np.ndarray, n_clusters: int, random_state: np.random.Generator, **parameters
    ) -> Result:
        """Cluster instances.

        Parameters
        ----------
        X : float array (n, d)
            Read-only, like every array that a method gets.
        groups : int array (n,)
            Sensitive group of each instance, 0..K-1.
        n_clusters : int
            Number of clusters; for a matcher, number of clusterlets of each group.
        random_state : numpy.random.Generator
        **parameters
            Parameters of the method, all optional.

        Returns
        -------
        labels (n,) or memberships (n, C) of type bool; if the method has ``outputs``, a mapping from outputs to these
        """
        raise NotImplementedError(f"{type(self).__name__} has no fit.")

    def assignment_limits(
        self, composition: np.ndarray, new_totals: np.ndarray, **parameters
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Linear bounds within which new rows may join the clusters, so that the method's guarantee also covers them.

        None if the method guarantees nothing for new rows.

        Parameters
        ----------
        composition : int array (K, k)
            Rows of each group in each cluster.
        new_totals : int array (K,)
            New rows of each group. A group that occurs only in the new rows has counts of 0 in the composition.
        **parameters
            Parameters of the fit.

        Returns
        -------
        rows : int array (R, K)
            Coefficients of the groups in each of R bounds.
        slack : int array (R, k)
            Upper bounds on ``rows @ counts``, where ``counts`` (K, k) are the new rows of each group in each cluster.
        """
        return None

    def seconds(self, rows: int, features: int, n_clusters: int) -> float:
        """About how many seconds a fit takes. Only used to estimate how long a run takes."""
        return 1e-8 * rows * features * n_clusters * 20  # 20 rounds

    def faults(self, n_clusters: int, **parameters) -> list[str]:
        """What is wrong with the values of the parameters, one message per fault. Called before a fit.

        By default, each declared parameter checks its own value. A method may add checks of several values together.
        """
        declared = self.parameters
        faults = [declared[name].fault(name, value) for name, value in parameters.items() if name in declared]
        return [fault for fault in faults if fault]

    def unsupported(self, rows: int, n_groups: int) -> str:
        """Why the method cannot handle a table; empty if it can."""
        if n_groups < self.min_groups:
            return f"only one group, but {self.name} needs {self.min_groups}"
        if self.most_groups is not None and n_groups > self.most_groups:
            return f"{n_groups} groups, but {self.name} handles at most {self.most_groups}"
        if self.most_rows is not None and rows > self.most_rows:
            return f"{rows} rows, but {self.name} handles at most {self.most_rows}"
        return ""

    @classmethod
    def summary(cls) -> str:
        """What the method does: the first paragraph of the class's docstring."""
        return " ".join((getdoc(cls) or "").partition("\n\n")[0].split())

    @classmethod
    def grid(cls) -> dict[str, list]:
        """The values that a configuration tries for each parameter that has a grid."""
        return {name: list(parameter.grid) for name, parameter in cls.parameters.items() if parameter.grid}

    @classmethod
    def ladder(cls) -> dict[str, list]:
        """The values that a comparison of all methods tries: the parameters' ladders, or their grids if none has a ladder."""
        return {name: list(parameter.ladder) for name, parameter in cls.parameters.items() if parameter.ladder} or cls.grid()

    @classmethod
    def names_in_results(cls) -> list[str]:
        """The name of each output in the column ``method`` of the results."""
        return [f"{cls.name} ({output})" for output in cls.outputs] or [cls.name]

    @classmethod
    def stream_number(cls) -> int:
        """The number that distinguishes the random streams of this method from those of other methods and steps."""
        return zlib.crc32(cls.name.encode()) if cls.stream is None else cls.stream


class Matcher(Method):
    """A method that joins clusterlets, without seeing the instances.

    If its ``needs`` include ``partitions``, it gets a Pareto front of sampled partitions in place of a random state.
    """

    role = "paper"
    needs: ClassVar[tuple[str, ...]] = ("clusterlets",)
    _main_function = "match"
    stream = 2  # shared by all matchers; 0 and 1 are the streams of the extraction and of the sampled partitions

    def match(self, clusterlets: Clusterlets, random_state: np.random.Generator, **parameters) -> np.ndarray | None:
        """Choose the clusterlets that form each cluster.

        Parameters
        ----------
        clusterlets : Clusterlets
            The N clusterlets to join.
        random_state : numpy.random.Generator
        **parameters
            Parameters of the method, all optional.

        Returns
        -------
        bool array (C, N), or None if the matcher finds no clustering
        """
        raise NotImplementedError(f"{type(self).__name__} has no match.")

    def fit(self, X, groups, n_clusters, random_state, **parameters):
        """Extract ``n_clusters`` clusterlets of each group, and match them. Returns memberships (n, C)."""
        # An import statement would add the extraction to the fingerprints of the grid's cells, which only read clusterlets.
        extraction = importlib.import_module("clusterlets.algorithms.extraction")
        clusterlets = extraction.extract_clusterlets(X, groups, n_clusters, random_state)
        return self.match_or_raise(clusterlets, random_state, **parameters).T[clusterlets.labels]

    def match_or_raise(self, clusterlets: Clusterlets, random_state: np.random.Generator, **parameters) -> np.ndarray:
        """Like :meth:`match`, but raises ClusterletsError if the matcher finds no clustering."""
        membership = self.match(clusterlets, random_state, **parameters)
        if membership is None:
            raise ClusterletsError(f"{self.name} finds no clustering of these clusterlets; use a larger k, or another method.")
        return membership


# ---- fits ------------------------------------------------------------------------------------------------------------


def fit(
    method: type[Method],
    X: np.ndarray,
    groups: np.ndarray,
    n_clusters: int,
    random_state: np.random.Generator,
    parameters: Mapping[str, Any],
    sensitive_columns: Mapping[Any, Sequence[Any]] = MappingProxyType({}),
) -> tuple[Method, dict[str, np.ndarray]]:
    """Fit a method to read-only copies of a table, so that it cannot change the data by which its clusters are scored.

    ``sensitive_columns`` is passed to the method as its attribute.

    Returns
    -------
    fitted : Method
        The method, with the attributes that ``fit`` set.
    clusterings : mapping
        The result of :func:`clusterings`.
    """
    fitted = method()
    fitted.sensitive_columns = sensitive_columns
    result = fitted.fit(_read_only(X), _read_only(groups), n_clusters, random_state, **parameters)
    return fitted, clusterings(method, result, len(X))


def objective(fitted: Method, X: np.ndarray, clusterings: Mapping[str, np.ndarray]) -> float:
    """What a fit minimised: its ``objective_`` if it set one, otherwise the sum of squared errors of its first output.

    If clusters overlap, the sum is infinite. O(n d).
    """
    value = getattr(fitted, "objective_", None)
    if value is not None:
        return float(value)
    labels = next(iter(clusterings.values()))
    if labels.ndim == 2:
        return inf
    # Imported late, because it loads Numba.
    moments_by_label = importlib.import_module("clusterlets.algorithms.geometry").moments_by_label
    return float(moments_by_label(X, labels, int(labels.max()) + 1)[1].sum())


def _read_only(array: np.ndarray) -> np.ndarray:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def clusterings(method: type[Method], result: Any, n_rows: int) -> dict[str, np.ndarray]:
    """Check the ``result`` of ``fit``. Return each output's clustering, by the output's name in the results.

    Labels (n,) become codes 0..C-1 without gaps. Memberships (n, C), bool, lose their empty clusters.

    Raises
    ------
    ClusterletsError
        If ``result`` is not as :meth:`Method.fit` requires.
    """
    outputs = method.outputs
    if not outputs:
        return {method.name: _clustering(result, n_rows)}
    if not isinstance(result, Mapping) or set(result) != set(outputs):
        raise ClusterletsError(f"fit must return a mapping with {' and '.join(outputs)}")
    return {name: _clustering(result[output], n_rows) for name, output in zip(method.names_in_results(), outputs, strict=True)}


def _clustering(result: Any, n_rows: int) -> np.ndarray:
    try:
        clustering = np.asarray(result)
    except ValueError as error:  # rows of different lengths
        raise ClusterletsError(f"fit must return labels or memberships: {error}") from None
    if clustering.ndim not in (1, 2) or len(clustering) != n_rows:
        raise ClusterletsError(f"fit must return labels ({n_rows},) or memberships ({n_rows}, C), not {clustering.shape}")
    if clustering.ndim == 2:
        if clustering.dtype != bool:
            raise ClusterletsError(f"memberships must be of type bool, not {clustering.dtype}")
        clustering = clustering[:, clustering.any(axis=0)]
        if not clustering.any(axis=1).all():
            raise ClusterletsError(f"row {np.flatnonzero(~clustering.any(axis=1))[0]} is in no cluster")
        return clustering
    if not np.issubdtype(clustering.dtype, np.number) or np.issubdtype(clustering.dtype, np.complexfloating):
        raise ClusterletsError(f"labels must be whole numbers of at least 0, not of type {clustering.dtype}")
    wrong_rows = np.flatnonzero(~((clustering >= 0) & (clustering == np.floor(clustering)) & (clustering < 2**53)))
    if len(wrong_rows):
        raise ClusterletsError(
            f"labels must be whole numbers of at least 0, and that of row {wrong_rows[0]} is {clustering[wrong_rows[0]]}"
        )
    return np.unique(clustering, return_inverse=True)[1].astype(np.int64)


# ---- the registry ----------------------------------------------------------------------------------------------------


def get(name: str) -> type[Method]:
    """The method with this name. Only its file is imported. Raises ClusterletsError if there is no such method."""
    module = f"{__name__}.{name.lower().replace('-', '_')}"
    if NAME.fullmatch(name) and importlib.util.find_spec(module):
        methods_by_name = _methods_of(importlib.import_module(module))
        if name in methods_by_name:
            return methods_by_name[name]
    available = names()
    hint = did_you_mean(name, available)
    raise ClusterletsError(f"There is no method {name!r}{hint}. The methods are {', '.join(available)}.")


def names(role: str = "") -> list[str]:
    """The sorted names of the package's methods, or only of those with a given role."""
    stems = [file.stem for file in Path(__file__).parent.glob("*.py") if file.stem != "__init__"]
    methods = [method for stem in stems for method in _methods_of(importlib.import_module(f"{__name__}.{stem}")).values()]
    return sorted(method.name for method in methods if role in ("", method.role))


def from_file(path: str | Path) -> type[Method]:
    """Load the method from a Python file of your own.

    Raises
    ------
    ClusterletsError
        If the file cannot be read or run, or does not contain exactly one method that :func:`check` accepts.
    """
    path = Path(path)
    if not path.is_file():
        raise ClusterletsError(f"There is no file {path} to load a method from.")
    if path.suffix != ".py":
        raise ClusterletsError(
            f"{path} is not a Python file: a method is a .py file with one subclass of clusterlets.methods.Method."
        )
    module = ModuleType(f"{_USER_MODULE_PREFIX}{zlib.crc32(str(path.resolve()).encode()):08x}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses and pickle look the module up here
    try:
        # An import would write a __pycache__ beside the file, and would miss an edit within the same second.
        with _as_method_error(path, f"{path} cannot be run"):
            exec(compile(path.read_bytes(), path, "exec", dont_inherit=True), vars(module))
        methods = list(_methods_of(module).values())
        if len(methods) != 1:
            raise ClusterletsError(
                f"{path} holds {len(methods)} methods, and should hold one: a subclass of Method with a name."
            )
        (method,) = methods
        check(method, str(path))
    except BaseException:
        del sys.modules[module.__name__]
        raise
    guard = _as_method_error(path, str(path))
    for name in _ENTRY_POINTS:
        function = getattr_static(method, name, None)
        if isinstance(function, staticmethod | classmethod):
            setattr(method, name, type(function)(guard(function.__func__)))
        elif function is not None:
            setattr(method, name, guard(function))
    return method


def is_from_file(method: type[Method]) -> bool:
    """Whether :func:`from_file` loaded the method. The project's tests do not cover such a method."""
    return method.__module__.startswith(_USER_MODULE_PREFIX)


@contextmanager
def _as_method_error(path: Path, problem: str) -> Iterator[None]:
    """Run code of a user's file. An exception, even ``SystemExit``, becomes a MethodError that names the line of the file.

    Also usable as a decorator. The working folder is restored afterwards. ``os._exit`` raises an exception too: otherwise it
    could end a command with status 0 before the work is done. Forked processes may still call ``os._exit``.
    """
    folder, own_process = os.getcwd(), os.getpid()

    def raise_instead_of_exit(status: int) -> NoReturn:
        if os.getpid() != own_process:
            _ORIGINAL_EXIT(status)
        raise SystemExit(f"os._exit({status})")

    os._exit = raise_instead_of_exit
    try:
        yield
    except (ClusterletsError, MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        where = f", line {lines[-1]}" if lines else ""
        raise MethodError(f"{problem}{where}: {_one_line(error)}", _one_line(error)) from error
    finally:
        os._exit = _ORIGINAL_EXIT
        os.chdir(folder)


def _one_line(error: BaseException) -> str:
    """The type of an exception and the last line of its message."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # the exception's class is the user's, and its __str__ may fail
        lines = []
    return f"{type(error).__name__}: {lines[-1] if lines else ''}".removesuffix(": ")


def check(method: type[Method], where: str) -> None:
    """Raise ClusterletsError if the attributes of a method are not as :class:`Method` says. ``where`` begins the message."""
    faults = list(_faults(method))
    if faults:
        raise ClusterletsError(f"{where}: {'; '.join(faults)}.")


def parameters_of(method: type[Method]) -> list[str] | None:
    """The names of the parameters of a method; None if it takes parameters of any name."""
    return None if method.takes_any_parameter() else list(method.parameters)


def by_parameter(methods: Iterable[type[Method]]) -> dict[str, list[type[Method]]]:
    """Map the name of each parameter to the methods that have it."""
    methods_by_parameter: dict[str, list[type[Method]]] = {}
    for method in methods:
        for name in method.parameters:
            methods_by_parameter.setdefault(name, []).append(method)
    return methods_by_parameter


def meaning(name: str, methods: Iterable[type[Method]]) -> str:
    """What a parameter means in each of several methods that have it: ``B, D: Sweeps through the groups.``"""
    meanings: dict[str, list[str]] = {}
    for method in methods:
        meanings.setdefault(method.parameters[name].meaning, []).append(method.name)
    return " ".join(f"{', '.join(names)}: {text}" for text, names in meanings.items())


def check_parameters(method: type[Method], parameters: Iterable[str], where: str) -> None:
    """Raise ClusterletsError if the method does not take one of the parameters. ``where`` begins the message."""
    accepted = parameters_of(method)
    for name in parameters:
        if name in _FIXED_ARGUMENTS:
            raise ClusterletsError(f"{where}: {name!r} cannot be a parameter: every method gets an argument with this name.")
        if accepted is not None and name not in accepted:
            hint = f"its parameters: {', '.join(accepted)}" if accepted else "it has none"
            raise ClusterletsError(f"{where}: {method.name} has no parameter {name!r}; {hint}.")


def _methods_of(module: ModuleType) -> dict[str, type[Method]]:
    """The methods that a module defines itself and does not import, by name."""
    classes = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Method)]
    return {
        method.name: method
        for method in classes
        if method.__module__ == module.__name__ and isinstance(vars(method).get("name"), str)
    }


def _are_distinct_strings(value: Any) -> bool:
    return isinstance(value, tuple | list) and all(isinstance(item, str) for item in value) and len(set(value)) == len(value)


def _is_whole_or_none(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0)


def _is_finite_value(value: Any) -> bool:
    return isfinite(value) if isinstance(value, float) else isinstance(value, VALUE_TYPES)


# For each kind of value: its check, and the attributes of a method that must pass it.
_ATTRIBUTES: dict[str, tuple[Callable[[Any], bool], tuple[str, ...]]] = {
    "string": (lambda value: isinstance(value, str), ("label", "citation", "guarantee", "cost")),
    "tuple of different strings": (_are_distinct_strings, ("outputs", "libraries", "kernels", "needs")),
    "whole number of at least 1": (lambda value: bool(value) and _is_whole_or_none(value), ("min_groups",)),
    "whole number of at least 0, or None": (_is_whole_or_none, ("most_groups", "most_rows", "stream")),
    "True or False": (lambda value: isinstance(value, bool), ("is_random",)),
    "mapping of strings to strings": (
        lambda value: isinstance(value, Mapping) and all(isinstance(item, str) for item in [*value, *value.values()]),
        ("settings",),
    ),
}


def _faults(method: type[Method]) -> Iterable[str]:
    if not NAME.fullmatch(method.name):
        yield f"name: {method.name!r} must begin with a letter and have at most 40 letters, digits, '.', '+' and '-'"
    if method.role not in ("rival", "paper", "baseline"):
        yield f"role: {method.role!r} must be rival, paper or baseline"
    for kind, (is_valid, attributes) in _ATTRIBUTES.items():
        values = {attribute: getattr(method, attribute) for attribute in attributes}
        yield from (f"{attribute}: {value!r} is not a {kind}" for attribute, value in values.items() if not is_valid(value))
    for name in _ENTRY_POINTS:
        if hasattr(method, name) and not callable(getattr(method, name)):
            yield f"{name}: it must be a function"
    for name, parameter in method.parameters.items():
        if not isinstance(parameter, Parameter):
            yield f"parameters: {name} needs a Parameter or a non-empty list of values, not {parameter!r}"
            continue
        if not method.takes_any_parameter() and name not in method._arguments():
            yield f"parameters: fit has no argument {name} with a default"
        if not all(map(_is_finite_value, parameter.grid)):
            yield f"parameters: values of {name} must be finite numbers, strings, true, false or null"
        elif len({(type(value), value) for value in parameter.grid}) < len(parameter.grid):
            yield f"parameters: {name} lists a value twice"
        else:
            yield from (f"parameters: {fault}" for value in parameter.grid if (fault := parameter.fault(name, value)))
        if fault := parameter.fault(name, parameter.default):
            yield f"parameters: the default of {fault}"
    outputs = method.outputs if _are_distinct_strings(method.outputs) else ()
    for output in outputs:
        if not re.fullmatch(r"[A-Za-z0-9 .+-]{1,40}", output):
            yield f"outputs: {output!r} must be at most 40 letters, digits, spaces, '.', '+' and '-'"
