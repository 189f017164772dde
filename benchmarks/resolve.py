"""How long a plan takes: the matrix, the choice, and the whole command beside uv and pip for the same pins.

Usage: ``.tool-venv/bin/python benchmarks/resolve.py [--rounds 3] [-- OPTIONS OF RESOLVE]``

The peers get the very requirements of the plan, without the hashes: ``uv pip compile`` and ``pip install
--dry-run`` (which downloads the wheels that have no metadata of their own, so it is run once). Cold is with
empty caches, warm with those that the cold run has left. All take turns in one run.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from packaging.version import Version
from uv import find_uv_bin

from ascendenv.compatibility.load import load_remembered
from ascendenv.compatibility.memory import Memory
from ascendenv.compatibility.model import Matrix
from ascendenv.paths import resource_dir
from ascendenv.resolve.index import Found
from ascendenv.resolve.model import Request, Target
from ascendenv.resolve.resolver import resolve
from ascendenv.resolve.sources import Wheel
from ascendenv.vocabulary import Arch

TARGET = Target(arch=Arch.AARCH64, python="3.11", glibc="2.28")
DEFAULT = ["--torch", "2.9.0", "--arch", "aarch64", "--python", "3.11"]
GROWN = 100


class Everything:
    """An index that has whatever it is asked for: what is measured is the choice."""

    def find(self, project: str, version: Version, target: Target) -> Found:
        """A wheel, always."""
        return Found(Wheel(f"{project}-{version}-py3-none-any.whl", version), f"an index for {target.arch}")


def grown(matrix: Matrix, times: int) -> Matrix:
    """The matrix with every CANN, train, release, statement and report there ``times`` over, newer each time.

    CANN 9.1.0 of the third round is 309.1.0, torch 2.9.0 is 302.9.0: all lines stay what they are.
    """

    def moved(text: str, round_: int) -> str:
        major, _, rest = text.partition(".")
        return f"{100 * round_ + int(major)}.{rest}" if major.isdigit() else text

    def rows(name: str, *columns: str) -> tuple[object, ...]:
        made = []
        for round_ in range(times):
            for row in getattr(matrix, name):
                changes = {}
                for column in columns:
                    value = getattr(row, column)
                    if value is not None:
                        changes[column] = (
                            moved(value, round_)
                            if isinstance(value, str)
                            else tuple(moved(item, round_) for item in value)
                        )
                made.append(type(row).model_validate({**row.model_dump(), **changes}))
        return tuple(made)

    tables = {
        "torch_npu": rows("torch_npu", "torch_npu", "torch", "train", "cann"),
        "trains": rows("trains", "train", "cann", "torch"),
        "cann": rows("cann", "cann"),
        "compatibility": rows("compatibility", "trains", "cann"),
        "reports": rows("reports", "torch_npu", "cann"),
    }
    return matrix.model_copy(update=tables)  # type: ignore[arg-type]  # each table has its own kind of row


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """The time of one call."""
    started = clock()
    work()
    return clock() - started


def cpu_seconds(work: Callable[[], object]) -> float:
    """The processor time of one call in this process, which a busy machine hardly changes."""
    return seconds(work, time.process_time)


def run(command: Sequence[str], environ: Mapping[str, str]) -> float:
    """The time of one command, which has to succeed."""
    return seconds(
        lambda: subprocess.run(command, env=dict(environ), check=True, capture_output=True, text=True)
    )


def caches(folder: Path) -> dict[str, str]:
    """An environment of variables with caches of its own."""
    return {
        **os.environ,
        "UV_CACHE_DIR": str(folder / "uv"),
        "PIP_CACHE_DIR": str(folder / "pip"),
        "ASCENDENV_CACHE_DIR": str(folder / "ascendenv"),
    }


def report(name: str, times: Sequence[float], beside: float | None = None) -> None:
    """One line: the median, and the ratio to a peer."""
    median = statistics.median(times)
    ratio = "" if not beside else f"   {median / beside:5.2f} x uv"
    print(f"{name:<34} {median * 1000:8.0f} ms{ratio}")


def in_process(rounds: int) -> None:
    """The parts without processes and network, in processor time."""
    directory = resource_dir("matrix")
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory(Path(folder), directory)
        report("matrix, files read and checked", [cpu_seconds(lambda: load_remembered(directory, memory))])

        def remembered() -> object:
            matrix = load_remembered(directory, Memory(Path(folder), directory))
            return matrix.torch_npu, matrix.cann, matrix.trains, matrix.compatibility, matrix.reports

        report("matrix, remembered", [cpu_seconds(remembered) for _ in range(rounds)])
        matrix = load_remembered(directory, memory)
    wanted = Request(torch="2.9.0")
    report(
        "choice", [cpu_seconds(lambda: resolve(wanted, TARGET, matrix, Everything())) for _ in range(rounds)]
    )
    large = grown(matrix, GROWN)
    report(
        f"choice, matrix x {GROWN} ({len(large.torch_npu)} rows)",
        [cpu_seconds(lambda: resolve(wanted, TARGET, large, Everything())) for _ in range(rounds)],
    )
    clash = Request(cann="9.1.0", torch="2.6.0")
    report(
        f"refusal, matrix x {GROWN}",
        [cpu_seconds(lambda: resolve(clash, TARGET, large, Everything())) for _ in range(rounds)],
    )


def commands(options: Sequence[str], rounds: int) -> None:
    """The whole command, and the peers on the requirements of its plan."""
    ours = [sys.executable, "-m", "ascendenv", "resolve", *options, "--format", "json"]
    planned = subprocess.run(ours, check=True, capture_output=True, text=True)
    plan = json.loads(planned.stdout)["result"]["plan"]
    arch, python = plan["target"]["arch"], plan["target"]["python"]
    with tempfile.TemporaryDirectory() as scratch:
        pins = Path(scratch, "pins.in")
        pins.write_text("".join(f"{p['name']}=={p['version']}\n" for p in plan["packages"]))
        extra = [f"--extra-index-url={index}" for index in plan["indexes"]]
        uv = [
            find_uv_bin(), "pip", "compile", "--quiet", "--generate-hashes", f"--python-version={python}",
            f"--python-platform={arch}-manylinux_2_28", "--only-binary=:all:",
            "--index-strategy=unsafe-best-match", *extra, str(pins), "--output-file", f"{scratch}/lock.txt",
        ]  # fmt: skip
        pip = [
            sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--ignore-installed",
            "--only-binary=:all:", f"--python-version={python}", f"--target={scratch}/target",
            *(f"--platform=manylinux_2_{minor}_{arch}" for minor in range(28, 16, -1)),
            f"--platform=manylinux2014_{arch}", *extra, "-r", str(pins),
        ]  # fmt: skip
        cold: dict[str, list[float]] = {"ascendenv": [], "uv": []}
        warm: dict[str, list[float]] = {"ascendenv": [], "uv": []}
        for round_ in range(rounds):
            for name, command in (("ascendenv", ours), ("uv", uv)):
                environ = caches(Path(scratch, f"{name}{round_}"))
                cold[name].append(run(command, environ))
                warm[name].append(run(command, environ))
        report("ascendenv resolve, cold", cold["ascendenv"], statistics.median(cold["uv"]))
        report("uv pip compile, cold", cold["uv"])
        report("ascendenv resolve, warm", warm["ascendenv"], statistics.median(warm["uv"]))
        report("uv pip compile, warm", warm["uv"])
        report(
            "pip install --dry-run, cold",
            [run(pip, caches(Path(scratch, "pip")))],
            statistics.median(cold["uv"]),
        )


def main() -> None:
    """Measure, and print one line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--in-process", action="store_true", help="without processes and network")
    parser.add_argument("options", nargs="*", default=DEFAULT)
    given = parser.parse_args()
    in_process(given.rounds)
    if not given.in_process:
        commands(given.options, given.rounds)


if __name__ == "__main__":
    main()
