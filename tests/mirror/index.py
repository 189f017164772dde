"""Package sources on disk: simple indexes (PEP 503) and link folders, with tiny wheels that do install."""

from __future__ import annotations

import base64
import hashlib
import html
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

PURE = "py3-none-any"
_NO_FILES: Mapping[str, str] = {}


def write_wheel(
    folder: Path,
    name: str,
    version: str,
    *,
    tag: str = PURE,
    requires: Sequence[str] = (),
    files: Mapping[str, str] = _NO_FILES,
) -> Path:
    """Write a wheel into ``folder`` and return its path.

    ``tag`` may join several, as wheel names do: ``cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64``.
    ``files`` maps paths in site-packages to their text; without it, the wheel holds a module that knows its
    version. The same arguments make the same bytes.
    """
    escaped = canonicalize_name(name).replace("-", "_")
    info = f"{escaped}-{version}.dist-info"
    required = "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
    contents = {
        **(files or {f"{escaped}/__init__.py": f"__version__ = {version!r}\n"}),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{required}",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: mirror\nRoot-Is-Purelib: true\n{_tag_lines(tag)}",
    }
    contents[f"{info}/RECORD"] = _record(contents) + f"{info}/RECORD,,\n"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{escaped}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, text in contents.items():
            archive.writestr(zipfile.ZipInfo(place), text)
    return path


def _tag_lines(tag: str) -> str:
    python, abi, platforms = tag.split("-")
    return "".join(f"Tag: {python}-{abi}-{platform}\n" for platform in platforms.split("."))


def _record(contents: Mapping[str, str]) -> str:
    lines = []
    for place, text in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{place},sha256={digest},{len(text.encode())}\n")
    return "".join(lines)


@dataclass(frozen=True)
class _File:
    path: Path
    yanked: str | None


class FakeIndex:
    """A simple index: ``path`` holds a folder for each project with its page and its wheels.

    ``add`` returns the index, so that one expression describes it. Give :attr:`url` to pip, to uv or to
    ``ascendenv``; :func:`mirror.server.served` offers the same folder over HTTP.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files: dict[str, list[_File]] = {}
        path.mkdir(parents=True, exist_ok=True)

    @property
    def url(self) -> str:
        """The index as a ``file:`` URL."""
        return self.path.absolute().as_uri()

    def add(
        self,
        name: str,
        version: str,
        *,
        tag: str = PURE,
        requires: Sequence[str] = (),
        files: Mapping[str, str] = _NO_FILES,
        yanked: str | None = None,
    ) -> FakeIndex:
        """Offer one more wheel; ``yanked`` is the reason why it was taken back."""
        project = canonicalize_name(name)
        wheel = write_wheel(self.path / project, name, version, tag=tag, requires=requires, files=files)
        self._files.setdefault(project, []).append(_File(wheel, yanked))
        links = "\n".join(_link(file) for file in self._files[project])
        page = (
            f"<!DOCTYPE html>\n<html><head><title>{project}</title></head><body>\n{links}\n</body></html>\n"
        )
        (self.path / project / "index.html").write_text(page, encoding="utf-8")
        return self


def _link(file: _File) -> str:
    digest = hashlib.sha256(file.path.read_bytes()).hexdigest()
    yanked = "" if file.yanked is None else f' data-yanked="{html.escape(file.yanked)}"'
    name = file.path.name
    return f'<a href="{name.replace("+", "%2B")}#sha256={digest}"{yanked}>{name}</a><br/>'


class FakeLinks:
    """A folder of wheels for ``find-links``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def add(
        self,
        name: str,
        version: str,
        *,
        tag: str = PURE,
        requires: Sequence[str] = (),
        files: Mapping[str, str] = _NO_FILES,
    ) -> FakeLinks:
        """Put one more wheel into the folder."""
        write_wheel(self.path, name, version, tag=tag, requires=requires, files=files)
        return self
