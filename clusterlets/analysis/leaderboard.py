"""How reliably each method keeps a limit on unfairness, and what it costs where it does.

A block is a table with sensitive groups and a k. A run *keeps the limit* if it has exactly k clusters and the largest deviation
of each is within the limit. The first half of the seeds chooses: under each limit, every method gets the configuration whose
runs keep the limit most often, and of these the one with the least median price. The other half scores it: the configuration
keeps the limit if all its runs do.

Two numbers for each method, never mixed into one: **reliability**, the share of the blocks in which it keeps the limit, and
**price**, where it does. Neither depends on which other methods take part, so adding or leaving out one never changes the order
of two others. Blocks of one table are alike, so intervals come from resampling whole tables (bootstrap).
"""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd

from clusterlets.algorithms.elementary import exp, log
from clusterlets.analysis import selection

#: Limits on the largest deviation of a cluster.
LIMITS = (0.01, 0.02, 0.05, 0.1)
#: A deviation is a difference of two shares, n/m - N/M, and a limit is a decimal p/100 or p/1000: if they differ, then by at
#: least 1 / (1000 m M), which is above this up to 100,000 rows, while floats are off by less than 1e-15. So a comparison with
#: this tolerance is as exact as one of whole numbers.
TOLERANCE = 1e-13
#: Draws of tables, and the share of them inside an interval.
DRAWS, COVERAGE = 2000, 0.95
#: How many configurations `tune` tries at most; of a larger grid it takes evenly spaced ones.
TRIED = 3

METHOD, OUTPUT, CONTROL, CLUSTERLETS = "method", "output", "control", "clusterlets"
#: The kinds of outputs. Only methods are ordered: an output without a claim and a control are shown next to them, and the
#: matchers of Clusterlets choose their own number of clusters, so they have blocks of their own.
KINDS = (METHOD, CLUSTERLETS, OUTPUT, CONTROL)
KEEPS, MISSES, NOT_CHOSEN, NO_RESULT = "keeps the limit", "misses the limit", "none keeps the limit", "no result"

BLOCK = ["dataset", "k"]
POINTS = [
    *(*BLOCK, "method", "kind", "parameters", "seed", "chooses", "status"),
    *("n_clusters", "smallest", "deviation_max", "price", "starts"),
]
COLUMNS = [
    *("limit", *BLOCK, "method", "kind", "outcome", "parameters", "price", "price_low", "price_high"),
    *("kept", "runs", "starts", "deviation_max", "smallest", "tried", "statuses"),
]
OVERALL = [
    *("limit", "place", "method", "kind", "blocks", "kept", "reliability", "reliability_low", "reliability_high"),
    *("price", "price_low", "price_high", "price_90", "price_worst", "within"),
]
CONFIGURATIONS = [
    *(*BLOCK, "method", "kind", "parameters", "price", "deviation_max", "clusters_least", "clusters_most", "smallest"),
    *("runs", "exact"),
]
PAIRS = [
    *("limit", "method", "other", "blocks", "wins", "losses", "ties", "ratio", "ratio_low", "ratio_high"),
    *("reliability_difference", "difference_low", "difference_high", "told_apart"),
]

_PRECISION = 9  # decimals of a price in the points: all else follows from these
_SHOWN = 6  # decimals in the other tables
_PROVER = "fair-limit"  # its status infeasible is a proof


# ---- the runs --------------------------------------------------------------------------------------------------------


def points(runs: pd.DataFrame, kinds: Mapping[str, str], starts: Mapping[str, int]) -> pd.DataFrame:
    """Every run, with what the leaderboard needs: ``results/leaderboard_points.csv``, columns :data:`POINTS`.

    ``runs`` are as in ``runs.csv``, whatever the status. ``kinds`` and ``starts`` give, by a method's name there, its kind (by
    default a method) and how many starts a run is the best of (by default one). ``deviation_max`` is the largest in any
    single sensitive column; ``k`` is the requested number of clusters, or for a matcher that of the clusterlets in each group.
    Empty with fewer than two seeds, because one half chooses and the other scores.
    """
    if runs["seed"].nunique() < 2:
        return pd.DataFrame(columns=POINTS)
    name = runs["matcher"].where(runs["matcher"].notna(), runs["method"])
    frame = runs.assign(
        method=selection.names(runs),
        kind=name.map(kinds).fillna(METHOD),
        starts=name.map(starts).fillna(1).astype(int),
        parameters=runs["parameters"].fillna(""),
        chooses=is_choosing_seed(runs["seed"]),
        deviation_max=runs["column_deviation"],
        price=runs["price_of_fairness"].round(_PRECISION),
        **{column: runs[column].astype("Int64") for column in ("k", "seed", "n_clusters", "smallest")},
    )
    return frame[POINTS].reset_index(drop=True)


def kinds_of(grids: Mapping[str, Mapping]) -> dict[str, str]:
    """The kind of each output, from the ``grids`` of the resolved configuration; only a method's first one claims fairness."""
    kinds: dict[str, str] = {}
    for grid in grids.values():
        kind = CLUSTERLETS if grid["needs"] else CONTROL if grid["role"] == "baseline" else METHOD
        first, *others = grid["names"]
        kinds |= {first: kind, **dict.fromkeys(others, OUTPUT)}
    return kinds


def starts_of(grids: Mapping[str, Mapping]) -> dict[str, int]:
    """How many starts a run of each output is the best of, from the same ``grids``."""
    starts: dict[str, int] = {}
    for grid in grids.values():
        n_init = grid["parameters"].get("n_init", [1])[0]
        starts |= dict.fromkeys(grid["names"], n_init * grid["starts"])
    return starts


def is_choosing_seed(seeds: pd.Series) -> pd.Series:
    """Which runs belong to the first half of the seeds; if their number is odd, the larger half scores."""
    values = np.sort(seeds.unique())
    return seeds.isin(values[: len(values) // 2])


def spread_positions(size: int) -> list[int]:
    """At most :data:`TRIED` positions out of ``size``: the first, the last, and those evenly spaced between them."""
    return list(range(size)) if size <= TRIED else [number * (size - 1) // (TRIED - 1) for number in range(TRIED)]


def is_on_front(scores: pd.DataFrame) -> pd.Series:
    """Which of m points no other point beats by being at most as large in every column, and smaller in one. O(m^2)."""
    values = scores.to_numpy()
    beats = (values[:, None] <= values).all(axis=2) & (values[:, None] < values).any(axis=2)
    return pd.Series(~beats.any(axis=0), index=scores.index)


# ---- blocks ----------------------------------------------------------------------------------------------------------


def leaderboard(run_points: pd.DataFrame) -> pd.DataFrame:
    """Each method's configuration in each block under each limit, and whether it keeps it: ``results/leaderboard.csv``.

    ``run_points`` is a frame of :func:`points`. The result has :data:`COLUMNS`. A block that ``fair-limit`` proves infeasible
    under a limit is left out there. A matcher of Clusterlets has the blocks whose k some of its runs yield, on both halves of
    the seeds. ``price`` is the median over the scoring runs, ``kept`` the number of these ``runs`` that keep the limit.
    """
    runs = _in_blocks(run_points)
    boards = [_board_under(limit, runs, infeasible_blocks(run_points, limit)) for limit in LIMITS]
    boards = [board for board in boards if len(board)]
    if not boards:
        return pd.DataFrame(columns=COLUMNS)
    board = pd.concat(boards, ignore_index=True)
    order = {name: position for position, name in enumerate(run_points["dataset"].unique())}
    board = board.assign(dataset_order=board["dataset"].map(order), kind_order=board["kind"].map(KINDS.index))
    board = board.sort_values(["limit", "dataset_order", "k", "kind_order", "method"], kind="stable")
    return board[COLUMNS].round(_SHOWN).reset_index(drop=True)


def configurations(run_points: pd.DataFrame) -> pd.DataFrame:
    """Every configuration in every block over its scoring runs, in the order of the runs: what the fronts show.

    ``run_points`` is a frame of :func:`points`. The result has :data:`CONFIGURATIONS`: median ``price`` (missing if no run has
    one), largest deviation and fewest rows of a cluster, and ``exact``: whether all scoring runs have a price and exactly k
    clusters. So a configuration keeps a limit if it is exact and ``deviation_max`` is within the limit.
    """
    runs = _in_blocks(run_points)
    runs = runs[~runs["chooses"].astype(bool)]
    runs = runs.assign(price=runs["price"].where(runs["status"] == "ok"))
    per_configuration = runs.groupby([*BLOCK, "method", "parameters"], sort=False)
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


def _in_blocks(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs with the k of their block: the requested one, or for a matcher the number of clusters that the run yields.

    A further column says which runs are ``exact``: they have exactly k clusters, and a price, which overlapping ones lack.
    """
    runs = runs.fillna({"parameters": ""})  # an empty cell is read back as missing
    is_matcher = runs["kind"] == CLUSTERLETS
    matched = runs[is_matcher & runs["n_clusters"].isin(runs["k"].unique())]
    parameters = ("clusterlets=" + matched["k"].astype(str) + "," + matched["parameters"]).str.removesuffix(",")
    matched = matched.assign(parameters=parameters, k=matched["n_clusters"])
    runs = pd.concat([runs[~is_matcher], matched], ignore_index=True)
    has_k_clusters = (runs["n_clusters"] == runs["k"]).fillna(False).astype(bool)
    return runs.assign(exact=(runs["status"] == "ok") & runs["price"].notna() & has_k_clusters)


def infeasible_blocks(runs: pd.DataFrame, limit: float) -> pd.Index:
    """Blocks in which no clustering keeps the limit, because it is proved that none keeps this or a larger one."""
    proofs = runs[(runs["method"] == _PROVER) & (runs["status"] == "infeasible")]
    proved = proofs["parameters"].astype(str).str.extract(r"max_deviation=([0-9.e-]+)")[0].astype(float)
    return pd.MultiIndex.from_frame(proofs.loc[proved >= limit, BLOCK])


def _board_under(limit: float, runs: pd.DataFrame, infeasible: pd.Index) -> pd.DataFrame:
    runs = runs[~pd.MultiIndex.from_frame(runs[BLOCK]).isin(infeasible)]
    runs = runs.assign(keeps=runs["exact"] & (runs["deviation_max"] <= limit + TOLERANCE))
    runs["kept_price"] = runs["price"].where(runs["keeps"])
    per_method = [*BLOCK, "method"]
    halves = {chooses: half.groupby([*per_method, "parameters"], sort=False) for chooses, half in runs.groupby("chooses")}
    if len(halves) < 2:
        return pd.DataFrame(columns=COLUMNS)
    choosing = halves[True].agg(share=("keeps", "mean"), median_kept_price=("kept_price", "median"))
    scoring = halves[False].agg(
        price=("price", "median"),
        price_low=("price", "min"),
        price_high=("price", "max"),
        kept=("keeps", "sum"),
        runs=("keeps", "size"),
        deviation_max=("deviation_max", "max"),
        smallest=("smallest", "min"),
    )
    candidates = choosing.join(scoring, how="inner").reset_index()
    keeping = candidates.sort_values(["share", "median_kept_price"], ascending=[False, True], kind="stable").query("share > 0")
    best = keeping.drop_duplicates(per_method)  # ties: the grid's order
    methods = runs.groupby(per_method, sort=False).agg(
        kind=("kind", "first"),
        starts=("starts", "first"),
        statuses=("status", lambda column: count_statuses(column[column != "ok"])),
        any_ok=("status", lambda column: bool((column == "ok").any())),
    )
    n_tried = candidates.groupby(per_method).size().rename("tried")
    rows = methods.join(n_tried, how="inner").reset_index()
    rows = rows.merge(best.drop(columns=["share", "median_kept_price"]), how="left", on=per_method)
    is_chosen = rows["parameters"].notna()
    conditions = [is_chosen & (rows["kept"] == rows["runs"]), is_chosen, rows["any_ok"]]
    rows["outcome"] = np.select(conditions, [KEEPS, MISSES, NOT_CHOSEN], NO_RESULT)
    return rows.assign(limit=limit).astype({"kept": "Int64", "runs": "Int64"})


def count_statuses(statuses: pd.Series) -> str:
    """The number of runs with each status: ``ok 4; timeout 2``."""
    return "; ".join(f"{status} {count}" for status, count in statuses.value_counts().sort_index().items())


# ---- over all blocks -------------------------------------------------------------------------------------------------


def overall(board: pd.DataFrame) -> pd.DataFrame:
    """Every method over its blocks, under each limit: ``results/leaderboard_overall.csv``.

    ``board`` is a frame of :func:`leaderboard`. The result has :data:`OVERALL`, ordered by kind, then reliability, then median
    price. ``place`` ranks the methods, from 1; ``price`` is the median over the ``kept`` of its ``blocks`` in which a method
    keeps the limit, ``price_90`` the least price that nine tenths of these do not exceed, ``within`` the share of the scoring
    runs of chosen configurations that keep the limit. ``_low`` and ``_high`` are the ends of a bootstrap interval over tables.
    """
    if board.empty:
        return pd.DataFrame(columns=OVERALL)
    rows, draws = [], _draws_of_tables(board)
    for (limit, method), blocks in board.groupby(["limit", "method"], sort=False):
        kept = blocks[blocks["outcome"] == KEEPS]
        prices = kept["price"].to_numpy(float)
        weights, all_weights = (draws[tables_of(part)].to_numpy() for part in (kept, blocks))
        reliabilities = _share(weights.sum(axis=1), all_weights.sum(axis=1))
        rows.append(
            {
                **{"limit": limit, "method": method, "kind": blocks["kind"].iloc[0], "blocks": len(blocks), "kept": len(kept)},
                "reliability": len(kept) / len(blocks),
                **_interval("reliability", reliabilities),
                "price": kept["price"].median(),
                **_interval("price", _weighted_median(prices, weights)),
                "price_90": _quantile(prices, 0.9),
                "price_worst": kept["price"].max(),
                "within": float(_share(blocks["kept"].sum(), blocks["runs"].sum())),
            }
        )
    frame = pd.DataFrame(rows).round(_SHOWN)
    frame["kind_order"] = frame["kind"].map(KINDS.index)
    order = ["limit", "kind_order", "reliability", "price", "method"]
    frame = frame.sort_values(order, ascending=[True, True, False, True, True], kind="stable")
    is_method = frame["kind"] == METHOD
    frame["place"] = is_method.groupby(frame["limit"]).cumsum().where(is_method).astype("Int64")
    return frame[OVERALL].reset_index(drop=True)


def pairs(board: pd.DataFrame) -> pd.DataFrame:
    """Every pair of methods under each limit: ``results/leaderboard_pairs.csv``, columns :data:`PAIRS`.

    ``board`` is a frame of :func:`leaderboard`. ``wins``, ``losses`` and ``ties`` count the ``blocks`` in which both keep the
    limit and the method costs less, more or as much; ``ratio`` is its price divided by the other's, as the geometric mean over
    these blocks, and ``reliability_difference`` is over the blocks of both. ``told_apart`` names what differs: ``price`` if
    the interval of the ratio excludes 1, ``reliability`` if that of the difference excludes 0, both, or nothing.
    """
    rows, draws = [], _draws_of_tables(board)
    for limit, blocks in board.groupby("limit"):
        outcomes = {method: part.set_index(BLOCK) for method, part in blocks.groupby("method")}
        kinds = {method: part["kind"].iloc[0] for method, part in outcomes.items()}
        names = sorted(outcomes, key=lambda name: (KINDS.index(kinds[name]), name))
        rows += [
            {"limit": limit, "method": one, "other": other, **_compare(outcomes[one], outcomes[other], draws)}
            for one, other in combinations(names, 2)
        ]
    return pd.DataFrame(rows, columns=PAIRS).round(_SHOWN)


def _compare(one: pd.DataFrame, other: pd.DataFrame, draws: pd.DataFrame) -> dict:
    shared = one.index.intersection(other.index, sort=False)
    one, other = one.loc[shared], other.loc[shared]
    kept_one, kept_other = (part["outcome"].to_numpy() == KEEPS for part in (one, other))
    both = kept_one & kept_other
    prices, other_prices = (part["price"].to_numpy(float)[both] for part in (one, other))
    logs = log(prices) - log(other_prices)
    weights = draws[tables_of(one.reset_index())].to_numpy()
    ratios = exp(_share(_total(weights[:, both] * logs), weights[:, both].sum(axis=1)))
    gain = kept_one.astype(int) - kept_other
    differences = _share(_total(weights * gain), weights.sum(axis=1))
    ratio, difference = _interval("ratio", ratios), _interval("difference", differences)
    apart = {
        "reliability": difference["difference_low"] > 0 or difference["difference_high"] < 0,
        "price": ratio["ratio_low"] > 1 or ratio["ratio_high"] < 1,
    }
    return {
        **{"blocks": int(both.sum()), "wins": int((prices < other_prices).sum()), "losses": int((prices > other_prices).sum())},
        "ties": int((prices == other_prices).sum()),
        "ratio": float(exp(_share(_total(logs), len(logs)))),
        **ratio,
        "reliability_difference": float(_share(gain.sum(), len(gain))),
        **difference,
        "told_apart": " and ".join(name for name, is_apart in apart.items() if is_apart),
    }


# ---- draws of tables -------------------------------------------------------------------------------------------------


def tables_of(blocks: pd.DataFrame) -> list[str]:
    """The table of each block, which may share it with other k and other groups: ``adult`` for ``adult.sex``."""
    return [dataset.partition(".")[0] for dataset in blocks["dataset"]]


def _draws_of_tables(board: pd.DataFrame) -> pd.DataFrame:
    """How often each table occurs in each draw of as many tables with replacement: a row for each draw."""
    tables = list(dict.fromkeys(tables_of(board)))
    drawn = np.random.default_rng(0).integers(len(tables), size=(DRAWS, len(tables))) if tables else np.zeros((DRAWS, 0))
    counts = (drawn[:, :, None] == np.arange(len(tables))).sum(axis=1)
    return pd.DataFrame(counts.astype(float), columns=tables)


def _total(values: np.ndarray) -> np.ndarray:
    """Sums along the last axis, in index order."""
    return np.cumsum(values, axis=-1)[..., -1] if values.shape[-1] else np.zeros(values.shape[:-1])


def _share(part, whole) -> np.ndarray:
    """``part / whole``; NaN where the whole is 0."""
    return np.asarray(part, dtype=float) / np.where(np.asarray(whole) > 0, whole, np.nan)


def _interval(name: str, values: np.ndarray) -> dict[str, float]:
    """The ends of the interval that holds :data:`COVERAGE` of the draws with a value."""
    values, outside = values[~np.isnan(values)], (1 - COVERAGE) / 2
    return {f"{name}_low": _quantile(values, outside), f"{name}_high": _quantile(values, 1 - outside)}


def _quantile(values: np.ndarray, share: float) -> float:
    """The least value up to which this share of the values lies; NaN without values."""
    return _weighted_quantile(values, np.ones((1, len(values))), share)[0]


def _weighted_quantile(values: np.ndarray, weights: np.ndarray, share: float, above: bool = False) -> np.ndarray:
    """For each row of weights (m, n), the least value (n,) up to which ``share`` of the weight lies, or more (``above``)."""
    if not len(values):
        return np.full(len(weights), np.nan)
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[:, order], axis=1)
    needed = share * below[:, -1:]
    # Shares such as .9 are not exact in binary, but weights are whole.
    reached = below > needed + 1e-9 if above else below >= needed - 1e-9
    return np.where(below[:, -1] > 0, values[order][reached.argmax(axis=1)], np.nan)


def _weighted_median(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """For each row of weights (m, n), the median of values (n,), each counted as often as its weight says."""
    return (_weighted_quantile(values, weights, 0.5) + _weighted_quantile(values, weights, 0.5, above=True)) / 2
