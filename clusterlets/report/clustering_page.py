"""The HTML page of one clustering of a user's table: its settings, each cluster, the scores, and a picture."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from clusterlets.report.templating import PageTable, embed_png, render_template

#: Clusters with a profile; a page with more would be too large.
MAX_PROFILES = 30


@dataclass(frozen=True)
class Profile:
    """Who is in a cluster: a sentence on the features that stand out, its typical rows in words, and a PNG of its features."""

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

    ``table``, ``features`` and ``method`` say what was clustered, by which columns, and how; ``command`` repeats the run.
    ``composition`` (C, K) counts the instances of each group in each cluster, ``group_counts`` (K,) those in the table, and
    ``deviations`` (C,) has the deviation of each cluster. ``notes`` and ``warnings`` are sentences. Each of the ``scores`` is a
    line: a name, two or more spaces, and the value with its explanation. ``picture`` is a PNG.
    """
    return render_template(
        "clustering.html",
        table=table,
        features=features,
        notes=notes,
        warnings=warnings,
        method=method,
        clusters=_cluster_table(composition, group_counts, deviations),
        profiles=[(profile, embed_png(profile.picture)) for profile in profiles],
        scores=[re.split(r"\s{2,}", line, maxsplit=1) for line in scores],
        command=command,
        picture=embed_png(picture),
    )


def _cluster_table(composition: pd.DataFrame, group_counts: np.ndarray, deviations: np.ndarray) -> PageTable:
    """A row for the whole table, then one for each cluster: size, deviation, and the count and share of each group."""
    names = ["whole table", *map(str, composition.index)]
    rows = zip(names, [group_counts, *composition.to_numpy()], ["–", *(f"{value:.3f}" for value in deviations)], strict=True)
    columns = [("cluster", False), ("size", True), ("deviation", True), *((str(name), True) for name in composition.columns)]
    printed_rows = []
    for name, counts, deviation in rows:
        counts_with_shares = [f"{count:,} ({count / counts.sum():.1%})" for count in counts]
        printed_rows.append([name, f"{counts.sum():,}", deviation, *counts_with_shares])
    return PageTable(columns, printed_rows)
