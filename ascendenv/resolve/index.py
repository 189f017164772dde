"""Where wheels are found: the user's indexes and link folders first, then those that the matrix knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit
from urllib.request import url2pathname

import requests
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version
from pypi_simple import PYPI_SIMPLE_ENDPOINT, NoSuchProjectError, ProjectPage, PyPISimple

from ascendenv import fetch
from ascendenv.compatibility.model import Matrix
from ascendenv.host.model import PipConfiguration
from ascendenv.host.urls import redact_url
from ascendenv.resolve.model import Target
from ascendenv.resolve.tags import supported_tags


@dataclass(frozen=True)
class Wheel:
    """A wheel file that a source offers."""

    filename: str
    version: Version


@dataclass(frozen=True)
class Unreachable:
    """A source that gave no answer, and why."""

    reason: str


class Source(Protocol):
    """A place that offers wheels."""

    @property
    def title(self) -> str:
        """Its name for people, free of credentials."""

    @property
    def uv_options(self) -> tuple[str, ...]:
        """What uv must be told to find the same wheels; empty for what the user's configuration holds."""

    @property
    def mirror_of(self) -> str | None:
        """The title of the source that this one copies: only asked when that one does not answer."""

    def wheels(self, project: str) -> tuple[Wheel, ...] | Unreachable:
        """The wheels of a project."""


@dataclass(frozen=True)
class Look:
    """One look at one source: how many files it offered, or why it did not answer."""

    source: str
    outcome: str
    answered: bool


@dataclass(frozen=True)
class Found:
    """A wheel that fits the target and the source that offers it."""

    wheel: Wheel
    source: Source


@dataclass(frozen=True)
class Missing:
    """No source offers a wheel that fits; ``looks`` tells where it was looked for."""

    wanted: str
    looks: tuple[Look, ...]

    @property
    def unanswered(self) -> tuple[Look, ...]:
        """The sources that could not be asked, so that the wheel may well be there."""
        return tuple(look for look in self.looks if not look.answered)


def _what_was_there(offered: tuple[Wheel, ...], version: Version) -> str:
    if any(wheel.version == version for wheel in offered):
        return "only wheels for other Pythons or platforms"
    return "only other versions" if offered else "nothing of the name"


@dataclass(frozen=True)
class FolderSource:
    """A folder of wheel files, such as pip's ``find-links``."""

    folder: Path
    title: str
    uv_options: tuple[str, ...] = ()
    mirror_of: str | None = None

    def wheels(self, project: str) -> tuple[Wheel, ...] | Unreachable:
        """The wheels of a project in the folder."""
        if not self.folder.is_dir():
            return Unreachable("no folder on this machine")
        return _wheels_named(project, (path.name for path in self.folder.iterdir()))


@dataclass(frozen=True)
class IndexSource:
    """A simple index (PEP 503 or 691), over HTTP or on disk; or a page of links."""

    url: str
    title: str
    session: requests.Session
    uv_options: tuple[str, ...] = ()
    mirror_of: str | None = None
    flat: bool = False

    def wheels(self, project: str) -> tuple[Wheel, ...] | Unreachable:
        """The wheels of a project on the index; yanked ones are left out."""
        return _read_index(self, project)


def _read_index(source: IndexSource, project: str) -> tuple[Wheel, ...] | Unreachable:
    try:
        page = _page(source, project)
    except NoSuchProjectError:
        return ()
    except (requests.RequestException, OSError, ValueError) as error:
        return Unreachable(_short_reason(error))
    return _wheels_named(project, (file.filename for file in page.packages if not file.is_yanked))


def _page(source: IndexSource, project: str) -> ProjectPage:
    name = canonicalize_name(project)
    if fetch.is_local(source.url):
        page = local_path(source.url) / name / "index.html"
        if not page.is_file():
            raise NoSuchProjectError(project, source.url)
        return ProjectPage.from_html(name, page.read_bytes(), base_url=page.as_uri())
    if source.flat:
        answer = source.session.get(source.url)
        answer.raise_for_status()
        return ProjectPage.from_html(name, answer.content, base_url=source.url)
    # The session is shared between sources, so it is not closed here.
    return PyPISimple(source.url, session=source.session).get_project_page(name)


def _wheels_named(project: str, filenames: Iterable[str]) -> tuple[Wheel, ...]:
    wheels = []
    for filename in filenames:
        try:
            name, version, _, _ = parse_wheel_filename(filename)
        except (InvalidWheelFilename, ValueError):
            continue
        if name == canonicalize_name(project):
            wheels.append(Wheel(filename, version))
    return tuple(sorted(wheels, key=lambda wheel: wheel.filename))


def _short_reason(error: Exception) -> str:
    if isinstance(error, requests.exceptions.SSLError):
        return "TLS certificate not accepted"
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"HTTP {error.response.status_code}"
    if isinstance(error, requests.ConnectionError):
        return "not reachable"
    return f"not readable ({type(error).__name__})"


def local_path(url: str) -> Path:
    """The path that a ``file:`` URL or a bare path means."""
    parts = urlsplit(url)
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else Path(url).expanduser()


class WheelSources:
    """Everywhere that wheels may come from on this machine; each place is asked once for each project.

    First what the user configured for pip, then the installer's own default index (unless the user replaced
    it), then the indexes that the matrix lists for the project. With ``offline`` only those on disk.
    """

    def __init__(self, pip: PipConfiguration, matrix: Matrix, *, offline: bool) -> None:
        self._pip = pip
        self._known = tuple(sorted(matrix.indexes, key=lambda row: row.order))
        self._offline = offline
        self._session = fetch.session(pip)
        self._answers: dict[tuple[str, str], tuple[Wheel, ...]] = {}
        self._unreachable: dict[str, Unreachable] = {}

    def find(self, project: str, version: Version, target: Target) -> Found | Missing:
        """The first wheel of exactly ``version`` (local part included) that runs on ``target``."""
        tags = supported_tags(target)
        looks: list[Look] = []
        for source in self.sources(project):
            if any(look.source == source.mirror_of and look.answered for look in looks):
                continue
            offered = self._ask(source, project)
            if isinstance(offered, Unreachable):
                looks.append(Look(source.title, offered.reason, answered=False))
                continue
            for wheel in offered:
                if wheel.version == version and not tags.isdisjoint(parse_wheel_filename(wheel.filename)[3]):
                    return Found(wheel, source)
            looks.append(Look(source.title, _what_was_there(offered, version), answered=True))
        return Missing(f"{project} {version} for {target.describe()}", tuple(looks))

    def sources(self, project: str) -> tuple[Source, ...]:
        """Where ``project`` is looked for, in order."""
        found = [*self._linked(), *self._configured(), *self._listed(project)]
        return tuple(source for source in found if not self._offline or _is_on_disk(source))

    def _ask(self, source: Source, project: str) -> tuple[Wheel, ...] | Unreachable:
        """A source that did not answer once is not asked again: each try can cost seconds."""
        if source.title in self._unreachable:
            return self._unreachable[source.title]
        key = (source.title, project)
        if key not in self._answers:
            answer = source.wheels(project)
            if isinstance(answer, Unreachable):
                self._unreachable[source.title] = answer
                return answer
            self._answers[key] = answer
        return self._answers[key]

    def _linked(self) -> Iterator[Source]:
        for link in self._pip.find_links:
            title = f"find-links {redact_url(link)}"
            if fetch.is_local(link):
                yield FolderSource(local_path(link), title)
            else:
                yield IndexSource(link, title, self._session, flat=True)

    def _configured(self) -> Iterator[Source]:
        if self._pip.no_index:
            return
        for url in self._pip.extra_index_urls:
            yield IndexSource(url, f"index {redact_url(url)}", self._session)
        if self._pip.index_url is not None:
            yield IndexSource(self._pip.index_url, f"index {redact_url(self._pip.index_url)}", self._session)
        else:
            yield IndexSource(PYPI_SIMPLE_ENDPOINT, "the default index", self._session)

    def _listed(self, project: str) -> Iterator[Source]:
        if self._pip.no_index:
            return
        for row in self._known:
            if row.url is not None and project in row.has:
                option = f"--index={row.url}"
                yield IndexSource(row.url, row.name, self._session, (option,), mirror_of=row.mirror_of)


def _is_on_disk(source: Source) -> bool:
    return isinstance(source, FolderSource) or (
        isinstance(source, IndexSource) and fetch.is_local(source.url)
    )
