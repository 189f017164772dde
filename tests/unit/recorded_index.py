"""The default index as it was on the day that is written in the recording."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename

from ascendenv.drift.model import File, Snapshot

RECORDING = Path(__file__).with_name("data") / "index" / "recorded.json"


def recorded() -> Snapshot:
    """All of it."""
    content = json.loads(RECORDING.read_text(encoding="utf-8"))
    return Snapshot(
        place="the recorded index",
        day=dt.date.fromisoformat(content["day"]),
        files={name: tuple(map(file, names)) for name, names in content["files"].items()},
        requires={name: tuple(lines) for name, lines in content["requires"].items()},
    )


def file(filename: str, *, yanked: bool = False) -> File:
    """A file of that name."""
    parse = parse_wheel_filename if filename.endswith(".whl") else parse_sdist_filename
    return File(filename, parse(filename)[1], uploaded=dt.date(2026, 12, 24), yanked=yanked)


def project(filename: str) -> str:
    """The project that a file belongs to."""
    return canonicalize_name(filename.split("-", maxsplit=1)[0])
