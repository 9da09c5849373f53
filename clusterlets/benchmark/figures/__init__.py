"""The figures, a module each: colour-blind safe, and the same bytes for the same runs (no dates inside)."""

CAPTIONS = {
    "figure1_critical_difference": "Figure 1: critical differences of the matchers by mean deviation. Right is better, "
    "and bands join matchers whose difference is not significant.",
    "figure1_critical_difference_with_frac": "The same with FRAC, fair and nearest, and k-means.",
    "cohesion_vs_deviation": "Cohesion against mean deviation, a panel a dataset. Small: every run. Large: the best "
    "run of each method by mean deviation, after the rule on limit cases; hollow where all its runs are limit cases.",
    "reported_vs_reproduced": "The paper's numbers against ours. On the diagonal they are equal. Cells that are only "
    "shown (structural zeros, repeated rows) are left out.",
    "sensitivity": "What each choice does: a number as it usually is, and with one choice taken the other way. No mark: the "
    "choice leaves the number as it is.",
}
