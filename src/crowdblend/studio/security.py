"""Access rules: who may send requests, from where, and what a page may load.

The studio listens on 127.0.0.1 only, but a browser on this machine runs pages of other sites. So every request names
the studio itself as its host, carries the cookie that the one-time address was exchanged for, and, if it
changes something, comes from a page of the studio. Browsers send the cookies of a host to all of its ports; so
every page lies under a path that nobody can guess, and the cookie is sent for that path alone.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 1_000_000
# A file that is copied into the root may be large; what arrives of it has as much time each as the body of a form.
UPLOAD, LARGEST_UPLOAD = "/upload", 50_000_000_000
# Seconds that the body of a request may take.
BODY_WITHIN = 20.0
LONGEST_QUERY = 4_000
START = "/start"
# Nothing from elsewhere, no inline script or style, no plugin, no frame around us; reports are in frames of ours.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)
# A report is a page of its own: it has its style in it, runs nothing and can reach nothing.
REPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; base-uri 'none'"
_HEADERS = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
_SAFE = ("GET", "HEAD")


def at(request: Request) -> str:
    """Return the path that all pages of the studio lie under."""
    return str(request.scope.get("root_path", ""))


class Session:
    """The one-time token, the cookie that it is exchanged for, and the path that all pages lie under."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(32)
        self.path = "/" + secrets.token_urlsafe(16)
        self._cookie = secrets.token_urlsafe(32)
        self._used = False
        self._lock = threading.Lock()

    def exchange(self, token: str) -> str | None:
        """Return the cookie for the token, the first time; None for another token, and ever after."""
        with self._lock:
            right = secrets.compare_digest(token.encode(), self.token.encode())
            if self._used or not right:
                return None
            self._used = True
            return self._cookie

    def knows(self, cookies: list[str]) -> bool:
        """Return whether one of these is the cookie."""
        return any(secrets.compare_digest(one.encode(), self._cookie.encode()) for one in cookies)


class Guard:
    """Refuses what does not come from a page of this studio, and bounds what is sent."""

    def __init__(self, app: ASGIApp, session: Session, port: int) -> None:
        self._app = app
        self._session = session
        self._name = f"crowdblend_studio_{port}"
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self._origins = tuple(f"http://{host}" for host in self._hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it with the reason."""
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        refused = self._refusal(scope, headers)
        if refused is not None:
            await refused(scope, receive, _with_headers(send))
        elif scope["path"] == self._session.path + START and scope["method"] == "GET":
            await self._start(scope)(scope, receive, _with_headers(send))
        elif not scope["path"].startswith(self._session.path + "/") or not self._session.knows(self._cookies(headers)):
            sentence = (
                "Open the address that crowdblend studio printed. It works once; start the studio again for another."
            )
            await _no(403, sentence)(scope, receive, _with_headers(send))
        else:
            below = {**scope, "root_path": self._session.path}
            upload = self._is_upload(scope)
            await self._app(below, _bound_body(receive, upload=upload), _with_headers(send))

    def _is_upload(self, scope: Scope) -> bool:
        return bool(scope["path"] == self._session.path + UPLOAD)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:  # noqa: PLR0911  one for each reason
        """Return why a request is not even looked at."""
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            return _no(421, "This is crowdblend studio, and the request names another host.")
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins:
            return _no(403, "This request comes from another site.")
        site = headers.get("sec-fetch-site")
        if site not in (None, "same-origin", "none"):
            return _no(403, "This request comes from another site.")
        if scope["method"] not in _SAFE and site != "same-origin":
            return _no(403, "Only a page of the studio, in a current browser, can change something.")
        if len(scope.get("query_string", b"")) > LONGEST_QUERY:
            return _no(414, "The address is too long.")
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit():
            return _no(400, "The length of the request is not a number.")
        largest = LARGEST_UPLOAD if self._is_upload(scope) else LARGEST_BODY
        return _no(413, "The request is too large.") if int(length[:20]) > largest else None

    def _start(self, scope: Scope) -> Response:
        tokens = parse_qs(scope.get("query_string", b"").decode("ascii", "replace")).get("token", [])
        cookie = self._session.exchange(tokens[0]) if len(tokens) == 1 else None
        if cookie is None:
            return _no(403, "This address was used before, or is not complete. Start the studio again for another.")
        found = RedirectResponse(self._session.path + "/", status_code=303)
        found.set_cookie(self._name, cookie, httponly=True, samesite="strict", path=self._session.path)
        return found

    def _cookies(self, headers: Headers) -> list[str]:
        """Return all values of our cookie; other ports of this host set cookies as they like, of its name too."""
        pairs = (pair.strip().partition("=") for header in headers.getlist("cookie") for pair in header.split(";"))
        return [value for name, _, value in pairs if name == self._name]


def _no(status: int, sentence: str) -> Response:
    return PlainTextResponse(sentence + "\n", status_code=status)


def _bound_body(receive: Receive, *, upload: bool = False) -> Receive:
    """Return the body of a request, cut off where it is larger than announced requests may be, or takes too long."""
    received, whole = 0, False
    largest = LARGEST_UPLOAD if upload else LARGEST_BODY
    until = time.monotonic() + BODY_WITHIN

    async def read() -> Message:
        nonlocal received, whole, until
        if whole:
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), max(0.0, until - time.monotonic()))
        except TimeoutError:
            return {"type": "http.disconnect"}
        received, whole = received + len(message.get("body", b"")), not message.get("more_body", False)
        if upload:
            until = time.monotonic() + BODY_WITHIN
        return message if received <= largest else {"type": "http.disconnect"}

    return read


def _with_headers(send: Send) -> Send:
    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("content-security-policy", POLICY)
            for name, value in _HEADERS.items():
                headers[name] = value
        await send(message)

    return answer
