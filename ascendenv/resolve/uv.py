"""uv, with the user's pip configuration translated for it (uv does not read pip.conf)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from uv import find_uv_bin

from ascendenv.fetch import proxy_url
from ascendenv.guard_files import without_guards
from ascendenv.host.model import PipConfiguration
from ascendenv.resolve.places import Place, configured

# The lock holds hashes anyway; the wheels that are built here have none to be required.
_SUPERSEDED = ("UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_REQUIRE_HASHES")
# An environment's guard is for what others install into it; what is planned anew is not bound by it.
_GUARDED = ("UV_CONSTRAINT", "UV_EXCLUDE")
_PROXIES = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "http_proxy", "https_proxy")


@cache
def executable() -> str:
    """The path of the uv that ascendenv brings along."""
    return find_uv_bin()


def options(pip: PipConfiguration, *, offline: bool = False) -> tuple[str, ...]:
    """The command line options that make uv look as the user's pip looks; :func:`environ` says where.

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
    yield from (f"--allow-insecure-host={host}" for host in pip.trusted_hosts)


def constraint_options(pip: PipConfiguration) -> tuple[str, ...]:
    """The user's constraint files, for the commands that resolve versions.

    uv's own variable would lose against the option, so it is read here.
    """
    files = (*pip.constraints, *without_guards(os.environ.get("UV_CONSTRAINT", "").split()))
    return tuple(f"--constraints={path}" for path in files)


def environ(
    pip: PipConfiguration, base: Mapping[str, str] | None = None, *, indexes: Sequence[str] = ()
) -> dict[str, str]:
    """The process environment for uv: the user's indexes and ``indexes`` besides, certificate and proxy.

    Addresses go this way, since others on the machine can read a command line, and addresses hold passwords.
    """
    given = dict(os.environ if base is None else base)
    places = configured(pip, given)
    links = ",".join(place.for_uv for place in places.links if _is_there(place))
    ours = {
        "UV_NO_PROGRESS": "1",
        "UV_INDEX": " ".join((*(place.for_uv for place in places.further), *indexes)),
        "UV_DEFAULT_INDEX": places.default.for_uv if places.default is not None else "",
        "UV_FIND_LINKS": links,
        **dict.fromkeys(_SUPERSEDED, ""),
        **{name: " ".join(without_guards(given.get(name, "").split())) for name in _GUARDED},
    }
    if pip.cert is not None:
        ours["SSL_CERT_FILE"] = pip.cert
    if pip.proxy is not None:
        ours |= dict.fromkeys(_PROXIES, proxy_url(pip.proxy))
    # An empty variable would count as an index without an address.
    return {name: value for name, value in {**given, **ours}.items() if value or name not in ours}


def _is_there(place: Place) -> bool:
    """A link folder that does not exist is passed over by pip; uv would stop there."""
    return not place.is_local or place.path.exists()
