"""The fake package sources are real enough for uv."""

from __future__ import annotations

import subprocess
from pathlib import Path

from mirror.index import FakeIndex, FakeLinks
from uv import find_uv_bin


def uv(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([find_uv_bin(), *words], capture_output=True, text=True, check=False)


def test_uv_resolves_from_an_index_on_disk(tmp_path: Path) -> None:
    index = FakeIndex(tmp_path / "index").add("engine", "2.0+cpu", requires=["wheel_works>=1"])
    index.add("engine", "3.0+cpu", yanked="broken").add("Wheel.Works", "1.5")
    wanted = tmp_path / "requirements.in"
    wanted.write_text("engine")

    done = uv(
        "pip",
        "compile",
        "--no-config",
        "--no-header",
        "--no-annotate",
        "-q",
        f"--default-index={index.url}",
        str(wanted),
    )

    assert done.stderr == ""
    assert done.stdout.split() == ["engine==2.0+cpu", "wheel-works==1.5"]


def test_uv_installs_from_a_link_folder(tmp_path: Path) -> None:
    links = FakeLinks(tmp_path / "links").add("engine", "2.0", files={"engine.py": "RUNS = True\n"})
    target = tmp_path / "site"

    done = uv(
        "pip",
        "install",
        "--no-config",
        "-q",
        "--no-index",
        f"--find-links={links.path}",
        f"--target={target}",
        "engine",
    )

    assert done.stderr == ""
    assert (target / "engine.py").read_text() == "RUNS = True\n"
    assert (target / "engine-2.0.dist-info" / "RECORD").is_file()
