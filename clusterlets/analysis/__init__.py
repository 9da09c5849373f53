"""Analyses of the runs, independent of the paper: which runs enter, rankings, tests, and the clusterings to show."""

import clusterlets.installation  # noqa: F401
