"""``clusterlets archive``: pack a finished run into one file to deposit."""

import sys
from pathlib import Path

from clusterlets.benchmark.grid.fingerprints import PACKAGE
from clusterlets.benchmark.provenance import packing
from clusterlets.commands import cli
from clusterlets.storage import write_bytes


def main(arguments: list[str]) -> int:
    """Pack a finished run into a ZIP file to deposit.

    It holds the checkout at the commit of the run, your configuration, methods and tables, the results that the manifest
    promises, and REPEAT.md with the commands that verify and repeat the run. The raw data of published datasets are left out,
    because their licences differ.
    """
    parser = cli.parser("archive", main.__doc__)
    parser.add_argument("--results", metavar="FOLDER", type=Path, default=Path("results"), help="default: results")
    cli.add_output_files(
        parser, output="default: clusterlets-<name of the folder>.zip in the current folder; - is standard output"
    )
    options = parser.parse_args(arguments)
    name = f"clusterlets-{options.results.resolve().name}"
    output = options.output or f"{name}.zip"
    inputs = [*cli.files_below("a file of the results", options.results), *cli.files_below("a file of the workflow", PACKAGE)]
    cli.check_output_files({"-o": output}, inputs)
    content, own_files = packing.pack(options.results, name)
    cli.check_output_files({"-o": output}, [("a file that the run was made from", path) for path in own_files])
    if output == cli.STANDARD_OUTPUT:
        sys.stdout.buffer.write(content)
    else:
        with cli.writing(output):
            write_bytes(output, content)
    stream = cli.stream_for_people(output)
    print(f"{output}: {len(content) / 1e6:.1f} MB. REPEAT.md in it says how to verify and repeat the run.", file=stream)
    if own_files:
        print(f"It holds your own files: {', '.join(own_files)}. May they be public?", file=stream)
    return 0
