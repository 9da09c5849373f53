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
    """A cluster: a sentence on the features that stand out, the ids of typical rows, and a PNG of its features."""

    name: str
    description: str
    typical_rows: str
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
    path: tuple[str, bytes] | None = None,
) -> str:
    """The page as HTML.

    Parameters
    ----------
    table, features, method : str
        What was clustered, by which columns, and how.
    notes, warnings : sequences of str
        Sentences on the data and on the fit.
    composition : DataFrame (C, K)
        Number of instances of each group in each cluster.
    group_counts : array (K,)
        Number of instances of each group in the table.
    deviations : array (C,)
        Deviation of each cluster.
    profiles : sequence of Profile
        The clusters to describe.
    scores : sequence of str
        Lines with a name, two or more spaces, and the value with its explanation.
    command : str
        The command that repeats the run.
    picture : bytes
        A PNG of the clusters' composition and rows.
    path : tuple of str and bytes, optional
        The recommendation of ``tune``, and a PNG of the prices of its path.
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
        path=path and (path[0].split("\n\n"), embed_png(path[1])),
    )


def _cluster_table(composition: pd.DataFrame, group_counts: np.ndarray, deviations: np.ndarray) -> PageTable:
    """A row for the whole table, and one for each cluster: size, deviation, and the count and share of each group."""
    columns = [("cluster", False), ("size", True), ("deviation", True), *((str(name), True) for name in composition.columns)]
    names = ["whole table", *map(str, composition.index)]
    deviation_texts = ["–", *(f"{value:.3f}" for value in deviations)]
    rows = []
    for name, counts, deviation in zip(names, [group_counts, *composition.to_numpy()], deviation_texts, strict=True):
        counts_with_shares = [f"{count:,} ({count / counts.sum():.1%})" for count in counts]
        rows.append([name, f"{counts.sum():,}", deviation, *counts_with_shares])
    return PageTable(columns, rows)
