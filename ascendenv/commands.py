"""What the commands do, without a terminal: each returns data, and raises what went wrong."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.version import Version

from ascendenv import paths, process
from ascendenv.compatibility import query
from ascendenv.compatibility.load import load
from ascendenv.compatibility.model import Matrix
from ascendenv.compatibility.present import ReleaseList, release_list
from ascendenv.doctor.diagnose import diagnose
from ascendenv.doctor.model import Diagnosis
from ascendenv.errors import CommandFailedError, InstallError, NetworkError, UsageError
from ascendenv.host.gather import gather
from ascendenv.host.model import CannInstall, Host, Interpreter
from ascendenv.install.environment import Environment, active_environment, list_environments
from ascendenv.install.installer import Installation, Installed, is_intact, unchanged
from ascendenv.install.place import require_place, resolved
from ascendenv.install.simulator import SimulatedCann
from ascendenv.install.toolchain import require_compiler
from ascendenv.resolve import uv
from ascendenv.resolve.index import WheelSources
from ascendenv.resolve.lock import lock
from ascendenv.resolve.model import Conflict, Plan, Reason, Request, Target
from ascendenv.resolve.resolver import Choice, resolve
from ascendenv.resolve.target import parse_arch, parse_python
from ascendenv.resolve.target import target as make_target
from ascendenv.verify.model import Check, Report
from ascendenv.verify.runner import verify
from ascendenv.versions import CannVersion, InvalidCannVersionError
from ascendenv.vocabulary import ChipFamily

# Most servers with NPUs have this chip, so it is the one that is simulated unless told otherwise.
DEFAULT_SIMULATED_CHIP = ChipFamily.CHIP_910B


@dataclass(frozen=True)
class Wanted:
    """The options of ``resolve`` and ``install`` that say what is wanted and for which machine."""

    cann: str | None = None
    torch: str | None = None
    torch_npu: str | None = None
    arch: str | None = None
    python: str | None = None
    chip: str | None = None
    allow_declared: bool = False
    offline: bool = False


def known_machine() -> tuple[Matrix, Host]:
    """The matrix, and this machine in its terms."""
    matrix = load()
    return matrix, gather(matrix)


def examine() -> Diagnosis:
    """``ascendenv doctor``; its time includes the look at the machine."""
    started = time.monotonic()
    matrix, host = known_machine()
    diagnosis = diagnose(host, matrix)
    return diagnosis.model_copy(update={"seconds": time.monotonic() - started})


def plan(wanted: Wanted) -> Plan | Conflict:
    """``ascendenv resolve``: the plan for a machine, this one as far as nothing else is said."""
    matrix, host = known_machine()
    request = _request(matrix, wanted)
    pythons = [wanted.python] if wanted.python else _own_python_first(host.interpreters)
    answer, _ = _first_choice(wanted, matrix, host, request, pythons, "--cann")
    return lock(answer, host.pip, offline=wanted.offline) if isinstance(answer, Choice) else answer


def prepare_install(
    wanted: Wanted, host: Host, matrix: Matrix, *, env: Path | None, simulate: bool, verify: bool
) -> Installation | Conflict:
    """Everything that ``ascendenv install`` decides before it touches anything."""
    _refuse_other_arch(wanted, host)
    request = _request(matrix, wanted).model_copy(update={"simulate": simulate})
    given = resolved(env) if env is not None else active_environment(os.environ)
    require_place(given or resolved(paths.environments_dir() / "new"))
    if not list_environments().environments:  # otherwise all may be there already, and nothing is built
        require_compiler(host)
    found = None if simulate else _installed_cann(host, request.cann)
    if found is not None:
        request = request.model_copy(update={"cann": found.version})
    source = f"installed in {found.root}" if found is not None else "--cann"
    interpreters = _usable_interpreters(host, wanted.python, given)
    pythons = [interpreter.short for interpreter in interpreters]
    chip = wanted.chip or (str(DEFAULT_SIMULATED_CHIP) if simulate and host.chip is None else None)
    asked = Wanted(**{**vars(wanted), "chip": chip})
    answer, python = _first_choice(asked, matrix, host, request, pythons, source)
    if isinstance(answer, Conflict):
        return answer
    locked = lock(answer, host.pip, offline=wanted.offline)
    return Installation(
        environment=Environment(
            given or resolved(paths.environments_dir() / _name(locked, simulate=simulate))
        ),
        plan=locked,
        interpreter=next(i.path for i in interpreters if i.short == python),
        cann=found or SimulatedCann(cann=locked.pairing.cann, soc=_soc(matrix, locked, wanted.chip)),
        verify=verify,
        offline=wanted.offline,
    )


def already_there(wanted: Wanted, *, env: Path | None, simulate: bool) -> Installed | None:
    """What is installed and satisfies ``wanted``, for when the package indexes cannot be asked.

    Looked for in the environment that is meant, else among all; only a verified one counts.
    """
    meant = resolved(env) if env is not None else active_environment(os.environ)
    listed = [listed.path for listed in list_environments().environments]
    for path in listed if meant is None else [meant]:
        environment = Environment(path)
        record, plan = environment.record(), environment.plan()
        if record is None or plan is None or not record.verified or environment.simulates != simulate:
            continue
        if _satisfies(plan, wanted) and is_intact(environment, record, plan):
            return unchanged(environment, plan, simulated=record.simulated)
    return None


def _satisfies(plan: Plan, wanted: Wanted) -> bool:
    pairing, target = plan.pairing, plan.target
    return (
        (wanted.cann is None or CannVersion(wanted.cann) == CannVersion(pairing.cann))
        and (wanted.torch is None or Version(wanted.torch).public == pairing.torch)
        and (wanted.torch_npu is None or Version(wanted.torch_npu) == Version(pairing.torch_npu))
        and (wanted.python is None or _short(wanted.python) == target.python)
        and (wanted.chip is None or query.parse_chip(load(), wanted.chip) is target.chip)
    )


def _request(matrix: Matrix, wanted: Wanted) -> Request:
    """The wants, with unknown versions refused at once."""
    if wanted.cann is not None:
        query.parse_cann(matrix, wanted.cann)
    _require_known("torch", wanted.torch, query.torch_versions(matrix))
    _require_known("torch_npu", wanted.torch_npu, [row.torch_npu for row in matrix.torch_npu])
    return Request(
        cann=wanted.cann, torch=wanted.torch, torch_npu=wanted.torch_npu, allow_declared=wanted.allow_declared
    )


def _require_known(name: str, version: str | None, known: Sequence[object]) -> None:
    texts = [str(item) for item in known]
    if version is None or version.split("+")[0] in texts:
        return
    guess = query.did_you_mean(version, texts)
    newest = ", ".join(texts[:8])
    raise UsageError(
        f"the matrix knows no {name} {version}",
        hint=f"did you mean {guess}?" if guess else f"the newest known are {newest}",
    )


def _first_choice(
    wanted: Wanted, matrix: Matrix, host: Host, request: Request, pythons: Sequence[str], cann_source: str
) -> tuple[Choice | Conflict, str]:
    """The best combination for the first Python that has one; else the conflict of the first.

    What cannot be known for one Python, its index being out of reach, may be on the disk for the next.
    """
    index = WheelSources(host.pip, matrix, offline=wanted.offline)
    refusals: list[Conflict | NetworkError] = []
    for python in pythons:
        target = make_target(
            host, matrix, arch=wanted.arch, python=python, chip=wanted.chip, default_python=python
        )
        answer = _answer(request, target, matrix, index, cann_source)
        if isinstance(answer, Choice):
            why = _why_python(wanted, python, pythons, refusals)
            return replace(answer, reasons=(*answer.reasons, why)), python
        refusals.append(answer)
    unanswered = next((refusal for refusal in refusals if isinstance(refusal, NetworkError)), None)
    if unanswered is not None:
        raise unanswered
    return next(refusal for refusal in refusals if isinstance(refusal, Conflict)), pythons[0]


def _answer(
    request: Request, target: Target, matrix: Matrix, index: WheelSources, cann_source: str
) -> Choice | Conflict | NetworkError:
    try:
        return resolve(request, target, matrix, index, cann_source=cann_source)
    except NetworkError as error:
        return error


def _why_python(
    wanted: Wanted, python: str, pythons: Sequence[str], refusals: Sequence[Conflict | NetworkError]
) -> Reason:
    subject = f"Python {python}"
    if wanted.python:
        return Reason(subject=subject, because="asked for", source="--python")
    if refusals:
        tried = ", ".join(pythons[: len(refusals)])
        return Reason(
            subject=subject,
            because=f"the first one here with a plan; not {tried}: {_in_one_line(refusals[0])}",
            source="host",
        )
    preferred = "that of ascendenv itself" if python == _own_python() else "that of the environment"
    return Reason(subject=subject, because=preferred, source="host")


def _in_one_line(refusal: Conflict | NetworkError) -> str:
    return refusal.summary if isinstance(refusal, Conflict) else refusal.message.splitlines()[0]


def _own_python_first(interpreters: Sequence[Interpreter]) -> list[str]:
    own = _own_python()
    others = sorted({i.short for i in interpreters} - {own}, key=_minor, reverse=True)
    return [own, *others]


def _own_python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _usable_interpreters(host: Host, python: str | None, given: Path | None) -> list[Interpreter]:
    """Interpreters in order of preference: the given environment's own, the one asked for, or all here."""
    if given is not None and Environment(given).python.exists():
        own = _ask_version(Environment(given).python)
        if python is not None and own.short != _short(python):
            raise UsageError(
                f"{given} has Python {own.short}, not {python}",
                hint="leave --python out, or choose another --env",
            )
        return [own]
    order = {short: place for place, short in enumerate(_own_python_first(host.interpreters))}
    here = sorted(host.interpreters, key=lambda i: order[i.short])
    if python is None:
        return here
    fitting = [interpreter for interpreter in here if interpreter.short == _short(python)]
    if not fitting:
        found = ", ".join(dict.fromkeys(i.short for i in here)) or "none"
        raise UsageError(
            f"there is no Python {python} on this machine (found: {found})",
            hint=f"install it, or let uv do it: `uv python install {_short(python)}`",
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


def _installed_cann(host: Host, wanted: str | None) -> CannInstall:
    """The CANN on this machine to build on: the one asked for, else the one in effect, else the newest."""
    complete = [cann for cann in host.canns if cann.complete and _version(cann) is not None]
    for cann in complete:  # the one in effect comes first, then the newest
        if wanted is None or _version(cann) == CannVersion(wanted):
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


def _soc(matrix: Matrix, plan: Plan, asked: str | None) -> str:
    """The SoC to simulate: the one asked for by its own name, else the first of the chip family."""
    socs = next(row.socs for row in matrix.chips if row.family is plan.target.chip)
    return next((soc for soc in socs if asked is not None and soc.lower() == asked.lower()), socs[0])


def _name(plan: Plan, *, simulate: bool) -> str:
    pairing = plan.pairing
    chip = f"-simulated-{plan.target.chip}" if simulate else ""
    return f"cann{pairing.cann}-torch{pairing.torch}-py{plan.target.python}{chip}"


def _short(python: str) -> str:
    return ".".join(python.split(".")[:2])


def _minor(short: str) -> int:
    return int(short.split(".")[1])


def verify_environment(
    environment: Environment,
    *,
    suite: str,
    devices: tuple[int, ...] | None,
    select: str | None,
    offline: bool,
    on_check: Callable[[Check], None],
) -> Report:
    """``ascendenv verify``: run the suite and keep the report beside the environment."""
    pip = gather(load()).pip
    report = verify(
        environment,
        suite=suite,
        devices=devices,
        select=select,
        on_check=on_check,
        uv_options=uv.options(pip, offline=offline),
        uv_environ=uv.environ(pip),
    )
    if select is None:
        environment.keep_report(report.model_dump_json(indent=2), ok=report.ok)
    return report


def device_numbers(text: str | None) -> tuple[int, ...] | None:
    """``0,1`` as numbers. Raises ``UsageError`` for anything else."""
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UsageError(
            f"`--devices {text}` is not a list of numbers", hint="such as --devices 0,1"
        ) from None


def matrix_releases(
    *, cann: str | None, torch: str | None, arch: str | None, python: str | None, chip: str | None
) -> ReleaseList:
    """``ascendenv matrix list``."""
    matrix = load()
    _require_known("torch", torch, query.torch_versions(matrix))
    return release_list(
        query.select(
            matrix,
            cann=query.parse_cann(matrix, cann) if cann else None,
            torch=Version(torch) if torch else None,
            arch=parse_arch(arch) if arch else None,
            python=parse_python(matrix, python) if python else None,
            chip=query.parse_chip(matrix, chip) if chip else None,
        )
    )
