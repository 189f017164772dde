"""The main job: carry out a plan step by step, verified at the end, or leave everything as it was."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ascendenv import paths
from ascendenv.activate import Activation, capture
from ascendenv.errors import InstallError
from ascendenv.host.model import CannInstall, Host
from ascendenv.install import guard, packages, probe, toolchain
from ascendenv.install.environment import Environment, Record
from ascendenv.install.files import digest, explained, write_atomically
from ascendenv.install.place import require_place
from ascendenv.install.probe import ProbeBuild
from ascendenv.install.progress import Listener, step
from ascendenv.install.transaction import transaction
from ascendenv.resolve import uv
from ascendenv.resolve.model import Plan
from ascendenv.simulate.build import InstalledTorch, built_libraries, source_digest
from ascendenv.simulate.model import SimulatedCann
from ascendenv.simulate.tree import make_tree
from ascendenv.verify.model import Check, Report
from ascendenv.verify.runner import verify
from ascendenv.verify.session import VerificationError


@dataclass(frozen=True)
class Installation:
    """All that an installation needs to know. ``cann`` is an installed one, or the one to simulate."""

    environment: Environment
    plan: Plan
    interpreter: Path
    cann: CannInstall | SimulatedCann
    verify: bool = True
    offline: bool = False

    @property
    def simulated(self) -> bool:
        """Whether this ends on a simulated CANN."""
        return isinstance(self.cann, SimulatedCann) or self.cann.simulated

    @property
    def digest(self) -> str:
        """A hash of everything that determines what is installed."""
        cann = self.cann
        parts = [
            self.plan.lock,
            self.plan.pairing.model_dump_json(),
            str(cann) if isinstance(cann, SimulatedCann) else f"{cann.root} {cann.version}",
            source_digest() if isinstance(cann, SimulatedCann) else "",
            probe.source_digest(),
        ]
        return digest(parts)


class Proposal(BaseModel):
    """What would be installed, before anything is done.

    ``host`` is the machine in one line, ``replaced`` the packages that the environment has in other versions.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    environment: Path
    simulated: bool
    host: str
    plan: Plan
    replaced: tuple[str, ...] = ()
    declined: bool = False


class Step(BaseModel):
    """One finished step and how long it took."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    seconds: float


class Installed(BaseModel):
    """What ``ascendenv install`` has done; ``changed`` is false when everything was there already."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    environment: Path
    changed: bool
    simulated: bool
    plan: Plan
    steps: tuple[Step, ...] = ()
    verification: Report | None = None


def install(
    wanted: Installation, host: Host, listener: Listener, on_check: Callable[[Check], None]
) -> Installed:
    """Carry out ``wanted``. Whatever goes wrong, the environment is then as it was before.

    Raises an :class:`~ascendenv.errors.AscendenvError` that tells what failed. The report of a failed
    verification is kept beside the environments, since the environment itself is gone again.
    """
    require_place(wanted.environment.path)
    if is_installed(wanted):
        return unchanged(wanted.environment, wanted.plan, simulated=wanted.simulated)
    compiler = toolchain.require_compiler(host)
    work = _Work(wanted, host, compiler, listener)
    with explained(), transaction(wanted.environment.path):
        report = work.run(on_check)
    return Installed(
        environment=wanted.environment.path,
        changed=True,
        simulated=wanted.simulated,
        plan=wanted.plan,
        steps=tuple(work.steps),
        verification=report,
    )


class _Work:
    """The steps in order; each leaves what the next needs."""

    def __init__(self, wanted: Installation, host: Host, compiler: Path, listener: Listener) -> None:
        self._wanted = wanted
        self._host = host
        self._compiler = compiler
        self._listener = listener
        self.steps: list[Step] = []

    def run(self, on_check: Callable[[Check], None]) -> Report | None:
        wanted, environment = self._wanted, self._wanted.environment
        with self._step("environment", f"virtual environment with Python {wanted.plan.target.python}"):
            packages.create(environment, wanted.interpreter, self._host.pip)
        with self._step("packages", f"{len(wanted.plan.packages)} packages, hashes checked"):
            packages.install(environment, wanted.plan, self._host.pip, offline=wanted.offline)
        root = self._cann()
        with self._step("activation", "set_env.sh run once, its effect kept as data"):
            activation = capture(_scripts(root, wanted.cann), python_dir=environment.python.parent)
        with self._step("probe", "device-runtime probe, built against this CANN"):
            wanted_probe = ProbeBuild(
                environment=environment,
                environ=environment.environ_with(activation),
                pip=self._host.pip,
                compiler=self._compiler,
                offline=wanted.offline,
            )
            probe.build_and_install(wanted_probe, self._listener)
        report = self._verify(activation, on_check) if wanted.verify else None
        guard.Guard(environment.path).put(guard.lines_of(wanted.plan), self._host.pip)
        self._record(root, activation, report)
        return report

    def _cann(self) -> Path:
        wanted = self._wanted
        if isinstance(wanted.cann, CannInstall):
            return wanted.cann.root
        with self._step("simulated CANN", f"simulated {wanted.cann}"):
            package = packages.site_packages(wanted.environment) / "torch"
            version = next(p.version for p in wanted.plan.packages if p.name == "torch")
            built = built_libraries(InstalledTorch(package, version), self._compiler, self._listener)
            target = wanted.environment.simulated_cann
            return make_tree(wanted.cann, built, target, self._compiler, self._listener)

    def _verify(self, activation: Activation, on_check: Callable[[Check], None]) -> Report:
        wanted = self._wanted
        in_effect = _InEffect(wanted.environment, activation)
        with self._step("verification", "quick suite"):
            try:
                report = verify(
                    in_effect,
                    suite="quick",
                    on_check=on_check,
                    uv_options=uv.options(self._host.pip, offline=wanted.offline),
                    uv_environ=uv.environ(self._host.pip),
                )
            except VerificationError as error:
                raise InstallError(error.message, hint=error.hint) from error
        if not report.ok:
            kept = paths.data_dir() / "reports" / f"{wanted.environment.path.name}.json"
            write_atomically(kept, report.model_dump_json(indent=2) + "\n")
            failed = ", ".join(check.id for check in report.failed)
            raise InstallError(
                f"the verification failed: {failed}; the environment has been put back as it was",
                hint=f"the report is in {kept}; `--no-verify` keeps the environment all the same",
            )
        write_atomically(wanted.environment.report_file, report.model_dump_json(indent=2) + "\n")
        return report

    def _record(self, root: Path, activation: Activation, report: Report | None) -> None:
        wanted = self._wanted
        record = Record(
            pairing=wanted.plan.pairing,
            target=wanted.plan.target,
            cann_root=root,
            simulated=wanted.simulated,
            verified=report is not None,
            digest=wanted.digest,
            installed=datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0),
        )
        wanted.environment.save(record, wanted.plan, activation)

    @contextmanager
    def _step(self, name: str, title: str) -> Iterator[None]:
        start = time.monotonic()
        with step(self._listener, name, title):
            yield
            self.steps.append(Step(name=name, seconds=round(time.monotonic() - start, 2)))


@dataclass(frozen=True)
class _InEffect:
    """An environment whose activation is not yet written down, as the verification needs it."""

    environment: Environment
    activation: Activation

    @property
    def path(self) -> Path:
        return self.environment.path

    @property
    def python(self) -> Path:
        return self.environment.python

    def environ(self) -> dict[str, str]:
        return self.environment.environ_with(self.activation)


def _scripts(root: Path, cann: CannInstall | SimulatedCann) -> list[Path]:
    scripts = [root / "set_env.sh"]
    if isinstance(cann, CannInstall) and cann.nnal is not None:
        scripts.append(cann.nnal / "set_env.sh")
    return scripts


def is_installed(wanted: Installation) -> bool:
    """Whether everything is there already: the same plan, carried out, and nothing replaced since."""
    record = wanted.environment.record()
    if record is None or record.digest != wanted.digest or (wanted.verify and not record.verified):
        return False
    return is_intact(wanted.environment, record, wanted.plan)


def is_intact(environment: Environment, record: Record, plan: Plan) -> bool:
    """Whether what was installed is still there: the interpreter, the CANN, and every package as planned."""
    if not environment.python.exists() or not (record.cann_root / "set_env.sh").is_file():
        return False
    expected = [(package.name, package.version) for package in plan.packages]
    return not packages.missing(environment, [*expected, probe.name_and_version()])


def unchanged(environment: Environment, plan: Plan, *, simulated: bool) -> Installed:
    """The answer when all that is wanted is there already, with its last verification."""
    return Installed(
        environment=environment.path,
        changed=False,
        simulated=simulated,
        plan=plan,
        verification=_last_report(environment),
    )


def _last_report(environment: Environment) -> Report | None:
    try:
        return Report.model_validate_json(environment.report_file.read_text(encoding="utf-8"))
    except (OSError, ValidationError):  # never verified, or written by another version of ascendenv
        return None
