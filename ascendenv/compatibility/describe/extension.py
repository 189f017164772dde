"""What is known of an extension, such as vllm-ascend."""

from __future__ import annotations

from collections.abc import Iterator

from ascendenv.compatibility import query
from ascendenv.compatibility.describe.facts import Description, MatrixFact, contradictions, fact, notes
from ascendenv.compatibility.model import ExtensionRelease, Matrix


def extension(matrix: Matrix, package: str, version: str) -> Description:
    """One version of it."""
    rows = [row for row in matrix.extensions if row.package == package]
    chosen = [row for row in rows if row.version == version]
    if not chosen:
        raise query.unknown(f"{package} version", version, dict.fromkeys(row.version for row in rows))
    return f"{package} {version}", _facts(matrix, package, version, chosen)


def _facts(matrix: Matrix, package: str, version: str, rows: list[ExtensionRelease]) -> Iterator[MatrixFact]:
    for row in rows:
        yield fact("goes with", stack(row), row)
        yield from notes(row)
        pin = row.torch_npu
        if pin is not None and pin not in {release.torch_npu for release in matrix.torch_npu}:
            yield fact("torch_npu", f"{pin} is on no package index", row)
    for project in matrix.extension_projects:
        if project.package == package:
            yield fact("what it is", project.title, project)
            yield fact("indexes", ", ".join(project.indexes), project)
            yield from notes(project)
    for exclusive in matrix.exclusive:
        if package in exclusive.packages:
            others = ", ".join(other for other in exclusive.packages if other != package)
            yield fact("never together with", f"{others}: {exclusive.because}", exclusive)
    yield from contradictions(matrix, f"{package} {version}")


def stack(row: ExtensionRelease) -> str:
    """What it asks for: ``CANN 9.1.0, torch 2.10.0, torch_npu 2.10.0.post4, Python >=3.10,<3.13``."""
    parts = (
        ("CANN ", " or ".join(row.cann)),
        ("torch ", " or ".join(row.torch)),
        ("torch_npu ", row.torch_npu or ""),
        ("train ", " or ".join(row.trains)),
        ("Python ", row.python),
        ("", ", ".join(row.requires)),
    )
    return ", ".join(f"{name}{text}" for name, text in parts if text) or "nothing is stated"
