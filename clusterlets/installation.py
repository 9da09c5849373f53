"""Raises an ImportError if another package was installed over this one.

The package clusterlets on PyPI, by the authors of the paper, has the same import name. It replaces
``clusterlets/__init__.py``. So every subpackage and every top-level module of this package imports this module first.
"""

import sys

if not hasattr(sys.modules["clusterlets"], "_HOMES"):  # only our __init__.py defines it
    raise ImportError(
        "another package named clusterlets, that of the paper's authors on PyPI, was installed over this one. Run "
        "`python -m pip uninstall clusterlets clusterlets-benchmark`, and then `python -m pip install .` in a checkout of the "
        "project."
    )
