"""The kinds of places that offer wheels: folders, and simple indexes over HTTP or on disk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

import requests
import urllib3
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version
from pypi_simple import NoSuchProjectError, ProjectPage, PyPISimple

from ascendenv.resolve.places import is_local, local_path


@dataclass(frozen=True)
class Wheel:
    """A wheel file that a source offers."""

    filename: str
    version: Version


@dataclass(frozen=True)
class Unreachable:
    """A source that gave no answer, and why. ``whole``: it would give none for any other project either."""

    reason: str
    whole: bool = True


class Source(Protocol):
    """A place that offers wheels."""

    @property
    def title(self) -> str:
        """Its name for people, free of credentials."""

    @property
    def address(self) -> str:
        """Its URL or path: two sources with the same one are the same."""

    @property
    def on_disk(self) -> bool:
        """Whether it can be asked without a network."""

    def wheels(self, project: str) -> tuple[Wheel, ...] | Unreachable:
        """The wheels of a project; a source that does not know the project offers none."""


@dataclass(frozen=True)
class Folder:
    """A folder of wheel files, such as pip's ``find-links``. One that does not exist offers nothing."""

    path: Path
    title: str
    on_disk: bool = True

    @property
    def address(self) -> str:
        """The path."""
        return str(self.path)

    def wheels(self, project: str) -> tuple[Wheel, ...] | Unreachable:
        """The wheels of a project in the folder."""
        try:
            return named(project, (path.name for path in self.path.iterdir()))
        except FileNotFoundError:
            return ()
        except OSError as error:
            return Unreachable(f"not readable ({error.strerror})")


@dataclass(frozen=True)
class Index:
    """A simple index (PEP 503 or 691); with ``flat`` a single page of links."""

    address: str
    title: str
    session: requests.Session
    flat: bool = False

    @property
    def on_disk(self) -> bool:
        """Whether the address is a path."""
        return is_local(self.address)

    def wheels(self, project: str) -> tuple[Wheel, ...] | Unreachable:
        """The wheels of a project on the index; yanked ones are left out."""
        try:
            page = self._page(canonicalize_name(project))
        except (NoSuchProjectError, FileNotFoundError):
            return ()
        except requests.HTTPError as error:
            status = error.response.status_code if error.response is not None else "error"
            return Unreachable(f"HTTP {status}", whole=False)
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            return Unreachable(_short_reason(error))
        return named(project, (_filename(file.url) for file in page.packages if not file.is_yanked))

    def _page(self, project: str) -> ProjectPage:
        if self.on_disk:
            path = local_path(self.address)
            page = path if self.flat else path / project / "index.html"
            return ProjectPage.from_html(project, page.read_bytes(), base_url=page.as_uri())
        if self.flat:
            answer = self.session.get(self.address)
            answer.raise_for_status()
            return ProjectPage.from_html(project, answer.content, base_url=self.address)
        # The session is shared between sources, so it is not closed here.
        return PyPISimple(self.address, session=self.session).get_project_page(project)


def _filename(url: str) -> str:
    """The name at the end of a link. Its text should be the same, but has folders before it on some pages."""
    return unquote(urlsplit(url).path).rpartition("/")[2]


def named(project: str, filenames: Iterable[str]) -> tuple[Wheel, ...]:
    """The wheels of a project among file names."""
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
    if isinstance(error, requests.exceptions.ProxyError):
        return "not reachable through the proxy"
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    if isinstance(error, requests.ConnectionError):
        return "not reachable"
    return f"not readable ({type(error).__name__})"
