"""The indexes and link folders that the user configured: for pip, and in uv's own variables.

Both the look for wheels and uv go by this one list, so that a plan is made where its lock is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ascendenv.host.model import PipConfiguration
from ascendenv.host.urls import redact_url
from ascendenv.resolve.uv_toml import UvSettings, uv_settings

PIP = "pip"
# uv's variables, the present name before its predecessor.
_UV_DEFAULT = ("UV_DEFAULT_INDEX", "UV_INDEX_URL")
_UV_FURTHER = ("UV_INDEX", "UV_EXTRA_INDEX_URL")
_UV_LINKS = "UV_FIND_LINKS"
# uv lets an index have a name, under which variables hold its user and password: `corp=https://...`.
_NAMED = re.compile(r"(?P<name>[A-Za-z0-9_.-]+)=(?P<url>.+)")


@dataclass(frozen=True)
class Place:
    """One index or link folder as the user wrote it.

    ``origin`` is ``pip``, the variable's name or the file's path.
    """

    written: str
    origin: str

    @property
    def address(self) -> str:
        """The URL or path without a name before it; it may hold credentials."""
        match = _NAMED.fullmatch(self.written) if self.origin != PIP else None
        return self.written if match is None else match["url"]

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine's disk."""
        return is_local(self.address)

    @property
    def path(self) -> Path:
        """Where it is on the disk."""
        return local_path(self.address)

    def title(self, kind: str) -> str:
        """Its name for people, free of credentials: ``index https://... ($UV_INDEX)``."""
        mark = "" if self.origin.startswith("/") else "$"
        label = "" if self.origin == PIP else f" ({mark}{self.origin})"
        return f"{kind} {redact_url(self.address)}{label}"

    @property
    def for_uv(self) -> str:
        """The same in the form that uv reads."""
        return self.path.as_uri() if self.is_local else self.written


@dataclass(frozen=True)
class Places:
    """All that is configured. ``default`` is ``None`` where the installer's own default index counts."""

    links: tuple[Place, ...] = ()
    further: tuple[Place, ...] = ()
    default: Place | None = None
    no_index: bool = False


def configured(pip: PipConfiguration, environ: Mapping[str, str] | None = None) -> Places:
    """The places of ``pip``, of uv's variables in ``environ`` (this process's by default), and of uv.toml.

    pip's default index wins over the one in uv's variables, and that over the one in its file; everything
    else adds up. pip's ``no-index`` means all.
    """
    variables = os.environ if environ is None else environ
    settings = uv_settings(variables)
    uv_links = _from_variable(variables, _UV_LINKS, separator=",")
    links = (*_from_pip(pip.find_links), *uv_links, *_from_file(settings.links, settings))
    if pip.no_index or settings.no_index:
        return Places(links=links, no_index=True)
    further = [place for name in _UV_FURTHER for place in _from_variable(variables, name)]
    of_pip = [pip.index_url] if pip.index_url is not None else []
    of_uv = [place for name in _UV_DEFAULT for place in _from_variable(variables, name)]
    of_file = [settings.default] if settings.default is not None else []
    default = next(iter((*_from_pip(of_pip), *of_uv, *_from_file(of_file, settings))), None)
    further += _from_file(settings.further, settings)
    return Places(links=links, further=(*_from_pip(pip.extra_index_urls), *further), default=default)


def is_local(address: str) -> bool:
    """Whether a URL or a bare path is on this machine's disk."""
    return urlsplit(address).scheme in {"", "file"}


def local_path(address: str) -> Path:
    """The absolute path that a ``file:`` URL or a bare path means."""
    parts = urlsplit(address)
    path = Path(url2pathname(parts.path)) if parts.scheme == "file" else Path(address).expanduser()
    return path.absolute()


def _from_pip(written: Iterable[str]) -> Iterator[Place]:
    return (Place(text, PIP) for text in written)


def _from_file(written: Iterable[str], settings: UvSettings) -> list[Place]:
    return [Place(text, settings.file) for text in written]


def _from_variable(environ: Mapping[str, str], name: str, separator: str | None = None) -> list[Place]:
    parts = (part.strip() for part in environ.get(name, "").split(separator))
    return [Place(part, name) for part in parts if part]
