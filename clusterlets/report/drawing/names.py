"""Names from users in figures. Importing this module makes Matplotlib print them literally; ``cut`` shortens them."""

import matplotlib

from clusterlets.text import cut

__all__ = ["cut"]

matplotlib.rcParams["text.parse_math"] = False  # a name such as "$0-$20k" is no formula
