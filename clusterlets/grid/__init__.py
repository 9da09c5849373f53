"""The configured runs: what they are, how they are scored, what their steps pass on, and what they cost."""

import clusterlets.installation  # noqa: F401
