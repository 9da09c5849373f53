"""Fair clustering methods, one file each.

A file holds one subclass of :class:`Method`; its name is the method's in lower case, with ``_`` for ``-``: ``g_b.py``.
A file of your own works the same way from any folder (:func:`from_file`). Nothing else has to know of it: paths, jobs, results,
figures, commands, estimators and docs/methods.md follow from the attributes of the class.

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
from math import inf
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


#: Libraries of a method with compiled kernels; llvmlite generates the machine code.
COMPILED = ("numpy", "numba", "llvmlite")
#: What a method may be called: it is part of file names.
NAME = re.compile(r"[A-Za-z][A-Za-z0-9.+-]{0,39}")
# The functions of a method that the package calls.
_CALLED = ("__init__", "fit", "match", "faults", "seconds", "unsupported")
# Arguments of every fit or match, besides its parameters.
_FIXED_ARGUMENTS = ("self", "X", "groups", "clusterlets", "n_clusters", "random_state")
# How the names of the modules of users' files begin.
_FROM_FILE = f"{__name__}._own_"
_END_PROCESS = os._exit

Result = np.ndarray | Mapping[str, np.ndarray]


class Method:
    """A way to cluster instances; a subclass says what the rest of the project needs to know about it.

    Attributes
    ----------
    name : str
        What configurations, paths and results call it: letters, digits and ``. + -``. The only attribute that must be given.
    label : str
        What figures and reports call it; by default the name.
    citation : str
        Whose method it is.
    role : {"rival", "paper", "baseline"}
        Whether it is one of the methods compared, one of the paper's own, or a control.
    parameters : mapping of str to Parameter
        The parameters of :meth:`fit` besides the number of clusters and the seed; each has a default. A list of values in place
        of a :class:`Parameter` is its grid, and any value is accepted, as for a parameter of ``fit`` that is not declared.
        Once the class is made, every parameter is in this mapping, with its default.
    settings : mapping of str to str
        Of a :class:`Matcher`: keyword parameters of ``match`` that are keys of the configuration, the same for every run:
        ``{"scope": "pinball_scope"}``. A variant that changes such a key runs the method again.
    outputs : tuple of str
        Where one fit gives several clusterings, what they are called; results name them ``name (output)``. The first keeps the
        bound of a parameter that has one.
    guarantee, cost : str
        What it guarantees, and what a fit costs, for docs/methods.md.
    least_groups : int
        How many groups a table must have: 2, or 1 if a single group means something to the method.
    most_groups, most_rows : int or None
        The largest table that the method can handle; a larger one gives the status ``unsupported``.
    libraries : tuple of str
        Distributions whose locked versions its results depend on.
    kernels : tuple of str
        Functions of the package that the first fit of its estimator compiles side by side, as
        :func:`clusterlets.algorithms.compiled.compile_together` takes them. No result depends on them.
    needs : tuple of str
        What it gets besides the table: nothing, ``clusterlets``, or these and ``partitions``; see :class:`Matcher`.
    is_random : bool
        Whether its results depend on ``random_state``. If not, one fit stands for all seeds.
    stream : int or None
        Number of its random stream; by default one made from the name.
    sensitive_columns : mapping of str to sequence (K,)
        Set by the caller of ``fit``: the value of each group in each sensitive column, as groups are combinations of these.
        Empty for a single column without names of its values.

    Notes
    -----
    What ``fit`` sets on ``self`` as a name that ends in an underscore is an attribute of the estimator too: ``self.n_iter_``.
    A number ``self.objective_`` is what the fit minimised: of several starts the workflow keeps the least, without it the
    one with the least sum of squared errors. A text ``self.note_`` says what a reader of the result should know: the note of
    the run, and a warning of the estimator.
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
    least_groups: ClassVar[int] = 2
    most_groups: ClassVar[int | None] = None
    most_rows: ClassVar[int | None] = None
    libraries: ClassVar[tuple[str, ...]] = ("numpy",)
    kernels: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[str, ...]] = ()
    is_random: ClassVar[bool] = True
    stream: ClassVar[int | None] = None
    sensitive_columns: Mapping[Any, Sequence[Any]] = MappingProxyType({})
    _main_function: ClassVar[str] = "fit"

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        arguments = cls._arguments().items()
        defaults = {name: argument.default for name, argument in arguments if argument.default is not Argument.empty}
        own = vars(cls).get("parameters", {})
        # What is inherited, and not taken by this class's fit, is left out.
        declared = {name: value for name, value in cls.parameters.items() if name in own or name in defaults}
        cls.parameters = declared | {name: Parameter() for name in defaults if name not in declared}
        for name, parameter in cls.parameters.items():
            if isinstance(parameter, list | tuple) and parameter:
                parameter = Parameter(grid=parameter)
            if isinstance(parameter, Parameter):  # check refuses anything else
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
            Read-only, as all arrays that a method gets.
        groups : int array (n,)
            Sensitive group of each instance, 0..K-1.
        n_clusters : int
            Number of clusters; of a matcher, clusterlets of each group.
        random_state : numpy.random.Generator
        **parameters
            Those of the method, each optional.

        Returns
        -------
        labels (n,), memberships (n, C) as a bool array, or a mapping of these, one for each of ``outputs``
        """
        raise NotImplementedError(f"{type(self).__name__} has no fit.")

    def assignment_rows(
        self, composition: np.ndarray, new_totals: np.ndarray, **parameters
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """What the method's guarantee means for new rows, as whole numbers; None if it has none.

        Parameters
        ----------
        composition : int array (K, k)
            Rows of each group in each cluster.
        new_totals : int array (K,)
            New rows of each group; a group that only they have has no rows in the composition.
        **parameters
            Those of the fit.

        Returns
        -------
        rows : int array (R, K)
        slack : int array (R, k)
            Upper bounds on ``rows @ counts`` for the counts (K, k) of the new rows.
        """
        return None

    def seconds(self, rows: int, features: int, n_clusters: int) -> float:
        """About how many seconds a fit takes; only estimates use it."""
        return 1e-8 * rows * features * n_clusters * 20

    def faults(self, n_clusters: int, **parameters) -> list[str]:
        """What is wrong with values of the parameters, in words, so that no fit has to fail for it.

        By default what the declarations refuse; a method may add faults of values that are wrong only together.
        """
        declared = self.parameters
        faults = [declared[name].fault(name, value) for name, value in parameters.items() if name in declared]
        return [fault for fault in faults if fault]

    def unsupported(self, rows: int, n_groups: int) -> str:
        """Why a table is more than the method can handle; empty if it is not."""
        if n_groups < self.least_groups:
            return f"only one group, and {self.name} needs {self.least_groups}"
        if self.most_groups is not None and n_groups > self.most_groups:
            return f"{n_groups} groups, and {self.name} handles {self.most_groups}"
        if self.most_rows is not None and rows > self.most_rows:
            return f"{rows} rows, and {self.name} handles {self.most_rows}"
        return ""

    @classmethod
    def summary(cls) -> str:
        """What it does: the first paragraph of the class's docstring."""
        return " ".join((getdoc(cls) or "").partition("\n\n")[0].split())

    @classmethod
    def grid(cls) -> dict[str, list]:
        """The values that a configuration tries, of each parameter that has a grid."""
        return {name: list(parameter.grid) for name, parameter in cls.parameters.items() if parameter.grid}

    @classmethod
    def ladder(cls) -> dict[str, list]:
        """The values that a comparison of all methods tries: the ladder, or else the grid."""
        return {name: list(parameter.ladder) for name, parameter in cls.parameters.items() if parameter.ladder} or cls.grid()

    @classmethod
    def names_in_results(cls) -> list[str]:
        """What the column ``method`` of the results calls each of its outputs."""
        return [f"{cls.name} ({output})" for output in cls.outputs] or [cls.name]

    @classmethod
    def stream_number(cls) -> int:
        """The last part of the seed of its random streams."""
        return zlib.crc32(cls.name.encode()) if cls.stream is None else cls.stream


class Matcher(Method):
    """A method of Clusterlets: it joins clusterlets, and never sees the instances.

    One that needs ``partitions`` too gets a Pareto front of sampled partitions in place of a random state.
    """

    role = "paper"
    needs: ClassVar[tuple[str, ...]] = ("clusterlets",)
    _main_function = "match"
    stream = 2  # one for all matchers, after those of the extraction and of the samples

    def match(self, clusterlets: Clusterlets, random_state: np.random.Generator, **parameters) -> np.ndarray | None:
        """Which clusterlets form each cluster.

        Parameters
        ----------
        clusterlets : Clusterlets
            N of them.
        random_state : numpy.random.Generator
        **parameters
            Those of the method, each optional.

        Returns
        -------
        bool array (C, N), or None where there is no clustering
        """
        raise NotImplementedError(f"{type(self).__name__} has no match.")

    def fit(self, X, groups, n_clusters, random_state, **parameters):
        """As :meth:`Method.fit`, with ``n_clusters`` clusterlets of each group, which are matched; memberships (n, C)."""
        # Not an import statement, which would enter the fingerprints of the grid's cells: their clusterlets exist already.
        extraction = importlib.import_module("clusterlets.algorithms.extraction")
        clusterlets = extraction.extract_clusterlets(X, groups, n_clusters, random_state)
        return self.match_or_raise(clusterlets, random_state, **parameters).T[clusterlets.labels]

    def match_or_raise(self, clusterlets: Clusterlets, random_state: np.random.Generator, **parameters) -> np.ndarray:
        """As :meth:`match`; ClusterletsError where there is no clustering."""
        membership = self.match(clusterlets, random_state, **parameters)
        if membership is None:
            raise ClusterletsError(f"{self.name} finds no clustering of these clusterlets; take a larger k, or another method.")
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
    """Fit a method to read-only copies of a table, so that it cannot change what its clusters are scored by.

    ``sensitive_columns`` is the attribute of :class:`Method`.

    Returns
    -------
    fitted : Method
    clusterings : mapping
        As :func:`clusterings` names and checks them.
    """
    fitted = method()
    fitted.sensitive_columns = sensitive_columns
    result = fitted.fit(_read_only(X), _read_only(groups), n_clusters, random_state, **parameters)
    return fitted, clusterings(method, result, len(X))


def objective(fitted: Method, X: np.ndarray, clusterings: Mapping[str, np.ndarray]) -> float:
    """What a fit minimised: its ``objective_``, or else the sum of squared errors of its first output, which is infinite where
    clusters overlap. O(n d).
    """
    value = getattr(fitted, "objective_", None)
    if value is not None:
        return float(value)
    labels = next(iter(clusterings.values()))
    if labels.ndim == 2:
        return inf
    moments_by_label = importlib.import_module("clusterlets.algorithms.geometry").moments_by_label  # it loads Numba
    return float(moments_by_label(X, labels, int(labels.max()) + 1)[1].sum())


def _read_only(array: np.ndarray) -> np.ndarray:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def clusterings(method: type[Method], result: Any, n_rows: int) -> dict[str, np.ndarray]:
    """The clusterings that ``fit`` returned, checked, by their names in the results.

    Labels become codes 0..C-1 without gaps, (n,); memberships stay (n, C), bool.

    Raises
    ------
    ClusterletsError
        If :class:`Method` does not allow it.
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
    wrong = np.flatnonzero(~((clustering >= 0) & (clustering == np.floor(clustering)) & (clustering < 2**53)))
    if len(wrong):
        raise ClusterletsError(
            f"labels must be whole numbers of at least 0, and that of row {wrong[0]} is {clustering[wrong[0]]}"
        )
    return np.unique(clustering, return_inverse=True)[1].astype(np.int64)


# ---- the registry ----------------------------------------------------------------------------------------------------


def get(name: str) -> type[Method]:
    """The method with this name; if there is none, ClusterletsError names all, and the nearest. Imports only its file."""
    module = f"{__name__}.{name.lower().replace('-', '_')}"
    if NAME.fullmatch(name) and importlib.util.find_spec(module):
        defined = _methods_of(importlib.import_module(module))
        if name in defined:
            return defined[name]
    available = names()
    hint = did_you_mean(name, available)
    raise ClusterletsError(f"There is no method {name!r}{hint}. The methods are {', '.join(available)}.")


def names(role: str = "") -> list[str]:
    """The sorted names of the methods that come with the package, or of those among them with this role."""
    files = [file.stem for file in Path(__file__).parent.glob("*.py") if file.stem != "__init__"]
    methods = [method for file in files for method in _methods_of(importlib.import_module(f"{__name__}.{file}")).values()]
    return sorted(method.name for method in methods if role in ("", method.role))


def from_file(path: str | Path) -> type[Method]:
    """The method in a Python file of your own.

    Raises
    ------
    ClusterletsError
        If the file cannot be read or run, or does not hold exactly one method as :class:`Method` requires it.
    """
    path = Path(path)
    if not path.is_file():
        raise ClusterletsError(f"There is no file {path}, which should hold a method.")
    if path.suffix != ".py":
        raise ClusterletsError(
            f"{path} is not a Python file: a method is a .py file with one subclass of clusterlets.methods.Method."
        )
    module = ModuleType(f"{_FROM_FILE}{zlib.crc32(str(path.resolve()).encode()):08x}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # where dataclasses and pickle look for it
    try:
        # Not by an import, which would write a __pycache__ beside the file, and miss an edit within the same second.
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
    guarded = _as_method_error(path, str(path))
    for name in _CALLED:
        function = getattr_static(method, name, None)
        if isinstance(function, staticmethod | classmethod):
            setattr(method, name, type(function)(guarded(function.__func__)))
        elif function is not None:
            setattr(method, name, guarded(function))
    return method


def is_from_file(method: type[Method]) -> bool:
    """Whether :func:`from_file` made the method, which is then untested."""
    return method.__module__.startswith(_FROM_FILE)


@contextmanager
def _as_method_error(path: Path, what: str) -> Iterator[None]:
    """Run the code of a user's file: whatever it raises, ``sys.exit`` too, becomes an error that says where.

    It also decorates functions of the file. The working folder is restored. ``os._exit`` raises too, because it would end a
    command with status 0 and nothing done; only in processes that the code forks does it still end them.
    """
    folder, process = os.getcwd(), os.getpid()

    def refuse_to_end(status: int) -> NoReturn:
        if os.getpid() != process:
            _END_PROCESS(status)
        raise SystemExit(f"os._exit({status})")

    os._exit = refuse_to_end
    try:
        yield
    except (ClusterletsError, MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        where = f", line {lines[-1]}" if lines else ""
        raise MethodError(f"{what}{where}: {_one_line(error)}", _one_line(error)) from error
    finally:
        os._exit = _END_PROCESS
        os.chdir(folder)


def _one_line(error: BaseException) -> str:
    """The type of an exception and the last line of its message."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # a class of the user's
        lines = []
    return f"{type(error).__name__}: {lines[-1] if lines else ''}".removesuffix(": ")


def check(method: type[Method], where: str) -> None:
    """Refuse a method whose attributes are not as :class:`Method` requires them; ``where`` is its source."""
    faults = list(_faults(method))
    if faults:
        raise ClusterletsError(f"{where}: {'; '.join(faults)}.")


def parameters_of(method: type[Method]) -> list[str] | None:
    """The parameters of a method; None if it takes any."""
    return None if method.takes_any_parameter() else list(method.parameters)


def by_parameter(methods: Iterable[type[Method]]) -> dict[str, list[type[Method]]]:
    """Which of some methods have a parameter, by its name."""
    methods_by_parameter: dict[str, list[type[Method]]] = {}
    for method in methods:
        for name in method.parameters:
            methods_by_parameter.setdefault(name, []).append(method)
    return methods_by_parameter


def meaning(name: str, methods: Iterable[type[Method]]) -> str:
    """What a parameter means to each of some methods that have it: ``B, D: Sweeps through the groups.``"""
    meanings: dict[str, list[str]] = {}
    for method in methods:
        meanings.setdefault(method.parameters[name].meaning, []).append(method.name)
    return " ".join(f"{', '.join(names)}: {text}" for text, names in meanings.items())


def check_parameters(method: type[Method], parameters: Iterable[str], where: str) -> None:
    """Refuse parameters that the method does not take."""
    accepted = parameters_of(method)
    for name in parameters:
        if name in _FIXED_ARGUMENTS:
            raise ClusterletsError(f"{where}: {name!r} cannot be a parameter: every method is handed something of this name.")
        if accepted is not None and name not in accepted:
            has = f"its parameters: {', '.join(accepted)}" if accepted else "it has none"
            raise ClusterletsError(f"{where}: {method.name} has no parameter {name!r}; {has}.")


def _methods_of(module: ModuleType) -> dict[str, type[Method]]:
    """The methods that a module defines itself, by name."""
    classes = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Method)]
    return {
        method.name: method
        for method in classes
        if method.__module__ == module.__name__ and isinstance(vars(method).get("name"), str)
    }


def _are_texts(value: Any) -> bool:
    return isinstance(value, tuple | list) and all(isinstance(text, str) for text in value) and len(set(value)) == len(value)


def _is_whole(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0)


# What the attributes of a method may be: in words, the check, and which attributes.
_ATTRIBUTES: dict[str, tuple[Callable[[Any], bool], tuple[str, ...]]] = {
    "text": (lambda value: isinstance(value, str), ("label", "citation", "guarantee", "cost")),
    "tuple of different texts": (_are_texts, ("outputs", "libraries", "kernels", "needs")),
    "whole number of at least 1": (lambda value: bool(value) and _is_whole(value), ("least_groups",)),
    "whole number of at least 0, or None": (_is_whole, ("most_groups", "most_rows", "stream")),
    "True or False": (lambda value: isinstance(value, bool), ("is_random",)),
    "mapping of texts to texts": (
        lambda value: isinstance(value, Mapping) and all(isinstance(text, str) for text in [*value, *value.values()]),
        ("settings",),
    ),
}


def _faults(method: type[Method]) -> Iterable[str]:
    if not NAME.fullmatch(method.name):
        yield f"name: {method.name!r} must begin with a letter and hold letters, digits, '.', '+' and '-' alone, 40 at most"
    if method.role not in ("rival", "paper", "baseline"):
        yield f"role: {method.role!r} must be rival, paper or baseline"
    for kind, (is_right, attributes) in _ATTRIBUTES.items():
        values = {attribute: getattr(method, attribute) for attribute in attributes}
        yield from (f"{attribute}: {value!r} is not a {kind}" for attribute, value in values.items() if not is_right(value))
    yield from (f"{name}: it must be a function" for name in _CALLED if not callable(getattr(method, name, len)))
    for name, parameter in method.parameters.items():
        if not isinstance(parameter, Parameter):
            yield f"parameters: {name} needs a Parameter, or a list of one value or more, not {parameter!r}"
            continue
        if not method.takes_any_parameter() and name not in method._arguments():
            yield f"parameters: {name} is not a parameter of fit with a default"
        if not all(isinstance(value, VALUE_TYPES) and value not in (inf, -inf) and value == value for value in parameter.grid):
            yield f"parameters: values of {name} must be finite numbers, texts, true, false or null"
        elif len({(type(value), value) for value in parameter.grid}) < len(parameter.grid):
            yield f"parameters: {name} lists a value twice"
        else:
            yield from (f"parameters: {fault}" for value in parameter.grid if (fault := parameter.fault(name, value)))
        if fault := parameter.fault(name, parameter.default):
            yield f"parameters: the default of {fault}"
    for output in method.outputs if _are_texts(method.outputs) else ():
        if not re.fullmatch(r"[A-Za-z0-9 .+-]{1,40}", output):
            yield f"outputs: {output!r} must hold letters, digits, spaces, '.', '+' and '-' alone"
