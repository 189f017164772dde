"""From a choice to a plan: every package of the environment, locked with its hash (PEP 751)."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from packaging.pylock import Package as LockedPackage
from packaging.pylock import PackageWheel, Pylock
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from ascendenv import process, toml
from ascendenv.errors import AscendenvError, CommandFailedError, ExitCode, NetworkError
from ascendenv.host.model import PipConfiguration
from ascendenv.host.urls import redact_text
from ascendenv.resolve import uv
from ascendenv.resolve.constraints import read_constraints
from ascendenv.resolve.model import Package, Plan, Target
from ascendenv.resolve.resolver import Choice
from ascendenv.resolve.tags import glibc_minor, ranked_tags

# The newest manylinux level that uv can be told of, and the oldest of the modern names.
_UV_NEWEST_GLIBC_MINOR = 40
_UV_OLDEST_GLIBC_MINOR = 28
_NO_SOLUTION = "No solution found"
_NETWORK_WORDS = (
    "Failed to fetch",
    "error sending request",
    "Network connectivity is disabled",
    "network was disabled",
    "could not be queried",
    "dns error",
)


class LockError(AscendenvError):
    """No set of packages satisfies the plan's requirements together."""

    exit_code = ExitCode.NO_COMBINATION
    code = "lock"


def lock(choice: Choice, pip: PipConfiguration, *, offline: bool = False) -> Plan:
    """Lock ``choice`` with hashes for its target. Only wheels are taken: nothing of a stranger's is built.

    Addresses in the lock hold no passwords; who installs from it needs the same configuration.
    Raises :class:`LockError` when the requirements cannot hold together,
    :class:`~ascendenv.errors.NetworkError` when an index could not be asked.
    """
    try:
        text = _compile(choice, pip, uv.constraint_options(pip), offline=offline)
    except CommandFailedError as error:
        raise _explained(error, choice, pip, offline=offline) from None
    packages = read_packages(text, choice.target)
    _require_chosen_torch(packages, choice)
    return Plan(
        target=choice.target,
        pairing=choice.pairing,
        packages=packages,
        reasons=choice.reasons,
        warnings=choice.warnings,
        passed_over=choice.passed_over,
        indexes=choice.indexes,
        constraints=tuple(stack_constraints(packages, choice)),
        lock=text,
    )


def stack_constraints(packages: Sequence[Package], choice: Choice) -> Iterator[str]:
    """What must stay as it is for torch_npu to work: the stack at its versions, the rest within bounds."""
    versions: dict[str, str] = {canonicalize_name(package.name): package.version for package in packages}
    for name in dict.fromkeys(("torch", "torch-npu", *choice.on_top)):
        if name in versions:
            yield f"{name}=={versions[name]}"
    for requirement in map(Requirement, choice.bounds):
        if requirement.specifier and canonicalize_name(requirement.name) not in {"torch", "torch-npu"}:
            yield str(requirement)
    for name in choice.shut_out:
        # No version is like this one: an installer that needs the package says so, and stops.
        yield f"{name}==0+overwrites.{choice.shut_out[name].replace('-', '.')}"


def read_packages(lock_text: str, target: Target) -> tuple[Package, ...]:
    """The packages of a ``pylock.toml`` with the wheel that an installer takes on ``target``."""
    pylock = Pylock.from_dict(toml.loads(lock_text))
    return tuple(_package(package, target) for package in pylock.packages)


def _package(package: LockedPackage, target: Target) -> Package:
    wheel = _wheel_for(package.wheels or (), target)
    return Package(
        name=package.name,
        version=str(package.version),
        url=wheel.url or str(wheel.path),
        sha256=wheel.hashes["sha256"],
        size=wheel.size,
    )


def _wheel_for(wheels: Sequence[PackageWheel], target: Target) -> PackageWheel:
    ranks = ranked_tags(target)

    def rank(wheel: PackageWheel) -> int:
        tags = parse_wheel_filename(wheel.filename)[3]
        return min((ranks[tag] for tag in tags if tag in ranks), default=len(ranks))

    return min(wheels, key=rank)


def _require_chosen_torch(packages: Sequence[Package], choice: Choice) -> None:
    """``torch==2.10.0`` lets every build of 2.10.0 pass, and the user's indexes may offer several."""
    locked = next(package for package in packages if package.name == "torch")
    if Version(locked.version) != choice.torch:
        raise LockError(
            f"torch {choice.torch} is needed, but one of your indexes offers torch {locked.version}, "
            f"which installers prefer ({redact_text(locked.url)})",
            hint="take that index out of pip's configuration (`pip config list`) for this environment",
        )


def _compile(choice: Choice, pip: PipConfiguration, constraints: Sequence[str], *, offline: bool) -> str:
    with tempfile.TemporaryDirectory(prefix="ascendenv-lock-") as folder:
        wanted, locked = Path(folder, "requirements.in"), Path(folder, "pylock.toml")
        wanted.write_text("\n".join(choice.requirements) + "\n")
        overrides = Path(folder, "overrides.txt")
        overrides.write_text("\n".join(choice.overrides) + "\n")
        command = [
            uv.executable(), "pip", "compile", "--quiet", "--no-header", "--format=pylock.toml",
            f"--output-file={locked}", f"--python-version={choice.target.python}",
            f"--python-platform={_platform(choice.target)}", "--only-binary=:all:",
            *([f"--overrides={overrides}"] if choice.overrides else []),
            *uv.options(pip, offline=offline), *constraints, str(wanted),
        ]  # fmt: skip
        process.run(command, env=uv.environ(pip, indexes=choice.indexes), cwd=Path(folder))
        return locked.read_text()


def _platform(target: Target) -> str:
    minor = min(glibc_minor(target.glibc), _UV_NEWEST_GLIBC_MINOR)
    return f"{target.arch}-manylinux_2_{minor if minor >= _UV_OLDEST_GLIBC_MINOR else 17}"


def _explained(
    error: CommandFailedError, choice: Choice, pip: PipConfiguration, *, offline: bool
) -> AscendenvError:
    said = one_paragraph(error.tail)
    if any(word in error.tail for word in _NETWORK_WORDS):
        hint = "check the network, pip's proxy and its indexes: `pip config list`"
        if offline:
            hint = "leave --offline out, or put the wheels into a folder named with PIP_FIND_LINKS=FOLDER"
        return NetworkError(f"the packages that torch_npu needs could not be looked up: {said}", hint=hint)
    if _NO_SOLUTION not in error.tail:
        return LockError(f"uv could not lock the packages: {said}", hint="check `pip config list`")
    if pip.constraints and _would_do_without_constraints(choice, pip, offline=offline):
        lines = [line for line in read_constraints(pip.constraints) if _mentions(said, line.project)]
        culprits = "; ".join(map(str, lines)) or ", ".join(map(redact_text, pip.constraints))
        return LockError(
            f"a constraint of your pip configuration is in the way: {culprits}. {said}",
            hint="take the line out of the file, or set PIP_CONSTRAINT= (empty) for this command",
        )
    return LockError(
        f"the packages of this plan do not go together: {said}",
        hint="an index of your pip configuration may lack some, or refuse your password: `pip config list`",
    )


def _would_do_without_constraints(choice: Choice, pip: PipConfiguration, *, offline: bool) -> bool:
    """Ask again without them: uv does not tell a constraint from a requirement of a package."""
    try:
        _compile(choice, pip, (), offline=offline)
    except CommandFailedError:
        return False
    return True


def _mentions(text: str, project: str) -> bool:
    return any(canonicalize_name(word) == project for word in re.findall(r"[A-Za-z0-9][\w.-]*", text))


def one_paragraph(uv_output: str) -> str:
    """What uv printed without its marks and line breaks, and without credentials."""
    lines = (line.strip() for line in redact_text(uv_output).splitlines())
    marks = ("error:", "cause:", "hint:", "×", "╰─▶", "├─▶")  # noqa: RUF001  # uv's own marks
    words = []
    for line in lines:
        mark = next((mark for mark in marks if line.startswith(mark)), "")
        words.append(line.removeprefix(mark).strip())
    return " ".join(word for word in words if word)
