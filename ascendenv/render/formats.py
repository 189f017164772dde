"""A plan as the files that other programs read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from ascendenv.host.urls import redact_url
from ascendenv.resolve.model import Plan


def pylock(plan: Plan) -> str:
    """The lock (PEP 751): every package with the hashes of its wheels."""
    return plan.lock


def requirements(plan: Plan) -> str:
    """For `pip install --require-hashes -r`: every package with the hash of the wheel for the target."""
    return "".join(f"{line}\n" for line in _requirements(plan))


def _requirements(plan: Plan) -> Iterator[str]:
    yield from _heading(plan)
    yield from (f"--extra-index-url {redact_url(index)}" for index in plan.indexes)
    for package in plan.packages:
        yield f"{package.name}=={package.version} --hash=sha256:{package.sha256}"


def constraints(plan: Plan) -> str:
    """For `pip install -c` and `uv pip install -c`: what has to stay as it is, and nothing else."""
    return "".join(f"{line}\n" for line in (*_heading(plan), *plan.constraints))


def _heading(plan: Plan) -> Iterator[str]:
    pairing = plan.pairing
    yield f"# CANN {pairing.cann}, torch {pairing.torch}, torch_npu {pairing.torch_npu}"
    yield f"# for {plan.target.describe()}"


FILES: Mapping[str, Callable[[Plan], str]] = MappingProxyType(
    {"pylock": pylock, "requirements": requirements, "constraints": constraints}
)
"""By the name that ``--format`` has for them."""
