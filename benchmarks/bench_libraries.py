"""Compare other libraries for fair clustering on three cases: seconds, largest deviation, sizes and price.

    python benchmarks/bench_libraries.py --prepared results/field/prepared --environments .venv/libraries

A case is a table with a number of clusters. Each library gets a virtual environment, which is made if it is missing
(holisticai is large). Settings are the libraries' defaults, except for those in libraries_driver.py. Tables are standardised.
Seconds are CPU seconds of one fit without imports. The price is the sum of squared errors divided by the least one of fifty
starts of plain k-means.
"""

import argparse
import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from measuring import cpu_seconds, prepared, standardised  # isort: skip; before numpy, whose threads it limits

import numpy as np
import pandas as pd

from clusterlets import methods
from clusterlets.algorithms.geometry import moments_by_label
from clusterlets.algorithms.plain_costs import least_plain_cost
from clusterlets.metrics.composition import deviation_per_cluster

DRIVER = Path(__file__).with_name("libraries_driver.py")
CASES = (("adult.sex", 5), ("credit", 10), ("compas.race", 5))
# For each library: what to install, and what follows the library's name in its entries of libraries_driver.py.
LIBRARIES = {
    "scikit-learn": ("scikit-learn", [" KMeans"]),
    "fair-kmeans": ("fair-kmeans", [" FairKMeans"]),
    "holisticai": (
        "holisticai[bias] numpy<2.4",  # FairletClustering fails with numpy 2.4
        [
            " FairletClustering",
            " FairletClustering, Scalable",
            " VariationalFairClustering",
            " VariationalFairClustering, lmbda=20",
            " FairKMedianClustering",
            " FairKCenterClustering",
        ],
    ),
    "fairlearn": ("fairlearn", [""]),
    "aif360": ("aif360", [""]),
}


def python_of(environments: Path, library: str) -> Path:
    """Return the interpreter of a library's environment. If there is no environment, create it and install the library."""
    folder = environments / library
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *LIBRARIES[library][0].split()], check=True)
    return python


def fit_elsewhere(python: Path, entry: str, table: Path, k: int, seconds: int, memory_mb: int) -> dict:
    """Fit in the library's environment. Return the driver's answer, or the reason why there is none."""

    def set_limits() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_DATA, (memory_mb * 2**20,) * 2)

    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        command = [python, "-P", DRIVER, entry, table, str(k), answer]
        process = subprocess.run(command, preexec_fn=set_limits, capture_output=True, text=True, cwd=folder)
        if answer.exists():
            return json.loads(answer.read_text(encoding="utf-8"))
    if process.returncode == -signal.SIGXCPU:
        return {"reason": f"stopped after {seconds} s"}
    error = (process.stderr.strip().splitlines() or [""])[-1]
    return {"reason": f"status {process.returncode}: {error[:150]}"}


def fit_fair_limit(X: np.ndarray, groups: np.ndarray, k: int) -> dict:
    method, labels = methods.get("fair-limit")(), []

    def fit() -> None:
        labels.append(method.fit(X, groups, k, np.random.default_rng(0), max_deviation=0.02))

    fit()  # compiles fair-limit
    return {"version": "", "seconds": cpu_seconds(fit, runs=1), "labels": labels[-1].tolist()}


def table_row(answer: dict, X: np.ndarray, groups: np.ndarray, k: int) -> dict:
    """Return the measured columns of a row: seconds, sizes, deviation and price, or a note on why there are none."""
    if "labels" not in answer:
        return {"seconds": "", "clusters": "", "smallest": "", "deviation": "", "price": "", "note": answer["reason"]}
    _, labels = np.unique(answer["labels"], return_inverse=True)
    composition = np.zeros((labels.max() + 1, groups.max() + 1), dtype=np.int64)
    np.add.at(composition, (labels, groups), 1)
    cost = moments_by_label(X, labels, len(composition))[1].sum()
    return {
        "seconds": f"{answer['seconds']:.2f}",
        "clusters": len(composition),
        "smallest": int(composition.sum(axis=1).min()),
        "deviation": f"{deviation_per_cluster(composition, np.bincount(groups)).max():.3f}",
        "price": f"{cost / least_plain_cost(X, k):.3f}",
        "note": "",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prepared", type=Path, default=Path("results/field/prepared"))
    parser.add_argument("--environments", type=Path, default=Path(".venv/libraries"))
    parser.add_argument("--seconds", type=int, default=120, help="budget of CPU seconds of a fit, imports included")
    parser.add_argument("--memory", type=int, default=8000, help="budget of megabytes of a fit")
    parser.add_argument("--cases", nargs="*", default=[name for name, _ in CASES])
    options = parser.parse_args()
    rows = []
    for dataset, k in (case for case in CASES if case[0] in options.cases):
        X, groups = prepared(dataset, options.prepared)
        X = standardised(X)
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table.npz"
            np.savez(table, X=X, groups=groups)
            for library, (_, entries) in LIBRARIES.items():
                python = python_of(options.environments, library)
                for entry in entries:
                    start = time.monotonic()
                    answer = fit_elsewhere(python, library + entry, table, k, options.seconds, options.memory)
                    rows.append({"case": f"{dataset}, k = {k}", "entry": library + entry, "version": answer.get("version", "")})
                    rows[-1] |= table_row(answer, X, groups, k)
                    print(f"{dataset} {library + entry}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
        rows.append({"case": f"{dataset}, k = {k}", "entry": "FairLimit, max_deviation=0.02", "version": ""})
        rows[-1] |= table_row(fit_fair_limit(X, groups, k), X, groups, k)
    print(pd.DataFrame(rows).to_csv(sep="|", index=False))


if __name__ == "__main__":
    main()
