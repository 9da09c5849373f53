"""The configured runs: their configuration, cells, files and fingerprints, their fits and scores, and what they cost."""

import clusterlets.installation  # noqa: F401
