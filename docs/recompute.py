"""Compute what docs/reproduction.md and docs/field.md show again, from the files in reference/ and the printed tables alone.

Lines with "range" have a source (the text, or the published code), a cell of the paper's tables, the low and the high end of
our range, and whether the paper is inside. Lines with "share" have a table, a source, and the share of the paper inside; with
--copies, also those of copies of the paper. The other lines are about the leaderboard: a limit, a method (or two),
and numbers as pages show them. Needs only pandas."""

import itertools
import sys
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
REFERENCE, REPORTED = ROOT / "reference", ROOT / "clusterlets/benchmark/paper/reported"
MATCHERS = {"C": "C", "G-B": "G-B", "D": "D-PB", "B": "B-PB", "G-D": "G-D-PB"}
MEASURES = ["deviation_mean", "deviation_std", "deviation_max", "size", "cohesion", "overlap"]
COLUMNS = ["dataset", "method", "matcher", "k", "hops", "seed", "omega", "status", "silhouette", "n_clusters", *MEASURES]
READING, REPETITIONS = {"usecols": COLUMNS.__contains__, "float_precision": "round_trip"}, 200  # a last bit may part a tie


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
    """The best run of each dataset and seed among those that may enter a table of single runs, the best first."""
    runs = runs[(runs["size"] >= 3) & (runs["overlap"] < 0.5)]
    first = -runs[by] if by == "cohesion" else runs[by]
    keys = [first, runs["deviation_max"], -runs["cohesion"], *(runs[name] for name in ["k", "hops", "seed", "omega", "rank"])]
    runs = runs.iloc[np.lexsort([key.to_numpy(float).round(12) for key in keys[::-1]])].drop_duplicates(["dataset", "seed"])
    return runs.astype({"k": int}).astype({"k": str})  # k is chosen, not measured


def selected(runs, drawn):
    """Tables 2 to 4, for each row of drawn seeds (r, 10): (table, row, quantity) -> r values."""
    numbers, rival = {}, (4, "deviation_mean", "FRAC (nearest)")
    for number, by, method in ((2, "deviation_mean", "Clusterlets"), (3, "cohesion", "Clusterlets"), rival):
        for dataset, rows in winners(runs[runs["method"] == method], by).groupby("dataset", sort=False):
            place = {seed: position for position, seed in enumerate(rows["seed"])}
            best = [min(place.get(seed, len(rows) - 1) for seed in seeds) for seeds in drawn]
            for quantity in [*MEASURES, "matcher", "k"]:
                numbers[number, dataset + " FRAC" * (number == 4), quantity] = rows[quantity].to_numpy()[best]
    return numbers


def summed(runs):
    """Of each cell, a dataset and a seed: the measures, and C's runs. Of each two: how often columns order C's runs alike."""
    runs = runs[runs["method"] == "Clusterlets"].sort_values(["cell", "matcher"])
    values = runs[MEASURES].to_numpy().reshape(runs["cell"].nunique(), len(MATCHERS), -1, len(MEASURES))
    of_c = runs.loc[runs["matcher"] == "C", ["silhouette", "omega", "deviation_mean"]].T
    places = of_c.rank(axis=1, method="dense").to_numpy(np.int16).reshape(3, len(values), -1)
    signs = (np.sign(places[:, cell, :, None, None] - places[:, None]) for cell in range(len(values)))
    alike = np.array([np.einsum("xick,yick->cxy", sign, sign) for sign in signs], dtype=float)
    return values, of_c.to_numpy().reshape(places.shape), alike


def averaged(values, of_c, alike, cells):
    """Tables 1 and 5, likewise, from ``summed``, for each row of cells."""
    counts = np.array([np.bincount(row, minlength=len(values)) for row in cells], dtype=float)
    mean, square = (np.tensordot(counts, (values**power).mean(axis=2), 1) / cells.shape[1] for power in (1, 2))
    frames = {"": mean, "_std": np.sqrt(np.maximum(square - mean**2, 0))}
    labels = list(itertools.product(enumerate(sorted(MATCHERS.values())), enumerate(MEASURES), frames))
    numbers = {(1, row, name + end): frames[end][:, i, j] for (i, row), (j, name), end in labels}
    columns = of_c[:, cells].reshape(3, len(cells), -1).swapaxes(0, 1)
    ranks = pd.DataFrame(columns.reshape(-1, columns.shape[2])).rank(axis=1).to_numpy().reshape(columns.shape)
    products = {name: np.array(list(map(np.cov, table))) for name, table in (("pearson", columns), ("spearman", ranks))}
    products["kendall"] = np.einsum("rc,cdxy,rd->rxy", counts, alike, counts, optimize=True)
    for (x, first), (y, second) in itertools.combinations(enumerate(["silhouette", "omega", "deviation"]), 2):
        for name, of in products.items():
            numbers[5, f"{name} {first} {second}", "value"] = of[:, x, y] / np.sqrt(of[:, x, x] * of[:, y, y])
    return numbers


def draws(runs, n_datasets):
    """The seeds (r, 10) of each repetition, and its cells: these seeds of each dataset, and of some once more."""
    grid = runs.pivot_table("cell", "dataset", "seed", "first", sort=False)
    states = [np.random.SeedSequence(i).generate_state(10 + n_datasets - len(grid)) for i in range(REPETITIONS)]
    places = [([*range(len(grid)), *row[10:] % len(grid)], row[:10] % grid.shape[1]) for row in states]
    return [grid.columns[row] for _, row in places], np.array([grid.to_numpy()[np.ix_(*both)].ravel() for both in places])


def judge(text, values):
    """The range of the values, and whether the printed text is inside."""
    if values.dtype == object:
        return None, None, (values == text).sum() >= REPETITIONS // 40
    values, half = np.sort(values), float(f"1e-{len(text.partition('.')[2])}") / 2
    low, high = round(values[REPETITIONS // 40] - half, 6), round(values[-1 - REPETITIONS // 40] + half, 6)
    return low, high, low <= float(text) <= high


cells = printed_cells()
for source, name in {"the code": "as_published", "the text": "runs"}.items():  # the text last: copies are made of its runs
    runs = pd.read_csv(REFERENCE / f"extended/{name}.csv.xz", **READING).query("status == 'ok'")
    rank, cell = runs["matcher"].map(list(MATCHERS).index, na_action="ignore"), runs.groupby(["dataset", "seed"]).ngroup()
    runs = runs.assign(rank=rank, cell=cell, matcher=runs["matcher"].map(MATCHERS), size=runs["n_clusters"])
    sums, (seeds, of_draws) = summed(runs), draws(runs, 11)
    numbers = selected(runs, seeds) | averaged(*sums, of_draws)
    judged = {key: judge(text, numbers[key]) for key, text in cells.items() if key in numbers}
    for key, (low, high, inside) in judged.items():
        print("range", source, *key, low, high, "yes" if inside else "no", sep="|")
    for number in range(1, 6):
        inside = [is_inside for key, (*_, is_inside) in judged.items() if key[0] == number]
        print("share", number, source, len(inside), f"{np.mean(inside):.4f}", sep="|")
for fold in range(5) if "--copies" in sys.argv else ():
    of_copy, others = runs[runs["seed"] // 10 == fold], runs[runs["seed"] // 10 != fold]
    copy = selected(of_copy, [np.unique(of_copy["seed"])]) | averaged(*sums, np.unique(of_copy["cell"])[None])
    shares = {number: [] for number in range(1, 6)}
    for rest in (others[others["dataset"] != left_out] for left_out in runs["dataset"].unique()):
        for ours in (averaged(*sums, draws(rest, 10)[1]), {} if shares[2] else selected(others, draws(others, 11)[0])):
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
