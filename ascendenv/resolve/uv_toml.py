"""The user's and the machine's ``uv.toml``: the indexes and link folders that uv itself goes by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ascendenv import toml


@dataclass(frozen=True)
class UvSettings:
    """What is configured, ``file`` being where. An empty one where there is no file."""

    file: str = ""
    default: str | None = None
    further: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    no_index: bool = False


def uv_settings(environ: Mapping[str, str]) -> UvSettings:
    """The settings in effect: uv takes the user's file over the machine's, value by value."""
    if environ.get("UV_NO_CONFIG", "").lower() in {"1", "true", "yes"}:
        return UvSettings()
    merged: dict[str, Any] = {}
    named = ""
    for file in _files(environ):
        try:
            document = toml.loads(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, toml.TOMLDecodeError):
            continue  # uv stops at one that it cannot read, and says why
        merged |= {**document, **document.get("pip", {})}
        named = str(file)
    return UvSettings(
        file=named,
        default=_default(merged),
        further=tuple(_further(merged)),
        links=tuple(map(str, merged.get("find-links", ()))),
        no_index=merged.get("no-index") is True,
    )


def _files(environ: Mapping[str, str]) -> Iterator[Path]:
    """The machine's, then the user's; a file named in the variable stands for all."""
    chosen = environ.get("UV_CONFIG_FILE")
    if chosen:
        yield Path(chosen)
        return
    yield Path("/etc/uv/uv.toml")
    home = environ.get("XDG_CONFIG_HOME") or (f"{environ['HOME']}/.config" if environ.get("HOME") else "")
    if home:
        yield Path(home) / "uv" / "uv.toml"


def _default(settings: Mapping[str, Any]) -> str | None:
    marked = (index.get("url") for index in settings.get("index", ()) if index.get("default"))
    return next(marked, settings.get("index-url"))


def _further(settings: Mapping[str, Any]) -> Iterator[str]:
    yield from (index["url"] for index in settings.get("index", ()) if not index.get("default"))
    yield from settings.get("extra-index-url", ())
