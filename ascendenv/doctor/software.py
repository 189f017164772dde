"""Checks of CANN, and of the driver against it."""

from __future__ import annotations

from collections.abc import Iterator

from ascendenv.compatibility.model import Matrix
from ascendenv.doctor.finding import finding, ok, real_canns, worse_with_npu
from ascendenv.doctor.fixes import INSTALL_CANN, INSTALL_PYTORCH
from ascendenv.doctor.model import Finding, Fix
from ascendenv.host.model import CannInstall, Host
from ascendenv.vocabulary import Severity

_LOOKED_IN = (
    "/usr/local/Ascend, $HOME/Ascend, $CONDA_PREFIX/Ascend, $ASCEND_HOME_PATH, ascend_cann_install.info"
)
_FOLLOW_TOOLKIT = ("runtime", "compiler")


def cann_found(host: Host, _matrix: Matrix) -> Iterator[Finding]:
    """Find a usable CANN."""
    usable = [cann for cann in real_canns(host) if cann.complete]
    if usable:
        names = ", ".join(_name(cann) for cann in usable)
        yield ok("cann.found", names, names, seen=[(_name(cann), str(cann.home)) for cann in usable])
        return
    broken = real_canns(host)
    yield finding(
        "cann.found",
        worse_with_npu(host, Severity.ERROR),
        "no CANN that can be used is installed" if broken else "CANN is not installed",
        "没有可用的 CANN" if broken else "未安装 CANN",
        seen=[(f"{_name(cann)} is incomplete", str(cann.home)) for cann in broken]
        or [("no CANN", _LOOKED_IN)],
        why="torch_npu loads CANN's libraries when it is imported",
        fix=[INSTALL_CANN, INSTALL_PYTORCH],
    )


def cann_complete(host: Host, _matrix: Matrix) -> Iterator[Finding]:
    """Find half-installed CANNs: torch_npu's import fails when directories or libraries are missing."""
    installs = real_canns(host)
    another = any(cann.complete for cann in installs)
    for cann in installs:
        if cann.complete:
            yield ok(
                "cann.complete", f"{_name(cann)} is complete", f"{_name(cann)} 完整", seen=_missing(cann)
            )
        elif cann.missing == ("set_env.sh",):
            yield finding(
                "cann.complete",
                Severity.INFO,
                f"{_name(cann)} has no set_env.sh of its own",
                f"{_name(cann)} 没有自己的 set_env.sh",
                seen=_missing(cann),
                why="in its layout only the version that `latest` points to can be put into effect",
            )
        else:
            severity = Severity.WARNING if another and not cann.in_effect else Severity.ERROR
            yield finding(
                "cann.complete",
                worse_with_npu(host, severity),
                f"{_name(cann)} is only partly installed",
                f"{_name(cann)} 安装不完整",
                seen=_missing(cann),
                why="torch_npu looks for these when it is imported, and stops without them",
                fix=[Fix(note="run the CANN toolkit's installer again for this directory, or remove it")],
            )


def cann_parts(host: Host, _matrix: Matrix) -> Iterator[Finding]:
    """Compare the version that the toolkit's record states with those of its parts: upgrades can mix them."""
    for cann in real_canns(host):
        other = {
            part: cann.parts[part]
            for part in _FOLLOW_TOOLKIT
            if part in cann.parts and cann.version is not None and cann.parts[part] != cann.version
        }
        if other:
            yield finding(
                "cann.parts",
                worse_with_npu(host, Severity.WARNING),
                f"{_name(cann)} has parts of other versions",
                f"{_name(cann)} 含有其他版本的组件",
                seen=[(f"{part} {version}", str(cann.home)) for part, version in other.items()],
                why="an upgrade that stopped halfway leaves libraries that do not fit each other",
                fix=[Fix(note="install the toolkit of one version again")],
            )


def cann_operators(host: Host, _matrix: Matrix) -> Iterator[Finding]:
    """Find a toolkit that no operator package was installed into."""
    for cann in real_canns(host):
        if cann.complete and not cann.operators:
            yield finding(
                "cann.operators",
                worse_with_npu(host, Severity.WARNING),
                f"{_name(cann)} seems to have no operator package",
                f"{_name(cann)} 似乎未安装算子包",
                seen=[("no ascend_ops_install.info and no built-in kernels", str(cann.home))],
                why="the toolkit alone imports well, then the first operator fails",
                fix=[Fix(note="install the ops (or kernels) package of the same version and of this chip")],
            )


def cann_arch(host: Host, _matrix: Matrix) -> Iterator[Finding]:
    """Find a CANN for another processor, as happens when a directory was copied."""
    for cann in real_canns(host):
        if cann.arch is not None and host.cpu.arch is not None and cann.arch != host.cpu.arch:
            yield finding(
                "cann.arch",
                Severity.ERROR,
                f"{_name(cann)} is for {cann.arch}, this machine is {host.cpu.arch}",
                f"{_name(cann)} 适用于 {cann.arch},本机为 {host.cpu.arch}",
                seen=[(cann.arch, str(cann.home)), (host.cpu.machine, host.cpu.where)],
                why="its libraries cannot be loaded here",
                fix=[Fix(note=f"install the {host.cpu.arch} package")],
            )


def cann_in_effect(host: Host, _matrix: Matrix) -> Iterator[Finding]:
    """Tell which CANN this shell uses, and whether its ``ASCEND_HOME_PATH`` leads anywhere."""
    chosen = next((cann for cann in host.canns if cann.in_effect), None)
    if chosen is not None:
        name = _name(chosen)
        yield ok(
            "cann.in-effect",
            f"{name} is in effect",
            f"当前生效:{name}",
            seen=[(str(chosen.home), "$ASCEND_HOME_PATH")],
        )
    elif host.ascend_home_path is not None:
        yield finding(
            "cann.in-effect",
            Severity.ERROR,
            "ASCEND_HOME_PATH does not lead to a CANN installation",
            "ASCEND_HOME_PATH 指向的不是 CANN 安装目录",
            seen=[(host.ascend_home_path, "$ASCEND_HOME_PATH")],
            why="torch_npu refuses to be imported while the variable points to nothing",
            fix=[Fix(command="unset ASCEND_HOME_PATH", safe=True, note="and see which shell file sets it")],
        )
    elif real_canns(host):
        yield finding(
            "cann.in-effect",
            Severity.INFO,
            "no CANN is in effect in this shell",
            "当前 shell 中没有生效的 CANN",
            seen=[("not set", "$ASCEND_HOME_PATH")],
            why="`ascendenv run` and `ascendenv env` put an environment's CANN into effect where it is used",
            fix=[Fix(command='eval "$(ascendenv env)"', safe=True, note="for this shell")],
        )


def _missing(cann: CannInstall) -> list[tuple[str, str]]:
    return [(f"missing: {', '.join(cann.missing)}" if cann.missing else "nothing is missing", str(cann.home))]


def _name(cann: CannInstall) -> str:
    name = f"CANN {cann.version or 'of unknown version'}"
    return f"{name} (simulated)" if cann.simulated else name
