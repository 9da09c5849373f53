"""A method under a budget of time and memory, in a process of its own; methods that are programs; the contract of a method."""

import clusterlets.installation  # noqa: F401
