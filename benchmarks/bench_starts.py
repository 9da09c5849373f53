"""How many starts of each rival take as long as fair-limit, in every case of the field: the starts in field.yaml.

.venv/bin/python benchmarks/bench_starts.py --prepared results/field/prepared

Prints a line for each method, to be copied into workflow/configs/field.yaml.
"""

import argparse
import json
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from clusterlets import methods
from clusterlets.algorithms.geometry import load_kernels
from clusterlets.benchmark.analysis.leaderboard import OURS
from clusterlets.benchmark.grid.artifacts import Prepared
from clusterlets.benchmark.grid.configuration import CONFIGURATION, read_configuration
from clusterlets.errors import ClusterletsError
from clusterlets.parameter_text import combinations

FIELD = CONFIGURATION.parent / "workflow/configs/field.yaml"
MOST_STARTS, SEVERAL = 128, 9  # the second is the number of starts by which the cost of one more is measured


def seconds(name: str, table: Prepared, k: int, rungs: list[dict], n_starts: int) -> float:
    """Mean CPU seconds of a fit over the rungs; NaN if none gives a clustering."""
    method, times = methods.get(name), []
    columns = dict(enumerate(zip(*table.group_values, strict=True)))
    for rung in rungs:
        own = {"n_init": n_starts} if method.makes_its_own_starts() else {}
        streams = [np.random.default_rng([0, start]) for start in range(1 if own else n_starts)]
        begin = time.process_time()
        with suppress(ClusterletsError):
            methods.fit(method, table.X, table.groups, k, streams, rung | own, columns)
            times.append(time.process_time() - begin)
    return float(np.mean(times)) if times else np.nan


def starts_for(target: float, name: str, table: Prepared, k: int, rungs: list[dict]) -> int:
    """The number of starts whose CPU time is nearest to the target."""
    one = seconds(name, table, k, rungs, 1)
    if np.isnan(one) or one >= target:
        return 1
    slope = one
    if methods.get(name).makes_its_own_starts():  # one more costs less than the first
        slope = max((seconds(name, table, k, rungs, SEVERAL) - one) / (SEVERAL - 1), 1e-6)
    return int(np.clip(round(1 + (target - one) / slope), 1, MOST_STARTS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prepared", type=Path, default=Path("results/field/prepared"), help="folder of prepared tables")
    parser.add_argument("--rungs", type=int, default=2, help="rungs of each rival to measure")
    options = parser.parse_args()
    config = read_configuration(FIELD)
    load_kernels()
    rungs = {name: list(combinations(entry["parameters"])) for name, entry in config["method_settings"].items()}
    rivals = [name for name, entry in config["method_settings"].items() if isinstance(entry["starts"], dict)]
    starts: dict[str, dict[str, list[int]]] = {name: {} for name in rivals}
    for dataset in config["datasets"]:
        table = Prepared.load(str(options.prepared / f"{dataset}.npz"))
        for k in config["k"]:
            target = seconds(OURS, table, k, rungs[OURS], 1)
            for name in rivals:
                middle = rungs[name][(len(rungs[name]) - options.rungs + 1) // 2 :][: options.rungs]
                method = methods.get(name)()
                fits = not method.unsupported(len(table.X), len(table.group_values))
                starts[name].setdefault(dataset, []).append(starts_for(target, name, table, k, middle) if fits else 1)
            print(
                f"# {dataset} {k}: {target:.2f} s; {', '.join(f'{name} {starts[name][dataset][-1]}' for name in rivals)}",
                flush=True,
            )
    for name in rivals:
        print(f"{name}: {json.dumps(starts[name])}".replace('"', ""))


if __name__ == "__main__":
    main()
