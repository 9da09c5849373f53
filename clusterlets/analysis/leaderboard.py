"""Which method has the lowest cost under a limit on unfairness, on seeds that were not used to choose parameters.

A block is a dataset with a k. The first half of the seeds chooses: under each limit on the largest deviation, every method
gets the configuration with the lowest median cost among those whose median deviation keeps the limit. The other half scores
it. A run without a result ranks last in unfairness and in price, and one without a cost (overlapping clusters) in price, so a
configuration that fails on half of the seeds is never chosen. Every method chooses from at most :data:`TRIED`
configurations.

The price of a run is its k-means cost divided by the smallest that any run reached with k clusters. For a run with more than
k clusters it is the smallest with as many, so neither fewer nor more clusters than requested make a run look cheaper.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from clusterlets.analysis import selection

#: Limits on the largest deviation of a cluster; the last one is no limit.
LIMITS = (0.01, 0.02, 0.05, 0.1, np.inf)
#: Configurations that a method may choose from in a block; if the grid has more, they are spread evenly over it.
TRIED = 3
#: Factors of the lowest cost at which the performance profile is evaluated (Dolan and More, 2002).
FACTORS = (1.0, 1.05, 1.1, 1.25, 1.5, 2.0, 3.0)
#: Prices from here on, like a ``delta_min`` of 1, cover no area of the hypervolume.
DEAREST = 2.0

BLOCK = ["dataset", "k"]
CONFIGURATION = [*BLOCK, "method", "parameters"]
RANKED, MISSED, NOT_CHOSEN, NO_RESULT = "ranked", "misses the limit", "none keeps the limit", "no result"
COLUMNS = [
    *("dataset", "k", "limit", "rank", "method", "parameters", "outcome", "price", "price_low", "price_high"),
    *("deviation_max", "delta_min", "weighted_deviation", "n_clusters", "within", "ok", "seeds", "on_front", "tried"),
    *("runs", "runs_ok", "statuses"),
]
OVERALL = [
    *("limit", "method", "mean_rank", "blocks", "ranked", "first"),
    *(f"within_{factor:g}" for factor in FACTORS),
    "hypervolume",
]
POINTS = [*CONFIGURATION, "delta_min", "price", "on_front"]

_SCORES = ["price", "deviation_max", "delta_min", "weighted_deviation"]
_DECIMALS = 12  # so that the last bits of a sum decide between no two configurations
_SHOWN = 6  # decimals in the files


def participating_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that take part: at most :data:`TRIED` configurations of every method, the first and the last of its grid
    and those evenly spaced between them, in the grid's order. ``method`` is the name of the matcher if there is one.
    """
    runs = runs.assign(method=selection.names(runs), parameters=runs["parameters"].fillna(""))
    grids = runs.groupby("method", sort=False)["parameters"].unique()
    participating = {(method, grid[place]) for method, grid in grids.items() for place in spread_positions(len(grid))}
    participates = [pair in participating for pair in zip(runs["method"], runs["parameters"], strict=True)]
    return runs[np.array(participates, dtype=bool)].reset_index(drop=True)


def spread_positions(size: int) -> list[int]:
    """Positions of the configurations that take part, out of ``size``."""
    return list(range(size)) if size <= TRIED else [place * (size - 1) // (TRIED - 1) for place in range(TRIED)]


def configurations(runs: pd.DataFrame, limits: Sequence[float] = LIMITS) -> pd.DataFrame:
    """Every configuration: medians on the choosing seeds, and on the scoring seeds.

    Parameters
    ----------
    runs : DataFrame
        Runs of :func:`participating_runs`, whatever their status, of two seeds or more.
    limits : sequence of float
        On the largest deviation of a cluster.

    Returns
    -------
    DataFrame
        One row for each dataset, k, method and parameters, in the order of the runs: ``chosen_by_<score>`` from the first
        half of the seeds; from the others the medians, the lowest and the highest price, ``seeds``, how many of them are
        ``ok``, and for each limit the share of them ``within`` it. ``inf`` stands for no result.
    """
    failed = runs["status"] != "ok"
    scores = runs.assign(price=prices(runs))[_SCORES].mask(failed, np.inf).fillna({"price": np.inf})
    scored = runs[[*CONFIGURATION, "n_clusters"]].assign(ok=~failed, **scores)
    scored["finite"] = scored["price"].where(np.isfinite(scored["price"]))
    for limit in limits:
        scored[_within(limit)] = scored["finite"].notna() & (scored["deviation_max"] <= limit)
    chooses = is_choosing_seed(runs["seed"])
    choosing_seeds, scoring_seeds = (scored[part].groupby(CONFIGURATION, sort=False) for part in (chooses, ~chooses))
    medians_of_scores = scoring_seeds[[*_SCORES, "n_clusters"]].median()
    ends = {"price_low": scoring_seeds["finite"].min(), "price_high": scoring_seeds["finite"].max()}
    medians_of_scores = medians_of_scores.assign(**ends, seeds=scoring_seeds.size(), ok=scoring_seeds["ok"].sum())
    medians_of_scores = medians_of_scores.join(scoring_seeds[[_within(limit) for limit in limits]].mean())
    medians_of_choice = choosing_seeds[["price", "deviation_max"]].median().add_prefix("chosen_by_")
    return medians_of_choice.join(medians_of_scores, how="inner").round(_DECIMALS).reset_index()


def prices(runs: pd.DataFrame) -> pd.Series:
    """The price of each run, from 1 up: ``price_of_fairness`` for k clusters or more; for fewer, the cost divided by the lowest
    of any run of the dataset with k. NaN if a run has no cost, or no run has k clusters.
    """
    lowest_with_k = runs[runs["n_clusters"] == runs["k"]].groupby(BLOCK)["kmeans_cost"].min()
    lowest = runs[BLOCK].join(lowest_with_k.where(lowest_with_k > 0), on=BLOCK)["kmeans_cost"]
    return runs["price_of_fairness"].where(runs["n_clusters"] >= runs["k"], runs["kmeans_cost"] / lowest)


def _within(limit: float) -> str:
    return f"within_{limit:g}"


def is_choosing_seed(seeds: pd.Series) -> pd.Series:
    """Which runs belong to the first half of the seeds; if their number is odd, the larger half scores."""
    values = np.sort(seeds.unique())
    return seeds.isin(values[: len(values) // 2])


def leaderboard(runs: pd.DataFrame, limits: Sequence[float] = LIMITS) -> pd.DataFrame:
    """The best configuration of each method, in each block and under each limit: ``results/leaderboard.csv``.

    Parameters
    ----------
    runs : DataFrame
        Every run, whatever its status. With fewer than two seeds or two methods there is nothing to choose or to rank, and
        the result is empty.
    limits : sequence of float
        On the largest deviation of a cluster.

    Returns
    -------
    DataFrame
        With :data:`COLUMNS`. ``rank`` is 1 for the lowest price among the methods whose median deviation keeps the limit on
        the scoring seeds too; for a method without a rank, ``outcome`` gives the reason.
    """
    runs = participating_runs(runs)
    if runs["seed"].nunique() < 2 or runs["method"].nunique() < 2:
        return pd.DataFrame(columns=COLUMNS)
    candidates = configurations(runs, limits)
    candidates = candidates.merge(_points(candidates)[[*CONFIGURATION, "on_front"]], how="left", on=CONFIGURATION)
    methods = _count_runs(runs).join(candidates.groupby([*BLOCK, "method"]).size().rename("tried")).reset_index()
    board = pd.concat([_choose_under(limit, candidates, methods) for limit in limits], ignore_index=True)
    dataset_order = {name: position for position, name in enumerate(runs["dataset"].unique())}
    order = ["place", "k", "limit", "rank", "price", "method"]
    board = board.assign(place=board["dataset"].map(dataset_order)).sort_values(order, kind="stable")
    board = board.astype({"k": int} | dict.fromkeys(["rank", "ok", "seeds"], "Int64"))
    return board[COLUMNS].round(_SHOWN).reset_index(drop=True)


def _count_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """For each method in each block: number of runs, of runs that are ok, and statuses of the others."""
    by_method = runs.groupby([*BLOCK, "method"], sort=False)
    statuses = by_method["status"].agg(lambda column: _statuses(column[column != "ok"]))
    ok = (runs["status"] == "ok").groupby([runs[name] for name in (*BLOCK, "method")], sort=False).sum()
    return pd.DataFrame({"runs": by_method.size(), "runs_ok": ok, "statuses": statuses})


def _statuses(column: pd.Series) -> str:
    counts = column.value_counts().sort_index()
    return "; ".join(f"{status} {count}" for status, count in counts.items())


def _choose_under(limit: float, candidates: pd.DataFrame, methods: pd.DataFrame) -> pd.DataFrame:
    """What each method chooses under one limit, and its rank on the scoring seeds."""
    eligible = candidates[(candidates["chosen_by_deviation_max"] <= limit) & np.isfinite(candidates["chosen_by_price"])]
    order = ["chosen_by_price", "chosen_by_deviation_max"]
    best = eligible.sort_values(order, kind="stable").drop_duplicates([*BLOCK, "method"])  # ties: the grid's order
    rows = methods.merge(best, how="left", on=[*BLOCK, "method"])
    keeps = (rows["deviation_max"] <= limit) & np.isfinite(rows["price"])
    outcome = [(keeps, RANKED), (rows["parameters"].notna(), MISSED), (rows["runs_ok"] > 0, NOT_CHOSEN)]
    rows["outcome"] = np.select([condition for condition, _ in outcome], [word for _, word in outcome], NO_RESULT)
    rows["rank"] = rows["price"].where(keeps).groupby([rows[name] for name in BLOCK]).rank(method="min")
    return rows.replace(np.inf, np.nan).assign(limit=limit, within=rows[_within(limit)])


def points(runs: pd.DataFrame) -> pd.DataFrame:
    """Configurations as points of their block, by the scoring seeds: ``results/leaderboard_points.csv``.

    Returns
    -------
    DataFrame
        With :data:`POINTS`, for configurations with a median price; ``on_front`` if no other one of the block is at most as
        unfair and as expensive, and better in one of the two.
    """
    runs = participating_runs(runs)
    return _points(configurations(runs)) if runs["seed"].nunique() > 1 else pd.DataFrame(columns=POINTS)


def _points(candidates: pd.DataFrame) -> pd.DataFrame:
    priced = candidates[np.isfinite(candidates["price"])]
    fronts = [is_on_front(block[["delta_min", "price"]]) for _, block in priced.groupby(BLOCK, sort=False)]
    on_front = pd.concat(fronts) if fronts else pd.Series(dtype=bool)
    return priced.assign(on_front=on_front)[POINTS].astype({"k": int}).round(_SHOWN).reset_index(drop=True)


def is_on_front(scores: pd.DataFrame) -> pd.Series:
    """Which of m points no other point beats by being at most as large in every column, and smaller in one. O(m^2)."""
    values = scores.to_numpy()
    beats = (values[:, None] <= values).all(axis=2) & (values[:, None] < values).any(axis=2)
    return pd.Series(~beats.any(axis=0), index=scores.index)


# ---- over all blocks -------------------------------------------------------------------------------------------------


def overall(board: pd.DataFrame, points: pd.DataFrame) -> pd.DataFrame:
    """Every method over all blocks, under each limit: ``results/leaderboard_overall.csv``.

    Parameters
    ----------
    board : DataFrame
        Of :func:`leaderboard`.
    points : DataFrame
        Of :func:`points`.

    Returns
    -------
    DataFrame
        limit, method, mean_rank (a method without a rank gets the mean of the remaining places), blocks (in which any method
        has a rank), ranked (how many of them rank the method), first (in how many it is best or ties for best), within_x
        (the share of the blocks in which its price is at most x times the lowest one: the performance profile), hypervolume
        (the area that its points dominate, divided by the area that all points dominate, averaged over the blocks).
    """
    if board.empty:
        return pd.DataFrame(columns=OVERALL)
    rows = pd.concat([_summarise_methods(limit, part) for limit, part in board.groupby("limit")])
    rows["hypervolume"] = rows["method"].map(_hypervolumes(points)).fillna(0.0)
    rows = rows.sort_values(["limit", "mean_rank", "method"], kind="stable").round(_SHOWN)
    return rows[OVERALL].reset_index(drop=True)


def _summarise_methods(limit: float, board: pd.DataFrame) -> pd.DataFrame:
    ranks = board.pivot(index=BLOCK, columns="method", values="rank")
    has_ranks = ranks.notna().any(axis=1)
    ratios, ranks = price_ratios(board), ranks[has_ranks]
    mean_of_free_places = (ranks.notna().sum(axis=1) + 1 + ranks.shape[1]) / 2
    places = ranks.astype(float).rank(axis=1).apply(lambda column: column.fillna(mean_of_free_places))
    rows = pd.DataFrame({"limit": limit, "method": ranks.columns, "mean_rank": places.mean().to_numpy()})
    rows = rows.assign(blocks=len(ranks), ranked=ranks.notna().sum().to_numpy(), first=(ranks == 1).sum().to_numpy())
    profile = {f"within_{factor:g}": (ratios <= factor).mean().to_numpy() for factor in FACTORS}
    return rows.assign(**profile)


def price_ratios(board: pd.DataFrame) -> pd.DataFrame:
    """Under one limit: each ranked method's price over the lowest one, (blocks, methods); blocks without a ranked method are
    left out, and NaN stands for a method without a rank.
    """
    prices = board.assign(price=board["price"].where(board["rank"].notna()))
    prices = prices.pivot(index=BLOCK, columns="method", values="price").dropna(how="all")
    return prices.div(prices.min(axis=1), axis=0).round(_DECIMALS)


def _hypervolumes(points: pd.DataFrame) -> pd.Series:
    """A method's area divided by that of all methods, averaged over the blocks; blocks without any area are left out."""
    if points.empty:
        return pd.Series(dtype=float)
    areas = points.groupby([*BLOCK, "method"], sort=False)[["delta_min", "price"]].apply(_area).unstack(fill_value=0.0)
    block_areas = points.groupby(BLOCK, sort=False)[["delta_min", "price"]].apply(_area).reindex(areas.index)
    return areas[block_areas > 0].div(block_areas[block_areas > 0], axis=0).mean()


def _area(block: pd.DataFrame) -> float:
    """Area, up to a ``delta_min`` of 1 and a price of :data:`DEAREST`, in which some point is better in both."""
    area, price = 0.0, DEAREST
    for delta, point_price in block.sort_values(["delta_min", "price"], kind="stable").to_numpy():
        if point_price < price and delta < 1:
            area += (1 - delta) * (price - point_price)
            price = point_price
    return area
