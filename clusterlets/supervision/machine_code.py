"""Compile and load the machine code of a method before its fits, so that compiling does not count against their budget."""

from contextlib import suppress

import numpy as np

from clusterlets import methods
from clusterlets.methods.interface.users_file import is_from_file
from clusterlets.supervision.fits import Budget, fits
from clusterlets.supervision.statuses import OK


def load_machine_code(method_class: type[methods.Method], budget: Budget) -> None:
    """Fit four rows, so that the method's machine code is compiled and loaded."""

    def fit(_: int = 0) -> None:
        with suppress(Exception):  # the method may need more than four rows
            methods.fit(method_class, np.arange(4.0)[:, None], np.arange(4) % 2, 2, np.random.default_rng(0), {})

    # A user's method may never return, so it is first tried in a separate process, within the budget.
    if not is_from_file(method_class) or all(outcome.status == OK for _, outcome in fits(fit, [0], budget)):
        fit()
