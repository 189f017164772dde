"""torch_npu, its trains, and the CANN versions that rows speak of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from packaging.version import Version

from ascendenv.compatibility.check.place import placed
from ascendenv.compatibility.model import Matrix, TorchNpuRelease, Train
from ascendenv.versions import CannVersion, train_covers
from ascendenv.vocabulary import Evidence


def mistakes(matrix: Matrix) -> Iterator[str]:
    """What does not fit between releases, trains and CANN versions."""
    yield from _releases(matrix)
    yield from _unpublished(matrix)
    yield from _torches(matrix)
    yield from _statements(matrix)
    yield from _canns(matrix)


def _releases(matrix: Matrix) -> Iterator[str]:
    trains = {train.train: train for train in matrix.trains}
    for place, release in placed("torch_npu", matrix.torch_npu):
        train = trains.get(release.train)
        if train is not None:
            yield from (f"{place}: {mistake}" for mistake in _against_train(release, train))
        elif not release.prerelease and release.evidence is not Evidence.UNKNOWN:
            yield f"{place}: train: {release.train!r} is not among the trains"
        if release.prerelease != release.version.is_prerelease:
            yield f"{place}: prerelease: {release.torch_npu} says the opposite"
        if release.version.release != Version(release.torch).release:
            yield f"{place}: torch: {release.torch} is not what {release.torch_npu} is named after"


def _against_train(release: TorchNpuRelease, train: Train) -> Iterator[str]:
    if release.torch not in train.torch:
        yield f"torch: train {train.train} does not list torch {release.torch}"
    if release.cann != train.cann:
        yield f"cann: train {train.train} was released with CANN {train.cann}, not {release.cann}"


def _unpublished(matrix: Matrix) -> Iterator[str]:
    published = {release.version for release in matrix.torch_npu}
    for place, row in placed("unpublished", matrix.unpublished):
        if Version(row.torch_npu) in published:
            yield f"{place}: torch_npu: {row.torch_npu} is among the releases"


def _torches(matrix: Matrix) -> Iterator[str]:
    with_torch_npu = {release.torch for release in matrix.torch_npu}
    for place, row in placed("torch_without_npu", matrix.torch_without_npu):
        for torch in sorted(with_torch_npu.intersection(row.torch)):
            yield f"{place}: torch: {torch} has a torch_npu release"


def _statements(matrix: Matrix) -> Iterator[str]:
    trains = [train.train for train in matrix.trains]
    for place, row in placed("compatibility", matrix.compatibility):
        for pattern in row.trains:
            if not any(train_covers(pattern, train) for train in trains):
                yield f"{place}: trains: {pattern!r} is not among the trains"
    releases = {release.torch_npu for release in matrix.torch_npu}
    for place, report in placed("reports", matrix.reports):
        if report.torch_npu not in releases:
            yield f"{place}: torch_npu: {report.torch_npu} is not among the releases"


def _canns(matrix: Matrix) -> Iterator[str]:
    known = [CannVersion(row.cann) for row in matrix.cann]
    for place, text in _named_canns(matrix):
        cann = CannVersion(text)
        if not any(cann.covers(version) for version in known):
            yield f"{place}: cann: {text} has no row in cann.toml"
    oldest = min(known, default=None)
    for place, row in placed("unpublished", matrix.unpublished):
        if row.cann is not None and CannVersion(row.cann) not in known:
            cann = CannVersion(row.cann)
            if oldest is None or cann > oldest:
                yield f"{place}: cann: {row.cann} has no row in cann.toml"


def _named_canns(matrix: Matrix) -> Iterator[tuple[str, str]]:
    """Every CANN version, or line of versions, that must be known, with the row that names it."""
    for field in ("trains", "torch_npu", "subpackages", "package_folders", "image_tags"):
        for place, row in placed(field, getattr(matrix, field)):
            if row.cann is not None:
                yield place, row.cann
    for field in ("drivers_seen", "extensions"):
        for place, row in placed(field, getattr(matrix, field)):
            yield from _each(place, row.cann)
    for place, mixing in placed("ops_mixing", matrix.ops_mixing):
        yield from _each(place, (*mixing.ops, *mixing.toolkit))


def _each(place: str, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    return ((place, text) for text in texts)
