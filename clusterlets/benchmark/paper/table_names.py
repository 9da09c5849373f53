"""The names and titles of the tables. The workflow plans its files by them, so this module imports nothing heavy."""

#: The title of each table: first the paper's own tables, then the variants beside them.
TITLES = {
    "table1_matchers": "Table 1: the matchers",
    "table2_best_by_deviation": "Table 2: the best runs by deviation",
    "table3_best_by_cohesion": "Table 3: the best runs by cohesion",
    "table4_frac_vs_clusterlets": "Table 4: Clusterlets against FRAC",
    "table5_correlations": "Table 5: correlations",
    "table2_by_configuration_mean": "Beside table 2: the best configurations by deviation",
    "table3_by_configuration_mean": "Beside table 3: the best configurations by cohesion",
    "table2_with_controls": "Beside table 2: FRAC and the controls, by deviation",
    "table3_with_controls": "Beside table 3: FRAC and the controls, by cohesion",
}
NAMES = tuple(TITLES)
