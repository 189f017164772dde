"""From what is asked for to what is simulated: pure functions over the matrix."""

from __future__ import annotations

import difflib
import re

from ascendenv.compatibility import query
from ascendenv.compatibility.model import Matrix, Soc, TorchNpuRelease
from ascendenv.errors import NoCombinationError, UsageError
from ascendenv.simulate.model import MOST_DEVICES, SimulatedCann, SimulatedDevices
from ascendenv.versions import CannVersion, train_key
from ascendenv.vocabulary import ChipFamily

# Most servers with NPUs have this chip, so it is the one that is simulated unless told otherwise.
DEFAULT_CHIP = ChipFamily.CHIP_910B
_SIZE = re.compile(r"[1-9]\d*(Ki|Mi|Gi)B")
_NUMBER_AND_UNIT = re.compile(r"([1-9]\d*)\s*([KMG]?)i?B?", re.IGNORECASE)


def choose(
    matrix: Matrix,
    devices: SimulatedDevices,
    *,
    cann: str | None,
    chip: str | None,
    release: TorchNpuRelease | None,
) -> SimulatedCann:
    """What to simulate for torch_npu ``release``: by default the CANN that it was released with.

    Raises ``UsageError`` for what does not exist, ``NoCombinationError`` for what does not go together.
    """
    version = query.parse_cann(matrix, cann) if cann else _cann_of(matrix, release)
    soc = find_soc(matrix, chip or str(DEFAULT_CHIP))
    _require_cann_for_soc(matrix, version, soc)
    if release is not None:
        _require_torch_npu_for_soc(matrix, release, soc)
    return SimulatedCann(str(version), soc, driver_of(matrix, version), devices)


def simulated_devices(count: int | None, memory: str | None) -> SimulatedDevices:
    """What ``--devices`` and ``--memory`` ask for. Raises ``UsageError`` for what cannot be."""
    default = SimulatedDevices()
    count = default.count if count is None else count
    if not 1 <= count <= MOST_DEVICES:
        raise UsageError(
            f"{count} devices cannot be simulated", hint=f"--devices takes a number from 1 to {MOST_DEVICES}"
        )
    return SimulatedDevices(count, default.memory if memory is None else _checked_memory(memory))


def _checked_memory(memory: str) -> str:
    if _SIZE.fullmatch(memory):
        return memory
    meant = _NUMBER_AND_UNIT.fullmatch(memory.strip())
    guess = f"did you mean {meant[1]}{(meant[2] or 'G').upper()}iB? " if meant else ""
    raise UsageError(
        f"`--memory {memory}` is not a size", hint=f"{guess}a number with KiB, MiB or GiB, such as 64GiB"
    )


def find_soc(matrix: Matrix, chip: str) -> Soc:
    """The SoC of that name, or the first of the chip family. Raises ``UsageError`` for any other name."""
    described = {row.soc.casefold(): row for row in matrix.socs}
    if (named := described.get(chip.strip().casefold())) is not None:
        return named
    family = _family_named(matrix, chip)
    socs = next(row.socs for row in matrix.chips if row.family is family)
    found = [row for soc in socs if (row := described.get(soc.casefold())) is not None]
    is_one_of_them = chip.strip().casefold() in map(str.casefold, socs)
    if found and not is_one_of_them:
        return found[0]
    others = ", ".join(row.soc for row in found) or f"none of chip {family}; try --chip {DEFAULT_CHIP}"
    raise UsageError(
        f"{chip} cannot be simulated: how many cores it has is not known", hint=f"known: {others}"
    )


def driver_of(matrix: Matrix, cann: CannVersion) -> str:
    """The driver that was released with ``cann``, else with the CANN before it, as npu-smi spells it."""
    canns = [version for version in query.cann_versions(matrix) if version <= cann]
    rows = (row for version in canns for row in query.driver_rows(matrix, version))
    paired = next(row.paired for row in rows if row.paired is not None)
    return re.sub("X$", "0", paired).lower()


def _family_named(matrix: Matrix, chip: str) -> ChipFamily:
    try:
        return query.parse_chip(matrix, chip)
    except UsageError as error:
        # Many SoCs differ in their last letter: whoever errs there wants to see them side by side.
        spelled = {row.soc.casefold(): row.soc for row in matrix.socs}
        near = difflib.get_close_matches(chip.strip().casefold(), spelled, n=6, cutoff=0.8)
        if not near:
            raise
        names = ", ".join(spelled[name] for name in near)
        raise UsageError(f"unknown SoC {chip!r}", hint=f"did you mean one of {names}?") from error


def _cann_of(matrix: Matrix, release: TorchNpuRelease | None) -> CannVersion:
    """The newest CANN that ``release`` was made for; of a release that nobody knows, the newest of all."""
    released = [version for version in query.cann_versions(matrix) if not version.is_prerelease]
    made_for = None if release is None else release.cann_version
    if made_for is None:
        return released[0]
    return next((version for version in released if made_for.covers(version)), made_for)


def _require_cann_for_soc(matrix: Matrix, cann: CannVersion, soc: Soc) -> None:
    family = _family(matrix, soc)
    supporting = [row for row in matrix.cann if family in row.chips]
    chips = next(row.chips for row in matrix.cann if CannVersion(row.cann) == cann)
    since = None if soc.cann_since is None else CannVersion(soc.cann_since)
    if family in chips and (since is None or since <= cann):
        return
    fitting = [row.cann for row in supporting if since is None or since <= CannVersion(row.cann)]
    newest = next((text for text in fitting if not CannVersion(text).is_prerelease), None)
    raise NoCombinationError(
        f"CANN {cann} has no operators for {soc.soc} (chip {family})",
        hint=f"CANN {newest} has: --cann {newest}"
        if newest
        else f"no CANN of the matrix has; this one has them for {', '.join(chips)}",
    )


def _require_torch_npu_for_soc(matrix: Matrix, release: TorchNpuRelease, soc: Soc) -> None:
    chip = next(row for row in matrix.chips if soc.soc in row.socs)
    first = chip.soc_first_train.get(soc.soc, chip.first_train)
    if first is not None and train_key(first) <= train_key(release.train):
        return
    known = f"train {first} is the first that does" if first else "none does"
    raise NoCombinationError(
        f"torch_npu {release.torch_npu} (train {release.train}) does not know {soc.soc}",
        hint=f"{known}; `ascendenv matrix show chip {chip.family}` tells more",
    )


def _family(matrix: Matrix, soc: Soc) -> ChipFamily:
    return next(row.family for row in matrix.chips if soc.soc in row.socs)
