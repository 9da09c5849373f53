"""The methods, and what they share: arrays in, arrays out. It reads and writes no result."""

import clusterlets.installation  # noqa: F401
