"""Many requests for many machines, answered on a recorded index, held still in `tests/golden/recorded.txt`.

After a change that is meant: `ASCENDENV_WRITE_GOLDEN=1 python -m pytest tests/unit/test_resolve_recorded.py`,
and read the difference.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from itertools import product
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version
from planning import CPU_INDEX, MATRIX, target

from ascendenv.resolve.index import Found, Look, Missing
from ascendenv.resolve.model import Request, Target
from ascendenv.resolve.offer import Offer
from ascendenv.resolve.resolver import Choice, resolve
from ascendenv.resolve.sources import Wheel, named
from ascendenv.vocabulary import Arch, ChipFamily

RECORDED = Path(__file__).parent / "data" / "index"
GOLDEN = Path(__file__).parents[1] / "golden" / "recorded.txt"
# Brought by extensions; their own wheels are not what these answers are about.
NOT_RECORDED = frozenset({"vllm"})


class Recorded:
    """The default index as it was, and the index of CPU builds behind it."""

    def find(self, project: str, version: Version, target: Target) -> Found | Missing:
        wanted = f"{project.replace('-', '_')} {version}"
        if project in NOT_RECORDED:
            return Found(Wheel(f"{project}-{version}-py3-none-any.whl", version), "the default index")
        wheel = self._default(project).fitting(version, target)
        if wheel is not None:
            return Found(wheel, "the default index")
        looks = [Look("the default index", "nothing that fits", answered=True)]
        if project == "torch":
            wheel = self._cpu_builds.fitting(version, target)
            if wheel is not None:
                return Found(wheel, CPU_INDEX.name, CPU_INDEX.url)
            looks.append(Look(CPU_INDEX.name, "nothing that fits", answered=True))
        return Missing(wanted, tuple(looks))

    def _default(self, project: str) -> Offer:
        if project not in self._pages:
            file = RECORDED / f"{project}.txt"
            names = file.read_text().splitlines() if file.is_file() else []
            self._pages[project] = Offer.of(named(project, names))
        return self._pages[project]

    @cached_property
    def _pages(self) -> dict[str, Offer]:
        return {}

    @cached_property
    def _cpu_builds(self) -> Offer:
        names = {
            f"torch-{row.torch}+cpu-{tag}-{tag}-manylinux_2_28_{arch}.whl"
            for row in MATRIX.torch_npu
            for arch, support in row.wheels.items()
            for tag in (f"cp{python.replace('.', '')}" for python in support.pythons)
        }
        return Offer.of(named("torch", names))


def cases() -> Iterator[tuple[Request, Target]]:
    """Every Python and every chip on both architectures, and what people ask for."""
    for arch, minor in product(Arch, range(9, 15)):
        yield Request(), target(arch, f"3.{minor}")
    for arch, chip in product(Arch, ChipFamily):
        yield Request(), target(arch, chip=chip)
    asked = (
        Request(cann="9.1.0"),
        Request(cann="8.5.0"),
        Request(cann="8.2.RC1"),
        Request(cann="8.0.0"),
        Request(cann=">=8.5,<9"),
        Request(cann="9.1.0", torch="2.6.0"),
        Request(torch="2.7.1"),
        Request(torch=">=2.9,<2.12"),
        Request(torch_npu="2.10.0.post6"),
        Request(torch_npu="2.7.1.*", cann="9.0"),
        Request(torch_npu="2.13.0rc1"),
        Request(cann="8.3.RC1", torch="2.7.1"),
        Request(packages=("triton-ascend",)),
        Request(packages=("vllm-ascend",)),
        Request(packages=("vllm-ascend==0.18.0",)),
        Request(packages=("triton", "triton-ascend")),
        Request(cann="8.0.0", packages=("numpy>=2",)),
    )
    yield from ((request, target(arch)) for request, arch in product(asked, Arch))
    yield Request(torch_npu="2.12.0"), target("aarch64", "3.14")
    yield Request(torch_npu="2.10.0.post6"), target("x86_64", "3.12")
    yield Request(cann="8.5.0"), target("aarch64", chip="950")
    yield Request(cann="9.1.0"), target("aarch64", chip="910b", driver="25.0.rc1")
    yield Request(), target("aarch64", chip="910b", driver="24.1.rc2")
    yield Request(cann="9.1.0", torch_npu="2.9.0", allow_declared=True), target("aarch64", chip="910b")
    yield Request(cann="9.2.0", torch_npu="2.8.0", allow_reported=True), target("aarch64")


def line(request: Request, on: Target) -> str:
    asked = " ".join(
        [
            *(f"--{name.replace('_', '-')} {value}" for name in ("cann", "torch", "torch_npu")
              if (value := getattr(request, name))),
            *(f"--with {package}" for package in request.packages),
            *(f"--{name.replace('_', '-')}" for name in ("allow_declared", "allow_reported")
              if getattr(request, name)),
        ]
    )  # fmt: skip
    return f"{asked or 'anything'} | {on.describe()}\n    {answered(request, on)}\n"


RECORDED_INDEX = Recorded()


def answered(request: Request, on: Target) -> str:
    answer = resolve(request, on, MATRIX, RECORDED_INDEX)
    if isinstance(answer, Choice):
        rest = [r for r in answer.requirements if Requirement(r).name in answer.on_top]
        notes = [f"{len(answer.passed_over)} passed over"] if answer.passed_over else []
        notes += [str(answer.pairing.verdict)] + ["reported"] * bool(answer.warnings)
        stack = f"CANN {answer.pairing.cann}, torch {answer.torch}, torch_npu {answer.pairing.torch_npu}"
        return ", ".join([stack, *rest]) + f"  ({', '.join(notes)})"
    return f"no: {answer.summary}" + "".join(f"\n        {near.change}" for near in answer.nearest)


def test_what_is_answered() -> None:
    lines = [line(request, on) for request, on in cases()]
    assert len(lines) >= 60
    if os.environ.get("ASCENDENV_WRITE_GOLDEN"):
        GOLDEN.write_text("".join(lines), encoding="utf-8")

    assert "".join(lines) == GOLDEN.read_text(encoding="utf-8")
