"""Methods that are programs in another language."""

import os

import numpy as np
import pytest

from clusterlets.errors import ClusterletsError
from clusterlets.supervision.program import program

X, GROUPS = np.array([[0.1, 2.0], [1e-300, -3.5], [1 / 3, 4.0]]), np.array([0, 1, 1])
# For k = 2, the labels of the three rows are 1, 0, 1.
AWK_COMMAND = """awk -v k={k} 'NR==1 {print "cluster"; next} {print (NR + 1) % k}' {table} > {labels}"""


def fit(command, **parameters):
    return program("mine", command)().fit(X, GROUPS, 2, np.random.default_rng(0), **parameters)


@pytest.mark.parametrize("command", [AWK_COMMAND, 'printf \'"cluster"\\r\\n"1"\\r\\n0\\r\\n1\\r\\n\' > {labels} # {table}'])
def test_the_file_of_labels_may_have_quotes_and_windows_line_endings(command):
    assert fit(command).tolist() == [1, 0, 1]


def test_the_table_is_written_with_all_digits_and_the_groups_in_the_last_column(tmp_path):
    fit(f"cp {{table}} {tmp_path}/table.csv; {AWK_COMMAND}")
    lines = (tmp_path / "table.csv").read_text().split("\n")
    assert lines == ["x1,x2,sensitive", "0.1,2.0,0", "1e-300,-3.5,1", "0.3333333333333333,4.0,1", ""]


def test_seed_k_and_parameters_are_passed_and_quoted(tmp_path):
    fit(f"printf '%s\\n' {{seed}} {{style}} {{k}} > {tmp_path}/message; {AWK_COMMAND}", style="a'b; $(touch x)")
    seed = np.random.default_rng(0).integers(2**31)
    assert (tmp_path / "message").read_text() == f"{seed}\na'b; $(touch x)\n2\n"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("echo no luck >&2; exit 3 # {table} {labels}", "ended with status 3: no luck"),
        ("true {table} {labels}", "wrote no labels"),
        ("echo 1 > {labels} # {table}", "should begin with the header cluster"),
        ("printf 'cluster\\n0\\n1\\n' > {labels} # {table}", "2 labels for 3 rows"),
        ("printf 'cluster\\n0\\n-1\\n1' > {labels} # {table}", "the label of row 1 is '-1'"),
        ("printf 'cluster\\n0\\nNA\\n1' > {labels} # {table}", "the label of row 1 is 'NA'"),
        ("printf 'cluster\\n0\\n1.5\\n1' > {labels} # {table}", "the label of row 1 is '1.5'"),
        ("no-such-program {table} {labels}", "status 127: .*not found"),
    ],
)
def test_a_failure_of_a_program_is_reported(command, message):
    with pytest.raises(ClusterletsError, match=message):
        fit(command)


def test_placeholders_inside_a_value_are_not_replaced(tmp_path):
    fit(f"echo {{style}} {{seed}} ${{HOME}} > {tmp_path}/message; {AWK_COMMAND}", style="{seed}; {k} {labels}")
    message = (tmp_path / "message").read_text().split()
    assert message[:3] == ["{seed};", "{k}", "{labels}"] and message[3].isdecimal() and message[4:] == [os.environ["HOME"]]


@pytest.mark.parametrize(
    ("value", "text"), [(None, "null"), (True, "true"), (0.0, "0"), (-0.0, "0"), (1e-5, "1.0e-05"), (3, "3")]
)
def test_parameter_values_are_written_as_in_the_results(tmp_path, value, text):
    fit(f"echo {{x}} > {tmp_path}/message; {AWK_COMMAND}", x=value)
    assert (tmp_path / "message").read_text() == f"{text}\n"


@pytest.mark.parametrize(
    ("command", "parameters", "fault"),
    [
        ("mine {styel}", {"style": "a"}, "{styel} is not one of the parameters (style)"),
        ("mine {styel}", {"style": "a"}, "the command has no {style}, so all its values would give the same run"),
        ("awk '{print}'", {}, "need a space, as in { print }"),
        *((f"mine {{{name}}}", {name: "x.txt"}, f"{{{name}}} stands for something else") for name in ("k", "seed", "labels")),
        ("mine ${style}", {"style": "a"}, "${style} is a variable of the shell; write {style}"),
        ("mine ${k}", {}, "${k} is a variable of the shell; write {k}"),
        ("mine '{style}'", {"style": "a b"}, "the shell would not read 'a b' as one word in place of {style}"),
        ('mine "{style}"', {"style": "$(touch hit)"}, "do not write quotes around a placeholder"),
        ("mine it's {style}", {"style": "a b"}, "do not write quotes around a placeholder"),
    ],
)
def test_a_fault_of_a_command_is_named_before_any_run(command, parameters, fault):
    faults = program("mine", command + " {table} {labels}")().faults(3, **parameters)
    assert fault in "\n".join(faults)


@pytest.mark.parametrize(
    ("command", "parameters"),
    [
        ("mine {style} {k} {seed} ${HOME} ${HOME:-no} { print } {{print $1}} '{\"k\":{k}}'", {"style": "plain"}),
        ("awk '{print $1; if (NR > 1) { exit } }'", {}),
        ("mine '{style}'", {"style": "plain"}),
        ("mine --style={style} 'a'{style}", {"style": "it's {k}"}),
        ("mine it's {style}", {"style": 0.5}),
    ],
)
def test_a_valid_command_has_no_faults(command, parameters):
    assert program("mine", command + " {table} {labels}")().faults(3, **parameters) == []


def test_a_command_without_placeholders_is_refused():
    with pytest.raises(ClusterletsError, match="lacks {table} and {labels}"):
        program("mine", "Rscript mine.R")
