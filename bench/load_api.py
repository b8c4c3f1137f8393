"""Load on `ridgeline explore`: many clients at once on loopback, errors, latency, memory.

    python bench/load_api.py [--clients 200] [--seconds 60]

Every client keeps a connection and asks one question after another: half are estimates that were
never asked before, others catalogue, lecture, prices and quiz. A client told to come back waits.
"""

import argparse
import json
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from random import Random

JSON = {"Content-Type": "application/json"}
QUESTIONS = (
    ("GET", "/api/v1/catalog/models?search=qwen", None),
    ("GET", "/api/v1/lecture/1", None),
    ("GET", "/api/v1/prices/sheet?model=google/gemini-3.1-pro-preview", None),
    ("POST", "/api/v1/quiz/check", {"claim": "K2", "answer": "0.822 ms"}),
    ("POST", "/api/v1/estimate", {"model": "llama-3.3-70b", "on": "hgx-h100-8"}),
    ("POST", "/api/v1/estimate", {"model": "no-such-model", "on": "hgx-h100-8"}),
)


def question(rng: Random, number: int) -> tuple[str, str, dict | None]:
    """Return a question; half are estimates that no one asked before."""
    if rng.random() < 0.5:
        body = {"model": "llama-3.3-70b", "on": "hgx-h100-8", "batch": [1, 8, 64]}
        return "POST", "/api/v1/estimate", body | {"context": 1024 + number, "parts": False}
    return rng.choice(QUESTIONS)


def client(port: int, seed: int, end: float, numbers: count, seen: list, faults: list) -> None:
    """Ask until the end; note status and time of each answer."""
    rng = Random(seed)  # noqa: S311 - a load, not a secret
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    while time.monotonic() < end:
        method, path, body = question(rng, next(numbers))
        begin = time.monotonic()
        try:
            connection.request(method, path, None if body is None else json.dumps(body), JSON)
            response = connection.getresponse()
            response.read()
        except (OSError, ValueError) as error:
            faults.append(f"{type(error).__name__}: {error}")
            connection.close()
            continue
        seen.append((response.status, time.monotonic() - begin))
        if response.status == 429:
            time.sleep(float(response.headers["retry-after"]))


def memory_bytes(pid: int) -> int:
    """Return the resident memory of a process and its children (Linux) [B]."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = (folder / "status").read_text()
        except OSError:
            continue
        fields = dict(re.findall(r"^(Pid|PPid|VmRSS):\s+(\d+)", status, re.MULTILINE))
        if str(pid) in (fields["Pid"], fields["PPid"]):
            total += int(fields.get("VmRSS", 0)) * 1024
    return total


def main() -> None:
    """Start a server, load it, print figures; exit 1 on any fault."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    asked = parser.parse_args()
    words = [sys.executable, "-m", "ridgeline", "explore", "--port", "0", "--no-browser"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    port = int(re.search(r":(\d+) ", server.stdout.readline())[1])
    client(port, 0, time.monotonic() + 5, count(10**6), [], [])  # workers have started
    seen, faults, numbers = [], [], count()
    end = time.monotonic() + asked.seconds
    threads = [
        threading.Thread(target=client, args=(port, seed, end, numbers, seen, faults))
        for seed in range(asked.clients)
    ]
    for thread in threads:
        thread.start()
    memory = []
    while any(thread.is_alive() for thread in threads):
        memory.append(memory_bytes(server.pid))
        time.sleep(asked.seconds / 12)
    server.terminate()
    server.wait()
    times = sorted(seconds for _, seconds in seen)
    statuses = Counter(status for status, _ in seen)
    print(f"{asked.clients} clients, {asked.seconds:g} s, {len(seen):,} answers")
    print(
        f"  {len(seen) / asked.seconds:,.0f} answers/s; statuses {dict(sorted(statuses.items()))}"
    )
    for share in (0.5, 0.95, 0.99):
        print(f"  p{share * 100:g} {times[int(share * (len(times) - 1))] * 1e3:,.0f} ms")
    print("  memory MB:", " ".join(f"{m / 1e6:,.0f}" for m in memory))
    print(f"  faults {len(faults)}: {Counter(faults).most_common(3)}")
    bad = [status for status in statuses if status >= 500 or status == 429]
    sys.exit(1 if faults or bad else 0)


if __name__ == "__main__":
    main()
