"""Compute what docs/reproduction.md and docs/field.md show again, from the files in reference/ and the printed tables alone.

Lines with "range" have a source (the text, or the published code), a cell of the paper's tables, the low and the high end of
our range, and whether the paper is inside. Lines with "share" have a table, a source, and the share of the paper inside; with
--copies (minutes), also those of copies of the paper. The other lines are about the leaderboard: a limit, a method (or two),
and numbers as pages show them. Needs only pandas."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
REFERENCE, REPORTED = ROOT / "reference", ROOT / "clusterlets/benchmark/paper/reported"
MATCHERS = {"C": "C", "G-B": "G-B", "D": "D-PB", "B": "B-PB", "G-D": "G-D-PB"}
MEASURES = ["deviation_mean", "deviation_std", "deviation_max", "size", "cohesion", "overlap"]
COEFFICIENTS, REPETITIONS = ("pearson", "spearman", "kendall"), 200


def read(name):
    return pd.read_csv(REFERENCE / f"{name}.csv", keep_default_na=False, na_values=[""])


def printed_cells():
    """The counted cells of the paper's tables: (table, row, quantity) -> the printed text."""
    cells = {}
    for number, path in enumerate(sorted(REPORTED.glob("table*.csv")), 1):
        for line in pd.read_csv(path, dtype=str).fillna("").to_dict("records"):
            row = {1: [line.get("matcher")], 4: [line.get("dataset"), line.get("method")]}.get(number, [line.get("dataset")])
            if number == 5:
                row = [line["coefficient"], line["x"].replace("cohesion", "silhouette"), line["y"]]
            is_crisp = line.get("method") == "FRAC" or line.get("matcher") in ("C", "G-B", "G-D-PB")
            for quantity, text in line.items():
                is_label = quantity in ("dataset", "method", "coefficient", "x", "y") or (number == 1 and quantity == "matcher")
                if text and not is_label and not (is_crisp and "overlap" in quantity) and line.get("method") != "Clusterlets":
                    cells[number, " ".join(row), quantity] = text
    return cells


def winners(runs, by):
    """The runs that may enter a table of single runs, the best first."""
    runs = runs[(runs["size"] >= 3) & (runs["overlap"] < 0.5)]
    first = -runs[by] if by == "cohesion" else runs[by]
    keys = [first, runs["deviation_max"], -runs["cohesion"], *(runs[name] for name in ["k", "hops", "seed", "omega", "rank"])]
    return runs.iloc[np.lexsort([key.to_numpy(float).round(12) for key in keys[::-1]])]


def selected(runs, drawn):
    """Tables 2 to 4, for each row of drawn seeds (r, 10): (table, row, quantity) -> r values."""
    numbers, rival = {}, (4, "deviation_mean", "FRAC (nearest)")
    for number, by, method in ((2, "deviation_mean", "Clusterlets"), (3, "cohesion", "Clusterlets"), rival):
        for dataset, rows in winners(runs[runs["method"] == method], by).groupby("dataset", sort=False):
            rows = rows.drop_duplicates("seed").astype({"k": int}).astype({"k": str})  # k is chosen, not measured
            place = {seed: position for position, seed in enumerate(rows["seed"])}
            best = [min(place.get(seed, len(rows) - 1) for seed in seeds) for seeds in drawn]
            for quantity in [*MEASURES, "matcher", "k"]:
                numbers[number, dataset + " FRAC" * (number == 4), quantity] = rows[quantity].to_numpy()[best]
    return numbers


def averaged(runs, drawn, copies):
    """Tables 1 and 5, likewise; ``copies`` (r, d) says how often each dataset counts."""
    runs = runs[runs["method"] == "Clusterlets"].reset_index(drop=True)
    rows_of = {key: rows.to_numpy() for key, rows in runs.groupby(["dataset", "seed"]).groups.items()}
    names, results = list(runs["dataset"].unique()), []
    for seeds, counts in zip(drawn, copies, strict=True):
        rows = [rows_of[name, seed] for name, count in zip(names, counts, strict=True) for _ in range(count) for seed in seeds]
        table = runs.take(np.concatenate(rows))
        groups = table.groupby("matcher")[MEASURES]
        frames = groups.mean(), groups.std(ddof=0).add_suffix("_std")
        of_c = table[table["matcher"] == "C"].rename(columns={"deviation_mean": "deviation"})
        values = {(1, row, name): value for frame in frames for (row, name), value in frame.stack().items()}
        for coefficient in COEFFICIENTS:
            matrix = of_c[["silhouette", "omega", "deviation"]].corr(coefficient)
            for x, y in (("silhouette", "omega"), ("silhouette", "deviation"), ("omega", "deviation")):
                values[5, f"{coefficient} {x} {y}", "value"] = matrix.loc[x, y]
        results.append(values)
    return {key: np.array([values[key] for values in results]) for key in results[0]}


def draws(runs, n_datasets):
    """The seeds (r, 10) of each repetition, and how often each dataset counts (r, d)."""
    seeds, n = np.unique(runs["seed"]), runs["dataset"].nunique()
    numbers = [np.random.SeedSequence(i).generate_state(10 + n_datasets - n).astype(int) for i in range(REPETITIONS)]
    copies = [1 + np.bincount(row[10:] % n, minlength=n) for row in numbers]
    return [seeds[row[:10] % len(seeds)] for row in numbers], copies


def judge(text, values):
    """The range of the values, and whether the printed text is inside."""
    if values.dtype == object:
        return None, None, (values == text).sum() >= REPETITIONS // 40
    values, half = np.sort(values), float(f"1e-{len(text.partition('.')[2])}") / 2
    low, high = round(values[REPETITIONS // 40] - half, 6), round(values[-1 - REPETITIONS // 40] + half, 6)
    return low, high, low <= float(text) <= high


cells = printed_cells()
for source, name in {"the code": "as_published", "the text": "runs"}.items():  # the text last: copies are made of its runs
    runs = pd.read_csv(REFERENCE / f"extended/{name}.csv.xz", float_precision="round_trip")  # a last bit may part a tie
    runs = runs.query("status == 'ok'").rename(columns={"n_clusters": "size"})
    rank = runs["matcher"].map(list(MATCHERS).index, na_action="ignore")
    runs = runs.assign(rank=rank, matcher=runs["matcher"].map(MATCHERS))
    seeds, copies = draws(runs, 11)
    numbers = selected(runs, seeds) | averaged(runs, seeds, copies)
    judged = {key: judge(text, numbers[key]) for key, text in cells.items() if key in numbers}
    for key, (low, high, inside) in judged.items():
        print("range", source, *key, low, high, "yes" if inside else "no", sep="|")
    for number in range(1, 6):
        inside = [is_inside for key, (*_, is_inside) in judged.items() if key[0] == number]
        print("share", number, source, len(inside), f"{np.mean(inside):.4f}", sep="|")
for fold in range(5) if "--copies" in sys.argv else ():
    of_copy, others = runs[runs["seed"] // 10 == fold], runs[runs["seed"] // 10 != fold]
    once = [np.unique(of_copy["seed"])], np.ones((1, runs["dataset"].nunique()), dtype=int)
    copy = selected(of_copy, once[0]) | averaged(of_copy, *once)
    found = selected(others, draws(others, 11)[0])
    shares = {number: [] for number in range(1, 6)}
    for left_out in runs["dataset"].unique():
        rest = others[others["dataset"] != left_out]
        for ours in (averaged(rest, *draws(rest, 10)), {} if shares[2] else found):
            for key, values in ours.items():
                if key in cells:
                    value, digits = copy[key][0], len(cells[key].partition(".")[2])
                    text = value if isinstance(value, str) else f"{value:.{digits}f}"
                    shares[key[0]].append(judge(text, values)[2])
    for number, inside in shares.items():
        print("share", number, f"a perfect copy, fold {fold}", len(inside), f"{np.mean(inside):.4f}", sep="|")
cheapest = read("field/leaderboard").query("kind == 'method' and outcome == 'keeps the limit'")
cheapest = cheapest[cheapest["price"] == cheapest.groupby(["limit", "dataset", "k"])["price"].transform("min")]
for (limit, method), n_cases in cheapest.groupby(["limit", "method"]).size().items():
    print(f"{limit:g}", method, n_cases, sep="\t")
for limit, first in read("field/leaderboard_overall").sort_values("place").groupby("limit").head(2).groupby("limit"):
    print(f"{limit:g}", first["method"].iloc[0], f"{100 * (first['price'].iloc[1] / first['price'].iloc[0] - 1):.2g}", sep="\t")
for (limit, method), cases in read("field/leaderboard").groupby(["limit", "method"]):
    print(f"{limit:g}", method, *cases["outcome"].value_counts(), 0, cases["failed"].sum(), sep="\t")
cpu = read("field/leaderboard_costs").groupby(["dataset", "k", "method"])["seconds"].mean().unstack()
cpu = cpu.div(cpu["fair-limit"], axis=0).agg(["median", "min", "max"]).T
for name, keys in (("leaderboard_overall", ["method"]), ("leaderboard_pairs", ["method", "other"])):
    for line in read(f"field/{name}").join(cpu, keys[-1]).to_dict("records"):
        numbers = [value for value in line.values() if isinstance(value, int | float) and pd.notna(value)]
        numbers += [1 / value for value in numbers if value]  # a page may show a pair the other way round
        forms = (f"{value:.0f}\t{value:.2f}\t{100 * value:.0f}" for value in numbers)
        print(f"{line['limit']:g}", *(line[key] for key in keys), *forms, sep="\t")
