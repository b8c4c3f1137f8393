"""The guard before every request: whose host, whose page, how large, how slow; and headers."""

from __future__ import annotations

import asyncio
import ipaddress
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from ridgeline.web.limits import BODY_S, MAX_BODY_BYTES, MAX_PATH_BYTES

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

# Charts set the style attribute of their tooltips; scripts and style sheets are our files only.
_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline';"
    " img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class Refused(Exception):  # noqa: N818 - it is an answer, not a fault
    """A request that is not passed on."""

    def __init__(self, status: int, words: str) -> None:
        self.status = status
        super().__init__(words)


class Guard:
    """ASGI middleware. A page of another site can neither read nor write through the browser.

    The Host header must name this machine by address, `localhost`, or a host given at the start:
    a foreign name that was made to resolve to this address (DNS rebinding) is refused.
    """

    def __init__(self, app: App, *, hosts: frozenset[str] = frozenset()) -> None:
        self._app = app
        self._hosts = hosts | {"localhost"}

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Pass a request on, its body read; refuse it otherwise."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_HEADERS]
            await send(message)

        headers = {k.lower(): v for k, v in scope["headers"]}
        try:
            self._check(scope, headers)
            async with asyncio.timeout(BODY_S):
                body = await _body(headers, receive)
            _check_kind(headers, body)
        except Refused as refused:
            await _refuse(send_guarded, refused)
            return
        except TimeoutError:
            await _refuse(send_guarded, Refused(408, f"The body took longer than {BODY_S:g} s."))
            return
        if body is None:  # the client has gone
            return
        await self._app(scope, _replayed(body, receive), send_guarded)

    def _check(self, scope: MutableMapping[str, Any], headers: dict[bytes, bytes]) -> None:
        host = headers.get(b"host", b"").decode("latin-1")
        if not self._is_ours(host):
            raise Refused(400, f"The Host header must name this server: {host[:100]!r}.")
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1").partition("://")[2] != host:
            raise Refused(403, "Pages of other sites may not ask.")
        if len(scope["raw_path"] or b"") + len(scope["query_string"]) > MAX_PATH_BYTES:
            raise Refused(414, f"Path and query may have at most {MAX_PATH_BYTES:,} bytes.")

    def _is_ours(self, host: str) -> bool:
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        if name.lower() in self._hosts:
            return True
        try:
            ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return True


def _check_kind(headers: dict[bytes, bytes], body: bytes | None) -> None:
    """Refuse what the form of another site's page could send without asking first."""
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if body and kind != b"application/json":
        raise Refused(415, "The body must be JSON: send Content-Type: application/json.")


async def _body(headers: dict[bytes, bytes], receive: Receive) -> bytes | None:
    """Return the whole body, or None when the client goes away."""
    length = headers.get(b"content-length", b"0")
    too_large = Refused(413, f"The body may have at most {MAX_BODY_BYTES:,} bytes.")
    if not length.isdigit() or len(length) > 12 or int(length) > MAX_BODY_BYTES:
        raise too_large
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY_BYTES:
            raise too_large
        more = message.get("more_body", False)
    return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


async def _refuse(send: Send, refused: Refused) -> None:
    detail = [{"loc": ["request"], "msg": str(refused), "type": "refused"}]
    body = json.dumps({"detail": detail}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
