"""A fixture that runs commands and steps in the process of the test."""

import pytest

from clusterlets import __main__ as command_line
from clusterlets.benchmark.steps import STEPS
from clusterlets.benchmark.steps import __main__ as step_line


@pytest.fixture
def run(capsys):
    """A function that runs a command or a step and returns its status, output and errors."""

    def run_command(*arguments):
        try:
            line = step_line if arguments[:1] and arguments[0] in STEPS else command_line
            status = line.main(list(arguments))
        except SystemExit as exit_request:  # raised by argparse
            status = exit_request.code
        return status, *capsys.readouterr()

    return run_command
