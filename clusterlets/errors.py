"""Exceptions whose messages are for users."""

import os
from typing import Any


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
        Of a search that did not converge: labels that come near to what was asked for.
    """

    def __init__(self, status: str, message: str, labels: Any = None):
        super().__init__(message)
        self.status, self.labels = status, labels


class UnusableFileError(ClusterletsError):
    """A file of the results is not what was written to this path.

    Attributes
    ----------
    path : path
        The file.
    happened : str
        What is wrong with it. What to do next is not included, because it differs outside a workflow.
    """

    def __init__(self, path: os.PathLike, happened: str, remedy: str):
        super().__init__(f"{happened} {remedy}")
        self.path, self.happened = path, happened
