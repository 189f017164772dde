"""`python -m ascendenv_device_probe` prints the report as JSON; the exit code is 0 if every check passed."""

from __future__ import annotations

import json
import sys

from .report import gather


def main() -> int:
    """Print the report to stdout and return the exit code."""
    report = gather()
    print(json.dumps(report, indent=2, ensure_ascii=False))  # noqa: T201 - this is the program's output
    return 0 if report["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
