"""Checks of the NPUs, their driver, their device nodes and npu-smi."""

from __future__ import annotations

from collections.abc import Iterator

from ascendenv.compatibility.model import Matrix
from ascendenv.doctor.finding import finding, npu_names, ok, real_npus, worse_with_npu
from ascendenv.doctor.fixes import INSTALL_CANN, INSTALL_DRIVER, INSTALL_PYTORCH, PASS_DEVICES_IN, SIMULATE
from ascendenv.doctor.model import Finding, Fix
from ascendenv.host.model import Host, NpuSmi
from ascendenv.host.npu import PCI_DEVICES, is_chip_node
from ascendenv.vocabulary import Severity

_NORMAL_IN_CONTAINER = "-9005"


def npu_present(host: Host, _matrix: Matrix) -> Iterator[Finding]:
    """Find an NPU at all: without one nothing else of the stack can run, so this is the one error then."""
    npus = real_npus(host)
    if npus:
        names = npu_names(npus)
        yield ok("npu.present", names, f"NPU:{names}", seen=[(names, npus[0].where)])
        return
    seen = [
        ("no NPU among the PCI devices", PCI_DEVICES),
        ("no NPU device node", "/dev/davinci*"),
        ("npu-smi is not there", "$PATH")
        if host.npu_smi is None
        else (_smi_told(host.npu_smi), host.npu_smi.where),
    ]
    fixes = [PASS_DEVICES_IN] if host.container else []
    yield finding(
        "npu.present",
        Severity.ERROR,
        "there is no NPU on this machine",
        "本机没有昇腾 NPU",
        seen=seen,
        why="torch_npu runs on an Ascend NPU with its driver and CANN, which are of no use without the NPU",
        fix=[*fixes, SIMULATE, INSTALL_DRIVER, INSTALL_CANN, INSTALL_PYTORCH],
    )


def npu_driver(host: Host, _matrix: Matrix) -> Iterator[Finding]:
    """Find the driver's version. The Ascend Docker Runtime does not mount the file that tells it."""
    if host.driver is not None:
        version = host.driver.version
        yield ok("npu.driver", f"driver {version}", f"驱动 {version}", seen=[(version, host.driver.where)])
        return
    seen = [("no version file", "/usr/local/Ascend/driver/version.info")]
    if host.container is not None and any(is_chip_node(node) for node in host.device_nodes):
        yield finding(
            "npu.driver",
            Severity.INFO,
            "the driver's version is unknown in this container",
            "在此容器内无法得知驱动版本",
            seen=seen,
            why="the driver is the host's and its version file was not mounted; computing works without it",
        )
        return
    yield finding(
        "npu.driver",
        worse_with_npu(host, Severity.ERROR),
        "the NPU driver is not installed",
        "未安装 NPU 驱动",
        seen=seen,
        why="CANN reaches the NPU through the driver; it comes before CANN and PyTorch",
        fix=[PASS_DEVICES_IN] if host.container else [INSTALL_DRIVER],
    )


def npu_device_nodes(host: Host, _matrix: Matrix) -> Iterator[Finding]:
    """Find the device nodes that programs open."""
    npus = real_npus(host)
    if not npus:
        return
    nodes = [node for node in host.device_nodes if is_chip_node(node)]
    if not nodes:
        yield _no_nodes(host)
        return
    if host.container is None and len(nodes) < len(npus):
        yield finding(
            "npu.device-nodes",
            Severity.WARNING,
            f"{len(npus)} NPUs but only {len(nodes)} device nodes",
            f"{len(npus)} 个 NPU 只有 {len(nodes)} 个设备节点",
            seen=[(", ".join(nodes), "/dev"), (npu_names(npus), npus[0].where)],
            why="an NPU without a device node cannot be used: the driver did not bring it up",
            fix=[
                Fix(
                    command="dmesg | grep -i -E 'davinci|ascend'",
                    safe=True,
                    note="what the driver said of it",
                )
            ],
        )
        return
    yield ok(
        "npu.device-nodes",
        f"{len(nodes)} device nodes",
        f"{len(nodes)} 个设备节点",
        seen=[(", ".join(nodes), "/dev")],
    )


def _no_nodes(host: Host) -> Finding:
    in_container = host.container is not None
    return finding(
        "npu.device-nodes",
        Severity.ERROR,
        "this container was given no NPU" if in_container else "there are NPUs, but no device nodes for them",
        "此容器未挂载任何 NPU 设备" if in_container else "有 NPU,但没有对应的设备节点",
        seen=[
            ("no NPU device node", "/dev/davinci*"),
            (npu_names(real_npus(host)), real_npus(host)[0].where),
        ],
        why="programs open /dev/davinciN, /dev/davinci_manager and others to use an NPU"
        if in_container
        else "the driver makes the nodes when it is loaded: it is missing, not loaded, or waits for a reboot",
        fix=[PASS_DEVICES_IN]
        if in_container
        else [Fix(command="lsmod | grep drv_", safe=True, note="is the driver loaded?"), INSTALL_DRIVER],
    )


def npu_smi(host: Host, _matrix: Matrix) -> Iterator[Finding]:
    """Ask whether npu-smi works. PyTorch does not need it, so that it does not is no error in itself."""
    if not real_npus(host):
        return
    smi = host.npu_smi
    if smi is None:
        yield finding(
            "npu.smi",
            Severity.WARNING,
            "npu-smi is not there",
            "找不到 npu-smi",
            seen=[("not found", "$PATH, /usr/local/bin, /usr/local/sbin")],
            why="it comes with the driver and shows the NPUs' state; PyTorch runs without it",
            fix=[PASS_DEVICES_IN] if host.container else [INSTALL_DRIVER],
        )
    elif smi.works:
        yield ok("npu.smi", "npu-smi answers", "npu-smi 工作正常", seen=[(smi.version or "works", smi.where)])
    else:
        yield _smi_fails(smi, in_container=host.container is not None)


def _smi_fails(smi: NpuSmi, *, in_container: bool) -> Finding:
    if in_container and _NORMAL_IN_CONTAINER in smi.message:
        return finding(
            "npu.smi",
            Severity.INFO,
            "npu-smi cannot list the host's boards from this container, which is normal",
            "npu-smi 在此容器内无法列出主机板卡,属正常现象",
            seen=[(smi.message, smi.where)],
            why="it asks for every board of the host; computing is not affected",
        )
    return finding(
        "npu.smi",
        Severity.WARNING,
        "npu-smi does not answer as it should",
        "npu-smi 工作异常",
        seen=[(_smi_told(smi), smi.where)],
        why=(
            "several things cause this: the driver is not loaded or waits for a reboot, this user may not"
            " open the device nodes, another container holds the NPU, or /usr/local/dcmi or the driver's"
            " libraries are not mounted"
        ),
        fix=[Fix(command="ls -l /dev/davinci*; id", safe=True, note="may this user open the devices?")],
    )


def npu_health(host: Host, _matrix: Matrix) -> Iterator[Finding]:
    """Pass on what npu-smi says of the NPUs' health."""
    told = [npu for npu in real_npus(host) if npu.health is not None]
    bad = [npu for npu in told if npu.health != "OK"]
    if bad:
        states = ", ".join(f"NPU {npu.id}: {npu.health}" for npu in bad)
        yield finding(
            "npu.health",
            Severity.WARNING,
            f"npu-smi reports the health of {len(bad)} of {len(told)} NPUs as not OK",
            f"npu-smi 报告 {len(told)} 个 NPU 中有 {len(bad)} 个状态异常",
            seen=[(states, "npu-smi info")],
            why="an alarm may be a sensor's and the NPU still compute, or a fault; the event tells",
            fix=[
                Fix(
                    command="npu-smi info -t health -i 0", safe=True, note="the event's code, for each NPU id"
                )
            ],
        )
    elif told:
        yield ok("npu.health", "all NPUs report OK", "所有 NPU 状态正常", seen=[("OK", "npu-smi info")])


def _smi_told(smi: NpuSmi) -> str:
    if smi.simulated:
        return "npu-smi belongs to a simulated CANN"
    return smi.message or "npu-smi lists no NPU"
