"""Run the matchers of the authors' package on clusterlets from a file.

    authors/bin/python -I driver.py cases.json answers.json

The authors' package has the same import name as ours. So this script runs in an environment with clusterlets==0.0.3, and
exchanges files with compare.py. A case holds the clusterlets of one repetition. Its answer holds the clusters of each matcher,
as lists of clusterlet indices.
"""

import json
import sys
from collections.abc import Iterable, Mapping

import numpy as np
from clusterlets.extractors.matches.graph import BalancePbMatcher, DPbMatcher, GreedyBalanceMatcher, GreedyDPbMatcher

import clusterlets
from clusterlets import Clusterlet


def matchers(hops: int, shares: np.ndarray) -> dict:
    """Return the four matchers under our names. Greedy ones expect the number of clusterlets per cluster, which is hops + 1."""
    return {
        "D": DPbMatcher(hops),
        "B": BalancePbMatcher(hops, shares),
        "G-D": GreedyDPbMatcher(hops + 1),
        "G-B": GreedyBalanceMatcher(hops + 1, shares),
    }


def answer(case: Mapping) -> dict[str, list[list[int]] | str]:
    """Return the clusters of each matcher, or the error that it raised."""
    counts, centroids = np.array(case["counts"]), np.array(case["centroids"])
    shares = counts.sum(axis=0) / counts.sum()
    members = np.split(np.arange(counts.sum()), np.cumsum(counts.sum(axis=1))[:-1])  # numbers stand in for instances
    all_clusterlets = {Clusterlet(i, counts[i], centroids[i], members[i]) for i in range(len(counts))}

    def next_start(candidates: Iterable[Clusterlet]) -> Clusterlet:
        """Return the first candidate in the case's order. Our matchers use the same order, so only the rules can differ."""
        by_id = {clusterlet.id_: clusterlet for clusterlet in candidates}
        return next(by_id[id_] for id_ in case["starts"] if id_ in by_id)

    answers = {}
    for name, matcher in matchers(case["hops"], shares).items():
        matcher._sample_seed = next_start
        try:
            clusters = matcher.match(set(all_clusterlets), target_ratio=shares)
            answers[name] = sorted(sorted(int(clusterlet.id_) for clusterlet in cluster) for cluster in clusters)
        except Exception as error:
            answers[name] = repr(error)
    return answers


def main(cases_path: str, answers_path: str) -> None:
    assert "site-packages" in clusterlets.__file__, f"{clusterlets.__file__} is not the authors' package; run python with -I"
    with open(cases_path, encoding="utf-8") as file:
        cases = json.load(file)
    with open(answers_path, "w", encoding="utf-8") as file:
        json.dump([answer(case) for case in cases], file)


if __name__ == "__main__":
    main(*sys.argv[1:])
