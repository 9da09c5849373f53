"""Draw the picture of docs/architecture.md: python docs/figures/architecture.py"""

from html import escape
from pathlib import Path

# Fill and outline of the boxes.
PACKAGE, FILE = ("#dbe9f6", "#0072b2"), ("#fff6df", "#b8860b")
WIDTH, HEIGHT = 1000, 500

GRID_TEXT = "checks the configuration; gives Snakemake's rules their cells, paths and fingerprints"
LIBRARY_TEXT = "the library: commands → tuning → estimators → methods → algorithms, for a table of your own"

#: Boxes: left edge, top, width, height, colors, bold title, other lines.
NODES = [
    (20, 20, 110, 50, FILE, "config.yaml", ()),
    (170, 20, 810, 50, PACKAGE, "grid", (GRID_TEXT,)),
    (20, 165, 90, 50, FILE, "data/raw/", ()),
    (140, 155, 110, 70, PACKAGE, "datasets", ("fetch, check,", "prepare")),
    (280, 165, 100, 50, FILE, "prepared/", ("table, groups",)),
    (430, 105, 140, 70, PACKAGE, "algorithms", ("clusterlets, sums,", "partitions")),
    (430, 205, 140, 70, PACKAGE, "methods", ("that cluster", "instances")),
    (610, 105, 120, 70, FILE, "labels/", ("distances/", "partitions/")),
    (610, 205, 120, 70, FILE, "labels/", ("pieces/",)),
    (770, 105, 100, 70, PACKAGE, "methods", ("matchers",)),
    (770, 205, 100, 70, PACKAGE, "metrics", ("score",)),
    (890, 215, 90, 50, FILE, "runs/", ("a file per cell",)),
    (890, 335, 90, 50, FILE, "runs.csv", ()),
    (720, 325, 140, 70, PACKAGE, "analysis, paper", ("statistics,", "comparison")),
    (550, 325, 140, 70, FILE, "tables/", ("statistics/", "claims.csv, ...")),
    (390, 325, 120, 70, PACKAGE, "report", ("figures, pages",)),
    (210, 325, 140, 70, FILE, "report.html", ("figures/",)),
    (20, 325, 150, 70, PACKAGE, "provenance", ("manifest, accounts,", "archive")),
    (20, 430, 960, 50, PACKAGE, "cluster, tune, assign, audit, repair", (LIBRARY_TEXT,)),
]

#: Corners of each arrow.
ARROWS = [
    [(130, 45), (170, 45)],
    [(110, 190), (140, 190)],
    [(250, 190), (280, 190)],
    [(380, 180), (405, 180), (405, 140), (430, 140)],
    [(380, 200), (405, 200), (405, 240), (430, 240)],
    [(570, 140), (610, 140)],
    [(570, 240), (610, 240)],
    [(730, 140), (770, 140)],
    [(730, 240), (770, 240)],
    [(820, 175), (820, 205)],
    [(870, 240), (890, 240)],
    [(935, 265), (935, 335)],
    [(890, 360), (860, 360)],
    [(720, 360), (690, 360)],
    [(550, 360), (510, 360)],
    [(390, 360), (350, 360)],
    [(210, 360), (170, 360)],
]


def text(x: float, y: float, content: str, weight: str = "normal") -> str:
    return f'<text x="{x}" y="{y}" font-weight="{weight}">{escape(content)}</text>'


def node(x: int, y: int, width: int, height: int, colors: tuple[str, str], title: str, lines: tuple[str, ...]) -> list[str]:
    fill, stroke = colors
    middle, baseline = x + width / 2, y + height / 2 + 5 - 8 * len(lines)
    return [
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}" stroke="{stroke}"/>',
        text(middle, baseline, title, "bold"),
        *(text(middle, baseline + 16 * number, line) for number, line in enumerate(lines, 1)),
    ]


def arrow(corners: list[tuple[int, int]]) -> str:
    points = " ".join(f"{x},{y}" for x, y in corners)
    return f'<polyline points="{points}" fill="none" stroke="#444444" stroke-width="1.5" marker-end="url(#head)"/>'


def picture() -> str:
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13" '
            'text-anchor="middle" fill="#111111">',
            "<title>Packages of clusterlets (blue) and the files that they pass on (yellow)</title>",
            '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
            '<path d="M0,0 L8,4 L0,8 z" fill="#444444"/></marker></defs>',
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            *(line for values in NODES for line in node(*values)),
            *map(arrow, ARROWS),
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(picture(), encoding="utf-8")
