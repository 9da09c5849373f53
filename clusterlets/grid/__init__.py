"""The configured runs: what they are, how they are scored, what the steps hand on, and what they cost."""

import clusterlets.installation  # noqa: F401
