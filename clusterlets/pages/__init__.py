"""The page of a clustering, and what all pages and figures share: templates, style, and how they are saved."""

import clusterlets.installation  # noqa: F401

#: The comment in the PNG of a figure without data. The report leaves out figures with this comment.
EMPTY = "nothing to show"
