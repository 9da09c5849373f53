"""How the cells of C match. A module apart from the other matchers': a change of it runs the cells of C alone again."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.matching.centroid import ParetoFront, match_centroid
from clusterlets.grid.artifacts import SeedBlock
from clusterlets.grid.scoring import Match


def centroid_match(partitions: str, omega: float, equation: Literal["corrected", "printed"]) -> Match:
    """How a cell of C matches the clusterlets of one seed: from the fronts in a file; None where a front is empty."""
    fronts: Mapping[str, Mapping[str, Any]] = SeedBlock.load(partitions).values

    def membership(clusterlets: Clusterlets, seed: int) -> np.ndarray | None:
        front = ParetoFront(**fronts[str(seed)])
        return match_centroid(front, omega, equation) if len(front) else None

    return membership
