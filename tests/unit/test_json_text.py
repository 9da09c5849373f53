"""JSON of configurations, options and saved clusterings is read by one function, which decides nothing silently."""

import pytest

from clusterlets.errors import ClusterletsError
from clusterlets.json_text import parse_json


def test_json_is_read():
    assert parse_json('{"a": [1, 2.5, null, {"a": true}], "b": "x"}') == {"a": [1, 2.5, None, {"a": True}], "b": "x"}


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "\\u0061": 2}}]'])
def test_a_key_that_stands_twice_is_refused(text):
    with pytest.raises(ClusterletsError, match="the key 'a' stands twice in one mapping"):
        parse_json(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": NaN}', "it holds NaN"),
        ("[-Infinity]", "it holds -Infinity"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5000, "digits"),
        ('{"a": 1', "line 1 column"),
    ],
)
def test_what_is_no_json_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_json(text)


@pytest.mark.parametrize("command", ["cluster", "tune"])
def test_an_option_reads_json_by_the_same_rules(tmp_path, monkeypatch, run, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("g,x\n" + "".join(f"{'ab'[row % 2]},{row % 7}\n" for row in range(12)))
    for text, message in (('{"g": 0.5, "g": 0.01}', "stands twice"), ('{"g": ' * 9999, "nested"), ('{"g": NaN}', "holds NaN")):
        status, output, error = run(command, "t.csv", "--sensitive", "g", "--max-deviation", text)
        assert status == 1 and message in error and "Traceback" not in error, output
