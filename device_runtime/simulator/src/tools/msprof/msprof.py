"""What `torch_npu` and its users call `msprof` for: turning recorded profiles into tables and timelines.

The options are those of CANN's msprof that torch_npu gives. Collecting is left to `torch_npu.profiler`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cann_profile import communication, database, records, tables, timeline

# torch_npu looks for this sentence in the help to learn that `--type=text` makes the database as well.
TYPES = "text(which will also export the database) or db"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="msprof",
        description="Profiles of the simulated CANN; nothing in them is a measurement of an NPU.",
        formatter_class=argparse.RawTextHelpFormatter,
    )
    made.add_argument("--output", type=Path, required=True, help="a PROF_* directory, or one that holds some")
    made.add_argument("--export", choices=["on", "off"], default="off", help="make tables and a timeline")
    made.add_argument("--analyze", choices=["on", "off"], default="off", help="sum up communication")
    made.add_argument("--type", choices=["text", "db"], default="text", help=TYPES)
    return made


def profiles_in(directory: Path) -> list[Path]:
    """The directories of profiles that this one is or holds."""
    if (directory / "host" / "start_info").is_file():
        return [directory]
    return sorted(path.parent.parent for path in directory.glob("PROF_*/host/start_info"))


def main(arguments: list[str]) -> None:
    """Do what the arguments ask for."""
    asked = parser().parse_args(arguments)
    if asked.export == asked.analyze == "off":
        sys.exit("msprof: the simulated CANN knows --export=on and --analyze=on only")
    directories = profiles_in(asked.output)
    if not directories:
        sys.exit(f"msprof: no profile in {asked.output}")
    for directory in directories:
        profile = records.load(directory)
        if asked.export == "on":
            database.write(profile, directory)
            if asked.type == "text":
                timeline.write(profile, directory / "mindstudio_profiler_output")
                tables.write(profile, directory / "mindstudio_profiler_output")
        if asked.analyze == "on" and asked.type == "text":
            communication.write(profile, directory / "analyze")


if __name__ == "__main__":
    main(sys.argv[1:])
