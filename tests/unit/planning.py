"""What resolver tests share: the real matrix, targets in one line, and shelves of imagined wheels."""

from __future__ import annotations

from dataclasses import dataclass

from packaging.version import Version

from ascendenv.compatibility import query
from ascendenv.compatibility.load import load
from ascendenv.resolve.index import Found, Look, Missing
from ascendenv.resolve.model import Conflict, Request, Target
from ascendenv.resolve.resolver import Choice, resolve
from ascendenv.resolve.sources import Wheel
from ascendenv.vocabulary import Arch, ChipFamily

MATRIX = load()
# As the matrix lists it; a wheel from there needs uv to be told.
CPU_INDEX = next(row for row in MATRIX.indexes if row.name == "pytorch-cpu")
ASKED = Look("the default index", "only other versions", answered=True)
NOT_REACHED = Look("pytorch-cpu", "not reachable", answered=False)


def target(
    arch: str = "x86_64",
    python: str = "3.11",
    chip: str | None = None,
    glibc: str = "2.28",
    driver: str | None = None,
) -> Target:
    family = None if chip is None else ChipFamily(chip)
    where = "" if driver is None else "/usr/local/Ascend/driver/version.info"
    return Target(arch=Arch(arch), python=python, chip=family, glibc=glibc, driver=driver, driver_from=where)


@dataclass(frozen=True)
class Shelf:
    """The world as it should be: torch_npu where the matrix says, torch where PyTorch has it.

    ``without`` lists wheels that are not there after all (``torch 2.12.0+cpu``, or a project as a whole), and
    ``unreachable`` whether the place that has the ``+cpu`` builds does not answer.
    """

    without: tuple[str, ...] = ()
    unreachable: bool = False

    def find(self, project: str, version: Version, target: Target) -> Found | Missing:
        name = project.replace("-", "_")
        wanted = f"{name} {version}"
        on_cpu_index = version.local == "cpu"
        if on_cpu_index and self.unreachable:
            return Missing(wanted, (ASKED, NOT_REACHED), certain=False)
        if not {wanted, name}.isdisjoint(self.without) or not self._exists(project, version, target):
            return Missing(wanted, (ASKED,))
        wheel = Wheel(f"{name}-{version}-py3-none-any.whl", version)
        if on_cpu_index:
            return Found(wheel, CPU_INDEX.name, CPU_INDEX.url)
        return Found(wheel, "the default index")

    @staticmethod
    def _exists(project: str, version: Version, target: Target) -> bool:
        if project != "torch-npu":
            return True
        rows = query.select(MATRIX, torch_npu=version, arch=target.arch, python=target.python)
        return bool(rows)


EVERYTHING = Shelf()


def ask(
    request: Request | None = None, on: Target | None = None, shelf: Shelf = EVERYTHING, *, by: str = "--cann"
) -> Choice | Conflict:
    """The resolver's answer, by default for no wish in particular on the default target."""
    return resolve(request or Request(), on or target(), MATRIX, shelf, cann_source=by)


def chosen(request: Request | None = None, on: Target | None = None, shelf: Shelf = EVERYTHING) -> Choice:
    answer = ask(request, on, shelf)
    assert isinstance(answer, Choice), answer
    return answer


def refused(request: Request | None = None, on: Target | None = None, shelf: Shelf = EVERYTHING) -> Conflict:
    answer = ask(request, on, shelf)
    assert isinstance(answer, Conflict), answer
    return answer
