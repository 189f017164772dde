"""Reading an index over HTTP: only a part of each wheel, and what cannot be read is said."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import requests
from mirror.index import write_wheel
from mirror.server import Reply, answering
from packaging.version import Version

from ascendenv.compatibility.load import load
from ascendenv.drift import read
from ascendenv.drift.compare import compare
from ascendenv.drift.model import File, Kind
from ascendenv.errors import ExitCode, NetworkError
from ascendenv.host.model import PipConfiguration

MATRIX = load()
WHEEL = "torch_npu-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl"
BARE = "torch_npu-2.13.0-cp311-cp311-manylinux_2_28_aarch64.whl"
JSON = {"Content-Type": "application/vnd.pypi.simple.v1+json"}


def page(project: str, *files: dict[str, Any]) -> Reply:
    content = {"meta": {"api-version": "1.1"}, "name": project, "files": list(files)}
    return Reply(text=json.dumps(content), headers=JSON)


def test_a_snapshot_of_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UV_INDEX", raising=False)
    files: list[dict[str, Any]] = [
        {
            "filename": WHEEL,
            "url": WHEEL,
            "hashes": {},
            "core-metadata": True,
            "upload-time": "2026-10-15T08:00:00Z",
            "yanked": "broken",
        },
        {"filename": BARE, "url": BARE, "hashes": {}},
        {"filename": "torch_npu-newest-py3-none-any.whl", "url": "x", "hashes": {}},
    ]
    replies = {
        "/torch-npu/": page("torch-npu", *files),
        f"/torch-npu/{WHEEL}.metadata": Reply(text="Name: torch_npu\nRequires-Dist: torch==2.13.0\n"),
    }
    with answering(replies) as index:
        pip = PipConfiguration.model_validate({"where": "a test", "index_url": f"{index.url}/"})
        seen = read.snapshot(MATRIX, pip)
    assert [(f.filename, str(f.uploaded), f.yanked) for f in seen.files["torch-npu"]] == [
        (WHEEL, "2026-10-15", True),
        (BARE, "None", False),
    ]
    assert list(seen.files) == ["torch-npu"]
    assert seen.requires == {WHEEL: ("torch==2.13.0",)}
    assert seen.unread == (BARE,)
    assert seen.place.startswith("index http://127.0.0.1")
    drift = compare(MATRIX, seen)
    assert drift.unread == (BARE,)
    of_release = [d.kind for d in drift.differences if d.subject.split(",")[0] == "torch_npu 2.13.0"]
    assert set(of_release) == {Kind.YANKED, Kind.WHEEL_MISSING, Kind.PINS_CHANGED}


def test_an_index_that_does_not_answer() -> None:
    with answering({"/torch-npu/": Reply(status=403)}) as index:
        pip = PipConfiguration.model_validate({"where": "a test", "index_url": f"{index.url}/"})
        with pytest.raises(NetworkError, match="could not be asked for torch-npu: HTTPError") as caught:
            read.snapshot(MATRIX, pip)
    assert caught.value.exit_code is ExitCode.NETWORK


class Server(requests.Session):
    """Stands in for a server with one file; counts what it gives."""

    def __init__(self, content: bytes, *, parts: bool = True) -> None:
        super().__init__()
        self.content, self.parts, self.given = content, parts, 0

    def head(self, *_: Any, **__: Any) -> requests.Response:  # noqa: ANN401  # as requests has it
        return self._answer(200, b"")

    def get(self, *_: Any, headers: Any = None, **__: Any) -> requests.Response:  # noqa: ANN401  # likewise
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", headers["Range"])
        assert match is not None
        part = self.content[int(match[1]) : int(match[2]) + 1]
        self.given += len(part)
        return self._answer(206, part) if self.parts else self._answer(200, self.content)

    def _answer(self, status: int, content: bytes) -> requests.Response:
        answer = requests.Response()
        answer.status_code = status
        answer._content = content
        answer.headers["Content-Length"] = str(len(self.content))
        return answer


def test_a_part_of_a_wheel_is_enough(tmp_path: Path) -> None:
    wheel = write_wheel(
        tmp_path, "torch_npu", "2.13.0", requires=("torch==2.13.0.*", "numpy"), files={"a.py": "a" * 10}
    )
    with wheel.open("r+b") as file:  # a megabyte before the archive, as large libraries are
        content = b"\0" * (1 << 20) + file.read()
    server = Server(content)
    assert "Requires-Dist: numpy" in read._metadata_inside(server, "https://example.org/x.whl")
    assert server.given < 1 << 18


def test_a_server_that_gives_only_whole_files_is_not_read(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path, "torch_npu", "2.13.0")
    asked = File(wheel.name, Version("2.13.0"), "https://example.org/x.whl")
    assert read._requires(Server(wheel.read_bytes()), asked) == ()
    assert read._requires(Server(wheel.read_bytes(), parts=False), asked) is None
