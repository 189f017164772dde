"""The runner against tiny suites of its own: what a failing, crashing or hanging check does to the others."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ascendenv.errors import UsageError
from ascendenv.verify.journal import Journal
from ascendenv.verify.model import Check
from ascendenv.verify.runner import SUITE
from ascendenv.verify.session import Limits, Session, VerificationError
from ascendenv.vocabulary import Outcome

SHARED = ("conftest.py", "suite_checks.py", "suite_process.py", "run.py", "pytest.ini")
HEADER = """
import os, signal, subprocess, sys, time
from pathlib import Path
import pytest
from suite_checks import check
"""

RunSuite = Callable[..., list[Check]]


@pytest.fixture
def write_suite(tmp_path: Path) -> Callable[[str], Path]:
    """Make a suite's folder of the real plugin and the text of some checks."""

    def write(text: str) -> Path:
        suite = tmp_path / "suite"
        suite.mkdir(exist_ok=True)
        for name in SHARED:
            shutil.copy(SUITE / name, suite)
        (suite / "test_fake.py").write_text(HEADER + textwrap.dedent(text))
        return suite

    return write


@pytest.fixture
def run_suite(tmp_path: Path, write_suite: Callable[[str], Path]) -> RunSuite:
    """Run a suite given as text, with this Python; the result is what the journal holds at the end."""

    def run(
        text: str,
        *,
        select: str | None = None,
        limits: Limits = Limits(check=60, run=120),  # noqa: B008  # frozen
        told: list[Check] | None = None,
    ) -> list[Check]:
        suite, scratch, tools = write_suite(text), tmp_path / "scratch", tmp_path / "tools"
        for folder in (scratch, tools):
            folder.mkdir()
        session = Session(
            python=Path(sys.executable),
            environ={**os.environ, "PYTEST_ADDOPTS": "--no-such-option", "MARK": str(tmp_path / "mark")},
            suite=suite,
            tools=tools,
            scratch=scratch,
            limits=limits,
            select=select,
        )
        journal = session.run((told if told is not None else []).append)
        assert not list(suite.rglob("__pycache__"))
        return journal.checks()

    return run


def fake(id_: str, body: str) -> str:
    """The source of one check."""
    name = id_.replace(".", "_")
    return f'''
@check(id="{id_}", title="the title of {id_}", advice="the advice of {id_}")
def test_{name}():
    """What {id_} proves."""
    {body}
'''


def outcomes(checks: list[Check]) -> dict[str, str]:
    return {check.id: str(check.outcome) for check in checks}


def test_a_passing_suite_reports_every_check_with_its_texts(run_suite: RunSuite) -> None:
    told: list[Check] = []
    checks = run_suite(fake("probe.devices", "pass") + fake("tensor.copy", "time.sleep(0.2)"), told=told)

    assert outcomes(checks) == {"probe.devices": "passed", "tensor.copy": "passed"}
    assert checks[0].title == "the title of probe.devices"
    assert checks[0].proves == "What probe.devices proves."
    assert checks[0].advice == "the advice of probe.devices"
    assert checks[1].seconds >= 0.2
    assert told == checks


def test_a_failed_layer_leaves_higher_layers_not_run_and_finishes_its_own(run_suite: RunSuite) -> None:
    checks = run_suite(
        fake("hccl.all_reduce", "pass")
        + fake("import.torch", "pass")
        + fake("tensor.copy", 'print("on the way"); assert 1 == 2, "the copy differs"')
        + fake("tensor.matmul", "pass")
        + fake("memory.statistics", "pass")
    )

    assert outcomes(checks) == {
        "import.torch": "passed",
        "tensor.copy": "failed",
        "tensor.matmul": "passed",
        "memory.statistics": "not_run",
        "hccl.all_reduce": "not_run",
    }
    failed, not_run = checks[1], checks[3]
    assert failed.detail.startswith("the copy differs")
    assert "test_fake.py:" in failed.detail
    assert failed.output == "on the way"
    assert not_run.detail == "not run: layer tensor failed: tensor.copy"


def test_each_layer_has_an_interpreter_of_its_own(run_suite: RunSuite) -> None:
    pids = fake("tensor.copy", "") + fake("tensor.views", "") + fake("memory.pinned", "")
    checks = run_suite(pids.replace("():\n", "(tell):\n    tell.seen(str(os.getpid()))\n"))

    tensor, also_tensor, memory = (check.detail for check in checks)
    assert tensor.isdigit()
    assert tensor == also_tensor != memory


def test_a_skipped_check_keeps_its_reason_and_blocks_nothing(run_suite: RunSuite) -> None:
    checks = run_suite(
        fake("memory.pinned", 'pytest.skip("one device only")') + fake("hccl.all_reduce", "pass")
    )

    assert outcomes(checks) == {"memory.pinned": "skipped", "hccl.all_reduce": "passed"}
    assert checks[0].detail == "one device only"


def test_parameters_become_part_of_the_id_and_the_title(run_suite: RunSuite) -> None:
    checks = run_suite("""
        @pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
        @check(id="tensor.matmul", title="matmul in {dtype}", advice="")
        def test_matmul(dtype):
            assert dtype == "float32"
    """)

    assert outcomes(checks) == {"tensor.matmul.float32": "passed", "tensor.matmul.bfloat16": "failed"}
    assert [check.title for check in checks] == ["matmul in float32", "matmul in bfloat16"]


@pytest.mark.parametrize(
    ("death", "cause"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "the interpreter died (signal 11) in\n"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "the interpreter died (signal 9)"),
        ("os._exit(3)", "the interpreter died (exit code 3)"),
    ],
)
def test_a_crash_fails_the_running_check_and_the_rest_goes_on(
    run_suite: RunSuite, death: str, cause: str
) -> None:
    told: list[Check] = []
    checks = run_suite(
        fake("tensor.copy", "pass")
        + fake("tensor.matmul", f'print("last words", flush=True); {death}')
        + fake("tensor.views", "pass")
        + fake("memory.statistics", "pass"),
        told=told,
    )

    assert outcomes(checks) == {
        "tensor.copy": "passed",
        "tensor.matmul": "failed",
        "tensor.views": "passed",
        "memory.statistics": "not_run",
    }
    assert checks[1].detail.startswith(cause)
    assert told == checks


def test_a_crash_before_the_first_check_finishes_is_a_failure_too(run_suite: RunSuite) -> None:
    checks = run_suite(fake("probe.devices", "os.abort()") + fake("tensor.copy", "pass"))

    assert outcomes(checks) == {"probe.devices": "failed", "tensor.copy": "not_run"}
    assert checks[0].detail.startswith("the interpreter died (signal 6)")


def test_a_hanging_check_is_ended_with_its_children(run_suite: RunSuite, tmp_path: Path) -> None:
    # `sleep` is called through libc with the interpreter lock held, as a hanging driver would hold it.
    hang = """
    import ctypes, suite_process
    child = suite_process.start("forever.py", stderr=subprocess.DEVNULL)
    Path(os.environ["MARK"]).write_text(str(child.pid))
    ctypes.PyDLL(None).sleep(600)
"""
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "forever.py").write_text("import time; time.sleep(600)")
    checks = run_suite(
        fake("tensor.copy", hang) + fake("tensor.matmul", "pass") + fake("hccl.all_reduce", "pass"),
        limits=Limits(check=2),
    )

    assert outcomes(checks) == {
        "tensor.copy": "failed",
        "tensor.matmul": "passed",
        "hccl.all_reduce": "not_run",
    }
    assert checks[0].detail.startswith("no answer within 2 s; it was in\n")
    assert "test_tensor_copy" in checks[0].detail
    assert not _alive(int((tmp_path / "mark").read_text()))


def test_the_limit_for_the_whole_run_ends_it(run_suite: RunSuite) -> None:
    checks = run_suite(
        fake("probe.devices", "pass") + fake("probe.copy", "time.sleep(600)") + fake("tensor.copy", "pass"),
        limits=Limits(run=4),
    )

    assert outcomes(checks) == {"probe.devices": "passed", "probe.copy": "failed", "tensor.copy": "not_run"}
    assert checks[1].detail == "the time limit of 4 s for the whole run was reached"
    assert checks[2].detail == "not run: the time limit of 4 s for the whole run was reached"


INTERRUPTED = """
import os, sys
from pathlib import Path
from ascendenv.verify.session import Session

suite, scratch = map(Path, sys.argv[1:])
Session(
    python=Path(sys.executable), environ=os.environ, suite=suite, tools=scratch, scratch=scratch
).run(print)
"""


@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_a_runner_that_is_interrupted(
    signal_: signal.Signals, tmp_path: Path, write_suite: Callable[[str], Path]
) -> None:
    mark, scratch = tmp_path / "mark", tmp_path / "scratch"
    scratch.mkdir()
    body = f"Path({str(mark)!r}).write_text(f'{{os.getpid()}}\\n'); time.sleep(600)"
    suite = write_suite(fake("tensor.copy", body))
    runner = subprocess.Popen([sys.executable, "-c", INTERRUPTED, suite, scratch], stderr=subprocess.PIPE)
    _wait_until(lambda: mark.exists() and mark.read_text().endswith("\n"))
    runner.send_signal(signal_)

    _, stderr = runner.communicate(timeout=60)
    assert runner.returncode == -signal_ or (signal_ is signal.SIGINT and b"KeyboardInterrupt" in stderr)
    _wait_until(lambda: not _alive(int(mark.read_text())))


def test_an_error_in_the_listener_reaches_the_caller(run_suite: RunSuite) -> None:
    class Broken(list[Check]):
        def append(self, _check: Check) -> None:
            raise RuntimeError("the terminal is gone")

    with pytest.raises(RuntimeError, match="the terminal is gone"):
        run_suite(fake("tensor.copy", "pass"), told=Broken())


def test_a_fixture_that_fails_fails_the_check(run_suite: RunSuite) -> None:
    checks = run_suite("""
        @check(id="probe.devices", title="", advice="")
        def test_devices(probe):
            raise AssertionError("unreachable")
    """)

    assert outcomes(checks) == {"probe.devices": "failed"}
    assert "No module named 'ascendenv_device_probe'" in checks[0].detail


@pytest.mark.parametrize("select", ["matmul", "tensor.matmul", "tensor and not copy"])
def test_a_selection_is_over_check_ids(run_suite: RunSuite, select: str) -> None:
    checks = run_suite(
        fake("tensor.copy", "pass") + fake("tensor.matmul", "pass") + fake("probe.copy", "assert False"),
        select=select,
    )

    assert outcomes(checks) == {"tensor.matmul": "passed"}


@pytest.mark.parametrize("select", ["nothing_like_it", "and and"])
def test_a_selection_that_selects_nothing_is_the_users_mistake(run_suite: RunSuite, select: str) -> None:
    with pytest.raises(UsageError, match=select):
        run_suite(fake("tensor.copy", "pass"), select=select)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("raise RuntimeError('broken module')", "broken module"),
        ("def test_undeclared(): pass", "test_undeclared is not declared as a check"),
        (fake("engine.start", "pass"), "engine.start belongs to no layer"),
    ],
)
def test_a_suite_that_cannot_start_is_an_error_and_no_report(
    run_suite: RunSuite, text: str, told: str
) -> None:
    with pytest.raises(VerificationError, match="could not be started") as caught:
        run_suite(text)
    assert told in caught.value.message


def test_a_line_that_is_still_being_written_is_not_read(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.finish("tensor.copy", Outcome.PASSED, "")
    with journal.path.open("a") as file:
        file.write('{"event": "finish", "id": "tens')

    assert [event["id"] for event in journal.events()] == ["tensor.copy"]


def _alive(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "State:\tZ" not in status.read_text()


def _wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline, "waited for a minute"
        time.sleep(0.05)
