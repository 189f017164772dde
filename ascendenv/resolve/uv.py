"""uv, with the user's pip configuration translated for it (uv does not read pip.conf)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache

from uv import find_uv_bin

from ascendenv.fetch import is_local
from ascendenv.host.model import PipConfiguration
from ascendenv.resolve.index import local_path


@cache
def executable() -> str:
    """The path of the uv that ascendenv brings along."""
    return find_uv_bin()


def options(pip: PipConfiguration, *, offline: bool = False) -> tuple[str, ...]:
    """The command line options that make uv look where the user's pip looks.

    pip takes the best version over all indexes, so uv is told to do the same: with its own default, the
    first index that knows a project hides all others.
    """
    return tuple(_options(pip, offline=offline))


def _options(pip: PipConfiguration, *, offline: bool) -> Iterator[str]:
    yield "--index-strategy=unsafe-best-match"
    if pip.cert is None:
        yield "--system-certs"
    if offline:
        yield "--offline"
    if pip.no_index:
        yield "--no-index"
    else:
        if pip.index_url is not None:
            yield f"--default-index={pip.index_url}"
        yield from (f"--index={_as_url(url)}" for url in pip.extra_index_urls)
    yield from (f"--find-links={link}" for link in pip.find_links)
    yield from (f"--allow-insecure-host={host}" for host in pip.trusted_hosts)


def constraint_options(pip: PipConfiguration) -> tuple[str, ...]:
    """The user's constraint files, for the commands that resolve versions."""
    return tuple(f"--constraints={path}" for path in pip.constraints)


def environ(pip: PipConfiguration, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The process environment for uv: no progress bars of its own, and the user's certificate file."""
    result = dict(os.environ if base is None else base)
    result["UV_NO_PROGRESS"] = "1"
    if pip.cert is not None:
        result["SSL_CERT_FILE"] = pip.cert
    return result


def _as_url(index: str) -> str:
    return local_path(index).as_uri() if is_local(index) else index
