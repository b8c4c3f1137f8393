"""`ridgeline explore` as a process: it says where it is, answers, and ends on Ctrl-C."""

import http.client
import re
import signal
import socket
import subprocess
import sys

import pytest


@pytest.fixture
def server():
    words = [sys.executable, "-m", "ridgeline", "explore", "--port", "0", "--no-browser"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603
    line = process.stdout.readline()
    port = int(re.search(r"http://127\.0\.0\.1:(\d+)", line)[1])
    yield process, port
    process.kill()
    process.communicate()


def test_answers_and_ends_cleanly_on_interrupt(server):
    process, port = server
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/api/v1/lecture/C1-N7")
    assert connection.getresponse().status == 200
    connection.close()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "Stopped." in out
    assert "Traceback" not in err


def test_a_slow_sender_does_not_keep_others_waiting(server):
    _, port = server
    slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(50)]
    head = (
        b"POST /api/v1/estimate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    )
    for one in slow:
        one.sendall(head + b"Content-Length: 1000\r\n\r\n{")
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/api/v1/lecture/C1-N7")
    assert connection.getresponse().status == 200
    connection.close()
    for one in slow:
        one.close()


def test_a_port_in_use_is_a_sentence():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        words = [sys.executable, "-m", "ridgeline", "explore", "--no-browser", "--port"]
        run = subprocess.run(  # noqa: S603
            [*words, str(taken.getsockname()[1])], capture_output=True, text=True, check=False
        )
    assert run.returncode == 2
    assert run.stderr.startswith("Error: Cannot listen on 127.0.0.1 port")
    assert "Use another --port" in run.stderr
