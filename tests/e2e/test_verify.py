"""The quick suite in a real environment on the simulated CANN: it passes, and each of its checks can fail."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ascendenv.host.machine import LocalMachine
from ascendenv.host.pip_config import pip_configuration
from ascendenv.resolve import uv
from ascendenv.verify.model import Report
from ascendenv.verify.runner import Environment, verify
from ascendenv.vocabulary import Layer, Outcome

MUTANTS = Path(__file__).parent / "verify_mutants"

Verify = Callable[..., Report]


@dataclass(frozen=True)
class Changed:
    """The installed environment with other variables."""

    path: Path
    python: Path
    variables: dict[str, str]

    def environ(self) -> dict[str, str]:
        return self.variables


@pytest.fixture
def verified(installed: Environment) -> Verify:
    """Verify the installed environment, with variables set on top of its own."""

    def run(select: str | None = None, variables: dict[str, str] | None = None) -> Report:
        pip = pip_configuration(LocalMachine())
        environment = Changed(installed.path, installed.python, {**installed.environ(), **(variables or {})})
        return verify(
            environment,
            select=select,
            on_check=lambda _: None,
            uv_options=uv.options(pip),
            uv_environ=uv.environ(pip),
        )

    return run


def told(report: Report) -> str:
    """The report for a reader of a failed assertion."""
    return "\n".join(f"{check.outcome} {check.id} {check.detail}\n{check.output}" for check in report.checks)


def simulated_devices(environment: Environment) -> dict[str, str]:
    """What the simulated CANN was built to look like."""
    home = Path(environment.environ()["ASCEND_HOME_PATH"])
    lines = (home / "share" / "info" / "simulator" / "version.info").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


def with_mutants(environment: Environment, layer: str) -> dict[str, str]:
    """The variables that put the mutants of a layer in."""
    rest = environment.environ().get("PYTHONPATH", "")
    return {"PYTHONPATH": os.pathsep.join(filter(None, (str(MUTANTS), rest))), "ASCENDENV_MUTANTS": layer}


def test_the_quick_suite_passes_in_every_layer(verified: Verify, installed: Environment) -> None:
    report = verified()

    assert report.ok, told(report)
    assert report.counts[Outcome.SKIPPED] == 0, told(report)
    assert {check.layer for check in report.checks} == set(Layer)
    built = simulated_devices(installed)
    assert report.device.model_dump() == {
        "simulated": True,
        "soc": built["soc"],
        "count": int(built["devices"]),
    }
    assert report.environment == installed.path


def test_verifying_leaves_nothing_behind(verified: Verify, installed: Environment) -> None:
    site_packages = next(installed.path.glob("lib/python3.*/site-packages"))
    before = {path.name for path in site_packages.iterdir()}
    report = verified("probe")

    assert report.ok, told(report)
    assert {path.name for path in site_packages.iterdir()} == before
    assert not any(name.startswith(("pytest", "_pytest")) for name in before)


ALL_OF = {
    "tensor": {
        "tensor.creation",
        "tensor.copy.bfloat16",
        "tensor.views",
        "tensor.arithmetic.int64",
        "tensor.matmul.float16",
        "tensor.relu.int32",
        "tensor.reduction.float16",
        "tensor.print",
        "tensor.seed",
        "tensor.devices",
        "tensor.mlp",
    },
    "memory": {
        "memory.statistics",
        "memory.empty_cache",
        "memory.out_of_memory",
        "memory.fraction",
        "memory.growth",
        "memory.pinned",
    },
    "hccl": {
        "hccl.init",
        "hccl.all_reduce.sum",
        "hccl.all_reduce.max",
        "hccl.broadcast",
        "hccl.all_gather",
        "hccl.reduce_scatter",
        "hccl.all_to_all",
        "hccl.send_recv",
        "hccl.barrier",
        "hccl.ddp",
    },
}


@pytest.mark.parametrize("layer", ALL_OF)
def test_every_lie_is_found_by_its_check_and_no_other(
    layer: str, verified: Verify, installed: Environment
) -> None:
    report = verified(f"{layer}.", with_mutants(installed, layer))

    assert {check.id for check in report.failed} == ALL_OF[layer], told(report)
    passed = report.counts[Outcome.PASSED]
    assert passed + len(ALL_OF[layer]) == len(report.checks), told(report)


def test_a_torch_built_for_another_accelerator_is_found(verified: Verify, installed: Environment) -> None:
    report = verified("import.torch_flavour", with_mutants(installed, "import"))

    (check,) = report.checks
    assert check.outcome is Outcome.FAILED
    assert check.detail.startswith("torch is built for cuda")


def test_without_devices_the_probe_is_at_fault_and_nothing_else_runs(verified: Verify) -> None:
    report = verified(variables={"ASCENDENV_SIM_DEVICES": "0"})

    assert report.failed_layer is Layer.PROBE, told(report)
    assert "probe.devices" in {check.id for check in report.failed}
    above = {check.outcome for check in report.checks if check.layer is not Layer.PROBE}
    assert above == {Outcome.NOT_RUN}, told(report)


def test_with_one_device_collectives_are_skipped_with_the_reason(verified: Verify) -> None:
    report = verified("probe.all_reduce or hccl.", {"ASCENDENV_SIM_DEVICES": "1"})

    assert {check.outcome for check in report.checks} == {Outcome.SKIPPED}, told(report)
    assert {check.detail for check in report.checks} == {"needs 2 devices, 1 visible"}


def test_without_the_cann_environment_the_probe_says_so(verified: Verify) -> None:
    report = verified("probe.devices", {"LD_LIBRARY_PATH": ""})

    (check,) = report.checks
    assert check.outcome is Outcome.FAILED
    assert "CANN environment is not in effect" in check.detail


def test_devices_can_be_chosen(installed: Environment) -> None:
    pip = pip_configuration(LocalMachine())
    report = verify(
        installed,
        devices=[1],
        select="probe.devices or tensor.creation",
        on_check=lambda _: None,
        uv_options=uv.options(pip),
        uv_environ=uv.environ(pip),
    )

    assert report.ok, told(report)
    assert report.device.count == 1
