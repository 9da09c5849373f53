"""Settings of the documentation site: `make docs` builds it strictly, `make docs-links` checks the external links."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
FIELD = ROOT / "reference" / "field" / "leaderboard_points.csv"

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
html_extra_path = [str(FIELD)]  # fronts.html links to it

# Links work here and where the pages are read as files: headings have anchors, and a link to a file outside of docs/ offers it
# for download. A link to what does not exist is a warning, and `make docs` takes warnings for errors.
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # no lexer for CSV

# A name of the library that is referred to must exist; names of other libraries would take their inventories from the network.
nitpicky = True
# The packages named here are not in the reference: estimators are listed by their names in `clusterlets` itself.
nitpick_ignore_regex = [("py:.*", r"(?!clusterlets\.).*|clusterlets\.(analysis|estimators)\b.*")]
autodoc_typehints = "none"  # the docstrings say more
napoleon_use_rtype = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "min_reported_time": 1e9,  # a page says the same on every machine
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}

linkcheck_anchors = False
linkcheck_timeout = 20


def escape_marks(app, what, name, obj, options, lines):
    """Docstrings are plain text: |x| is an absolute value, a lone * a product, and labels_ in a type an attribute."""
    for number, line in enumerate(lines):
        line = re.sub(r"\||(?<= )\*(?=,)", r"\\\g<0>", line)
        line = re.sub(r":ref:`sphx_glr_[^`]*`", "scikit-learn's documentation", line)  # inherited; its labels are not here
        lines[number] = re.sub(r"(\w)_(?=\W)", r"\1\_", line) if line.lstrip().startswith(":type:") else line


def write_fronts(app, exception):
    """The fronts of the committed run of the field, as a page next to the others; pages link to it in HTML."""
    from clusterlets.grid.runs_frame import read_lines  # only needed here
    from clusterlets.report import fronts_page

    if exception is None and app.builder.name == "html":
        page = fronts_page.render(read_lines(FIELD), board="field.html")
        Path(app.outdir, "fronts.html").write_text(page, encoding="utf-8")


def setup(app):
    app.connect("autodoc-process-docstring", escape_marks, priority=900)  # after napoleon has read the sections
    app.connect("build-finished", write_fronts)
