"""What is known of each part of a question, one fact a part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from packaging.version import Version

from ascendenv.compatibility import query
from ascendenv.compatibility.describe.extension import stack
from ascendenv.compatibility.describe.facts import MatrixFact, fact
from ascendenv.compatibility.model import ExtensionRelease, Matrix, TorchNpuRelease
from ascendenv.compatibility.questions import Question
from ascendenv.versions import CannVersion
from ascendenv.vocabulary import Arch, Evidence


def known_of(matrix: Matrix, asked: Question, extensions: Sequence[ExtensionRelease]) -> Iterator[MatrixFact]:
    """The facts that decide, in the order of the parts."""
    if asked.cann is not None:
        yield from _cann(matrix, asked.cann, asked)
    if asked.torch is not None:
        yield from _torch(matrix, asked.torch)
    if asked.torch_npu is not None:
        yield from _torch_npu(matrix, asked.torch_npu, asked)
    if asked.extension is not None:
        yield from _extension(matrix, asked.extension, extensions)
    if asked.chip is not None:
        yield from _chip(matrix, asked)


def _unknown(key: str, value: str) -> MatrixFact:
    return MatrixFact(key=key, value=value, evidence=Evidence.UNKNOWN, source="no row of the matrix")


def _cann(matrix: Matrix, cann: CannVersion, asked: Question) -> Iterator[MatrixFact]:
    key = f"CANN {cann}"
    found = query.select(matrix, cann=cann)
    rows = [row for row in found if not row.prerelease] or found
    if rows:
        trains = ", ".join(dict.fromkeys(row.train for row in rows))
        torches = ", ".join(dict.fromkeys(row.torch for row in rows))
        yield fact(key, f"was released with torch_npu train {trains}, for torch {torches}", rows[0])
    unpublished = [
        row for row in matrix.unpublished if row.cann is not None and CannVersion(row.cann) == cann
    ]
    if not rows and unpublished:
        names = ", ".join(row.torch_npu for row in unpublished)
        yield fact(key, f"goes with torch_npu {names}, which are on no package index", unpublished[0])
    elif not rows:
        known = any(CannVersion(row.cann) == cann for row in matrix.cann)
        yield _unknown(key, "no torch_npu was released with it" if known else "no source speaks of it")
    for row in matrix.cann:
        if CannVersion(row.cann) == cann and asked.python is not None and row.python_min is not None:
            yield fact(key, f"supports Python {row.python_min} to {row.python_max}", row)
        if CannVersion(row.cann) == cann and asked.chip is not None and row.chips:
            yield fact(key, f"has operators for {', '.join(row.chips)}", row)


def _torch(matrix: Matrix, torch: Version) -> Iterator[MatrixFact]:
    key = f"torch {torch}"
    rows = query.select(matrix, torch=torch)
    if rows:
        newest = next((row for row in rows if not row.prerelease), rows[0])
        text = (
            f"has {_count(rows)} from {rows[-1].torch_npu} to {newest.torch_npu}, the last of train "
            f"{newest.train}, released with CANN {newest.cann or 'not stated'}"
        )
        yield fact(key, text, newest)
        return
    without = next((row for row in matrix.torch_without_npu if torch.public in row.torch), None)
    if without is not None:
        yield fact(key, "is on the package index, but no torch_npu was released for it", without)
        return
    yield _unknown(key, "no torch_npu was released for it, as far as any source says")


def _count(rows: Sequence[TorchNpuRelease]) -> str:
    return "1 torch_npu release" if len(rows) == 1 else f"{len(rows)} torch_npu releases"


def _torch_npu(matrix: Matrix, version: Version, asked: Question) -> Iterator[MatrixFact]:
    key = f"torch_npu {version}"
    release = next((row for row in matrix.torch_npu if row.version == version), None)
    if release is not None:
        with_cann = f"released with CANN {release.cann or 'not stated'}"
        yield fact(key, f"is of train {release.train}, {with_cann}, for torch {release.torch}", release)
        if asked.arch is not None or asked.python is not None:
            yield fact(
                "its wheels",
                "; ".join(f"{arch}: {_pythons(release, arch)}" for arch in release.wheels),
                release,
            )
        for row in matrix.contradictions:
            if row.about == key and (row.topic == "CANN" or asked.python is not None):
                yield fact("elsewhere", f"{row.topic}: {row.elsewhere} (here: {row.here})", row)
        return
    unpublished = next((row for row in matrix.unpublished if Version(row.torch_npu) == version), None)
    if unpublished is not None:
        cann = f" for CANN {unpublished.cann}" if unpublished.cann else ""
        yield fact(key, f"is named by a table{cann}, but is on no package index", unpublished)
        return
    yield _unknown(key, "no index has it and no table names it")


def _pythons(release: TorchNpuRelease, arch: Arch) -> str:
    return f"Python {', '.join(release.wheels[arch].pythons)}"


def _extension(
    matrix: Matrix, extension: tuple[str, str], rows: Sequence[ExtensionRelease]
) -> Iterator[MatrixFact]:
    key = " ".join(extension)
    released = {row.torch_npu: row for row in matrix.torch_npu}
    for row in rows:
        yield fact(key, f"goes with {stack(row)}", row)
        if row.torch_npu is not None and row.torch_npu not in released:
            yield fact(key, f"pins torch_npu {row.torch_npu}, which is on no package index", row)
    if not rows:
        versions = [row.version for row in matrix.extensions if row.package == extension[0]]
        known = f"; known are {', '.join(dict.fromkeys(versions))}" if versions else ""
        yield _unknown(key, f"no row says what it goes with{known}")
    for contradiction in matrix.contradictions:
        if contradiction.about == key:
            text = f"{contradiction.topic}: {contradiction.elsewhere} (here: {contradiction.here})"
            yield fact("elsewhere", text, contradiction)


def _chip(matrix: Matrix, asked: Question) -> Iterator[MatrixFact]:
    chip = next(row for row in matrix.chips if row.family is asked.chip)
    since = (
        "no torch_npu knows it"
        if chip.first_train is None
        else f"torch_npu knows it since train {chip.first_train}"
    )
    cann = f", CANN since {chip.cann_since}" if chip.cann_since else ""
    yield fact(f"chip {chip.family}", since + cann, chip)
