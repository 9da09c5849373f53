"""A program in another language as a method."""

import shutil

import numpy as np
import pytest

from clusterlets.errors import ClusterletsError
from clusterlets.grid.program import program

X, GROUPS = np.array([[0.1, 2.0], [1e-300, -3.5], [1 / 3, 4.0]]), np.array([0, 1, 1])
AWK = """awk -v k={k} 'NR==1 {print "cluster"; next} {print (NR + 1) % k}' {table} > {labels}"""


def fit(command, **parameters):
    return program("mine", command)().fit(X, GROUPS, 2, np.random.default_rng(0), **parameters)


def test_labels_of_a_program():
    assert fit(AWK).tolist() == [1, 0, 1]


def test_the_table_holds_every_digit_and_the_groups_last(tmp_path):
    fit(f"cp {{table}} {tmp_path}/table.csv; {AWK}")
    lines = (tmp_path / "table.csv").read_text().split("\n")
    assert lines == ["x1,x2,sensitive", "0.1,2.0,0", "1e-300,-3.5,1", "0.3333333333333333,4.0,1", ""]


def test_seed_and_parameters_are_passed_and_quoted(tmp_path):
    fit(f"echo {{seed}} {{style}} {{k}} > {tmp_path}/message; {AWK}", style="a'b; $(touch x)")
    seed, style = (tmp_path / "message").read_text().strip().split(" ", 1)
    assert seed == str(np.random.default_rng(0).integers(2**31)) and style == "a'b; $(touch x) 2"


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
def test_faults_of_a_program_are_reported(command, message):
    with pytest.raises(ClusterletsError, match=message):
        fit(command)


def test_quoted_cells_and_foreign_line_ends_are_accepted():
    assert fit('printf \'"cluster"\\r\\n"1"\\r\\n0\\r\\n1\\r\\n\' > {labels} # {table}').tolist() == [1, 0, 1]


def test_a_command_without_placeholders_is_refused():
    with pytest.raises(ClusterletsError, match="lacks {table} and {labels}"):
        program("mine", "Rscript mine.R")


@pytest.mark.skipif(not shutil.which("Rscript"), reason="no R")
def test_r():
    command = "Rscript -e 'write.csv(data.frame(cluster=c(0,1,0)), \"{labels}\", row.names=FALSE, quote=FALSE)' # {table}"
    assert fit(command).tolist() == [0, 1, 0]
