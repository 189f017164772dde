"""All that is known of one subject: what ``ascendenv matrix show`` returns."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel, ConfigDict

from ascendenv.compatibility.describe.cann import cann
from ascendenv.compatibility.describe.chip import chip
from ascendenv.compatibility.describe.extension import extension
from ascendenv.compatibility.describe.facts import Description, MatrixFact
from ascendenv.compatibility.describe.torch import torch, torch_npu, train
from ascendenv.compatibility.model import Matrix
from ascendenv.compatibility.subjects import parse_subjects
from ascendenv.errors import UsageError

__all__ = ["MatrixEntry", "MatrixFact", "show"]


class MatrixEntry(BaseModel):
    """The payload of ``ascendenv matrix show``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    subject: str
    facts: tuple[MatrixFact, ...]


def show(matrix: Matrix, text: str) -> MatrixEntry:
    """All that is known of a subject, such as ``torch_npu==2.7.1.post8``, ``cann 9.1.0`` or ``chip 910b``.

    Raises :class:`~ascendenv.errors.UsageError`, with what was probably meant, for one that has no row.
    """
    subjects = parse_subjects(matrix, text)
    if len(subjects) > 1:
        raise UsageError(
            "one subject at a time is shown", hint=f"what holds between them: ascendenv matrix why {text}"
        )
    kind, name = subjects[0].kind, subjects[0].name
    title, facts = _KINDS[kind](matrix, name) if kind in _KINDS else extension(matrix, kind, name)
    return MatrixEntry(subject=title, facts=tuple(facts))


_KINDS: dict[str, Callable[[Matrix, str], Description]] = {
    "torch_npu": torch_npu,
    "torch": torch,
    "train": train,
    "cann": cann,
    "chip": chip,
}
