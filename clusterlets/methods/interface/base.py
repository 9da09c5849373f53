"""What a method is: the base class of all methods, and that of the methods that join clusterlets."""

import importlib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import Parameter as Argument
from inspect import getdoc, signature
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.errors import NoClusteringError
from clusterlets.parameters import Parameter

#: The ``libraries`` of a method with compiled kernels. llvmlite is among them because it generates the machine code.
COMPILED = ("numpy", "numba", "llvmlite")
#: Arguments of ``fit`` and ``match`` that are not parameters of the method.
FIXED_ARGUMENTS = ("self", "X", "groups", "clusterlets", "n_clusters", "random_state", "partitions")

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
        here accepts any value too. ``"n_init": N_INIT`` lets users ask for several fits, of which the best counts; ``fit``
        itself does not get it. Once the class exists, the mapping contains every parameter, with its default.
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
    is_matcher : bool
        Whether the method joins clusterlets, as a :class:`Matcher` does, or clusters instances.
    is_random : bool
        Whether the results depend on ``random_state``. If not, one fit serves all seeds.
    stream : int or None
        Number of the method's random stream; by default computed from the name.
    sensitive_columns : mapping of str to sequence (K,)
        Maps each sensitive column to its value in each group. Empty unless the caller of ``fit`` sets it.
    shared : dict or None
        Where fits of the same table may leave intermediate results for each other; None unless the caller of ``fit`` sets it.

    Notes
    -----
    If ``fit`` sets an attribute whose name ends in an underscore, such as ``self.n_iter_``, the estimator gets it too.
    Two of these have a meaning:

    - ``self.objective_`` (a number) is what the fit minimised. Of several starts, the one with the smallest objective
      counts. If it is not set, the sum of squared errors decides.
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
    is_matcher: ClassVar[bool] = False
    is_random: ClassVar[bool] = True
    stream: ClassVar[int | None] = None
    sensitive_columns: Mapping[Any, Sequence[Any]] = MappingProxyType({})
    shared: dict[str, Any] | None = None

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        arguments = [(name, argument) for name, argument in cls.arguments().items() if name not in FIXED_ARGUMENTS]
        defaults = {name: argument.default for name, argument in arguments if argument.default is not Argument.empty}
        own_parameters = vars(cls).get("parameters", {})
        # Leave out inherited parameters that this class's fit does not take.
        kept = {*own_parameters, *defaults, "n_init"}
        declared = {name: value for name, value in cls.parameters.items() if name in kept}
        cls.parameters = declared | {name: Parameter() for name in defaults if name not in declared}
        for name, parameter in cls.parameters.items():
            if isinstance(parameter, list | tuple) and parameter:
                parameter = Parameter(grid=parameter)
            if isinstance(parameter, Parameter):  # otherwise, check() refuses the method
                cls.parameters[name] = replace(parameter, default=defaults.get(name, parameter.default))

    @classmethod
    def arguments(cls) -> Mapping[str, Argument]:
        """The arguments of ``fit``; of ``match`` for a matcher."""
        return signature(getattr(cls, "match" if cls.is_matcher else "fit")).parameters

    @classmethod
    def makes_its_own_starts(cls) -> bool:
        """Whether ``fit`` takes ``n_init`` itself. Otherwise :func:`clusterlets.methods.fit` makes the starts."""
        return "n_init" in cls.arguments()

    @classmethod
    def takes_any_parameter(cls) -> bool:
        """Whether ``fit`` takes parameters of any name."""
        return any(argument.kind is Argument.VAR_KEYWORD for argument in cls.arguments().values())

    @classmethod
    def needs_partitions(cls) -> bool:
        """Whether the workflow must sample partitions for the method, which is then a :class:`Matcher`."""
        return cls.is_matcher and "partitions" in cls.arguments()

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
        self, composition: np.ndarray, new_totals: np.ndarray, reference: np.ndarray, **parameters
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Linear bounds within which new rows may join the clusters, so that the method's guarantee also covers them.

        None if the method guarantees nothing for new rows.

        Parameters
        ----------
        composition : int array (K, k)
            Rows of each group in each cluster.
        new_totals : int array (K,)
            New rows of each group.
        reference : int array (K,)
            Rows of each group in the table of the fit, whose shares are the reference; 0 for a group that came later.
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

    If its ``match`` has an argument ``partitions``, the workflow samples partitions and passes their
    :class:`~clusterlets.algorithms.matching.centroid.ParetoFront` in it.
    """

    role = "paper"
    is_matcher = True
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
        """Like :meth:`match`, but raises NoClusteringError if the matcher finds no clustering."""
        membership = self.match(clusterlets, random_state, **parameters)
        if membership is None:
            message = f"{self.name} finds no clustering of these clusterlets; use a larger k, or another method."
            raise NoClusteringError("infeasible", message)
        return membership
