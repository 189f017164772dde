"""A group of processes, one per device, that perform collective operations on request."""

from __future__ import annotations

import json
import selectors
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from suite_process import describe_exit, last_words, start

GOODBYE_SECONDS = 10.0


class Ranks:
    """``world`` processes of ``rank_worker.py``, started when first asked and again after a failure."""

    def __init__(self, world: int, folder: Path) -> None:
        self.world = world
        self._folder = folder
        self._workers: list[subprocess.Popen[str]] = []

    def ask(self, operation: str, seconds: float) -> list[Any]:
        """Have every rank perform ``operation``; what each answers, by rank.

        Raises ``AssertionError`` that names the rank when one fails, dies, or gives no answer in time. The
        group is killed then, since the other ranks may wait for that one forever.
        """
        deadline = time.monotonic() + seconds
        try:
            if not self._workers:
                self._start()
                self._answers("starting the process group", deadline, seconds)
            for worker in self._workers:
                self._tell(worker, operation)
            return self._answers(operation, deadline, seconds)
        except BaseException:
            self._kill()
            raise

    def close(self) -> None:
        """End the processes: orderly when they follow, killed when not."""
        for worker in self._workers:
            if worker.stdin is not None:
                worker.stdin.close()
        deadline = time.monotonic() + GOODBYE_SECONDS
        for worker in self._workers:
            try:
                worker.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                break
        self._kill()

    def _start(self) -> None:
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        for rank in range(self.world):
            with (folder / f"rank{rank}.stderr").open("w") as stderr:
                worker = start(
                    "rank_worker.py", str(rank), str(self.world), str(folder / "store"), stderr=stderr
                )
            self._workers.append(worker)
        self._logs = [folder / f"rank{rank}.stderr" for rank in range(self.world)]

    def _tell(self, worker: subprocess.Popen[str], operation: str) -> None:
        assert worker.stdin is not None
        try:
            worker.stdin.write(operation + "\n")
            worker.stdin.flush()
        except BrokenPipeError:
            return  # it has died; reading its answer says how

    def _answers(self, operation: str, deadline: float, seconds: float) -> list[Any]:
        answers: dict[int, Any] = {}
        with selectors.DefaultSelector() as selector:
            for rank, worker in enumerate(self._workers):
                assert worker.stdout is not None
                selector.register(worker.stdout, selectors.EVENT_READ, rank)
            while len(answers) < self.world:
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                if not ready:
                    silent = ", ".join(str(rank) for rank in range(self.world) if rank not in answers)
                    raise AssertionError(f"{operation}: no answer from rank {silent} within {seconds:g} s")
                for key, _ in ready:
                    answers[key.data] = self._answer(key.data, operation)
                    selector.unregister(key.fileobj)
        return [answers[rank] for rank in range(self.world)]

    def _answer(self, rank: int, operation: str) -> object:
        worker = self._workers[rank]
        assert worker.stdout is not None
        line = worker.stdout.readline()
        if not line:
            end = describe_exit(worker.wait())
            raise AssertionError(
                f"{operation}: rank {rank} {end}: {last_words(self._logs[rank].read_text())}"
            )
        answer = json.loads(line)
        if "error" in answer:
            raise AssertionError(f"{operation}: rank {rank}: {answer['error']}")
        return answer["value"]

    def _kill(self) -> None:
        for worker in self._workers:
            worker.kill()
            worker.wait()
        self._workers = []
