"""A studio without a server, for whatever needs no browser."""

import asyncio
import signal
import subprocess
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from crowdblend.lab.demo import write_friendships, write_population
from crowdblend.studio import jobs, work
from crowdblend.studio.app import application
from crowdblend.studio.places import Root
from crowdblend.studio.security import Guard, Session
from crowdblend.studio.studio import Studio

PORT = 8765
ORIGIN = f"http://127.0.0.1:{PORT}"
FROM_PAGE = {"sec-fetch-site": "same-origin", "origin": ORIGIN}


class Visitor:
    """Somebody who asks the studio; `send` has the headers of one of its own pages."""

    def __init__(self, studio: Studio) -> None:
        self.studio, self.session = studio, Session()
        self.cookies = httpx.Cookies()
        guard = Guard(application(studio), self.session, PORT)
        self._transport = httpx.ASGITransport(guard, raise_app_exceptions=False)  # type: ignore[arg-type]

    def request(self, method: str, path: str, **given: Any) -> httpx.Response:
        """Ask, and keep the cookie that is set."""

        if path.startswith("/"):
            path = self.session.path + path

        async def ask() -> httpx.Response:
            client = httpx.AsyncClient(transport=self._transport, base_url=ORIGIN, cookies=self.cookies)
            async with client:
                answer = await client.request(method, path, **given)
                self.cookies = client.cookies
                for name in ("location", "hx-redirect"):
                    if name in answer.headers:
                        answer.headers[name] = answer.headers[name].removeprefix(self.session.path)
                return answer

        return asyncio.run(ask())

    def get(self, path: str, **given: Any) -> httpx.Response:
        """Look at a page."""
        return self.request("GET", path, **given)

    def send(self, path: str, data: dict[str, str] | None = None, **headers: str) -> httpx.Response:
        """Send a form from a page of the studio."""
        return self.request("POST", path, data=data or {"from": "page"}, headers={**FROM_PAGE, **headers})

    def draft(self, kind: str = "table", source: str | None = "people.csv") -> str:
        """The number of a new draft about a file."""
        number = self.send("/drafts", {"kind": kind}).headers["location"].split("/")[2]
        if source is not None:
            answer = self.send(f"/drafts/{number}/source", {"source": source})
            assert answer.status_code == 303, answer.text
        return number


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a small file."""
    folder = tmp_path / "root"
    folder.mkdir()
    rows = "".join(f"{number},{'FM'[number % 2]},{number % 90}\n" for number in range(400))
    (folder / "people.csv").write_text("id,sex,age\n" + rows, encoding="utf-8")
    return folder


@pytest.fixture
def town(root: Path) -> Path:
    """The root with the made-up town in it."""
    write_population(root / "town.parquet", 600)
    write_friendships(root / "friends.parquet")
    return root


@pytest.fixture
def visit(root: Path, tmp_path: Path) -> Iterator[Callable[..., Visitor]]:
    """Make visitors of a studio; the first one holds the cookie unless told otherwise."""
    opened: list[Visitor] = []

    def made(*, known: bool = True, read_only: bool = False) -> Visitor:
        studio = Studio.at(Root.at(root), tmp_path / "state", ledger=str(tmp_path / "ledger.db"), read_only=read_only)
        visitor = Visitor(studio)
        if known:
            visitor.get(f"/start?token={visitor.session.token}")
        opened.append(visitor)
        return visitor

    yield made
    for visitor in opened:
        visitor.studio.jobs.close()


@pytest.fixture
def visitor(visit: Callable[..., Visitor]) -> Visitor:
    """Somebody who opened the address that was printed."""
    return visit()


class EndedJob:
    """The process of a job which is done when it was started, without a process."""

    def __init__(self, command: list[str], **_: Any) -> None:
        with suppress(Exception), warnings.catch_warnings(action="ignore"):  # its status and its log are what is seen
            work.main(Path(command[-1]))

    def poll(self) -> int:
        """Return that it has ended."""
        return 0

    def wait(self, _: float | None = None) -> int:
        """Return at once."""
        return 0


@pytest.fixture
def jobs_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do jobs where they are started, for tests of what comes of them: a process takes half a second to start."""
    monkeypatch.setattr(jobs, "subprocess", SimpleNamespace(**{**vars(subprocess), "Popen": EndedJob}))
    monkeypatch.setattr(work, "signal", SimpleNamespace(**{**vars(signal), "signal": lambda *_: None}))
