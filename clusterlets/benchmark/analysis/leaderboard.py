"""How reliably each method keeps a limit on unfairness, and at what price.

A case is a table with sensitive groups and a k. A run *keeps the limit* if it has exactly k clusters and no cluster deviates
by more than the limit. The first half of the seeds chooses a configuration (a rung) of each method for each limit, and the
other half scores it: it keeps the limit if all its runs do.

A configuration is *safe* in a case if all its choosing runs there keep the limit, and either none deviates by more than half
the limit, or no choosing run of the configuration breaks the limit in any case. The cheapest safe configuration is chosen.
Without one, it is the configuration whose choosing runs keep the limit most often and, of these, deviate least.

Each method gets two numbers, which are never combined: its **reliability**, which is the share of cases in which it keeps the
limit, and its **price** in these cases. Neither depends on which other methods take part, so adding or removing a method never
changes the order of two others. Cases of one table are alike, so pairs of methods are tested on the means of tables. The
tests under a limit are those of the first method against each other one.
"""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.multitest import multipletests

from clusterlets.algorithms.elementary import exp, log
from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.grid.runs_frame import fill_text
from clusterlets.parameter_text import parse_parameters

#: Limits on the largest deviation of a cluster.
LIMITS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1)
#: A deviation may be above a limit by this much, because of rounding errors, which are below 1e-15. The tolerance never hides a
#: real difference: a deviation is a difference n/m - N/M of shares in a cluster of m rows and a table of M rows, and a limit is
#: p/1000. Unless they are equal, they differ by at least 1 / (1000 m M), which is 1e-13 for 100,000 rows.
TOLERANCE = 1e-13
#: The part of the limit by which a configuration must keep it to be safe, unless it never breaks the limit.
ROOM = 0.5
#: The most configurations of a method.
MOST_RUNGS = 8
#: The fewest tables over which pairs of methods are tested, and the level of the tests. Intervals cover 1 - LEVEL.
MIN_TABLES, LEVEL = 6, 0.05

METHOD, OUTPUT, CONTROL, CLUSTERLETS = "method", "output", "control", "clusterlets"
#: The kinds of outputs. Only methods are ranked; controls and second outputs are shown next to them. A second output of a
#: method, such as FRAC (nearest), claims no fairness. The matchers of Clusterlets choose their own number of clusters, so they
#: have their own cases.
KINDS = (METHOD, CLUSTERLETS, OUTPUT, CONTROL)
KEEPS, MISSES, NOT_CHOSEN, NO_RESULT = "keeps the limit", "misses the limit", "none keeps the limit", "no result"
UNSUPPORTED = "unsupported"  # the method takes no such table

#: What identifies a case, and the columns of each table.
CASE = ["dataset", "k"]
POINTS = [
    *(*CASE, "method", "kind", "parameters", "seed", "chooses", "status"),
    *("n_clusters", "smallest", "deviation_max", "deviation_beyond_row", "price", "starts"),
]
COLUMNS = [
    *("limit", *CASE, "method", "kind", "outcome", "exchanged", "within_row", "parameters", "price", "price_low", "price_high"),
    *("price_within_row", "kept", "runs", "starts", "deviation_max", "smallest", "tried", "failed"),
]
OVERALL = [
    *("limit", "place", "method", "kind", "cases", "unsupported", "kept", "kept_exchanged", "kept_within_row"),
    *("reliability", "reliability_low", "reliability_high", "reliability_supported"),
    *("tables", "tables_kept", "tables_low", "tables_high", "price", "price_90", "price_worst", "price_within_row"),
    "within",
]
PAIRS = [
    *("limit", "method", "other", "cases", "wins", "losses", "ties"),
    *("ratio_tables", "ratio", "ratio_low", "ratio_high", "ratio_p", "ratio_holm"),
    *("difference_tables", "difference", "difference_low", "difference_high", "difference_p", "difference_holm", "told_apart"),
]

_METHOD_IN_CASE = [*CASE, "method"]
_OUTCOME = ["reading", "limit", *_METHOD_IN_CASE]
_PRICE_DECIMALS = 9  # of the prices in the points, from which all other tables follow
_TABLE_DECIMALS = 6  # of all numbers in the other tables
#: This project's own method. Its status infeasible proves that no clustering keeps the limit.
OURS = "fair-limit"


# ---- the runs --------------------------------------------------------------------------------------------------------


def points(runs: pd.DataFrame, kinds: Mapping[str, str], starts: Mapping[str, int | Mapping]) -> pd.DataFrame:
    """All runs, with the columns that the leaderboard needs: ``results/leaderboard_points.csv``, columns :data:`POINTS`.

    ``runs`` are those of ``runs.csv``, with any status. ``kinds`` maps the name of a method in ``runs`` to its kind (by default
    a method). ``starts`` maps it to the number of starts from which a run keeps the best (by default 1), or to a mapping from
    (dataset, k) to this number. ``deviation_max`` is the largest deviation in any single sensitive column. ``k`` is the
    requested number of clusters or, for a matcher, of clusterlets in each group. The result is empty with fewer than two seeds,
    which cannot be split into halves.
    """
    if runs["seed"].nunique() < 2:
        return pd.DataFrame(columns=POINTS)
    names = runs["matcher"].where(runs["matcher"].notna(), runs["method"])
    frame = runs.assign(
        method=selection.names(runs),
        kind=names.map(kinds).fillna(METHOD),
        starts=[
            number if isinstance(number := starts.get(name, 1), int) else number[dataset, int(k)]
            for name, dataset, k in zip(names, runs["dataset"], runs["k"], strict=True)
        ],
        parameters=runs["parameters"].fillna(""),
        chooses=is_choosing_seed(runs["seed"]),
        deviation_max=runs["column_deviation"],
        price=runs["price_of_fairness"].round(_PRICE_DECIMALS),
        **{column: runs[column].astype("Int64") for column in ("k", "seed", "n_clusters", "smallest")},
    )
    return frame[POINTS].reset_index(drop=True)


def kinds_of(method_settings: Mapping[str, Mapping]) -> dict[str, str]:
    """The kind of each output, by the configuration's ``method_settings``.

    Only one output of a method counts as the method's: the one that its entry chose, or else the first.
    """
    kinds: dict[str, str] = {}
    for entry in method_settings.values():
        kind = CLUSTERLETS if entry["is_matcher"] else CONTROL if entry["role"] == "baseline" else METHOD
        ranked = entry.get("output", entry["names"][0])
        kinds |= {name: kind if name == ranked else OUTPUT for name in entry["names"]}
    return kinds


def starts_of(settings: Mapping) -> dict[str, int | dict[tuple[str, int], int]]:
    """For each output, the number of starts from which a run keeps the best, from the settings of a configuration.

    If the starts of a method depend on the case, they are a mapping from (dataset, k).
    """
    starts: dict[str, int | dict[tuple[str, int], int]] = {}
    for entry in settings["method_settings"].values():
        n_init, of_entry = entry["parameters"].get("n_init", [1])[0], entry["starts"]
        if isinstance(of_entry, Mapping):
            cases = {(name, k): n for name, row in of_entry.items() for k, n in zip(settings["k"], row, strict=True)}
            starts |= {name: {case: n_init * n for case, n in cases.items()} for name in entry["names"]}
        else:
            starts |= dict.fromkeys(entry["names"], n_init * of_entry)
    return starts


def is_choosing_seed(seeds: pd.Series) -> pd.Series:
    """Which seeds are in the first half, the choosing one. If the number of seeds is odd, the scoring half is larger."""
    values = np.sort(seeds.unique())
    return seeds.isin(values[: len(values) // 2])


def is_on_front(scores: pd.DataFrame) -> pd.Series:
    """Which of m points are on the front: no point is smaller in one column and not larger in any other. O(m^2)."""
    values = scores.to_numpy()
    dominates = (values[:, None] <= values).all(axis=2) & (values[:, None] < values).any(axis=2)
    return pd.Series(~dominates.any(axis=0), index=scores.index)


# ---- cases -----------------------------------------------------------------------------------------------------------


def leaderboard(run_points: pd.DataFrame) -> pd.DataFrame:
    """The chosen configuration of each method in each case for each limit, and how it scores: ``results/leaderboard.csv``.

    ``run_points`` is a frame from :func:`points`. The result has :data:`COLUMNS`. A case is left out under a limit that
    ``fair-limit`` proves to be infeasible there. A matcher of Clusterlets has a case if one of its configurations has runs
    with k clusters in both halves of the seeds. ``price`` is the median over the scoring runs, ``runs`` counts these runs, and
    ``kept`` counts those that keep the limit. ``exchanged`` is the outcome if the halves of the seeds exchange their roles, and
    ``within_row`` if every count may be beyond the limit by one row, with ``price_within_row``. ``failed`` counts all runs
    without a result.
    """
    runs = _in_cases(run_points)
    methods = _methods_in_cases(runs)
    outcomes = _outcomes(pd.concat([_readings(limit, runs, infeasible_cases(run_points, limit)) for limit in LIMITS]), methods)
    if outcomes.empty:
        return pd.DataFrame(columns=COLUMNS)
    exchanged, within_row = outcomes.loc["exchanged"], outcomes.loc["within row"]
    others = {"exchanged": exchanged["outcome"], "within_row": within_row["outcome"], "price_within_row": within_row["price"]}
    board = outcomes.loc["usual"].assign(**others).reset_index()
    order = {name: position for position, name in enumerate(run_points["dataset"].unique())}
    board = board.assign(dataset_order=board["dataset"].map(order), kind_order=board["kind"].map(KINDS.index))
    board = board.sort_values(["limit", "dataset_order", "k", "kind_order", "method"], kind="stable")
    return board[COLUMNS].round(_TABLE_DECIMALS).reset_index(drop=True)


def configurations(run_points: pd.DataFrame) -> pd.DataFrame:
    """Every configuration in every case, summarised over its scoring runs, in the order of the runs.

    ``run_points`` is a frame from :func:`points`. ``price`` is the median (missing if no run has a price), and
    ``deviation_max`` the largest deviation. ``exact`` says whether all scoring runs have a price and exactly k clusters. So a
    configuration keeps a limit if it is exact and its ``deviation_max`` is within the limit.
    """
    runs = _in_cases(run_points)
    runs = runs[~runs["chooses"].astype(bool)]
    runs = runs.assign(price=runs["price"].where(runs["status"] == "ok"))
    per_configuration = runs.groupby([*CASE, "method", "parameters"], sort=False)
    summary = {"price": ("price", "median"), "deviation_max": ("deviation_max", "max"), "exact": ("exact", "all")}
    return per_configuration.agg(**summary).reset_index()


def _in_cases(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs, with the k of their case as ``k``: the requested k or, for a matcher, the number of clusters of the run.

    The new column ``exact`` says which runs have exactly k clusters and a price. Overlapping clusterings have no price.
    """
    runs = fill_text(runs, "parameters")
    is_matcher = runs["kind"] == CLUSTERLETS
    matcher_runs = runs[is_matcher & runs["n_clusters"].isin(runs["k"].unique())]
    parameters = ("clusterlets=" + matcher_runs["k"].astype(str) + "," + matcher_runs["parameters"]).str.removesuffix(",")
    matcher_runs = matcher_runs.assign(parameters=parameters, k=matcher_runs["n_clusters"])
    runs = pd.concat([runs[~is_matcher], matcher_runs], ignore_index=True)
    has_k_clusters = (runs["n_clusters"] == runs["k"]).fillna(False).astype(bool)
    return runs.assign(exact=(runs["status"] == "ok") & runs["price"].notna() & has_k_clusters)


def infeasible_cases(runs: pd.DataFrame, limit: float) -> pd.Index:
    """Cases in which this limit, or a larger one, was proved to be infeasible."""
    proofs = runs[(runs["method"] == OURS) & (runs["status"] == "infeasible")]
    proved_limits = proofs["parameters"].map(lambda text: parse_parameters(str(text)).get("max_deviation", 0)).astype(float)
    return pd.MultiIndex.from_frame(proofs.loc[proved_limits >= limit, CASE])


def _methods_in_cases(runs: pd.DataFrame) -> pd.DataFrame:
    """Each method in each case that it has: what does not depend on the limit."""
    is_ok = runs["status"] == "ok"
    runs = runs.assign(failed=~is_ok, any_ok=is_ok, unsupported=runs["status"] == "unsupported")
    aggregates = {"kind": "first", "starts": "first", "failed": "sum", "any_ok": "any", "unsupported": "all"}
    return runs.groupby(_METHOD_IN_CASE, sort=False).agg(aggregates)


def _readings(limit: float, runs: pd.DataFrame, infeasible: pd.Index) -> pd.DataFrame:
    """The runs three times: as they are, with the halves of the seeds exchanged, and with one row of room.

    All limits and readings are grouped together, which takes a fifth of the time of one after the other.
    """
    runs = runs[~pd.MultiIndex.from_frame(runs[CASE]).isin(infeasible)]
    chooses = runs["chooses"].astype(bool)
    readings = {
        "usual": runs.assign(chooses=chooses),
        "exchanged": runs.assign(chooses=~chooses),
        "within row": runs.assign(chooses=chooses, deviation_max=runs["deviation_beyond_row"]),
    }
    return pd.concat([frame.assign(reading=name, limit=limit) for name, frame in readings.items()])


def _outcomes(runs: pd.DataFrame, methods: pd.DataFrame) -> pd.DataFrame:
    """What the chosen configuration of each method does in each case, by reading, limit, case and method."""
    candidates = _candidates(runs.assign(keeps=runs["exact"] & (runs["deviation_max"] <= runs["limit"] + TOLERANCE)))
    order = ["is_safe", "kept_share", "preference", "median_kept_price"]
    ranked = candidates.sort_values(order, ascending=[False, False, True, True], kind="stable")
    best = ranked[ranked["kept_share"] > 0].drop_duplicates(_OUTCOME)  # if tied, the first in the grid's order
    tried = candidates.groupby(_OUTCOME).size().rename("tried").reset_index()
    rows = tried.merge(methods.reset_index(), on=_METHOD_IN_CASE).set_index(_OUTCOME)
    rows = rows.join(best.drop(columns=order).set_index(_OUTCOME))
    is_chosen = rows["parameters"].notna()
    conditions = [is_chosen & (rows["kept"] == rows["runs"]), is_chosen, rows["any_ok"], rows["unsupported"]]
    rows["outcome"] = np.select(conditions, [KEEPS, MISSES, NOT_CHOSEN, UNSUPPORTED], NO_RESULT)
    return rows.astype({"kept": "Int64", "runs": "Int64"})


def _candidates(runs: pd.DataFrame) -> pd.DataFrame:
    """The configurations with runs in both halves of the seeds, and their results in each half.

    Of safe configurations, the cheapest is preferred, and of others the one that deviates least.
    """
    runs = runs.assign(breaks=(runs["status"] == "ok") & ~runs["keeps"], kept_price=runs["price"].where(runs["keeps"]))
    halves = (runs[runs["chooses"]], runs[~runs["chooses"]])
    choosing, scoring = (half.groupby([*_OUTCOME, "parameters"], sort=False) for half in halves)
    choosing_half = choosing.agg(
        kept_share=("keeps", "mean"),
        median_kept_price=("kept_price", "median"),
        deviation=("deviation_max", "max"),
        breaks=("breaks", "any"),
    )
    scoring_half = scoring.agg(
        price=("price", "median"),
        price_low=("price", "min"),
        price_high=("price", "max"),
        kept=("keeps", "sum"),
        runs=("keeps", "size"),
        deviation_max=("deviation_max", "max"),
        smallest=("smallest", "min"),
    )
    never_breaks = ~choosing_half.groupby(["reading", "limit", "method", "parameters"])["breaks"].transform("any")
    has_room = choosing_half["deviation"] <= ROOM * choosing_half.index.get_level_values("limit") + TOLERANCE
    is_safe = (choosing_half["kept_share"] == 1) & (never_breaks | has_room)
    preference = choosing_half["median_kept_price"].where(is_safe, choosing_half["deviation"])
    choosing_half = choosing_half.drop(columns=["deviation", "breaks"]).assign(is_safe=is_safe, preference=preference)
    return choosing_half.join(scoring_half, how="inner").reset_index()


# ---- over all cases --------------------------------------------------------------------------------------------------


def overall(board: pd.DataFrame) -> pd.DataFrame:
    """Every method under each limit, summarised over its cases: ``results/leaderboard_overall.csv``.

    ``board`` is a frame from :func:`leaderboard`. The result has :data:`OVERALL`, ordered by limit, kind, reliability and
    median price. ``place`` ranks the methods, from 1. ``cases`` counts the cases of a method, ``unsupported`` those that it
    does not take, ``kept`` those in which it keeps the limit, ``kept_exchanged`` the same with the halves of the seeds
    exchanged, and ``kept_within_row`` the same with one row of room, at the median ``price_within_row``.
    ``reliability_supported`` is over the cases that it takes. ``tables_kept`` counts the tables in all of whose cases it keeps
    the limit. Over the cases in which it does, ``price`` is the median, and ``price_90`` the smallest price that nine tenths of
    the prices do not exceed. ``within`` is the share of the scoring runs of the chosen configurations that keep the limit. The
    columns ending in ``_low`` and ``_high`` hold the bounds of Clopper and Pearson over cases or over tables.
    """
    if board.empty:
        return pd.DataFrame(columns=OVERALL)
    rows = []
    for (limit, method), cases in board.groupby(["limit", "method"], sort=False):
        keeps = cases["outcome"] == KEEPS
        kept, n_unsupported = cases[keeps], int((cases["outcome"] == UNSUPPORTED).sum())
        is_kept_table = keeps.groupby(tables_of(cases)).all()
        prices = kept["price"].to_numpy(float)
        rows.append(
            {
                "limit": limit,
                "method": method,
                "kind": cases["kind"].iloc[0],
                "cases": len(cases),
                "unsupported": n_unsupported,
                "kept": len(kept),
                "kept_exchanged": int((cases["exchanged"] == KEEPS).sum()),
                "kept_within_row": int((cases["within_row"] == KEEPS).sum()),
                "reliability": len(kept) / len(cases),
                **_exact_bounds("reliability", len(kept), len(cases)),
                "reliability_supported": _divide(len(kept), len(cases) - n_unsupported),
                "tables": len(is_kept_table),
                "tables_kept": int(is_kept_table.sum()),
                **_exact_bounds("tables", int(is_kept_table.sum()), len(is_kept_table)),
                "price": kept["price"].median(),
                "price_90": np.quantile(prices, 0.9, method="inverted_cdf") if len(prices) else np.nan,
                "price_worst": kept["price"].max(),
                "price_within_row": cases.loc[cases["within_row"] == KEEPS, "price_within_row"].median(),
                "within": _divide(cases["kept"].sum(), cases["runs"].sum()),
            }
        )
    frame = pd.DataFrame(rows).round(_TABLE_DECIMALS)
    frame["kind_order"] = frame["kind"].map(KINDS.index)
    order = ["limit", "kind_order", "reliability", "price", "method"]
    frame = frame.sort_values(order, ascending=[True, True, False, True, True], kind="stable")
    is_method = frame["kind"] == METHOD
    frame["place"] = is_method.groupby(frame["limit"]).cumsum().where(is_method).astype("Int64")
    return frame[OVERALL].reset_index(drop=True)


def pairs(board: pd.DataFrame) -> pd.DataFrame:
    """Every pair of methods under each limit: ``results/leaderboard_pairs.csv``, columns :data:`PAIRS`.

    ``board`` is a frame from :func:`leaderboard`. ``cases`` counts the cases in which both methods keep the limit. The
    price of ``method`` is lower than that of ``other`` in ``wins`` of them, higher in ``losses``, equal in ``ties``. ``ratio``
    is the geometric mean of the price of ``method`` over that of ``other``, first over these cases of each table, then over
    the tables. ``difference`` is the reliability of ``method`` minus that of ``other`` in the cases that both have, as mean
    over the tables. Both have a t interval and the p of a t test over the tables, which are missing below :data:`MIN_TABLES`
    tables. The pairs of the method in the first place with each other one of the kind :data:`METHOD` are the family of a limit:
    they have the p after Holm's correction over both tests of all pairs of the family. ``told_apart`` names what differs in
    these pairs: ``price``, ``reliability`` or both.
    """
    rows = []
    firsts = first_methods(overall(board))
    for limit, cases in board.groupby("limit"):
        kinds = dict(zip(cases["method"], cases["kind"], strict=True))
        names = sorted(kinds, key=lambda name: (KINDS.index(kinds[name]), name))
        columns = {name: column for column, name in enumerate(names)}
        tables = pd.factorize(np.array(tables_of(cases.drop_duplicates(CASE)), dtype=object))[0]
        positions = cases.groupby(CASE, sort=False).ngroup().to_numpy(), cases["method"].map(columns).to_numpy()
        has_case, keeps = (np.zeros((len(tables), len(names)), dtype=bool) for _ in range(2))
        prices = np.full(has_case.shape, np.nan)
        has_case[positions] = True
        keeps[positions], prices[positions] = cases["outcome"] == KEEPS, cases["price"].astype(float)
        family = []
        for method, other in combinations(names, 2):
            pair = [columns[method], columns[other]]
            shared = has_case[:, pair].all(axis=1)
            comparison = _compare(keeps[shared][:, pair], prices[shared][:, pair], tables[shared])
            rows.append({"limit": limit, "method": method, "other": other, **comparison})
            if firsts.get(limit) in (method, other) and kinds[method] == kinds[other] == METHOD:
                family.append(rows[-1])
        _correct(family)
    return fill_text(pd.DataFrame(rows, columns=PAIRS), "told_apart").round(_TABLE_DECIMALS)


def first_methods(summary: pd.DataFrame) -> dict[float, str]:
    """The method in the first place under each limit. ``summary`` is a frame from :func:`overall`."""
    first_rows = summary[summary["place"] == 1]
    return dict(zip(first_rows["limit"], first_rows["method"], strict=True))


def _compare(keeps: np.ndarray, prices: np.ndarray, tables: np.ndarray) -> dict:
    """Compare two methods in n cases: whether they keep the limit (n, 2), their prices (n, 2), and the cases' tables (n,)."""
    both_keep = keeps.all(axis=1)
    own_prices, other_prices = prices[both_keep].T
    ratio = mean_over_tables(log(own_prices) - log(other_prices), tables[both_keep])
    difference = mean_over_tables(keeps[:, 0].astype(float) - keeps[:, 1], tables)
    return {
        "cases": int(both_keep.sum()),
        "wins": int((own_prices < other_prices).sum()),
        "losses": int((own_prices > other_prices).sum()),
        "ties": int((own_prices == other_prices).sum()),
        **dict(zip(("ratio", "ratio_low", "ratio_high"), exp(np.array(ratio[:3])).tolist(), strict=True)),
        "ratio_p": ratio[3],
        "ratio_tables": len(set(tables[both_keep].tolist())),
        **dict(zip(("difference", "difference_low", "difference_high", "difference_p"), difference, strict=True)),
        "difference_tables": len(set(tables.tolist())),
    }


def mean_over_tables(values: np.ndarray, tables: np.ndarray) -> tuple[float, float, float, float]:
    """The mean over the tables of their mean values, the ends of its t interval, and the p of a t test against 0.

    ``values`` (n,) and ``tables`` (n,) belong to cases. Below :data:`MIN_TABLES` tables, there is only the mean.
    If the means of all tables are equal, p is 0, or 1 if they are 0.
    """
    codes, names = pd.factorize(tables)
    means = np.bincount(codes, values, len(names)) / np.bincount(codes, minlength=len(names))
    n = len(means)
    mean = _total(means) / n if n else np.nan
    if n < MIN_TABLES:
        return mean, np.nan, np.nan, np.nan
    error = float(np.sqrt(_total(np.square(means - mean)) / (n - 1) / n))
    reach = float(stats.t.ppf(1 - LEVEL / 2, n - 1)) * error
    p = 1.0 if mean == 0 else 2 * float(stats.t.sf(abs(mean) / error, n - 1)) if error else 0.0
    return mean, mean - reach, mean + reach, p


def _correct(family: list[dict]) -> None:
    """Correct the p of both tests of all pairs together, by Holm's method, and name what is told apart."""
    tests = [(row, name) for row in family for name in ("ratio", "difference") if not np.isnan(row[f"{name}_p"])]
    adjusted = multipletests([row[f"{name}_p"] for row, name in tests], LEVEL, method="holm")[1] if tests else []
    for (row, name), p in zip(tests, adjusted, strict=True):
        row[f"{name}_holm"] = float(p)
    for row in family:
        names = {"reliability": "difference", "price": "ratio"}
        row["told_apart"] = " and ".join(word for word, name in names.items() if row.get(f"{name}_holm", 1) < LEVEL)


def tables_of(cases: pd.DataFrame) -> list[str]:
    """The table of each case: ``adult`` for ``adult.sex``. Cases that differ only in k or in the groups share a table."""
    return [dataset.partition(".")[0] for dataset in cases["dataset"]]


def _exact_bounds(name: str, n_kept: int, n: int) -> dict[str, float]:
    """The exact (Clopper-Pearson) interval of a share."""
    low = stats.beta.ppf(LEVEL / 2, n_kept, n - n_kept + 1) if n_kept else 0.0
    high = stats.beta.ppf(1 - LEVEL / 2, n_kept + 1, n - n_kept) if n_kept < n else 1.0
    return {f"{name}_low": float(low), f"{name}_high": float(high)}


def _total(values: np.ndarray) -> float:
    """The sum, added in index order so that every processor gives the same bytes."""
    return float(np.cumsum(values)[-1]) if len(values) else 0.0


def _divide(count: float, n: float) -> float:
    return count / n if n else np.nan
