"""Tables of instances: reading a person's own file, kinds of columns, groups, and checks."""

import clusterlets.installation  # noqa: F401
