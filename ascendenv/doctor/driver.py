"""The check of the driver against CANN."""

from __future__ import annotations

from collections.abc import Iterator

from ascendenv.compatibility.model import Matrix
from ascendenv.compatibility.query import DriverJudgement, driver_support
from ascendenv.doctor.finding import finding, ok, real_canns
from ascendenv.doctor.model import Finding, Fix
from ascendenv.host.model import CannInstall, Driver, Host
from ascendenv.versions import CannVersion, HdkVersion, InvalidHdkVersionError
from ascendenv.vocabulary import Severity


def driver_floor(host: Host, matrix: Matrix) -> Iterator[Finding]:
    """Hold the driver against what the vendor lists for the CANN in effect, or else for every usable one."""
    if host.driver is None:
        return
    try:
        version = HdkVersion(host.driver.version)
    except InvalidHdkVersionError:
        yield finding(
            "driver.floor",
            Severity.INFO,
            f"driver version {host.driver.version} has an unknown form",
            f"无法识别驱动版本号 {host.driver.version}",
            seen=[(host.driver.version, host.driver.where)],
            why="it cannot be compared with what CANN needs",
        )
        return
    for cann in _relevant(host):
        if cann.version is not None:
            yield _judged(cann, host.driver, driver_support(matrix, CannVersion(cann.version), version))


def _relevant(host: Host) -> list[CannInstall]:
    usable = [cann for cann in real_canns(host) if cann.complete]
    return [cann for cann in usable if cann.in_effect] or usable


def _judged(cann: CannInstall, driver: Driver, judgement: DriverJudgement) -> Finding:
    name = f"CANN {cann.version}"
    seen = [(driver.version, driver.where), (name, str(cann.home))]
    if judgement.supported is True:
        return ok(
            "driver.floor",
            f"driver {driver.version} goes with {name}",
            f"驱动 {driver.version} 支持 {name}",
            seen=seen,
        )
    listed = [(judgement.because, judgement.source)] if judgement.source else []
    if judgement.supported is False:
        return _unsupported(judgement, driver, name, [*seen, *listed])
    return finding(
        "driver.floor",
        Severity.INFO,
        f"no vendor list speaks of driver {driver.version} with {name}",
        f"厂商列表未提及驱动 {driver.version} 与 {name} 的组合",
        seen=seen,
        why="it may well work: it is neither listed nor older than what is listed",
    )


def _unsupported(
    judgement: DriverJudgement, driver: Driver, name: str, seen: list[tuple[str, str]]
) -> Finding:
    minimum, target = judgement.minimum, judgement.paired or judgement.minimum
    too_old = minimum is not None and HdkVersion(driver.version) < minimum
    return finding(
        "driver.floor",
        Severity.ERROR,
        f"driver {driver.version} is older than {name} allows ({minimum} or newer)"
        if too_old
        else judgement.because,
        f"驱动 {driver.version} 不支持 {name}" + (f"(需 {minimum} 或更新版本)" if too_old else ""),
        seen=seen,
        why="CANN calls driver functions that an older driver does not have; that fails deep in a run",
        fix=[
            Fix(
                note=f"upgrade firmware, then driver, to {target}, and reboot"
                if target
                else "change the driver"
            ),
            Fix(note="or use a CANN that this driver is listed for"),
        ],
    )
