"""The benchmark that stands on the library: the grid, the files between its steps, the paper, and the leaderboard.

It runs in a clone of the repository, and the wheel does not hold it. Nothing outside this package imports it.
"""

import clusterlets.installation  # noqa: F401
