"""What all pages share: the frame with its style and script, tables, and embedded pictures."""

import struct
from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import clusterlets


@dataclass(frozen=True)
class View:
    """A table for the page: title of each column and whether it is numeric, rows of text, and best cells as (row, column)."""

    columns: list[tuple[str, bool]]
    rows: list[list[str]]
    best: frozenset[tuple[int, int]] = frozenset()


def render_template(template: str, script: str = "", **content: Any) -> str:
    """Render a self-contained page: a template with the style and script that all pages share, after a script of its own."""
    environment = Environment(
        loader=PackageLoader("clusterlets.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = _template("report.css")
    script = (_template(script) if script else "") + _template("report.js")
    return environment.get_template(template).render(
        version=clusterlets.__version__,
        style=Markup(style),
        script=Markup(script),
        policy=f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        **content,
    )


def _template(name: str) -> str:
    return (files("clusterlets.report") / "templates" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Source expression of the content security policy that allows exactly this text."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def embed_png(image: bytes) -> dict:
    """A PNG in base64, with its size in pixels from its first chunk, so that the page does not jump while loading."""
    width, height = struct.unpack(">II", image[16:24])
    return {"data": b64encode(image).decode(), "width": width, "height": height}
