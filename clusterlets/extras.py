"""Optional libraries: which extra installs each, and the message if one is missing."""

from collections.abc import Iterator
from contextlib import contextmanager

from clusterlets.errors import ClusterletsError

#: This module only explains errors: see clusterlets.grid.fingerprints.
IN_FINGERPRINTS = False

#: The smallest extra of the distribution that installs each optional library, by its import name.
EXTRAS = {
    "pandas": "tables",
    "pyarrow": "tables",
    "yaml": "data",
    "pooch": "data",
    "requests": "data",
    "matplotlib": "plots",
    "jinja2": "tune",
    "jsonschema": "workflow",
    "pygments": "workflow",
    "scikit_posthocs": "workflow",
    "snakemake": "workflow",
    "statsmodels": "workflow",
}


class MissingExtra(ClusterletsError, ImportError):
    """An optional library is not installed; the message names the extra that installs it."""


@contextmanager
def optional(extra: str = "") -> Iterator[None]:
    """Import optional libraries; if one is missing, say so in one line.

    Parameters
    ----------
    extra : str, optional
        The extra to name; by default the smallest that installs the missing library.

    Raises
    ------
    MissingExtra
        Instead of the ``ModuleNotFoundError`` of a library of :data:`EXTRAS`.
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
