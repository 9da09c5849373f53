"""The HTML page of one clustering of a user's table: its settings, each cluster, the scores, and a picture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clusterlets.pages.templating import PageTable, embed_png, render_template

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
    verdict: str,
    features: str,
    notes: Sequence[str],
    warnings: Sequence[str],
    method: str,
    reports: Mapping[str, Any],
    profiles: Sequence[Profile],
    scores: Sequence[tuple[str, str]],
    command: str,
    picture: bytes,
    path: tuple[str, bytes] | None = None,
) -> str:
    """The page as HTML.

    Parameters
    ----------
    table, features, method : str
        What was clustered, by which columns, and how.
    verdict : str
        Whether the limits are kept, where the clusters deviate most, and the price.
    notes, warnings : sequences of str
        Sentences on the data and on the fit.
    reports : mapping of str to clusterlets.estimators.FairnessReport
        By title: the report on the groups, or on those of each sensitive column.
    profiles : sequence of Profile
        The clusters to describe.
    scores : sequence of (str, str)
        Names of scores, and their values with explanations.
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
        verdict=verdict,
        features=features,
        notes=notes,
        warnings=warnings,
        method=method,
        clusters={title: _cluster_table(report) for title, report in reports.items()},
        profiles=[(profile, embed_png(profile.picture)) for profile in profiles],
        scores=scores,
        command=command,
        picture=embed_png(picture),
        path=path and (path[0].split("\n\n"), embed_png(path[1])),
    )


def _cluster_table(report: Any) -> PageTable:
    """A row for the whole table, and one for each cluster: size, deviation, and the count and share of each group."""
    composition = report.composition
    columns = [("cluster", False), ("size", True), ("deviation", True), *((name, True) for name in composition.names)]
    names = ["whole table", *map(str, composition.clusters)]
    deviations = ["–", *(f"{value:.3f}" for value in report.deviations)]
    rows = []
    for name, counts, deviation in zip(names, [composition.group_counts, *composition.counts], deviations, strict=True):
        counts_with_shares = [f"{count:,} ({count / counts.sum():.1%})" for count in counts]
        rows.append([name, f"{counts.sum():,}", deviation, *counts_with_shares])
    return PageTable(columns, rows)
