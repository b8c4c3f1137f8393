"""The whole application in this process, its workers beside it."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from ridgeline.web.server import app


@pytest.fixture(scope="session")
def client() -> Iterator[TestClient]:
    with TestClient(app(), base_url="http://127.0.0.1:8400") as found:
        yield found
