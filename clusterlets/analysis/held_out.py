"""Clusterlets compared with FRAC and the controls, with no advantage from luck or from more configurations to choose from.

Table 4 compares the best of a thousand runs of Clusterlets with the best of fifty runs of FRAC. Here, configurations are chosen
on some seeds and scored on others. In place of each method's best run, the expected best of equally many is compared.
"""

from collections.abc import Iterator, Sequence
from math import comb, fsum

import pandas as pd

from clusterlets.analysis import selection
from clusterlets.grid.variants import SEEDS_OF_PAPER
from clusterlets.text import counted

COLUMNS = [
    *("dataset", "method", "matcher", "k", "parameters", "deviation_chosen", "deviation_held_out"),
    *("configurations", "drawn", "best_run", "expected_best"),
]
#: In place of a dataset: means over the datasets on which every method has every number.
ALL = "all"
_AVERAGED_COLUMNS = ["deviation_chosen", "deviation_held_out", "best_run", "expected_best"]
_KEYS = ["dataset", "method"]
# Configurations are chosen on the first half of the paper's ten seeds.
_N_CHOOSING_SEEDS = SEEDS_OF_PAPER // 2


def by_dataset(runs: pd.DataFrame) -> pd.DataFrame:
    """One row for each dataset and method of table 4, and for the controls: ``statistics/held_out.csv``, :data:`COLUMNS`.

    ``runs`` are as in ``runs.csv``; only the first ten seeds are used. Each row names the configuration with the least mean
    deviation over seeds 0 to 4. Limit cases, judged by their means over these seeds, are left out. ``deviation_chosen`` is
    this least mean, and ``deviation_held_out`` the mean deviation of the same configuration over seeds 5 to 9.

    ``best_run`` is the mean deviation of the best single run, as in table 4, and ``configurations`` is the number of
    configurations with a run that is not a limit case. ``drawn`` is the smallest ``configurations`` of any method on the
    dataset. If this many configurations of each method are drawn at random, ``expected_best`` is the expected deviation of
    the best run among them. The rows of :data:`ALL` come last. O(n log n) for n runs.
    """
    runs = selection.seeds_of_paper(selection.ok(runs[runs["method"].isin(selection.METHODS)]))
    methods = selection.in_order(runs["method"], selection.METHODS)
    rows = runs[_KEYS].drop_duplicates().merge(_scored_on_held_out_seeds(runs), on=_KEYS, how="left")
    rows = rows.merge(_best_of_equally_many(runs), on=_KEYS, how="left")
    rows["matcher"] = selection.paper_names(rows["matcher"])
    ordered = rows.sort_values(_KEYS, key=lambda column: column if column.name == "dataset" else column.map(methods.index))
    integers = dict.fromkeys(["k", "configurations", "drawn"], "Int64")
    return pd.DataFrame([*ordered.to_dict("records"), *_means(rows, methods)], columns=COLUMNS).astype(integers)


def expected_minimum(values: Sequence[float], n_drawn: int) -> float:
    """The expected minimum of ``n_drawn`` of the values, drawn at random without replacement. O(n log n).

    The i-th smallest of n values is the minimum of m drawn ones in C(n - i, m - 1) of C(n, m) draws.
    """
    draws = [comb(n_larger, n_drawn - 1) for n_larger in reversed(range(len(values)))]
    return fsum(value * (count / comb(len(values), n_drawn)) for value, count in zip(sorted(values), draws, strict=True))


def _scored_on_held_out_seeds(runs: pd.DataFrame) -> pd.DataFrame:
    """Each dataset and method's best configuration on the first seeds, with its mean deviation on these and on the rest."""
    is_choosing_seed = runs["seed"] < _N_CHOOSING_SEEDS
    means = selection.without_limit_cases(selection.configuration_means(runs[is_choosing_seed]))
    best = selection.best(means, "deviation_mean", _KEYS)[[*selection.CONFIGURATION, "deviation_mean"]]
    held_out = selection.configuration_means(runs[~is_choosing_seed])[[*selection.CONFIGURATION, "deviation_mean"]]
    held_out = held_out.astype(best.dtypes)  # an empty frame has other dtypes
    merged = best.merge(held_out, on=selection.CONFIGURATION, how="left", suffixes=("_chosen", "_held_out"))
    renamed = {f"deviation_mean_{suffix}": f"deviation_{suffix}" for suffix in ("chosen", "held_out")}
    return merged.rename(columns=renamed)[[*_KEYS, "matcher", "k", "parameters", *renamed.values()]]


def _best_of_equally_many(runs: pd.DataFrame) -> pd.DataFrame:
    """For each dataset and method, the best run, and the expected best of equally many configurations of each method."""
    best = selection.best(selection.without_limit_cases(runs), "deviation_mean", selection.CONFIGURATION)
    groups = best.groupby(_KEYS)["deviation_mean"]
    rows = groups.agg(configurations="size", best_run="min", values=list).reset_index()
    rows["drawn"] = rows.groupby("dataset")["configurations"].transform("min")
    rows["expected_best"] = [
        expected_minimum(values, n_drawn) for values, n_drawn in zip(rows["values"], rows["drawn"], strict=True)
    ]
    return rows.drop(columns="values")


def _means(rows: pd.DataFrame, methods: list[str]) -> Iterator[dict]:
    """One row per method: means over the datasets on which every method has every number."""
    groups = rows.dropna(subset=_AVERAGED_COLUMNS).groupby("dataset")
    complete = groups.filter(lambda rows_of_dataset: len(rows_of_dataset) == len(methods))
    for method in methods if len(complete) else []:
        yield {"dataset": ALL, "method": method, **complete.loc[complete["method"] == method, _AVERAGED_COLUMNS].mean()}


# ---- in words --------------------------------------------------------------------------------------------------------


def to_markdown(held_out: pd.DataFrame) -> str:
    """A sentence on configurations scored on held-out seeds, and one on the best of equally many configurations."""
    rows = held_out[held_out["dataset"] == ALL].to_dict("records")
    title = "## Held-out seeds, and the best of equally many configurations\n"
    if not rows:
        return f"{title}\nNot computed: no dataset has eligible runs of every method.\n"
    complete = held_out[held_out["dataset"] != ALL].dropna(subset=_AVERAGED_COLUMNS)["dataset"].value_counts() == len(rows)
    drawn = sorted({int(number) for number in held_out["drawn"].dropna()})
    lines = [
        f"Configurations chosen on seeds 0 to {_N_CHOOSING_SEEDS - 1}, scored on seeds {_N_CHOOSING_SEEDS} to "
        f"{SEEDS_OF_PAPER - 1}: the mean deviation over {counted(int(complete.sum()), 'dataset')} is "
        f"{_list_methods(rows, 'deviation_held_out')}.",
        f"The best single run, as in table 4: {_list_methods(rows, 'best_run')}. The expected best run, if "
        f"{' or '.join(map(str, drawn))} configurations of each method are drawn at random, as many as the method with the "
        f"fewest configurations has on the dataset: {_list_methods(rows, 'expected_best')}.",
    ]
    return "\n".join([title, *(f"- {line}" for line in lines), ""])


def _list_methods(rows: list[dict], column: str) -> str:
    return ", ".join(f"{row[column]:.4f} ({row['method']})" for row in rows)
