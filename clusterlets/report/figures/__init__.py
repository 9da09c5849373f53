"""The figures. A file in this folder draws one or several and declares them; nothing else lists them.

Snakemake's rules, the sections of the pages, and all captions follow from the declarations. They are read from the source
and not imported, so that planning a run loads no drawing library.
"""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from clusterlets.errors import ClusterletsError

FOLDER = Path(__file__).parent
#: The comment in the PNG of a figure without data, which pages leave out.
EMPTY = "nothing to show"
#: Sections of the pages that can show figures.
SECTIONS = (
    "report.html#verdict",
    "report.html#leaderboard",
    "report.html#figures",
    "report.html#sensitivity",
    "report.html#provenance",
    "leaderboard.html#findings",
    "leaderboard.html#figures",
    "leaderboard.html#costs",
)


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """A figure: its files, what it is drawn from, and where and how pages show it.

    ``name`` is the name of its files, without ending; ``title`` its heading on a page and the picture's alternative text;
    ``caption`` what it shows and how to read it, as plain text. ``reads`` are the tables that ``draw`` takes, in its order,
    relative to the results folder, and ``options`` its keyword arguments, where one file draws several figures. Pages show it
    in its ``sections``, one or more of :data:`SECTIONS`, ordered by ``position``, then by name. ``module`` is the name of the
    Python file without ending, set by :func:`declarations`.
    """

    name: str
    title: str
    caption: str
    reads: tuple[str, ...]
    sections: tuple[str, ...]
    position: int = 100
    options: dict = field(default_factory=dict)
    module: str = ""

    @property
    def folder(self) -> str:
        """Folder of its files. Accounts differ between two runs with equal results, and so do figures drawn from them."""
        return "accounts" if any(path.startswith("accounts/") for path in self.reads) else "figures"

    def files(self, *forms: str) -> list[str]:
        """Its files, relative to the results folder."""
        return [f"{self.folder}/{self.name}.{form}" for form in forms]


@cache
def declarations(folder: Path = FOLDER) -> tuple[Declaration, ...]:
    """Every figure, in the order in which pages show them.

    ClusterletsError if a file declares no figure, a section that no page has, or a name that another file has too.
    """
    figures = [
        figure for path in sorted(folder.glob("*.py")) if path.name != "__init__.py" for figure in _read_declarations(path)
    ]
    modules: dict[str, str] = {}
    for figure in figures:
        if figure.name in modules:
            raise ClusterletsError(
                f"Two files declare the figure {figure.name}: {modules[figure.name]}.py and {figure.module}.py."
            )
        modules[figure.name] = figure.module
    return tuple(sorted(figures, key=lambda figure: (figure.position, figure.name)))


def by_module() -> dict[str, list[Declaration]]:
    """The figures that each file draws, by its name without ending."""
    names = sorted({figure.module for figure in declarations()})
    return {name: [figure for figure in declarations() if figure.module == name] for name in names}


def declarations_on(page: str) -> list[Declaration]:
    """The figures that a page shows; ``page`` is its file name."""
    return [figure for figure in declarations() if any(section.startswith(f"{page}#") for section in figure.sections)]


def images_of(page: str, results: Path) -> dict[str, bytes]:
    """The PNG of each figure of a page, by the figure's name, without those that were not drawn or show no data."""
    paths = {figure.name: results / figure.files("png")[0] for figure in declarations_on(page)}
    images = {name: path.read_bytes() for name, path in paths.items() if path.is_file()}
    return {name: image for name, image in images.items() if image and not is_empty(image)}


def is_empty(png: bytes) -> bool:
    """Whether a PNG has the comment :data:`EMPTY`; comments come before the pixels."""
    return f"Comment\0{EMPTY}".encode() in png.partition(b"IDAT")[0]


def _read_declarations(path: Path) -> Iterable[Declaration]:
    """The entries of the list ``FIGURES`` in a file; each argument is a literal, or the name of one above the list."""
    constants: dict[str, ast.expr] = {}
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="FIGURES")], value=ast.List(elts=[_, *_] as entries)):
                return [_declaration(path, entry, constants) for entry in entries]
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                constants[name] = value
    raise ClusterletsError(f"{path} declares no figure: it needs a list FIGURES = [Declaration(name=..., ...)].")


def _declaration(path: Path, entry: ast.expr, constants: Mapping[str, ast.expr]) -> Declaration:
    arguments = {str(argument.arg): argument.value for argument in getattr(entry, "keywords", ())}
    try:
        values = {
            name: ast.literal_eval(constants.get(value.id, value) if isinstance(value, ast.Name) else value)
            for name, value in arguments.items()
        }
        figure = Declaration(**values, module=path.stem)
    except (TypeError, ValueError) as error:
        raise ClusterletsError(
            f"{path}, line {entry.lineno}: not a declaration of a figure with literal arguments ({error})."
        ) from None
    unknown = sorted(set(figure.sections) - set(SECTIONS))
    if unknown or not figure.sections or not figure.reads:
        wrong = f"no page has the section {', '.join(unknown)}" if unknown else "it needs sections and reads"
        raise ClusterletsError(f"{path}: the figure {figure.name} cannot be shown; {wrong}. Sections: {', '.join(SECTIONS)}.")
    return figure
