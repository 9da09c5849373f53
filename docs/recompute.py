"""Print every number of README.md, docs/reproduction.md and docs/field.md that follows from the files in reference/.

Each line has the words around the numbers. Lines with tabs are about the leaderboard: a limit, a method (or two), and the
numbers of that row in the forms in which pages show them. Needs only pandas."""

from pathlib import Path

import pandas as pd

REFERENCE = Path(__file__).resolve().parents[1] / "reference"
WORDS = "none one two three four five six seven eight nine ten".split()
VERDICTS = ["reproduced", "undecided", "differs"]
CLAIM_VERDICTS = ["holds", "holds in part", "does not hold", "not tested", "inconclusive"]


def read(name):
    return pd.read_csv(REFERENCE / f"{name}.csv", keep_default_na=False, na_values=[""])


def say(template, *numbers):
    print(template.format(*numbers))


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |")


def tally(values, names=VERDICTS):
    return [int((values == name).sum()) for name in names]


def span(numbers, digits=0, unit=""):
    return " to ".join(dict.fromkeys(f"{number:.{digits}f}" for number in (min(numbers), max(numbers)))) + unit


def joint(verdicts):
    distinct = set(verdicts) - {"inconclusive"}
    return "holds in part" if len(distinct) > 1 else distinct.pop() if distinct else "inconclusive"


compared = (everything := read("paper/comparison").query("counted")).query("verdict != 'not comparable'")
copies = read("paper/comparison_controls").set_index("source")
shares = 100 * copies[VERDICTS].div(copies["cells"], axis=0).assign(table=copies["table"])[VERDICTS]
for table, verdicts in compared.groupby("table")["verdict"]:
    ours = shares[copies["table"] == table].drop(index="the paper")
    of_paper = pd.DataFrame([tally(verdicts)], columns=VERDICTS) * 100 / len(verdicts)
    parts = of_paper, ours.loc[["perfect"]], ours.drop(index="perfect")
    row(len(verdicts), *(f"{span(part['reproduced'])} % reproduced, {span(part['differs'])} % differ" for part in parts))
say("Of {0} numbers and choices {3} differ, {1} are reproduced and {2} are", len(compared), *tally(compared["verdict"]))
sums = copies.groupby(level=0)[["cells", *VERDICTS]].sum()
say("about {2:.0f} would differ, {0:.0f} would be reproduced and {1:.0f} undecided", *sums.loc["perfect", VERDICTS])
shares = 100 * sums[VERDICTS].div(sums["cells"], axis=0)
wrong = shares.drop(["the paper", "perfect"])
say("{} % differ and {} % are reproduced", span(wrong["differs"]), span(wrong["reproduced"]))
say("Of a perfect copy's numbers {:.1f} % differ", shares.loc["perfect", "differs"])
for source, percents in shares.iterrows():
    row(source, f"{sums.loc[source, 'cells']:.0f}", *(f"{percent:.1f} %" for percent in percents))
for table, part in copies.groupby("table"):
    kinds = 100 * part.loc[["perfect"]], 100 * part.drop(index=["the paper", "perfect"])
    row(table[5], *(f"{span(kind['whole_reproduced'])} %, {span(kind['whole_differs'])} %" for kind in kinds))
one, three, four, five = (compared.loc[compared["table"].str[5] == number, "verdict"] for number in "1345")
worst = copies.query("source == 'perfect' and table == 'table4_frac_vs_clusterlets'")["differs_most"].item() * len(four)
say("4's {} numbers {} (in the worst perfect copy {})", len(four), WORDS[tally(four)[2]], WORDS[round(worst)])
say("of table 5's {} correlations {}", WORDS[len(five)], WORDS[tally(five)[2]])
groups = read("paper/comparison_groups").query("kind == 'table'").groupby("verdict")
whole = groups["table"].agg(lambda names: " and ".join(names.str[5]))
say("Tables {} are reproduced as wholes, table {} is undecided, and tables {} differ", *whole[VERDICTS])
cohesions = everything.query("quantity == 'cohesion' and dataset in ('adult', 'heloc') and reported != '.680'")
for name, rows in cohesions.astype({"reported": float, "reproduced": float}).groupby("dataset"):
    say("{} on {}", ", ".join(f"{x:.3f}" for x in sorted(set(rows["reproduced"].round(3)))), name)
    say("({})", ", ".join(f"{x:.3f}" for x in sorted(rows["reported"])))
matchers = read("paper/tables/table1_matchers").set_index("matcher").astype({"size": float})
best = matchers.loc[matchers["deviation_mean"].idxmin()]
printed = everything.query("table == 'table1_matchers' and row == @best.name and quantity == 'deviation_mean'")["reported"]
fairest = best.name, *best[["deviation_mean", "size"]], float(printed.item())
say("{0} is the fairest, as in the paper: mean deviation {1:.3f} (paper: {3:.3f}). But it makes {2:.2f} clusters", *fairest)
say("{} has the least mean deviation of the matchers, {:.3f}, with {:.2f} clusters", *fairest)
controls = read("paper/statistics/mean_ranks").query("method == 'random'")["deviation_mean"]
say("than a random partition ({0:.3f})\nRandom partitions have {0:.3f}", controls.iloc[0])
runs = read("paper/tables/table2_with_controls").pivot(index="dataset", columns="method", values="deviation_mean")
(a, c), (b, d) = (runs.lt(runs[f"FRAC ({kind})"], axis=0).sum()[["Clusterlets", "random"]] for kind in ("nearest", "fair"))
say("on {0} of {2} datasets if each row\nfair assignment on {1} of {2}", a, b, len(runs))
say("(nearest) on all {} datasets\n(fair) on {}\non all {} and on {}", *(WORDS[n] for n in (a, b, c, d)))
say("{} datasets (nbfi left out), {:,} runs", WORDS[len(runs)], read("paper/methods")["runs"].sum())
tests = read("paper/statistics/wilcoxon")
apart, too = (frame[frame["ranking"] == "matchers"]["significant"] for frame in (read("paper/statistics/nemenyi"), tests))
say("{0} of the {1} pairs of matchers differ; by another, {2} do", apart.sum(), len(apart), too.sum())
say("{0} of {1} pairs\nseparates {2} pairs", apart.sum(), len(apart), too.sum())
for test in tests[tests["ranking"] == "planned"].itertuples():
    row(*test[2:4], f"{test.median_difference:.4f} | {test.p_value:.3f} | {test.p_holm:.3f} | {test.rank_biserial:.2f}")
rows = read("paper/claims").fillna("")
stricter = rows["comparison"] == "stricter"
replaced = rows["statement"].isin(rows.loc[stricter, "statement"]) & ~stricter
for by in ("statement", "sentence"):
    sides = (~stricter, "verdict_ours"), (~replaced, "verdict_ours"), (~stricter, "verdict_paper")
    groups = (rows[part & (rows[by] != 0)].groupby(by)[side].agg(joint) for part, side in sides)
    ours, strict, paper = (tally(verdicts, CLAIM_VERDICTS) for verdicts in groups)
    say("{} hold by our runs, {} in part, {} do not, and {} is not tested", *ours[:3], WORDS[ours[3]])
    say("{}, {}, {} and {}", *strict[:3], WORDS[strict[3]])
    say("{}, {}, {} and {}, and {} are inconclusive", *paper[:3], WORDS[paper[3]], paper[4])
    say("{} hold, {} hold in part, {} do not" if by == "statement" else "{} hold and {} hold in part", *ours)
    say(f"{{}} {by}s" if by == "statement" else "By sentence: of {}", sum(ours))
numbers = len(rows), rows["statement"].nunique(), rows["statement"].nunique() - 1, rows["sentence"].nunique() - 1
say("The {0} rows belong to {1} statements: {2} clauses of {3} sentences\nclauses of {3} sentences", *numbers)
held = rows[~stricter].groupby("statement").filter(lambda part: joint(part["verdict_ours"]) == "holds")
easy = held["controls"].str.contains(r"(?:random|k-means): holds \(").groupby(held["statement"]).all()
say("A random partition or k-means satisfies {} of the {} as well", easy.sum(), len(easy))
numbers, sources = read("published/as_published").query("kind == 'number'"), ("verdict_as_text", "verdict_as_code")
differ = {}
for table, rows in numbers.groupby("table"):
    counts = [tally(rows[source]) for source in sources]
    differ[table[5]] = len(rows), counts[0][2], counts[1][2]
    row(table, *(" / ".join(map(str, count)) for count in counts))
for cell in numbers[numbers["table"] == "table1_matchers"].to_dict("records"):
    values = (f"{float(cell[name]):.3f}" for name in ("reported", "as_text", "as_code"))
    row(cell["row"], cell["quantity"], *values, cell["comes_back"])
text, code = (tally(numbers[source]) for source in sources)
say("Of {} numbers, the run that follows the text reproduces {}, and {} differ", len(numbers), *text[::2])
say("code reproduces {}, and {} differ", *code[::2])
say("Of the {} numbers of table 1, {} differ from the method as the text describes it, and {} from", *differ["1"])
say("of the {} of table 3, {} and {}; of the {} of table 4, {} and {}", *differ["3"], *differ["4"])
say("of all {}, {} and {}", len(numbers), text[2], code[2])
left_out = everything.query("verdict == 'not comparable' and matcher in ('B-PB', 'G-D-PB')").groupby("table").size()
say("{} numbers of table 1 and {} of table 3", *left_out.filter(regex="table[13]"))
say("{1} of {0} and {4} of {3} differ by the text", *differ["1"], *differ["3"])
say("instead of {} of {} and {} of {}", tally(one)[2], len(one), tally(three)[2], len(three))
lines = (REFERENCE / "extended/sensitivity.md").read_text(encoding="utf-8").replace("*", "").splitlines()
usual, *others = ([cell.split()[0] for cell in line.split("|")[-3:-1]] for line in lines if " of 208" in line)
others = [[mine if other == "=" else other for mine, other in zip(usual, pair, strict=True)] for pair in others]
say("reproduce {} of the 208 comparable numbers and {} differ", *usual)
say("{}, and {} differ", *(span(list(map(int, column))) for column in zip(*others[-4:], strict=True)))
for pair in others:
    say("{0} ({1} differ)\n{0} ({1})", *pair)
table2 = (read(f"paper/tables/table2_{choice}") for choice in ("by_configuration_mean", "best_by_deviation"))
say("({:.3f} to {:.3f})", *(frame["deviation_mean"].mean() for frame in table2))
cheapest = read("field/leaderboard").query("kind == 'method' and outcome == 'keeps the limit'")
cheapest = cheapest[cheapest["price"] == cheapest.groupby(["limit", "dataset", "k"])["price"].transform("min")]
for (limit, method), n_cases in cheapest.groupby(["limit", "method"]).size().items():
    print(f"{limit:g}", method, n_cases, sep="\t")
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
