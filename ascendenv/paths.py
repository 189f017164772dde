"""Where ascendenv keeps its things. Each place can be moved with an environment variable."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def data_dir() -> Path:
    """Environments, journals and reports: ``$ASCENDENV_HOME``, else the user's data directory."""
    return _place("ASCENDENV_HOME", platformdirs.user_data_path("ascendenv"))


def cache_dir() -> Path:
    """Builds and downloads that can be made again: ``$ASCENDENV_CACHE_DIR``, else the user's cache."""
    return _place("ASCENDENV_CACHE_DIR", platformdirs.user_cache_path("ascendenv"))


def environments_dir() -> Path:
    """Where managed environments live."""
    return data_dir() / "envs"


def journals_dir() -> Path:
    """Where unfinished installations are written down."""
    return data_dir() / "journals"


def resource_dir(name: str) -> Path:
    """``matrix``, ``dockerfiles`` or ``device_runtime``: in the wheel, else beside the package."""
    package = Path(__file__).resolve().parent
    inside = package / "_resources" / name
    return inside if inside.is_dir() else package.parent / name


def _place(variable: str, default: Path) -> Path:
    value = os.environ.get(variable)
    return Path(value).expanduser().absolute() if value else default
