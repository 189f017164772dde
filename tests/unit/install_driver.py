"""`ascendenv install` by the real command line, on what `installs` makes; kills itself where it is told to.

Usage: install_driver.py ROOT PLACE [MOMENT STEP]. MOMENT is `started` or `finished`. Before the work begins,
the tree that the run has found (after recovering it) is written to ROOT/found.json.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from unittest import mock

from installs import host, installation, probe_wheel
from trees import exact_tree

from ascendenv import cli
from ascendenv.install import probe
from ascendenv.install.installer import Installation
from ascendenv.render import install as command
from ascendenv.render.progress import ProgressLines


def main(root: Path, place: Path, kill_at: list[str]) -> None:
    def prepared(*_: object, **__: object) -> Installation:
        (root / "found.json").write_text(json.dumps(exact_tree(place)))
        return installation(root, place)

    def reached(*moment_and_step: str) -> None:
        if kill_at == list(moment_and_step):
            os.kill(os.getpid(), signal.SIGKILL)

    class Killed(ProgressLines):
        def step_started(self, name: str, title: str) -> None:
            super().step_started(name, title)
            reached("started", name)

        def step_finished(self, name: str, title: str, seconds: float) -> None:
            super().step_finished(name, title, seconds)
            reached("finished", name)

    with (
        mock.patch.object(command, "known_machine_for", return_value=(None, host())),
        mock.patch.object(command, "prepare_install", prepared),
        mock.patch.object(command, "ProgressLines", Killed),
        mock.patch.object(probe, "_wheel", return_value=probe_wheel(root)),
        mock.patch.object(sys, "argv", ["ascendenv", "install", "--no-verify", "--format", "json"]),
    ):
        cli.main()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
