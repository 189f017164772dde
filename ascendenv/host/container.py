"""Whether this is a container, and of which kind."""

from __future__ import annotations

from ascendenv.host.files import exists, read
from ascendenv.host.machine import Machine
from ascendenv.host.model import Container

_MARKS = (
    ("/var/run/secrets/kubernetes.io", "kubernetes"),
    ("/run/.containerenv", "podman"),
    ("/.dockerenv", "docker"),
)
_CGROUPS = (("kubepods", "kubernetes"), ("libpod", "podman"), ("docker", "docker"), ("lxc", "lxc"))


def container(machine: Machine) -> Container | None:
    """Go by the first mark, the outermost manager first: a pod is also a container of its runtime."""
    if "KUBERNETES_SERVICE_HOST" in machine.environ:
        return Container(kind="kubernetes", where="$KUBERNETES_SERVICE_HOST")
    for path, kind in _MARKS:
        if exists(machine, path):
            return Container(kind=kind, where=path)
    return _by_init(machine) or _by_cgroup(machine) or _wsl(machine)


def _by_init(machine: Machine) -> Container | None:
    path = "/run/systemd/container"
    told = (read(machine, path) or "").strip()
    return Container(kind=told, where=path) if told else None


def _by_cgroup(machine: Machine) -> Container | None:
    path = "/proc/1/cgroup"
    text = read(machine, path) or ""
    kind = next((kind for mark, kind in _CGROUPS if f"/{mark}" in text), None)
    return Container(kind=kind, where=path) if kind else None


def _wsl(machine: Machine) -> Container | None:
    path = "/proc/sys/kernel/osrelease"
    kernel = (read(machine, path) or "").lower()
    return Container(kind="wsl", where=path) if "microsoft" in kernel else None
