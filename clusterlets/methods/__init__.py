"""Fair clustering methods, one file each.

A file contains one subclass of :class:`Method`. The file has the method's name in lower case, with ``_`` for ``-``: ``g_b.py``
for G-B. A file of your own works the same way from any folder (:func:`from_file`). Nothing else needs an edit for a new method:
paths, jobs, results, figures, commands and docs/methods.md follow from the attributes of the class.

Methods import compiled algorithms where they call them, because listing parameters must not load Numba. What they share
is in ``interface/``.
"""

from clusterlets.methods.interface.base import COMPILED, Matcher, Method
from clusterlets.methods.interface.registry import get, matchers, names
from clusterlets.methods.interface.running import fit
from clusterlets.methods.interface.users_file import from_file
from clusterlets.parameters import (
    DELTA,
    MAX_DEVIATION,
    MIN_CLUSTER_SIZE,
    N_INIT,
    PARTS,
    RATIO,
    SHARES,
    STRICT,
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
    "N_INIT",
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
    "fit",
    "from_file",
    "get",
    "matchers",
    "names",
]
