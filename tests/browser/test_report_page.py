"""The report in Chromium, with mouse and keyboard, on a wide screen, on a phone, and on paper."""

import json
from itertools import pairwise

import pytest
from chromium import find_program

from clusterlets.benchmark.report.figures import declarations

TABLE = "#table2_best_by_deviation table.beside"
COLUMN = 5  # index of the column with the mean deviation
# JavaScript expressions.
VALUES = f"[...document.querySelectorAll('{TABLE} tbody tr')].map(row => row.cells[{COLUMN}].dataset.sort)"
NAMES = f"[...document.querySelectorAll('{TABLE} tbody tr')].map(row => row.cells[0].textContent)"
HEAD = f"{TABLE} thead th:nth-child({COLUMN + 1})"
ORDER = f"document.querySelector('{HEAD}').ariaSort"
COUNT_SHOWN_ROWS = "[...document.querySelectorAll('{} tbody tr')].filter(row => row.checkVisibility()).length"


@pytest.fixture(params=["paper", "demo"])
def results_folder(request, results, demo_results):
    """A results folder that fills every section of the report, and one that fills the fewest."""
    return results if request.param == "paper" else demo_results


@pytest.mark.parametrize("width", [1400, 390])
def test_the_page_raises_no_error_and_requests_only_itself(results_folder, show, width):
    page = show(results_folder / "report.html", width=width)
    page.run("document.querySelectorAll('details').forEach(details => details.open = true)")
    page.run("scrollTo(0, document.body.scrollHeight)")
    assert page.errors() == []
    assert page.requests() == [(results_folder / "report.html").as_uri()]


def test_the_content_policy_blocks_requests_and_inline_handlers(results, show):
    page = show(results / "report.html")
    page.run("fetch('https://example.org/').catch(() => null)")
    page.run("new Promise(done => {const image = new Image(); image.onerror = done; image.src = 'https://example.org/x.png'})")
    assert len([text for text in page.errors() if "Content Security Policy" in text]) >= 2
    page.run("document.body.insertAdjacentHTML('beforeend', '<p id=bait onclick=\"document.title=1\">bait</p>')")
    page.click("#bait")
    assert page.run("document.title") != "1"


def test_every_figure_renders(results, show):
    page = show(results / "report.html")
    pictures = page.run("[...document.images].map(image => [image.complete, image.naturalWidth, image.width, image.alt])")
    assert len(pictures) == len(declarations())
    assert all(complete and natural_width > 0 and width > 0 and alt for complete, natural_width, width, alt in pictures)


def is_sorted(values, descending=False):
    """Whether the numbers are in order and the empty values come last."""
    numbers = sorted((float(value) for value in values if value), reverse=descending)
    return [float(value) if value else None for value in values] == numbers + [None] * values.count("")


def test_a_column_sorts_up_then_down_then_not_at_all_by_mouse_or_keyboard(results, show):
    page = show(results / "report.html")
    names, values = page.run(NAMES), page.run(VALUES)
    assert "" in values and not is_sorted(values)
    page.click(f"{HEAD} button")
    assert page.run(ORDER) == "ascending" and is_sorted(page.run(VALUES))
    page.click(f"{HEAD} button")
    assert page.run(ORDER) == "descending" and is_sorted(page.run(VALUES), descending=True)
    page.click(f"{HEAD} button")
    assert page.run(ORDER) is None and page.run(NAMES) == names
    page.run(f"document.querySelector('{TABLE} thead th:nth-child({COLUMN}) button').focus()")
    for key, order in (("Tab", None), ("Enter", "ascending"), (" ", "descending")):
        page.press(key)
        assert page.run(ORDER) == order and (not order or is_sorted(page.run(VALUES), descending=order == "descending"))


def test_every_table_sorts_by_every_column(results, show):
    page = show(results / "report.html")
    failing = page.run("""
        [...document.querySelectorAll('table.sortable')].flatMap(table => {
          const content = () => [...table.tBodies[0].rows].map(row => row.innerHTML).sort().join();
          const before = content();
          return [...table.tHead.rows[0].cells].filter(head => {
            head.querySelector('button').click();
            return head.ariaSort !== 'ascending' || content() !== before
              || table.querySelectorAll('[aria-sort]').length !== 1;
          }).map(head => head.textContent);
        })""")
    assert failing == [] and page.errors() == []


def test_a_filter_of_the_claims_shows_only_those_of_its_verdict(results, show):
    page = show(results / "report.html")
    count_shown_rows = COUNT_SHOWN_ROWS.format("#claims")
    assert page.run(count_shown_rows) == 1 and not page.run("document.querySelector('#claims details.rest').open")
    page.click("#claims .filter [data-show=holds]")
    assert page.run(count_shown_rows) == 1 and page.run("document.querySelector('#claims details.rest').open")
    page.click("#claims .filter [data-show=does-not-hold]")
    assert page.run(count_shown_rows) == 1
    assert page.run("document.querySelector('#claims .shown').textContent") == "1 of 4 rows shown"
    assert page.run("document.querySelector('#claims .filter [aria-pressed=true]').dataset.show") == "does-not-hold"
    page.run("document.querySelector('#claims .filter button').focus()")
    page.press("Enter")  # the first button shows all claims, but does not unfold the rest of them
    assert page.run(count_shown_rows) == 1


def test_a_filter_of_the_tables_fades_the_cells_and_hides_the_rows_of_other_places(results, show):
    page = show(results / "report.html")
    page.click("#tables .filter [data-show=outside]")
    page.run("document.getElementById('numbers').open = true")
    cells = "[...document.querySelectorAll('#tables td[data-verdict]')].filter(cell => cell.checkVisibility())"
    assert set(page.run(f"{cells}.filter(cell => !cell.matches('.faded')).map(cell => cell.dataset.verdict)")) == {"outside"}
    rows = "[...document.querySelectorAll('#numbers tbody tr')].filter(row => row.checkVisibility())"
    assert set(page.run(f"{rows}.map(row => row.dataset.verdict)")) == {"outside"}


def test_the_reason_for_a_number_opens_by_mouse_and_by_keyboard(results, show):
    page = show(results / "report.html")
    cell = f"{TABLE} tbody tr:nth-child(1) td:nth-child({COLUMN + 1})"
    reason = f"document.querySelector('{cell} p')"
    assert not page.run(f"{reason}.checkVisibility()")
    page.click(f"{cell} summary")
    assert page.run(f"{reason}.checkVisibility()") and "range of ours" in page.run(f"{reason}.innerText")
    page.run(f"document.querySelector('{cell} summary').focus()")
    page.press("Enter")
    assert not page.run(f"{reason}.checkVisibility()")


def test_every_link_has_a_target(results_folder, show):
    page = show(results_folder / "report.html")
    links = page.run("[...document.querySelectorAll('a')].map(link => link.getAttribute('href'))")
    anchors = {link for link in links if link.startswith("#")}
    assert {"#answers", "#leaderboard", "#provenance"} <= anchors
    missing = f"{json.dumps(sorted(anchors))}.filter(link => !document.getElementById(link.slice(1)))"
    assert page.run(missing) == []
    files = {link for link in links if not link.startswith("#")}
    assert {"tables/table1_matchers.csv", "figures/cohesion_vs_deviation.pdf"} <= files
    assert [link for link in files if not (results_folder / link).is_file()] == []


def test_a_link_to_something_folded_unfolds_it(results, show):
    page = show(results / "report.html")
    assert not page.run("document.getElementById('numbers').open")
    page.click("#claims details.rest > summary")
    page.click("#claims a[href='#numbers']")
    page.wait_for("document.getElementById('numbers').open")


def test_ids_are_unique_and_no_heading_level_is_skipped(results_folder, show):
    page = show(results_folder / "report.html")
    ids = page.run("[...document.querySelectorAll('[id]')].map(element => element.id)")
    assert len(ids) == len(set(ids))
    levels = page.run("[...document.querySelectorAll('h1, h2, h3, h4')].map(head => Number(head.tagName[1]))")
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("width", [320, 390, 768, 1400])
def test_the_page_is_never_wider_than_the_screen(results_folder, show, width):
    page = show(results_folder / "report.html", width=width)
    page.run("document.querySelectorAll('details').forEach(details => details.open = true)")
    content_width, window_width = page.run("[document.documentElement.scrollWidth, innerWidth]")
    assert content_width <= window_width == width
    # No picture is cut off, not even inside a box that scrolls.
    assert page.run("[...document.images].every(image => image.getBoundingClientRect().right <= innerWidth)")


def test_on_a_phone_the_first_figure_comes_within_three_screens(results, show):
    page = show(results / "report.html", width=390, height=844)
    assert page.run("document.querySelector('main figure').getBoundingClientRect().top + scrollY") < 3 * 844


def test_on_a_phone_the_navigation_is_folded_until_it_is_clicked(results, show):
    page = show(results / "report.html", width=390)
    link = "document.querySelector('nav a[href=\"#data\"]')"
    assert not page.run(f"{link}.checkVisibility()")
    page.click("nav summary")
    assert page.run(f"{link}.checkVisibility()")
    page.click("nav a[href='#data']")
    page.wait_for("Math.abs(document.getElementById('data').getBoundingClientRect().top) < 100")
    assert not page.run(f"{link}.checkVisibility()")
    assert page.run("document.querySelector('nav').getBoundingClientRect().top") == 0


def test_without_scripts_everything_can_be_read(results, show):
    page = show(results / "report.html", script=False)
    assert page.run("document.querySelectorAll('th button').length") == 0
    assert page.run("[...document.querySelectorAll('.filter')].every(filter => !filter.checkVisibility())")
    assert page.run("document.querySelector('nav a').checkVisibility()")
    assert page.run(COUNT_SHOWN_ROWS.format("#claims")) == 1
    assert page.run("document.querySelectorAll('#claims tr[id]').length") == 4
    assert page.errors() == []


def lowest_contrast(page):
    """The lowest contrast ratio of a text to its background, as WCAG defines it, and the element with the text."""
    return page.run("""(() => {
      const linear = c => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
      const luminance = color => { const [r, g, b] = color.map(linear); return .2126 * r + .7152 * g + .0722 * b; };
      const parse = text => (text.match(/[\\d.]+/g) || []).map(Number);
      const background = element => {
        for (let e = element; e; e = e.parentElement) {
          const color = parse(getComputedStyle(e).backgroundColor);
          if (color.length === 3) return color;  // others are transparent
        }
        return [255, 255, 255];
      };
      let lowest = [99, ''];
      const texts = 'p, li, td, th, dt, dd, h1, h2, h3, a, summary, small, .chip, .mark, figcaption';
      for (const element of document.querySelectorAll(texts)) {
        if (!element.checkVisibility() || !element.textContent.trim() || element.closest('.faded')) continue;
        const [a, b] = [luminance(parse(getComputedStyle(element).color)), luminance(background(element))];
        const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        if (ratio < lowest[0]) lowest = [ratio, element.outerHTML.slice(0, 120)];
      }
      return lowest;
    })()""")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(results, show, scheme):
    page = show(results / "report.html")
    page.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    ratio, element = lowest_contrast(page)
    assert ratio >= 4.5, element  # WCAG AA


def test_print_shows_whole_tables_and_no_buttons(results, show):
    page = show(results / "report.html")
    page.send("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert page.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.run("document.querySelector('nav').checkVisibility()")
    assert not page.run("document.querySelector('.filter').checkVisibility()")
    assert page.run("[...document.querySelectorAll('.box')].every(box => getComputedStyle(box).overflowX === 'visible')")


def test_a_browser_that_is_required_and_missing_is_a_failure(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(pytest.skip.Exception, match="Debian's package is called chromium"):
        find_program(required=False)
    with pytest.raises(pytest.fail.Exception, match="CLUSTERLETS_REQUIRE_BROWSER=1 and no Chromium here"):
        find_program(required=True)
