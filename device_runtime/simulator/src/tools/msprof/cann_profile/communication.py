"""What torch_npu divides into steps: how long each collective took.

Of the rest that CANN reports here, waiting and the transfers on each link, the simulated CANN has nothing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .records import Profile, Task
from .times import microseconds


def write(profile: Profile, directory: Path) -> None:
    """Write `communication.json` if there is something to say."""
    collectives = [task for task in profile.tasks if task.kind == "collective"]
    if not collectives:
        return
    directory.mkdir(parents=True, exist_ok=True)
    described = {f"{task.name}@{task.group}": _described(task) for task in collectives}
    (directory / "communication.json").write_text(json.dumps(described))


def _described(task: Task) -> dict[str, Any]:
    time = {"Start Timestamp(us)": microseconds(task.began), "Elapse Time(ms)": task.duration / 1e6}
    return {"Communication Time Info": time, "Communication Bandwidth Info": {}}
