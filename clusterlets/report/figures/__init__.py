"""The figures, a module each: group-blind safe, and the same bytes for the same runs (no dates inside)."""

CAPTIONS = {
    "figure1_critical_difference": "Figure 1: critical differences of the matchers by mean deviation. Right is better, "
    "and bands join matchers whose difference is not significant.",
    "critical_difference_with_controls": "Figure 1 with the controls k-means and random beside the matchers.",
    "critical_difference_all_methods": "The same of all methods, with the controls k-means and random.",
    "cohesion_vs_deviation": "Cohesion against mean deviation, a panel a dataset; best is top left. Small: every run. "
    "Large: the best run of each method by mean deviation, after the rule on limit cases; hollow where all its runs are "
    "limit cases. Line: the Pareto front of the runs that the rule keeps. Where one method holds the front's lower left "
    "end and another its upper right, fairness is paid for in cohesion.",
    "heatmaps": "Mean deviation and cohesion over the grid of each matcher's parameters, averaged over seeds, then over "
    "datasets; all runs with a result, limit cases too; beside them FRAC and the controls, which have k alone. "
    "Darker is better in both rows, so a matcher whose column is dark above and pale below buys fairness with cohesion.",
    "omega_effect": "What weighing the silhouette does to C: each grey line is a dataset, averaged over k and seeds, the "
    "blue line their mean. At 0 only the largest deviation counts. Dashed: the same means of random partitions and of plain "
    "k-means, which have no omega.",
    "composition": "The groups of every cluster in the best run of each dataset by mean deviation (table 4), of "
    "Clusterlets, of FRAC as the paper scored it and as it is defined, and of the controls. "
    "A bar is a cluster, the largest on the left, with its size where there is room; dashed: the "
    "dataset's shares, which every bar of a perfectly fair clustering would meet.",
    "projection": "One dataset on its two principal components with the clusters of each matcher, all at the same setting "
    "(k near 5, 2 hops, omega near 0.5) on the first seed. Hue: cluster, by falling size; shape: group. A row in several "
    "clusters shows one inside the other. The dataset is the one with the largest share of variance on its second component.",
    "reported_vs_reproduced": "The paper's numbers against ours. On the diagonal they are equal; the bands around it are "
    "those of the verdict by bands, the marks show the verdict by the rule. "
    "In each panel the three numbers furthest outside are named, with their table. Deviations and "
    "sizes are on logarithmic axes. Cells that are only shown (structural zeros, repeated rows) are left out.",
    "sensitivity": "Sensitivity analysis: a number as it usually is, and with one choice taken the other way. No mark: the "
    "choice leaves the number as it is.",
}

# Of the leaderboard, which has a page of its own.
LEADERBOARD_CAPTIONS = {
    "price_against_unfairness": "What fairness costs: price against delta_min. A panel a dataset, at the middle k of the grid; "
    "a mark is a configuration, by its medians over the seeds that score. Best is bottom left. Line: the front of what no "
    "configuration beats in both, with its parameters. The axis of delta_min is one of square roots, so that what lies near 0 "
    "has room; configurations dearer than the front by far are counted in the title.",
    "performance_profiles": "Performance profiles. A panel a limit on the largest deviation: over a factor, the share of the "
    "blocks in which a method keeps the limit and costs at most so many times the least price. At 1 it is how often a method "
    "is the cheapest.",
    "cost_at_limit": "Price at a largest deviation of at most 0.05. A panel a dataset, at the middle k of the grid; a dot is "
    "the median over the seeds that score, a bar their range.",
}
