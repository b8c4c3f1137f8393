"""Generated requests: no fault of the server, and every answer as the document says.

Names are random in a generated body, so that most end at an unknown model. Half of the bodies
therefore keep the names of a good one and take only the other fields from the generator.
"""

import json
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ridgeline.web.questions import QUESTIONS
from ridgeline.web.routes import READ
from web_bodies import GOOD

schemathesis = pytest.importorskip("schemathesis")

EXAMPLES = 8
NAMES = {
    "model",
    "config",
    "name",
    "on",
    "claim",
    "price",
    "sweep",
    "counts",
    "acceptance",
    "batch",
}
"""Fields that must fit together before anything is computed."""


@pytest.fixture(scope="module")
def document(client):
    return client.get("/api/v1/openapi.json").json()


def _check(operation, response):
    assert response.status_code < 500, response.text
    responses = operation["responses"]
    assert str(response.status_code) in responses, response.text
    assert response.headers["content-type"] == "application/json"
    if response.status_code >= 400:
        assert all(fault["msg"] for fault in response.json()["detail"])


@pytest.mark.parametrize("name", sorted(set(QUESTIONS) - READ))
def test_generated_bodies(client, document, name):
    path = f"/api/v1/{name}"
    schema = schemathesis.openapi.from_dict(document)
    bodies = schema[path]["POST"].as_strategy().map(lambda case: case.body)
    operation = document["paths"][path]["post"]

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(body=bodies, keep=st.booleans(), only=st.integers(0, 20))
    def run(body, keep, only):
        if keep and isinstance(body, dict):
            fields = sorted(body.keys() - NAMES)
            some = {k: body[k] for k in fields[only % max(len(fields), 1) :][:2]}
            body = GOOD[name] | some
        response = client.post(path, json=body)
        _check(operation, response)
        if response.status_code == 202:
            client.delete(response.headers["location"])

    run()


GET = [
    "catalog/{}",
    "catalog/devices/{}",
    "catalog/models/{}",
    "lecture/{}",
    "prices?pattern={}",
    "prices?date={}",
    "prices/sheet?model={}",
    "jobs/{}",
]


@pytest.mark.parametrize("path", GET)
def test_generated_words(client, path):
    @settings(max_examples=15, deadline=None, database=None, derandomize=True)
    @given(word=st.text(max_size=40) | st.sampled_from([".", "..", "%", "%00", "\\", "a/b", "🙂"]))
    def run(word):

        response = client.get("/api/v1/" + path.format(quote(word.encode("utf-8", "replace"))))
        assert response.status_code in {200, 404, 422}, response.text
        json.loads(response.text)

    run()
