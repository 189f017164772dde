"""HTTP as pip's configuration wants it: time limits, certificates, trusted hosts, proxies."""

from __future__ import annotations

import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path

import pytest
import requests
from mirror.server import Reply, answering

from ascendenv import fetch
from ascendenv.host.model import PipConfiguration


@pytest.fixture(autouse=True)
def _no_proxy_for_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def pip(**options: object) -> PipConfiguration:
    return PipConfiguration.model_validate({"where": "a test", **options})


class _Quiet(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:  # the name that the base class looks for
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        pass


class _Server(HTTPServer):
    def handle_error(self, *_: object) -> None:
        """A client that does not trust the certificate hangs up; that is what is tested."""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of nobody's for 127.0.0.1, with its key in the same file."""
    folder = tmp_path_factory.mktemp("tls")
    both, key = folder / "cert.pem", folder / "key.pem"
    command = [
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(both),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    both.write_text(both.read_text() + key.read_text())
    return both


@pytest.fixture(scope="module")
def https(certificate: Path) -> Iterator[str]:
    server = _Server(("127.0.0.1", 0), _Quiet)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_certificate_of_nobody_is_not_trusted(https: str) -> None:
    with pytest.raises(requests.exceptions.SSLError):
        fetch.session(pip()).get(https)


def test_pips_certificate_file_is_trusted(https: str, certificate: Path) -> None:
    assert fetch.session(pip(cert=str(certificate))).get(https).text == "ok"


def test_pips_certificate_file_wins_over_the_one_of_requests(
    https: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere/ca.pem")

    assert fetch.session(pip(cert=str(certificate))).get(https).text == "ok"


def test_a_trusted_host_is_not_verified_and_nothing_complains(https: str) -> None:
    assert fetch.session(pip(trusted_hosts=("127.0.0.1",))).get(https).text == "ok"


def test_a_trusted_host_may_have_a_port(https: str) -> None:
    port = https.rstrip("/").rpartition(":")[2]
    assert fetch.session(pip(trusted_hosts=(f"127.0.0.1:{port}",))).get(https).text == "ok"

    with pytest.raises(requests.exceptions.SSLError):
        fetch.session(pip(trusted_hosts=("127.0.0.1:1",))).get(https)


def test_trust_in_a_host_is_no_trust_in_one_whose_name_begins_alike(https: str) -> None:
    with pytest.raises(requests.exceptions.SSLError):
        fetch.session(pip(trusted_hosts=("127.0.0", "127"))).get(https)


def test_trust_holds_for_an_address_with_credentials(https: str) -> None:
    with_password = https.replace("https://", "https://me:secret@")

    assert fetch.session(pip(trusted_hosts=("127.0.0.1",))).get(with_password).text == "ok"


def test_a_host_that_does_not_answer_is_given_up() -> None:
    with answering({"/": Reply(pause=0.5)}) as server, pytest.raises(requests.Timeout):
        fetch.session(pip(), timeout=(1, 0.05)).get(server.url)


def test_an_overloaded_server_is_asked_once_more() -> None:
    with answering({"/": Reply(status=503)}) as server:
        answer = fetch.session(pip()).get(server.url)

    assert answer.status_code == 503
    assert server.asked == ["/", "/"]


@pytest.mark.parametrize("status", [403, 404, 500])
def test_other_failures_are_taken_for_an_answer(status: int) -> None:
    with answering({"/": Reply(status=status)}) as server:
        answer = fetch.session(pip()).get(server.url)

    assert answer.status_code == status
    assert server.asked == ["/"]


@pytest.mark.parametrize("scheme", ["http://", ""])
def test_pips_proxy_is_used_with_and_without_a_scheme(scheme: str) -> None:
    with answering({"http://index.invalid/simple/": Reply(text="through the proxy")}) as proxy:
        address = proxy.url.removeprefix("http://")
        answer = fetch.session(pip(proxy=f"{scheme}{address}")).get("http://index.invalid/simple/")

    assert answer.text == "through the proxy"
