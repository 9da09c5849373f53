"""How the fuzz tests draw their examples: a fixed number in `make test`, for a time in `make test-slow`."""

import pytest
from fuzzing import run_examples, search


@pytest.fixture(params=[pytest.param(run_examples, id="examples"), pytest.param(search, id="search", marks=pytest.mark.slow)])
def fuzz(request):
    """``fuzz(check, examples, n_examples)`` calls the check with examples of the strategy."""
    return request.param
