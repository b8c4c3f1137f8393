"""One local process: the API, and the page of the packaged `static` folder."""

from __future__ import annotations

import ipaddress
import os
import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse
from starlette.staticfiles import StaticFiles

from ridgeline.errors import InputError
from ridgeline.web.jobs import Pool
from ridgeline.web.limits import LONG_QUEUE, LONG_S, QUICK_QUEUE, QUICK_S
from ridgeline.web.questions import QUESTIONS
from ridgeline.web.routes import READ, State, application
from ridgeline.web.security import App, Guard

STATIC = Path(__file__).parent / "static"
_INDEX = "index.html"
_MAX_CONNECTIONS = 512


def app(*, hosts: frozenset[str] = frozenset(), static: Path = STATIC) -> App:
    """Return the whole application behind its guard."""
    workers = min(4, max(2, os.cpu_count() or 1))
    state = State(
        quick=Pool(workers=workers, bound=QUICK_QUEUE, limit_s=QUICK_S),
        long=Pool(workers=max(1, workers // 2), bound=LONG_QUEUE, limit_s=LONG_S),
    )
    inner = application(state)
    _add_page(inner, static)
    return Guard(inner, hosts=hosts)


def _add_page(inner: FastAPI, static: Path) -> None:
    """Serve the files of one folder; other paths outside the API are views of the page."""
    files = StaticFiles(directory=static, check_dir=False)

    @inner.api_route("/{path:path}", methods=["GET", "HEAD"], include_in_schema=False)
    async def page(path: str, request: Request) -> Response:
        if path.removeprefix("api/v1/") in QUESTIONS.keys() - READ:
            raise HTTPException(405, "Ask with POST.", {"Allow": "POST"})
        if path == "api" or path.startswith("api/"):
            raise HTTPException(404, "No such route; they are listed in /api/v1/openapi.json.")
        try:
            found = await files.get_response(path or _INDEX, request.scope)
        except HTTPException:
            if "." in path.rpartition("/")[2]:
                raise HTTPException(404, "No such file.") from None
            if not (static / _INDEX).is_file():
                raise HTTPException(404, "This installation has no page, only the API.") from None
            found = FileResponse(static / _INDEX)
        found.headers["cache-control"] = "no-cache"
        return found

    del page


def serve(*, host: str, port: int, open_browser: bool, tell: Callable[[str], None]) -> None:
    """Serve until interrupted.

    Args:
        host: Address to listen on.
        port: 0 takes any free one.
        open_browser: Whether to show the page once the server listens.
        tell: Called with lines for people.

    Raises:
        InputError: the address cannot be used.
    """
    listener = _listener(host, port)
    address = _address(listener)
    if not _is_loopback(host):
        tell(
            f"Warning: {host} is not loopback: everyone who reaches this machine can ask questions"
            " (and none can read files). There is no password."
        )
    config = uvicorn.Config(
        app(hosts=frozenset({host.lower(), socket.gethostname().lower()})),
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=2,
    )
    tell(f"ridgeline explore at {address} (API at {address}/api/v1); Ctrl-C ends it.")
    if open_browser:
        threading.Timer(0.5, webbrowser.open, (address,)).start()
    try:
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    finally:
        listener.close()
    tell("Stopped.")


def _listener(host: str, port: int) -> socket.socket:
    try:
        family, kind, proto, _, where = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, proto)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
    except (OSError, OverflowError, UnicodeError) as error:
        raise InputError(
            f"Cannot listen on {host[:100]} port {port}: {error}. Use another --port, or 0 for a"
            " free one."
        ) from None
    listener.listen(_MAX_CONNECTIONS)
    return listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
