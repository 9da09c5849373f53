"""How reliably each method keeps a limit on unfairness, and at what price.

A case is a table with sensitive groups and a k. A run *keeps the limit* if it has exactly k clusters and no cluster deviates
by more than the limit. The first half of the seeds chooses a configuration of each method for each limit: the one whose runs
keep the limit most often. If several are tied, the one with the lowest median price is chosen. The other half of the seeds
scores this configuration: it keeps the limit if all its runs do.

Each method gets two numbers, which are never combined: its **reliability**, which is the share of cases in which it keeps the
limit, and its **price** in these cases. Neither depends on which other methods take part, so adding or removing a method never
changes the order of two others. Cases of one table are alike, so intervals come from resampling whole tables (bootstrap).
"""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd

from clusterlets.algorithms.elementary import exp, log
from clusterlets.analysis import selection
from clusterlets.grid.cells import parse_parameters

#: Limits on the largest deviation of a cluster.
LIMITS = (0.01, 0.02, 0.05, 0.1)
#: A deviation may be above a limit by this much, because of rounding errors, which are below 1e-15. The tolerance never hides a
#: real difference: a deviation is a difference n/m - N/M of shares in a cluster of m rows and a table of M rows, and a limit is
#: p/1000. Unless they are equal, they differ by at least 1 / (1000 m M), which is 1e-13 for 100,000 rows.
TOLERANCE = 1e-13
#: The number of bootstrap draws of tables, and the share of the draws that an interval holds.
DRAWS, COVERAGE = 2000, 0.95

METHOD, OUTPUT, CONTROL, CLUSTERLETS = "method", "output", "control", "clusterlets"
#: The kinds of outputs. Only methods are ranked; controls and second outputs are shown next to them. A second output of a
#: method, such as FRAC (nearest), claims no fairness. The matchers of Clusterlets choose their own number of clusters, so they
#: have their own cases.
KINDS = (METHOD, CLUSTERLETS, OUTPUT, CONTROL)
KEEPS, MISSES, NOT_CHOSEN, NO_RESULT = "keeps the limit", "misses the limit", "none keeps the limit", "no result"

#: What identifies a case, and the columns of each table.
CASE = ["dataset", "k"]
POINTS = [
    *(*CASE, "method", "kind", "parameters", "seed", "chooses", "status"),
    *("n_clusters", "smallest", "deviation_max", "price", "starts"),
]
COLUMNS = [
    *("limit", *CASE, "method", "kind", "outcome", "parameters", "price", "price_low", "price_high"),
    *("kept", "runs", "starts", "deviation_max", "smallest", "tried", "statuses"),
]
OVERALL = [
    *("limit", "place", "method", "kind", "cases", "kept", "reliability", "reliability_low", "reliability_high"),
    *("price", "price_low", "price_high", "price_90", "price_worst", "within"),
]
CONFIGURATIONS = [
    *(*CASE, "method", "kind", "parameters", "price", "deviation_max", "clusters_least", "clusters_most", "smallest"),
    *("runs", "exact"),
]
PAIRS = [
    *("limit", "method", "other", "cases", "wins", "losses", "ties", "ratio", "ratio_low", "ratio_high"),
    *("reliability_difference", "difference_low", "difference_high", "told_apart"),
]

_METHOD_IN_CASE = [*CASE, "method"]
_PRICE_DECIMALS = 9  # of the prices in the points, from which all other tables follow
_TABLE_DECIMALS = 6  # of all numbers in the other tables
_PROVER = "fair-limit"  # its status infeasible proves that no clustering keeps the limit


# ---- the runs --------------------------------------------------------------------------------------------------------


def points(runs: pd.DataFrame, kinds: Mapping[str, str], starts: Mapping[str, int]) -> pd.DataFrame:
    """All runs, with the columns that the leaderboard needs: ``results/leaderboard_points.csv``, columns :data:`POINTS`.

    ``runs`` are those of ``runs.csv``, with any status. ``kinds`` maps the name of a method in ``runs`` to its kind (by default
    a method), and ``starts`` maps it to the number of starts from which a run keeps the best (by default 1).
    ``deviation_max`` is the largest deviation in any single sensitive column. ``k`` is the requested number of clusters or, for
    a matcher, of clusterlets in each group. The result is empty with fewer than two seeds, which cannot be split into halves.
    """
    if runs["seed"].nunique() < 2:
        return pd.DataFrame(columns=POINTS)
    names = runs["matcher"].where(runs["matcher"].notna(), runs["method"])
    frame = runs.assign(
        method=selection.names(runs),
        kind=names.map(kinds).fillna(METHOD),
        starts=names.map(starts).fillna(1).astype(int),
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


def starts_of(method_settings: Mapping[str, Mapping]) -> dict[str, int]:
    """For each output, the number of starts from which a run keeps the best, from the configuration's ``method_settings``."""
    starts: dict[str, int] = {}
    for entry in method_settings.values():
        n_init = entry["parameters"].get("n_init", [1])[0]
        starts |= dict.fromkeys(entry["names"], n_init * entry["starts"])
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
    ``kept`` counts those that keep the limit.
    """
    runs = _in_cases(run_points)
    boards = [_board_for_limit(limit, runs, infeasible_cases(run_points, limit)) for limit in LIMITS]
    boards = [board for board in boards if len(board)]
    if not boards:
        return pd.DataFrame(columns=COLUMNS)
    board = pd.concat(boards, ignore_index=True)
    order = {name: position for position, name in enumerate(run_points["dataset"].unique())}
    board = board.assign(dataset_order=board["dataset"].map(order), kind_order=board["kind"].map(KINDS.index))
    board = board.sort_values(["limit", "dataset_order", "k", "kind_order", "method"], kind="stable")
    return board[COLUMNS].round(_TABLE_DECIMALS).reset_index(drop=True)


def configurations(run_points: pd.DataFrame) -> pd.DataFrame:
    """Every configuration in every case, summarised over its scoring runs, in the order of the runs. The fronts show these.

    ``run_points`` is a frame from :func:`points`. The result has :data:`CONFIGURATIONS`. ``price`` is the median (missing if no
    run has a price), ``deviation_max`` the largest deviation, and ``smallest`` the size of the smallest cluster. ``exact`` says
    whether all scoring runs have a price and exactly k clusters. So a configuration keeps a limit if it is exact and its
    ``deviation_max`` is within the limit.
    """
    runs = _in_cases(run_points)
    runs = runs[~runs["chooses"].astype(bool)]
    runs = runs.assign(price=runs["price"].where(runs["status"] == "ok"))
    per_configuration = runs.groupby([*CASE, "method", "parameters"], sort=False)
    frame = per_configuration.agg(
        kind=("kind", "first"),
        price=("price", "median"),
        deviation_max=("deviation_max", "max"),
        clusters_least=("n_clusters", "min"),
        clusters_most=("n_clusters", "max"),
        smallest=("smallest", "min"),
        runs=("status", "size"),
        exact=("exact", "all"),
    )
    return frame.reset_index()[CONFIGURATIONS]


def _in_cases(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs, with the k of their case as ``k``: the requested k or, for a matcher, the number of clusters of the run.

    The new column ``exact`` says which runs have exactly k clusters and a price. Overlapping clusterings have no price.
    """
    runs = runs.fillna({"parameters": ""})  # pandas reads an empty cell as a missing value
    is_matcher = runs["kind"] == CLUSTERLETS
    matcher_runs = runs[is_matcher & runs["n_clusters"].isin(runs["k"].unique())]
    parameters = ("clusterlets=" + matcher_runs["k"].astype(str) + "," + matcher_runs["parameters"]).str.removesuffix(",")
    matcher_runs = matcher_runs.assign(parameters=parameters, k=matcher_runs["n_clusters"])
    runs = pd.concat([runs[~is_matcher], matcher_runs], ignore_index=True)
    has_k_clusters = (runs["n_clusters"] == runs["k"]).fillna(False).astype(bool)
    return runs.assign(exact=(runs["status"] == "ok") & runs["price"].notna() & has_k_clusters)


def infeasible_cases(runs: pd.DataFrame, limit: float) -> pd.Index:
    """Cases in which this limit, or a larger one, was proved to be infeasible."""
    proofs = runs[(runs["method"] == _PROVER) & (runs["status"] == "infeasible")]
    proved_limits = proofs["parameters"].map(lambda text: parse_parameters(str(text)).get("max_deviation", 0)).astype(float)
    return pd.MultiIndex.from_frame(proofs.loc[proved_limits >= limit, CASE])


def _board_for_limit(limit: float, runs: pd.DataFrame, infeasible: pd.Index) -> pd.DataFrame:
    runs = runs[~pd.MultiIndex.from_frame(runs[CASE]).isin(infeasible)]
    runs = runs.assign(keeps=runs["exact"] & (runs["deviation_max"] <= limit + TOLERANCE))
    runs["kept_price"] = runs["price"].where(runs["keeps"])
    candidates = _candidates(runs)
    if candidates.empty:
        return pd.DataFrame(columns=COLUMNS)
    ranked = candidates.sort_values(["kept_share", "median_kept_price"], ascending=[False, True], kind="stable")
    best = ranked[ranked["kept_share"] > 0].drop_duplicates(_METHOD_IN_CASE)  # if tied, the first in the grid's order
    methods = runs.groupby(_METHOD_IN_CASE, sort=False).agg(
        kind=("kind", "first"),
        starts=("starts", "first"),
        statuses=("status", lambda column: count_statuses(column[column != "ok"])),
        any_ok=("status", lambda column: bool((column == "ok").any())),
    )
    n_tried = candidates.groupby(_METHOD_IN_CASE).size().rename("tried")
    rows = methods.join(n_tried, how="inner").reset_index()
    rows = rows.merge(best.drop(columns=["kept_share", "median_kept_price"]), how="left", on=_METHOD_IN_CASE)
    is_chosen = rows["parameters"].notna()
    conditions = [is_chosen & (rows["kept"] == rows["runs"]), is_chosen, rows["any_ok"]]
    rows["outcome"] = np.select(conditions, [KEEPS, MISSES, NOT_CHOSEN], NO_RESULT)
    return rows.assign(limit=limit).astype({"kept": "Int64", "runs": "Int64"})


def _candidates(runs: pd.DataFrame) -> pd.DataFrame:
    """The configurations with runs in both halves of the seeds, and their results in each half."""
    per_configuration = [*_METHOD_IN_CASE, "parameters"]
    halves = {chooses: half.groupby(per_configuration, sort=False) for chooses, half in runs.groupby("chooses")}
    if len(halves) < 2:
        return pd.DataFrame()
    choosing_half = halves[True].agg(kept_share=("keeps", "mean"), median_kept_price=("kept_price", "median"))
    scoring_half = halves[False].agg(
        price=("price", "median"),
        price_low=("price", "min"),
        price_high=("price", "max"),
        kept=("keeps", "sum"),
        runs=("keeps", "size"),
        deviation_max=("deviation_max", "max"),
        smallest=("smallest", "min"),
    )
    return choosing_half.join(scoring_half, how="inner").reset_index()


def count_statuses(statuses: pd.Series) -> str:
    """The number of runs with each status: ``ok 4; timeout 2``."""
    return "; ".join(f"{status} {count}" for status, count in statuses.value_counts().sort_index().items())


# ---- over all cases --------------------------------------------------------------------------------------------------


def overall(board: pd.DataFrame) -> pd.DataFrame:
    """Every method under each limit, summarised over its cases: ``results/leaderboard_overall.csv``.

    ``board`` is a frame from :func:`leaderboard`. The result has :data:`OVERALL`, ordered by limit, kind, reliability and
    median price. ``place`` ranks the methods, from 1. ``cases`` counts the cases of a method, and ``kept`` those in which it
    keeps the limit. Over those, ``price`` is the median, and ``price_90`` the smallest price that nine tenths of the prices do
    not exceed. ``within`` is the share of the scoring runs of the chosen configurations that keep the limit. The columns
    ending in ``_low`` and ``_high`` hold the ends of a bootstrap interval over tables.
    """
    if board.empty:
        return pd.DataFrame(columns=OVERALL)
    draws = _draws_of_tables(board)
    rows = []
    for (limit, method), cases in board.groupby(["limit", "method"], sort=False):
        kept = cases[cases["outcome"] == KEEPS]
        prices = kept["price"].to_numpy(float)
        kept_weights, weights = (draws[tables_of(part)].to_numpy() for part in (kept, cases))
        reliabilities = _divide(kept_weights.sum(axis=1), weights.sum(axis=1))
        rows.append(
            {
                "limit": limit,
                "method": method,
                "kind": cases["kind"].iloc[0],
                "cases": len(cases),
                "kept": len(kept),
                "reliability": len(kept) / len(cases),
                **_interval("reliability", reliabilities),
                "price": kept["price"].median(),
                **_interval("price", _weighted_median(prices, kept_weights)),
                "price_90": _quantile(prices, 0.9),
                "price_worst": kept["price"].max(),
                "within": float(_divide(cases["kept"].sum(), cases["runs"].sum())),
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
    is the geometric mean, over these cases, of the price of ``method`` over that of ``other``. ``reliability_difference``
    is the reliability of ``method`` minus that of ``other``, over all cases that both have. ``told_apart`` names what differs:
    ``price`` if the interval of the ratio excludes 1, ``reliability`` if the interval of the difference excludes 0, or both.
    """
    draws = _draws_of_tables(board)
    rows = []
    for limit, cases in board.groupby("limit"):
        outcomes = {method: part.set_index(CASE) for method, part in cases.groupby("method")}
        kinds = {method: part["kind"].iloc[0] for method, part in outcomes.items()}
        names = sorted(outcomes, key=lambda name: (KINDS.index(kinds[name]), name))
        rows += [
            {"limit": limit, "method": method, "other": other, **_compare(outcomes[method], outcomes[other], draws)}
            for method, other in combinations(names, 2)
        ]
    return pd.DataFrame(rows, columns=PAIRS).round(_TABLE_DECIMALS)


def _compare(rows: pd.DataFrame, other_rows: pd.DataFrame, draws: pd.DataFrame) -> dict:
    shared_cases = rows.index.intersection(other_rows.index, sort=False)
    rows, other_rows = rows.loc[shared_cases], other_rows.loc[shared_cases]
    keeps, other_keeps = (part["outcome"].to_numpy() == KEEPS for part in (rows, other_rows))
    both_keep = keeps & other_keeps
    prices, other_prices = (part["price"].to_numpy(float)[both_keep] for part in (rows, other_rows))
    log_ratios = log(prices) - log(other_prices)
    weights = draws[tables_of(rows.reset_index())].to_numpy()
    ratios = exp(_divide(_total(weights[:, both_keep] * log_ratios), weights[:, both_keep].sum(axis=1)))
    advantage = keeps.astype(int) - other_keeps  # 1 or -1 if only one of the two keeps the limit
    differences = _divide(_total(weights * advantage), weights.sum(axis=1))
    ratio, difference = _interval("ratio", ratios), _interval("difference", differences)
    differs = {
        "reliability": difference["difference_low"] > 0 or difference["difference_high"] < 0,
        "price": ratio["ratio_low"] > 1 or ratio["ratio_high"] < 1,
    }
    return {
        "cases": int(both_keep.sum()),
        "wins": int((prices < other_prices).sum()),
        "losses": int((prices > other_prices).sum()),
        "ties": int((prices == other_prices).sum()),
        "ratio": float(exp(_divide(_total(log_ratios), len(log_ratios)))),
        **ratio,
        "reliability_difference": float(_divide(advantage.sum(), len(advantage))),
        **difference,
        "told_apart": " and ".join(name for name, is_different in differs.items() if is_different),
    }


# ---- draws of tables -------------------------------------------------------------------------------------------------


def tables_of(cases: pd.DataFrame) -> list[str]:
    """The table of each case: ``adult`` for ``adult.sex``. Cases that differ only in k or in the groups share a table."""
    return [dataset.partition(".")[0] for dataset in cases["dataset"]]


def _draws_of_tables(board: pd.DataFrame) -> pd.DataFrame:
    """Bootstrap draws of tables, with replacement: how often each table (column) occurs in each draw (row)."""
    tables = list(dict.fromkeys(tables_of(board)))
    indices = np.random.default_rng(0).integers(len(tables), size=(DRAWS, len(tables))) if tables else np.zeros((DRAWS, 0))
    counts = (indices[:, :, None] == np.arange(len(tables))).sum(axis=1)
    return pd.DataFrame(counts.astype(float), columns=tables)


def _total(values: np.ndarray) -> np.ndarray:
    """Sums along the last axis, added in index order so that every processor gives the same bytes."""
    return np.cumsum(values, axis=-1)[..., -1] if values.shape[-1] else np.zeros(values.shape[:-1])


def _divide(sums, weights) -> np.ndarray:
    """``sums / weights``, or NaN where a weight is 0."""
    return np.asarray(sums, dtype=float) / np.where(np.asarray(weights) > 0, weights, np.nan)


def _interval(name: str, values: np.ndarray) -> dict[str, float]:
    """The ends of the interval that holds the middle :data:`COVERAGE` of the values; draws without a value are left out."""
    values = values[~np.isnan(values)]
    tail = (1 - COVERAGE) / 2
    return {f"{name}_low": _quantile(values, tail), f"{name}_high": _quantile(values, 1 - tail)}


def _quantile(values: np.ndarray, share: float) -> float:
    """The smallest value that at least this share of the values does not exceed; NaN without values."""
    return _weighted_quantile(values, np.ones((1, len(values))), share)[0]


def _weighted_quantile(values: np.ndarray, weights: np.ndarray, share: float, exclusive: bool = False) -> np.ndarray:
    """For each row of weights (m, n), the smallest of the values (n,) up to which at least ``share`` of the weight lies.

    With ``exclusive``, it is the smallest value up to which more than ``share`` of the weight lies.
    """
    if not len(values):
        return np.full(len(weights), np.nan)
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weights[:, order], axis=1)
    needed = share * cumulative[:, -1:]
    # The 1e-9 absorbs rounding: shares such as .9 are not exact in binary, while weights are whole numbers.
    is_reached = cumulative > needed + 1e-9 if exclusive else cumulative >= needed - 1e-9
    return np.where(cumulative[:, -1] > 0, values[order][is_reached.argmax(axis=1)], np.nan)


def _weighted_median(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """For each row of weights (m, n), the median of values (n,), where each value counts as often as its weight says."""
    return (_weighted_quantile(values, weights, 0.5) + _weighted_quantile(values, weights, 0.5, exclusive=True)) / 2
