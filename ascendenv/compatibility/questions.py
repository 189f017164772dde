"""What is asked to go together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from packaging.version import InvalidVersion, Version

from ascendenv.compatibility import query
from ascendenv.compatibility.model import Matrix
from ascendenv.compatibility.subjects import Subject
from ascendenv.errors import UsageError
from ascendenv.versions import CannVersion
from ascendenv.vocabulary import Arch, ChipFamily


@dataclass(frozen=True)
class Question:
    """What is asked to go together. ``None`` leaves a part open."""

    cann: CannVersion | None = None
    torch: Version | None = None
    torch_npu: Version | None = None
    train: str | None = None
    extension: tuple[str, str] | None = None
    chip: ChipFamily | None = None
    arch: Arch | None = None
    python: str | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of what is given, in the order of the fields."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name) is not None)

    def having(self, part: str, value: object) -> Question:
        """The same with another value of one part; ``None`` leaves it open."""
        changed: dict[str, Any] = {part: value}
        return replace(self, **changed)

    def say(self, part: str) -> str:
        """One part as people say it: ``CANN 9.1.0``."""
        value = getattr(self, part)
        if part == "extension":
            return " ".join(value)
        return f"{LABELS[part]}{value}"


LABELS = {
    "cann": "CANN ",
    "torch": "torch ",
    "torch_npu": "torch_npu ",
    "train": "train ",
    "chip": "chip ",
    "arch": "",
    "python": "Python ",
}


def question(matrix: Matrix, subjects: Iterable[Subject], **target: str | None) -> Question:
    """The question that the subjects and the target's ``arch``, ``python`` and ``chip`` make together.

    Raises :class:`~ascendenv.errors.UsageError` for what is no version, and for a kind that is named twice.
    """
    asked = Question()
    for kind, name in (*((s.kind, s.name) for s in subjects), *target.items()):
        if name is None:
            continue
        part, value = parsed_part(matrix, kind, name)
        if getattr(asked, part) is not None:
            raise UsageError(f"{asked.say(part)} and {kind} {name}: only one can be asked for at a time")
        asked = asked.having(part, value)
    return asked


def parsed_part(matrix: Matrix, kind: str, name: str) -> tuple[str, object]:
    """The part of a question that ``kind`` is, and its value. Raises ``UsageError`` for what is none."""
    try:
        match kind:
            case "cann":
                return kind, CannVersion(name)
            case "torch" | "torch_npu":
                return kind, Version(name)
            case "chip":
                return kind, query.parse_chip(matrix, name)
            case "train" | "python":
                return kind, name
            case "arch":
                return kind, Arch(name)
            case _:
                return "extension", (kind, name)
    except (InvalidVersion, ValueError):
        known = [str(arch) for arch in Arch] if kind == "arch" else []
        raise UsageError(
            f"{name!r} is no {kind.replace('cann', 'CANN version')}",
            hint=f"known: {', '.join(known)}" if known else "such as 2.7.1, or 9.1.0 for CANN",
        ) from None
