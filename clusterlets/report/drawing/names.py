"""Names from users in figures: printed literally, and cut to fit."""

import matplotlib

from clusterlets.text import cut

__all__ = ["cut"]

matplotlib.rcParams["text.parse_math"] = False  # no figure has formulas, but a name may be "$0-$20k"
