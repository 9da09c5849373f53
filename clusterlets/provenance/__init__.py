"""Where results come from and what they cost: manifest, accounts, versions and machine, and the archive of a finished run."""

import clusterlets.installation  # noqa: F401
