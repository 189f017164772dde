"""Programs that ascendenv runs: what they are given, how they end, and that nothing of them stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ascendenv import interrupts, process
from ascendenv.errors import CommandFailedError


def test_output_and_exit_code() -> None:
    done = process.run(["sh", "-c", "echo out; echo err >&2; exit 3"], check=False)
    assert done == process.Completed(3, "out\n", "err\n")


def test_words_reach_the_program_as_they_are() -> None:
    words = ["a b", "", "$HOME", "*", "'", "--", "-c"]
    done = process.run([sys.executable, "-c", "import sys; print(sys.argv[1:])", *words])
    assert done.stdout.strip() == repr(words)


def test_a_program_that_reads_does_not_wait() -> None:
    assert process.run(["cat"], timeout=20).stdout == ""


def test_the_pipe_to_the_watcher_is_not_the_programs_business() -> None:
    done = process.run(["sh", "-c", "ls -l /proc/self/fd"])
    assert "pipe:" not in done.stdout.replace("1 -> pipe:", "").replace("2 -> pipe:", "")


def test_a_failure_shows_the_end_of_what_was_printed() -> None:
    with pytest.raises(CommandFailedError) as failed:
        process.run(["sh", "-c", "seq 100 >&2; exit 9"], hint="do this")
    assert failed.value.returncode == 9
    assert failed.value.hint == "do this"
    assert failed.value.message.endswith("  100")
    assert "  50\n" not in failed.value.message


def test_a_missing_program_is_looked_for_on_the_path_that_was_given() -> None:
    with pytest.raises(FileNotFoundError, match="ls"):
        process.run(["ls"], env={"PATH": "/nowhere"})


def test_a_program_of_another_machine_fails_like_any_other(tmp_path: Path) -> None:
    alien = tmp_path / "alien"
    alien.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(60))
    alien.chmod(0o755)
    with pytest.raises(CommandFailedError):
        process.run([alien])


def test_a_time_limit_is_a_failure_where_failures_are_checked() -> None:
    with pytest.raises(CommandFailedError, match=r"given 0\.1 s and had not ended"):
        process.run(["sleep", "60"], timeout=0.1)
    with pytest.raises(subprocess.TimeoutExpired):
        process.run(["sleep", "60"], timeout=0.1, check=False)


def test_lines_as_they_come() -> None:
    lines: list[str] = []
    assert process.stream(["sh", "-c", "echo one; echo two >&2; exit 5"], lines.append) == 5
    assert lines == ["one", "two"]


# Starts a program that starts another one; both write their ids, then wait for ever.
FAMILY = "echo $$ >>{ids}; sh -c 'echo $$ >>{ids}; sleep 600' & wait"
RUN_FAMILY = "import sys; from ascendenv import process; process.run(['sh', '-c', sys.argv[1]])"


def test_nothing_is_left_after_a_time_limit(tmp_path: Path) -> None:
    with pytest.raises(CommandFailedError):
        process.run(["sh", "-c", FAMILY.format(ids=tmp_path / "ids")], timeout=0.5)
    _wait_until(lambda: len(_ids(tmp_path)) == 2 and not _running(tmp_path))


def test_nothing_is_left_when_ascendenv_itself_is_killed(tmp_path: Path) -> None:
    with _family(tmp_path) as parent:
        parent.kill()
    _wait_until(lambda: not _running(tmp_path))


def test_nothing_is_left_after_ctrl_c(tmp_path: Path) -> None:
    with _family(tmp_path) as parent:
        os.killpg(parent.pid, signal.SIGINT)
        assert parent.wait() == -signal.SIGINT
    _wait_until(lambda: not _running(tmp_path))


def test_what_a_program_leaves_running_ends_with_it(tmp_path: Path) -> None:
    process.run(["sh", "-c", f"sleep 600 >/dev/null 2>&1 & echo $! >>{tmp_path / 'ids'}"])
    _wait_until(lambda: not _running(tmp_path))


def test_becoming_a_command_passes_input_signals_and_exit_code() -> None:
    become = "import os, sys; from ascendenv import process; process.replace(sys.argv[1:], os.environ)"
    command = [sys.executable, "-c", become]
    done = subprocess.run(
        [*command, "sh", "-c", "cat; exit 42"], input="given", text=True, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (42, "given")
    killed = subprocess.run([*command, "sh", "-c", "kill -TERM $$"], check=False)
    assert killed.returncode == -signal.SIGTERM
    asked = subprocess.run(
        [*command, "grep", "SigIgn", "/proc/self/status"], text=True, capture_output=True, check=True
    )
    ignored = int(asked.stdout.split()[1], 16)
    assert not ignored & 1 << (signal.SIGPIPE - 1), "`run -- yes | head` would not end"


def test_held_interrupts_come_afterwards() -> None:
    done: list[str] = []

    def work() -> None:
        with interrupts.held():
            signal.raise_signal(signal.SIGINT)
            done.append("the work went on")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done


def test_termination_is_an_exception_with_its_exit_code() -> None:
    code = (
        "import signal; from ascendenv import interrupts; interrupts.raise_on_signals()\n"
        "for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):\n"
        "    try: signal.raise_signal(number)\n"
        "    except interrupts.Interrupted as error: print(error.exit_code, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert done.stdout.splitlines() == [
        "130 SIGINT was received",
        "143 SIGTERM was received",
        "129 SIGHUP was received",
    ]


def test_a_signal_that_the_caller_has_ignored_stays_ignored() -> None:
    code = (
        "import signal; from ascendenv import interrupts; interrupts.raise_on_signals()\n"
        "signal.raise_signal(signal.SIGHUP); print('still here')\n"
    )
    done = subprocess.run(["nohup", sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert done.stdout == "still here\n"


def _family(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", RUN_FAMILY, FAMILY.format(ids=folder / "ids")]
    parent = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
    _wait_until(lambda: len(_running(folder)) == 2)
    return parent


def _ids(folder: Path) -> list[int]:
    ids = folder / "ids"
    return [int(word) for word in ids.read_text().split()] if ids.exists() else []


def _running(folder: Path) -> list[int]:
    return [number for number in _ids(folder) if _is_running(number)]


def _is_running(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state.rpartition(")")[2].split()[0] != "Z"  # a zombie has ended; nobody has asked for it yet


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in 20 s"
        time.sleep(0.01)
