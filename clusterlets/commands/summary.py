"""The text that ``clusterlets cluster`` prints about a clustering: the clusters, the scores, and warnings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clusterlets.algorithms.checks import MAX_GROUPS
from clusterlets.algorithms.limits import exact_fraction
from clusterlets.algorithms.plain_costs import number_of_starts
from clusterlets.metrics.prices import BELOW_ONE
from clusterlets.text import counted, first_of, names_of_groups

if TYPE_CHECKING:
    from clusterlets.estimators import FairnessReport  # scikit-learn is slow to import
    from clusterlets.estimators.profiles import Profiles
    from clusterlets.tables.table import Table

#: If the price of fairness is above this, the summary suggests trying other methods.
HIGH_PRICE = 2.0
_MAX_CLUSTERS = 20  # lines about clusters in the listing, and in the part on what stands out
_UNNAMED = ("true", "false", "yes", "no", "y", "n", "t", "f")  # values that do not say what they are about
_MAX_GROUPS = 6  # groups with a column in the listing


@dataclass(frozen=True)
class Line:
    """A named line of the summary, such as a score with its explanation. ``str`` aligns it with others."""

    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.name:<10}  {self.text}"


@dataclass(frozen=True)
class Summary:
    """What ``clusterlets cluster`` prints about a clustering; ``str`` joins the parts in reading order."""

    table: str  # one line: the file, its size, and the share of each group
    verdict: str  # whether the limits are kept, where the clusters deviate most, and the price
    features: str  # one line with the names of the features
    notes: Sequence[str]
    warnings: Sequence[str]
    method: str  # one line: the method, its parameters, and the number of clusters
    report: "FairnessReport"
    profiles: "Profiles"
    scores: Sequence[Line]  # about bounds and scores
    columns: Mapping[str, "FairnessReport"] = field(default_factory=dict)  # of each of several sensitive columns
    combinations: bool = True  # whether the combinations of these columns are shown

    @property
    def listings(self) -> dict[str, "FairnessReport"]:
        """The reports to list, by title: on the groups or, with several columns, on each and, if asked for, on combinations."""
        if len(self.columns) < 2:
            return {"": self.report}
        reports = {f"{name} by itself": report for name, report in self.columns.items()}
        return {**reports, **({"combinations": self.report} if self.combinations else {})}

    def __str__(self) -> str:
        clusters = self.report.composition.clusters
        profile_lines = [f"{cluster:>7}  {self.profiles.describe(index)}" for index, cluster in enumerate(clusters)]
        return "\n".join(
            [
                self.table,
                self.verdict,
                self.features,
                *(f"note: {note}" for note in self.notes),
                *(f"warning: {warning}" for warning in self.warnings),
                self.method,
                "",
                *(f"{title}\n{listing(report)}\n".lstrip("\n") for title, report in self.listings.items()),
                "what stands out in each cluster: mean +- standard deviation, and those of the table",
                *first_of(profile_lines, _MAX_CLUSTERS),
                "",
                *map(str, self.scores),
            ]
        )


def listing(report: "FairnessReport") -> str:
    """A table with one line per cluster: its size, its deviation, and the share of each group.

    Of many clusters, only those that deviate most are listed. With many groups, each line has only the share that is furthest
    from the table's, and the difference of the two.
    """
    clusters, titles = report.clusters, report.composition.names
    n_hidden = max(0, len(clusters) - _MAX_CLUSTERS)
    if n_hidden:
        clusters = clusters.iloc[np.argsort(-report.deviations, kind="stable")[:_MAX_CLUSTERS]]
    sizes, deviations = clusters["size"].map("{:,}".format), clusters["deviation"].map("{:.3f}".format)
    columns = [clusters.index, sizes.to_numpy(), deviations.to_numpy()]
    shares = clusters.iloc[:, -len(titles) :].to_numpy()
    if len(titles) <= _MAX_GROUPS:
        columns += [[f"{share:.1%}" for share in column] for column in shares.T]
    else:
        positions = {name: position for position, name in enumerate(titles)}
        rows = zip(clusters["furthest_off"], shares, clusters["excess"], strict=True)
        columns.append([f"{name} {share[positions[name]]:.1%} ({excess:+.1%})" for name, share, excess in rows])
        titles = ["furthest off"]
    lines = pd.DataFrame(dict(enumerate(columns)))  # titled below, because a group may also be called "size"
    text = lines.set_axis(["cluster", "size", "deviation", *titles], axis=1).to_string(index=False)
    return text + (f"\n... and {n_hidden} more, deviating less" if n_hidden else "")


def worst_cluster(report: "FairnessReport", column: str = "") -> str:
    """The cluster that deviates most, the first if several tie, and its group with the furthest-off share."""
    # Rounded, because deviations that tie may differ in their last bits.
    cluster = report.clusters.iloc[int(report.deviations.round(12).argmax())]
    group = cluster["furthest_off"]
    expected = dict(zip(report.composition.names, report.shares.values(), strict=True))[group]
    where = f"{column} = " if column and not group.startswith(f"{column} = ") else ""
    return (
        f"cluster {cluster.name} ({counted(cluster['size'], 'row')}): "
        f"{where}{group} makes up {expected + cluster['excess']:.1%} in place of {expected:.1%}"
    )


def verdict(judgement: str, columns: Mapping[str, "FairnessReport"], price: float) -> str:
    """A sentence on the limits, followed by where the clusters deviate most, over all sensitive columns, and their price."""
    column, report = max(columns.items(), key=lambda item: float(item[1].deviations.max().round(12)))
    cost = "" if np.isnan(price) else f"; the cost is {price:.3f} times that of plain k-means"
    return f"{judgement} Largest deviation {report.deviations.max():.3f}, {worst_cluster(report, column)}{cost}."


def breaks(broken: Iterable[tuple]) -> list[Line]:
    """A line for each limit that a cluster breaks, as :func:`clusterlets.estimators.repair.broken_limits` lists them."""
    return [
        Line("breaks", f"cluster {cluster}: {counted(n, 'row')} of {group} too {'many' if is_too_many else 'few'}")
        for cluster, group, n, is_too_many in broken
    ]


def groups_within(sensitive: pd.DataFrame, max_deviation: Any) -> list[str]:
    """A warning if a limit on the deviation lets clusters lack whole groups, because these are smaller than the limit."""
    limits = max_deviation if isinstance(max_deviation, Mapping) else dict.fromkeys(sensitive, max_deviation)
    small = [
        f"{name} = {value} ({share:.1%})"
        for name, column in sensitive.items()
        for value, share in column.value_counts(normalize=True, sort=False).items()
        if share <= float(exact_fraction(limits.get(name, 0))) < 1
    ]
    if not small:
        return []
    return [
        f"max_deviation lets a cluster have none of {', '.join(first_of(small, _MAX_GROUPS))}: so small a share is within it; "
        "a stricter one, --shares or --min-ratio limits them"
    ]


def warnings(report: "FairnessReport", columns: Mapping[str, "FairnessReport"]) -> list[str]:
    """Warnings about clusters that lack a group of a column, and about a price of fairness above :data:`HIGH_PRICE`."""
    messages, price = [], report["price_of_fairness"]
    for name, report_of_groups in columns.items() if len(columns) > 1 else [("", report)]:
        if lacking := report_of_groups.composition.lacking_groups():
            messages.append(f"{name and f'{name}: '}{lacking}. Ask for fewer clusters or another method")
    if price > HIGH_PRICE:
        messages.append(
            f"the price of fairness is {price:.3f}: the clusters are far wider than those of plain k-means; "
            "`clusterlets tune` shows what other limits cost"
        )
    return messages


def shares_of_columns(sensitive: pd.DataFrame) -> str:
    """The share of each value in the table, one sensitive column after the other."""
    parts = []
    for name, column in sensitive.items():
        shares = column.value_counts(normalize=True, sort=False)
        parts.append(f"{name}: {', '.join(first_of([f'{value} {share:.1%}' for value, share in shares.items()], MAX_GROUPS))}")
    return "; ".join(parts)


def named_groups(table: "Table", sensitive: pd.DataFrame) -> pd.Categorical:
    """The group of each row (n,) by a name that tells what it is, in the order of the table."""
    if sensitive.shape[1] == 1:
        return _named(sensitive.columns[0], sensitive.iloc[:, 0]).array
    return pd.Categorical.from_codes(table.groups, table.group_names)


def names_that_tell(sensitive: pd.DataFrame) -> dict[str, str]:
    """For the name of each group, one that says ``female = 1`` where 1 alone would not say what it is."""
    groups = sensitive.drop_duplicates().astype("category")
    told = [_named(name, column) for name, column in groups.items()]
    names = (names_of_groups(zip(*columns, strict=True)) for columns in ([groups[name] for name in groups], told))
    return dict(zip(*names, strict=True))


def _named(name: str, column: pd.Series) -> pd.Series:
    """A sensitive column whose values say ``female = 1`` where 1 alone would not say what it is."""
    values = column.cat.categories.tolist()
    if any(any(map(str.isalpha, value)) and value.casefold() not in _UNNAMED for value in values):
        return column
    return column.cat.rename_categories([f"{name} = {value}" for value in values])


def columns(X, clustering, sensitive: pd.DataFrame) -> dict[str, "FairnessReport"]:
    """The report on each sensitive column, without what takes long."""
    from clusterlets.estimators import fairness_report

    return {
        name: fairness_report(X, clustering, _named(name, column), cohesion=False, silhouette=False, reference_cost=1.0)
        for name, column in sensitive.items()
    }


def scores(report: "FairnessReport", of_groups: bool = True, all_scores: bool = True) -> list[Line]:
    """The scores of :func:`clusterlets.estimators.fairness_report`, each explained in brackets.

    Those of the groups are left out unless ``of_groups``; those that few ask for, unless ``all_scores``.
    """
    deviation = ", ".join(f"{name} {report[f'deviation_{name}']:.3f}" for name in ("mean", "std", "max"))
    group_scores = [
        Line("worst", worst_cluster(report)),
        Line("deviation", f"{deviation}   (0: every cluster has the table's shares)"),
    ]
    bounds = Line(
        "bounds",
        f"delta {report['delta_min']:.3f}, {counted(report['additive_violation'], 'row')} off   "
        "(least delta with all shares from r (1 - delta) to r / (1 - delta), for a share r of the table; rows off at delta 0)",
    )
    costs = Line(
        "costs",
        f"social {report['social_cost']:.4g}, k-median {report['kmedian_cost']:.4g}, "
        f"k-center {report['kcenter_cost']:.4g}   (by the distance to the cluster's mean)",
    )
    return [
        *(group_scores if of_groups else []),
        *([bounds] if of_groups and all_scores else []),
        Line(
            "cohesion",
            f"{_with_error(report['cohesion'], report['cohesion_error'])}   "
            "(1 - mean distance in a cluster / largest distance)",
        ),
        Line("overlap", f"{report['overlap']:.1%}   (rows in two or more clusters)"),
        *([costs] if all_scores else []),
        Line("price of fairness", _price(report)),
        Line("silhouette", _silhouette(report)),
    ]


def _with_error(value: float, error: float) -> str:
    """A score to as many decimals as it is known; at most three."""
    if not error:
        return f"{value:.3f}"
    decimals = int(np.clip(np.ceil(-np.log10(error)), 0, 3))
    return f"{value:.{decimals}f}, from samples"


def _price(report: "FairnessReport") -> str:
    price = report["price_of_fairness"]
    if np.isnan(report["kmeans_cost"]):
        return "not defined where clusters overlap"
    if np.isnan(price):
        return "not defined: plain k-means costs nothing"
    clusters = counted(report["n_clusters"], "cluster")
    n_starts = number_of_starts(int(report.composition.group_counts.sum()))
    remark = f"; {BELOW_ONE}" if round(price, 3) < 1 else ""
    return f"{price:.3f}   (k-means cost over that of plain k-means with {clusters}, the least of {n_starts} starts{remark})"


def _silhouette(report: "FairnessReport") -> str:
    if np.isnan(report["silhouette"]):
        return "not defined here: it needs two clusters or more"
    remark = ", each in the nearest of its clusters" if report["overlap"] else ""
    value = _with_error(report["silhouette"], report["silhouette_error"])
    return f"{value}   (over rows{remark}; 1: well separated, below 0: mixed)"
