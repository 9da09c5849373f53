"""Stand-ins for the commands of OpenPBS and LSF, so that the profiles can be tested without a cluster.

The stand-ins accept only the arguments that the profiles use, and check them as strictly as the manuals demand. ``install``
writes the commands into a folder, which a test puts on PATH. The folder also keeps the state of each job. A job runs at once,
in the background. As on a real cluster, a PBS job starts in the home folder, with the environment that ``-V`` passes on. An
LSF job starts in the folder from which it was submitted.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

COMMANDS = ("qsub", "qstat", "qdel", "bsub", "bjobs", "bkill")
# $1 is the path of the files with the job's state, without suffix. $2 is the script, and $3 is the log. The job leads a process
# group and writes the group's id to a file, so that `cancel` can end all processes of the job.
_RUN_JOB = 'echo $$ > "$1.group"; "$2" > "$3" 2>&1; echo $? > "$1.status"'


def install(folder):
    """Write the commands as programs into a new folder, which will also hold the state of the jobs. Return the folder."""
    folder.mkdir()
    for name in COMMANDS:
        (folder / name).write_text(f'#!/bin/sh\nexec {sys.executable} {Path(__file__).resolve()} {name} {folder} "$@"\n')
        (folder / name).chmod(0o755)
    return folder


def start(folder, script, log, home=None):
    """Start a job and return its number.

    ``log`` is the path of the job's output, with "{}" for the number. With ``home``, a copy of the script runs in that folder,
    as with PBS. Without it, the script itself runs in the current folder, as with LSF.
    """
    number = sum(1 for _ in folder.glob("*.script")) + 1
    copy = folder / f"{number}.script"
    shutil.copy(script, copy)  # keeps the permission to execute
    command = ["sh", "-c", _RUN_JOB, "sh", str(folder / str(number)), copy if home else script, log.format(number)]
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    subprocess.Popen(command, cwd=home, start_new_session=True, **streams)
    return number


def exit_status(folder, number):
    """Exit status of a job as a string: "" while the job runs, None if there is no such job."""
    if not (folder / f"{number}.script").is_file():
        return None
    status_file = folder / f"{number}.status"
    return status_file.read_text().strip() if status_file.is_file() else ""


def cancel(folder, number):
    """End all processes of a job."""
    group = int((folder / f"{number}.group").read_text())
    os.killpg(group, 15)
    (folder / f"{number}.status").write_text("271")  # what PBS reports after signal 15: 256 + 15


def string_matching(pattern):
    """A type for argparse: strings that match this pattern from start to end."""

    def parse(text):
        if not re.fullmatch(pattern, text):
            raise argparse.ArgumentTypeError(f"{text!r} does not match {pattern}")
        return text

    return parse


def qsub(folder, arguments):
    parser = argparse.ArgumentParser("qsub", allow_abbrev=False)
    parser.add_argument("-V", action="store_true", required=True)
    parser.add_argument("-r", choices=["y", "n"])
    parser.add_argument("-N", type=string_matching(r"[A-Za-z][\w.-]{0,14}"))
    parser.add_argument("-j", choices=["oe"], required=True)
    parser.add_argument("-o", type=string_matching(r"/.+/"), required=True)
    parser.add_argument(
        "-l", action="append", type=string_matching(r"select=1:ncpus=\d+:mem=\d+mb|walltime=\d+"), required=True
    )
    parser.add_argument("script")
    options = parser.parse_args(arguments)
    if len(options.l) != 2:
        parser.error("select and walltime are both needed")
    print(f"{start(folder, options.script, options.o + '{}.OU', Path.home())}.server")


def qstat(folder, arguments):
    parser = argparse.ArgumentParser("qstat", allow_abbrev=False)
    parser.add_argument("-x", action="store_true", required=True)
    parser.add_argument("-f", type=string_matching(r"\d+\.server"), required=True)
    job = parser.parse_args(arguments).f
    status = exit_status(folder, job.removesuffix(".server"))
    if status is None:
        sys.exit(f"qstat: Unknown Job Id {job}")
    print(f"Job Id: {job}\n    Job_Name = clusterlets\n    job_state = {'F' if status else 'R'}")
    print(f"    Exit_status = {status}\n" if status else "    substate = 42")


def qdel(folder, arguments):
    for job in arguments:
        cancel(folder, job.removesuffix(".server"))


def bsub(folder, arguments):
    parser = argparse.ArgumentParser("bsub", allow_abbrev=False)
    parser.add_argument("-rn", action="store_true")
    parser.add_argument("-env", choices=["all"])
    parser.add_argument("-J", type=string_matching(r"[\w.-]+"))
    parser.add_argument("-o", type=string_matching(r".+%J.+"), required=True)
    parser.add_argument("-n", type=int, required=True)
    parser.add_argument("-R", type=string_matching(r"span\[hosts=1\] rusage\[mem=\d+MB\]"), required=True)
    parser.add_argument("-M", type=string_matching(r"\d+MB"), required=True)
    parser.add_argument("-W", type=int, required=True)
    parser.add_argument("command")
    options = parser.parse_args(arguments)
    print(f"Job <{start(folder, options.command, options.o.replace('%J', '{}'))}> is submitted to queue <normal>.")


def bjobs(folder, arguments):
    parser = argparse.ArgumentParser("bjobs", allow_abbrev=False)
    parser.add_argument("-noheader", action="store_true", required=True)
    parser.add_argument("-o", choices=["stat"], required=True)
    parser.add_argument("job", type=int)
    job = parser.parse_args(arguments).job
    status = exit_status(folder, job)
    if status is None:
        sys.exit(f"Job <{job}> is not found")
    print({"": "RUN", "0": "DONE"}.get(status, "EXIT"))


def bkill(folder, arguments):
    for job in arguments:
        cancel(folder, job)


if __name__ == "__main__":
    globals()[sys.argv[1]](Path(sys.argv[2]), sys.argv[3:])
