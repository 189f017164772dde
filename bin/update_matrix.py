#!/usr/bin/env python3
"""Brings matrix/*.toml to what the package index has, and prints the change.

Usage: ``.tool-venv/bin/python bin/update_matrix.py [--dry-run]``

What is read are wheels, their requirements and new releases; the change is in the files' canonical form, so
that nothing but facts shows in it. Which train and CANN a new release belongs to has to be filled in by hand.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(CHECKOUT))

from ascendenv.compatibility.load import load  # noqa: E402  # the checkout's own code
from ascendenv.drift.compare import compare  # noqa: E402  # likewise
from ascendenv.drift.read import snapshot  # noqa: E402  # likewise
from ascendenv.drift.update import updated, write  # noqa: E402  # likewise
from ascendenv.errors import AscendenvError  # noqa: E402  # likewise
from ascendenv.host.gather import gather  # noqa: E402  # likewise


def main() -> int:
    """Exit code 0 unless the index could not be read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dry-run", action="store_true", help="print the change, write nothing")
    arguments = parser.parse_args()
    directory = CHECKOUT / "matrix"
    matrix = load(directory)
    try:
        seen = snapshot(matrix, gather(matrix).pip)
    except AscendenvError as error:
        sys.stderr.write(f"error: {error.message}\n")
        return int(error.exit_code)
    newer = updated(matrix, seen)
    sys.stdout.write(write(newer, directory, dry_run=arguments.dry_run))
    for difference in compare(newer, seen).differences:
        sys.stderr.write(f"to be settled by hand: {difference.subject}: {difference.there}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
