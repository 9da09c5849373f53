"""The HTML page of one clustering of a user's table: the choices made, each cluster, the scores, and the picture."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from clusterlets.report.templating import View, embed_png, render_template

#: Clusters with a profile; a page with more would be too large.
MAX_PROFILES = 30


@dataclass(frozen=True)
class Profile:
    """Who is in a cluster: what stands out in it, its typical rows in words, and a PNG."""

    name: str
    standing_out: str
    typical: str
    picture: bytes


def render(
    table: str,
    features: str,
    notes: Sequence[str],
    warnings: Sequence[str],
    method: str,
    composition: pd.DataFrame,
    group_counts: np.ndarray,
    deviations: np.ndarray,
    profiles: Sequence[Profile],
    scores: Sequence[str],
    command: str,
    picture: bytes,
) -> str:
    """The page as HTML.

    ``table``, ``features``, ``method`` and ``command`` say what was clustered, by which columns, how, and how to repeat it.
    ``composition`` (C, K) counts the instances of each group in each cluster, ``group_counts`` (K,) those in the table, and
    ``deviations`` (C,) belong to the clusters. A score is a name, two spaces or more, and the rest; ``picture`` is a PNG.
    """
    return render_template(
        "clustering.html",
        table=table,
        features=features,
        notes=notes,
        warnings=warnings,
        method=method,
        clusters=_clusters(composition, group_counts, deviations),
        profiles=[(profile, embed_png(profile.picture)) for profile in profiles],
        scores=[re.split(r"\s{2,}", line, maxsplit=1) for line in scores],
        command=command,
        picture=embed_png(picture),
    )


def _clusters(composition: pd.DataFrame, group_counts: np.ndarray, deviations: np.ndarray) -> View:
    """One row per cluster, below one for the whole table: size, deviation, and count and share of each group."""
    names = ["whole table", *map(str, composition.index)]
    rows = zip(names, [group_counts, *composition.to_numpy()], ["–", *(f"{value:.3f}" for value in deviations)], strict=True)
    columns = [("cluster", False), ("size", True), ("deviation", True), *((str(name), True) for name in composition.columns)]
    lines = []
    for name, counts, deviation in rows:
        with_shares = [f"{count:,} ({count / counts.sum():.1%})" for count in counts]
        lines.append([name, f"{counts.sum():,}", deviation, *with_shares])
    return View(columns, lines)
