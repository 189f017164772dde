"""What a verification found, as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from ascendenv.vocabulary import Layer, Outcome


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Check(_Shape):
    """One check and what became of it.

    ``proves`` says what a pass shows, ``advice`` what to do after a failure, ``seconds`` how long it took.
    ``detail`` is what was seen (passed), what went wrong (failed) or the reason (skipped, not run);
    ``output`` holds the last lines that a failed check printed.
    """

    id: str
    layer: Layer
    title: str
    proves: str = ""
    advice: str = ""
    outcome: Outcome
    seconds: float = 0.0
    detail: str = ""
    output: str = ""


class Device(_Shape):
    """What the checks ran on. ``soc`` and ``count`` are ``None`` when the probe could not tell."""

    simulated: bool
    soc: str | None = None
    count: int | None = None


class Report(_Shape):
    """The result of one run of the suite in one environment."""

    environment: Path
    suite: str
    device: Device
    checks: tuple[Check, ...]
    seconds: float

    @property
    def counts(self) -> Mapping[Outcome, int]:
        """How many checks had each outcome, zeros included."""
        seen = Counter(check.outcome for check in self.checks)
        return {outcome: seen[outcome] for outcome in Outcome}

    @property
    def ok(self) -> bool:
        """Whether something was shown to work and nothing failed or was left undone."""
        counts = self.counts
        return counts[Outcome.PASSED] > 0 and counts[Outcome.FAILED] == counts[Outcome.NOT_RUN] == 0

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed, lowest layer first."""
        return tuple(check for check in self.checks if check.outcome is Outcome.FAILED)

    @property
    def failed_layer(self) -> Layer | None:
        """The lowest layer with a failure: the one to look at first."""
        return next((layer for layer in Layer if any(check.layer is layer for check in self.failed)), None)
