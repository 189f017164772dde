"""How long the command line takes to start, as a ratio to the interpreter alone and to ``pip``, in one run.

Usage: ``.tool-venv/bin/python benchmarks/startup.py``
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

ROUNDS = 15
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "ascendenv --help": ["-m", "ascendenv", "--help"],
    "pip --help": ["-m", "pip", "--help"],
}


def seconds(arguments: list[str]) -> float:
    """The time of one run."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main() -> None:
    """Take turns, so that a busy moment of the machine hits all of them alike."""
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, arguments in COMMANDS.items():
            taken[name].append(seconds(arguments))
    medians = {name: statistics.median(times) for name, times in taken.items()}
    for name, median in medians.items():
        ratio = median / medians["python -c pass"]
        print(f"{name:<18} {median * 1000:6.0f} ms  {ratio:5.1f} x the bare interpreter")


if __name__ == "__main__":
    main()
