"""A CANN installation of files alone: complete by the rules of `ascendenv.host.cann`, and not simulated."""

from __future__ import annotations

from pathlib import Path

SET_ENV = """
version_dirpath="$(readlink -f "$(dirname "${BASH_SOURCE[0]}")")"
export PATH="$version_dirpath/bin:$PATH"
export LD_LIBRARY_PATH="$version_dirpath/lib64:$version_dirpath/lib64/plugin/opskernel:$LD_LIBRARY_PATH"
export LD_LIBRARY_PATH="$LD_LIBRARY_PATH:$version_dirpath/devlib"
export PYTHONPATH="$version_dirpath/python/site-packages:$PYTHONPATH"
export ASCEND_HOME_PATH="$version_dirpath"
export ASCEND_TOOLKIT_HOME="$version_dirpath"
export ASCEND_OPP_PATH="$version_dirpath/opp"
"""


def make_cann(parent: Path, version: str = "9.1.0", *, set_env: str = SET_ENV, arch: str = "x86_64") -> Path:
    """Lay out ``parent/cann-<version>`` and return it. ``set_env`` is the text of its ``set_env.sh``."""
    home = parent / f"cann-{version}"
    for folder in ("bin", "opp", "runtime", "compiler", "devlib", "lib64", "python/site-packages"):
        (home / folder).mkdir(parents=True)
    for header in ("acl/acl.h", "hccl/hccl.h"):
        (home / "include" / header).parent.mkdir(parents=True)
        (home / "include" / header).write_text("#pragma once\n")
    for library in ("libascendcl.so", "libhccl.so"):
        (home / "lib64" / library).touch()
    record = home / f"{arch}-linux" / "ascend_toolkit_install.info"
    record.parent.mkdir()
    record.write_text(f"package_name=Ascend-cann-toolkit\nversion={version}\narch={arch}\npath={home}\n")
    info = home / "share" / "info" / "runtime" / "version.info"
    info.parent.mkdir(parents=True)
    info.write_text(f"Version={version}\n")
    (home / "set_env.sh").write_text(set_env)
    return home
