"""Exceptions whose messages are for users, and the hint of messages about unknown names."""

import os
from collections.abc import Iterable
from typing import Any

import clusterlets.installation  # noqa: F401


class ClusterletsError(Exception):
    """Something that the user can fix: the message says what was wrong, where, and what to do next.

    The command line prints the message without a traceback and exits with status 1.
    """


class InvalidInput(ClusterletsError, ValueError):
    """Input that the user can fix; also the ``ValueError`` that users of scikit-learn expect."""


class NoClusteringError(InvalidInput):
    """A method has no clustering to return, for example because it did not converge.

    Attributes
    ----------
    status : str
        Its value in the column ``status`` of the results: ``not_converged`` or ``infeasible``.
    labels : int array (n,) or None
        If a search did not converge: the labels that came nearest to the limits.
    """

    def __init__(self, status: str, message: str, labels: Any = None):
        super().__init__(message)
        self.status, self.labels = status, labels


class MethodError(ClusterletsError):
    """The code of a user's method raised an exception, or ended Python; that is the cause.

    Attributes
    ----------
    raised : str
        The exception in one line; the message also says where it was raised.
    """

    def __init__(self, message: str, raised: str):
        super().__init__(message)
        self.raised = raised


class UnusableFileError(ClusterletsError):
    """A file of the results is not what was written to this path.

    Attributes
    ----------
    path : path
        The file.
    problem : str
        What is wrong with it. What to do next is not included, because it differs outside a workflow.
    """

    def __init__(self, path: os.PathLike, problem: str, remedy: str):
        super().__init__(f"{problem} {remedy}")
        self.path, self.problem = path, problem


def did_you_mean(name: str, available: Iterable[str]) -> str:
    """`` (did you mean 'adult'?)`` if one of the available names is similar, or contains the name; else empty."""
    from difflib import get_close_matches  # imported late: only errors need it

    by_case = {other.casefold(): other for other in available}
    near = get_close_matches(name.casefold(), by_case, n=1) or [other for other in by_case if name and name.casefold() in other]
    return f" (did you mean {by_case[near[0]]!r}?)" if near else ""
