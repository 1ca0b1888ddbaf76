"""Requests that change something: read the form, do it outside the event loop, and answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from crowdblend.studio.forms import form_of
from crowdblend.studio.security import at

Sent = dict[str, str]
Handler = Callable[[Request, Sent], Response]


def posting(handle: Handler, *, when_read_only: bool = False) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for forms; refused where the studio is for looking only, unless nothing of the steward's changes."""

    async def endpoint(request: Request) -> Response:
        if not when_read_only:
            request.app.state.studio.refuse_when_read_only()
        sent = await form_of(request)
        return await run_in_threadpool(handle, request, sent)

    return endpoint


def see(request: Request, path: str) -> Response:
    """Go on to another page of the studio; a form that was sent is not sent again by a reload."""
    return RedirectResponse(at(request) + path, status_code=303)
