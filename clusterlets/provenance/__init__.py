"""Where results come from and what they cost: the manifest, accounts, versions, machine, and archive of a finished run."""

import clusterlets.installation  # noqa: F401
