"""Small things about texts: how the program is named, and that only marks are coloured."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from ascendenv.render.text import print_message
from ascendenv.render.wording import as_called
from ascendenv.result import Message


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
