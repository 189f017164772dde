"""Addresses of package indexes, which may hold a user's credentials."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import PlainSerializer

__all__ = ["SecretUrl", "redact_text", "redact_url"]

_HIDDEN = "***"
_URL = re.compile(r"(?P<scheme>[a-zA-Z][\w+.-]*://)(?P<authority>[^/?#]*)(?P<rest>.*)", re.DOTALL)
_HOST_WITH_STRAY_PASSWORD = re.compile(r".*:(?!\d*$).*", re.DOTALL)


def redact_url(url: str) -> str:
    """``url`` as it may be shown: user, password and query values replaced by ``***``.

    A path or a host name comes back unchanged. In doubt, as with a ``/`` in a password, more is hidden.
    """
    match = _URL.fullmatch(url)
    if match is None:
        return url
    authority, rest = match["authority"], match["rest"]
    if "@" not in authority and "@" in rest and _HOST_WITH_STRAY_PASSWORD.fullmatch(authority):
        before, _, after = rest.rpartition("@")
        authority, rest = f"{authority}{before}@", after
        shown_host, shown_rest = "", rest
    else:
        shown_host, shown_rest = authority.rpartition("@")[2], rest
    credentials = f"{_HIDDEN}@" if "@" in authority else ""
    return f"{match['scheme']}{credentials}{shown_host}{_redact_query(shown_rest)}"


def redact_text(text: str) -> str:
    """``text`` with every address in it redacted."""
    return re.sub(r"[a-zA-Z][\w+.-]*://[^\s'\"]+", lambda match: redact_url(match[0]), text)


def _redact_query(rest: str) -> str:
    return re.sub(r"([?&][^=&#]*=)[^&#]*", rf"\g<1>{_HIDDEN}", rest)


SecretUrl = Annotated[str, PlainSerializer(redact_url, return_type=str, when_used="json")]
"""An address that keeps its credentials in memory and loses them in JSON."""
