"""What tests of ``ascendenv simulate`` share: an environment of names alone, a simulator of files alone."""

from __future__ import annotations

import shutil
import venv
from pathlib import Path

from ascendenv.paths import resource_dir

PROJECT = """\
cmake_minimum_required(VERSION 3.18)
project(tiny LANGUAGES NONE)
foreach(name libascendcl.so libhccl.so)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/built/lib64/${name} "for ${ASCENDENV_TORCH}")
endforeach()
file(APPEND %s "built\\n")
"""


def torch_environment(path: Path, **versions: str) -> Path:
    """A virtual environment that seems to have these packages."""
    venv.create(path, with_pip=False, symlinks=True)
    (packages,) = path.glob("lib/python3*/site-packages")
    (packages / "torch" / "lib").mkdir(parents=True)
    for name, version in versions.items():
        about = packages / f"{name}-{version}.dist-info" / "METADATA"
        about.parent.mkdir()
        about.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return path


def simulator(root: Path) -> Path:
    """The resources of a checkout with such a simulator; ``root/builds`` gets a line for each build."""
    source = root / "device_runtime" / "simulator"
    (source / "include" / "acl").mkdir(parents=True)
    (source / "include" / "acl" / "acl.h").touch()
    shutil.copytree(resource_dir("device_runtime") / "simulator" / "package", source / "package")
    (source / "CMakeLists.txt").write_text(PROJECT % (root / "builds"))
    (root / "matrix").symlink_to(resource_dir("matrix"))
    return root


def builds(root: Path) -> int:
    """How often it was built."""
    return len((root / "builds").read_text().splitlines()) if (root / "builds").exists() else 0
