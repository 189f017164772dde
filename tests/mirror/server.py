"""A loopback HTTP server that offers a folder, or answers as it is told."""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Reply:
    """What the server says: status, text and headers, after a pause of some seconds."""

    status: int = 200
    text: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    pause: float = 0.0

    @classmethod
    def json_page(cls, project: str, *filenames: str, yanked: tuple[str, ...] = ()) -> Reply:
        """A project's page as PEP 691 has it."""
        files = [
            {"filename": name, "url": name, "hashes": {}, **({"yanked": True} if name in yanked else {})}
            for name in (*filenames, *yanked)
        ]
        page = {"meta": {"api-version": "1.0"}, "name": project, "files": files}
        return cls(text=json.dumps(page), headers={"Content-Type": "application/vnd.pypi.simple.v1+json"})


@dataclass
class Served:
    """A running server: its address, and the paths and authorizations that came, in order."""

    url: str
    asked: list[str] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)

    def with_credentials(self, user: str, password: str) -> str:
        """The address as a user with a private index writes it down."""
        return self.url.replace("http://", f"http://{user}:{password}@")


@contextlib.contextmanager
def served(folder: Path) -> Iterator[Served]:
    """Offer ``folder`` as any static web server does."""
    seen = Served("")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self) -> None:  # the name that the base class looks for
            _note(self, seen)
            super().do_GET()

        def log_message(self, *_: object) -> None:
            pass

    with _running(functools.partial(Handler, directory=str(folder)), seen):
        yield seen


@contextlib.contextmanager
def answering(replies: Mapping[str, Reply]) -> Iterator[Served]:
    """Answer each path with its reply, and any other with 404."""
    seen = Served("")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the name that the base class looks for
            _note(self, seen)
            reply = replies.get(self.path, Reply(status=404))
            time.sleep(reply.pause)
            body = reply.text.encode()
            headers = {"Content-Type": "text/html", **reply.headers, "Content-Length": str(len(body))}
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the client gave up waiting
                self.send_response(reply.status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with _running(Handler, seen):
        yield seen


def _note(handler: http.server.BaseHTTPRequestHandler, seen: Served) -> None:
    seen.asked.append(handler.path)
    seen.authorizations.append(handler.headers.get("Authorization"))


@contextlib.contextmanager
def _running(handler: Callable[..., http.server.BaseHTTPRequestHandler], seen: Served) -> Iterator[None]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    seen.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
