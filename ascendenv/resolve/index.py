"""Where wheels are looked for: the user's places first, then the indexes that the matrix knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from packaging.utils import canonicalize_name
from packaging.version import Version
from pypi_simple import PYPI_SIMPLE_ENDPOINT

from ascendenv import fetch
from ascendenv.compatibility.model import Matrix, PackageIndex
from ascendenv.host.model import PipConfiguration
from ascendenv.resolve.constraints import read_constraints
from ascendenv.resolve.model import Looked, Target
from ascendenv.resolve.offer import Offer
from ascendenv.resolve.places import Place, configured
from ascendenv.resolve.remembered import Pages
from ascendenv.resolve.sources import Folder, Index, Source, Unreachable, Wheel, named

# For the connection and between two pieces of a page: an index that takes longer is given up for the next.
_PAGE_SECONDS = (3.0, 8.0)
NOT_ASKED = "not asked because of --offline"


@dataclass(frozen=True)
class Look:
    """One look at one place: what was there, or why it did not answer."""

    place: str
    outcome: str
    answered: bool


@dataclass(frozen=True)
class Found:
    """A wheel that fits the target and the place that offers it.

    ``index`` is the URL that uv must be told to find the same; ``None`` for what the user configured.
    """

    wheel: Wheel
    place: str
    index: str | None = None


@dataclass(frozen=True)
class Missing:
    """No place offers a wheel that fits; ``looks`` tells where it was looked for.

    ``certain`` is false when a place that may have it could not be asked.
    """

    wanted: str
    looks: tuple[Look, ...]
    certain: bool = True

    @property
    def looked(self) -> tuple[Looked, ...]:
        """The looks with the same outcome together, those that could not be asked first."""
        kinds = dict.fromkeys((look.outcome, look.answered) for look in self.looks)
        return tuple(
            Looked(
                outcome=outcome,
                answered=answered,
                places=tuple(look.place for look in self.looks if look.outcome == outcome),
            )
            for outcome, answered in sorted(kinds, key=lambda kind: kind[1])
        )


@dataclass(frozen=True)
class _Listed:
    """A source in the order of asking; ``row`` is the matrix row that names it, if one does."""

    source: Source
    row: PackageIndex | None = None


class WheelSources:
    """Everywhere that wheels may come from on this machine; each place is asked once for each project.

    First what the user configured for pip and uv, then the installer's own default index (unless the user
    replaced it), then the indexes that the matrix lists for the project. A mirror is only asked when the
    index that it copies does not answer, with ``mirrors_first`` before it. With ``offline`` only places on
    disk are asked, and what ``pages`` remembers of the others.
    """

    def __init__(
        self,
        pip: PipConfiguration,
        matrix: Matrix,
        *,
        offline: bool,
        mirrors_first: bool = False,
        pages: Pages | None = None,
    ) -> None:
        self._places = configured(pip)
        self._rows = tuple(sorted(matrix.indexes, key=lambda row: row.order))
        if mirrors_first:
            self._rows = tuple(sorted(self._rows, key=lambda row: row.mirror_of is None))
        self._pages = pages
        self._known_on = {canonicalize_name(row.package): row.indexes for row in matrix.extension_projects}
        self._offline = offline
        self._session = fetch.session(pip, timeout=_PAGE_SECONDS)
        self._constraints = read_constraints(pip.constraints)
        self._answers: dict[tuple[str, str], Offer | Unreachable] = {}
        self._unreachable: dict[str, Unreachable] = {}

    def find(self, project: str, version: Version, target: Target) -> Found | Missing:
        """The first wheel of exactly ``version`` (local part included) that runs on ``target``."""
        wanted = f"{project.replace('-', '_')} {version}"
        for line in self._constraints:
            if line.forbids(project, version, target):
                return Missing(wanted, (Look(line.file, f"excluded by {line.requirement}", answered=True),))
        looks: list[Look] = []
        answered: set[str] = set()
        open_questions: set[str] = set()
        for listed in self._sources(project):
            original = self._original(listed)
            if original in answered:
                continue
            offered = self._ask(listed.source, project)
            if isinstance(offered, Unreachable):
                open_questions.add(original)
                looks.append(Look(listed.source.title, offered.reason, answered=False))
                continue
            wheel = offered.fitting(version, target)
            if wheel is not None:
                index = listed.source.address if listed.row is not None else None
                return Found(wheel, listed.source.title, index)
            answered.add(original)
            looks.append(Look(listed.source.title, offered.instead_of(version), answered=True))
        return Missing(wanted, tuple(looks), certain=open_questions <= answered)

    def _original(self, listed: _Listed) -> str:
        """The name of the index that a source copies, or its own."""
        if listed.row is not None:
            return listed.row.mirror_of or listed.row.name
        named = (row.name for row in self._rows if row.url == listed.source.address.rstrip("/"))
        return next(named, listed.source.title)

    def _ask(self, source: Source, project: str) -> Offer | Unreachable:
        """A source that could not be reached once is not tried again: each try can cost seconds."""
        if source.address in self._unreachable:
            return self._unreachable[source.address]
        key = (source.address, project)
        if key not in self._answers:
            answer = self._look(source, project)
            if isinstance(answer, Unreachable):
                self._answers[key] = answer
                if answer.whole:
                    self._unreachable[source.address] = answer
            else:
                self._answers[key] = Offer.of(answer)
        return self._answers[key]

    def _look(self, source: Source, project: str) -> tuple[Wheel, ...] | Unreachable:
        if source.on_disk:
            return source.wheels(project)
        known = self._pages.recall(source.address, project, any_age=self._offline) if self._pages else None
        if known is not None:
            return named(project, known)
        if self._offline:
            return Unreachable(NOT_ASKED, whole=False)
        answer = source.wheels(project)
        if self._pages and not isinstance(answer, Unreachable):
            self._pages.keep(source.address, project, [wheel.filename for wheel in answer])
        return answer

    def _sources(self, project: str) -> Iterator[_Listed]:
        """Where ``project`` is looked for, in order, each place once."""
        seen: set[str] = set()
        for listed in (*self._of_the_user(), *self._of_the_matrix(project)):
            address = listed.source.address.rstrip("/")
            if address not in seen:
                seen.add(address)
                yield listed

    def _of_the_user(self) -> Iterator[_Listed]:
        for place in self._places.links:
            yield _Listed(self._links(place))
        for place in self._places.further:
            yield _Listed(Index(place.address, place.title("index"), self._session))
        if self._places.default is not None:
            default = self._places.default
            yield _Listed(Index(default.address, default.title("index"), self._session))
        elif not self._places.no_index:
            yield _Listed(Index(PYPI_SIMPLE_ENDPOINT, "the default index", self._session))

    def _links(self, place: Place) -> Source:
        title = place.title("find-links")
        if place.is_local and not place.path.is_file():
            return Folder(place.path, title)
        return Index(place.address, title, self._session, flat=True)

    def _of_the_matrix(self, project: str) -> Iterator[_Listed]:
        if self._places.no_index:
            return
        name = canonicalize_name(project)
        known_on = self._known_on.get(name, ())
        for row in self._rows:
            known = name in map(canonicalize_name, row.has) or (row.mirror_of or row.name) in known_on
            if row.url is not None and known:
                yield _Listed(Index(row.url, row.name, self._session), row)
