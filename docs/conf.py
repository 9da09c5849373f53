"""Settings of the documentation site: `make docs` builds it, `make docs-links` checks its external links."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

project = "Clusterlets benchmark"
author = "The Clusterlets benchmark maintainers"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["examples", "_templates"]
templates_path = ["_templates"]
html_theme = "furo"
html_title = project
html_show_sphinx = False
html_show_copyright = False

# Links must work on the site and where the pages are read as files. On the site, a link to a file outside of docs/ downloads
# that file. A broken link is a warning, which `make docs` treats as an error.
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # Pygments has no lexer for CSV

# References to names of this library must resolve. To check names of other libraries, the build would need the network.
nitpicky = True
# Two packages are exempt. The reference leaves out `analysis`, and lists the estimators as `clusterlets.NAME`.
nitpick_ignore_regex = [("py:.*", r"(?!clusterlets\.).*|clusterlets\.(analysis|estimators)\b.*")]
autodoc_typehints = "none"  # the docstrings say more
napoleon_use_rtype = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "min_reported_time": 1e9,  # hides run times, so that the pages are the same on every machine
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}

linkcheck_anchors = False
linkcheck_timeout = 20


def escape_marks(app, what, name, obj, options, lines):
    """Escape what Sphinx would read as markup: |x| for an absolute value, a lone *, and a name such as labels_ in a type."""
    for number, line in enumerate(lines):
        line = re.sub(r"\||(?<= )\*(?=,)", r"\\\g<0>", line)
        # Docstrings inherited from scikit-learn refer to labels that only its own site has.
        line = re.sub(r":ref:`sphx_glr_[^`]*`", "scikit-learn's documentation", line)
        if line.lstrip().startswith(":type:"):
            line = re.sub(r"(\w)_(?=\W)", r"\1\_", line)
        lines[number] = line


def setup(app):
    app.connect("autodoc-process-docstring", escape_marks, priority=900)  # after napoleon has read the sections
