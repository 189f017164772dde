"""The user's constraint files for pip, as far as they speak of a version that is chosen before uv runs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from packaging.markers import UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from ascendenv.host.urls import redact_url
from ascendenv.resolve.model import Target
from ascendenv.resolve.places import is_local, local_path

_COMMENT = re.compile(r"(^|\s+)#.*$")


@dataclass(frozen=True)
class ConstraintLine:
    """One line of a constraint file."""

    requirement: Requirement
    file: str

    @property
    def project(self) -> str:
        """The project that it limits, in its normal form."""
        return canonicalize_name(self.requirement.name)

    def forbids(self, project: str, version: Version, target: Target) -> bool:
        """Whether ``version`` of ``project`` must not be taken on ``target``."""
        return (
            self.project == canonicalize_name(project)
            and self._applies_to(target)
            and not self.requirement.specifier.contains(version, prereleases=True)
        )

    def _applies_to(self, target: Target) -> bool:
        marker = self.requirement.marker
        environment = {
            "python_version": target.python,
            "python_full_version": f"{target.python}.0",
            "platform_machine": str(target.arch),
            "sys_platform": "linux",
            "platform_system": "Linux",
            "os_name": "posix",
        }
        try:
            return marker is None or marker.evaluate(environment)
        except UndefinedEnvironmentName:
            return False

    def __str__(self) -> str:
        return f"{self.requirement} in {self.file}"


def read_constraints(files: Iterable[str]) -> tuple[ConstraintLine, ...]:
    """The lines of the files on this machine's disk. uv reads all of them, and complains of bad ones."""
    lines = []
    for file in files:
        try:
            text = local_path(file).read_text(encoding="utf-8") if is_local(file) else ""
        except OSError:
            continue
        for line in text.splitlines():
            try:
                lines.append(ConstraintLine(Requirement(_COMMENT.sub("", line)), redact_url(file)))
            except InvalidRequirement:
                continue
    return tuple(lines)
