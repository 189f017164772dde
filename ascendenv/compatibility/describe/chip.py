"""What is known of a chip family."""

from __future__ import annotations

from collections.abc import Iterator

from ascendenv.compatibility import query
from ascendenv.compatibility.describe.facts import Description, MatrixFact, contradictions, fact, notes
from ascendenv.compatibility.model import Chip, Matrix
from ascendenv.versions import CannVersion


def chip(matrix: Matrix, name: str) -> Description:
    """The family that ``name`` is a name, a SoC or a nickname of."""
    family = query.parse_chip(matrix, name)
    row = next(row for row in matrix.chips if row.family is family)
    return f"chip {family}", _facts(matrix, row)


def _facts(matrix: Matrix, row: Chip) -> Iterator[MatrixFact]:
    yield fact("name", row.title, row)
    yield fact("SoCs", ", ".join(row.socs), row)
    for key, names in (
        ("npu-smi shows", row.npu_smi_names),
        ("also called", row.also_called),
        ("products", row.products),
        ("chips on a card", tuple(map(str, row.chips_per_card))),
    ):
        if names:
            yield fact(key, ", ".join(names), row)
    if row.pci_device is not None:
        yield fact("PCI device", row.pci_device, row)
    for boards in matrix.boards:
        if boards.family is row.family:
            yield fact("boards", ", ".join(f"{n} {board}" for n, board in boards.boards.items()), boards)
    if row.cann_since is not None:
        yield fact("CANN", f"since {row.cann_since}", row)
    yield from _torch_npu(row)
    yield from notes(row)
    yield from contradictions(matrix, f"chip {row.family}")
    for release in matrix.cann:
        if row.family in release.chips and not CannVersion(release.cann).is_prerelease:
            yield fact("operator package", f"CANN {release.cann}", release)


def _torch_npu(row: Chip) -> Iterator[MatrixFact]:
    since = "no train knows it" if row.first_train is None else f"since train {row.first_train}"
    later = "".join(f"; {soc} since {train}" for soc, train in row.soc_first_train.items())
    yield fact("torch_npu", since + later, row)
    if row.soc_versions:
        numbers = ", ".join(f"{soc} {number}" for soc, number in row.soc_versions.items())
        yield fact("torch_npu's numbers", numbers, row)
