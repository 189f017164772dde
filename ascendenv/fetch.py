"""The one place that talks HTTP."""

from __future__ import annotations

import ssl
import warnings
from typing import Any
from urllib.parse import urlsplit

import requests
import truststore
from requests.adapters import HTTPAdapter
from urllib3.exceptions import InsecureRequestWarning
from urllib3.util import Retry

from ascendenv import __version__
from ascendenv.host.model import PipConfiguration

CONNECT_SECONDS = 5.0
READ_SECONDS = 30.0


def session(
    pip: PipConfiguration, *, timeout: tuple[float, float] = (CONNECT_SECONDS, READ_SECONDS)
) -> requests.Session:
    """A session that follows the user's pip configuration: certificate, trusted hosts, proxy.

    ``timeout`` is for the connection and between two pieces of an answer, in seconds. A host that cannot be
    reached or does not answer is given up at once, since a blocked index is common and others are tried
    after it; one that says that it is overloaded (502, 503, 504) is asked once more.
    """
    made = _Session(timeout)
    made.headers["User-Agent"] = f"ascendenv/{__version__}"
    retries = Retry(
        total=1,
        connect=0,
        read=False,
        backoff_factor=0.3,
        status_forcelist=(502, 503, 504),
        raise_on_status=False,
    )
    made.mount("http://", HTTPAdapter(max_retries=retries))
    made.mount("https://", _Https(pip, retries))
    if pip.cert is not None:
        made.verify = pip.cert
    if pip.proxy is not None:
        made.trust_env = False
        made.proxies = dict.fromkeys(("http", "https"), proxy_url(pip.proxy))
    return made


def proxy_url(proxy: str) -> str:
    """The URL that pip's ``proxy`` option means: pip lets the scheme be left out."""
    return proxy if "://" in proxy else f"http://{proxy}"


class _Session(requests.Session):
    """Gives up on a host that does not answer."""

    def __init__(self, timeout: tuple[float, float]) -> None:
        super().__init__()
        self._timeout = timeout

    def request(self, *args: Any, **kwargs: Any) -> requests.Response:  # noqa: ANN401  # only defaults are added
        if kwargs.get("timeout") is None:
            kwargs["timeout"] = self._timeout
        if kwargs.get("verify") is None and isinstance(self.verify, str):
            # Without this, requests prefers $REQUESTS_CA_BUNDLE to the certificate that pip is told of.
            kwargs["verify"] = self.verify
        return super().request(*args, **kwargs)


class _Https(HTTPAdapter):
    """Trusts what the machine trusts, as pip does, so that a company's own certificate authority works.

    Certificates of the hosts that the user told pip to trust as they are go unverified.
    """

    def __init__(self, pip: PipConfiguration, retries: Retry) -> None:
        self._own_certificates = pip.cert is not None
        self._trusted = frozenset(host.lower() for host in pip.trusted_hosts)
        # A context of its own: one that checks host names cannot be told to check no certificate.
        self._unverified = HTTPAdapter(max_retries=retries)
        super().__init__(max_retries=retries)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  # requests passes these through
        if not self._own_certificates:
            kwargs["ssl_context"] = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        super().init_poolmanager(*args, **kwargs)

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:  # noqa: ANN401  # requests passes these through
        if not self._is_trusted(request.url or ""):
            return super().send(request, *args, **kwargs)
        kwargs["verify"] = False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InsecureRequestWarning)  # the user asked for it
            return self._unverified.send(request, *args, **kwargs)

    def close(self) -> None:
        """Close the connections of both kinds."""
        self._unverified.close()
        super().close()

    def _is_trusted(self, url: str) -> bool:
        parts = urlsplit(url)
        return not self._trusted.isdisjoint({parts.hostname or "", f"{parts.hostname}:{parts.port or 443}"})
