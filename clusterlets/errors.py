"""The exceptions that are meant for people."""

import os


class ClusterletsError(Exception):
    """Something a person can mend: the message says what was wrong, where, and what to do next.

    The command line prints the message without a traceback and exits with status 1.
    """


class InvalidInput(ClusterletsError, ValueError):
    """Input that a person can mend; also the ``ValueError`` that users of scikit-learn expect."""


class NoClusteringError(ClusterletsError):
    """A method's own word that it has no clustering to give: that it did not converge, say.

    Attributes
    ----------
    status : str
        What the column ``status`` of the results holds for it: ``not_converged`` or ``infeasible``.
    """

    def __init__(self, status: str, message: str):
        super().__init__(message)
        self.status = status


class UnusableFileError(ClusterletsError):
    """A file of the results that is not what was written at its place.

    Attributes
    ----------
    path : path
        The file.
    happened : str
        What is wrong with it, without what to do next: that is another thing where no workflow is running.
    """

    def __init__(self, path: os.PathLike, happened: str, remedy: str):
        super().__init__(f"{happened} {remedy}")
        self.path, self.happened = path, happened
