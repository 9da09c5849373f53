"""What only parts of the package need: which extra brings a library, and what is said where it is missing."""

from collections.abc import Iterator
from contextlib import contextmanager

from clusterlets.errors import ClusterletsError

#: The least extra of the distribution that brings each optional library, by the name under which it is imported.
EXTRAS = {
    "pandas": "tables",
    "pyarrow": "tables",
    "yaml": "data",
    "pooch": "data",
    "requests": "data",
    "matplotlib": "plots",
    "jinja2": "workflow",
    "jsonschema": "workflow",
    "pygments": "workflow",
    "scikit_posthocs": "workflow",
    "seaborn": "workflow",
    "snakemake": "workflow",
    "statsmodels": "workflow",
}


class MissingExtra(ClusterletsError, ImportError):
    """An optional library is not installed; the message names the extra that brings it."""


@contextmanager
def optional(extra: str = "") -> Iterator[None]:
    """Imports of optional libraries: where one is missing, say so in one line.

    Parameters
    ----------
    extra : str, optional
        The extra to name; by default the least that brings the missing library.

    Raises
    ------
    MissingExtra
        In place of the ``ModuleNotFoundError`` of a library of :data:`EXTRAS`.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").split(".")[0]
        if library not in EXTRAS:
            raise
        raise MissingExtra(
            f"this needs {library}, which is not installed; install it with "
            f"`python -m pip install 'clusterlets-benchmark[{extra or EXTRAS[library]}]'`"
        ) from None
