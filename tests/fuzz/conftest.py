"""Fuzz tests try a fixed number of examples in `make test`, and examples for a fixed time in `make test-slow`."""

import pytest
from fuzzing import run_examples, search


@pytest.fixture(params=[pytest.param(run_examples, id="examples"), pytest.param(search, id="search", marks=pytest.mark.slow)])
def fuzz(request):
    """A function: ``fuzz(check, examples, n_examples)`` calls ``check`` with examples of the strategy ``examples``."""
    return request.param
