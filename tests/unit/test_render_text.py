"""Small things about texts: how the program is named, and that only marks are coloured."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from ascendenv.doctor.model import Diagnosis, Finding, Fix, Seen, Title
from ascendenv.render.console import show
from ascendenv.render.text import print_message, render
from ascendenv.render.wording import as_called
from ascendenv.result import Message
from ascendenv.vocabulary import Severity


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ascendenv run -- python train.py", "./bin/ascendenv run -- python train.py"),
        (
            "`ascendenv doctor` says it; `ascendenv install` too",
            "`./bin/ascendenv doctor` says it; `./bin/ascendenv install` too",
        ),
        ('eval "$(ascendenv env)"', 'eval "$(./bin/ascendenv env)"'),
        ("another ascendenv is at work", "another ascendenv is at work"),
        ("~/.local/share/ascendenv is full", "~/.local/share/ascendenv is full"),
    ],
)
def test_commands_are_named_as_the_user_calls_them(
    text: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASCENDENV_PROGRAM", "./bin/ascendenv")
    assert as_called(text) == shown
    monkeypatch.delenv("ASCENDENV_PROGRAM")
    assert as_called(text) == text


def test_only_the_word_error_is_coloured() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, color_system="standard", width=100)
    print_message(console, Message("error", "the text", hint="what to do"))
    assert stream.getvalue() == "\x1b[1;31merror: \x1b[0mthe text\n\x1b[1mhint: \x1b[0mwhat to do\n"


def test_a_command_that_fixes_something_is_never_broken() -> None:
    long = "docker run " + " ".join(f"--device /dev/davinci{number}" for number in range(16))
    finding = Finding(
        id="npu.present",
        severity=Severity.ERROR,
        title=Title(en="there is no NPU", zh="没有 NPU"),
        seen=(Seen(what="a path " + "x" * 90, where="/sys"),),
        fix=(Fix(command=long, note="start the container with them"), Fix(note="or buy one")),
    )
    stream = io.StringIO()
    show(Console(file=stream, width=60), render(Diagnosis(stack="x86_64", findings=(finding,), seconds=0)))
    text = stream.getvalue()
    assert f"    fix   {long}\n          start the container with them\n    fix   or buy one\n" in text
    assert "…" not in text
