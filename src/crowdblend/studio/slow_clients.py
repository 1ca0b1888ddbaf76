"""Connections that send nothing, or the head of a request byte by byte, are closed; there are not too many at once."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# Seconds for the head of a request, from the connection or from its first byte on.
HEAD_WITHIN = 10.0
MOST_CONNECTIONS = 100


class PromptProtocol(H11Protocol):
    """HTTP/1.1 for somebody who does not keep the studio waiting."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        self._deadline = self.loop.call_later(HEAD_WITHIN, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Wait no longer once the head of a request is whole."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._deadline = self._deadline or self.loop.call_later(HEAD_WITHIN, self.transport.abort)
        else:
            self._wait_no_longer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._wait_no_longer()
        super().connection_lost(exc)

    def _wait_no_longer(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
