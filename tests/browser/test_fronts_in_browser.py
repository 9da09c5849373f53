"""The page of fronts in Chromium: the plot agrees with the table, on a wide screen and on a phone."""

import json
from itertools import combinations

import pytest

# JavaScript expressions.
TIP = "document.querySelector('.tip')"
ROWS = "[...document.querySelectorAll('#points tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))"
# The bounding boxes of the names: left, top, width, height.
BOXES = """
    [...document.querySelectorAll('.plot .name')]
      .map(name => name.getBBox()).map(({x, y, width, height}) => [x, y, width, height])"""
# Indices of the table's columns.
METHOD, PRICE, DEVIATION, KEEPS, ON_FRONT, PARAMETERS, CLUSTERS = range(7)


def choose(page, **choices):
    """Choose values in menus. After each choice, the page gets a change event, as if a reader had chosen."""
    for name, value in choices.items():
        page.run(
            f"(() => {{ const menu = document.querySelector('.choices').{name}; menu.value = {json.dumps(str(value))};"
            "menu.dispatchEvent(new Event('change', {bubbles: true})); })()"
        )


def count_elements(page, selector):
    return page.run(f"document.querySelectorAll({json.dumps(selector)}).length")


def option_texts(page, menu):
    return page.run(f"[...document.querySelector('.choices').{menu}.options].map(option => option.text)")


def overlap(a, b):
    """Whether two bounding boxes overlap."""
    return all(a[i] < b[i] + b[i + 2] and b[i] < a[i] + a[i + 2] for i in (0, 1))


@pytest.mark.parametrize("width", [1400, 390])
def test_every_block_is_drawn_without_errors_or_overlapping_names(results, show, width):
    page = show(results / "fronts.html", width=width)
    for table in option_texts(page, "table")[:4]:  # not all, to save time
        for k in option_texts(page, "k"):
            choose(page, table=table, k=k)
            rows = page.run(ROWS)
            assert count_elements(page, ".plot .keeps, .plot .misses") == len(rows) > 3
            assert count_elements(page, ".plot .keeps") == sum(row[KEEPS] == "yes" for row in rows)
            assert count_elements(page, ".plot .front") == sum(row[ON_FRONT] == "yes" for row in rows)
            boxes = page.run(BOXES)
            assert len(boxes) >= 2 and not any(overlap(a, b) for a, b in combinations(boxes, 2)), (table, k)
    assert page.errors() == [] and page.requests() == [(results / "fronts.html").as_uri()]
    assert page.run("[document.documentElement.scrollWidth, innerWidth]") == [width, width]


def test_the_front_has_the_unbeaten_points_within_the_limit(results, show):
    page = show(results / "fronts.html")
    for limit in option_texts(page, "limit"):
        choose(page, limit=limit)
        rows, k = page.run(ROWS), page.run("document.querySelector('.choices').k.value")
        # The table shows four decimals, so a deviation just within the limit may be shown as slightly above it.
        rows_within_limit = [row for row in rows if row[KEEPS] == "yes"]
        assert all(row[CLUSTERS] == k and float(row[DEVIATION]) <= float(limit) + 5e-5 for row in rows_within_limit)
        prices = [float(row[PRICE]) for row in rows_within_limit]
        assert prices == sorted(prices)
        lowest_deviation = float("inf")
        for row in rows_within_limit:
            deviation = float(row[DEVIATION])
            if deviation != pytest.approx(lowest_deviation):  # two deviations that look equal may differ in hidden decimals
                assert (row[ON_FRONT] == "yes") == (deviation < lowest_deviation)
            lowest_deviation = min(lowest_deviation, deviation)
        assert all(row[ON_FRONT] == "no" for row in rows if row[KEEPS] == "no")
        answer = page.run("document.querySelector('.answer').textContent")
        assert f"{len(rows_within_limit) or 'None'} of {len(rows)} points" in answer


def test_pointing_at_a_mark_shows_its_method_and_scores(results, show):
    page = show(results / "fronts.html")
    assert not page.run(f"{TIP}.checkVisibility()")
    page.move_mouse(*page.middle_of("[...document.querySelectorAll('.plot .front')].at(-1)"))
    assert page.run(f"{TIP}.checkVisibility()")
    text = page.run(f"{TIP}.textContent")
    front = [row for row in page.run(ROWS) if row[ON_FRONT] == "yes"]
    row = next(row for row in front if f"price {row[PRICE]}" in text)
    assert text.startswith(row[METHOD]) and (row[PARAMETERS] in ("–", "") or row[PARAMETERS] in text)
    assert f"largest deviation {row[DEVIATION]}" in text and "keeps the limit" in text
    page.move_mouse(5, 5)
    assert not page.run(f"{TIP}.checkVisibility()")


def test_the_table_sorts_and_choosing_another_block_restores_the_original_order(results, show):
    page = show(results / "fronts.html")
    original_rows = page.run(ROWS)
    header = f"#points thead th:nth-child({PRICE + 1})"
    page.click(f"{header} button")
    prices = [float(row[PRICE]) for row in page.run(ROWS)]
    assert prices == sorted(prices) and page.run(f"document.querySelector('{header}').ariaSort") == "ascending"
    choose(page, k=option_texts(page, "k")[-1])
    assert page.run(f"document.querySelector('{header}').ariaSort") is None
    choose(page, k=option_texts(page, "k")[0])
    assert page.run(ROWS) == original_rows


def test_the_page_says_why_it_is_empty_after_a_run_of_one_seed(demo_results, show):
    page = show(demo_results / "fronts.html")
    assert "two seeds" in page.run("document.querySelector('#front').textContent") and page.errors() == []


def test_without_javascript_the_page_says_that_the_plot_needs_it(results, show):
    page = show(results / "fronts.html", script=False)
    assert not page.run("document.querySelector('.choices').checkVisibility()")
    assert "need JavaScript" in page.run("document.querySelector('#front').innerText")
