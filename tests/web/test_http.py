"""The routes, the error form, and what the guard refuses."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

from ridgeline.web import security
from ridgeline.web.limits import MAX_BODY_BYTES
from ridgeline.web.questions import QUESTIONS
from ridgeline.web.routes import READ
from web_bodies import BAD, GOOD, LLAMA, PRICE

API = "/api/v1"
POSTED = sorted(set(QUESTIONS) - READ)
SHORT = [name for name in POSTED if not QUESTIONS[name].long]


def post(client: TestClient, path: str, body: object, **kwargs):
    return client.post(f"{API}/{path}", json=body, **kwargs)


@pytest.mark.parametrize("name", SHORT)
def test_post_answers_json(client, name):
    found = post(client, name, GOOD[name])
    assert found.status_code == 200
    assert found.headers["content-type"] == "application/json"
    assert {"schema_version", "cli", "python"} <= found.json().keys()


@pytest.mark.parametrize("name", POSTED)
def test_bad_body_is_422(client, name):
    body, field = BAD[name]
    found = post(client, name, body)
    if QUESTIONS[name].long and found.status_code == 202:
        return  # its numbers are checked where they are computed; see test_jobs
    assert found.status_code == 422
    assert found.json()["detail"][0]["loc"][:2] == ["body", field]


@pytest.mark.parametrize(
    "path",
    [
        "catalog/devices?search=h100",
        "catalog/formats",
        "catalog/devices/h100-sxm",
        "catalog/models/deepseek-ai/DeepSeek-V3",
        "catalog/clusters/hgx-h100-8x18",
        "catalog/prices/h100-sxm",
        "lecture/7",
        "lecture/cards",
        "prices?pattern=gemini&tier=batch",
        f"prices/sheet?model={PRICE}&hour=8",
    ],
)
def test_get_answers_json(client, path):
    found = client.get(f"{API}/{path}")
    assert found.status_code == 200
    assert "cli" in found.json()


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("catalog/chairs", 404),
        ("catalog/chairs/one", 404),
        ("catalog/devices/h100-sxmm", 404),
        ("catalog/models/..%2f..%2fpyproject.toml", 404),
        ("catalog/models//etc/passwd", 404),
        ("catalog/devices?colour=1&search=" + "x" * 201, 422),
        ("lecture/nothing", 404),
        ("prices?date=yesterday", 422),
        ("prices?date=0", 422),
        ("prices?date=2026-13-01", 422),
        ("prices?colour=1", 422),
        ("prices/sheet", 422),
        ("prices/sheet?model=google/none", 404),
        ("jobs/unknown", 404),
        ("nothing", 404),
        ("lecture/" + "x" * 5000, 414),
    ],
)
def test_bad_get(client, path, status):
    found = client.get(f"{API}/{path}")
    assert found.status_code == status
    assert found.json()["detail"][0]["msg"]


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 422),
        (b"{", 422),
        (b"[]", 422),
        (b"null", 422),
        (b'{"model": NaN}', 422),
        (b'{"model": "a", "model": "b"}', 422),
        (b'{"model": "\xff"}', 422),
        (b'{"a":' * 63 + b"1" + b"}" * 63, 422),
        (b'{"a":' * 100_000, 422),
        (b"[" * 900_000, 422),
        (b'{"model": "' + b"x" * MAX_BODY_BYTES + b'"}', 413),
        (b'{"model": "llama-3.3-70b", "on": "hgx-h100-8", "tp": 1e400}', 422),
        (b'{"model": "llama-3.3-70b", "on": "hgx-h100-8", "tp": ' + b"9" * 5000 + b"}", 422),
        (b'{"model": "llama-3.3-70b", "on": "hgx-h100-8", "batch": "1:1000000000"}', 422),
        (b'{"model": "llama-3.3-70b", "on": "hgx-h100-8", "batch": "1:1000000000:1"}', 422),
        (b'{"model": "llama-3.3-70b", "on": "8000000xh100-sxm"}', 422),
        (b'{"model": "llama-3.3-70b", "on": "hgx-h100-8", "routing": "zipf:1e999"}', 422),
        (b'{"config": {"model_type": "llama", "auto_map": {"x": "os.system"}}, "on": "b200"}', 200),
    ],
)
def test_hostile_body(client, content, status):
    headers = {"Content-Type": "application/json"}
    found = client.post(f"{API}/estimate", content=content, headers=headers)
    assert found.status_code == status
    assert "Traceback" not in found.text


def test_a_streamed_body_is_bounded(client):
    def parts():
        for _ in range(40):
            yield b" " * 100_000

    headers = {"Content-Type": "application/json"}
    found = client.post(f"{API}/estimate", content=parts(), headers=headers)
    assert found.status_code == 413


def test_a_slow_body_is_given_up(monkeypatch):
    monkeypatch.setattr(security, "BODY_S", 0.01)
    sent = []

    async def never():
        await asyncio.sleep(60)

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "raw_path": b"/", "query_string": b""}
    scope["headers"] = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    # A thread of its own: a browser test in this process may keep an event loop in the main one.
    with ThreadPoolExecutor(max_workers=1) as pool:
        pool.submit(asyncio.run, security.Guard(never)(scope, never, send)).result()
    assert sent[0]["status"] == 408


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_only_json_is_read(client, kind):
    body = json.dumps(LLAMA).encode()
    found = client.post(f"{API}/estimate", content=body, headers={"Content-Type": kind})
    assert found.status_code == 415


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 400),
        ({"Host": "evil.example:8400"}, 400),
        ({"Host": ""}, 400),
        ({"Host": "127.0.0.1.evil.example"}, 400),
        ({"Host": "localhost:8400"}, 200),
        ({"Host": "[::1]:8400"}, 200),
        ({"Host": "192.168.1.7:8400"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:9999"}, 403),
        ({"Origin": "http://127.0.0.1:8400"}, 200),
    ],
)
def test_other_hosts_and_pages_are_refused(client, headers, status):
    assert client.get(f"{API}/lecture/C1-N7", headers=headers).status_code == status


def test_headers_are_strict_and_allow_no_other_origin(client):
    for path in ("/", f"{API}/lecture/C1-N7", f"{API}/nothing"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "script-src 'self';" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert not any(name.startswith("access-control-") for name in headers)


@pytest.mark.parametrize(
    "path",
    [
        "/../pyproject.toml",
        "/..%2f..%2f..%2fpyproject.toml",
        "/%2e%2e/%2e%2e/web/server.py",
        "/static/../server.py",
        "//etc/passwd",
        "/etc/passwd.txt",
        "/..\\..\\server.py",
        "/%00.html",
    ],
)
def test_no_file_outside_the_page(client, path):
    found = client.get(path)
    assert found.status_code == 404 or found.text.lower().startswith("<!doctype html>")
    assert "import" not in found.text[:40]


def test_methods_are_those_of_the_route(client):
    assert client.put(f"{API}/estimate", json={}).status_code == 405
    for name in POSTED:
        found = client.get(f"{API}/{name}")
        assert (found.status_code, found.headers["allow"]) == (405, "POST")
    assert client.post(f"{API}/lecture").status_code == 405


def test_the_document_describes_every_question(client):
    document = client.get(f"{API}/openapi.json").json()
    assert {f"{API}/{name}" for name in POSTED} <= document["paths"].keys()
    schema = document["components"]["schemas"]["EstimateRequest"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["tp"]["x-flag"] == "--tp"
