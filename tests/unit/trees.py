"""Directory trees as data, to be compared."""

from __future__ import annotations

from pathlib import Path


def tree(root: Path) -> dict[str, str]:
    """Every path below `root` with its text or the target of its link; the root's own time does not count."""
    return {path.relative_to(root).as_posix(): _content(path) for path in sorted(root.rglob("*"))}


def exact_tree(root: Path) -> dict[str, tuple[str, int, int, int, int]]:
    """The same with mode, owner, group and, for files, the time of the last change in ns."""
    kinds = {path.relative_to(root).as_posix(): path.lstat() for path in root.rglob("*")}
    return {
        name: (
            _content(root / name),
            kind.st_mode,
            kind.st_uid,
            kind.st_gid,
            0 if (root / name).is_dir() else kind.st_mtime_ns,
        )
        for name, kind in kinds.items()
    }


def _content(path: Path) -> str:
    if path.is_symlink():
        return f"-> {path.readlink()}"
    return path.read_bytes().decode("latin-1") if path.is_file() else ""
