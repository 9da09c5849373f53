"""The verdict by bands: whether our number lies within a fixed distance of the paper's."""

import pandas as pd

from clusterlets.paper.cells import CHOICES

# Half-widths of (reproduced, close), each the larger of an absolute number and a share of the reported one.
# The scale of correlations is twice as long as cohesion's, so their bands are twice as wide.
BANDS = {
    "deviation": ((0.002, 0.15), (0.005, 0.40)),
    "cohesion": ((0.01, 0.0), (0.03, 0.0)),
    "centroid": ((0.01, 0.0), (0.03, 0.0)),
    "overlap": ((0.01, 0.0), (0.03, 0.0)),
    "size": ((1.0, 0.05), (1.0, 0.10)),
    "correlation": ((0.02, 0.0), (0.06, 0.0)),
}
#: Tolerance for decimals such as .83 - .82, which misses .01 by the last bit; no distance that matters is that small.
LAST_BIT = 1e-9


def verdict(quantity: str, printed: str, ours: str | float | None) -> str:
    """``reproduced``, ``close`` or ``differs`` for one cell; ``not comparable`` if we have no value.

    Numbers are compared with bands around the printed one; the matcher and k of the best run are equal or not.
    """
    if ours is None or pd.isna(ours):
        return "not comparable"
    if quantity in CHOICES:
        return "reproduced" if printed == ours else "differs"
    distance = abs(float(ours) - float(printed))
    for word, width in zip(("reproduced", "close"), half_widths(quantity, float(printed)), strict=True):
        if distance <= width + LAST_BIT:
            return word
    return "differs"


def half_widths(quantity: str, printed: float) -> tuple[float, float]:
    """How far ours may be from the printed number of a quantity to count as reproduced, and as close."""
    reproduced, close = (max(absolute, share * abs(printed)) for absolute, share in BANDS[_kind(quantity)])
    return reproduced, close


def _kind(quantity: str) -> str:
    return quantity.removesuffix("_std").split("_")[0]
