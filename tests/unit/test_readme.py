"""What the README shows, works."""

import re
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_library_example_runs_and_is_fair():
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict = {}
    exec(example, names)
    colours, labels, fair = names["colours"], names["labels"], names["fair"]
    assert labels.shape == fair.shape == (500,)
    share = colours.mean()
    for found in (labels, fair):
        assert 1 < found.max() + 1 < 20
    assert all(abs(colours[fair == cluster].mean() - share) < 0.02 for cluster in np.unique(fair))


def test_every_link_leads_somewhere():
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(targets) > 5
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_every_cell_it_names_is_in_the_papers_grid():
    import yaml

    from clusterlets.benchmark.grid import cells

    grid = {f"results/{cell.path}" for cell in cells(yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8")))}
    named = re.findall(r"results/runs/\S+\.csv", README)
    assert len(named) == 4 and set(named) <= grid


def test_its_make_targets_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:`|    |mirror )make ([a-z]+)", README)) <= targets
