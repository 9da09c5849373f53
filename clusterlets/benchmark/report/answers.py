"""Questions about the paper and the methods, answered from the results; the summary; and a glossary."""

from collections.abc import Iterable, Mapping

import pandas as pd

from clusterlets.benchmark.analysis import selection, statistics
from clusterlets.benchmark.analysis.leaderboard import METHOD
from clusterlets.benchmark.paper import overview, reported
from clusterlets.benchmark.paper.claims import HOLDS, INCONCLUSIVE, OWN, describe_counts, joint_verdicts
from clusterlets.benchmark.paper.results import Results
from clusterlets.benchmark.report import SHOWN_LIMIT
from clusterlets.benchmark.report.standings import Standings, describe_limit, leading_matcher
from clusterlets.metrics.all_scores import SCORES
from clusterlets.text import aligned, counted, decimal

# The outputs of FRAC that Clusterlets is compared with, and their description in a sentence.
_RIVALS = {
    "FRAC (nearest)": "FRAC as the paper scored it (every instance to its nearest centre)",
    "FRAC (fair)": "FRAC as defined (its fair assignment)",
}

_MEANINGS = {score.name: f"{score.explanation} [{score.values}]" for score in SCORES}
#: What the scores in the answers mean, by column of runs.csv.
GLOSSARY = {
    name: _MEANINGS[name] for name in ("deviation_mean", "deviation_max", "balance", "cohesion", "overlap", "price_of_fairness")
}
#: What the other scores mean.
FURTHER_GLOSSARY = {name: meaning for name, meaning in _MEANINGS.items() if name not in GLOSSARY}


def answers(results: Results, standings: Standings) -> list[tuple[str, str, str]]:
    """Questions and answers: about the paper if any of its datasets was run, otherwise about the methods.

    Each entry is a question, an answer in one sentence, and the numbers behind the answer, which may be empty.
    """
    if results.has_paper_data:
        subjects = "matchers"
        questions = {
            "Does the paper hold": _whether_paper_holds,
            "Fairer than FRAC": _fairer_than_frac,
            "Its claims": _whether_claims_hold,
            "Its fairest matcher": _fairest_matcher,
        }
    else:
        subjects, questions = "methods", {"Fairest method": _fairest_method}
    questions |= {
        "Fairer than a random partition": _fairer_than_random,
        f"Do the {subjects} differ": _whether_methods_differ,
    }
    entries = [(question, *answer(results)) for question, answer in questions.items()]
    most_reliable = _most_reliable_methods(standings)
    return [*entries, (f"Most reliable {describe_limit(SHOWN_LIMIT)}", most_reliable, "")] if most_reliable else entries


def summary(results: Results, answers: Iterable[tuple[str, str, str]], report: str) -> str:
    """The text of ``results/summary.txt``: the paper beside ours, the answers, the runs behind them, and the report's path."""
    lines = [f"{question}: {answer} {numbers}".rstrip() for question, answer, numbers in answers]
    table1 = overview.table1(results.comparison)
    shares = overview.share_table(results.shares)
    blocks = []
    if len(table1):
        blocks.append(["Table 1, means over all runs:", *aligned(table1), overview.MARK_MEANS])
    if len(shares):
        blocks.append(["Numbers inside the range that 95 % of our repetitions of ten seeds give:", *aligned(shares)])
    blocks += [lines, [f"{basis_sentence(results)} Report: {report}"]]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def basis_sentence(results: Results) -> str:
    """How many runs have a result, and how many have none."""
    counts = results.runs["status"].value_counts().sort_index()
    left_out = ", ".join(f"{count:,} {status}" for status, count in counts.drop("ok", errors="ignore").items())
    return (
        f"This rests on {counted(counts.get('ok', 0), 'run')} on {_dataset_text(len(results.datasets))} "
        f"({', '.join(results.datasets) or 'none'}); left out for their status: {left_out or 'none'}."
    )


def _whether_paper_holds(results: Results) -> tuple[str, str]:
    sentences = overview.sentences(results.comparison, results.shares)
    return (" ".join(sentences), "") if sentences else ("unknown, as no number can be compared.", "")


def _whether_claims_hold(results: Results) -> tuple[str, str]:
    verdicts = joint_verdicts(results.claims)
    our_counts, stricter_counts, paper_counts = (describe_counts(verdicts[side]) for side in ("ours", "stricter", "paper"))
    if (verdicts["ours"] == INCONCLUSIVE).all():
        our_counts, stricter_counts = "all are inconclusive, because these runs lack what the statements are about", "the same"
    numbers = f"Against FRAC as it is defined, {stricter_counts}. By the paper's own numbers, {paper_counts}."
    return f"of {len(verdicts)} statements, {our_counts}.", " ".join([numbers, *_what_controls_satisfy(results, verdicts)])


def _what_controls_satisfy(results: Results, verdicts: pd.DataFrame) -> list[str]:
    """How many of the statements that hold can be tested on a control, and how many of these a control satisfies."""
    held = verdicts.loc[verdicts["ours"] == HOLDS, "statement"]
    rows = results.claims[results.claims["statement"].isin(held) & (results.claims["comparison"] == OWN)]
    tested = rows.dropna(subset="controls").query("controls != ''").groupby("statement")["controls"]
    if not len(tested):
        return []
    n_satisfied = int(tested.agg(lambda texts: texts.str.contains(r"(?:random|k-means): holds \(").all()).sum())
    return [
        f"Of the {len(held)} that hold, {len(tested)} can be tested on a control. A random partition or k-means satisfies "
        f"{n_satisfied} of these."
    ]


def _fairest_matcher(results: Results) -> tuple[str, str]:
    our_matchers = results.on_paper_data.tables["table1_matchers"].frame.dropna(subset=["deviation_mean"])
    if our_matchers.empty:
        return "unknown, as no run of Clusterlets has a result.", ""
    single, remark = _without_clusters(results.on_paper_data, our_matchers["matcher"])
    our_matchers = our_matchers[~our_matchers["matcher"].isin(single)]
    if our_matchers.empty:
        return f"none.{remark}", ""
    paper_matchers = reported.table("table1_matchers")
    paper_best = paper_matchers.loc[paper_matchers["deviation_mean"].astype(float).idxmin()]
    best = our_matchers.loc[our_matchers["deviation_mean"].idxmin()]
    is_same = best["matcher"] == paper_best["matcher"]
    agreement = "as in the paper" if is_same else f"where the paper has {paper_best['matcher']}"
    datasets = _dataset_text(len(results.on_paper_data.datasets), results.has_mixed_datasets)
    return (
        f"{best['matcher']}, {agreement}.{remark}",
        f"Its mean deviation over all runs is {decimal(best['deviation_mean'])} on {datasets} here, "
        f"{decimal(float(paper_best['deviation_mean']))} on {len(reported.datasets())} there.",
    )


def _fairer_than_frac(results: Results) -> tuple[str, str]:
    """Whether Clusterlets' best run deviates less than that of each output of FRAC on most datasets that have both."""
    deviations = results.on_paper_data.tables["table4_frac_vs_clusterlets"].frame.pivot(
        index="dataset", columns="method", values="deviation_mean"
    )
    if "Clusterlets" not in deviations:
        return "unknown, as no run of Clusterlets has a result.", ""
    deviations_of_both = {rival: deviations.reindex(columns=["Clusterlets", rival]).dropna() for rival in _RIVALS}
    if all(rows.empty for rows in deviations_of_both.values()):
        return "unknown, as no dataset has runs of both.", ""
    wins = {rival: int((rows["Clusterlets"] < rows[rival]).sum()) for rival, rows in deviations_of_both.items()}
    parts = [
        f"on {wins[rival]} of {_dataset_text(len(rows), results.has_mixed_datasets)} against {_RIVALS[rival]}, with a mean of "
        f"{decimal(rows['Clusterlets'].mean(), 4)} against {decimal(rows[rival].mean(), 4)}"
        for rival, rows in deviations_of_both.items()
        if len(rows)
    ]
    wins_most = [2 * wins[rival] > len(rows) for rival, rows in deviations_of_both.items()]
    verdict = {
        (True, True): "yes, both as the paper scored FRAC and as FRAC is defined",
        (True, False): "only as the paper scored FRAC, not as FRAC is defined",
        (False, True): "only against FRAC as defined, not as the paper scored it",
        (False, False): "no, neither as the paper scored FRAC nor as FRAC is defined",
    }[wins_most[0], wins_most[1]]
    return f"{verdict}.", f"The best run of Clusterlets deviates less {'; and '.join(parts)}."


def _fairest_method(results: Results) -> tuple[str, str]:
    ranking = _ranking(results, statistics.ALL_METHODS)
    if ranking.mean_ranks.empty:
        return "unknown, as no dataset has a result of every method.", ""
    single, remark = _without_clusters(results, ranking.mean_ranks.index)
    ranks = ranking.mean_ranks.drop(single)
    if ranks.empty:
        return f"none.{remark}", ""
    first, rank = ranks.index[0], ranks.iloc[0]
    basis = f"{counted(len(ranking.mean_ranks), 'method')} over {counted(len(ranking.complete), 'dataset')}"
    return f"{first}, by mean rank of the mean deviation: {rank:.1f} of {basis}.{remark}", ""


def _without_clusters(results: Results, methods: Iterable[str]) -> tuple[list[str], str]:
    """The methods that give a single cluster in most of their runs, which is fair but no clustering, and a remark."""
    runs = selection.ok(results.runs)
    shares = (runs["n_clusters"] < 2).groupby(selection.names(runs)).mean()
    single = [method for method in methods if shares.get(method, 0) > 0.5]
    remark = f" Not counted, as most of their clusterings are a single cluster: {', '.join(single)}."
    return single, remark if single else ""


def _fairer_than_random(results: Results) -> tuple[str, str]:
    """The matchers or methods with a better mean rank than the random partition."""
    ranking = _ranking(results.on_paper_data, statistics.WITH_CONTROLS if results.has_paper_data else statistics.ALL_METHODS)
    ranks = ranking.mean_ranks
    if "random" not in ranks or len(ranks) < 2 or ranks.isna().any():
        return "unknown, as no random partition is ranked.", ""
    fairer = list(ranks.index[ranks < ranks["random"]])
    noun = "matcher" if results.has_paper_data else "method"
    basis = f"by mean rank over {counted(len(ranking.complete), 'dataset')}"
    return f"{', '.join(fairer) or f'no {noun}'}, {basis}.", ""


def _whether_methods_differ(results: Results) -> tuple[str, str]:
    ranking = _ranking(results.on_paper_data, "matchers" if results.has_paper_data else statistics.ALL_METHODS)
    if ranking.obstacle:
        return f"not tested. {ranking.obstacle}", ""
    n_apart = int((ranking.pairs["p_value"] < statistics.ALPHA).sum())
    return (
        f"{n_apart} of {counted(len(ranking.pairs), 'pair')} {'differs' if n_apart == 1 else 'differ'} significantly.",
        f"Over {_dataset_text(len(ranking.complete), results.has_mixed_datasets)}, "
        f"Friedman's p {statistics.format_p(ranking.p_value)}, "
        f"Nemenyi's critical difference {ranking.critical_difference:.2f} ranks.",
    )


def _ranking(results: Results, name: str) -> statistics.Ranking:
    return next(ranking for ranking in results.rankings if ranking.name == name)


def _most_reliable_methods(standings: Standings) -> str:
    """The first method of the leaderboard and the first matcher of Clusterlets; empty if there is no method."""
    rows = standings.under(SHOWN_LIMIT, METHOD).to_dict("records")
    if not rows:
        return ""
    first, matcher = rows[0], leading_matcher(standings)
    among_text = f", of {counted(len(rows), 'method')}" if len(rows) > 1 else ""
    tied = standings.tied_with_first(SHOWN_LIMIT)
    leaders = f"{', '.join([first['method'], *tied])} (tied)" if tied else first["method"]
    text = f"{leaders}{among_text}: {_describe_reliability(first)}."
    if matcher is None:
        return text
    remark = f"{matcher['method']}: {_describe_reliability(matcher)}" if matcher["kept"] else "no matcher keeps it"
    return f"{text} Of Clusterlets, {remark}."


def _describe_reliability(row: Mapping) -> str:
    price = f", at a median price of {row['price']:.2f}" if row["kept"] else ""
    return f"{row['kept']} of {counted(row['cases'], 'case')}{price}"


def _dataset_text(number: int, paper_only: bool = False) -> str:
    """A number of datasets in words: ``3 datasets``, or ``3 of the paper's datasets`` if only these are counted."""
    return f"{number} of the paper's datasets" if paper_only else counted(number, "dataset")
