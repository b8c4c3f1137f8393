"""Questions computed outside the server's process: bounded queues, time limits, cancel."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import queue
import secrets
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from ridgeline.web.limits import KEPT_JOBS, KEPT_S
from ridgeline.web.worker import serve

Answer = tuple[int, bytes]
"""HTTP status and JSON."""
_TICK_S = 0.1
_LEAST_S = 1.0
"""Time that a question has once its worker has started, however late that was."""
_START_S = 60.0


@dataclass(slots=True, eq=False)
class Job:
    """One question on its way."""

    question: str
    body: str
    id: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    done: int = 0
    total: int = 0
    asked: float = field(default_factory=time.monotonic)
    started: float | None = None
    ended: float | None = None
    cancelled: bool = False
    future: Future[Answer] = field(default_factory=Future[Answer])

    @property
    def status(self) -> str:
        """Return queued, running, done, failed or cancelled."""
        if self.cancelled:
            return "cancelled"
        if self.future.done():
            return "done" if self.future.result()[0] < 400 else "failed"
        return "queued" if self.started is None else "running"

    def finish(self, answer: Answer) -> None:
        """Store the answer, once."""
        if not self.future.done():
            self.ended = time.monotonic()
            self.done = self.total if answer[0] < 400 else self.done
            self.future.set_result(answer)

    def to_json(self) -> bytes:
        """Return the job as JSON; the result is what the worker wrote."""
        end = time.monotonic() if self.ended is None else self.ended
        state = {
            "schema_version": "1",
            "id": self.id,
            "question": self.question,
            "status": self.status,
            "done": self.done,
            "total": self.total,
            "seconds": round(end - (self.started or end), 3),
        }
        head = json.dumps(state)[:-1].encode()
        if self.status == "done":
            return head + b', "result": ' + self.future.result()[1] + b"}"
        if self.status == "failed":
            return head + b', "result": null, ' + self.future.result()[1][1:]
        return head + b', "result": null}'


class Pool:
    """Worker processes behind one bounded queue; processes start when first needed."""

    def __init__(self, *, workers: int, bound: int, limit_s: float) -> None:
        self.bound = bound
        self.limit_s = limit_s
        self._waiting: queue.Queue[Job | None] = queue.Queue(maxsize=bound)
        self._workers = [_Worker() for _ in range(workers)]
        self._threads = [
            threading.Thread(target=self._work, args=(worker,), daemon=True)
            for worker in self._workers
        ]
        self._open = True
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the threads, each of which owns a process."""
        with self._lock:
            for thread in self._threads:
                if thread.ident is None:
                    thread.start()

    def submit(self, question: str, body: str) -> Job | None:
        """Return the job, or None where the queue is full."""
        self.start()
        job = Job(question=question, body=body)
        try:
            self._waiting.put_nowait(job)
        except queue.Full:
            return None
        return job

    def close(self) -> None:
        """End the workers; waiting jobs end as cancelled."""
        self._open = False
        with contextlib.suppress(queue.Empty):
            while (job := self._waiting.get_nowait()) is not None:
                cancel(job)
        for _ in self._threads:
            with contextlib.suppress(queue.Full):
                self._waiting.put_nowait(None)
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(timeout=5.0)

    def workers(self) -> list[int]:
        """Return the numbers of the processes that run."""
        return [worker.number for worker in self._workers if worker.number]

    def _work(self, worker: _Worker) -> None:
        with contextlib.suppress(OSError):  # said again, to the one who asks
            worker.start()
        try:
            while self._open and (job := self._waiting.get()) is not None:
                if job.future.done():
                    continue
                job.started = time.monotonic()
                job.finish(worker.ask(job, job.started + self.limit_s, lambda: self._open))
        finally:
            worker.stop()


class _Worker:
    """One process, started again after it was ended."""

    def __init__(self) -> None:
        self._process: Any = None
        self._pipe: Connection | None = None

    @property
    def number(self) -> int:
        """Number of the process; 0 when there is none."""
        return 0 if self._process is None else self._process.pid or 0

    def start(self) -> Connection:
        """Return the pipe of a process that has imported all it needs."""
        if self._pipe is None or not self._process.is_alive():
            self.stop()
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=serve, args=(theirs,), daemon=True)
            self._process.start()
            theirs.close()
            if self._pipe.poll(_START_S):
                with contextlib.suppress(EOFError):
                    self._pipe.recv()
        return self._pipe

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
            self._process = None
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None

    def ask(self, job: Job, deadline: float, is_open: Any) -> Answer:
        """Return the answer to a job; a late or cancelled one costs the process its life."""
        try:
            pipe = self.start()
            deadline = max(deadline, time.monotonic() + _LEAST_S)
            pipe.send((job.question, job.body))
            while True:
                if pipe.poll(_TICK_S):
                    kind, content = pipe.recv()
                    if kind == "answer":
                        return content
                    job.done, job.total = content
                elif job.cancelled or not is_open():
                    self.stop()
                    return refusal(422, "cancelled", "The job was cancelled.")
                if time.monotonic() > deadline:
                    self.stop()
                    return refusal(422, "too_long", _LATE)
        except (EOFError, OSError):
            self.stop()
            return refusal(422, "too_large", _DIED)


_LATE = "The question took longer than the time limit: ask for fewer points, devices or formats."
_DIED = "The computation ended without an answer, most likely for want of memory: ask for less."


def refusal(status: int, kind: str, words: str) -> Answer:
    """Return an error in the form of all errors."""
    detail = [{"loc": ["body"], "msg": words, "type": kind}]
    return status, json.dumps({"detail": detail}).encode()


def cancel(job: Job) -> None:
    """Mark a job as cancelled, unless it has ended; a running one is ended by its worker."""
    if not job.future.done():
        job.cancelled = True
        if job.started is None:
            job.finish(refusal(422, "cancelled", "The job was cancelled."))


class Ledger:
    """Long jobs by id, kept for a while after they end."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._jobs: dict[str, Job] = {}

    def submit(self, question: str, body: str) -> Job | None:
        """Return the new job, or None where the queue is full."""
        self._forget()
        job = self.pool.submit(question, body)
        if job is not None:
            self._jobs[job.id] = job
        return job

    def find(self, name: str) -> Job | None:
        """Return a job that is not forgotten yet."""
        self._forget()
        return self._jobs.get(name)

    def _forget(self) -> None:
        now = time.monotonic()
        ended = [j for j in self._jobs.values() if j.ended is not None]
        late = [j for j in ended if now - (j.ended or now) > KEPT_S]
        for job in {*late, *ended[: max(0, len(ended) - KEPT_JOBS)]}:
            del self._jobs[job.id]
