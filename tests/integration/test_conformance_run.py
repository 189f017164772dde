"""The conformance script runs files that pass, fail, crash and hang, and misses none of their tests."""

import sys
from pathlib import Path

import pytest
from prefork import Start, preforked
from torch_npu_suite.execute import Limits, Place, run_file
from torch_npu_suite.reasons import groups
from torch_npu_suite.results import FileResult, Run, Subject

SUBJECT = Subject(commit="c0ffee", versions={"torch": "2.13.0"})


@pytest.fixture
def tests(tmp_path: Path) -> Path:
    """The folder of the tests in a checkout."""
    folder = tmp_path / "test"
    folder.mkdir()
    return folder


def ran(tests: Path, source: str, start: Start | None = None, **limits: float) -> FileResult:
    (tests / "test_it.py").write_text(source)
    place = Place(sys.executable, tests, Limits(**({"test": 30.0, "file": 60.0} | limits)), start)
    return run_file(place, "test_it.py", tests.parent / "record.jsonl")


def outcomes(found: FileResult) -> dict[str, str]:
    return {name: str(test.outcome) for name, test in found.tests.items()}


def test_every_outcome_is_told_apart(tests: Path) -> None:
    found = ran(
        tests,
        "import unittest\n"
        "class T(unittest.TestCase):\n"
        "    def test_good(self): pass\n"
        "    def test_bad(self): self.fail('why')\n"
        "    @unittest.skip('not here')\n"
        "    def test_left(self): pass\n"
        "    @unittest.expectedFailure\n"
        "    def test_expected(self): self.fail()\n"
        "    def test_subtests(self):\n"
        "        for number in range(3):\n"
        "            with self.subTest(number=number): self.assertNotEqual(number, 1)\n",
    )
    assert outcomes(found) == {
        "T::test_good": "passed",
        "T::test_bad": "failed",
        "T::test_left": "skipped",
        "T::test_expected": "passed",
        "T::test_subtests": "failed",
    }
    assert found.tests["T::test_bad"].reason == "AssertionError: why"
    assert found.tests["T::test_left"].reason.endswith("not here")


FORKED = "import sys\nforked = sys.orig_argv[1].endswith('server.py')\n"


@pytest.mark.parametrize(
    "source",
    [
        "def test_a(): assert forked\n",
        "def test_a(): pass\ndef test_b(): assert not forked\n",  # fails in the fork, so all run again
        "import os\ndef test_a():\n    if forked: os.abort()\n",
        "import time\ndef test_a():\n    if forked: time.sleep(30)\n",
        "import os\nos.environ['X'] = '1'\ndef test_a(): assert not forked\n",
    ],
)
def test_what_fails_in_a_fork_runs_again_in_a_process_of_its_own(tests: Path, source: str) -> None:
    with preforked(sys.executable, imports=["pytest"]) as start:
        found = ran(tests, FORKED + source, start, test=5.0)
    assert set(outcomes(found).values()) == {"passed"}


def test_a_crash_costs_one_test(tests: Path) -> None:
    found = ran(tests, "import os\ndef test_a(): pass\ndef test_b(): os.abort()\ndef test_c(): pass\n")
    assert outcomes(found) == {"test_a": "passed", "test_b": "failed", "test_c": "passed"}
    assert found.tests["test_b"].reason == "crashed: SIGABRT"


def test_a_test_that_hangs_costs_one_test(tests: Path) -> None:
    source = "import time\ndef test_a(): time.sleep(60)\ndef test_b(): pass\n"
    found = ran(tests, source, test=1.0)
    assert outcomes(found) == {"test_a": "failed", "test_b": "passed"}
    assert found.tests["test_a"].reason == "hung: it had not ended after 1 s"


def test_what_a_file_has_no_time_for_is_not_run(tests: Path) -> None:
    source = "import time\ndef test_a(): time.sleep(60)\ndef test_b(): pass\n"
    assert outcomes(ran(tests, source, file=3.0)) == {"test_a": "failed", "test_b": "not_run"}


def test_an_import_that_fails_is_one_failure(tests: Path) -> None:
    found = ran(tests, "import no_such_module\n")
    assert outcomes(found) == {"import": "failed"}
    assert list(groups(Run(subject=SUBJECT, files={"test_it.py": found}))) == [
        "missing module: no_such_module"
    ]


def test_an_import_that_crashes_is_one_failure(tests: Path) -> None:
    assert outcomes(ran(tests, "import os\nos.abort()\n")) == {"import": "failed"}


def test_a_program_passes_by_its_exit_code(tests: Path) -> None:
    source = (
        "import sys\ndef test_a(mesh): pass\ndef main(): sys.exit({})\nif __name__ == '__main__': main()\n"
    )
    assert outcomes(ran(tests, source.format(0))) == {"main": "passed"}
    assert outcomes(ran(tests, source.format(1))) == {"main": "failed"}
