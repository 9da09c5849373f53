"""Optional libraries: the extra that installs each of them, and the error if a library is missing."""

from collections.abc import Iterator
from contextlib import contextmanager

from clusterlets.errors import ClusterletsError

#: The smallest extra of this project that installs each optional library, by import name.
EXTRAS = {
    "pandas": "tables",
    "jinja2": "tables",
    "openpyxl": "tables",
    "pyarrow": "data",
    "yaml": "data",
    "pooch": "data",
    "requests": "data",
    "matplotlib": "plots",
    "jsonschema": "workflow",
    "pygments": "workflow",
    "scikit_posthocs": "workflow",
    "seaborn": "workflow",
    "snakemake": "workflow",
    "statsmodels": "workflow",
}


class MissingExtra(ClusterletsError, ImportError):
    """An optional library is not installed; the message names the extra that installs it."""


@contextmanager
def optional(extra: str = "") -> Iterator[None]:
    """Context in which to import optional libraries.

    Parameters
    ----------
    extra : str, optional
        The extra that the error names; by default, the smallest that installs the missing library.

    Raises
    ------
    MissingExtra
        Instead of ``ModuleNotFoundError``, if a library in :data:`EXTRAS` is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").split(".")[0]
        if library not in EXTRAS:
            raise
        raise MissingExtra(
            f"this needs {library}, which is not installed; install it with "
            f"`python -m pip install '.[{extra or EXTRAS[library]}]'` in a checkout of the project"
        ) from None
