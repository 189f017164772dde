"""What is wanted on top of torch_npu: packages that the matrix has rows for, and any others."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from ascendenv.compatibility.model import Exclusive, ExtensionRelease, Matrix, TorchNpuRelease
from ascendenv.errors import UsageError
from ascendenv.resolve.ranges import parsed
from ascendenv.versions import CannVersion, train_covers

_STACK = {"torch": "--torch", "torch-npu": "--torch-npu"}


@dataclass(frozen=True)
class Wish:
    """One package that is wanted, as ``--with`` names it (``text``)."""

    text: str

    @cached_property
    def requirement(self) -> Requirement:
        """The text, understood. Raises ``InvalidRequirement`` for what is none."""
        return Requirement(self.text)

    @cached_property
    def name(self) -> str:
        """The project in its normal form."""
        return canonicalize_name(self.requirement.name)

    @property
    def specifier(self) -> SpecifierSet:
        """The versions that will do."""
        return self.requirement.specifier

    def admits(self, version: Version) -> bool:
        """Whether ``version`` will do; previews count like any other."""
        return self.specifier.contains(version, prereleases=True)

    def __str__(self) -> str:
        bounds = self.text.removeprefix(self.requirement.name).strip()
        exact = bounds.startswith("==") and not any(mark in bounds for mark in ",*")
        return f"{self.name} {bounds.removeprefix('==') if exact else bounds}".rstrip()


def wish(text: str, matrix: Matrix) -> Wish:
    """The wish that ``text`` (PEP 508) states. Raises ``UsageError`` for what cannot be wished for."""
    made = Wish(text.strip())
    try:
        _ = made.requirement
    except InvalidRequirement:
        raise UsageError(
            f"`--with {text}` is not a package", hint="such as --with triton-ascend or --with 'numpy<2'"
        ) from None
    placeholder = next((row for row in matrix.placeholders if row.package == made.name), None)
    if placeholder is not None:
        raise UsageError(f"{made.name} on the package index only bears the name", hint=placeholder.instead)
    if made.name in _STACK:
        raise UsageError(f"{made.name} is chosen with an option of its own", hint=f"use {_STACK[made.name]}")
    return made


@dataclass(frozen=True)
class Extensions:
    """The packages on top of one CANN and torch_npu: the rows picked, and plain names beside them."""

    rows: tuple[ExtensionRelease, ...] = ()
    plain: frozenset[str] = frozenset()

    @cached_property
    def names(self) -> frozenset[str]:
        """Every package of these, those included that the rows bring along."""
        return self.plain | {canonicalize_name(row.package) for row in self.rows} | set(self._brought)

    @cached_property
    def pins(self) -> Mapping[str, Version]:
        """Every package whose version is settled."""
        return dict(self._settled())

    @property
    def requirements(self) -> tuple[str, ...]:
        """All of them as PEP 508 texts."""
        own = (f"{row.package}=={row.version}" for row in self.rows)
        brought = (text for row in self.rows for text in row.requires)
        return tuple(dict.fromkeys((*own, *brought)))

    def fit_together(self, exclusive: Iterable[Exclusive]) -> bool:
        """Whether no two of them settle one package differently, or shut each other out."""
        settled = list(self._settled())
        if len(set(settled)) != len({name for name, _ in settled}):
            return False
        return all(len(self.names & set(group.packages)) <= 1 for group in exclusive)

    @cached_property
    def _brought(self) -> Mapping[str, SpecifierSet]:
        requirements = (_required(text) for row in self.rows for text in row.requires)
        return {canonicalize_name(requirement.name): requirement.specifier for requirement in requirements}

    def _settled(self) -> Iterator[tuple[str, Version]]:
        for row in self.rows:
            yield canonicalize_name(row.package), row.parsed
            for requirement in map(_required, row.requires):
                for specifier in requirement.specifier:
                    if specifier.operator == "==" and "*" not in specifier.version:
                        yield canonicalize_name(requirement.name), parsed(specifier.version)


NOTHING = Extensions()


@lru_cache(maxsize=256)
def _required(text: str) -> Requirement:
    return Requirement(text)


class Offer:
    """The packages that can be picked for a list of wishes, on any CANN and torch_npu."""

    def __init__(self, matrix: Matrix, wishes: Sequence[Wish]) -> None:
        self._exclusive = matrix.exclusive
        grouped = {name for group in matrix.exclusive for name in group.packages}
        self._rows = {
            w.name: [row for row in matrix.extensions if canonicalize_name(row.package) == w.name]
            for w in wishes
        }
        self.picked = [name for name, rows in self._rows.items() if rows or name in grouped]

    def on(self, cann: CannVersion, release: TorchNpuRelease) -> Iterator[Extensions]:
        """Every way to have some of the packages here, none at all included."""
        if not self.picked:
            yield NOTHING
            return
        choices = [self._choices(name, cann, release) for name in self.picked]
        for chosen in itertools.product(*choices):
            extensions = Extensions(
                rows=tuple(item for item in chosen if isinstance(item, ExtensionRelease)),
                plain=frozenset(item for item in chosen if isinstance(item, str)),
            )
            if extensions.fit_together(self._exclusive):
                yield extensions

    def _choices(
        self, name: str, cann: CannVersion, release: TorchNpuRelease
    ) -> list[ExtensionRelease | str | None]:
        if not self._rows[name]:
            return [name, None]
        return [*(row for row in self._rows[name] if goes_with(row, cann, release)), None]


def goes_with(row: ExtensionRelease, cann: CannVersion, release: TorchNpuRelease) -> bool:
    """Whether an extension's release is for this CANN and this torch_npu."""
    return (
        (row.torch_npu is None or parsed(row.torch_npu) == release.version)
        and (not row.torch or release.torch in row.torch)
        and (not row.trains or any(train_covers(pattern, release.train) for pattern in row.trains))
        and (not row.cann or any(CannVersion(text).covers(cann) for text in row.cann))
    )
