"""The configured runs: which there are, how they are scored, what is kept between the steps, and what they cost."""

import clusterlets.installation  # noqa: F401
