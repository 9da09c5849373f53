"""The step that says what each choice does."""

import json

from clusterlets.grid.runs_frame import read_runs, write_csv
from clusterlets.grid.variants import folder
from clusterlets.paper import sensitivity
from clusterlets.storage import write_text


def assess_sensitivity(runs: str, config: str, output: str, text: str) -> None:
    """The numbers of tables 1 to 4 with each choice taken the other way.

    runs: every run of the grid (.csv)
    config: the workflow's configuration, as JSON, whose variants have been collected
    output: one row a choice and number (.csv)
    text: the telling ones (.md)
    """
    settings = json.loads(config)
    variants = {
        sensitivity.Choice.of_variant(settings, name): read_runs(f"{folder(settings['results'], name)}/runs.csv")
        for name in settings["variants"]
    }
    assessed = sensitivity.assess(read_runs(runs), variants)
    write_csv(output, assessed)
    write_text(text, sensitivity.to_markdown(assessed))
