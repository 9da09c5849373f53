"""``clusterlets archive``: pack a finished run into one file to deposit, a Workflow Run RO-Crate."""

import json
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from clusterlets.commands import cli
from clusterlets.errors import ClusterletsError
from clusterlets.grid.fingerprints import PACKAGE
from clusterlets.provenance import crate, manifest, packing
from clusterlets.provenance.environment import user
from clusterlets.storage import write_bytes
from clusterlets.text import counted


def main(arguments: list[str]) -> int:
    """Pack a finished run as a Workflow Run RO-Crate, validate it, and write it to a file.

    The crate holds the workflow at the commit of the run, your configuration, the files of your own methods, and the results
    that the manifest promises. It also describes the software, the settings, and the raw data by address and checksum. The raw
    data themselves are left out, because their licences differ.
    """
    parser = cli.parser("archive", main.__doc__)
    parser.add_argument("--results", metavar="FOLDER", type=Path, default=Path("results"), help="default: results")
    cli.add_output_files(parser, output="default: <name of the folder>.crate.zip in the current folder; - is standard output")
    parser.add_argument("--agent", metavar="NAME", default=user(), help="who ran the workflow; default: git's user.name")
    options = parser.parse_args(arguments)
    output = options.output or f"{options.results.resolve().name}.crate.zip"
    inputs = [
        *cli.files_below("a file of the results", options.results),
        *cli.files_below("a file of the workflow", *(PACKAGE.parent / name for name in packing.SOURCE_NAMES)),
    ]
    cli.check_output_files({"-o": output}, inputs)
    if not options.agent:
        raise ClusterletsError(
            "An archive names who ran the workflow, and git has no user.name here: add `--agent 'Their name'`, or run `make "
            f"archive RESULTS={options.results} AGENT='Their name'`."
        )
    run = packing.read(options.results, options.agent)
    user_files = packing.user_files(run)
    table_paths = [table["path"] for table in run.manifest["settings"]["tables"].values() if "path" in table]
    run_inputs = [*run.provenance["configfiles"], *manifest.user_files(run.manifest), *table_paths]
    cli.check_output_files({"-o": output}, [("a file that the run was made from", path) for path in run_inputs])
    _require_libraries(options.results)
    source_files, result_files = packing.source_files(run.provenance["source"]), packing.result_files(run)
    metadata = json.dumps(crate.describe_run(run, source_files, user_files, result_files), indent=1).encode()
    files: dict[str, bytes | Path] = {crate.NAME: metadata, **source_files, **user_files, **result_files}
    content = packing.pack(files)
    _validate(content)
    if output == cli.STANDARD_OUTPUT:
        sys.stdout.buffer.write(content)
    else:
        with cli.writing(output):
            write_bytes(output, content)
    stream = cli.stream_for_people(output)
    print(
        f"{output}: {counted(len(files), 'file')}, {len(content) / 1e6:.1f} MB, valid according to {crate.PROFILE}. "
        f"Ready to deposit, as run by {options.agent}.",
        file=stream,
    )
    for dataset, personal_data in packing.revealed_contents(run).items():
        print(f"About your table {dataset}, the archive reveals {personal_data}. May these be public?", file=stream)
    return 0


def _require_libraries(results: Path) -> None:
    missing_libraries = [library for library in ("rocrate", "rocrate_validator") if not find_spec(library)]
    if missing_libraries:
        raise ClusterletsError(
            f"The library {missing_libraries[0]} is not installed. `make archive RESULTS={results}` sets it up and runs this "
            "command; in an environment of your own, run `pip install '.[archive]'` in a checkout."
        )


def _validate(content: bytes) -> None:
    """Raise ClusterletsError if the bytes are not a valid crate."""
    with tempfile.TemporaryDirectory() as folder:
        crate_file = Path(folder) / "run.crate.zip"
        crate_file.write_bytes(content)
        problems = crate.faults(crate_file)
    if problems:
        raise ClusterletsError("\n  ".join([f"The crate does not conform to {crate.PROFILE}:", *problems]))
