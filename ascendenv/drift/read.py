"""Takes the snapshot: lists the projects on the user's default index, and looks into single wheels."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from concurrent.futures import ThreadPoolExecutor
from email.parser import HeaderParser

import requests
import urllib3
from packaging.version import InvalidVersion, Version
from pypi_simple import PYPI_SIMPLE_ENDPOINT, NoSuchProjectError, PyPISimple

from ascendenv import fetch
from ascendenv.compatibility.model import Matrix
from ascendenv.drift.compare import TORCH, TORCH_NPU, projects, wheels_to_read
from ascendenv.drift.model import File, Snapshot
from ascendenv.errors import NetworkError
from ascendenv.host.model import PipConfiguration
from ascendenv.resolve.places import configured

_AT_ONCE = 8
_CHUNK = 1 << 16
_FAILURES = (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError, zipfile.BadZipFile)


def snapshot(matrix: Matrix, pip: PipConfiguration) -> Snapshot:
    """What the user's default index has now.

    Raises :class:`~ascendenv.errors.NetworkError` when it cannot be listed. A wheel that cannot be looked
    into is named in the snapshot.
    """
    place = configured(pip).default
    address = PYPI_SIMPLE_ENDPOINT if place is None else place.address
    session = fetch.session(pip)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        names = projects(matrix)
        listed = dict(zip(names, pool.map(lambda name: _files(session, address, name), names), strict=True))
        files = {name: found for name, found in listed.items() if found is not None}
        wanted = [file for name in (TORCH_NPU, TORCH) for file in wheels_to_read(matrix, files.get(name, ()))]
        read = dict(zip(wanted, pool.map(lambda file: _requires(session, file), wanted), strict=True))
    return Snapshot(
        place="the default index" if place is None else place.title("index"),
        day=dt.datetime.now(dt.timezone.utc).date(),
        files=files,
        requires={file.filename: lines for file, lines in read.items() if lines is not None},
        unread=tuple(file.filename for file, lines in read.items() if lines is None),
    )


def _files(session: requests.Session, address: str, project: str) -> tuple[File, ...] | None:
    try:
        page = PyPISimple(address, session=session).get_project_page(project)
    except NoSuchProjectError:
        return None
    except _FAILURES as error:
        raise NetworkError(
            f"the package index could not be asked for {project}: {type(error).__name__}",
            hint="the matrix is compared with the default index of pip; check its index-url and the network",
        ) from error
    found = []
    for package in page.packages:
        try:
            version = Version(package.version or "")
        except InvalidVersion:
            continue
        uploaded = None if package.upload_time is None else package.upload_time.date()
        metadata = bool(package.has_metadata)
        found.append(File(package.filename, version, package.url, uploaded, package.is_yanked, metadata))
    return tuple(found)


def _requires(session: requests.Session, file: File) -> tuple[str, ...] | None:
    """The Requires-Dist lines of a wheel, from beside it or out of it; a fraction of it is fetched."""
    try:
        if file.has_metadata:
            answer = session.get(f"{file.url}.metadata")
            answer.raise_for_status()
            text = answer.text
        else:
            text = _metadata_inside(session, file.url)
    except _FAILURES:
        return None
    return tuple(HeaderParser().parsestr(text).get_all("Requires-Dist", []))


def _metadata_inside(session: requests.Session, url: str) -> str:
    with zipfile.ZipFile(io.BufferedReader(_Remote(session, url), _CHUNK)) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        return wheel.read(name).decode()


class _Remote(io.RawIOBase):
    """A file on a server, of which only the parts that are read are fetched."""

    def __init__(self, session: requests.Session, url: str) -> None:
        self._session, self._url = session, url
        answer = session.head(url, allow_redirects=True)
        answer.raise_for_status()
        self._size = int(answer.headers["Content-Length"])
        self._at = 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # what BufferedReader passes
        end = min(self._at + len(buffer), self._size)
        if end <= self._at:
            return 0
        answer = self._session.get(self._url, headers={"Range": f"bytes={self._at}-{end - 1}"})
        answer.raise_for_status()
        if answer.status_code != requests.codes.partial_content:
            raise OSError("the server does not give parts of files")
        buffer[: end - self._at] = answer.content
        self._at = end
        return len(answer.content)
