"""The verdict: an answer to each question, derived from the data, and the glossary needed to read it."""

from collections.abc import Iterable, Mapping

from clusterlets.analysis import at_fairness, paired, statistics
from clusterlets.analysis.leaderboard import METHOD
from clusterlets.metrics.table import SCORES
from clusterlets.paper import comparison, controls, reported
from clusterlets.paper import verdict as paper_verdict
from clusterlets.paper.claims import INCONCLUSIVE, by_sentence, describe_counts
from clusterlets.paper.results import Results
from clusterlets.report import SHOWN_LIMIT
from clusterlets.report.standings import Standings, describe_limit, leading_matcher
from clusterlets.text import counted, decimal

# What Clusterlets is compared with, and how each was clustered.
_RIVALS = {
    "FRAC (nearest)": "FRAC as the paper scored it (every instance to its nearest centre)",
    "FRAC (fair)": "FRAC as defined (its fair assignment)",
}

_MEANINGS = {score.name: f"{score.explanation} [{score.values}]" for score in SCORES}
#: Meaning of the scores that the answers mention, by their names in runs.csv.
GLOSSARY = {
    name: _MEANINGS[name] for name in ("deviation_mean", "deviation_max", "balance", "cohesion", "overlap", "price_of_fairness")
}
#: Meaning of all other scores, which the page folds away.
FURTHER_GLOSSARY = {name: meaning for name, meaning in _MEANINGS.items() if name not in GLOSSARY}


def answers(results: Results, standings: Standings) -> list[tuple[str, str, str]]:
    """Questions with their answers: about the paper if any of its datasets was run, else about the methods.

    Each is a question, its answer in one sentence, and the numbers behind it, which may be empty.
    """
    if results.has_paper_data:
        subjects = "matchers"
        questions = {
            "Does the paper hold": _holds,
            "Its numbers": _numbers,
            "Its claims": _claims,
            "Its fairest matcher": _fairest_matcher,
            "Fairer than FRAC": _against_frac,
        }
    else:
        subjects, questions = "methods", {"Fairest method": _fairest}
    questions |= {
        "Fairer than a random partition": _against_chance,
        f"Do the {subjects} differ": _significance,
        f"Most cohesive at a mean deviation of at most {SHOWN_LIMIT:g}": _most_cohesive,
    }
    answered = [(question, *answer(results)) for question, answer in questions.items()]
    reliable = _most_reliable(standings)
    return [*answered, (f"Most reliable {describe_limit(SHOWN_LIMIT)}", reliable, "")] if reliable else answered


def summary(results: Results, answers: Iterable[tuple[str, str, str]], report: str) -> str:
    """The answers, and what they rest on: ``results/summary.txt``."""
    lines = [f"{question}: {answer} {numbers}".rstrip() for question, answer, numbers in answers]
    return "\n".join([*lines, "", f"{basis_sentence(results)} Report: {report}", ""])


def basis_sentence(results: Results) -> str:
    """The number of runs with a result, and of those without one by status."""
    counts = results.runs["status"].value_counts().sort_index()
    left_out = ", ".join(f"{count:,} {status}" for status, count in counts.drop("ok", errors="ignore").items())
    return (
        f"This rests on {counted(counts.get('ok', 0), 'run')} on {_datasets(len(results.datasets))} "
        f"({', '.join(results.datasets) or 'none'}); left out for their status: {left_out or 'none'}."
    )


def _holds(results: Results) -> tuple[str, str]:
    """The verdict on each table as a whole."""
    groups = paper_verdict.judge_groups(comparison.counted(results.comparison))
    tables = groups[groups["kind"] == "table"]
    if tables.empty:
        return "unknown, as no number can be compared.", ""
    numbers = {word: [name[5] for name in tables.loc[tables["verdict"] == word, "table"]] for word in paper_verdict.VERDICTS}
    leads = {"reproduced": "yes", "undecided": "it cannot be decided", "differs": "no"}
    lead = next((answer for word, answer in leads.items() if len(numbers[word]) == len(tables)), "in part")
    reproduced, undecided, different = (", ".join(numbers[word]) or "none" for word in ("reproduced", "undecided", "differs"))
    return f"{lead}. Tables reproduced as a whole: {reproduced}; undecided: {undecided}; different: {different}.", ""


def _numbers(results: Results) -> tuple[str, str]:
    total = results.counts.iloc[-1]
    n_compared = total["counted"] - total[comparison.NOT_COMPARABLE]
    if not n_compared:
        return "no number can be compared.", ""
    perfect = results.controls[results.controls["source"] == controls.PERFECT][list(paper_verdict.VERDICTS)].sum()
    return (
        f"of {n_compared} numbers {counted(total['reproduced'], 'is', 'are')} reproduced, {total['undecided']} undecided, and "
        f"{counted(total['differs'], 'differs', 'differ')}; of a perfect copy of the paper, {perfect['reproduced']:.0f} are "
        f"reproduced and {perfect['differs']:.0f} differ.",
        f"Another {total[comparison.NOT_COMPARABLE]} numbers cannot be compared, each for a reason that is given.",
    )


def _claims(results: Results) -> tuple[str, str]:
    sentences = by_sentence(results.claims)
    ours, stricter, paper = (describe_counts(sentences[side]) for side in ("ours", "stricter", "paper"))
    if (sentences["ours"] == INCONCLUSIVE).all():
        ours, stricter = "all are inconclusive, because these runs lack what the sentences are about", "the same"
    numbers = f"Against FRAC as it is defined, {stricter}. By the paper's own numbers, {paper}."
    return f"of {len(sentences)} sentences, {ours}.", numbers


def _fairest_matcher(results: Results) -> tuple[str, str]:
    ours = results.on_paper_data.tables["table1_matchers"].frame.dropna(subset=["deviation_mean"])
    if ours.empty:
        return "unknown, as no run of Clusterlets has a result.", ""
    printed = reported.table("table1_matchers")
    printed = printed.loc[printed["deviation_mean"].astype(float).idxmin()]
    best = ours.loc[ours["deviation_mean"].idxmin()]
    agreement = "as in the paper" if best["matcher"] == printed["matcher"] else f"where the paper has {printed['matcher']}"
    datasets = _datasets(len(results.on_paper_data.datasets), results.has_mixed_datasets)
    return (
        f"{best['matcher']}, {agreement}.",
        f"Its mean deviation over all runs is {decimal(best['deviation_mean'])} on {datasets} here, "
        f"{decimal(float(printed['deviation_mean']))} on {len(reported.datasets())} there.",
    )


def _against_frac(results: Results) -> tuple[str, str]:
    """Whether Clusterlets' best runs deviate less than each FRAC's on more than half of the datasets with both."""
    deviations = results.on_paper_data.tables["table4_frac_vs_clusterlets"].frame.pivot(
        index="dataset", columns="method", values="deviation_mean"
    )
    if "Clusterlets" not in deviations:
        return "unknown, as no run of Clusterlets has a result.", ""
    both = {rival: deviations.reindex(columns=["Clusterlets", rival]).dropna() for rival in _RIVALS}
    if all(rows.empty for rows in both.values()):
        return "unknown, as no dataset has runs of both.", ""
    wins = {rival: int((rows["Clusterlets"] < rows[rival]).sum()) for rival, rows in both.items()}
    parts = [
        f"on {wins[rival]} of {_datasets(len(rows), results.has_mixed_datasets)} against {_RIVALS[rival]}, with a mean of "
        f"{decimal(rows['Clusterlets'].mean(), 4)} against {decimal(rows[rival].mean(), 4)}"
        for rival, rows in both.items()
        if len(rows)
    ]
    ahead = [2 * wins[rival] > len(rows) for rival, rows in both.items()]
    verdict = {
        (True, True): "yes, both as the paper scored FRAC and as FRAC is defined",
        (True, False): "only as the paper scored FRAC, not as FRAC is defined",
        (False, True): "only against FRAC as defined, not as the paper scored it",
        (False, False): "no, neither as the paper scored FRAC nor as FRAC is defined",
    }[ahead[0], ahead[1]]
    return f"{verdict}.", f"The best run of Clusterlets deviates less {'; and '.join(parts)}."


def _fairest(results: Results) -> tuple[str, str]:
    ranking = _ranking(results, statistics.ALL_METHODS)
    if ranking.mean_ranks.empty:
        return "unknown, as no dataset has a result of every method.", ""
    first, rank = ranking.mean_ranks.index[0], ranking.mean_ranks.iloc[0]
    basis = f"{counted(len(ranking.mean_ranks), 'method')} over {counted(len(ranking.complete), 'dataset')}"
    return f"{first}, by mean rank of the mean deviation: {rank:.1f} of {basis}.", ""


def _against_chance(results: Results) -> tuple[str, str]:
    """Which matchers or methods have a better mean rank than the random partition."""
    ranking = _ranking(results.on_paper_data, statistics.WITH_CONTROLS if results.has_paper_data else statistics.ALL_METHODS)
    ranks = ranking.mean_ranks
    if "random" not in ranks or len(ranks) < 2 or ranks.isna().any():
        return "unknown, as no random partition is ranked.", ""
    ahead = list(ranks.index[ranks < ranks["random"]])
    noun = "matcher" if results.has_paper_data else "method"
    basis = f"by mean rank over {counted(len(ranking.complete), 'dataset')}"
    return f"{', '.join(ahead) or f'no {noun}'}, {basis}.", ""


def _significance(results: Results) -> tuple[str, str]:
    ranking = _ranking(results.on_paper_data, "matchers" if results.has_paper_data else statistics.ALL_METHODS)
    if ranking.obstacle:
        return f"not tested. {ranking.obstacle}", ""
    return (
        f"{paired.describe_pairs_apart(ranking)}.",
        f"Over {_datasets(len(ranking.complete), results.has_mixed_datasets)}, "
        f"Friedman's p {statistics.format_p(ranking.p_value)}, "
        f"Nemenyi's critical difference {ranking.critical_difference:.2f} ranks.",
    )


def _ranking(results: Results, name: str) -> statistics.Ranking:
    return next(ranking for ranking in results.rankings if ranking.name == name)


def _most_cohesive(results: Results) -> tuple[str, str]:
    """Which method most often has the highest cohesion under :data:`SHOWN_LIMIT` on the mean deviation."""
    counts = at_fairness.counts(results.at_given_fairness)
    rows = counts[(counts["limit"] == SHOWN_LIMIT) & (counts["limit_cases"] == at_fairness.LEFT_OUT)]
    if rows.empty or not rows["best"].max():
        return "no method keeps the limit on any dataset.", ""
    winners = rows[rows["best"] == rows["best"].max()]
    datasets = counted(int(winners["datasets"].max()), "dataset")
    return f"{' and '.join(winners['method'])}, on {winners['best'].max()} of {datasets}.", ""


def _most_reliable(standings: Standings) -> str:
    """The leading method of the leaderboard and the leading matcher of Clusterlets; empty if there is no such method."""
    rows = standings.under(SHOWN_LIMIT, METHOD).to_dict("records")
    if not rows:
        return ""
    first, matcher = rows[0], leading_matcher(standings)
    among = f", of {counted(len(rows), 'method')}" if len(rows) > 1 else ""
    text = f"{first['method']}{among}: {_describe_reliability(first)}."
    if matcher is None:
        return text
    remark = f"{matcher['method']}: {_describe_reliability(matcher)}" if matcher["kept"] else "no matcher keeps it"
    return f"{text} Of Clusterlets, {remark}."


def _describe_reliability(row: Mapping) -> str:
    price = f", at a median price of {row['price']:.2f}" if row["kept"] else ""
    return f"{row['kept']} of {counted(row['blocks'], 'block')}{price}"


def _datasets(number: int, of_paper: bool = False) -> str:
    """A number of datasets; ``of_paper`` says that only the paper's are counted."""
    return f"{number} of the paper's datasets" if of_paper else counted(number, "dataset")
