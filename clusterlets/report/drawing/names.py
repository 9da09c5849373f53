"""User-supplied names in figures: printed literally, and no longer than there is room for."""

import matplotlib

from clusterlets.text import cut

__all__ = ["cut"]

matplotlib.rcParams["text.parse_math"] = False  # "$0-$20k" is a name; no figure has formulas
