"""What is known of a CANN version."""

from __future__ import annotations

from collections.abc import Iterator

from ascendenv.compatibility import query
from ascendenv.compatibility.describe.facts import (
    Description,
    MatrixFact,
    contradictions,
    fact,
    notes,
    reports,
)
from ascendenv.compatibility.model import DriverSupport, ImageTags, Matrix, ToolRequirement
from ascendenv.compatibility.packages import cann_packages
from ascendenv.versions import CannVersion
from ascendenv.vocabulary import Arch, CannComponent, PackageKind


def cann(matrix: Matrix, name: str) -> Description:
    """A CANN version."""
    version = query.parse_cann(matrix, name)
    return f"CANN {version}", _facts(matrix, version)


def _facts(matrix: Matrix, version: CannVersion) -> Iterator[MatrixFact]:
    row = next(row for row in matrix.cann if CannVersion(row.cann) == version)
    known = row.python_min is not None and row.python_max is not None
    yield fact("Python", f"{row.python_min} to {row.python_max}" if known else "not known", row)
    yield fact("chips", ", ".join(row.chips) or "not known", row)
    yield from notes(row)
    yield from contradictions(matrix, f"cann {row.cann}")
    yield from _torch_npu(matrix, version)
    yield from _drivers(matrix, version)
    yield from _packages(matrix, version)
    yield from _images(matrix, version)
    yield from _needs(matrix, version)
    for deprecation in matrix.deprecations:
        if deprecation.since is None or CannVersion(deprecation.since) <= version:
            after = deprecation.removed_after
            yield fact(
                "to end", deprecation.what + ("" if after is None else f", after {after}"), deprecation
            )


def _torch_npu(matrix: Matrix, version: CannVersion) -> Iterator[MatrixFact]:
    for release in query.select(matrix, cann=version):
        text = f"{release.torch_npu} (train {release.train}, torch {release.torch})"
        yield fact("torch_npu", text, release)
    for statement in matrix.compatibility:
        if any(CannVersion(text).covers(version) for text in statement.cann):
            yield fact("declared compatible", f"trains {', '.join(statement.trains)}", statement)
    yield from reports(report for report in matrix.reports if CannVersion(report.cann).covers(version))
    for extension in matrix.extensions:
        if any(CannVersion(text) == version for text in extension.cann):
            stack = f" (torch_npu {extension.torch_npu})" if extension.torch_npu else ""
            yield fact(extension.package, f"{extension.version}{stack}", extension)


def _drivers(matrix: Matrix, version: CannVersion) -> Iterator[MatrixFact]:
    for support in query.driver_rows(matrix, version):
        yield from _support(support)
    for seen in matrix.drivers_seen:
        if any(CannVersion(text) == version for text in seen.cann):
            on = seen.hardware or ", ".join(seen.chips)
            yield fact("driver seen working", f"{seen.driver} on {on}", seen)


def _support(support: DriverSupport) -> Iterator[MatrixFact]:
    if support.paired is not None:
        yield fact("driver released with it", support.paired, support)
    if support.works_with:
        yield fact("drivers that work", ", ".join(support.works_with), support)
    if support.excluded:
        yield fact("drivers excluded", ", ".join(support.excluded), support)
    if support.minimum is not None:
        yield fact("oldest driver listed", support.minimum, support)
    yield from notes(support)


def _packages(matrix: Matrix, version: CannVersion) -> Iterator[MatrixFact]:
    """One architecture stands for both, since only its word in the names differs."""
    for kind in PackageKind:
        channel = next((row for row in matrix.channels if row.kind is kind), None)
        since = None if channel is None else channel.cann_since
        if channel is None or (since is not None and version < CannVersion(since)):
            continue
        for package in cann_packages(matrix, version, Arch.AARCH64, kind=kind):
            text = package.name if package.url is None else package.url
            yield MatrixFact(
                key=f"{kind} package",
                value=text.replace(str(Arch.AARCH64), "{arch}"),
                evidence=package.evidence,
                source=package.source,
            )
    for mixing in matrix.ops_mixing:
        if any(CannVersion(text).covers(version) for text in mixing.ops):
            other = (
                f"on toolkit {', '.join(mixing.toolkit)}" if mixing.allowed else "on the same toolkit only"
            )
            yield fact("operators run", other, mixing)
    for parts in matrix.subpackages:
        if CannVersion(parts.cann) == version:
            yield fact(f"parts of {_called(parts.component)}", ", ".join(parts.packages), parts)


def _called(component: CannComponent) -> str:
    return "the operators" if component is CannComponent.OPS else f"the {component}"


def _images(matrix: Matrix, version: CannVersion) -> Iterator[MatrixFact]:
    for tags in matrix.image_tags:
        if CannVersion(tags.cann) == version:
            repository = next(row.repository for row in matrix.image_repositories if row.kind == tags.kind)
            yield fact("images", f"{repository}:{_choices(tags)}", tags)


def _choices(tags: ImageTags) -> str:
    """The tags in the form that shells expand."""
    return tags.tag.format(
        version=tags.version,
        torch_npu=_braces(tags.torch_npu),
        chip=_braces(tags.chips),
        system=_braces(tags.systems),
        python=_braces(tags.pythons),
    )


def _braces(texts: tuple[str, ...]) -> str:
    return texts[0] if len(texts) == 1 else "{" + ",".join(texts) + "}"


def _needs(matrix: Matrix, version: CannVersion) -> Iterator[MatrixFact]:
    for requirement in query.requirements_for(matrix, version):
        because = f"{requirement.requirement} ({requirement.needed_by}: {requirement.because})"
        yield fact("needs", because, requirement)
    for tool in matrix.tools:
        if tool.when == "run" and tool.releases is None and tool.applies_to(version):
            yield fact("needs", _tool(tool), tool)


def _tool(tool: ToolRequirement) -> str:
    why = f": {tool.note}" if tool.note else ""
    return f"{tool.tool}{tool.requirement} ({tool.needed_by}{why})"
