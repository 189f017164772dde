"""The one place that talks HTTP."""

from __future__ import annotations

import ssl
from typing import Any
from urllib.parse import urlsplit

import requests
import truststore
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from ascendenv import __version__
from ascendenv.host.model import PipConfiguration

CONNECT_SECONDS = 5.0
READ_SECONDS = 30.0


class _SystemTrust(HTTPAdapter):
    """Trusts what the machine trusts, as pip does, so that a company's own certificate authority works."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  # requests passes these through
        kwargs["ssl_context"] = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        super().init_poolmanager(*args, **kwargs)


class _TimeLimited(requests.Session):
    """Gives up on a host that does not answer."""

    def request(self, *args: Any, **kwargs: Any) -> requests.Response:  # noqa: ANN401  # only a default is added
        kwargs.setdefault("timeout", (CONNECT_SECONDS, READ_SECONDS))
        if kwargs["timeout"] is None:
            kwargs["timeout"] = (CONNECT_SECONDS, READ_SECONDS)
        return super().request(*args, **kwargs)


def session(pip: PipConfiguration) -> requests.Session:
    """A session that follows the user's pip configuration: certificate, trusted hosts, proxy variables.

    One retry on a dropped connection; a host that cannot be reached is given up after seconds, since a
    blocked index is common and others are tried after it.
    """
    made = _TimeLimited()
    made.headers["User-Agent"] = f"ascendenv/{__version__}"
    retries = Retry(total=1, connect=0, backoff_factor=0.3, status_forcelist=(502, 503, 504))
    adapter: HTTPAdapter = HTTPAdapter(max_retries=retries)
    if pip.cert is not None:
        made.verify = pip.cert
    else:
        adapter = _SystemTrust(max_retries=retries)
    made.mount("https://", adapter)
    made.mount("http://", HTTPAdapter(max_retries=retries))
    for host in pip.trusted_hosts:
        made.mount(f"https://{host}", _Unverified(max_retries=retries))
    return made


class _Unverified(HTTPAdapter):
    """For the hosts that the user told pip to trust as they are."""

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:  # noqa: ANN401  # requests passes these through
        kwargs["verify"] = False
        return super().send(request, *args, **kwargs)


def is_local(url: str) -> bool:
    """Whether a URL or a bare path is on this machine's disk."""
    return urlsplit(url).scheme in {"", "file"}
