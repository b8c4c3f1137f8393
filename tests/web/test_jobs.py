"""Long questions: progress, cancel, bounds, and workers that die."""

import os
import signal
import time

import pytest

from ridgeline.web import jobs
from ridgeline.web.jobs import Job, Ledger, Pool, cancel
from web_bodies import GOOD, LLAMA

API = "/api/v1"
PATIENCE_S = 60.0


def wait(read, *, until=("done", "failed", "cancelled")):
    """Return the job once its status is one of `until`."""
    end = time.monotonic() + PATIENCE_S
    while (job := read())["status"] not in until:
        assert time.monotonic() < end, job
        time.sleep(0.02)
    return job


@pytest.fixture
def pool():
    found = Pool(workers=1, bound=2, limit_s=60.0)
    yield found
    found.close()


@pytest.mark.parametrize("name", ["plan", "experts"])
def test_a_job_ends_with_its_answer(client, name):
    first = client.post(f"{API}/{name}", json=GOOD[name])
    assert first.status_code == 202
    job = wait(lambda: client.get(first.headers["location"]).json())
    assert job["status"] == "done"
    assert job["total"] > 0
    assert job["done"] == job["total"]
    assert {"schema_version", "cli", "python"} <= job["result"].keys()


def test_a_failed_job_says_why(client):
    body = {**LLAMA, "isl": "2k", "osl": 512, "tpot_s": 1e-5}
    name = client.post(f"{API}/plan", json=body).json()["id"]
    job = wait(lambda: client.get(f"{API}/jobs/{name}").json())
    assert job["status"] == "failed"
    assert job["result"] is None
    assert job["detail"][0]["type"] == "infeasible"


def test_a_running_job_is_cancelled(client):
    body = {"model": "deepseek-v3", "on": "gb200-nvl72", "isl": "8k", "osl": "1k"}
    body["dtypes"] = ["auto", "fp8", "nvfp4"]
    name = client.post(f"{API}/plan", json=body).json()["id"]
    read = lambda: client.get(f"{API}/jobs/{name}").json()  # noqa: E731
    wait(read, until=("running",))
    assert client.delete(f"{API}/jobs/{name}").json()["status"] == "cancelled"
    assert read()["status"] == "cancelled"
    after = client.post(f"{API}/plan", json=GOOD["plan"]).json()["id"]
    assert wait(lambda: client.get(f"{API}/jobs/{after}").json())["status"] == "done"


def test_a_full_queue_says_when_to_come_back(client, monkeypatch):
    monkeypatch.setattr(Pool, "submit", lambda *_: None)
    for path in ("plan", "estimate"):
        body = GOOD[path] | ({"batch": [3]} if path == "estimate" else {})
        found = client.post(f"{API}/{path}", json=body)
        assert found.status_code == 429
        assert int(found.headers["retry-after"]) > 0


def test_the_queue_is_bounded(pool):
    pool.start = lambda: None  # nobody takes a job
    jobs = [pool.submit("lecture", "{}") for _ in range(3)]
    assert [job is None for job in jobs] == [False, False, True]


def test_a_waiting_job_is_cancelled_before_it_starts(pool):
    pool.start = lambda: None
    job = pool.submit("lecture", "{}")
    cancel(job)
    assert job.status == "cancelled"
    assert job.future.result(0)[0] == 422


def test_a_late_question_ends_and_the_next_one_is_answered(monkeypatch):
    monkeypatch.setattr(jobs, "_LEAST_S", 0.0)
    pool = Pool(workers=1, bound=2, limit_s=0.0)
    try:
        body = '{"model": "deepseek-v3", "on": "gb200-nvl72", "isl": "8k", "osl": "1k"}'
        assert b"longer than the time limit" in pool.submit("plan", body).future.result(60)[1]
        assert pool.submit("lecture", '{"which": "C1-N7"}').future.result(60)[0] == 200
    finally:
        pool.close()


def test_a_worker_that_dies_is_replaced(pool):
    body = '{"model": "deepseek-v3", "on": "gb200-nvl72", "isl": "8k", "osl": "1k"}'
    assert pool.submit("lecture", '{"which": "C1-N7"}').future.result(60)[0] == 200
    job = pool.submit("plan", body)
    wait(lambda: {"status": job.status}, until=("running",))
    os.kill(pool.workers()[0], signal.SIGKILL)
    status, answer = job.future.result(60)
    assert (status, b"want of memory" in answer) == (422, True)
    assert pool.submit("lecture", '{"which": "C1-N7"}').future.result(60)[0] == 200


def test_finished_jobs_are_forgotten(pool, monkeypatch):
    pool.start = lambda: None
    ledger = Ledger(pool)
    job = ledger.submit("lecture", "{}")
    assert isinstance(job, Job)
    job.finish((200, b"{}"))
    assert ledger.find(job.id) is job
    monkeypatch.setattr("ridgeline.web.jobs.KEPT_S", -1.0)
    assert ledger.find(job.id) is None
