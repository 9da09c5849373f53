"""Compare our variants of the authors' published matchers with their package (clusterlets 0.0.3, GPL-3).

    make authors        or, with an environment that holds the package:
    python benchmarks/authors/compare.py --peer .venv/authors/bin/python --results results

Both run on the stored clusterlets of a finished grid, for tables of two groups. ``authors/equal_runs.csv`` in the folder of
results counts how often they find the same clusters, for each dataset, matcher and number of hops. G-D may differ from three
hops on, because a centre then depends on the order of a Python set.
"""

import argparse
import json
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.matching import published
from clusterlets.benchmark.grid.artifacts import SeedBatch
from clusterlets.supervision.statuses import OK

DRIVER = Path(__file__).with_name("driver.py")
HOPS = (1, 2, 3, 4)


class FixedPermutation:
    """A stand-in for a random generator: its permutation is always the given order of starts."""

    def __init__(self, order: np.ndarray) -> None:
        self.order = order

    def permutation(self, _: int) -> np.ndarray:
        return self.order


def stored_clusterlets(results: Path) -> Iterator[tuple[str, int, str, Clusterlets]]:
    """Yield the dataset, k, seed and clusterlets of each stored repetition, for tables with two groups."""
    for path in sorted(results.glob("pieces/*/clusterlets/k*/seeds*.npz")):
        batch = SeedBatch.load(str(path))
        for seed, arrays in batch.values.items() if batch.status == OK else ():
            clusterlets = Clusterlets.from_pieces(**arrays)
            if clusterlets.counts.shape[1] == 2:
                yield path.parts[-4], int(re.sub(r"\D", "", path.parts[-2])), seed, clusterlets


def our_clusters(clusterlets: Clusterlets, hops: int, starts: np.ndarray) -> dict[str, list[list[int]]]:
    memberships = {
        "D": published.match_distance(clusterlets, hops),
        "B": published.match_balance(clusterlets, hops),
        "G-D": published.match_greedy_distance(clusterlets, hops, FixedPermutation(starts)),
        "G-B": published.match_greedy_balance(clusterlets, hops, FixedPermutation(starts)),
    }
    return {name: sorted(np.flatnonzero(row).tolist() for row in matrix) for name, matrix in memberships.items()}


def compare(results: Path, peer: str) -> pd.DataFrame:
    """Count repetitions, equal clusters, and failures of the package, by dataset, matcher and hops."""
    cases, our_answers, keys = [], [], []
    for dataset, k, seed, clusterlets in stored_clusterlets(results):
        starts = np.random.default_rng([k, int(seed)]).permutation(len(clusterlets))
        arrays = {"counts": clusterlets.counts.tolist(), "centroids": clusterlets.centroids.tolist(), "starts": starts.tolist()}
        for hops in HOPS:
            cases.append({**arrays, "hops": hops})
            our_answers.append(our_clusters(clusterlets, hops, starts))
            keys.append((dataset, hops))
    with tempfile.TemporaryDirectory() as folder:
        cases_path, answers_path = Path(folder, "cases.json"), Path(folder, "answers.json")
        cases_path.write_text(json.dumps(cases))
        subprocess.run([peer, "-I", DRIVER, cases_path, answers_path], check=True)
        their_answers = json.loads(answers_path.read_text())
    rows = [
        {
            "dataset": dataset,
            "matcher": name,
            "hops": hops,
            "equal": clusters == their_answer[name],
            "failed": isinstance(their_answer[name], str),  # an error message in place of clusters
        }
        for (dataset, hops), our_answer, their_answer in zip(keys, our_answers, their_answers, strict=True)
        for name, clusters in our_answer.items()
    ]
    grouped = pd.DataFrame(rows).groupby(["dataset", "matcher", "hops"])
    return grouped.agg(runs=("equal", "size"), equal=("equal", "sum"), failed=("failed", "sum")).reset_index()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True, help="the python of an environment that holds the authors' package")
    parser.add_argument("--results", type=Path, default=Path("results"), help="results of a finished grid")
    arguments = parser.parse_args()
    counts = compare(arguments.results, arguments.peer)
    folder = arguments.results / "authors"
    folder.mkdir(exist_ok=True)
    counts.to_csv(folder / "equal_runs.csv", index=False)
    print(counts.groupby(["matcher", "hops"])[["runs", "equal", "failed"]].sum().to_string())


if __name__ == "__main__":
    main()
