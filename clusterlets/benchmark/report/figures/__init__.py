"""The figures. Each file in this folder draws one or several figures and declares them.

The rules of Snakemake and the pages follow from the declarations. Declarations are parsed and not imported, so
that planning a run loads no drawing library.
"""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from clusterlets.errors import ClusterletsError
from clusterlets.pages import EMPTY

FOLDER = Path(__file__).parent
#: Sections of the report that can show figures.
SECTIONS = ("report.html#answers", "report.html#leaderboard", "report.html#figures", "report.html#sensitivity")


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """A figure: its files, what it is drawn from, and where and how the report shows it.

    Attributes
    ----------
    name : str
        Name of the figure's files, without extension.
    title : str
        Its heading, and the alternative text of the picture.
    caption : str
        What the figure shows and how to read it, in plain text.
    reads : tuple of str
        The tables that the function ``draw`` takes, relative to the results folder.
    sections : tuple of str
        Where the report shows it: one or more of :data:`SECTIONS`.
    position : int
        Its place in a section. Figures with the same position are sorted by name.
    options : dict
        Further arguments of ``draw``, for modules that draw several figures.
    module : str
        Name of the Python file without extension, set by :func:`declarations`.
    """

    name: str
    title: str
    caption: str
    reads: tuple[str, ...]
    sections: tuple[str, ...]
    position: int = 100
    options: dict = field(default_factory=dict)
    module: str = ""

    def files(self, *extensions: str) -> list[str]:
        """The paths of its files with these extensions, such as ``png``, relative to the results folder."""
        return [f"figures/{self.name}.{extension}" for extension in extensions]


@cache
def declarations(folder: Path = FOLDER) -> tuple[Declaration, ...]:
    """Every figure, in the order in which the report shows them.

    Raises ClusterletsError if a file declares no figure, if a section does not exist, or if two figures have the same name.
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
    """The figures of each module in this folder, by the module's name."""
    names = sorted({figure.module for figure in declarations()})
    return {name: [figure for figure in declarations() if figure.module == name] for name in names}


def images(results: Path) -> dict[str, bytes]:
    """The PNG of each figure, by the figure's name. Figures that were not drawn or are empty are left out."""
    paths = {figure.name: results / figure.files("png")[0] for figure in declarations()}
    contents = {name: path.read_bytes() for name, path in paths.items() if path.is_file()}
    return {name: image for name, image in contents.items() if image and not is_empty(image)}


def is_empty(png: bytes) -> bool:
    """Whether a PNG has the comment :data:`EMPTY`."""
    before_pixels = png.partition(b"IDAT")[0]
    return f"Comment\0{EMPTY}".encode() in before_pixels


def _read_declarations(path: Path) -> Iterable[Declaration]:
    """The entries of the list ``FIGURES`` in a file. Their arguments are literals or names of constants above the list."""
    constants: dict[str, ast.expr] = {}
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="FIGURES")], value=ast.List(elts=[_, *_] as entries)):
                return [_parse_declaration(path, entry, constants) for entry in entries]
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                constants[name] = value
    raise ClusterletsError(f"{path} declares no figure: it needs a list FIGURES = [Declaration(name=..., ...)].")


def _parse_declaration(path: Path, entry: ast.expr, constants: Mapping[str, ast.expr]) -> Declaration:
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
    unknown_sections = sorted(set(figure.sections) - set(SECTIONS))
    if unknown_sections or not figure.sections or not figure.reads:
        fault = (
            f"the report has no section {', '.join(unknown_sections)}" if unknown_sections else "it needs sections and reads"
        )
        raise ClusterletsError(f"{path}: the figure {figure.name} cannot be shown; {fault}. Sections: {', '.join(SECTIONS)}.")
    return figure
