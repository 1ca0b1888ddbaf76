"""Start the studio: a socket on 127.0.0.1, an address with a one-time token, and a clean shutdown."""

from __future__ import annotations

import asyncio
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from crowdblend.studio.app import application
from crowdblend.studio.places import STATE, Root
from crowdblend.studio.security import START, Guard, Session
from crowdblend.studio.studio import Studio
from crowdblend.trusted.machine.system import take_port

HOST = "127.0.0.1"
PORT = 8765
# Seconds for the head of a request, from the connection or from its first byte on.
HEAD_WITHIN = 10.0
MOST_CONNECTIONS = 100


def serve(
    root: str | Path,
    *,
    port: int = PORT,
    ledger: str | None = None,
    read_only: bool = False,
    ready: Callable[[str], None],
) -> None:
    """Run the studio until it is interrupted; `ready` is called with the address."""
    place = Root.at(root)
    with bound(port) as listening, _state(place, read_only) as state:
        taken = listening.getsockname()[1]
        studio = Studio.at(place, state, ledger=ledger, read_only=read_only)
        session = Session()
        config = uvicorn.Config(
            Guard(application(studio), session, taken),
            http=PromptProtocol,
            ws="none",
            lifespan="off",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=2,
        )
        server = uvicorn.Server(config)
        ready(f"http://{HOST}:{taken}{session.path}{START}?token={session.token}")
        threading.Thread(target=_warm_up, daemon=True).start()
        try:
            server.run(sockets=[listening])
        finally:
            studio.jobs.close()


def _warm_up() -> None:
    """Load what planning needs while the first page is being read."""
    for module in ("crowdblend.kinds.table", "crowdblend.methods.estimates.cells", "scipy.special"):
        import_module(module)


@contextmanager
def bound(port: int) -> Iterator[socket.socket]:
    """Yield a socket on this machine only, at the port or, where that is taken, at a free one."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as made:
        try:
            take_port(made, (HOST, port))
        except OSError:
            take_port(made, (HOST, 0))
        made.listen(128)
        yield made


@contextmanager
def _state(root: Root, read_only: bool) -> Iterator[Path]:
    """Yield the folder of drafts and jobs: in the root, or temporary where the root is read-only."""
    if read_only:
        with tempfile.TemporaryDirectory(prefix="crowdblend-studio-", ignore_cleanup_errors=True) as folder:
            yield Path(folder)
        return
    state = root.folder / STATE
    state.mkdir(mode=0o700, exist_ok=True)
    yield state


class PromptProtocol(H11Protocol):
    """HTTP/1.1 that closes connections which send nothing, or the head of a request byte by byte.

    Where there are too many connections, the one that has been idle longest is closed.
    """

    _deadline: asyncio.TimerHandle | None = None
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._deadline = self.loop.call_later(HEAD_WITHIN, transport.abort)
        if len(self.connections) > MOST_CONNECTIONS:
            others = cast("set[PromptProtocol]", self.connections)
            waited_for = (one for one in others if one.cycle is None or one.cycle.response_complete)
            oldest = min(waited_for, key=lambda one: one._since)
            others.discard(oldest)
            oldest.transport.abort()

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
