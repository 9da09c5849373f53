"""Fit another library once, in an environment without this project. bench_libraries.py starts this script.

    python libraries_driver.py ENTRY TABLE.npz K RESULT.json

TABLE has the members X and groups. RESULT holds the library's version, and either the labels and the CPU seconds (without
imports) or the reason why the fit failed.
"""

import json
import os
import pkgutil
import sys
import time
import warnings
from importlib import import_module
from importlib.metadata import version

for pool in ("OPENBLAS", "OMP", "MKL", "NUMBA"):
    os.environ[f"{pool}_NUM_THREADS"] = "1"

import numpy as np

warnings.simplefilter("ignore")


def kmeans(X, groups, k):
    from sklearn.cluster import KMeans

    return lambda: KMeans(k, n_init=10, random_state=0).fit(X).labels_


def fair_kmeans(X, groups, k):
    from fair_kmeans import FairKMeans

    return lambda: FairKMeans(k, random_state=0).fit(X, color=groups.tolist()).labels_


def holistic(name, **settings):
    def prepare(X, groups, k):
        if groups.max() > 1:
            raise ValueError("fit takes two groups, group_a and group_b")
        estimator = getattr(import_module("holisticai.bias.mitigation"), name)(n_clusters=k, seed=0, **settings)
        return lambda: np.asarray(estimator.fit(X, groups == 0, groups == 1).labels_)

    return prepare


def fair_centres(X, groups, k):
    if groups.max() > 1:
        raise ValueError("fit takes two groups, group_a and group_b")
    from holisticai.bias.mitigation import FairKCenterClustering

    n_first = round(k * float((groups == 0).mean()))  # the method fixes how many centres come from each group
    settings = {"req_nr_per_group": [n_first, k - n_first], "nr_initially_given": 0, "seed": 0}
    estimator = FairKCenterClustering(**settings)

    def fit():
        estimator.fit(X, groups == 0, groups == 1)
        return estimator.labels_

    return fit


def clusterers(package):
    """Return an entry that fits nothing: it raises an error, which lists the package's classes for clustering.

    These are the subclasses of scikit-learn's ClusterMixin, and the classes with "cluster" in their name.
    """

    def prepare(X, groups, k):
        from sklearn.base import ClusterMixin

        root, names, n_failed = import_module(package), set(), 0
        for module in pkgutil.walk_packages(root.__path__, f"{package}.", onerror=lambda name: None):
            try:
                members = vars(import_module(module.name)).values()
            except Exception:
                n_failed += 1
                continue
            classes = [member for member in members if isinstance(member, type) and member.__module__.startswith(package)]
            names |= {cls.__name__ for cls in classes if issubclass(cls, ClusterMixin) or "cluster" in cls.__name__.lower()}
        raise ValueError(
            f"classes that cluster: {', '.join(sorted(names)) or 'none'} (modules that need more libraries: {n_failed})"
        )

    return prepare


ENTRIES = {
    "scikit-learn KMeans": kmeans,
    "fair-kmeans FairKMeans": fair_kmeans,
    "holisticai FairletClustering": holistic("FairletClustering"),
    "holisticai FairletClustering, Scalable": holistic("FairletClustering", decomposition="Scalable"),
    # The tables are already standardised. By default, this class would also scale every row to length 1.
    "holisticai VariationalFairClustering": holistic("VariationalFairClustering", normalize_input=False),
    "holisticai VariationalFairClustering, lmbda=20": holistic("VariationalFairClustering", normalize_input=False, lmbda=20),
    "holisticai FairKMedianClustering": holistic("FairKMedianClustering"),
    "holisticai FairKCenterClustering": fair_centres,
    "fairlearn": clusterers("fairlearn"),
    "aif360": clusterers("aif360"),
}


def main(entry, table, k, result):
    arrays = np.load(table)
    answer = {"version": version(entry.split()[0])}
    try:
        action = ENTRIES[entry](np.ascontiguousarray(arrays["X"]), arrays["groups"], int(k))
        start = time.process_time()
        labels = np.asarray(action())
        answer |= {"seconds": time.process_time() - start, "labels": labels.tolist()}
    except Exception as error:
        answer["reason"] = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    with open(result, "w", encoding="utf-8") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
