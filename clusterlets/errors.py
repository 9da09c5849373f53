"""Exceptions whose messages are for users, and a hint for messages about unknown names."""

import os
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import clusterlets.installation  # noqa: F401


class ClusterletsError(Exception):
    """Something that the user can fix. The message says what was wrong, where, and what to do next.

    The command line prints only the message, without a traceback, and exits with status 1.
    """


class InvalidInput(ClusterletsError, ValueError):
    """Input that the user can fix. It is also a ``ValueError``, which users of scikit-learn expect."""


class LookAlikeGroups(UserWarning):
    """Values of a sensitive column are different groups, but differ only in their spelling, such as f and F."""


class LimitsMissed(UserWarning):
    """No labels of new rows were found that keep the limits of a clustering for old and new rows together."""


class NoClusteringError(InvalidInput):
    """A method has no clustering to return, for example because it did not converge.

    Attributes
    ----------
    status : str
        ``not_converged`` or ``infeasible``, as in the column ``status`` of the results.
    labels : int array (n,) or None
        If a search did not converge, the labels that came nearest to the limits.
    """

    def __init__(self, status: str, message: str, labels: Any = None):
        super().__init__(message)
        self.status, self.labels = status, labels


class MethodError(ClusterletsError):
    """The code of a user's method raised an exception, or tried to end Python. ``__cause__`` is the exception.

    Attributes
    ----------
    raised : str
        The exception in one line. The message also says where it was raised.
    """

    def __init__(self, message: str, raised: str):
        super().__init__(message)
        self.raised = raised


class UnusableFileError(ClusterletsError):
    """A results file does not hold what was written to its path: it is damaged, or belongs elsewhere.

    Attributes
    ----------
    path : path
        The file.
    problem : str
        What is wrong with the file, without the remedy.
    """

    def __init__(self, path: os.PathLike, problem: str, remedy: str):
        super().__init__(f"{problem} {remedy}")
        self.path, self.problem = path, problem


def nearest_names(name: str, available: Sequence[str]) -> str:
    """At most ten of the available names, those that resemble ``name`` first, and how many more there are."""
    from difflib import SequenceMatcher  # imported late: only errors need it

    likeness = {other: SequenceMatcher(None, name.casefold(), other.casefold()).ratio() for other in available}
    nearest = sorted(available, key=lambda other: -likeness[other])[:10] if len(available) > 10 else available
    more = f" and {len(available) - 10} more" if len(available) > 10 else ""
    return ", ".join(nearest) + more


def did_you_mean(name: str, available: Iterable[str]) -> str:
    """The hint `` (did you mean 'adult'?)`` if an available name resembles ``name`` or contains it; otherwise ""."""
    from difflib import get_close_matches  # imported late: only errors need it

    name_as_read, names = _as_read(name), {_as_read(candidate): candidate for candidate in available}
    similar = get_close_matches(name_as_read, names, n=1)
    similar = similar or [candidate for candidate in names if name and name_as_read in candidate]
    if not similar:
        return ""
    other = names[similar[0]]
    own_code, code = tell_apart([name, other])
    return f" (did you mean {other!r}{'' if code == repr(other) else f', which is {code} and not {own_code}'}?)"


def _as_read(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def tell_apart(values: Sequence[Any]) -> list[str]:
    """The values as Python writes them; with escapes for code points where two would look the same."""
    texts = [repr(value) for value in values]
    normal_forms = {unicodedata.normalize("NFKC", text) for text in texts}
    return texts if len(normal_forms) == len(texts) else [ascii(value) for value in values]
