"""Analyses of the runs that do not need the paper: which runs to compare, rankings, tests."""
