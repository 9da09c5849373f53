"""Print limit, place, method, reliability and median price of each method, computed from leaderboard_points.csv."""

import csv
from collections import defaultdict
from statistics import median

LIMITS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1)
with open("leaderboard_points.csv", encoding="utf-8", newline="") as file:
    points = [row for row in csv.DictReader(file) if row["kind"] == "method"]


def proves_infeasible(row, limit):
    """Whether the row proves that no clustering of its case (dataset and k) keeps the limit."""
    limit_and_rest = row["parameters"].partition("max_deviation=")[2]
    is_proof = row["method"] == "fair-limit" and row["status"] == "infeasible" and limit_and_rest
    return is_proof and float(limit_and_rest.split(",")[0]) >= limit


def keeps_limit(row, limit):
    # The tolerance allows for rounding errors.
    return row["price"] and row["n_clusters"] == row["k"] and float(row["deviation_max"]) <= limit + 1e-13


def find_scoring_runs(configurations, limit, breaking):
    """The scoring runs of the configuration that the choosing runs (``chooses``) select. Empty if none keeps the limit."""
    best_key, best_runs = None, []
    for parameters, runs in configurations.items():
        choosing_runs = [row for row in runs if row["chooses"] == "True"]
        prices = [float(row["price"]) for row in choosing_runs if keeps_limit(row, limit)]
        if prices:
            deviation = max(float(row["deviation_max"]) for row in choosing_runs if row["deviation_max"])
            has_room = parameters not in breaking or deviation <= limit / 2 + 1e-13
            is_safe = len(prices) == len(choosing_runs) and has_room
            # Safe ones come first. Of these, the cheapest is best; of others, the one that keeps the limit most often.
            key = not is_safe, -len(prices) / len(choosing_runs), median(prices) if is_safe else deviation, median(prices)
            if best_key is None or key < best_key:
                best_key, best_runs = key, runs
    return [row for row in best_runs if row["chooses"] == "False"]


for limit in LIMITS:
    infeasible_cases = {(row["dataset"], row["k"]) for row in points if proves_infeasible(row, limit)}
    runs_by_method = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))  # by method, case and parameters
    for row in points:
        case = row["dataset"], row["k"]
        if case not in infeasible_cases:
            runs_by_method[row["method"]][case][row["parameters"]].append(row)
    ranking = []
    for method, cases in runs_by_method.items():
        prices = []
        choosing_runs = [row for case in cases.values() for runs in case.values() for row in runs if row["chooses"] == "True"]
        breaking = {row["parameters"] for row in choosing_runs if row["status"] == "ok" and not keeps_limit(row, limit)}
        for configurations in cases.values():
            scoring_runs = find_scoring_runs(configurations, limit, breaking)
            if scoring_runs and all(keeps_limit(row, limit) for row in scoring_runs):
                prices.append(median(float(row["price"]) for row in scoring_runs))
        price = median(prices) if prices else float("inf")
        ranking.append((-len(prices) / len(cases), price, method))
    for place, (negative_reliability, price, method) in enumerate(sorted(ranking), 1):
        print(f"{limit:g} {place} {method} {abs(negative_reliability):.4f} {price:.4f}")
