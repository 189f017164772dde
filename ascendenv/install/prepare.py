"""Everything that ``ascendenv install`` decides before it touches anything."""

from __future__ import annotations

import os
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import Version

from ascendenv import paths, process
from ascendenv.compatibility import query
from ascendenv.compatibility.load import load
from ascendenv.compatibility.model import Matrix
from ascendenv.errors import CommandFailedError, InstallError, UsageError
from ascendenv.host.model import CannInstall, Host, Interpreter
from ascendenv.install.environment import Environment, active_environment, list_environments
from ascendenv.install.installer import Installation, Installed, is_intact, unchanged
from ascendenv.install.place import require_place, resolved
from ascendenv.install.toolchain import require_compiler
from ascendenv.planning import Wanted, first_choice, own_python_first, request_for, short_version
from ascendenv.resolve.lock import lock
from ascendenv.resolve.model import Conflict, Plan
from ascendenv.resolve.packages import Wish, wish
from ascendenv.resolve.ranges import CannRange, cann_range, package_range
from ascendenv.simulate.choose import DEFAULT_CHIP, driver_of, find_soc
from ascendenv.simulate.model import SimulatedCann, SimulatedDevices
from ascendenv.simulate.tree import record_of
from ascendenv.versions import CannVersion, InvalidCannVersionError


def prepare_install(
    wanted: Wanted,
    host: Host,
    matrix: Matrix,
    *,
    env: Path | None,
    simulate: SimulatedDevices | None,
    verify: bool,
) -> Installation | Conflict:
    """Everything that ``ascendenv install`` decides before it touches anything."""
    _refuse_other_arch(wanted, host)
    request = request_for(matrix, wanted).model_copy(update={"simulate": simulate is not None})
    given = resolved(env) if env is not None else active_environment(os.environ)
    require_place(given or resolved(paths.environments_dir() / "new"))
    if not list_environments().environments:  # otherwise all may be there already, and nothing is built
        require_compiler(host)
    cann = simulate or _installed_cann(host, request.cann_range)
    source = "--cann"
    if isinstance(cann, CannInstall):
        request = request.model_copy(update={"cann": cann.version})
        source = f"installed in {cann.root}"
    interpreters = _usable_interpreters(host, wanted.python, given)
    pythons = [interpreter.short for interpreter in interpreters]
    chip = wanted.chip or (str(DEFAULT_CHIP) if simulate and host.chip is None else None)
    asked = Wanted(**{**vars(wanted), "chip": chip})
    answer, python = first_choice(asked, matrix, host, request, pythons, source)
    if isinstance(answer, Conflict):
        return answer
    locked = lock(answer, host.pip, offline=wanted.offline)
    return Installation(
        environment=Environment(
            given or resolved(paths.environments_dir() / _name(locked, simulate=simulate is not None))
        ),
        plan=locked,
        interpreter=next(i.path for i in interpreters if i.short == python),
        cann=cann if isinstance(cann, CannInstall) else _simulated(matrix, locked, wanted.chip, cann),
        verify=verify,
        offline=wanted.offline,
    )


def already_there(wanted: Wanted, *, env: Path | None, simulate: SimulatedDevices | None) -> Installed | None:
    """What is installed and satisfies ``wanted``, for when the package indexes cannot be asked.

    Looked for in the environment that is meant, else among all; only a verified one counts.
    """
    meant = resolved(env) if env is not None else active_environment(os.environ)
    listed = [listed.path for listed in list_environments().environments]
    for path in listed if meant is None else [meant]:
        environment = Environment(path)
        record, plan = environment.record(), environment.plan()
        if record is None or plan is None or not record.verified:
            continue
        if not _simulates(environment, record.cann_root, wanted.chip, simulate):
            continue
        if _satisfies(plan, wanted) and is_intact(environment, record, plan):
            return unchanged(environment, plan, simulated=record.simulated)
    return None


def _simulates(
    environment: Environment, root: Path, chip: str | None, devices: SimulatedDevices | None
) -> bool:
    """Whether an environment brings a simulated CANN with these devices, or none when none is wanted."""
    if devices is None or not environment.simulates:
        return devices is None and not environment.simulates
    simulated = record_of(root)
    there = SimulatedDevices(int(simulated["devices"]), simulated["memory"])
    return there == devices and (chip is None or find_soc(load(), chip).soc == simulated["soc"])


def _satisfies(plan: Plan, wanted: Wanted) -> bool:
    pairing, target = plan.pairing, plan.target
    return (
        (wanted.cann is None or cann_range(wanted.cann).admits(CannVersion(pairing.cann)))
        and (wanted.torch is None or package_range(wanted.torch).admits(Version(pairing.torch)))
        and (wanted.torch_npu is None or package_range(wanted.torch_npu).admits(Version(pairing.torch_npu)))
        and (wanted.python is None or short_version(wanted.python) == target.python)
        and (wanted.chip is None or query.parse_chip(load(), wanted.chip) is target.chip)
        and all(_has(plan, wish(text, load())) for text in wanted.packages)
    )


def _has(plan: Plan, wanted: Wish) -> bool:
    named = (p for p in plan.packages if canonicalize_name(p.name) == wanted.name)
    return any(wanted.admits(Version(package.version)) for package in named)


def _usable_interpreters(host: Host, python: str | None, given: Path | None) -> list[Interpreter]:
    """Interpreters in order of preference: the given environment's own, the one asked for, or all here."""
    if given is not None and Environment(given).python.exists():
        own = _ask_version(Environment(given).python)
        if python is not None and own.short != short_version(python):
            raise UsageError(
                f"{given} has Python {own.short}, not {python}",
                hint="leave --python out, or choose another --env",
            )
        return [own]
    order = {short: place for place, short in enumerate(own_python_first(host.interpreters))}
    here = sorted(host.interpreters, key=lambda i: order[i.short])
    if python is None:
        return here
    fitting = [interpreter for interpreter in here if interpreter.short == short_version(python)]
    if not fitting:
        found = ", ".join(dict.fromkeys(i.short for i in here)) or "none"
        raise UsageError(
            f"there is no Python {python} on this machine (found: {found})",
            hint=f"install it, or let uv do it: `uv python install {short_version(python)}`",
        )
    return fitting


def _ask_version(python: Path) -> Interpreter:
    code = "import platform; print(platform.python_version())"
    try:
        done = process.run([python, "-I", "-c", code], timeout=60)
    except (CommandFailedError, OSError) as error:
        raise UsageError(
            f"the Python of this environment does not run: {error}",
            hint="make that environment anew, or name another with --env PATH",
        ) from error
    return Interpreter(path=python, version=done.stdout.strip(), where=str(python))


def _installed_cann(host: Host, wanted: CannRange | None) -> CannInstall:
    """The CANN on this machine to build on: the one asked for, else the one in effect, else the newest."""
    versions = {cann.root: _version(cann) for cann in host.canns}
    complete = [cann for cann in host.canns if cann.complete and versions[cann.root] is not None]
    for cann in complete:  # the one in effect comes first, then the newest
        version = versions[cann.root]
        if version is not None and (wanted is None or wanted.admits(version)):
            return cann
    if wanted is not None and complete:
        here = ", ".join(f"{cann.version} in {cann.root}" for cann in complete)
        raise InstallError(
            f"CANN {wanted} is not installed on this machine (found: {here})",
            hint="install it first, or leave --cann out to use the one that is here",
        )
    broken = [cann for cann in host.canns if not cann.complete]
    seen = f" ({broken[0].root} is incomplete: {', '.join(broken[0].missing[:3])})" if broken else ""
    raise InstallError(
        f"no complete CANN was found on this machine{seen}",
        hint="install the vendor's CANN packages first (`ascendenv doctor` says what is missing), "
        "or try `ascendenv install --simulate`, which needs neither NPU nor CANN",
    )


def _version(cann: CannInstall) -> CannVersion | None:
    try:
        return CannVersion(cann.version or "")
    except InvalidCannVersionError:
        return None


def _refuse_other_arch(wanted: Wanted, host: Host) -> None:
    if wanted.arch is not None and wanted.arch != host.cpu.arch:
        raise UsageError(
            f"this machine is {host.cpu.machine}; an environment for {wanted.arch} cannot be installed here",
            hint="`ascendenv resolve` plans for any machine",
        )


def _simulated(matrix: Matrix, plan: Plan, asked: str | None, devices: SimulatedDevices) -> SimulatedCann:
    cann = plan.pairing.cann
    soc = find_soc(matrix, asked or str(plan.target.chip))
    return SimulatedCann(cann, soc, driver_of(matrix, CannVersion(cann)), devices)


def _name(plan: Plan, *, simulate: bool) -> str:
    pairing = plan.pairing
    chip = f"-simulated-{plan.target.chip}" if simulate else ""
    return f"cann{pairing.cann}-torch{pairing.torch}-py{plan.target.python}{chip}"
