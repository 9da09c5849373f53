"""What all pages share: templates, style, scripts, tables, and embedded images."""

import struct
from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import clusterlets


@dataclass(frozen=True)
class PageTable:
    """A table as a page shows it.

    ``columns`` are (title, whether the column is numeric). ``rows`` hold the text of each cell. ``best`` are the cells to
    emphasise, as (row, column).
    """

    columns: list[tuple[str, bool]]
    rows: list[list[str]]
    best: frozenset[tuple[int, int]] = frozenset()


def render_template(template: str, package: str = "clusterlets.pages", **content: Any) -> str:
    """Render a self-contained page from a template of a package, with the frame, style and script of all pages."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("clusterlets.pages")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = _read_asset("page.css"), _read_asset("page.js")
    return environment.get_template(template).render(
        version=clusterlets.__version__,
        style=Markup(style),
        script=Markup(script),
        policy=f"default-src 'none'; img-src data:; style-src {_policy_source(style)}; script-src {_policy_source(script)}; "
        "base-uri 'none'; form-action 'none'",
        **content,
    )


def _read_asset(name: str) -> str:
    return (files("clusterlets.pages") / "templates" / name).read_text(encoding="utf-8")


def _policy_source(text: str) -> str:
    """The expression by which a content security policy allows only this style or script."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def embed_png(image: bytes) -> dict:
    """A PNG in base64, with its size in pixels, so that the page does not move while it loads."""
    width, height = struct.unpack(">II", image[16:24])  # in the header of a PNG
    return {"data": b64encode(image).decode(), "width": width, "height": height}
