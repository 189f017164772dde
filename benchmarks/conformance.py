"""How much of torch_npu's own public tests pass in the environment in effect.

The tests are the ``test/`` folder of a checkout of https://gitcode.com/Ascend/pytorch. They run in a copy of
it, each file in a process of its own with pytest. The environment must have pytest, and what the tests
themselves import: accelerate, expecttest, hypothesis, parameterized, scipy, torchvision, transformers.

    ascendenv run -- $PWD/.tool-venv/bin/python benchmarks/conformance.py CHECKOUT --output run.json

A share counts passed tests among those that the suite does not skip itself. A file that cannot be imported
counts as one failed test, and a test that crashes or hangs as failed; the rest of its file then runs in a new
process. With --prefork, processes are forks of one that has imported torch_npu, except those of files that
look at variables; a file with a failure runs again in a fresh one, which counts.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import nullcontext
from pathlib import Path

from prefork import preforked
from rich.console import Console
from torch_npu_suite.execute import Limits, Place, run_file
from torch_npu_suite.files import FOLDERS, find
from torch_npu_suite.page import page
from torch_npu_suite.report import changes, failures, folders
from torch_npu_suite.results import FileResult, Run, Subject, load

from ascendenv.process import run

# What nearly every file of the suite imports.
IMPORTS = ["pytest", "torch_npu.testing.testcase", "torch.testing._internal.common_utils"]
VERSIONS = """
import json, os, platform, torch, torch_npu
print(json.dumps({
    "torch": torch.__version__, "torch_npu": torch_npu.__version__, "Python": platform.python_version(),
    "CANN": torch_npu.npu.utils.get_cann_version(), "device": torch_npu.npu.get_device_name(0),
    "simulated": os.environ.get("ASCENDENV_SIMULATED", "0"), "machine": platform.machine(),
}))
"""


def main() -> None:
    """Run, or take a run that was saved; then show it."""
    arguments = _parser().parse_args()
    console = Console()
    found = load(arguments.run) if arguments.run else _run(arguments, console)
    if arguments.markdown:
        print(page(found), end="")
        return
    console.print(folders(found), failures(found))
    if arguments.compare:
        console.print(changes(load(arguments.compare), found))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("checkout", type=Path, nargs="?", help="a checkout of Ascend/pytorch")
    what.add_argument("--run", type=Path, metavar="FILE", help="show a saved run instead")
    parser.add_argument("--folder", action="append", choices=FOLDERS, help="default: all of them")
    parser.add_argument("--file", default="*", metavar="GLOB", help="only files such as `npu/test_a*`")
    parser.add_argument("--failed", action="store_true", help="only files that --output says failures of")
    parser.add_argument("--new", action="store_true", help="only files that --output says nothing of")
    parser.add_argument("--prefork", action="store_true", help="import torch_npu once, where that can be")
    parser.add_argument("--python", default="python", help="the environment's; default: the one on PATH")
    parser.add_argument("--jobs", type=int, default=1, help="files at once")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one test")
    parser.add_argument("--file-timeout", type=float, default=3600, help="seconds for one file")
    parser.add_argument("--output", type=Path, help="save the run; what FILE says of other files is kept")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="an earlier run")
    parser.add_argument("--markdown", action="store_true", help="print the run as a page")
    return parser


def _run(arguments: argparse.Namespace, console: Console) -> Run:
    checkout: Path = arguments.checkout.resolve()
    result = Run(subject=_subject(checkout, arguments.python))
    if arguments.output and arguments.output.exists():
        earlier = load(arguments.output)
        if earlier.subject != result.subject:
            raise SystemExit(f"{arguments.output} is about something else: {earlier.subject}")
        result = earlier
    wanted: list[str] = []
    for folder in arguments.folder or FOLDERS:
        counted, left_out = find(checkout / "test", folder)
        wanted += [name for name in counted if fnmatch.fnmatch(name, arguments.file)]
        if arguments.failed:
            wanted = [name for name in wanted if name in result.files and result.files[name].failed()]
        if arguments.new:
            wanted = [name for name in wanted if name not in result.files]
        result.left_out |= left_out
    limits = Limits(arguments.timeout, arguments.file_timeout)
    forks = preforked(arguments.python, IMPORTS) if arguments.prefork else nullcontext()
    with tempfile.TemporaryDirectory(prefix="conformance-") as scratch, forks as start:
        copy = Path(scratch, "checkout")
        # Tests write beside themselves, and import the torch_npu that is installed, not the sources.
        shutil.copytree(checkout, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        place = Place(arguments.python, copy / "test", limits, start)
        _run_files(result, wanted, place, arguments, console)
    return result


def _run_files(
    result: Run, names: list[str], place: Place, arguments: argparse.Namespace, console: Console
) -> None:
    def one(name: str) -> tuple[str, FileResult]:
        record = place.tests.parent / f"{name.replace('/', '+')}.jsonl"
        return name, run_file(place, name, record)

    with ThreadPoolExecutor(arguments.jobs) as pool:
        for done in as_completed([pool.submit(one, name) for name in names]):
            name, found = done.result()
            result.files[name] = found
            count = ", ".join(f"{number} {outcome}" for outcome, number in found.count().items())
            console.print(f"{name}: {count or 'no tests'} in {found.seconds:.0f} s", highlight=False)
            if arguments.output:
                result.save(arguments.output)


def _subject(checkout: Path, python: str) -> Subject:
    commit = run(["git", "-C", checkout, "rev-parse", "HEAD"]).stdout.strip()
    said = run([python, "-c", VERSIONS], env=dict(os.environ)).stdout
    return Subject(commit=commit, versions=json.loads(said.splitlines()[-1]))


if __name__ == "__main__":
    main()
